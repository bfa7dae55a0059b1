#include <algorithm>
#include <cassert>
#include <set>

#include "codegen/plan/build_kernels.h"
#include "codegen/plan/inline_definitions.h"
#include "codegen/plan/plan.h"
#include "codegen/plan/split_roots.h"
#include "codegen/plan/verify.h"

namespace einkern::codegen {

namespace {

Plan make_plan(std::string name, const dsl::Function& function, const FusionChoice& choice) {
  auto copy = std::make_shared<dsl::Function>(function);
  CanonicalGraph graph(*copy);
  InlinedFunction inlined = inline_definitions(graph);
  const std::vector<Root> roots = split_roots(graph, std::move(inlined.roots), inlined.ordered, choice);
  Plan plan;
  plan.name = std::move(name);
  plan.kernels = build_kernels(graph, roots, inlined.ordered);
  plan.graph = std::move(copy);
  assert(!plan_violation(plan));
  return plan;
}

/// A plan's text without its name: what makes two plans the same.
std::string body_text(const Plan& plan) {
  const std::string text = describe(plan);
  return text.substr(text.find('\n'));
}

template <typename Form>
bool holds(const Plan& plan) {
  return std::any_of(plan.kernels.begin(), plan.kernels.end(),
                     [](const Kernel& kernel) { return std::holds_alternative<Form>(kernel.form); });
}

}  // namespace

std::string_view form_name(const Kernel& kernel) {
  constexpr std::string_view names[] = {"pointwise", "generic", "row reduction", "contraction"};
  return names[kernel.form.index()];
}

std::vector<Plan> make_plans(const std::shared_ptr<const dsl::Function>& function) {
  std::vector<Plan> plans = {make_plan("fused", *function, {})};
  std::set<std::string> known = {body_text(plans.front())};
  const auto offer = [&](std::string name, const FusionChoice& choice) {
    Plan plan = make_plan(std::move(name), *function, choice);
    if (known.insert(body_text(plan)).second) plans.push_back(std::move(plan));
  };
  if (holds<Contraction>(plans.front())) {
    offer("stored operands", {.computed_operands = false});
    offer("materialised", {.computed_operands = false, .epilogues = false});
  }
  if (holds<RowReduction>(plans.front())) offer("folds first", {.row_stores = false});
  return plans;
}

}  // namespace einkern::codegen
