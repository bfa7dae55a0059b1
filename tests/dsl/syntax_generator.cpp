#include "syntax_generator.h"

#include <fmt/format.h>

namespace einkern::dsl::testing {

using ast::ExpressionPointer;
using ast::make_expression;

std::string SyntaxGenerator::name() {
  static constexpr const char* names[] = {"x", "y", "mean", "k", "a_long_name_2", "N", "nth", "e", "q"};
  return names[below(std::size(names))];
}

ast::Identifier SyntaxGenerator::type() {
  static constexpr const char* types[] = {"f32", "bf16", "T", "i8", "bool"};
  return {types[below(std::size(types))], {}};
}

ExpressionPointer SyntaxGenerator::leaf() {
  switch (below(6)) {
    case 0:
      return make_expression({}, ast::Number{fmt::format("{}", below(1000))});
    case 1:
      return make_expression({}, ast::Number{fmt::format("{}.5e-3", below(10)), true});
    case 2:
      return make_expression({}, static_cast<ast::Constant>(below(4)));
    case 3:
      return make_expression({}, ast::TypeName{"u32"});
    default:
      return make_expression({}, ast::Name{name()});
  }
}

ExpressionPointer SyntaxGenerator::expression(int depth, bool may_be_else) {
  if (depth <= 1) return leaf();
  switch (below(may_be_else ? 10 : 9)) {
    case 0:
      return leaf();
    case 1:
      return make_expression({},
                             ast::Unary{static_cast<ast::UnaryOperator>(below(3)), expression(depth - 1)});
    case 2:
      return comparison(depth);
    case 3:
      return index(depth);
    case 4:
      return call(depth);
    case 5:
    case 6:
      return reduction(depth);
    case 9:
      return make_expression({}, ast::Else{index(depth - 1), expression(depth - 1, true)});
    default:
      return make_expression(
          {},
          ast::Binary{
              static_cast<ast::BinaryOperator>(below(12)), {}, expression(depth - 1), expression(depth - 1)});
  }
}

ExpressionPointer SyntaxGenerator::comparison(int depth) {
  using ast::Comparator;
  static constexpr Comparator up[] = {Comparator::less, Comparator::less_equal, Comparator::equal};
  static constexpr Comparator down[] = {Comparator::greater, Comparator::greater_equal, Comparator::equal};
  const bool rising = chance(2);
  ast::Comparison comparison;
  comparison.operands.push_back(expression(depth - 1));
  do {
    comparison.comparators.push_back(rising ? up[below(3)] : down[below(3)]);
    comparison.operands.push_back(expression(depth - 1));
  } while (chance(3));
  if (comparison.comparators.size() == 1 && chance(4)) comparison.comparators[0] = Comparator::not_equal;
  return make_expression({}, std::move(comparison));
}

ExpressionPointer SyntaxGenerator::index(int depth) {
  ast::Index index{chance(3) ? call(depth - 1) : make_expression({}, ast::Name{name()}), {}};
  do {
    index.subscripts.push_back({{}, chance(5) ? nullptr : expression(depth - 1)});
  } while (chance(2));
  return make_expression({}, std::move(index));
}

ExpressionPointer SyntaxGenerator::call(int depth) {
  static constexpr const char* callees[] = {"exp", "where", "bf16", "max", "softmax"};
  ast::Call call{{callees[below(std::size(callees))], {}}, {}};
  const std::uint32_t count =
      call.callee.text == "max" ? 2 : below(4);  // one argument would make it a reduction
  for (std::uint32_t i = 0; i < count; ++i) call.arguments.push_back(expression(depth - 1, true));
  return make_expression({}, std::move(call));
}

ast::Bounds SyntaxGenerator::bounds(int depth) { return {{}, expression(depth), expression(depth)}; }

ExpressionPointer SyntaxGenerator::reduction(int depth) {
  const auto names = ast::reduction_names();
  ast::Reduction reduction{
      {std::string(names[below(static_cast<std::uint32_t>(names.size()))]), {}}, {}, nullptr, nullptr};
  do {
    reduction.variables.push_back({identifier(), std::nullopt});
    if (chance(3)) reduction.variables.back().bounds = bounds(depth - 1);
  } while (chance(3));
  if (chance(5)) reduction.nth = expression(depth - 1, true);
  reduction.body = expression(depth - 1);
  return make_expression({}, std::move(reduction));
}

std::vector<ExpressionPointer> SyntaxGenerator::shape() {
  std::vector<ExpressionPointer> shape;
  for (std::uint32_t i = below(4); i > 0; --i) shape.push_back(expression(2));
  return shape;
}

std::vector<ast::Comment> SyntaxGenerator::comments() {
  std::vector<ast::Comment> comments;
  for (std::uint32_t i = chance(3) ? below(3) : 0; i > 0; --i)
    comments.push_back({fmt::format("# comment {}", below(100)), {}, chance(3)});
  return comments;
}

ast::Parameter SyntaxGenerator::parameter() {
  ast::Parameter parameter;
  parameter.name = identifier();
  parameter.is_dim = chance(4);
  parameter.type = parameter.is_dim ? ast::Identifier{"dim", {}} : type();
  if (!parameter.is_dim) {
    parameter.shape = shape();
    parameter.is_inout = chance(4);
  }
  if (chance(4)) parameter.default_value = expression(3);
  if (chance(4)) parameter.trivia.leading = comments();
  if (chance(6)) parameter.trivia.trailing = {{"# of the parameter", {}}};
  return parameter;
}

ast::Definition SyntaxGenerator::definition() {
  ast::Definition definition;
  do {
    ast::Target target;
    target.name = identifier();
    for (std::uint32_t i = below(4); i > 0; --i) {
      ast::TargetIndex index;
      if (chance(3)) index.bounds = bounds(2);
      index.expression = index.bounds ? make_expression({}, ast::Name{name()}) : expression(2);
      target.indices.push_back(std::move(index));
    }
    if (chance(6)) target.type = type();
    definition.targets.push_back(std::move(target));
  } while (chance(5));
  definition.assignment = static_cast<ast::Assignment>(chance(3) ? below(4) : 0);
  definition.value = expression(5, true);
  definition.trivia.leading = comments();
  definition.trivia.blank_line_before = chance(4);
  if (chance(5)) definition.trivia.trailing = {{"# of the definition", {}}};
  return definition;
}

ast::Function SyntaxGenerator::function() {
  ast::Function function;
  function.name = identifier();
  if (chance(4)) function.attributes.push_back({{"atomics", {}}, {}, {}});
  if (chance(4)) {
    function.attributes.push_back({{"precision", {}}, {}, {}});
    function.attributes.back().arguments.push_back(expression(3));
  }
  for (std::uint32_t i = chance(3) ? below(3) : 0; i > 0; --i) {
    ast::TypeParameter& parameter = function.type_parameters.emplace_back();
    parameter.name.text = "T";
    for (std::uint32_t choices = 1 + below(3); choices > 0; --choices) parameter.choices.push_back(type());
  }
  for (std::uint32_t i = below(5); i > 0; --i) function.parameters.push_back(parameter());
  for (std::uint32_t i = below(3); i > 0; --i)
    function.results.push_back({identifier(), type(), shape(), {}});
  for (std::uint32_t i = below(3); i > 0; --i) {
    function.where.push_back({std::nullopt, expression(3), {}});
    if (chance(2)) function.where.back().derived = identifier();
  }
  for (std::uint32_t i = below(5); i > 0; --i) function.body.push_back(definition());
  function.on_one_line = chance(2);
  function.trivia.leading = comments();
  function.trivia.blank_line_before = chance(2);
  if (chance(6)) function.trivia.trailing = {{"# of the function", {}}};
  if (chance(6)) function.after_open_brace = {{"# at the brace", {}}};
  function.body_end = comments();
  if (chance(8)) function.parameters_end = comments();
  return function;
}

ast::Module SyntaxGenerator::module() {
  ast::Module module;
  for (std::uint32_t i = below(4); i > 0; --i) module.functions.push_back(function());
  module.end = comments();
  return module;
}

}  // namespace einkern::dsl::testing
