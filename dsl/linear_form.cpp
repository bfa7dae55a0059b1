#include "dsl/linear_form.h"

namespace einkern::dsl {
namespace {

/// target += a * b, wrapping; whether it stayed exact.
bool multiply_add(std::int64_t& target, std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  const bool product_wrapped = __builtin_mul_overflow(a, b, &product);
  const bool sum_wrapped = __builtin_add_overflow(target, product, &target);
  return !product_wrapped && !sum_wrapped;
}

}  // namespace

bool LinearForm::add(const LinearForm& other, std::int64_t factor) {
  bool exact = multiply_add(constant, other.constant, factor);
  for (const auto& [id, coefficient] : other.terms) {
    std::int64_t& mine = terms[id];
    exact &= multiply_add(mine, coefficient, factor);
    if (mine == 0) terms.erase(id);
  }
  return exact;
}

}  // namespace einkern::dsl
