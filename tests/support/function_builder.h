// Checked functions built by hand, for tests of what stands below the checker or beside it.
#pragma once

#include <string>
#include <vector>

#include "dsl/function.h"

namespace einkern::testing {

/// Builds a dsl::Function with few words: `i + 1` is `b.add(i, b.number(1))`.
class FunctionBuilder {
 public:
  dsl::Function function;

  dsl::ExpressionArena& arena() { return function.arena; }

  /// A dim with the given source and derivation or default; its expression.
  dsl::ExpressionId dim(const std::string& name, dsl::DimSource source = dsl::DimSource::shape,
                        std::optional<dsl::ExpressionId> value = {}) {
    const dsl::DimId id{static_cast<std::int32_t>(function.dims.size())};
    function.dims.push_back({name, source, value, {}});
    if (source == dsl::DimSource::parameter) function.parameters.emplace_back(id);
    return arena().dim(id);
  }

  dsl::TensorId tensor(const std::string& name, DType dtype, std::vector<dsl::ExpressionId> shape,
                       dsl::TensorRole role = dsl::TensorRole::input) {
    const dsl::TensorId id{static_cast<std::int32_t>(function.tensors.size())};
    function.tensors.push_back({name, dtype, std::move(shape), role, {}});
    if (role == dsl::TensorRole::input || role == dsl::TensorRole::inout)
      function.parameters.emplace_back(id);
    if (role == dsl::TensorRole::output) function.results.push_back(id);
    return id;
  }

  dsl::ExpressionId scalar(const std::string& name, DType dtype,
                           std::optional<dsl::ExpressionId> value = {}) {
    const dsl::ScalarId id{static_cast<std::int32_t>(function.scalars.size())};
    function.scalars.push_back({name, dtype, value, {}});
    function.parameters.emplace_back(id);
    return arena().scalar(id, core::compute_type(dtype));
  }

  dsl::AxisId axis(const std::string& name, dsl::ExpressionId low, dsl::ExpressionId high) {
    return arena().add_axis(name, low, high);
  }
  dsl::AxisId axis(const std::string& name, dsl::ExpressionId high) { return axis(name, number(0), high); }
  dsl::ExpressionId value(dsl::AxisId axis) { return arena().axis(axis); }

  dsl::ExpressionId number(std::int64_t value, DType type = DType::i64) {
    return arena().constant_integer(type, value);
  }
  dsl::ExpressionId real(double value, DType type = DType::f32) {
    return arena().constant_float(type, value);
  }

  /// An operation whose result has its last operand's type.
  dsl::ExpressionId apply(dsl::Op op, std::vector<dsl::ExpressionId> operands) {
    const DType type = arena()[operands.back()].type;
    return arena().apply(op, type, std::move(operands));
  }
  dsl::ExpressionId test(dsl::Op op, std::vector<dsl::ExpressionId> operands) {
    return arena().apply(op, DType::boolean, std::move(operands));
  }
  dsl::ExpressionId add(dsl::ExpressionId a, dsl::ExpressionId b) { return apply(dsl::Op::add, {a, b}); }
  dsl::ExpressionId subtract(dsl::ExpressionId a, dsl::ExpressionId b) {
    return apply(dsl::Op::subtract, {a, b});
  }
  dsl::ExpressionId multiply(dsl::ExpressionId a, dsl::ExpressionId b) {
    return apply(dsl::Op::multiply, {a, b});
  }
  dsl::ExpressionId divide(dsl::ExpressionId a, dsl::ExpressionId b) {
    return apply(dsl::Op::divide, {a, b});
  }
  dsl::ExpressionId modulo(dsl::ExpressionId a, dsl::ExpressionId b) {
    return apply(dsl::Op::modulo, {a, b});
  }

  dsl::ExpressionId read(dsl::TensorId tensor, std::vector<dsl::ExpressionId> indices,
                         dsl::Guard guard = dsl::Guard::proven,
                         std::optional<dsl::ExpressionId> alternative = {}) {
    return arena().read(tensor, function[tensor].dtype, std::move(indices), guard, alternative);
  }

  void constrain(dsl::ExpressionId condition, std::string text) {
    function.constraints.push_back(condition);
    function.constraint_texts.push_back(std::move(text));
  }

  void define(dsl::TensorId target, std::vector<dsl::AxisId> axes, dsl::ExpressionId value) {
    dsl::Definition definition;
    definition.target = target;
    definition.axes = std::move(axes);
    definition.value = value;
    function.definitions.push_back(std::move(definition));
  }
};

}  // namespace einkern::testing
