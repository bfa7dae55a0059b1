// A schedule: one way to compute one kind of kernel on one class of device. One file each; a new idea is a
// new file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/configuration.h"
#include "codegen/plan/plan.h"
#include "codegen/specialisation.h"
#include "core/device_facts.h"
#include "core/emission.h"
#include "core/result.h"

namespace einkern::codegen {

/// What a schedule looks at. The source may depend on plan, kernel, specialisation, device and configuration;
/// `binding` (the sizes of this call) is for estimates and for choosing, never for the source.
struct KernelContext {
  const Plan& plan;
  const Kernel& kernel;
  const Specialisation& specialisation;
  const core::DeviceFacts& device;
  const dsl::Binding& binding;
};

/// Roofline estimate of one launch.
struct Estimate {
  double seconds = 0;
  double bytes = 0;       // least traffic with device memory: each input read once, each output written once
  double operations = 0;  // a multiply-add counts 2
  double occupancy = 1;   // resident warps over the most possible
  double limit_seconds =
      0;  // max(bytes / bandwidth, operations / rate): the hardware's limit for this kernel
};

class Schedule {
 public:
  virtual ~Schedule() = default;
  virtual std::string_view name() const = 0;  // "cuda.pointwise", "cpu.contraction"
  virtual int version() const = 0;  // raised when the emitted code changes; part of keys and records
  virtual core::Backend backend() const = 0;
  /// Whether its estimates are fitted to measurements: among such schedules that fit a kernel the lowest
  /// estimate decides, not their order.
  virtual bool calibrated() const { return false; }
  /// Why it cannot compute this kernel on this device, in words; nothing if it can.
  virtual std::optional<std::string> reason_against(const KernelContext& context) const = 0;
  virtual ConfigurationSpace space(const KernelContext& context) const = 0;
  virtual Estimate estimate(const KernelContext& context, const Configuration& configuration) const = 0;
  /// Requires reason_against() to be empty and the configuration legal in space(). Entry names: see
  /// entry_name().
  virtual core::Result<core::Emission> emit(const KernelContext& context,
                                            const Configuration& configuration) const = 0;
};

/// All schedules of a backend, best suited first; the last fits every kernel.
const std::vector<const Schedule*>& schedules(core::Backend backend);
const Schedule* find_schedule(std::string_view name);

/// "ek_<function>_<schedule>_<8 hex>": letters, digits and underscores only; the digits fingerprint what the
/// source depends on.
std::string entry_name(const KernelContext& context, const Schedule& schedule,
                       const Configuration& configuration);

/// Legal configurations ordered by the cost model, best first, at most `limit`.
std::vector<Configuration> ranked_configurations(const Schedule& schedule, const KernelContext& context,
                                                 std::size_t limit);

}  // namespace einkern::codegen
