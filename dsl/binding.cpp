#include "dsl/binding.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "dsl/dim_evaluation.h"
#include "dsl/expression_text.h"
#include "dsl/index_bounds.h"

namespace einkern::dsl {
namespace {

core::Error shape_error(std::string message) { return {core::ErrorKind::shape, std::move(message)}; }

/// Gives every dim its value: from the caller, from shapes, from derivations and defaults, in whatever order
/// they allow.
class Solver {
 public:
  Solver(const Function& function, const CallShapes& shapes)
      : function_(function), shapes_(shapes), dims_(function.dims.size()), origins_(function.dims.size()) {}

  core::Result<void> solve() {
    EINKERN_CHECK_OK(take_given_dims());
    EINKERN_CHECK_OK(take_ranks());
    bool progress = true;
    while (progress) {
      progress = false;
      EINKERN_CHECK_OK(solve_shapes(progress));
      unify(progress);
      if (!progress) EINKERN_CHECK_OK(derive(progress));
    }
    return require_all();
  }

  std::vector<std::int64_t> dims() const {
    std::vector<std::int64_t> values;
    for (const auto& value : dims_) values.push_back(*value);
    return values;
  }
  /// Where a dim's value comes from: " by dimension 0 of 'x'".
  const std::string& origin(DimId id) const { return origins_[static_cast<std::size_t>(id.value)]; }

 private:
  std::optional<std::int64_t>& value(DimId id) { return dims_[static_cast<std::size_t>(id.value)]; }

  void set(DimId id, std::int64_t number, std::string origin, bool& progress) {
    value(id) = number;
    origins_[static_cast<std::size_t>(id.value)] = std::move(origin);
    progress = true;
  }

  core::Result<void> take_given_dims() {
    for (const auto& [name, number] : shapes_.dims) {
      const auto found = std::find_if(function_.dims.begin(), function_.dims.end(), [&](const Dim& dim) {
        return dim.name == name && dim.source == DimSource::parameter;
      });
      if (found == function_.dims.end()) {
        return shape_error(fmt::format("'{}' has no `dim` parameter '{}'", function_.name, name));
      }
      if (number < 0)
        return shape_error(
            fmt::format("dim '{}' of '{}' is {}; it must not be negative", name, function_.name, number));
      bool progress = false;
      set(DimId{static_cast<std::int32_t>(found - function_.dims.begin())}, number, " as passed", progress);
    }
    return {};
  }

  core::Result<void> take_ranks() {
    const std::vector<TensorId> tensors = argument_tensors(function_);
    if (tensors.size() != shapes_.tensors.size()) {
      return shape_error(fmt::format("'{}' takes {} tensors, but {} were given", function_.name,
                                     tensors.size(), shapes_.tensors.size()));
    }
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const Tensor& tensor = function_[tensors[i]];
      const std::vector<std::int64_t>& shape = shapes_.tensors[i];
      if (tensor.shape.size() != shape.size()) {
        return shape_error(fmt::format("tensor '{}' of '{}' has {} dimensions, but its declaration has {}",
                                       tensor.name, function_.name, shape.size(), tensor.shape.size()));
      }
      for (std::size_t d = 0; d < shape.size(); ++d) {
        if (shape[d] < 0)
          return shape_error(
              fmt::format("dimension {} of '{}' is {}; it must not be negative", d, tensor.name, shape[d]));
      }
    }
    return {};
  }

  core::Result<void> solve_shapes(bool& progress) {
    const std::vector<TensorId> tensors = argument_tensors(function_);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const Tensor& tensor = function_[tensors[i]];
      for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
        const auto solvable = solvable_dimension(function_, tensor.shape[d]);
        if (!solvable || value(solvable->dim) || function_[solvable->dim].source != DimSource::shape)
          continue;
        const std::int64_t extent = shapes_.tensors[i][d];
        std::int64_t rest = 0;
        const bool overflow = __builtin_sub_overflow(extent, solvable->offset, &rest);
        if (overflow || rest % solvable->factor != 0 || rest / solvable->factor < 0) {
          return shape_error(fmt::format("dimension {} of '{}' is {}, which is {} for no {}", d, tensor.name,
                                         extent, expression_text(function_, tensor.shape[d]),
                                         function_[solvable->dim].name));
        }
        set(solvable->dim, rest / solvable->factor, fmt::format(" by dimension {} of '{}'", d, tensor.name),
            progress);
      }
    }
    return {};
  }

  /// `where A == B` makes two dims one.
  void unify(bool& progress) {
    for (const ExpressionId constraint : function_.constraints) {
      const Expression& node = function_.arena[constraint];
      if (node.op != Op::equal) continue;
      const Expression &left = function_.arena[node.operands[0]], &right = function_.arena[node.operands[1]];
      if (left.op != Op::dim || right.op != Op::dim) continue;
      const DimId a{left.index}, b{right.index};
      if (value(a).has_value() == value(b).has_value()) continue;
      const DimId known = value(a) ? a : b, unknown = value(a) ? b : a;
      set(unknown, *value(known), origin(known), progress);
    }
  }

  core::Result<void> derive(bool& progress) {
    for (std::size_t i = 0; i < dims_.size(); ++i) {
      const Dim& dim = function_.dims[i];
      if (dims_[i] || !dim.value) continue;
      const std::optional<ScalarBits> result = evaluate_over_dims(function_, *dim.value, dims_);
      if (!result) continue;
      if (dim.source == DimSource::parameter && result->integer < 0) {
        return shape_error(fmt::format("the default of dim '{}' of '{}' is {}; it must not be negative",
                                       dim.name, function_.name, result->integer));
      }
      set(DimId{static_cast<std::int32_t>(i)}, result->integer,
          fmt::format(" = {}", expression_text(function_, *dim.value)), progress);
    }
    return {};
  }

  core::Result<void> require_all() const {
    for (std::size_t i = 0; i < dims_.size(); ++i) {
      const Dim& dim = function_.dims[i];
      if (dims_[i]) continue;
      if (dim.source == DimSource::parameter) {
        return shape_error(
            fmt::format("dim '{}' of '{}' has no default: pass its value", dim.name, function_.name));
      }
      return shape_error(
          fmt::format("nothing gives dim '{}' of '{}' a value: add `{}: dim` to the parameters", dim.name,
                      function_.name, dim.name));
    }
    return {};
  }

  const Function& function_;
  const CallShapes& shapes_;
  KnownDims dims_;
  std::vector<std::string> origins_;
};

/// "H = 6 by dimension 1 of 'q', HK = 4 as passed": the dims in an expression, with values.
std::string dims_in(const Function& function, ExpressionId id, const Solver& solver,
                    const std::vector<std::int64_t>& dims) {
  std::set<DimId> found;
  visit_nodes(function.arena, id, [&](ExpressionId part) {
    const Expression& node = function.arena[part];
    if (node.op == Op::dim) found.insert(DimId{node.index});
  });
  std::string text;
  for (const DimId dim : found) {
    text += fmt::format("{}{} = {}{}", text.empty() ? "" : ", ", function[dim].name,
                        dims[static_cast<std::size_t>(dim.value)], solver.origin(dim));
  }
  return text;
}

core::Result<void> check_elements(const Tensor& tensor, const std::vector<std::int64_t>& shape) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return {};
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape) {
    if (__builtin_mul_overflow(elements, extent, &elements) || elements > most_elements) {
      return shape_error(fmt::format("tensor '{}' of {} would have more than 2^40 elements, the limit",
                                     tensor.name, fmt::format("[{}]", fmt::join(shape, ", "))));
    }
  }
  return {};
}

core::Result<void> set_shapes(const Function& function, const Solver& solver, Binding& binding) {
  for (const Tensor& tensor : function.tensors) {
    std::vector<std::int64_t>& shape = binding.shapes.emplace_back();
    for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
      EINKERN_TRY(const std::int64_t extent, evaluate_dims(function, tensor.shape[d], binding.dims));
      if (extent < 0) {
        return shape_error(fmt::format("dimension {} of '{}' is {} = {}; it must not be negative ({})", d,
                                       tensor.name, expression_text(function, tensor.shape[d]), extent,
                                       dims_in(function, tensor.shape[d], solver, binding.dims)));
      }
      shape.push_back(extent);
    }
    EINKERN_CHECK_OK(check_elements(tensor, shape));
  }
  return {};
}

core::Result<void> check_arguments(const Function& function, const CallShapes& given, const Solver& solver,
                                   const Binding& binding) {
  const std::vector<TensorId> tensors = argument_tensors(function);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = function[tensors[i]];
    const std::vector<std::int64_t>& expected = binding.shapes[static_cast<std::size_t>(tensors[i].value)];
    for (std::size_t d = 0; d < expected.size(); ++d) {
      if (given.tensors[i][d] == expected[d]) continue;
      const std::string text = expression_text(function, tensor.shape[d]);
      const std::string dims = dims_in(function, tensor.shape[d], solver, binding.dims);
      return shape_error(fmt::format(
          "dimension {} of '{}' is {}, but it is declared {}{}{}", d, tensor.name, given.tensors[i][d], text,
          function.arena[tensor.shape[d]].op == Op::dim ? "" : fmt::format(" = {}", expected[d]),
          dims.empty() ? "" : fmt::format(", where {}", dims)));
    }
  }
  return {};
}

core::Result<void> check_constraints(const Function& function, const Solver& solver, const Binding& binding) {
  for (std::size_t i = 0; i < function.constraints.size(); ++i) {
    EINKERN_TRY(const std::int64_t holds, evaluate_dims(function, function.constraints[i], binding.dims));
    if (holds != 0) continue;
    return shape_error(fmt::format("'{}' requires {}, but {}", function.name, function.constraint_texts[i],
                                   dims_in(function, function.constraints[i], solver, binding.dims)));
  }
  return {};
}

core::Result<ScalarBits> evaluate_known(const Function& function, ExpressionId id,
                                        const std::vector<std::int64_t>& dims) {
  const std::optional<ScalarBits> value =
      evaluate_over_dims(function, id, KnownDims(dims.begin(), dims.end()));
  if (value) return *value;
  return core::Error{core::ErrorKind::internal,
                     fmt::format("`{}` is not an expression over dims alone", expression_text(function, id))};
}

}  // namespace

std::int64_t Binding::elements(TensorId tensor) const {
  std::int64_t product = 1;
  for (const std::int64_t extent : shapes[static_cast<std::size_t>(tensor.value)]) product *= extent;
  return product;
}

std::vector<TensorId> argument_tensors(const Function& function) {
  std::vector<TensorId> tensors;
  for (const Parameter& parameter : function.parameters) {
    if (const auto* tensor = std::get_if<TensorId>(&parameter)) tensors.push_back(*tensor);
  }
  return tensors;
}

core::Result<Binding> bind(const Function& function, const CallShapes& shapes) {
  Solver solver(function, shapes);
  EINKERN_CHECK_OK(solver.solve());
  Binding binding;
  binding.dims = solver.dims();
  for (std::size_t i = 0; i < function.dims.size(); ++i)
    binding.symbols[function.dims[i].name] = binding.dims[i];
  EINKERN_CHECK_OK(check_constraints(function, solver, binding));
  EINKERN_CHECK_OK(set_shapes(function, solver, binding));
  EINKERN_CHECK_OK(check_arguments(function, shapes, solver, binding));
  EINKERN_CHECK_OK(check_index_bounds(function, binding));
  return binding;
}

core::Result<std::int64_t> evaluate_dims(const Function& function, ExpressionId id,
                                         const std::vector<std::int64_t>& dims) {
  EINKERN_TRY(const ScalarBits value, evaluate_known(function, id, dims));
  return value.integer;
}

core::Result<double> default_value(const Function& function, ScalarId scalar,
                                   const std::vector<std::int64_t>& dims) {
  const Scalar& argument = function[scalar];
  if (!argument.default_value) {
    return core::Error{
        core::ErrorKind::usage,
        fmt::format("scalar '{}' of '{}' has no default: pass its value", argument.name, function.name)};
  }
  EINKERN_TRY(const ScalarBits value, evaluate_known(function, *argument.default_value, dims));
  if (!core::is_float(function.arena[*argument.default_value].type))
    return static_cast<double>(value.integer);
  return core::is_float(argument.dtype) ? core::round_to(argument.dtype, value.floating) : value.floating;
}

std::optional<core::SizeExpression> size_expression(const Function& function, ExpressionId id) {
  std::unordered_map<ExpressionId, std::optional<core::SizeExpression>> sizes;
  using Size = core::SizeExpression;
  visit_nodes(function.arena, id, [&](ExpressionId part) {
    const Expression& node = function.arena[part];
    std::optional<Size>& size = sizes[part];
    if (node.type != DType::i64) return;
    if (node.op == Op::constant) size = Size(node.integer_value());
    if (node.op == Op::dim) size = Size::symbol(function[DimId{node.index}].name);
    static const std::map<Op, Size::Op> operations = {
        {Op::add, Size::Op::add},           {Op::subtract, Size::Op::subtract},
        {Op::multiply, Size::Op::multiply}, {Op::divide, Size::Op::divide},
        {Op::modulo, Size::Op::modulo},     {Op::minimum, Size::Op::minimum},
        {Op::maximum, Size::Op::maximum},
    };
    const auto operation = operations.find(node.op);
    if (node.op == Op::negate && sizes.at(node.operands[0])) size = Size(0) - *sizes.at(node.operands[0]);
    if (operation == operations.end()) return;
    const auto &left = sizes.at(node.operands[0]), &right = sizes.at(node.operands[1]);
    if (left && right) size = Size::binary(operation->second, *left, *right);
  });
  return sizes.at(id);
}

}  // namespace einkern::dsl
