#include "codegen/cuda/epilogue.h"

#include <algorithm>
#include <array>
#include <ranges>

#include <fmt/format.h>

#include "codegen/cuda/linear_grid.h"
#include "codegen/cuda/vector_block.h"

namespace einkern::codegen::cuda {

namespace {

/// A register digit as a loop: the factor, and how far one step of it moves the register's number.
struct Digit {
  TileFactor factor;
  int weight = 1;
};

struct Digits {
  std::vector<Digit> rows, columns;  // columns: beyond the vector that one access serves
};

/// Splits the register factors into row loops and column loops; the first `vector` columns of the run are no
/// loop.
Digits split_digits(const TileLayout& layout, int vector) {
  Digits digits;
  int weight = 1, left_in_vector = vector;
  for (const TileFactor& factor : layout.registers) {
    TileFactor rest = factor;
    int rest_weight = weight;
    if (left_in_vector > 1) {  // the run comes first in the register number: see contiguous_columns
      const int taken = std::min(left_in_vector, factor.extent);
      rest.extent /= taken;
      rest.column_step *= taken;
      rest_weight *= taken;
      left_in_vector /= taken;
    }
    if (rest.extent > 1) (rest.row_step != 0 ? digits.rows : digits.columns).push_back({rest, rest_weight});
    weight *= factor.extent;
  }
  return digits;
}

class EpilogueEmitter {
 public:
  EpilogueEmitter(ExpressionEmitter& emitter, const EpilogueRequest& request)
      : emitter_(emitter),
        kernel_(emitter.kernel()),
        request_(request),
        axis_(request.columns.axes.back()),
        vector_(packs() ? 2
                        : epilogue_vector(kernel_.context(), request.columns.axes,
                                          request.layout.contiguous_columns())),
        edges_(request.edges && !(packs() && roots().empty())) {}

  void emit() {
    const Digits digits = split_digits(request_.layout, vector_);
    std::string row = request_.rows.first, register_text;
    const int row_loops = open_digits(digits.rows, "row", &TileFactor::row_step, row, register_text);
    row = named("row", row, row_loops > 0);
    if (edges_) body().open(fmt::format("if ({} < {})", row, kernel_.extent(request_.rows.size, "rows")));
    {
      const ExpressionEmitter::Scope scope(emitter_);
      bind_axes_from_flat(emitter_, row, request_.rows.axes);
      std::string column = request_.columns.first;
      const int column_loops =
          open_digits(digits.columns, "column", &TileFactor::column_step, column, register_text);
      column = named("column", column, column_loops > 0);
      if (register_text.empty()) register_text = "0";
      emit_run(column, register_text);
      emitter_.close_blocks(column_loops);
    }
    if (edges_) body().close();
    emitter_.close_blocks(row_loops);
  }

 private:
  TextWriter& body() { return kernel_.body(); }
  bool packs() const { return !request_.packed.empty(); }

  /// One unrolled loop a digit; adds their steps to the coordinate's and the register's text.
  int open_digits(const std::vector<Digit>& digits, std::string_view name, int TileFactor::* step,
                  std::string& coordinate, std::string& register_text) {
    for (const Digit& digit : std::views::reverse(digits)) {
      const std::string index = kernel_.names().unique("i", fmt::format("{}_step", name));
      body().line("#pragma unroll");
      body().open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", index, digit.factor.extent));
      coordinate += fmt::format(" + {} * {}", index, digit.factor.*step);
      register_text += fmt::format("{}{} * {}", register_text.empty() ? "" : " + ", index, digit.weight);
    }
    return static_cast<int>(digits.size());
  }

  std::string named(std::string_view name, const std::string& text, bool moves) {
    if (!moves) return text;
    const std::string variable = kernel_.names().unique("i", name);
    body().line(fmt::format("const {} {} = {};", kernel_.index_type(), variable, text));
    return variable;
  }

  /// The columns of one access: whole as vectors, cut at the edge as single elements.
  void emit_run(const std::string& column, const std::string& register_text) {
    const std::string limit = edges_ ? kernel_.extent(request_.columns.size, "columns") : "";
    if (packs()) {
      if (edges_) body().open(fmt::format("if ({} < {})", column, limit));
      emit_block(column, register_text, vector_);
      if (edges_) body().close();
      return;
    }
    if (vector_ > 1) {
      if (edges_) body().open(fmt::format("if ({} + {} <= {})", column, vector_, limit));
      emit_block(column, register_text, vector_);
      if (!edges_) return;
      body().next("else");
    }
    const std::string element = vector_ > 1 ? kernel_.names().unique("i", "element") : "";
    if (vector_ > 1) {
      body().line("#pragma unroll");
      body().open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", element, vector_));
    }
    const std::string at = vector_ > 1 ? fmt::format("({} + {})", column, element) : column;
    if (edges_) body().open(fmt::format("if ({} < {})", without_parentheses(at), limit));
    emit_block(at, vector_ > 1 ? register_text + " + " + element : register_text, 1);
    if (edges_) body().close();
    if (vector_ > 1) {
      body().close();
      body().close();
    }
  }

  void emit_block(const std::string& column, const std::string& register_text, int width) {
    const ExpressionEmitter::Scope scope(emitter_);
    std::string at = column;
    if (request_.columns.axes.size() > 1 && at.front() == '(')
      at = named("column", without_parentheses(at), true);
    bind_axes_from_flat(emitter_, at, request_.columns.axes);
    const VectorBlock::Hooks hooks{.bind_element = [&](const std::string& element) {
      for (const auto& [node, array] : request_.accumulators) {
        const std::string number = element == "0" ? register_text : register_text + " + " + element;
        emitter_.bind_node(node, fmt::format("{}[{}]", array, number));
      }
    }};
    hooks.bind_element("0");
    VectorBlock block(emitter_, axis_, width, roots());
    block.declare(1);
    block.load("", hooks);
    if (packs())
      emit_pair(block, register_text, hooks);
    else
      block.emit_stores(kernel_.context().kernel.stores, emitter_.axis_text(axis_), "", hooks);
  }

  /// Two neighbouring columns, rounded, into one register.
  void emit_pair(VectorBlock& block, const std::string& register_text, const VectorBlock::Hooks& hooks) {
    const Store& store = kernel_.context().kernel.stores.front();
    const std::string first = emitter_.axis_text(axis_);
    emitter_.hoist(store.value, {axis_});
    std::array<std::string, 2> values;
    for (int element = 0; element < 2; ++element) {
      const ExpressionEmitter::Scope scope(emitter_);
      const std::string number = std::to_string(element);
      emitter_.bind_axis(axis_, element == 0 ? first : fmt::format("({} + 1)", first));
      block.bind("", number);
      hooks.bind_element(number);
      values[static_cast<std::size_t>(element)] = without_parentheses(emitter_.value(store.value));
    }
    const bool bf16 = kernel_.graph()[store.target].dtype == DType::bf16;
    body().line(fmt::format("{}[({}) / 2] = {}({}, {});", request_.packed, register_text,
                            bf16 ? "ek_pack_bf16" : "ek_pack_f16", values[0], values[1]));
  }

  /// The reads of the stores' values that do not lie below an accumulator.
  std::vector<ExpressionId> roots() const {
    const dsl::ExpressionArena& arena = kernel_.graph().arena;
    std::vector<ExpressionId> roots, pending, seen;
    for (const Store& store : kernel_.context().kernel.stores) pending.push_back(store.value);
    while (!pending.empty()) {
      const ExpressionId id = pending.back();
      pending.pop_back();
      if (std::find(seen.begin(), seen.end(), id) != seen.end()) continue;
      seen.push_back(id);
      const bool accumulated = std::any_of(request_.accumulators.begin(), request_.accumulators.end(),
                                           [&](const auto& a) { return a.first == id; });
      if (accumulated) continue;
      if (arena[id].op == dsl::Op::read)
        roots.push_back(id);
      else
        pending.insert(pending.end(), arena[id].operands.begin(), arena[id].operands.end());
    }
    std::reverse(roots.begin(), roots.end());
    return roots;
  }

  ExpressionEmitter& emitter_;
  KernelWriter& kernel_;
  const EpilogueRequest& request_;
  AxisId axis_;
  int vector_;
  bool edges_;
};

}  // namespace

int epilogue_vector(const KernelContext& context, const std::vector<AxisId>& columns, int most) {
  if (columns.empty()) return 1;
  const int widest = widest_vector(context, columns.back(), most);
  for (int width = widest; width > 1; width /= 2) {
    const bool fits_tile = most % width == 0;
    const bool whole = columns.size() == 1 || divides_axis(context, columns.back(), width);
    if (fits_tile && whole) return width;
  }
  return 1;
}

bool can_pack(const KernelContext& context, const std::vector<AxisId>& columns) {
  if (context.kernel.stores.size() != 1 || columns.empty()) return false;
  const dsl::Function& graph = *context.plan.graph;
  const Store& store = context.kernel.stores.front();
  const DType target = graph[store.target].dtype;
  if ((target != DType::bf16 && target != DType::f16) || graph.arena[store.value].type != DType::f32)
    return false;
  return columns.size() == 1 || divides_axis(context, columns.back(), 2);
}

void emit_epilogue(ExpressionEmitter& emitter, const EpilogueRequest& request) {
  EpilogueEmitter(emitter, request).emit();
}

}  // namespace einkern::codegen::cuda
