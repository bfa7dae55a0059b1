#include "codegen/cuda/expression_emitter.h"

#include <algorithm>
#include <cstdlib>
#include <ranges>
#include <set>

#include <fmt/format.h>

#include "codegen/cuda/operation_spelling.h"

namespace einkern::codegen::cuda {

namespace {

using dsl::Expression;
using dsl::Guard;
using dsl::Op;

/// Longer texts get a name of their own, so that lines stay readable.
constexpr std::size_t longest_inline = 90;

bool is_leaf(Op op) { return op == Op::constant || op == Op::dim || op == Op::scalar || op == Op::axis; }

std::string_view name_of(Op op) {
  switch (op) {
    case Op::cast:
    case Op::bitcast:
      return "cast";
    default:
      return op >= dsl::first_scalar_op ? dsl::facts(op).id : "value";
  }
}

}  // namespace

ExpressionEmitter::ExpressionEmitter(KernelWriter& kernel) : kernel_(kernel) {
  frames_.emplace_back();
  const Kernel& k = kernel.context().kernel;
  std::vector<ExpressionId> roots;
  for (const Store& store : k.stores) {
    roots.push_back(store.value);
    roots.insert(roots.end(), store.indices.begin(), store.indices.end());
  }
  if (const auto* rows = std::get_if<RowReduction>(&k.form))
    for (const Fold& fold : rows->folds) roots.push_back(fold.body);
  if (const auto* contraction = std::get_if<Contraction>(&k.form)) {
    roots.push_back(contraction->a);
    roots.push_back(contraction->b);
  }
  std::set<ExpressionId> seen;
  for (const ExpressionId root : roots) {
    ++facts_[root].uses;
    dsl::visit_nodes(arena(), root, [&](ExpressionId id) {
      if (!seen.insert(id).second) return;
      for (const ExpressionId operand : node(id).operands) ++facts_[operand].uses;
    });
  }
}

ExpressionEmitter::Scope::Scope(ExpressionEmitter& emitter) : emitter_(emitter) {
  emitter_.frames_.emplace_back();
}
ExpressionEmitter::Scope::~Scope() { emitter_.frames_.pop_back(); }

void ExpressionEmitter::bind_axis(AxisId axis, std::string text) {
  frames_.back().axes[axis] = std::move(text);
}
void ExpressionEmitter::bind_node(ExpressionId id, std::string text) {
  frames_.back().nodes[id] = std::move(text);
}

const std::vector<AxisId>& ExpressionEmitter::free_axes(ExpressionId id) {
  auto& known = facts_[id].free_axes;
  if (!known) known = dsl::free_axes(arena(), id);
  return *known;
}

bool ExpressionEmitter::depends_on_any(ExpressionId id, const std::vector<AxisId>& axes) {
  const std::vector<AxisId>& free = free_axes(id);
  return std::any_of(axes.begin(), axes.end(),
                     [&](AxisId axis) { return std::binary_search(free.begin(), free.end(), axis); });
}

const std::string* ExpressionEmitter::find(ExpressionId id) {
  for (const auto& frame : std::views::reverse(frames_)) {
    if (const auto known = frame.nodes.find(id); known != frame.nodes.end()) return &known->second;
    // Values from outside hold for other values of the axes that this scope binds anew.
    for (const auto& [axis, text] : frame.axes)
      if (depends_on_any(id, {axis})) return nullptr;
  }
  return nullptr;
}

const std::string& ExpressionEmitter::axis_text(AxisId axis) const {
  for (const auto& frame : std::views::reverse(frames_))
    if (const auto known = frame.axes.find(axis); known != frame.axes.end()) return known->second;
  std::abort();  // a schedule binds every axis of its kernel
}

const std::string* ExpressionEmitter::extent_text(ExpressionId id) {
  Facts& facts = facts_[id];
  if (!facts.extent_known) {
    facts.extent_known = true;
    if (node(id).type == DType::i64 && kernel_.size(id)) facts.extent = kernel_.extent(id);
  }
  return facts.extent ? &*facts.extent : nullptr;
}

std::string_view ExpressionEmitter::type_name(ExpressionId id) const {
  return node(id).type == DType::i64 ? kernel_.index_type() : value_type(node(id).type, arithmetic());
}

/// Operands that are needed whatever else is, and so may be computed first.
std::vector<ExpressionId> ExpressionEmitter::eager_operands(ExpressionId id) {
  const Expression& e = node(id);
  switch (e.op) {
    case Op::reduce:
      return {};
    case Op::read:
      return {e.operands.begin(), e.operands.end() - (e.guard == Guard::alternative ? 1 : 0)};
    case Op::where:
    case Op::logical_and:
    case Op::logical_or:
      return {e.operands.front()};
    default:
      return e.operands;
  }
}

std::string ExpressionEmitter::value(ExpressionId root) {
  // Operands first, on a stack of its own: a long chain of operations does not recurse.
  std::vector<ExpressionId> pending = {root};
  while (!pending.empty()) {
    const ExpressionId id = pending.back();
    if (find(id) != nullptr) {
      pending.pop_back();
      continue;
    }
    bool ready = true;
    if (extent_text(id) == nullptr) {
      const std::vector<ExpressionId> operands = eager_operands(id);
      for (const ExpressionId operand : std::views::reverse(operands))
        if (find(operand) == nullptr) {
          pending.push_back(operand);
          ready = false;
        }
    }
    if (!ready) continue;
    pending.pop_back();
    std::string text = keep(id, compute(id));
    frames_.back().nodes[id] = std::move(text);
  }
  return *find(root);
}

std::string ExpressionEmitter::named_value(ExpressionId id) {
  std::string text = value(id);
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
  if (plain || node(id).op == Op::constant) return text;
  text = declare(id, text, "v", name_of(node(id).op));
  frames_.back().nodes[id] = text;
  return text;
}

std::string ExpressionEmitter::declare(ExpressionId id, std::string_view text, std::string_view kind,
                                       std::string_view name) {
  const std::string variable = kernel_.names().unique(kind, name);
  body().line(fmt::format("const {} {} = {};", type_name(id), variable, without_parentheses(text)));
  return variable;
}

std::string ExpressionEmitter::keep(ExpressionId id, std::string text) {
  const Expression& e = node(id);
  if (is_leaf(e.op) || e.op == Op::reduce || extent_text(id) != nullptr) return text;
  if (facts_[id].uses < 2 && text.size() <= longest_inline) return text;
  return declare(
      id, text, "v",
      e.op == Op::read ? std::string_view(kernel_.graph()[TensorId{e.index}].name) : name_of(e.op));
}

TextWriter ExpressionEmitter::captured(const std::function<void()>& emit) {
  TextWriter outer = std::move(body());
  body() = outer.nested();
  emit();
  TextWriter lines = std::move(body());
  body() = std::move(outer);
  return lines;
}

void ExpressionEmitter::hoist(ExpressionId root, const std::vector<AxisId>& inner) {
  std::set<ExpressionId> seen;
  std::vector<std::pair<ExpressionId, std::vector<AxisId>>> pending = {{root, inner}};
  while (!pending.empty()) {
    auto [id, axes] = std::move(pending.back());
    pending.pop_back();
    const Expression& e = node(id);
    if (!seen.insert(id).second || is_leaf(e.op) || find(id) != nullptr || extent_text(id) != nullptr)
      continue;
    if (!depends_on_any(id, axes)) {
      if (e.op == Op::cast && is_leaf(node(e.operands[0]).op)) continue;
      named_value(id);
      continue;
    }
    if (e.op == Op::reduce) axes.insert(axes.end(), e.axes.begin(), e.axes.end());
    for (const ExpressionId operand : std::views::reverse(e.operands)) pending.emplace_back(operand, axes);
  }
}

std::string ExpressionEmitter::compute(ExpressionId id) {
  if (const std::string* text = extent_text(id)) return *text;
  const Expression& e = node(id);
  switch (e.op) {
    case Op::constant:
      return constant(id);
    case Op::scalar:
      return kernel_.scalar(dsl::ScalarId{e.index});
    case Op::axis:
      return axis_text(AxisId{e.index});
    case Op::read:
      return read(id);
    case Op::reduce:
      return e.operands.size() > 1 ? reduce_nth(id, e.operands[1]) : reduce(id);
    case Op::cast:
    case Op::bitcast:
      return convert(id);
    default:
      return operate(id);
  }
}

std::string ExpressionEmitter::constant(ExpressionId id) {
  const Expression& e = node(id);
  if (core::is_float(e.type)) return float_literal(e.type, e.float_value(), arithmetic());
  return integer_literal(e.type == DType::i64 && kernel_.narrow() ? DType::i32 : e.type, e.integer_value());
}

std::string ExpressionEmitter::inside_condition(ExpressionId id, const std::vector<std::string>& indices) {
  const Expression& e = node(id);
  const TensorId tensor{e.index};
  std::string condition;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    const Expression& index = node(e.operands[d]);
    const ExpressionId dimension = kernel_.graph()[tensor].shape[d];
    // A bare axis over exactly this dimension cannot leave it.
    if (index.op == Op::axis && arena()[AxisId{index.index}].high == dimension &&
        known_nonnegative(arena()[AxisId{index.index}].low))
      continue;
    const std::string_view type = kernel_.narrow() ? "unsigned" : "unsigned long long";
    const std::string one = fmt::format("({}){} < ({}){}", type, indices[d], type, kernel_.extent(dimension));
    condition += condition.empty() ? one : " && " + one;
  }
  return condition.empty() ? condition : "(" + condition + ")";
}

std::string ExpressionEmitter::read(ExpressionId id) {
  const Expression& e = node(id);
  const TensorId tensor{e.index};
  std::vector<std::string> indices;
  for (std::size_t d = 0; d < kernel_.graph()[tensor].shape.size(); ++d)
    indices.push_back(*find(e.operands[d]));
  if (e.guard == Guard::proven) return load(tensor, indices);
  if (std::size_t longest = 40;
      e.guard != Guard::proven)  // an index stands in the condition and in the access
    for (std::size_t d = 0; d < indices.size(); ++d)
      if (indices[d].size() > longest || indices[d].find("t_") != std::string::npos)
        indices[d] = named_value(e.operands[d]);
  const std::string condition = inside_condition(id, indices);
  if (condition.empty()) return load(tensor, indices);
  const auto inside = [&] { return load(tensor, indices); };
  const auto outside = [&]() -> std::string {
    if (e.guard == Guard::alternative) return value(e.operands.back());
    if (core::is_float(e.type)) return float_literal(e.type, 0.0, arithmetic());
    return integer_literal(e.type == DType::i64 && kernel_.narrow() ? DType::i32 : e.type, 0);
  };
  return choose(id, condition, inside, outside, kernel_.graph()[tensor].name);
}

std::string ExpressionEmitter::choose(ExpressionId id, const std::string& condition,
                                      const std::function<std::string()>& chosen,
                                      const std::function<std::string()>& other, std::string_view name) {
  std::string first, second;
  const auto branch = [&](const std::function<std::string()>& emit, std::string& text) {
    return captured([&] {
      const Scope scope(*this);
      text = emit();
    });
  };
  const TextWriter first_lines = branch(chosen, first), second_lines = branch(other, second);
  if (first_lines.empty() && second_lines.empty())
    return fmt::format("({} ? {} : {})", condition, first, second);
  const std::string variable = kernel_.names().unique("v", name);
  body().line(fmt::format("{} {};", type_name(id), variable));
  body().open(fmt::format("if ({})", without_parentheses(condition)));
  body().append(first_lines);
  body().line(fmt::format("{} = {};", variable, without_parentheses(first)));
  body().next("else");
  body().append(second_lines);
  body().line(fmt::format("{} = {};", variable, without_parentheses(second)));
  body().close();
  return variable;
}

/// A value that stands in a branch and elsewhere too is computed before the choice: otherwise chains of
/// choices would be written out anew in every branch, at a length exponential in their depth.
void ExpressionEmitter::hoist_shared(const std::vector<ExpressionId>& branches) {
  std::vector<ExpressionId> shared;
  for (const ExpressionId branch : branches)
    dsl::visit_nodes(arena(), branch, [&](ExpressionId id) {
      const Expression& e = node(id);
      if (is_leaf(e.op) || facts_[id].uses < 2 || extent_text(id) != nullptr) return;
      const bool bound = std::all_of(free_axes(id).begin(), free_axes(id).end(), [&](AxisId axis) {
        return std::any_of(frames_.begin(), frames_.end(),
                           [&](const Frame& f) { return f.axes.contains(axis); });
      });
      if (bound) shared.push_back(id);
    });
  for (const ExpressionId id : shared) value(id);
}

bool ExpressionEmitter::known_nonnegative(ExpressionId id) const {
  const Expression& e = node(id);
  const auto operand = [&](std::size_t i) { return known_nonnegative(e.operands[i]); };
  switch (e.op) {
    case Op::constant:
      return e.integer_value() >= 0;
    case Op::dim:
      return true;
    case Op::axis:
      return known_nonnegative(arena()[AxisId{e.index}].low);
    case Op::add:
    case Op::multiply:
    case Op::divide:
    case Op::minimum:
      return operand(0) && operand(1);
    case Op::maximum:
      return operand(0) || operand(1);
    case Op::modulo:
      return operand(1) && operand(0);
    default:
      return false;
  }
}

/// Quotients and remainders of index arithmetic: multiply and shift for a divisor fixed at launch.
std::string ExpressionEmitter::divide_index(ExpressionId id) {
  const Expression& e = node(id);
  const std::string a = *find(e.operands[0]), b = *find(e.operands[1]);
  const bool quotient = e.op == Op::divide;
  const auto constant_divisor = dsl::constant_value(arena(), e.operands[1]);
  if (known_nonnegative(e.operands[0])) {
    if (constant_divisor && *constant_divisor > 0)
      return fmt::format("({} {} {})", a, quotient ? "/" : "%", b);
    if (const auto size = kernel_.size(e.operands[1]);
        size && kernel_.narrow() && known_nonnegative(e.operands[1])) {
      if (size->is_constant() && !(*size == core::SizeExpression(0)))
        return fmt::format("({} {} {})", a, quotient ? "/" : "%", b);
      return fmt::format("ek_{}({}, {})", quotient ? "quotient" : "remainder", without_parentheses(a),
                         kernel_.divisor(*size, "size"));
    }
  }
  return fmt::format("ek_{}_{}({}, {})", quotient ? "divide" : "modulo", kernel_.narrow() ? "i32" : "i64",
                     without_parentheses(a), without_parentheses(b));
}

std::string ExpressionEmitter::operate(ExpressionId id) {
  const Expression& e = node(id);
  if (e.op == Op::where || e.op == Op::logical_and || e.op == Op::logical_or) {
    const std::string condition = *find(e.operands[0]);
    hoist_shared({e.operands.begin() + 1, e.operands.end()});
    const auto branch = [&](std::size_t i) { return [this, &e, i] { return value(e.operands[i]); }; };
    const auto literal = [](const char* text) { return [text] { return std::string(text); }; };
    if (e.op == Op::where) return choose(id, condition, branch(1), branch(2), "where");
    std::string second;
    const TextWriter lines = captured([&] {
      const Scope scope(*this);
      second = value(e.operands[1]);
    });
    const bool both = e.op == Op::logical_and;
    if (lines.empty()) return fmt::format("({} {} {})", condition, both ? "&&" : "||", second);
    if (both) return choose(id, condition, branch(1), literal("false"), "and");
    return choose(id, condition, literal("true"), branch(1), "or");
  }
  const DType operand_type = node(e.operands[0]).type;
  if (operand_type == DType::i64 && (e.op == Op::divide || e.op == Op::modulo)) return divide_index(id);

  const OperationSpelling& row = spelling_of(e.op);
  const bool narrow_i64 = kernel_.narrow() && operand_type == DType::i64;
  const DType type = e.op == Op::uniform ? e.type : operand_type;
  std::string_view pattern;
  if (value_type(type, arithmetic()) == "double")
    pattern = row.f64;
  else if (core::is_float(type))
    pattern = row.f32;
  else if (type == DType::boolean)
    pattern = row.f32;
  else if (!core::is_signed(type))
    pattern = row.unsigned_integer;
  else
    pattern = type == DType::i64 ? row.index : row.signed_integer;

  std::array<std::string, 3> operands;
  const bool call = pattern.front() != '(';
  for (std::size_t i = 0; i < e.operands.size() && i < operands.size(); ++i) {
    operands[i] = *find(e.operands[i]);
    if (call && pattern.find("(int){1}") == std::string_view::npos)
      operands[i] = without_parentheses(operands[i]);
  }
  // Shifts and bit counts see the whole width of an i64, which the narrow index type has not.
  const bool whole_width = narrow_i64 && (e.op == Op::shift_left || e.op == Op::shift_right ||
                                          e.op == Op::popcount || e.op == Op::clz);
  if (whole_width) operands[0] = "(long long)" + operands[0];
  const std::string_view type_text = narrow_i64 ? "i32" : core::dtype_name(type);
  std::string text = fmt::format(fmt::runtime(pattern), operands[0], operands[1], operands[2], type_text,
                                 type == DType::u64 ? "ull" : "u");
  if (whole_width && e.type == DType::i64) text = "(int)" + text;
  return text;
}

std::string ExpressionEmitter::convert(ExpressionId id) {
  const Expression& e = node(id);
  const ExpressionId operand = e.operands[0];
  const DType from = node(operand).type;
  const std::string text = *find(operand);
  if (e.op == Op::cast) {
    if (e.target == DType::i64 && core::is_integer(from) && kernel_.narrow())
      return from == DType::i64 || from == DType::i32 ? text : "(int)" + text;
    if (e.target == DType::i32 && from == DType::i64 && kernel_.narrow()) return text;
    return converted_cast(e.target, from, text, arithmetic());
  }
  const bool wide = arithmetic() == Arithmetic::wide;
  if (e.target == DType::f32)
    return fmt::format("{}{}({})", wide ? "(double)" : "",
                       from == DType::u32 ? "__uint_as_float" : "__int_as_float", text);
  if (e.target == DType::f64) return fmt::format("__longlong_as_double((long long){})", text);
  if (from == DType::f32)
    return fmt::format("{}({}{})", e.target == DType::u32 ? "__float_as_uint" : "__float_as_int",
                       wide ? "(float)" : "", text);
  if (from == DType::f64) return fmt::format("({})__double_as_longlong({})", value_type(e.target), text);
  return fmt::format("({}){}", e.target == DType::i64 ? kernel_.index_type() : value_type(e.target), text);
}

}  // namespace einkern::codegen::cuda
