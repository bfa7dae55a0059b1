// A contraction is a row reduction too: each element of the result is a sum of its own. Where one side is so
// short that the other is hardly read twice, that way reads everything once and writes nothing but the
// result.
#include "codegen/cpu/dot_schedule.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/cpu/row_emitter.h"
#include "codegen/cpu/row_schedule.h"
#include "codegen/plan/access.h"

namespace einkern::codegen::cpu {
namespace {

// From here on packing pays.
constexpr std::int64_t longest_short_side = 8;

/// The contraction as a reduction: rows are the axes of the result, columns those of the sum as it is
/// written.
Kernel as_row_reduction(const KernelContext& context, bool m_last) {
  const auto& form = std::get<Contraction>(context.kernel.form);
  const dsl::Expression& fold = context.plan.graph->arena[form.fold];
  RowReduction rows;
  rows.columns = fold.axes;
  rows.folds = {{form.fold, dsl::Reduction::sum, fold.operands[0]}};
  for (const auto& group : {form.batch, m_last ? form.n : form.m, m_last ? form.m : form.n})
    rows.rows.insert(rows.rows.end(), group.begin(), group.end());
  Kernel kernel = context.kernel;
  kernel.form = std::move(rows);
  return kernel;
}

KernelContext with_kernel(const KernelContext& context, const Kernel& kernel) {
  return {context.plan, kernel, context.specialisation, context.device, context.binding};
}

class DotSchedule final : public Schedule {
 public:
  std::string_view name() const override { return "cpu.dots"; }
  int version() const override { return 1; }
  core::Backend backend() const override { return core::Backend::cpu; }

  std::optional<std::string> reason_against(const KernelContext& context) const override {
    const auto* form = std::get_if<Contraction>(&context.kernel.form);
    if (form == nullptr)
      return "it is no contraction but a " + std::string(form_name(context.kernel)) + " kernel";
    std::int64_t side = std::min(extent(context, form->m), extent(context, form->n));
    if (side > longest_short_side)
      return fmt::format("its shorter side has {} elements, more than {}", side, longest_short_side);
    Kernel kernel = as_row_reduction(context, false);
    return row_schedule().reason_against(with_kernel(context, kernel));
  }

  ConfigurationSpace space(const KernelContext& context) const override {
    Kernel last_n = as_row_reduction(context, false), last_m = as_row_reduction(context, true);
    ConfigurationSpace space = row_schedule().space(with_kernel(context, last_n));
    ConfigurationSpace other = row_schedule().space(with_kernel(context, last_m));
    // Lanes across rows may be possible in one order of the rows only.
    std::vector<std::int64_t> allowed[2];
    for (const auto& parameter : space.parameters)
      if (parameter.name == "across_rows") allowed[0] = parameter.domain;
    for (const auto& parameter : other.parameters)
      if (parameter.name == "across_rows") allowed[1] = parameter.domain;
    for (auto& parameter : space.parameters)
      if (parameter.name == "across_rows" && allowed[1].size() > allowed[0].size())
        parameter.domain = allowed[1];
    space.parameters.push_back(
        {"m_last", {0, 1}, true, "1: rows of the left factor vary fastest, 0: columns of the right"});
    space.constraints.push_back(
        {"lanes lie across rows only where the innermost rows allow it",
         [first = allowed[0], second = allowed[1]](const Configuration& c) -> std::optional<std::string> {
           const auto& domain = c.get("m_last") == 0 ? first : second;
           if (std::count(domain.begin(), domain.end(), c.get("across_rows")) > 0) return std::nullopt;
           return fmt::format("across_rows={} with m_last={}", c.get("across_rows"), c.get("m_last"));
         }});
    return space;
  }

  Estimate estimate(const KernelContext& context, const Configuration& configuration) const override {
    const auto& form = std::get<Contraction>(context.kernel.form);
    bool m_last = configuration.get("m_last") != 0;
    Kernel kernel = as_row_reduction(context, m_last);
    Estimate estimate = row_schedule().estimate(with_kernel(context, kernel), configuration);
    std::int64_t m = extent(context, form.m), n = extent(context, form.n);
    // The longer side's factor is read again for each of the shorter side, unless that one varies fastest and
    // one dot product is done at a time.
    bool read_once = configuration.get("across_rows") == 0 && (m_last ? m <= n : n <= m);
    if (!read_once) estimate.seconds *= static_cast<double>(std::max<std::int64_t>(1, std::min(m, n)));
    return estimate;
  }

  core::Result<core::Emission> emit(const KernelContext& context,
                                    const Configuration& configuration) const override {
    Kernel kernel = as_row_reduction(context, configuration.get("m_last") != 0);
    KernelContext rows = with_kernel(context, kernel);
    KernelModule module(rows, *this, configuration);
    RowEmitter(rows, row_choice(configuration), module).emit();
    return module.finish();
  }

 private:
  static std::int64_t extent(const KernelContext& context, const std::vector<AxisId>& axes) {
    return extent_of(*context.plan.graph, axes, context.binding);
  }
};

}  // namespace

const Schedule& dot_schedule() {
  static const DotSchedule schedule;
  return schedule;
}

}  // namespace einkern::codegen::cpu
