// cuda.permute: pointwise kernels whose result and an operand lie contiguous along different axes. Tiles of
// the operand are read along its own axis into shared memory and used along the result's, so that both sides
// move whole lines.
#include <algorithm>

#include <fmt/format.h>

#include "codegen/cuda/linear_grid.h"
#include "codegen/cuda/roofline.h"
#include "codegen/cuda/schedule_classes.h"
#include "codegen/cuda/vector_block.h"
#include "codegen/plan/access.h"

namespace einkern::codegen::cuda {

namespace {

/// The two axes of the tiles, and what passes through shared memory.
struct Transposition {
  AxisId from, to;                  // contiguous in the reads, contiguous in the results
  std::vector<ExpressionId> reads;  // contiguous along `from` that move along `to` as well
};

const TensorLayout& layout_of(const KernelContext& context, TensorId tensor) {
  return context.specialisation.tensors[static_cast<std::size_t>(tensor.value)];
}

std::vector<ExpressionId> values_of(const Kernel& kernel) {
  std::vector<ExpressionId> values;
  for (const Store& store : kernel.stores) values.push_back(store.value);
  return values;
}

DType dtype_of(const KernelContext& context, ExpressionId read) {
  const dsl::Function& graph = *context.plan.graph;
  return graph[TensorId{graph.arena[read].index}].dtype;
}

std::optional<Transposition> find_transposition(const KernelContext& context) {
  const dsl::Function& graph = *context.plan.graph;
  const Store& store = context.kernel.stores.front();
  const int unit = layout_of(context, store.target).unit_axis;
  if (unit < 0 || store.update) return std::nullopt;
  Transposition best{.from = {}, .to = store.axes[static_cast<std::size_t>(unit)], .reads = {}};
  int most = 0;
  for (const AxisId axis : context.kernel.axes) {
    if (axis == best.to) continue;
    std::vector<ExpressionId> reads;
    int bytes = 0;
    for (const ExpressionId read : reads_of(graph.arena, values_of(context.kernel))) {
      const dsl::Expression& e = graph.arena[read];
      const TensorLayout& layout = layout_of(context, TensorId{e.index});
      if (e.guard != dsl::Guard::proven || movement(graph.arena, read, axis, layout) != Movement::unit)
        continue;
      if (movement(graph.arena, read, best.to, layout) != Movement::strided) continue;
      reads.push_back(read);
      bytes += core::size_bytes(dtype_of(context, read));
    }
    if (bytes > most) {
      most = bytes;
      best.from = axis;
      best.reads = reads;
    }
  }
  return most > 0 ? std::optional(best) : std::nullopt;
}

/// Elements between the rows of a tile in shared memory: one 4-byte bank more than the tile, so that a column
/// of it lies in different banks.
int row_pitch(DType dtype, int tile) { return tile + std::max(1, 4 / core::size_bytes(dtype)); }

std::int64_t shared_bytes(const KernelContext& context, const Transposition& t, int tile) {
  std::int64_t bytes = 0;
  for (const ExpressionId read : t.reads) {
    const DType dtype = dtype_of(context, read);
    bytes += static_cast<std::int64_t>(tile) * row_pitch(dtype, tile) * core::size_bytes(dtype);
  }
  return bytes;
}

/// Widest access that both sides of every tile allow.
int widest_tile_vector(const KernelContext& context, const Transposition& t) {
  const dsl::Function& graph = *context.plan.graph;
  int width = 16;
  for (const ExpressionId read : t.reads)
    width = std::min(width, vector_width(graph, read, t.from, context.specialisation));
  for (const Store& store : context.kernel.stores)
    width = std::min(width, vector_width(graph, store, t.to, context.specialisation));
  while (width > 1 && !(divides_axis(context, t.from, width) && divides_axis(context, t.to, width)))
    width /= 2;
  return width;
}

class PermuteEmitter {
 public:
  PermuteEmitter(KernelWriter& kernel, const Transposition& transposition, const Configuration& c)
      : kernel_(kernel),
        emitter_(kernel),
        t_(transposition),
        tile_(static_cast<int>(c.get("tile"))),
        vector_(static_cast<int>(c.get("vector"))),
        threads_(static_cast<int>(c.get("threads"))) {
    for (const AxisId axis : kernel.context().kernel.axes)
      if (axis != t_.from && axis != t_.to) outer_.push_back(axis);
  }

  LaunchShape emit() {
    const core::SizeExpression from_size = size_of(t_.from), to_size = size_of(t_.to);
    const core::SizeExpression from_tiles = core::ceil_divide(from_size, tile_),
                               to_tiles = core::ceil_divide(to_size, tile_);
    core::SizeExpression items = from_tiles * to_tiles;
    if (!outer_.empty()) items = product_of_sizes(kernel_, outer_) * items;
    const LinearGrid grid = open_linear_grid(kernel_, items, 1);
    const ExpressionEmitter::Scope scope(emitter_);
    bind_tile(grid.block, from_tiles, to_tiles);
    emit_tile_reads();
    body().line("__syncthreads();");
    emit_values();
    if (grid.loop) body().line("__syncthreads();");
    close_linear_grid(kernel_, grid);
    return {.grid = {grid.grid, 1, 1}, .threads = threads_};
  }

 private:
  TextWriter& body() { return kernel_.body(); }
  core::SizeExpression size_of(AxisId axis) const {
    return kernel_.axis_size(axis).value_or(core::SizeExpression(0));
  }
  std::string name_of(AxisId axis) const { return kernel_.graph().arena[axis].name; }

  std::string declare(std::string_view name, const std::string& text) {
    const std::string variable = kernel_.names().unique("i", name);
    body().line(fmt::format("const {} {} = {};", kernel_.index_type(), variable, text));
    return variable;
  }

  void bind_tile(const std::string& block, const core::SizeExpression& from_tiles,
                 const core::SizeExpression& to_tiles) {
    body().comment("which tile");
    const std::string flat = declare("flat_tile", fmt::format("({}){}", kernel_.index_type(), block));
    const std::string tile = kernel_.constant("tile", tile_);
    const std::string first_to = declare(name_of(t_.to) + "_tile", remainder_text(kernel_, flat, to_tiles));
    const std::string above = declare("above", quotient_text(kernel_, flat, to_tiles));
    std::string first_from = above;
    if (!outer_.empty()) {
      first_from = declare(name_of(t_.from) + "_tile", remainder_text(kernel_, above, from_tiles));
      const std::string outer = outer_.size() == 1 ? name_of(outer_[0]) : "outer";
      bind_axes_from_flat(emitter_, declare(outer, quotient_text(kernel_, above, from_tiles)), outer_);
    }
    from_first_ = declare(name_of(t_.from) + "_first", fmt::format("{} * {}", first_from, tile));
    to_first_ = declare(name_of(t_.to) + "_first", fmt::format("{} * {}", first_to, tile));
  }

  /// Loops over the tile's lines, each shared out in vectors to neighbouring threads. `emit` gets the line's
  /// and the vector's place in the tile; the axes are bound to them, and known to lie inside.
  void for_each_vector(AxisId along, AxisId across, const std::string& along_first,
                       const std::string& across_first,
                       const std::function<void(const std::string& line, const std::string& place)>& emit) {
    const int per_line = tile_ / vector_, lines = threads_ / per_line;
    const std::string place = declare(
        name_of(along) + "_place", vector_ > 1 ? fmt::format("(int)threadIdx.x % {} * {}", per_line, vector_)
                                               : fmt::format("(int)threadIdx.x % {}", per_line));
    const std::string line = kernel_.names().unique("i", name_of(across) + "_line");
    body().line("#pragma unroll");
    body().open(fmt::format("for (int {0} = threadIdx.x / {1}; {0} < {2}; {0} += {3})", line, per_line,
                            kernel_.constant("tile", tile_), lines));
    const ExpressionEmitter::Scope scope(emitter_);
    const std::string at = declare(name_of(along), fmt::format("{} + {}", along_first, place));
    const std::string beside = declare(name_of(across), fmt::format("{} + {}", across_first, line));
    emitter_.bind_axis(along, at);
    emitter_.bind_axis(across, beside);
    body().open(fmt::format("if ({} < {} && {} < {})", at, kernel_.extent(size_of(along), "size"), beside,
                            kernel_.extent(size_of(across), "size")));
    emit(line, place);
    body().close();
    body().close();
  }

  void emit_tile_reads() {
    for (const ExpressionId read : t_.reads) {
      const dsl::Tensor& tensor = kernel_.graph()[TensorId{kernel_.graph().arena[read].index}];
      tiles_.push_back(kernel_.names().unique("shared", tensor.name));
      body().line(fmt::format("__shared__ {} {}[{} * {}];", storage_type(tensor.dtype), tiles_.back(), tile_,
                              row_pitch(tensor.dtype, tile_)));
    }
    body().comment("into shared memory, along the operands' own axis");
    for_each_vector(t_.from, t_.to, from_first_, to_first_,
                    [&](const std::string& line, const std::string& place) {
                      VectorBlock block(emitter_, t_.from, vector_, t_.reads);
                      block.declare(1);
                      block.load("", {});
                      const bool loop = vector_ > 1;
                      const std::string element = loop ? kernel_.names().unique("i", "element") : "0";
                      if (loop) {
                        body().line("#pragma unroll");
                        body().open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", element, vector_));
                      }
                      for (std::size_t i = 0; i < t_.reads.size(); ++i)
                        body().line(fmt::format("{}[{} * {} + {}{}] = {};", tiles_[i], line,
                                                row_pitch(dtype_of(kernel_.context(), t_.reads[i]), tile_),
                                                place, loop ? " + " + element : "",
                                                block.stored_element(t_.reads[i], "", element)));
                      if (loop) body().close();
                    });
  }

  void emit_values() {
    body().comment("values and writes, along the results' axis");
    const std::vector<Store>& stores = kernel_.context().kernel.stores;
    for_each_vector(
        t_.to, t_.from, to_first_, from_first_, [&](const std::string& line, const std::string& place) {
          VectorBlock block(emitter_, t_.to, vector_, values_of(kernel_.context().kernel), t_.reads);
          block.declare(1);
          block.load("", {});
          const VectorBlock::Hooks hooks{.bind_element = [&](const std::string& element) {
            for (std::size_t i = 0; i < t_.reads.size(); ++i) {
              const DType dtype = dtype_of(kernel_.context(), t_.reads[i]);
              const std::string row = element == "0" ? place : fmt::format("({} + {})", place, element);
              const std::string stored =
                  fmt::format("{}[{} * {} + {}]", tiles_[i], row, row_pitch(dtype, tile_), line);
              emitter_.bind_node(t_.reads[i], converted_load(dtype, stored, emitter_.arithmetic()));
            }
          }};
          block.emit_stores(stores, emitter_.axis_text(t_.to), "", hooks);
        });
  }

  KernelWriter& kernel_;
  ExpressionEmitter emitter_;
  const Transposition& t_;
  int tile_, vector_, threads_;
  std::vector<AxisId> outer_;
  std::vector<std::string> tiles_;
  std::string from_first_, to_first_;
};

class PermuteSchedule final : public Schedule {
 public:
  std::string_view name() const override { return "cuda.permute"; }
  int version() const override { return 1; }
  core::Backend backend() const override { return core::Backend::cuda; }

  std::optional<std::string> reason_against(const KernelContext& context) const override {
    if (!std::holds_alternative<Pointwise>(context.kernel.form)) return "the kernel is no pointwise one";
    const auto transposition = find_transposition(context);
    if (!transposition) return "no operand lies contiguous along another axis than the result";
    if (shared_bytes(context, *transposition, 32) > static_shared_bytes)
      return fmt::format("tiles of {} operands take more than {} bytes of shared memory",
                         transposition->reads.size(), static_shared_bytes);
    return std::nullopt;
  }

  ConfigurationSpace space(const KernelContext& context) const override {
    const auto transposition = find_transposition(context);
    std::vector<std::int64_t> widths;
    for (int width = transposition ? widest_tile_vector(context, *transposition) : 1; width >= 1; width /= 2)
      widths.push_back(width);
    ConfigurationSpace space;
    space.parameters = {{.name = "tile", .domain = {64, 32}, .documentation = "elements of a tile's side"},
                        {.name = "vector", .domain = widths, .documentation = "elements of one access"},
                        {.name = "threads", .domain = {256, 512, 128}, .documentation = "threads a block"}};
    const std::int64_t bytes_32 = transposition ? shared_bytes(context, *transposition, 32) : 0;
    const std::int64_t bytes_64 = transposition ? shared_bytes(context, *transposition, 64) : 0;
    space.constraints.push_back(
        {"tiles fit static shared memory", [=](const Configuration& c) -> std::optional<std::string> {
           const std::int64_t bytes = c.get("tile") == 64 ? bytes_64 : bytes_32;
           if (bytes <= static_shared_bytes) return std::nullopt;
           return fmt::format("shared memory {} > {} bytes", bytes, static_shared_bytes);
         }});
    space.constraints.push_back(
        {"the tile has a vector for every thread", [](const Configuration& c) -> std::optional<std::string> {
           const std::int64_t vectors = c.get("tile") * c.get("tile") / c.get("vector");
           if (vectors >= c.get("threads")) return std::nullopt;
           return fmt::format("threads {} > vectors {}", c.get("threads"), vectors);
         }});
    return space;
  }

  Estimate estimate(const KernelContext& context, const Configuration& c) const override {
    const dsl::Function& graph = *context.plan.graph;
    const Transposition t = *find_transposition(context);
    const std::int64_t tile = c.get("tile");
    const std::int64_t from = extent_of(graph, t.from, context.binding),
                       to = extent_of(graph, t.to, context.binding);
    const std::int64_t outer =
        extent_of(graph, context.kernel.axes, context.binding) / std::max<std::int64_t>(from * to, 1);
    BlockUse use{.blocks = (from + tile - 1) / tile * ((to + tile - 1) / tile) * outer,
                 .threads = static_cast<int>(c.get("threads")),
                 .registers = 40,
                 .shared_bytes = shared_bytes(context, t, static_cast<int>(tile))};
    const int line = static_cast<int>(tile) * core::size_bytes(dtype_of(context, t.reads.front()));
    use.bytes_in_flight = static_cast<double>(tile * line) / use.threads;
    use.traffic_factor = line >= 128 ? 1.05 : 1.3;
    use.traffic_factor *= c.get("vector") == 1 && line < 128 ? 1.2 : 1;
    return roofline(context, use);
  }

  core::Result<core::Emission> emit(const KernelContext& context, const Configuration& c) const override {
    ModuleWriter module(context, fmt::format("{}: {} ({})", context.kernel.name, name(), c.text()));
    KernelWriter& kernel = module.add_kernel(entry_name(context, *this, c));
    const Transposition transposition = *find_transposition(context);
    const LaunchShape launch = PermuteEmitter(kernel, transposition, c).emit();
    module.finish_kernel(kernel, launch);
    return std::move(module).finish();
  }

 private:
  static constexpr std::int64_t static_shared_bytes = 48 * 1024;  // what a kernel may have without asking
};

}  // namespace

const Schedule& permute_schedule() {
  static const PermuteSchedule schedule;
  return schedule;
}

}  // namespace einkern::codegen::cuda
