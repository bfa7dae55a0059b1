#include "dsl/call_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace einkern::dsl {
namespace {

struct CallEdge {
  const ast::Function* callee;
  SourceRange where;
};

void collect_calls(const FunctionTable& table, const ast::Expression& expression,
                   std::vector<CallEdge>& calls) {
  const auto* call = expression.as<ast::Call>();
  const ast::Function* callee = call ? table.find(call->callee.text) : nullptr;
  if (callee) calls.push_back({callee, call->callee.range});
  for (const ast::Expression* child : ast::children(expression)) collect_calls(table, *child, calls);
}

std::vector<CallEdge> calls_of(const FunctionTable& table, const ast::Function& function) {
  std::vector<CallEdge> calls;
  for (const ast::Definition& definition : function.body) {
    for (const ast::Target& target : definition.targets)
      for (const ast::TargetIndex& index : target.indices) collect_calls(table, *index.expression, calls);
    collect_calls(table, *definition.value, calls);
  }
  return calls;
}

/// A function on the way down, and how far its calls have been followed.
struct Visit {
  const ast::Function* function;
  std::vector<CallEdge> calls;
  std::size_t next = 0;
};

void report_cycle(const std::vector<Visit>& path, const CallEdge& closing, FunctionTable& table,
                  DiagnosticBag& diagnostics) {
  auto first = std::find_if(path.begin(), path.end(),
                            [&](const Visit& visit) { return visit.function == closing.callee; });
  std::string cycle;
  for (auto visit = first; visit != path.end(); ++visit) cycle += visit->function->name.text + " → ";
  cycle += closing.callee->name.text;
  Diagnostic& diagnostic = diagnostics.error(
      closing.where, fmt::format("functions are inlined and cannot be recursive: {}", cycle));
  for (auto visit = first; visit != path.end(); ++visit) {
    table.failed.insert(visit->function);
    if (visit + 1 != path.end())
      diagnostic.note(
          visit->calls[visit->next - 1].where,
          fmt::format("`{}` calls `{}` here", visit->function->name.text, (visit + 1)->function->name.text));
  }
}

}  // namespace

std::vector<const ast::Function*> order_functions(FunctionTable& table, DiagnosticBag& diagnostics) {
  enum class State { open, done };
  std::unordered_map<const ast::Function*, State> states;
  std::vector<const ast::Function*> order;
  std::vector<Visit> path;  // a stack of its own: chains of calls may be long
  const auto enter = [&](const ast::Function* function) {
    states[function] = State::open;
    path.push_back({function, calls_of(table, *function)});
  };
  for (const ast::Function* root : table.functions) {
    if (!states.contains(root)) enter(root);
    while (!path.empty()) {
      Visit& visit = path.back();
      if (visit.next == visit.calls.size()) {
        states[visit.function] = State::done;
        order.push_back(visit.function);
        path.pop_back();
        continue;
      }
      const CallEdge call = visit.calls[visit.next++];
      const auto state = states.find(call.callee);
      if (state == states.end())
        enter(call.callee);
      else if (state->second == State::open)
        report_cycle(path, call, table, diagnostics);
    }
  }
  return order;
}

}  // namespace einkern::dsl
