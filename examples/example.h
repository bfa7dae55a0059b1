// What the examples share: the device they run on, and the comparison of their results with plain formulas.
#pragma once

#include <einkern/einkern.hpp>

#include <cmath>
#include <concepts>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace ek = einkern;

namespace example {

/// ctest counts a program that ends with this code as skipped.
constexpr int skipped = 77;

/// The path of an .ein file or of data beside the examples.
inline std::string path(const std::string& name) { return std::string(EINKERN_EXAMPLES_DIR) + "/" + name; }

/// Runs the example on the device that the command line names: cpu, cuda, or best (the default).
inline int run(int argc, char** argv, void (*body)(const ek::Device&)) {
  const std::string name = argc > 1 ? argv[1] : "best";
  ek::Device device;
  try {
    device = name == "best" ? ek::Device::best() : ek::Device::named(name);
  } catch (const ek::DeviceError& error) {
    std::printf("skipped, there is no such device here: %s\n", error.what());
    return skipped;
  }
  try {
    std::printf("on %s\n", device.name().c_str());
    body(device);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

using Index = std::vector<std::int64_t>;

/// A tensor's elements on the host, read by their indices.
class Values {
 public:
  explicit Values(const ek::Tensor& tensor) : shape_(tensor.shape()), numbers_(tensor.to_doubles()) {}
  double operator()(std::convertible_to<std::int64_t> auto... indices) const {
    return at({static_cast<std::int64_t>(indices)...});
  }
  double at(const Index& indices) const {
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < indices.size(); ++i) offset = offset * shape_[i] + indices[i];
    return numbers_[static_cast<std::size_t>(offset)];
  }

 private:
  ek::Shape shape_;
  std::vector<double> numbers_;
};

/// Compares every element with `expected(index)`; throws at the first that differs by more than
/// `tolerance * max(1, |expected|)`.
template <typename Expected>
void check(const char* name, const ek::Tensor& tensor, double tolerance, Expected expected) {
  const Values values(tensor);
  Index index(tensor.shape().size(), 0);
  double largest = 0;
  for (std::int64_t count = 0; count < tensor.size(); ++count) {
    const double got = values.at(index), wanted = expected(index);
    const double difference = std::abs(got - wanted);
    if (!(difference <= tolerance * std::max(1.0, std::abs(wanted)))) {
      std::string text = std::string(name) + "[";
      for (std::int64_t position : index) text += (text.back() == '[' ? "" : ", ") + std::to_string(position);
      throw std::runtime_error(text + "] is " + std::to_string(got) + ", not " + std::to_string(wanted));
    }
    largest = std::max(largest, difference);
    for (std::size_t i = index.size(); i-- > 0;) {
      if (++index[i] < tensor.shape()[i]) break;
      index[i] = 0;
    }
  }
  std::printf("%s: %lld elements as expected, largest difference %.2g\n", name,
              static_cast<long long>(tensor.size()), largest);
}

}  // namespace example
