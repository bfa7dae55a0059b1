// The part of FunctionChecker that knows the built-in functions: the rows of ops.def, casts, functions of
// types, and the compositions, which are lowered here to operations.
#include <fmt/format.h>

#include <algorithm>

#include "dsl/check.h"

namespace einkern::dsl {
namespace {

std::optional<Op> operation_named(std::string_view name) {
  const auto& rows = all_op_facts();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool is_function = rows[i].spelling.front() >= 'a' && rows[i].spelling.front() <= 'z';
    const bool is_word = rows[i].rule == TypeRule::boolean;  // not, and, or
    if (is_function && !is_word && rows[i].spelling == name)
      return static_cast<Op>(static_cast<std::size_t>(first_scalar_op) + i);
  }
  return std::nullopt;
}

bool is_type_function(std::string_view name) {
  return name == "largest" || name == "lowest" || name == "epsilon";
}

std::vector<std::string_view> builtin_names() {
  std::vector<std::string_view> names = {"largest", "lowest", "epsilon", "bitcast", "clamp"};
  for (const OpFacts& row : all_op_facts()) names.push_back(row.spelling);
  for (const Composition& row : all_compositions()) names.push_back(row.name);
  for (const std::string_view name : ast::reduction_names()) names.push_back(name);
  return names;
}

}  // namespace

Value FunctionChecker::check_builtin(const ast::Call& call, SourceRange where) {
  const std::string& name = call.callee.text;
  if (is_type_function(name)) return check_type_function(call, where);
  if (name == "bitcast") return check_bitcast(call);
  const auto generic = frame().types.find(name);
  const auto target = generic != frame().types.end() ? generic->second : core::parse_dtype(name);
  const auto op = operation_named(name);
  const Composition* composition = find_composition(name);
  const bool folds = op == Op::maximum || op == Op::minimum;
  if (!target && !op && !composition && name != "clamp") return unknown_function(call);

  const std::size_t arity = name == "clamp" ? 3 : op ? static_cast<std::size_t>(facts(*op).arity) : 1;
  const std::size_t given = call.arguments.size();
  std::vector<Operand> arguments = operands(call.arguments);
  if (folds ? given < 2 : given != arity) {
    error(where, fmt::format("`{}` takes {}{} argument{}, and this call has {}", name,
                             folds ? "at least " : "", arity, arity == 1 ? "" : "s", given));
    return {};
  }
  if (target) return typing_.cast(*target, arguments[0]);
  if (name == "clamp") {
    const Operand lower[] = {arguments[0], arguments[1]};
    const Operand upper[] = {{typing_.apply(Op::maximum, lower, where), where}, arguments[2]};
    return typing_.apply(Op::minimum, upper, where);
  }
  if (composition) return compose(*composition, arguments[0]);
  if (!folds) return typing_.apply(*op, arguments, where);
  return fold_extremes(*op, std::move(arguments), where);
}

Value FunctionChecker::compose(const Composition& composition, const Operand& argument) {
  if (!argument.value.known()) return {};
  const DType type = argument.value.type;
  if (type == DType::boolean) {
    error(argument.range,
          fmt::format("`{}` takes numbers, and this is bool; write f32(…)", composition.name));
    return {};
  }
  const bool keeps = composition.keeps_integers && core::is_integer(type);
  const auto x = typing_.convert(argument, core::is_float(type) || keeps ? type : DType::f32);
  return x ? Value::typed(arena(), composition.build(arena(), *x)) : Value{};
}

/// max and min of two or more arguments, from the left, all in their common type.
Value FunctionChecker::fold_extremes(Op op, std::vector<Operand> arguments, SourceRange where) {
  const bool literals = std::all_of(arguments.begin(), arguments.end(),
                                    [](const Operand& argument) { return argument.value.is_literal(); });
  if (!literals && arguments.size() > 2) {
    const auto common = typing_.unify(arguments, where);
    if (!common) return {};
    for (Operand& argument : arguments)
      if (const auto node = typing_.convert(argument, *common))
        argument.value = Value::typed(arena(), *node);
      else
        return {};
  }
  Operand folded = arguments[0];
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const Operand pair[] = {folded, arguments[i]};
    folded.value = typing_.apply(op, pair, where);
  }
  return folded.value;
}

std::optional<DType> FunctionChecker::type_argument(const ast::Expression& argument) {
  std::string name;
  if (const auto* type = argument.as<ast::TypeName>()) name = type->text;
  if (const auto* word = argument.as<ast::Name>()) name = word->text;
  const auto generic = frame().types.find(name);
  const auto type = generic != frame().types.end() ? generic->second : core::parse_dtype(name);
  if (!type) error(argument.range, "this argument is a type, such as f32 or a generic type's name");
  return type;
}

Value FunctionChecker::check_type_function(const ast::Call& call, SourceRange where) {
  const std::string& name = call.callee.text;
  if (call.arguments.size() != 1) {
    error(where, fmt::format("`{0}` takes one type, such as {0}(f32)", name));
    return {};
  }
  const auto type = type_argument(*call.arguments[0]);
  if (!type) return {};
  const bool number = name == "epsilon" ? core::is_float(*type) : *type != DType::boolean;
  if (!number) {
    error(call.arguments[0]->range, fmt::format("`{}` is not defined for {}", name, core::dtype_name(*type)));
    return {};
  }
  const DType computed = core::compute_type(*type);
  if (core::is_float(*type)) {
    const double value = name == "largest"  ? core::largest(*type)
                         : name == "lowest" ? core::lowest(*type)
                                            : core::epsilon(*type);
    return Value::typed(arena(), arena().constant_float(computed, value));
  }
  const int bits = core::size_bytes(*type) * 8;
  const std::uint64_t all_ones = ~std::uint64_t{0} >> (64 - bits);
  const std::uint64_t most = core::is_signed(*type) ? all_ones >> 1 : all_ones;
  const std::uint64_t least = core::is_signed(*type) ? ~most : 0;
  return Value::typed(arena(), arena().constant_integer(
                                   computed, static_cast<std::int64_t>(name == "largest" ? most : least)));
}

Value FunctionChecker::check_bitcast(const ast::Call& call) {
  if (call.arguments.size() != 2) {
    error(call.callee.range, "`bitcast` takes a type and a value: bitcast(u32, x)");
    return {};
  }
  const auto target = type_argument(*call.arguments[0]);
  const Operand from = operand(*call.arguments[1]);
  if (!target || !from.value.known()) return {};
  const Value value = typing_.settled(from.value);
  const bool fits = !core::is_storage(*target) && *target != DType::boolean && value.type != DType::boolean &&
                    core::size_bytes(*target) == core::size_bytes(value.type);
  if (fits) return Value::typed(arena(), arena().bitcast(*target, value.id));
  error(call.arguments[1]->range,
        fmt::format("`bitcast` keeps the width: {} does not turn into {}; the types are i32, u32 "
                    "and f32, or i64, u64 and f64",
                    core::dtype_name(value.type), core::dtype_name(*target)))
      .also(call.arguments[0]->range);
  return {};
}

Value FunctionChecker::unknown_function(const ast::Call& call) {
  operands(call.arguments);
  const std::string& name = call.callee.text;
  Diagnostic& diagnostic = error(call.callee.range, fmt::format("there is no function `{}`", name));
  std::vector<std::string_view> names = builtin_names();
  for (const ast::Function* function : table_.functions) names.push_back(function->name.text);
  const std::string_view meant = nearest_name(name, names);
  if (!meant.empty()) diagnostic.replace(call.callee.range, std::string(meant));
  if (const Symbol* symbol = frame().find(name); symbol && symbol->kind == Symbol::Kind::tensor)
    diagnostic.note(symbol->where,
                    fmt::format("`{0}` is a tensor; its elements are read with `{0}[…]`", name));
  return {};
}

}  // namespace einkern::dsl
