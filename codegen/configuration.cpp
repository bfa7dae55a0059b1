#include "codegen/configuration.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include <fmt/format.h>

namespace einkern::codegen {

namespace {

using core::Error;
using core::ErrorKind;

constexpr std::string_view separators = " ,\t\n";

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

Error malformed(std::string_view pair, std::string_view what) {
  return {ErrorKind::usage,
          fmt::format("'{}' in a configuration {}; write name=integer pairs, such as 'tile_m=128 tile_n=64'.",
                      pair, what)};
}

core::Result<void> add_pair(Configuration& configuration, std::string_view pair) {
  const std::size_t equals = pair.find('=');
  if (equals == std::string_view::npos) return malformed(pair, "has no '='");
  const std::string_view name = pair.substr(0, equals), digits = pair.substr(equals + 1);
  if (!is_name(name)) return malformed(pair, "has no parameter name of letters, digits and underscores");
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size())
    return malformed(pair, "has no 64-bit integer after '='");
  for (const auto& entry : configuration.entries())
    if (entry.first == name) return malformed(pair, "repeats a parameter");
  configuration.set(name, value);
  return {};
}

}  // namespace

std::int64_t Configuration::get(std::string_view name) const {
  for (const auto& [key, value] : entries_)
    if (key == name) return value;
  std::abort();
}

std::int64_t Configuration::get_or(std::string_view name, std::int64_t otherwise) const {
  for (const auto& [key, value] : entries_)
    if (key == name) return value;
  return otherwise;
}

void Configuration::set(std::string_view name, std::int64_t value) {
  for (auto& [key, current] : entries_)
    if (key == name) {
      current = value;
      return;
    }
  entries_.emplace_back(name, value);
}

std::string Configuration::text() const {
  std::string text;
  for (const auto& [name, value] : entries_)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

core::Result<Configuration> Configuration::parse(std::string_view text) {
  Configuration configuration;
  for (std::size_t at = text.find_first_not_of(separators); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
    EINKERN_CHECK_OK(add_pair(configuration, text.substr(at, end - at)));
    at = text.find_first_not_of(separators, end);
  }
  return configuration;
}

std::optional<std::string> ConfigurationSpace::violation(const Configuration& configuration) const {
  for (const auto& [name, value] : configuration.entries()) {
    const bool known =
        std::any_of(parameters.begin(), parameters.end(), [&](const auto& p) { return p.name == name; });
    if (!known) return fmt::format("unknown parameter {}={}", name, value);
  }
  for (const ConfigurationParameter& parameter : parameters) {
    const auto& entries = configuration.entries();
    const auto entry = std::find_if(entries.begin(), entries.end(),
                                    [&](const auto& e) { return e.first == parameter.name; });
    if (entry == entries.end()) return fmt::format("parameter {} is missing", parameter.name);
    const auto& domain = parameter.domain;
    if (std::find(domain.begin(), domain.end(), entry->second) == domain.end())
      return fmt::format("{}={} is not one of {}", parameter.name, entry->second, fmt::join(domain, ", "));
  }
  for (const ConfigurationConstraint& constraint : constraints)
    if (auto broken = constraint.violated(configuration)) return broken;
  return std::nullopt;
}

Configuration ConfigurationSpace::compiled_part(const Configuration& configuration) const {
  Configuration part;
  for (const auto& [name, value] : configuration.entries()) {
    const auto parameter = std::find_if(parameters.begin(), parameters.end(),
                                        [&](const ConfigurationParameter& p) { return p.name == name; });
    if (parameter == parameters.end() || parameter->recompiles) part.set(name, value);
  }
  return part;
}

std::vector<Configuration> ConfigurationSpace::enumerate(std::size_t limit) const {
  std::vector<Configuration> legal;
  for (const auto& parameter : parameters)
    if (parameter.domain.empty()) return legal;
  std::vector<std::size_t> digits(parameters.size(), 0);  // an odometer: the last parameter turns fastest
  while (legal.size() < limit) {
    Configuration candidate;
    for (std::size_t i = 0; i < parameters.size(); ++i)
      candidate.set(parameters[i].name, parameters[i].domain[digits[i]]);
    const bool broken = std::any_of(constraints.begin(), constraints.end(), [&](const auto& constraint) {
      return constraint.violated(candidate).has_value();
    });
    if (!broken) legal.push_back(std::move(candidate));
    std::size_t wheel = parameters.size();
    while (wheel > 0 && ++digits[wheel - 1] == parameters[wheel - 1].domain.size()) digits[--wheel] = 0;
    if (wheel == 0) return legal;
  }
  return legal;
}

}  // namespace einkern::codegen
