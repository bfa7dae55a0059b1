// Typed indices into the tables of a Function.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace einkern::dsl {

/// An index that cannot be mixed up with another table's. Negative: none.
template <typename Tag>
struct Id {
  std::int32_t value = -1;
  constexpr bool valid() const { return value >= 0; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

using ExpressionId = Id<struct ExpressionTag>;
using AxisId = Id<struct AxisTag>;
using TensorId = Id<struct TensorTag>;
using DimId = Id<struct DimTag>;
using ScalarId = Id<struct ScalarTag>;

}  // namespace einkern::dsl

template <typename Tag>
struct std::hash<einkern::dsl::Id<Tag>> {
  std::size_t operator()(einkern::dsl::Id<Tag> id) const noexcept {
    return std::hash<std::int32_t>{}(id.value);
  }
};
