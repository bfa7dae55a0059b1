#include "autotune/worker/host_tensor.h"

#include <cstring>

#include "autotune/worker/values.h"
#include "core/dtype.h"
#include "core/hash.h"

namespace einkern::autotune::worker {
namespace {

std::uint64_t bits_at(const char* first, std::int64_t offset, int size) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, first + offset * size, static_cast<std::size_t>(size));
  return bits;
}

}  // namespace

HostTensor::HostTensor(const ProblemTensor& tensor, runtime::Device& device, runtime::Stream stream)
    : CheckedTensor(tensor, device, stream) {
  initial_.assign(static_cast<std::size_t>(memory_bytes()), static_cast<char>(poison));
  if (tensor.kind != core::BufferKind::output)
    fill_elements(tensor, Filling::small_integers, initial_.data() + first_byte());
}

core::Result<std::unique_ptr<CheckedTensor>> HostTensor::make(const ProblemTensor& tensor,
                                                              runtime::Device& device,
                                                              runtime::Stream stream) {
  std::unique_ptr<HostTensor> made(new HostTensor(tensor, device, stream));
  EINKERN_CHECK_OK(made->allocate());
  return std::unique_ptr<CheckedTensor>(std::move(made));
}

core::Result<void> HostTensor::reset() {
  return device_.copy_to_device(at(0), initial_.data(), memory_bytes(), stream_);
}

core::Result<void> HostTensor::fetch() {
  fetched_.resize(initial_.size());
  return device_.copy_to_host(fetched_.data(), at(0), memory_bytes(), stream_);
}

core::Result<void> HostTensor::keep_as_reference(bool sampled) {
  EINKERN_CHECK_OK(fetch());
  const char* lowest = fetched_.data() + lowest_byte();
  reference_.assign(lowest, lowest + span_bytes(tensor_));
  sampled_ = sampled;
  ElementFindings seen = no_findings();
  const ElementFormat format = element_format(tensor_.dtype);
  const char* first = fetched_.data() + first_byte();
  if (core::is_float(tensor_.dtype))
    visit_elements(tensor_, [&](std::int64_t offset) {
      note_magnitude(seen, format, bits_at(first, offset, format.bytes));
    });
  largest_magnitude_ = seen.largest_magnitude;
  return {};
}

bool HostTensor::written_beside() const {
  // What may differ is made equal; whatever then differs lies beside the elements.
  std::vector<char> rest = fetched_;
  if (is_gapless(tensor_)) {
    std::memcpy(rest.data() + lowest_byte(), initial_.data() + lowest_byte(),
                static_cast<std::size_t>(span_bytes(tensor_)));
    return rest != initial_;
  }
  const std::int64_t first = first_byte(), size = core::size_bytes(tensor_.dtype);
  visit_elements(tensor_, [&](std::int64_t offset) {
    std::memcpy(rest.data() + first + offset * size, initial_.data() + first + offset * size,
                static_cast<std::size_t>(size));
  });
  return rest != initial_;
}

core::Result<TensorFindings> HostTensor::judge() {
  EINKERN_CHECK_OK(fetch());
  TensorFindings findings;
  if (is_input()) {
    findings.changed = fetched_ != initial_;
    clean_ = !findings.changed;
    return findings;
  }
  findings.written_beside = written_beside();
  findings.largest_magnitude = largest_magnitude_;
  const char* found_lowest = fetched_.data() + lowest_byte();
  findings.fingerprint = core::checksum({found_lowest, reference_.size()});
  // Most candidates agree to the bit, and comparing bytes is far faster than comparing numbers.
  if (!sampled_ && std::memcmp(reference_.data(), found_lowest, reference_.size()) == 0) return findings;
  const char* right = reference_.data() + (first_byte() - lowest_byte());
  const char* found = fetched_.data() + first_byte();
  const ElementRule rule = element_rule(tensor_, largest_magnitude_, sampled_);
  std::int64_t number = 0;
  visit_elements(tensor_, [&](std::int64_t offset) {
    const std::uint64_t right_bits = bits_at(right, offset, rule.format.bytes);
    const std::uint64_t found_bits = bits_at(found, offset, rule.format.bytes);
    note_element(findings.elements, rule, number, right_bits, found_bits);
    if (findings.elements.worst == number++) {
      findings.right_bits = right_bits;
      findings.found_bits = found_bits;
    }
  });
  return findings;
}

}  // namespace einkern::autotune::worker
