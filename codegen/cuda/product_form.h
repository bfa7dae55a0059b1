// What every schedule of products asks of a kernel.
#pragma once

#include "codegen/schedule.h"
#include "core/result.h"

namespace einkern::codegen::cuda {

/// The contraction that the kernel is. The error says in words why no product schedule computes it.
core::Result<const Contraction*> product_form(const KernelContext& context);

/// Sizes of one call's product, at least 1 each, for estimates.
struct ProductExtents {
  double batch = 1, m = 1, n = 1;
  double sum = 1;  // terms of the sum
};
/// The kernel must be a contraction.
ProductExtents product_extents(const KernelContext& context);

}  // namespace einkern::codegen::cuda
