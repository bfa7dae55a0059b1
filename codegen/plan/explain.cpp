#include "codegen/plan/explain.h"

#include <algorithm>

#include <fmt/format.h>

#include "codegen/plan/access.h"

namespace einkern::codegen {

using dsl::Expression;
using dsl::Op;

namespace {

std::string names(const dsl::Function& graph, const std::vector<AxisId>& axes) {
  std::string text;
  for (const AxisId axis : axes) text += (text.empty() ? "" : ", ") + graph.arena[axis].name;
  return text;
}

std::string targets(const dsl::Function& graph, const Kernel& kernel) {
  std::string text;
  for (const Store& store : kernel.stores) text += (text.empty() ? "" : ", ") + graph[store.target].name;
  return text;
}

bool is_plain(const dsl::Function& graph, ExpressionId operand) {
  while (graph.arena[operand].op == Op::cast) operand = graph.arena[operand].operands[0];
  return graph.arena[operand].op == Op::read;
}

std::string explain_form(const dsl::Function& graph, const Kernel& kernel, const Pointwise&) {
  return fmt::format("{}: each element on its own", targets(graph, kernel));
}

std::string explain_form(const dsl::Function& graph, const Kernel& kernel, const RowReduction& form) {
  std::string folds;
  for (const Fold& fold : form.folds)
    folds += fmt::format("{}{}", folds.empty() ? "" : ", ", dsl::reduction_name(fold.reduction));
  const std::string rows =
      form.rows.empty() ? "the whole" : fmt::format("each row ({})", names(graph, form.rows));
  std::string text =
      fmt::format("{}: {} over {} of {}", targets(graph, kernel), folds, names(graph, form.columns), rows);
  const bool elements = kernel.axes.size() > form.rows.size();
  return elements ? text + ", then its elements: the row is read from memory once where it fits on chip"
                  : text;
}

std::string explain_form(const dsl::Function& graph, const Kernel& kernel, const Contraction& form) {
  std::string text = fmt::format("{}: product over {} with m ({}), n ({})", targets(graph, kernel),
                                 names(graph, form.contracted), names(graph, form.m), names(graph, form.n));
  if (!form.batch.empty()) text += fmt::format(", batch ({})", names(graph, form.batch));
  const bool a = !is_plain(graph, form.a), b = !is_plain(graph, form.b);
  if (a || b)
    text += fmt::format("; {} computed as loaded", a && b ? "both operands" : a ? "operand a" : "operand b");
  const bool epilogue = std::any_of(kernel.stores.begin(), kernel.stores.end(),
                                    [&](const Store& store) { return store.value != form.fold; });
  return epilogue ? text + "; finished before it is stored" : text;
}

std::string explain_form(const dsl::Function& graph, const Kernel& kernel, const Generic& form) {
  std::string text = fmt::format("{}: one thread an element, folds as serial loops", targets(graph, kernel));
  const bool update = std::any_of(kernel.stores.begin(), kernel.stores.end(),
                                  [](const Store& s) { return s.update.has_value(); });
  if (!form.sequential.empty())
    text += fmt::format("; {} runs in order{}", names(graph, form.sequential),
                        update ? ", as updates may collide" : "");
  return text;
}

}  // namespace

std::string explain_kernel(const dsl::Function& graph, const Kernel& kernel,
                           const std::set<std::string>& reasons) {
  std::string text =
      std::visit([&](const auto& form) { return explain_form(graph, kernel, form); }, kernel.form);
  if (!reasons.empty()) text += fmt::format("; kept in memory: {}", fmt::join(reasons, ", "));
  return text;
}

}  // namespace einkern::codegen
