#include "codegen/reference/evaluator.h"

#include <fmt/format.h>

#include "codegen/reference/compiler.h"

namespace einkern::codegen::reference {
namespace {

using dsl::TensorId;
using dsl::TensorRole;

constexpr double most_elements = 0x1p31;  // of all tensors together: 8 bytes each, or 16 with their errors

core::Error usage_error(std::string message) { return {core::ErrorKind::usage, std::move(message)}; }

bool is_argument(const dsl::Tensor& tensor) {
  return tensor.role == TensorRole::input || tensor.role == TensorRole::inout;
}

/// Evaluates the definitions of one call, in order, each over all its elements.
template <typename V>
class Evaluation {
 public:
  Evaluation(const dsl::Function& function, const dsl::Binding& binding, Arithmetic arithmetic, double limit)
      : function_(function), binding_(binding), arithmetic_(arithmetic), limit_(limit) {}

  core::Result<BoundedResults> run(const Arguments& arguments) {
    EINKERN_CHECK_OK(check_memory());
    EINKERN_CHECK_OK(set_scalars(arguments));
    EINKERN_CHECK_OK(set_tensors(arguments));
    frame_.axes.resize(function_.arena.axis_count());
    frame_.operations_left = limit_;
    for (const dsl::Definition& definition : function_.definitions) {
      evaluate_definition(definition);
      if (frame_.exhausted()) {
        return usage_error(
            fmt::format("evaluating '{}' on the reference takes more than {:g} operations, the limit set",
                        function_.name, limit_));
      }
    }
    return collect();
  }

 private:
  core::Result<void> check_memory() const {
    double elements = 0;
    for (std::size_t i = 0; i < function_.tensors.size(); ++i) {
      elements += static_cast<double>(binding_.elements(TensorId{static_cast<std::int32_t>(i)}));
    }
    if (elements <= std::min(limit_, most_elements)) return {};
    return usage_error(
        fmt::format("evaluating '{}' on the reference needs {:g} elements, more than {:g}, its limit",
                    function_.name, elements, std::min(limit_, most_elements)));
  }

  core::Result<void> set_scalars(const Arguments& arguments) {
    for (std::size_t i = 0; i < function_.scalars.size(); ++i) {
      const dsl::ScalarId id{static_cast<std::int32_t>(i)};
      const dsl::Scalar& scalar = function_[id];
      HostScalar value{DType::f64, 0, 0};
      if (const auto given = arguments.scalars.find(id); given != arguments.scalars.end()) {
        value = given->second;
      } else {
        EINKERN_TRY(value.floating, dsl::default_value(function_, id, binding_.dims));
      }
      const DType given_type = core::compute_type(value.dtype);
      scalars_.push_back(dsl::cast_scalar(given_type, scalar.dtype, {value.floating, value.integer}));
    }
    return {};
  }

  core::Result<void> set_tensors(const Arguments& arguments) {
    tensors_.resize(function_.tensors.size());
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      const dsl::Tensor& tensor = function_.tensors[i];
      const std::vector<std::int64_t>& shape = binding_.shapes[i];
      if (!is_argument(tensor)) continue;  // allocated when defined
      const auto given = arguments.tensors.find(TensorId{static_cast<std::int32_t>(i)});
      if (given == arguments.tensors.end())
        return usage_error(fmt::format("tensor '{}' was not given", tensor.name));
      const HostTensor& value = given->second;
      const std::size_t elements = core::is_float(tensor.dtype) ? value.floats.size() : value.integers.size();
      if (value.dtype != tensor.dtype || value.shape != shape ||
          static_cast<std::int64_t>(elements) != binding_.elements(given->first)) {
        return usage_error(fmt::format("tensor '{}' must be {}[{}] and hold as many elements, but is {}[{}]",
                                       tensor.name, core::dtype_name(tensor.dtype), fmt::join(shape, ", "),
                                       core::dtype_name(value.dtype), fmt::join(value.shape, ", ")));
      }
      tensors_[i].tensor = value;
      if constexpr (V::tracked) tensors_[i].errors.assign(elements, 0.0);
    }
    return {};
  }

  void evaluate_definition(const dsl::Definition& definition) {
    const auto index = static_cast<std::size_t>(definition.target.value);
    Compiler<V> compiler(Scope{function_, binding_, tensors_, scalars_, arithmetic_});
    const NodePointer<V> value = compiler.compile(definition.value);
    std::vector<NodePointer<V>> indices;
    for (const dsl::ExpressionId id : definition.indices) indices.push_back(compiler.compile(id));
    std::vector<LoopAxis<V>> axes;
    for (const dsl::AxisId id : definition.axes) {
      const dsl::Axis& axis = function_.arena[id];
      axes.push_back(
          {static_cast<std::size_t>(id.value), compiler.compile(axis.low), compiler.compile(axis.high)});
    }
    if (definition
            .recurrent) {  // in place, that position outermost: what it reads of itself is there already
      tensors_[index].allocate(function_.tensors[index].dtype, binding_.shapes[index], V::tracked);
      std::rotate(axes.begin(), axes.begin() + *definition.recurrent,
                  axes.begin() + *definition.recurrent + 1);
      for_each_point(frame_, axes,
                     [&] { assign(tensors_[index], offset_of(definition), value->evaluate(frame_)); });
      return;
    }
    Storage next;  // so that the right side reads the version before
    if (definition.update) {
      next = tensors_[index];
      for_each_point(frame_, axes, [&] { update(next, *definition.update, indices, *value); });
    } else {
      next.allocate(function_.tensors[index].dtype, binding_.shapes[index], V::tracked);
      for_each_point(frame_, axes, [&] { assign(next, offset_of(definition), value->evaluate(frame_)); });
    }
    tensors_[index] = std::move(next);
  }

  std::int64_t offset_of(const dsl::Definition& definition) const {
    const std::vector<std::int64_t>& shape =
        binding_.shapes[static_cast<std::size_t>(definition.target.value)];
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      offset = offset * shape[i] + frame_.axes[static_cast<std::size_t>(definition.axes[i].value)];
    }
    return offset;
  }

  /// Stores round to storage types, and to f32 where arithmetic runs as typed; integers wrap.
  void assign(Storage& storage, std::int64_t offset, const V& value) const {
    const DType dtype = storage.tensor.dtype;
    const bool as_is =
        !core::is_storage(dtype) && !(arithmetic_ == Arithmetic::as_typed && dtype == DType::f32);
    V stored = value;
    if (!as_is) {
      stored = V{dsl::cast_scalar(core::compute_type(dtype), dtype, value)};
      if constexpr (V::tracked) stored.error = cast_error(core::compute_type(dtype), dtype, value, stored);
    }
    const auto at = static_cast<std::size_t>(offset);
    if (core::is_float(dtype)) {
      storage.tensor.floats[at] = stored.floating;
    } else {
      storage.tensor.integers[at] = stored.integer;
    }
    if constexpr (V::tracked) storage.errors[at] = stored.error;
  }

  /// One write of `target[indices] op= value`, combined with what is there; outside it is dropped.
  void update(Storage& storage, dsl::UpdateOperator how, const std::vector<NodePointer<V>>& indices,
              Node<V>& value) {
    std::int64_t offset = 0;
    bool certain = true;
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const V index = indices[i]->evaluate(frame_);
      if (index.integer < 0 || index.integer >= storage.tensor.shape[i]) return;
      offset = offset * storage.tensor.shape[i] + index.integer;
      if constexpr (V::tracked) certain = certain && index.error == 0;
    }
    V next = value.evaluate(frame_);
    if (how != dsl::UpdateOperator::assign) {
      const dsl::Op op = how == dsl::UpdateOperator::add       ? dsl::Op::add
                         : how == dsl::UpdateOperator::maximum ? dsl::Op::maximum
                                                               : dsl::Op::minimum;
      const DType type = core::compute_type(storage.tensor.dtype);
      const V old = element<V>(storage, offset), given = next;
      next = V{dsl::apply_scalar(op, type, type, old, given, {})};
      if constexpr (V::tracked) next.error = operation_error(op, type, type, old, given, {}, next);
    }
    if constexpr (V::tracked) {
      if (!certain) next.error = std::numeric_limits<double>::infinity();
    }
    assign(storage, offset, next);
  }

  /// Floats of a result are rounded to its type, where definitions kept them wide.
  static void round_result(Storage& storage) {
    const DType dtype = storage.tensor.dtype;
    for (std::size_t i = 0; i < storage.tensor.floats.size(); ++i) {
      double& value = storage.tensor.floats[i];
      Tracked wide;
      wide.floating = value;
      value = core::round_to(dtype, value);
      if constexpr (V::tracked) {
        wide.error = storage.errors[i];
        storage.errors[i] = cast_error(DType::f64, dtype, wide, {value, 0});
      }
    }
  }

  BoundedResults collect() {
    BoundedResults results;
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      const TensorRole role = function_.tensors[i].role;
      if (role != TensorRole::output && role != TensorRole::inout) continue;
      const TensorId id{static_cast<std::int32_t>(i)};
      Storage& storage = tensors_[i];
      round_result(storage);
      results.values.emplace(id, std::move(storage.tensor));
      results.bounds.emplace(id, std::move(storage.errors));
    }
    return results;
  }

  const dsl::Function& function_;
  const dsl::Binding& binding_;
  Arithmetic arithmetic_;
  double limit_;
  std::vector<Storage> tensors_;
  std::vector<dsl::ScalarBits> scalars_;
  Frame frame_;
};

}  // namespace

void Storage::allocate(DType dtype, const std::vector<std::int64_t>& shape, bool with_errors) {
  tensor = HostTensor::zeros(dtype, shape);
  if (with_errors) errors.assign(static_cast<std::size_t>(tensor.elements()), 0.0);
}

HostTensor HostTensor::zeros(DType dtype, std::vector<std::int64_t> shape) {
  HostTensor tensor;
  tensor.dtype = dtype;
  tensor.shape = std::move(shape);
  const auto count = static_cast<std::size_t>(tensor.elements());
  if (core::is_float(dtype)) {
    tensor.floats.assign(count, 0.0);
  } else {
    tensor.integers.assign(count, 0);
  }
  return tensor;
}

std::int64_t HostTensor::elements() const {
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) product *= extent;
  return product;
}

core::Result<Results> evaluate(const dsl::Function& function, const dsl::Binding& binding,
                               const Arguments& arguments, Arithmetic arithmetic, double limit_operations) {
  Evaluation<Plain> evaluation(function, binding, arithmetic, limit_operations);
  EINKERN_TRY(BoundedResults results, evaluation.run(arguments));
  return std::move(results.values);
}

core::Result<BoundedResults> evaluate_with_bounds(const dsl::Function& function, const dsl::Binding& binding,
                                                  const Arguments& arguments, double limit_operations) {
  return Evaluation<Tracked>(function, binding, Arithmetic::wide, limit_operations).run(arguments);
}

}  // namespace einkern::codegen::reference
