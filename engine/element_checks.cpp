#include "engine/element_checks.h"

namespace einkern::engine {
namespace {

/// Bytes between results, which keeps each aligned as if it were alone.
constexpr std::int64_t result_bytes = 16;

core::Result<std::vector<std::int64_t>> find_faults(const dsl::ElementChecks& checks,
                                                    const PreparedCall& prepared, Call& call,
                                                    runtime::Address memory, runtime::Device& device,
                                                    runtime::Stream stream) {
  for (std::size_t i = 0; i < call.outputs.size(); ++i)
    call.outputs[i].address = memory + i * static_cast<std::uint64_t>(result_bytes);
  EINKERN_CHECK_OK(launch_call(prepared, *checks.function, call, {}, stream));
  std::vector<std::int64_t> words(call.outputs.size() * 2), results;
  EINKERN_CHECK_OK(device.copy_to_host(
      words.data(), memory, static_cast<std::int64_t>(words.size() * sizeof(std::int64_t)), stream));
  for (std::size_t i = 0; i < words.size(); i += 2) results.push_back(words[i]);
  return results;
}

}  // namespace

Call call_of_checks(const dsl::ElementChecks& checks, const Call& call) {
  Call result = call;
  result.outputs.assign(checks.checks.size(), TensorPlace{});
  return result;
}

core::Result<void> run_checks(const dsl::ElementChecks& checks, const PreparedCall& prepared, Call call,
                              runtime::Device& device, runtime::Stream stream) {
  const auto bytes = static_cast<std::int64_t>(checks.checks.size()) * result_bytes;
  EINKERN_TRY(const runtime::Address memory, device.allocate_in_order(bytes, stream));
  const auto results = find_faults(checks, prepared, call, memory, device, stream);
  device.free_in_order(memory, stream);
  if (!results) return results.error();
  return dsl::judge_elements(checks, *results, prepared.binding.dims);
}

core::Result<void> check_elements(const dsl::Function& function, const Call& call, runtime::Device& device,
                                  runtime::KernelBuilder& builder, const autotune::RecordStore& records) {
  const auto checks = dsl::make_element_checks(function);
  if (!checks) return {};
  const Call checking = call_of_checks(*checks, call);
  EINKERN_TRY(const auto prepared, prepare_call(*checks->function, codegen::make_plans(checks->function),
                                                checking, device, builder, records, {}));
  return run_checks(*checks, *prepared, checking, device, {});
}

}  // namespace einkern::engine
