#include "codegen/cpu/row_schedule.h"

#include <algorithm>
#include <cmath>

#include "codegen/cpu/cost.h"
#include "codegen/cpu/row_emitter.h"
#include "codegen/plan/access.h"

namespace einkern::codegen::cpu {
namespace {

/// A fold whose element is itself a reduction would need loops inside lanes whose bounds may differ; bodies
/// without one have no such bounds.
bool bodies_are_flat(const KernelContext& context) {
  const auto& form = std::get<RowReduction>(context.kernel.form);
  const dsl::ExpressionArena& arena = context.plan.graph->arena;
  bool flat = true;
  auto check = [&](ExpressionId value) {
    dsl::visit_nodes(arena, value, [&](ExpressionId id) {
      if (arena[id].op != dsl::Op::reduce) return;
      auto is_fold = [&](const Fold& fold) { return fold.node == id; };
      // Below a fold's node its original body is visited too; that is replaced by the fold's value.
      flat = flat && std::any_of(form.folds.begin(), form.folds.end(), is_fold);
    });
  };
  for (const Fold& fold : form.folds) check(fold.body);
  for (const Store& store : context.kernel.stores) check(store.value);
  return flat;
}

class RowSchedule final : public Schedule {
 public:
  std::string_view name() const override { return "cpu.rows"; }
  int version() const override { return 1; }
  core::Backend backend() const override { return core::Backend::cpu; }

  std::optional<std::string> reason_against(const KernelContext& context) const override {
    const auto* form = std::get_if<RowReduction>(&context.kernel.form);
    if (form == nullptr)
      return "it is no row reduction but a " + std::string(form_name(context.kernel)) + " kernel";
    if (form->columns.empty()) return "it has no columns";
    for (AxisId row : form->rows)
      if (!extent_size(context, row)) return "the range of a row axis depends on data";
    if (!bodies_are_flat(context)) return "a fold's element holds another reduction";
    return std::nullopt;
  }

  ConfigurationSpace space(const KernelContext& context) const override {
    int natural = natural_lanes(context);
    std::vector<std::int64_t> directions, splits = {0};
    directions.push_back(0);
    if (natural > 1 && may_go_across_rows(context, natural)) directions.push_back(1);
    if (may_split(context)) splits.push_back(1);
    ConfigurationSpace space;
    space.parameters = {
        {"across_rows", directions, true, "1: lanes hold neighbouring rows, 0: neighbouring columns"},
        {"lanes", {natural}, true, "elements in a vector"},
        {"vectors", {4, 2, 8, 1}, true, "vectors of accumulators at a time"},
        {"split", splits, true, "1: threads share the columns of a row, 0: each row belongs to one thread"},
        {"chunk", {16384, 4096, 65536}, false, "columns of a chunk, at least, where they are split"}};
    space.constraints = {
        {"a chunk is only for split columns", [](const Configuration& c) -> std::optional<std::string> {
           if (c.get("split") == 1 || c.get("chunk") == 16384) return std::nullopt;
           return "chunk " + std::to_string(c.get("chunk")) + " without split, which takes 16384";
         }}};
    return space;
  }

  Estimate estimate(const KernelContext& context, const Configuration& configuration) const override {
    const auto& form = std::get<RowReduction>(context.kernel.form);
    const dsl::Function& graph = *context.plan.graph;
    RowChoice choice = row_choice(configuration);
    double rows = static_cast<double>(extent_of(graph, form.rows, context.binding));
    double columns = static_cast<double>(extent_of(graph, form.columns, context.binding));
    double threads = std::max(1, context.device.multiprocessors);
    double width = choice.lanes * (choice.across_rows ? choice.vectors : 1);
    double tasks = choice.across_rows ? std::ceil(rows / width) : rows;
    if (choice.split) tasks *= std::max(1.0, std::ceil(columns / static_cast<double>(choice.chunk)));
    double busy = std::clamp(tasks / threads, 1 / threads, 1.0);
    double along = choice.across_rows ? rows : columns;
    double filled =
        std::floor(along / choice.lanes) * choice.lanes / std::max(1.0, along);  // the rest goes one by one
    double contiguous = contiguity(context, choice.across_rows);
    double lanes = 1 + (choice.lanes - 1) * filled * contiguous;
    double chains = std::min(1.0, choice.vectors / 4.0);  // an add takes four cycles
    Estimate estimate =
        roofline(context, kernel_cost(context.plan, context.kernel, context.binding), lanes * chains);
    // Every access that is not contiguous moves a whole cache line.
    estimate.seconds = estimate.seconds / busy / std::max(contiguous, 0.01) * (choice.split ? 1.02 : 1);
    if (choice.split)
      estimate.seconds += 20e-6 * static_cast<double>(form.folds.size());  // a further loop of threads
    return estimate;
  }

  core::Result<core::Emission> emit(const KernelContext& context,
                                    const Configuration& configuration) const override {
    KernelModule module(context, *this, configuration);
    RowEmitter(context, row_choice(configuration), module).emit();
    return module.finish();
  }

 private:
  /// Share of the reads that a vector makes with one instruction.
  static double contiguity(const KernelContext& context, bool across_rows) {
    const auto& form = std::get<RowReduction>(context.kernel.form);
    const dsl::ExpressionArena& arena = context.plan.graph->arena;
    if (across_rows && form.rows.empty()) return 0;
    AxisId axis = across_rows ? form.rows.back() : form.columns.back();
    std::vector<ExpressionId> bodies;
    for (const Fold& fold : form.folds) bodies.push_back(fold.body);
    double good = 0, all = 0;
    for (ExpressionId read : reads_of(arena, bodies)) {
      const TensorLayout& layout =
          context.specialisation.tensors[static_cast<std::size_t>(arena[read].index)];
      Movement moves = movement(arena, read, axis, layout);
      good += moves == Movement::unit || moves == Movement::none ? 1 : 0.1;
      ++all;
    }
    return all > 0 ? good / all : 1;
  }
};

}  // namespace

const Schedule& row_schedule() {
  static const RowSchedule schedule;
  return schedule;
}

}  // namespace einkern::codegen::cpu
