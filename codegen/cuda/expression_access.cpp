// Reads and writes of the expression emitter.
#include "codegen/cuda/expression_emitter.h"

#include <fmt/format.h>

#include "codegen/cuda/monoid.h"

namespace einkern::codegen::cuda {

std::string ExpressionEmitter::offset(TensorId tensor, const std::vector<std::string>& indices) {
  const TensorLayout& layout =
      kernel_.context().specialisation.tensors[static_cast<std::size_t>(tensor.value)];
  std::string text;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    const int dimension = static_cast<int>(d);
    if (layout.dense) {
      // Horner's rule: ((i * D1 + j) * D2 + k)
      if (!text.empty()) {
        const std::string size = kernel_.extent(kernel_.graph()[tensor].shape[d]);
        text = fmt::format("{} * {}", text.find(' ') == std::string::npos ? text : "(" + text + ")", size);
      }
      if (indices[d] != "0") text += (text.empty() ? "" : " + ") + indices[d];
    } else if (indices[d] != "0") {
      const std::string stride = kernel_.stride(tensor, dimension);
      text += (text.empty() ? "" : " + ") +
              (stride == "1" ? indices[d] : fmt::format("{} * {}", indices[d], stride));
    }
  }
  return text.empty() ? "0" : text;
}

std::string ExpressionEmitter::element(TensorId tensor, const std::vector<std::string>& indices) {
  return fmt::format("{}[{}]", kernel_.tensor(tensor), without_parentheses(offset(tensor, indices)));
}

std::string ExpressionEmitter::load(TensorId tensor, const std::vector<std::string>& indices) {
  return converted_load(kernel_.graph()[tensor].dtype, element(tensor, indices), arithmetic());
}

namespace {

dsl::Reduction reduction_of(dsl::UpdateOperator update) {
  switch (update) {
    case dsl::UpdateOperator::maximum:
      return dsl::Reduction::maximum;
    case dsl::UpdateOperator::minimum:
      return dsl::Reduction::minimum;
    default:
      return dsl::Reduction::sum;
  }
}

}  // namespace

void ExpressionEmitter::store_all(const std::vector<Store>& stores) {
  // All values before the first write: a later value may read what an earlier store overwrites.
  std::vector<std::string> values;
  std::vector<std::vector<std::string>> places;
  for (const Store& store : stores) {
    values.push_back(stores.size() > 1 ? named_value(store.value) : value(store.value));
    auto& place = places.emplace_back();
    for (const AxisId axis : store.axes)
      if (!store.update) place.push_back(axis_text(axis));
    for (const ExpressionId index : store.indices) place.push_back(named_value(index));
  }
  for (std::size_t i = 0; i < stores.size(); ++i) {
    const dsl::Tensor& target = kernel_.graph()[stores[i].target];
    const DType type = node(stores[i].value).type;
    if (!stores[i].update) {
      body().line(fmt::format("{} = {};", element(stores[i].target, places[i]),
                              converted_store(target.dtype, type, values[i], arithmetic())));
      continue;
    }
    // A write outside is dropped.
    std::string condition;
    const std::string_view unsigned_type = kernel_.narrow() ? "unsigned" : "unsigned long long";
    for (std::size_t d = 0; d < places[i].size(); ++d)
      condition += fmt::format("{}({}){} < ({}){}", d == 0 ? "" : " && ", unsigned_type, places[i][d],
                               unsigned_type, kernel_.extent(target.shape[d]));
    const DType compute = core::compute_type(target.dtype);
    const std::string converted =
        type == compute ? values[i] : converted_cast(compute, type, values[i], arithmetic());
    const std::string text = *stores[i].update == dsl::UpdateOperator::assign
                                 ? converted
                                 : "(" +
                                       combined_text(reduction_of(*stores[i].update), compute, arithmetic(),
                                                     load(stores[i].target, places[i]), converted) +
                                       ")";
    const std::string statement = fmt::format("{} = {};", element(stores[i].target, places[i]),
                                              converted_store(target.dtype, compute, text, arithmetic()));
    body().line(condition.empty() ? statement : fmt::format("if ({}) {}", condition, statement));
  }
}

}  // namespace einkern::codegen::cuda
