#include "tests/codegen/plan_interpreter.h"

#include <algorithm>
#include <set>

#include "codegen/plan/access.h"

namespace einkern::testing {

namespace {

using codegen::Contraction;
using codegen::Kernel;
using codegen::Plan;
using codegen::RowReduction;
using codegen::Store;
using codegen::reference::HostTensor;
using dsl::AxisId;
using dsl::ExpressionId;
using dsl::TensorId;
using dsl::TensorRole;

/// One kernel as a function: what it reads are inputs, what it writes are results, its folds are locals.
class KernelFunction {
 public:
  KernelFunction(const Plan& plan, const Kernel& kernel) : kernel_(kernel), function_(*plan.graph) {
    function_.definitions.clear();
    function_.parameters.clear();
    function_.results = kernel.writes;
    for (dsl::Tensor& tensor : function_.tensors) tensor.role = TensorRole::local;
    for (const TensorId tensor : kernel.reads) at(tensor).role = TensorRole::input;
    for (const Store& store : kernel.stores) {
      const bool before = store.update || at(store.target).role == TensorRole::input;
      at(store.target).role = before ? TensorRole::inout : TensorRole::output;
    }
    if (const auto* rows = std::get_if<RowReduction>(&kernel.form)) define_folds(*rows);
    if (const auto* contraction = std::get_if<Contraction>(&kernel.form)) define_product(*contraction);
    // An element's values are all computed before any of them is stored.
    if (std::holds_alternative<codegen::Pointwise>(kernel.form))
      for (const Store& store : kernel.stores)
        define_local(store.value, store.axes, with_locals(store.value));
    for (const Store& store : kernel.stores) define_store(store);
  }

  const dsl::Function& function() const { return function_; }

 private:
  dsl::Tensor& at(TensorId tensor) { return function_.tensors[static_cast<std::size_t>(tensor.value)]; }

  /// A local over these axes that takes the place of a node from here on.
  void define_local(ExpressionId node, const std::vector<AxisId>& axes, ExpressionId value) {
    dsl::Tensor local;
    local.name = "fold" + std::to_string(function_.tensors.size());
    local.dtype = function_.arena[node].type;
    std::vector<ExpressionId> indices;
    for (const AxisId axis : axes) {
      local.shape.push_back(function_.arena[axis].high);
      indices.push_back(function_.arena.axis(axis));
    }
    const TensorId target{static_cast<std::int32_t>(function_.tensors.size())};
    function_.tensors.push_back(std::move(local));
    dsl::Definition definition;
    definition.target = target;
    definition.axes = axes;
    definition.value = value;
    function_.definitions.push_back(std::move(definition));
    replaced_.nodes[node] = function_.arena.read(target, function_.arena[node].type, std::move(indices));
  }

  ExpressionId with_locals(ExpressionId id) { return dsl::substitute(function_.arena, id, replaced_); }

  void define_folds(const RowReduction& form) {
    for (const codegen::Fold& fold : form.folds) {
      const DType type = function_.arena[fold.node].type;
      define_local(fold.node, form.rows,
                   function_.arena.reduce(fold.reduction, type, form.columns, with_locals(fold.body)));
    }
  }

  void define_product(const Contraction& form) {
    const ExpressionId body = function_.arena.apply(dsl::Op::multiply, form.accumulator, {form.a, form.b});
    define_local(form.fold, kernel_.axes,
                 function_.arena.reduce(dsl::Reduction::sum, form.accumulator, form.contracted, body));
  }

  void define_store(const Store& store) {
    dsl::Definition definition;
    definition.target = store.target;
    definition.axes = store.axes;
    definition.value = with_locals(store.value);
    definition.update = store.update;
    definition.indices = store.indices;
    if (const auto* generic = std::get_if<codegen::Generic>(&kernel_.form); generic && !store.update)
      for (const AxisId axis : generic->sequential)
        definition.recurrent =
            static_cast<int>(std::find(store.axes.begin(), store.axes.end(), axis) - store.axes.begin());
    // A recurrence's target holds nothing before it runs.
    if (definition.recurrent) at(store.target).role = TensorRole::output;
    function_.definitions.push_back(std::move(definition));
  }

  const Kernel& kernel_;
  dsl::Function function_;
  dsl::Substitution replaced_;
};

}  // namespace

core::Result<codegen::reference::Results> interpret(const Plan& plan, const dsl::Binding& binding,
                                                    const codegen::reference::Arguments& arguments,
                                                    codegen::reference::Arithmetic arithmetic) {
  std::map<TensorId, HostTensor> memory = arguments.tensors;
  for (const Kernel& kernel : plan.kernels) {
    const KernelFunction kernel_function(plan, kernel);
    const dsl::Function& function = kernel_function.function();
    dsl::Binding sizes = binding;
    sizes.shapes.clear();
    dsl::Binding dims_only = sizes;
    codegen::reference::Arguments given;
    given.scalars = arguments.scalars;
    for (std::size_t t = 0; t < function.tensors.size(); ++t) {
      const TensorId tensor{static_cast<std::int32_t>(t)};
      sizes.shapes.push_back(codegen::shape_of(function, tensor, dims_only));
      const TensorRole role = function[tensor].role;
      if (role != TensorRole::input && role != TensorRole::inout) continue;
      const auto stored = memory.find(tensor);
      if (stored == memory.end())
        return core::Error{core::ErrorKind::internal,
                           kernel.name + " reads " + function[tensor].name + " too early"};
      given.tensors[tensor] = stored->second;
    }
    EINKERN_TRY(auto results, codegen::reference::evaluate(function, sizes, given, arithmetic));
    for (const TensorId written : kernel.writes) memory[written] = results.at(written);
  }
  codegen::reference::Results results;
  for (const auto& [tensor, content] : memory) {
    const TensorRole role = (*plan.graph)[tensor].role;
    if (role == TensorRole::output || role == TensorRole::inout) results[tensor] = content;
  }
  return results;
}

}  // namespace einkern::testing
