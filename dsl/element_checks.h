// What can go wrong with a call's data (EINKERN_CHECK=1), as a function of its own: it computes the
// data-dependent indices of another function over all its points, and gives those that lie outside. So every
// backend checks without knowing of it, and nothing is added to the kernels of the function itself.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "dsl/function.h"

namespace einkern::dsl {

/// One thing that data may do: read outside a tensor, write outside it, or assign one element twice.
struct ElementCheck {
  enum class Kind { read, element_of_call, dropped_write, repeated_write };
  Kind kind = Kind::read;
  std::string definition;  // the tensor that is defined or updated
  std::string access;      // as written, such as "table[tokens[s], d]"; of a call's element ""
  std::string tensor;      // what is accessed; of a call's element ""
  int dimension = 0;       // which index
  /// Over dims, in the checks' function: the dimension's extent, or all of a repeated write's target.
  std::vector<ExpressionId> extents;
};

struct ElementChecks {
  /// Takes the arguments of the function that it checks, and changes none of them. Its results are i64 of
  /// rank 0, one a check: the least index that lies outside, or the least element (row-major) that is
  /// assigned twice; `no_fault` if there is none.
  std::shared_ptr<const Function> function;
  std::vector<ElementCheck> checks;
};

inline constexpr std::int64_t no_fault = INT64_MAX;

/// Nothing if no data can make the function read or write outside, or write twice.
std::optional<ElementChecks> make_element_checks(const Function& function);

/// The first fault among the results, as an error of kind shape that names the function, the definition, the
/// tensor, the dimension with its extent, and the index. `dims` by DimId.
core::Result<void> judge_elements(const ElementChecks& checks, std::span<const std::int64_t> results,
                                  const std::vector<std::int64_t>& dims);

}  // namespace einkern::dsl
