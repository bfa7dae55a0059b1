// The readable text of a plan: tensors, axes, folds, shared values and stores of every kernel.
#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "codegen/plan/plan.h"
#include "dsl/expression_text.h"

namespace einkern::codegen {

using dsl::Expression;
using dsl::Op;

namespace {

/// Writes one kernel. A value that is used more than once gets a line and a name of its own, so the text is
/// never longer than the graph.
class KernelText {
 public:
  KernelText(const dsl::Function& graph, const Kernel& kernel)
      : graph_(graph), arena_(graph.arena), kernel_(kernel) {}

  std::string write() {
    count_uses();
    line(fmt::format("kernel {}: {}", kernel_.name, form_name(kernel_)), 0);
    line(fmt::format("# {}", kernel_.explanation));
    std::visit([&](const auto& form) { write_form(form); }, kernel_.form);
    for (const Store& store : kernel_.stores) write_store(store);
    return std::move(text_);
  }

 private:
  void line(const std::string& content, int indent = 2) {
    text_ += fmt::format("{:{}}{}\n", "", indent, content);
  }

  /// Counts how often each value is written; the kernel's folds have lines of their own and hide what is
  /// below them.
  void count_uses() {
    std::vector<ExpressionId> pending;
    std::set<ExpressionId> seen;
    if (const auto* rows = std::get_if<RowReduction>(&kernel_.form))
      for (const Fold& fold : rows->folds) {
        pending.push_back(fold.body);
        seen.insert(fold.node);
      }
    if (const auto* contraction = std::get_if<Contraction>(&kernel_.form)) {
      pending.insert(pending.end(), {contraction->a, contraction->b});
      seen.insert(contraction->fold);
    }
    for (const Store& store : kernel_.stores) {
      pending.insert(pending.end(), store.indices.begin(), store.indices.end());
      pending.push_back(store.value);
    }
    while (!pending.empty()) {
      const ExpressionId id = pending.back();
      pending.pop_back();
      ++uses_[id];
      if (!seen.insert(id).second) continue;
      const Expression& node = arena_[id];
      pending.insert(pending.end(), node.operands.begin(), node.operands.end());
    }
  }

  std::string axis_name(AxisId axis) {
    const auto [entry, added] = axis_names_.try_emplace(axis, arena_[axis].name);
    for (int number = 1; added && !taken_.insert(entry->second).second; ++number)
      entry->second = fmt::format("{}{}", arena_[axis].name, number);
    return entry->second;
  }

  std::string axes(const std::vector<AxisId>& list) {
    std::string result;
    for (const AxisId axis : list) {
      const dsl::Axis& range = arena_[axis];
      if (!result.empty()) result += ", ";
      result += axis_name(axis);
      result += fmt::format(" in {}..{}", value(range.low), value(range.high));
    }
    return result.empty() ? "nothing" : result;
  }

  void write_form(const Pointwise&) { line("over " + axes(kernel_.axes)); }

  void write_form(const Generic& form) {
    line("over " + axes(kernel_.axes));
    if (!form.sequential.empty()) line("in order along " + axes(form.sequential));
  }

  void write_form(const RowReduction& form) {
    line("rows " + axes(form.rows));
    line("columns " + axes(form.columns));
    for (const Fold& fold : form.folds) {
      const std::string body = value(fold.body);
      const std::string name = fresh_name();
      line(fmt::format("{} = {} {}", name, dsl::reduction_name(fold.reduction), body));
      names_[fold.node] = name;
    }
  }

  void write_form(const Contraction& form) {
    if (!form.batch.empty()) line("batch " + axes(form.batch));
    line("m " + axes(form.m));
    line("n " + axes(form.n));
    line("contracted " + axes(form.contracted));
    line("a = " + value(form.a));
    line("b = " + value(form.b));
    names_[form.fold] = fresh_name();
    line(fmt::format("{} = sum a * b in {}", names_[form.fold], core::dtype_name(form.accumulator)));
  }

  void write_store(const Store& store) {
    const dsl::Tensor& target = graph_[store.target];
    std::string places;
    if (store.update) {
      for (const ExpressionId index : store.indices) places += (places.empty() ? "" : ", ") + value(index);
    } else {
      for (const AxisId axis : store.axes) places += (places.empty() ? "" : ", ") + axis_name(axis);
    }
    constexpr std::string_view combine[] = {"=", "+=", "max=", "min="};
    const std::string_view sign = store.update ? combine[static_cast<std::size_t>(*store.update)] : "=";
    const std::string stored = value(store.value);
    line(fmt::format("{}{} {} {}", target.name, store.axes.empty() ? "" : "[" + places + "]", sign, stored));
  }

  std::string fresh_name() { return fmt::format("%{}", next_++); }

  /// Text of a value: its name if it has one; else its operation, on a line of its own if others use it too.
  std::string value(ExpressionId id) {
    if (const auto name = names_.find(id); name != names_.end()) return name->second;
    const Expression& node = arena_[id];
    std::string written = operation(node);
    const bool leaf =
        node.op == Op::constant || node.op == Op::dim || node.op == Op::scalar || node.op == Op::axis;
    // What a serial fold's body uses is bound there and cannot stand on a line before it.
    if (leaf || uses_[id] < 2 || binders_ > 0) return written;
    const std::string name = fresh_name();
    line(fmt::format("{} = {}", name, written));
    return names_[id] = name;
  }

  std::string list(const std::vector<ExpressionId>& operands, std::size_t count) {
    std::string result;
    for (std::size_t i = 0; i < count; ++i) result += (i ? ", " : "") + value(operands[i]);
    return result;
  }

  std::string operation(const Expression& node) {
    switch (node.op) {
      case Op::constant:
        return constant(node);
      case Op::dim:
        return graph_.dims[static_cast<std::size_t>(node.index)].name;
      case Op::scalar:
        return graph_.scalars[static_cast<std::size_t>(node.index)].name;
      case Op::axis:
        return axis_name(AxisId{node.index});
      case Op::read:
        return read(node);
      case Op::reduce:
        return reduce(node);
      case Op::cast:
        return fmt::format("{}({})", core::dtype_name(node.target), value(node.operands[0]));
      case Op::bitcast:
        return fmt::format("bitcast({}, {})", core::dtype_name(node.target), value(node.operands[0]));
      default:
        break;
    }
    const dsl::OpFacts& facts = dsl::facts(node.op);
    const bool is_function =
        facts.spelling[0] >= 'a' && facts.spelling[0] <= 'z' && facts.rule != dsl::TypeRule::boolean;
    if (is_function) return fmt::format("{}({})", facts.spelling, list(node.operands, node.operands.size()));
    if (facts.arity == 1) return fmt::format("({} {})", facts.spelling, value(node.operands[0]));
    const std::string left = value(node.operands[0]);
    return fmt::format("({} {} {})", left, facts.spelling, value(node.operands[1]));
  }

  std::string constant(const Expression& node) {
    if (node.type == DType::boolean) return node.bits ? "true" : "false";
    if (!core::is_float(node.type)) return fmt::format("{}", node.integer_value());
    return node.type == DType::f32 ? fmt::format("{}", static_cast<float>(node.float_value()))
                                   : fmt::format("f64({})", node.float_value());
  }

  std::string read(const Expression& node) {
    const dsl::Tensor& tensor = graph_[TensorId{node.index}];
    const std::size_t rank = tensor.shape.size();
    const std::string element =
        rank == 0 ? tensor.name : fmt::format("{}[{}]", tensor.name, list(node.operands, rank));
    switch (node.guard) {
      case dsl::Guard::proven:
        return element;
      case dsl::Guard::gather:
        return fmt::format("({} else 0)", element);
      case dsl::Guard::alternative:
        return fmt::format("({} else {})", element, value(node.operands.back()));
    }
    return element;
  }

  std::string reduce(const Expression& node) {
    const std::string range = axes(node.axes);
    const std::string nth =
        node.operands.size() > 1 ? fmt::format(", nth = {}", value(node.operands[1])) : "";
    ++binders_;
    const std::string body = value(node.operands[0]);
    --binders_;
    return fmt::format("({}({}{}) {})", dsl::reduction_name(node.reduction), range, nth, body);
  }

  const dsl::Function& graph_;
  const dsl::ExpressionArena& arena_;
  const Kernel& kernel_;
  std::string text_;
  std::unordered_map<ExpressionId, int> uses_;
  std::unordered_map<ExpressionId, std::string> names_;
  std::map<AxisId, std::string> axis_names_;
  std::set<std::string> taken_;
  int next_ = 0;
  int binders_ = 0;
};

std::string shape_text(const dsl::Function& graph, const dsl::Tensor& tensor) {
  std::string text;
  for (const ExpressionId extent : tensor.shape)
    text += (text.empty() ? "" : ", ") + dsl::expression_text(graph, extent);
  return text.empty() ? "" : "[" + text + "]";
}

}  // namespace

std::string describe(const Plan& plan) {
  const dsl::Function& graph = *plan.graph;
  std::string text = fmt::format("plan \"{}\" of {}\n", plan.name, graph.name);
  for (const dsl::Tensor& tensor : graph.tensors)
    if (tensor.role == dsl::TensorRole::temporary)
      text += fmt::format("temporary {}: {}{}\n", tensor.name, core::dtype_name(tensor.dtype),
                          shape_text(graph, tensor));
  for (const Kernel& kernel : plan.kernels) text += describe(graph, kernel);
  return text;
}

std::string describe(const dsl::Function& graph, const Kernel& kernel) {
  return KernelText(graph, kernel).write();
}

}  // namespace einkern::codegen
