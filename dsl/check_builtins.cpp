// Calls of built-in functions: operations of ops.def, casts, and functions that are formulas over operations.
#include <algorithm>

#include "core/dtype.h"
#include "dsl/checker.h"

namespace einkern::dsl {
namespace {

/// Functions of one argument that the checker writes as formulas (docs/language.md lists them).
constexpr std::string_view composites[] = {"sigmoid", "relu", "gelu", "gelu_tanh", "silu", "softplus"};

std::optional<Op> operation_called(std::string_view name) {
  const auto& table = all_op_facts();
  for (std::size_t i = 0; i < table.size(); ++i)
    if (table[i].spelling == name && std::isalpha(static_cast<unsigned char>(name[0])) && name != "and" &&
        name != "or" && name != "not")
      return static_cast<Op>(static_cast<std::size_t>(first_scalar_op) + i);
  return std::nullopt;
}

}  // namespace

Value Checker::check_call(const ast::Call& call, SourceRange range) {
  const auto user = functions_.find(call.callee.text);
  if (user == functions_.end()) return call_builtin(call, range);
  const auto results = inline_call(call, range);
  if (!results) return {};
  if (results->size() != 1 || !results->front().shape.empty()) {
    error(range, results->size() != 1
                     ? "`" + call.callee.text + "` gives " + std::to_string(results->size()) +
                           " results: define them, as in `a, b = " + call.callee.text + "(…)`"
                     : "`" + call.callee.text + "` gives a tensor: index the call, as in `" +
                           call.callee.text + "(…)[i]`, or define a whole tensor with it");
    return {};
  }
  return read_element(results->front(), {}, std::nullopt, range, call.callee.text);
}

Value Checker::call_builtin(const ast::Call& call, SourceRange range) {
  const std::string& name = call.callee.text;
  const std::size_t count = call.arguments.size();
  const auto expect = [&](std::size_t wanted) {
    if (count == wanted) return true;
    error(range, "`" + name + "` takes " + std::to_string(wanted) +
                     (wanted == 1 ? " argument" : " arguments") + ", not " + std::to_string(count));
    return false;
  };
  if (core::parse_dtype(name) || frame().types.contains(name)) {
    const auto type = resolve_type(call.callee);
    if (!type || !expect(1)) return {};
    return rules_.cast(check_value(*call.arguments[0]), *type, range);
  }
  if (name == "largest" || name == "lowest" || name == "epsilon")
    return expect(1) ? call_type_property(call, range) : Value{};
  if (name == "bitcast") return expect(2) ? call_type_property(call, range) : Value{};

  std::vector<Value> arguments;
  for (const auto& argument : call.arguments) arguments.push_back(check_value(*argument));
  for (const Value& argument : arguments)
    if (argument.failed()) return {};
  if (name == "clamp") {
    if (!expect(3)) return {};
    const Value raised = rules_.apply(Op::maximum, {arguments[0], arguments[1]}, range);
    return rules_.apply(Op::minimum, {raised, arguments[2]}, range);
  }
  if (std::find(std::begin(composites), std::end(composites), name) != std::end(composites))
    return expect(1) ? call_composite(name, arguments[0], range) : Value{};
  const auto op = operation_called(name);
  if (!op) {
    std::vector<std::string_view> candidates(std::begin(composites), std::end(composites));
    for (const OpFacts& fact : all_op_facts()) candidates.push_back(fact.spelling);
    for (const auto& [known, function] : functions_) candidates.push_back(known);
    Diagnostic& diagnostic = error(call.callee.range, "no function is called `" + name + "`");
    if (const auto near = nearest_name(name, candidates); !near.empty()) {
      diagnostic.message += "; did you mean `" + std::string(near) + "`?";
      diagnostic.replace(call.callee.range, std::string(near));
    }
    return {};
  }
  if ((*op == Op::maximum || *op == Op::minimum) && count >= 2) {
    Value value = arguments[0];
    for (std::size_t i = 1; i < count; ++i) value = rules_.apply(*op, {value, arguments[i]}, range);
    return value;
  }
  if (!expect(static_cast<std::size_t>(facts(*op).arity))) return {};
  return rules_.apply(*op, std::move(arguments), range);
}

Value Checker::call_composite(std::string_view name, const Value& argument, SourceRange range) {
  const auto number = [&](double value) { return rules_.float_literal(value); };
  const auto apply = [&](Op op, std::vector<Value> operands) {
    return rules_.apply(op, std::move(operands), range);
  };
  Value x = argument;
  if (name == "relu") return apply(Op::maximum, {x, rules_.integer_literal(0)});  // max propagates NaN
  if (x.literal || core::is_integer(x.type)) x = rules_.convert(x, DType::f32, range);
  if (x.failed()) return {};
  // exp(-x) overflows to infinity for very negative x, and 1 / infinity is the right limit 0.
  const auto one_plus_exp = [&] {
    return apply(Op::add, {number(1), apply(Op::exp, {apply(Op::negate, {x})})});
  };
  if (name == "sigmoid") return apply(Op::divide, {number(1), one_plus_exp()});
  if (name == "silu") return apply(Op::divide, {x, one_plus_exp()});
  if (name == "softplus") {  // max(x, 0) + log1p(exp(-|x|)): neither term overflows
    const Value magnitude = apply(Op::negate, {apply(Op::absolute, {x})});
    return apply(Op::add,
                 {apply(Op::maximum, {x, number(0)}), apply(Op::log1p, {apply(Op::exp, {magnitude})})});
  }
  const Value half = apply(Op::multiply, {number(0.5), x});
  if (name == "gelu") {  // x/2 (1 + erf(x / sqrt 2))
    const Value scaled = apply(Op::multiply, {x, number(0.70710678118654752440)});
    return apply(Op::multiply, {half, apply(Op::add, {number(1), apply(Op::erf, {scaled})})});
  }
  // gelu_tanh: x/2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
  const Value cube = apply(Op::multiply, {apply(Op::multiply, {x, x}), x});
  const Value inner = apply(Op::add, {x, apply(Op::multiply, {number(0.044715), cube})});
  const Value scaled = apply(Op::multiply, {number(0.79788456080286535588), inner});
  return apply(Op::multiply, {half, apply(Op::add, {number(1), apply(Op::tanh, {scaled})})});
}

Value Checker::call_type_property(const ast::Call& call, SourceRange range) {
  const ast::Expression& argument = *call.arguments[0];
  const auto* builtin = argument.as<ast::TypeName>();
  const auto* generic = argument.as<ast::Name>();
  if (!builtin && !generic) {
    error(argument.range, "`" + call.callee.text + "` takes a type first, as in `" + call.callee.text +
                              "(f32" + (call.callee.text == "bitcast" ? ", x)`" : ")`"));
    return {};
  }
  const auto type = resolve_type({builtin ? builtin->text : generic->text, argument.range});
  if (!type) return {};
  if (call.callee.text == "bitcast") {
    const Value value = rules_.settle(check_value(*call.arguments[1]), range);
    if (value.failed()) return {};
    if (core::is_storage(*type) || *type == DType::boolean || value.type == DType::boolean ||
        core::size_bytes(*type) != core::size_bytes(value.type)) {
      error(range, "bitcast keeps the width: from `" + std::string(core::dtype_name(value.type)) +
                       "` it goes to a type of " + std::to_string(8 * core::size_bytes(value.type)) +
                       " bits");
      return {};
    }
    return rules_.node(arena().bitcast(*type, value.id));
  }
  const DType compute = core::compute_type(*type);
  if (core::is_float(*type))
    return rules_.node(arena().constant_float(compute, call.callee.text == "largest" ? core::largest(*type)
                                                       : call.callee.text == "lowest"
                                                           ? core::lowest(*type)
                                                           : core::epsilon(*type)));
  if (call.callee.text == "epsilon" || *type == DType::boolean) {
    error(range,
          "`" + call.callee.text + "` takes a " + (*type == DType::boolean ? "number" : "float") + " type");
    return {};
  }
  const bool is_signed = core::is_signed(*type);
  const int bits = 8 * core::size_bytes(*type) - (is_signed ? 1 : 0);
  const std::int64_t top = bits == 64 ? -1 : static_cast<std::int64_t>((std::uint64_t{1} << bits) - 1);
  const std::int64_t value = call.callee.text == "largest" ? top : is_signed ? -top - 1 : 0;
  // An integer limit is a literal of the type's compute type: `x / largest(i8)` with a float x divides
  // floats.
  return rules_.node(arena().constant_integer(compute, value));
}

}  // namespace einkern::dsl
