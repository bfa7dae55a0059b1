// Tuning parameters: their domains, the rules between them, and one choice of them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"

namespace einkern::codegen {

/// Ordered name=integer pairs, written "tile_m=128 tile_n=64".
class Configuration {
 public:
  std::int64_t get(
      std::string_view name) const;  // aborts if absent: a schedule asks only for its own parameters
  std::int64_t get_or(std::string_view name, std::int64_t otherwise) const;
  void set(std::string_view name, std::int64_t value);
  const std::vector<std::pair<std::string, std::int64_t>>& entries() const { return entries_; }
  std::string text() const;
  static core::Result<Configuration> parse(std::string_view text);  // commas or blanks between pairs
  friend bool operator==(const Configuration&, const Configuration&) = default;
  friend auto operator<=>(const Configuration&, const Configuration&) = default;

 private:
  std::vector<std::pair<std::string, std::int64_t>> entries_;
};

struct ConfigurationParameter {
  std::string name;
  std::vector<std::int64_t> domain;
  bool recompiles = true;     // false: changes the launch only
  std::string documentation;  // one line, for docs and `tune --help`
};

/// A rule between parameters. `violated` gives the rule with both numbers ("shared memory 98304 > 49152
/// bytes"), or nothing.
struct ConfigurationConstraint {
  std::string rule;
  std::function<std::optional<std::string>(const Configuration&)> violated;
};

struct ConfigurationSpace {
  std::vector<ConfigurationParameter> parameters;
  std::vector<ConfigurationConstraint> constraints;

  /// The first broken rule, unknown or missing parameter, or value outside its domain, with both numbers;
  /// nothing if legal.
  std::optional<std::string> violation(const Configuration& configuration) const;
  /// The configuration without the parameters that change the launch only: what the code depends on.
  Configuration compiled_part(const Configuration& configuration) const;
  /// All legal configurations in the domains' order, at most `limit`.
  std::vector<Configuration> enumerate(std::size_t limit = 100000) const;
};

}  // namespace einkern::codegen
