// The machine that this process runs on, as device facts.
#pragma once

#include <string_view>

#include "core/device_facts.h"
#include "core/result.h"

namespace einkern::runtime::cpu {

/// Facts of the host: LLVM's name and features of the CPU, cache sizes of one core, the widest vector, and in
/// `multiprocessors` the threads to use: EINKERN_THREADS if set, else what the affinity mask and the control
/// group allow. An error if EINKERN_THREADS is not a whole number from 1 to 1024.
core::Result<core::DeviceFacts> host_facts();

/// CPUs that a control group's quota is worth, from the text of its `cpu.max` ("200000 100000" is 2), rounded
/// up; 0 if there is no limit or the text is malformed.
int cpus_of_quota(std::string_view cpu_max);

}  // namespace einkern::runtime::cpu
