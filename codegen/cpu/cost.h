// The CPU's roofline: what schedules estimate with.
#pragma once

#include "codegen/plan/access.h"
#include "codegen/schedule.h"

namespace einkern::codegen::cpu {

/// Elements that one vector of the device holds of the widest compute type that the kernel uses.
int natural_lanes(const KernelContext& context);

/// Operations of one point of the kernel's stores, at least 1; reductions of symbolic length count as a few.
std::int64_t operations_of_point(const KernelContext& context);

/// Seconds of a kernel that does its operations in vectors of `lanes`, on all threads.
Estimate roofline(const KernelContext& context, const KernelCost& cost, double lanes);

}  // namespace einkern::codegen::cpu
