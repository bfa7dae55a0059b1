#include "autotune/worker/guarded_tensor.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "autotune/worker/elements.h"
#include "autotune/worker/values.h"
#include "core/dtype.h"

namespace einkern::autotune::worker {
namespace {

constexpr std::int64_t guard_bytes = 64 << 10;  // a multiple of every alignment; wider than a tile's overrun

}  // namespace

GuardedTensor::GuardedTensor(const ProblemTensor& tensor, runtime::Device& device)
    : tensor_(tensor), device_(&device) {
  const std::int64_t bytes = guard_bytes + tensor_.first_byte + span_bytes(tensor_) + guard_bytes;
  initial_.assign(static_cast<std::size_t>(bytes), static_cast<char>(poison));
  if (tensor_.kind != core::BufferKind::output)
    fill_elements(tensor_, Filling::small_integers, initial_.data() + guard_bytes + tensor_.first_byte);
}

core::Result<GuardedTensor> GuardedTensor::make(const ProblemTensor& tensor, runtime::Device& device,
                                                runtime::Stream stream) {
  GuardedTensor made(tensor, device);
  EINKERN_TRY(made.memory_, device.allocate(static_cast<std::int64_t>(made.initial_.size())));
  EINKERN_CHECK_OK(made.reset(stream));
  return made;
}

GuardedTensor::GuardedTensor(GuardedTensor&& other) noexcept
    : tensor_(std::move(other.tensor_)),
      device_(other.device_),
      memory_(std::exchange(other.memory_, 0)),
      initial_(std::move(other.initial_)),
      fetched_(std::move(other.fetched_)) {}

GuardedTensor::~GuardedTensor() {
  if (memory_ != 0) device_->free(memory_);
}

runtime::Address GuardedTensor::address() const {
  return memory_ + static_cast<runtime::Address>(guard_bytes + tensor_.first_byte);
}

core::Result<void> GuardedTensor::reset(runtime::Stream stream) {
  return device_->copy_to_device(memory_, initial_.data(), static_cast<std::int64_t>(initial_.size()),
                                 stream);
}

core::Result<void> GuardedTensor::fetch(runtime::Stream stream) {
  fetched_.resize(initial_.size());
  return device_->copy_to_host(fetched_.data(), memory_, static_cast<std::int64_t>(fetched_.size()), stream);
}

const char* GuardedTensor::elements() const { return fetched_.data() + guard_bytes + tensor_.first_byte; }

std::string GuardedTensor::trespass() const {
  if (is_input()) return untouched() ? "" : fmt::format("changes the input {}", tensor_.name);
  // What may differ is made equal; whatever then differs lies beside the elements.
  std::vector<char> rest = fetched_;
  const std::int64_t first = guard_bytes + tensor_.first_byte, size = core::size_bytes(tensor_.dtype);
  const std::int64_t span = span_bytes(tensor_);
  if (span == size * element_count(tensor_)) {  // without gaps
    std::memcpy(rest.data() + first, initial_.data() + first, static_cast<std::size_t>(span));
    return rest == initial_ ? "" : fmt::format("writes outside {}", tensor_.name);
  }
  visit_elements(tensor_, [&](std::int64_t offset) {
    std::memcpy(rest.data() + first + offset * size, initial_.data() + first + offset * size,
                static_cast<std::size_t>(size));
  });
  return rest == initial_ ? "" : fmt::format("writes outside {}", tensor_.name);
}

}  // namespace einkern::autotune::worker
