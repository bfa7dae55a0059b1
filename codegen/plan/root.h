// What the planner works on: values to be stored, before they are kernels.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dsl/function.h"

namespace einkern::codegen {

/// One tensor's elements: `target[axes] = value`, or an update of it. `value` is canonical and reads only
/// what is in memory when it is computed.
struct Root {
  dsl::TensorId target;
  std::vector<dsl::AxisId> axes;  // one a dimension of the target; of an update those it runs over
  dsl::ExpressionId value;
  std::optional<dsl::UpdateOperator> update;
  std::vector<dsl::ExpressionId> indices;  // of an update
  std::optional<dsl::AxisId> recurrent;    // the axis along which the value reads its own target
  std::string reason;                      // why it stands in memory, if the program does not ask for it
};

}  // namespace einkern::codegen
