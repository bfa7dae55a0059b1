#include "autotune/worker/device_tensor.h"

#include <algorithm>
#include <utility>

#include "core/dtype.h"

namespace einkern::autotune::worker {
namespace {

constexpr std::int64_t word_bytes = 8;
constexpr std::size_t count_word = 1;  // of the entries that take a geometry

/// Extents and strides, outermost first, neighbours joined where one loop can run over both.
std::vector<std::int64_t> pairs_of(const ProblemTensor& tensor) {
  std::vector<std::int64_t> pairs;
  for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
    const std::int64_t extent = tensor.shape[d], stride = tensor.strides[d];
    if (extent == 1) continue;
    const std::size_t last = pairs.size();
    if (last > 0 && pairs[last - 1] == extent * stride) {
      pairs[last - 2] *= extent;
      pairs[last - 1] = stride;
    } else {
      pairs.insert(pairs.end(), {extent, stride});
    }
  }
  if (pairs.empty()) pairs = {1, 0};
  return pairs;
}

std::int64_t offset_of(const ProblemTensor& tensor, std::int64_t number) {
  std::int64_t offset = 0;
  for (std::size_t d = tensor.shape.size(); d-- > 0; number /= tensor.shape[d])
    offset += number % tensor.shape[d] * tensor.strides[d];
  return offset;
}

}  // namespace

// --- where elements lie ---

core::Result<std::unique_ptr<ElementPlaces>> ElementPlaces::make(const ProblemTensor& tensor, Filling filling,
                                                                 runtime::Device& device,
                                                                 runtime::Stream stream,
                                                                 const DeviceChecks& checks) {
  std::unique_ptr<ElementPlaces> places(new ElementPlaces(tensor, device, checks));
  std::vector<std::uint64_t> image = value_table(tensor, filling);
  const auto add = [&](const ProblemTensor& described) {
    const std::vector<std::int64_t> pairs = pairs_of(described);
    const auto first = static_cast<std::int64_t>(image.size()) * word_bytes;
    for (const std::int64_t number : pairs) image.push_back(word(number));
    return Geometry{static_cast<std::int64_t>(pairs.size()) / 2, element_count(described), first};
  };
  places->whole_ = add(tensor);
  places->distinct_ = add(without_repetitions(tensor));
  const auto bytes = static_cast<std::int64_t>(image.size()) * word_bytes;
  EINKERN_TRY(places->memory_, DeviceMemory::allocate(device, bytes));
  EINKERN_CHECK_OK(device.copy_to_device(places->memory_.address(), image.data(), bytes, stream));
  return places;
}

runtime::Address ElementPlaces::geometry(bool repeated) const {
  return memory_.address() + word((repeated ? whole_ : distinct_).first_byte);
}

std::vector<std::uint64_t> ElementPlaces::common_words(bool repeated) const {
  const Geometry& geometry = repeated ? whole_ : distinct_;
  return {word(geometry.rank), word(geometry.elements), word(std::int64_t{core::size_bytes(tensor_.dtype)})};
}

std::vector<std::uint64_t> ElementPlaces::value_words() const {
  std::vector<std::uint64_t> words = common_words(false);
  words.insert(words.end(), {word(reach_of(tensor_).lowest), tensor_.seed, word(tensor_.index_limit)});
  return words;
}

core::Result<void> ElementPlaces::fill(runtime::Address first) const {
  return checks_.run("ek_check_fill", {first, geometry(false), table()}, value_words(), count_word);
}

core::Result<void> ElementPlaces::fill_with_poison(runtime::Address first) const {
  return checks_.run("ek_check_fill", {first, geometry(false), 0}, value_words(), count_word);
}

core::Result<std::int64_t> ElementPlaces::changed(runtime::Address first) const {
  EINKERN_TRY(const CheckResult result, checks_.judge("ek_check_unchanged", {first, geometry(false), table()},
                                                      value_words(), count_word));
  return static_cast<std::int64_t>(result.findings.wrong);
}

core::Result<double> ElementPlaces::largest_magnitude(runtime::Address first) const {
  if (!core::is_float(tensor_.dtype)) return 0.0;
  const ElementFormat format = element_format(tensor_.dtype);
  std::vector<std::uint64_t> words = common_words(true);
  for (const int part : {format.exponent_bits, format.mantissa_bits, format.has_infinity})
    words.push_back(word(std::int64_t{part}));
  EINKERN_TRY(const CheckResult result,
              checks_.judge("ek_check_magnitude", {first, geometry(true)}, words, count_word));
  return result.findings.largest_magnitude;
}

core::Result<CheckResult> ElementPlaces::compare(runtime::Address right, runtime::Address found,
                                                 const ElementRule& rule) const {
  const ElementFormat& format = rule.format;
  std::vector<std::uint64_t> words = common_words(true);
  for (const int part : {format.exponent_bits, format.mantissa_bits, format.has_infinity})
    words.push_back(word(std::int64_t{part}));
  words.insert(words.end(), {word(rule.relative), word(rule.absolute), word(std::int64_t{rule.sampled})});
  return checks_.judge("ek_check_compare", {right, found, geometry(true)}, words, count_word);
}

// --- one tensor between its guard zones ---

core::Result<std::unique_ptr<CheckedTensor>> DeviceTensor::make(const ProblemTensor& tensor,
                                                                runtime::Device& device,
                                                                runtime::Stream stream,
                                                                const DeviceChecks& checks) {
  std::unique_ptr<DeviceTensor> made(new DeviceTensor(tensor, device, stream, checks));
  EINKERN_TRY(made->places_, ElementPlaces::make(tensor, Filling::small_integers, device, stream, checks));
  EINKERN_CHECK_OK(made->allocate());
  return std::unique_ptr<CheckedTensor>(std::move(made));
}

core::Result<void> DeviceTensor::reset() {
  EINKERN_CHECK_OK(device_.fill(at(0), poison, memory_bytes(), stream_));
  return tensor_.kind == core::BufferKind::output ? core::Result<void>() : places_->fill(address());
}

core::Result<void> DeviceTensor::keep_as_reference(bool sampled) {
  if (reference_.address() == 0) {
    EINKERN_TRY(reference_, DeviceMemory::allocate(device_, span_bytes(tensor_)));
  }
  sampled_ = sampled;
  EINKERN_TRY(largest_magnitude_, places_->largest_magnitude(address()));
  return device_.copy(reference_.address(), at(lowest_byte()), span_bytes(tensor_), stream_);
}

core::Result<TensorFindings> DeviceTensor::judge() {
  TensorFindings findings;
  if (is_input()) {
    EINKERN_TRY(const std::int64_t changed, places_->changed(address()));
    findings.changed = changed > 0;
  } else {
    EINKERN_TRY(findings, examine_elements());
  }
  EINKERN_TRY(const bool beside, written_beside());
  if (is_input())
    findings.changed = findings.changed || beside;
  else
    findings.written_beside = beside;
  clean_ = !findings.changed && !findings.written_beside;
  return findings;
}

core::Result<TensorFindings> DeviceTensor::examine_elements() const {
  // The reference holds the span alone, of which element 0 need not be the lowest.
  const runtime::Address right = reference_.address() + word(first_byte() - lowest_byte());
  EINKERN_TRY(const CheckResult result,
              places_->compare(right, address(), element_rule(tensor_, largest_magnitude_, sampled_)));
  TensorFindings findings{.elements = result.findings,
                          .largest_magnitude = largest_magnitude_,
                          .fingerprint = result.fingerprint};
  if (result.findings.worst >= 0) {
    EINKERN_TRY(findings.right_bits, bits_of(result.findings.worst, right));
    EINKERN_TRY(findings.found_bits, bits_of(result.findings.worst, address()));
  }
  return findings;
}

core::Result<bool> DeviceTensor::written_beside() {
  if (is_input() && is_gapless(tensor_)) {
    EINKERN_TRY(const bool below, is_poison(0, lowest_byte()));
    EINKERN_TRY(const bool above, is_poison(lowest_byte() + span_bytes(tensor_), memory_bytes()));
    return !(below && above);
  }
  // The elements are made poison too; whatever then is not lies beside them.
  EINKERN_CHECK_OK(places_->fill_with_poison(address()));
  EINKERN_TRY(const bool clean, is_poison(0, memory_bytes()));
  if (clean && tensor_.kind != core::BufferKind::output) EINKERN_CHECK_OK(places_->fill(address()));
  return !clean;
}

core::Result<bool> DeviceTensor::is_poison(std::int64_t begin, std::int64_t end) const {
  // Whole words by a kernel, the bytes at the ends here.
  const std::int64_t first = (begin + word_bytes - 1) / word_bytes * word_bytes;
  const std::int64_t last = std::max(first, end / word_bytes * word_bytes);
  EINKERN_TRY(const CheckResult whole,
              checks_.judge("ek_check_poison", {at(first)}, {word((last - first) / word_bytes)}, 0));
  bool clean = whole.findings.wrong == 0;
  for (const auto& [from, to] : {std::pair(begin, std::min(first, end)), std::pair(last, end)}) {
    std::vector<unsigned char> bytes(static_cast<std::size_t>(std::max<std::int64_t>(0, to - from)));
    EINKERN_CHECK_OK(
        device_.copy_to_host(bytes.data(), at(from), static_cast<std::int64_t>(bytes.size()), stream_));
    for (const unsigned char byte : bytes) clean = clean && byte == poison;
  }
  return clean;
}

core::Result<std::uint64_t> DeviceTensor::bits_of(std::int64_t number, runtime::Address first) const {
  std::uint64_t bits = 0;
  const std::int64_t size = core::size_bytes(tensor_.dtype);
  EINKERN_CHECK_OK(
      device_.copy_to_host(&bits, first + word(offset_of(tensor_, number) * size), size, stream_));
  return bits;
}

}  // namespace einkern::autotune::worker
