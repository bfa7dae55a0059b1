// cuda.pointwise: each element on its own. A thread computes vectors of consecutive elements along the axis
// that lies contiguous in memory, several vectors in flight; lanes touch neighbouring vectors.
#include <algorithm>
#include <functional>
#include <set>

#include <fmt/format.h>

#include "codegen/cuda/linear_grid.h"
#include "codegen/cuda/roofline.h"
#include "codegen/cuda/schedule_classes.h"
#include "codegen/cuda/vector_block.h"
#include "codegen/plan/access.h"

namespace einkern::codegen::cuda {

namespace {

std::vector<ExpressionId> values_of(const Kernel& kernel) {
  std::vector<ExpressionId> values;
  for (const Store& store : kernel.stores) values.push_back(store.value);
  return values;
}

const TensorLayout& layout_of(const KernelContext& context, TensorId tensor) {
  return context.specialisation.tensors[static_cast<std::size_t>(tensor.value)];
}

int bytes_of(const KernelContext& context, TensorId tensor) {
  return core::size_bytes((*context.plan.graph)[tensor].dtype);
}

/// Bytes an element that lie contiguous along the axis, stores counted twice: their lanes' gaps cost whole
/// sectors.
int contiguous_bytes(const KernelContext& context, AxisId axis) {
  const dsl::Function& graph = *context.plan.graph;
  int bytes = 0;
  for (const ExpressionId read : reads_of(graph.arena, values_of(context.kernel))) {
    const TensorId tensor{graph.arena[read].index};
    if (movement(graph.arena, read, axis, layout_of(context, tensor)) == Movement::unit)
      bytes += bytes_of(context, tensor);
  }
  for (const Store& store : context.kernel.stores) {
    const int unit = layout_of(context, store.target).unit_axis;
    if (unit >= 0 && store.axes[static_cast<std::size_t>(unit)] == axis)
      bytes += 2 * bytes_of(context, store.target);
  }
  return bytes;
}

/// The axis along which most bytes lie contiguous; the last of equals.
AxisId vector_axis(const KernelContext& context) {
  AxisId best = context.kernel.axes.back();
  int most = 0;
  for (const AxisId axis : context.kernel.axes)
    if (const int bytes = contiguous_bytes(context, axis); bytes >= most && bytes > 0) {
      most = bytes;
      best = axis;
    }
  return best;
}

/// Whether one flat index serves every access: tensors are dense, and each read either names the kernel's
/// axes in order or uses none of them.
bool is_flat(const KernelContext& context) {
  const dsl::ExpressionArena& arena = context.plan.graph->arena;
  const std::vector<AxisId>& axes = context.kernel.axes;
  const auto names_axes = [&](const dsl::Expression& read) {
    if (read.guard != dsl::Guard::proven || read.operands.size() != axes.size()) return false;
    const dsl::Tensor& tensor = (*context.plan.graph)[TensorId{read.index}];
    for (std::size_t d = 0; d < axes.size(); ++d) {
      const dsl::Expression& index = arena[read.operands[d]];
      if (index.op != dsl::Op::axis || AxisId{index.index} != axes[d] ||
          tensor.shape[d] != arena[axes[d]].high)
        return false;
    }
    return layout_of(context, TensorId{read.index}).dense;
  };
  bool flat = true;
  for (const Store& store : context.kernel.stores) {
    flat = flat && store.axes == axes && layout_of(context, store.target).dense;
    std::vector<ExpressionId> pending = {store.value};
    std::set<ExpressionId> seen;
    while (flat && !pending.empty()) {
      const ExpressionId id = pending.back();
      pending.pop_back();
      if (!seen.insert(id).second) continue;
      const dsl::Expression& e = arena[id];
      flat = e.op != dsl::Op::axis;
      if (e.op == dsl::Op::read && names_axes(e)) continue;
      pending.insert(pending.end(), e.operands.begin(), e.operands.end());
    }
  }
  return flat;
}

/// Writes one pointwise kernel.
class PointwiseEmitter {
 public:
  PointwiseEmitter(KernelWriter& kernel, const Configuration& configuration)
      : kernel_(kernel),
        emitter_(kernel),
        threads_(static_cast<int>(configuration.get("threads"))),
        width_(static_cast<int>(configuration.get("vector"))),
        unroll_(static_cast<int>(configuration.get("unroll"))),
        axis_(vector_axis(kernel.context())),
        flat_(is_flat(kernel.context())),
        block_(emitter_, axis_, width_, values_of(kernel.context().kernel)) {
    for (const AxisId axis : kernel.context().kernel.axes)
      if (axis != axis_) outer_.push_back(axis);
    limit_ = flat_ ? product_of_sizes(kernel_, kernel.context().kernel.axes)
                   : kernel_.axis_size(axis_).value_or(core::SizeExpression(0));
    chunks_ = width_ == 1 ? limit_ : core::ceil_divide(limit_, width_);
    whole_ = divides_axis(kernel.context(), axis_, width_);
  }

  LaunchShape emit() {
    const core::SizeExpression items =
        flat_ || outer_.empty() ? chunks_ : product_of_sizes(kernel_, outer_) * chunks_;
    const LinearGrid grid = open_linear_grid(kernel_, items, threads_ * unroll_);
    items_ = kernel_.extent(items, "vectors");
    const std::string threads = kernel_.constant("threads", threads_);
    vector_ = kernel_.names().unique("i", unroll_ > 1 ? "first_vector" : "vector");
    const std::string count =
        unroll_ > 1 ? fmt::format("({} * {})", threads, kernel_.constant("unroll", unroll_)) : threads;
    kernel_.body().line(fmt::format("const {0} {1} = ({0})({2} * {3} + threadIdx.x);", kernel_.index_type(),
                                    vector_, kernel_.narrow() ? grid.block : "(long long)" + grid.block,
                                    count));
    const bool ahead = unroll_ > 1 && block_.has_reads();
    if (ahead) {
      kernel_.body().comment("reads: all in flight before the first is used");
      block_.declare(unroll_);
      for_each_slot([&](const std::string& slot) { emit_loads(slot); });
      kernel_.body().comment("values and writes");
    }
    for_each_slot([&](const std::string& slot) { emit_values(slot, ahead); });
    close_linear_grid(kernel_, grid);
    return {.grid = {grid.grid, 1, 1}, .threads = threads_};
  }

 private:
  void for_each_slot(const std::function<void(const std::string&)>& emit) {
    std::string vector = vector_, slot;
    if (unroll_ > 1) {
      slot = kernel_.names().unique("i", "slot");
      kernel_.body().line("#pragma unroll");
      kernel_.body().open(
          fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", slot, kernel_.constant("unroll", unroll_)));
      vector = kernel_.names().unique("i", "vector");
      kernel_.body().line(fmt::format("const {} {} = {} + {} * {};", kernel_.index_type(), vector, vector_,
                                      slot, kernel_.constant("threads", threads_)));
    }
    kernel_.body().open(fmt::format("if ({}{} < {})", kernel_.narrow() ? "(unsigned)" : "", vector, items_));
    const ExpressionEmitter::Scope scope(emitter_);
    bind_place(vector);
    emit(slot);
    kernel_.body().close();
    if (unroll_ > 1) kernel_.body().close();
  }

  /// Takes a vector's number apart into the outer axes and the first element along the vector axis.
  void bind_place(const std::string& vector) {
    std::string chunk = vector;
    if (!flat_ && !outer_.empty()) {
      chunk = kernel_.names().unique("i", "chunk");
      kernel_.body().line(fmt::format("const {} {} = {};", kernel_.index_type(), chunk,
                                      remainder_text(kernel_, vector, chunks_)));
      const std::string row =
          kernel_.names().unique("i", outer_.size() == 1 ? arena()[outer_[0]].name : "row");
      kernel_.body().line(fmt::format("const {} {} = {};", kernel_.index_type(), row,
                                      quotient_text(kernel_, vector, chunks_)));
      bind_axes_from_flat(emitter_, row, outer_);
    }
    first_ = chunk;
    if (width_ > 1) {
      first_ = kernel_.names().unique("i", flat_ ? "flat" : arena()[axis_].name);
      kernel_.body().line(fmt::format("const {} {} = {} * {};", kernel_.index_type(), first_, chunk, width_));
    }
    emitter_.bind_axis(axis_, first_);
  }

  void emit_loads(const std::string& slot) {
    if (!whole_) kernel_.body().open(whole_condition());
    block_.load(slot, hooks());
    if (!whole_) kernel_.body().close();
  }

  void emit_values(const std::string& slot, bool loaded) {
    const std::vector<Store>& stores = kernel_.context().kernel.stores;
    if (!whole_) kernel_.body().open(whole_condition());
    {
      const ExpressionEmitter::Scope scope(emitter_);
      if (!loaded && block_.has_reads()) {
        block_.declare(1);
        block_.load("", hooks());
      }
      block_.emit_stores(stores, first_, slot, hooks());
    }
    if (whole_) return;
    kernel_.body().next("else");
    {
      const ExpressionEmitter::Scope scope(emitter_);
      VectorBlock single(emitter_, axis_, 1, values_of(kernel_.context().kernel));
      const std::string whole_first = first_;
      first_ = kernel_.names().unique("i", "tail");
      kernel_.body().open(fmt::format("for ({0} {1} = {2}; {1} < {3}; ++{1})", kernel_.index_type(), first_,
                                      whole_first, kernel_.extent(limit_, "columns")));
      emitter_.bind_axis(axis_, first_);
      single.declare(1);
      single.load("", hooks());
      single.emit_stores(stores, first_, "", hooks());
      kernel_.body().close();
      first_ = whole_first;
    }
    kernel_.body().close();
  }

  std::string whole_condition() {
    return fmt::format("if ({} + {} <= {})", first_, width_, kernel_.extent(limit_, "columns"));
  }

  /// In the flat case every access lies at the flat index; else the axes say where.
  VectorBlock::Hooks hooks() const {
    if (!flat_) return {};
    return {.read_offset = [first = first_](ExpressionId) { return first; },
            .store_offset = [first = first_](const Store&) { return first; }};
  }

  const dsl::ExpressionArena& arena() const { return kernel_.graph().arena; }

  KernelWriter& kernel_;
  ExpressionEmitter emitter_;
  int threads_, width_, unroll_;
  AxisId axis_;
  bool flat_, whole_ = true;
  VectorBlock block_;
  std::vector<AxisId> outer_;
  core::SizeExpression limit_, chunks_;  // elements along the vector axis, and vectors of them
  std::string items_, vector_, first_;
};

class PointwiseSchedule final : public Schedule {
 public:
  std::string_view name() const override { return "cuda.pointwise"; }
  int version() const override { return 1; }
  core::Backend backend() const override { return core::Backend::cuda; }

  std::optional<std::string> reason_against(const KernelContext& context) const override {
    if (!std::holds_alternative<Pointwise>(context.kernel.form)) return "the kernel is no pointwise one";
    if (context.kernel.axes.empty()) return "a single value has no axis to share out";
    return std::nullopt;
  }

  ConfigurationSpace space(const KernelContext& context) const override {
    std::vector<std::int64_t> widths;
    for (int width = widest_vector(context, vector_axis(context)); width >= 1; width /= 2)
      widths.push_back(width);
    return {
        .parameters = {{.name = "vector",
                        .domain = widths,
                        .documentation = "consecutive elements a thread computes together"},
                       {.name = "unroll",
                        .domain = {2, 4, 1, 8},
                        .documentation = "vectors a thread has in flight"},
                       {.name = "threads", .domain = {256, 128, 512}, .documentation = "threads a block"}},
        .constraints = {
            {"at most 64 elements a thread", [](const Configuration& c) -> std::optional<std::string> {
               const std::int64_t elements = c.get("vector") * c.get("unroll");
               if (elements <= 64) return std::nullopt;
               return fmt::format("elements a thread {} > 64", elements);
             }}}};
  }

  Estimate estimate(const KernelContext& context, const Configuration& c) const override {
    const dsl::Function& graph = *context.plan.graph;
    const std::int64_t per_block = c.get("threads") * c.get("unroll") * c.get("vector");
    const std::int64_t elements = extent_of(graph, context.kernel.axes, context.binding);
    int bytes = 0;
    for (const TensorId tensor : context.kernel.reads) bytes += bytes_of(context, tensor);
    const int in_flight = static_cast<int>(c.get("unroll") * c.get("vector")) * std::max(bytes, 1);
    return roofline(context, {.blocks = (elements + per_block - 1) / per_block,
                              .threads = static_cast<int>(c.get("threads")),
                              .registers = std::min(24 + in_flight / 4 * 2, 255),
                              .bytes_in_flight = static_cast<double>(in_flight)});
  }

  core::Result<core::Emission> emit(const KernelContext& context, const Configuration& c) const override {
    ModuleWriter module(context, fmt::format("{}: {} ({})", context.kernel.name, name(), c.text()));
    KernelWriter& kernel = module.add_kernel(entry_name(context, *this, c));
    const LaunchShape launch = PointwiseEmitter(kernel, c).emit();
    module.finish_kernel(kernel, launch);
    return std::move(module).finish();
  }
};

}  // namespace

const Schedule& pointwise_schedule() {
  static const PointwiseSchedule schedule;
  return schedule;
}

}  // namespace einkern::codegen::cuda
