#include "runtime/cache_entry.h"

#include <array>
#include <exception>
#include <nlohmann/json.hpp>

#include "core/hash.h"

namespace einkern::runtime {
namespace {

using nlohmann::json;

constexpr std::string_view magic = "EINKERN\n";
constexpr std::size_t header_bytes = 24;
constexpr std::array<std::string_view, 3> format_names = {"cubin", "ptx", "object"};

template <typename Number>
void append_number(std::string& bytes, Number value) {
  for (std::size_t i = 0; i < sizeof(Number); ++i) bytes.push_back(static_cast<char>(value >> (8 * i)));
}

template <typename Number>
Number number_at(std::string_view bytes, std::size_t at) {
  Number value = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i)
    value |= static_cast<Number>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  return value;
}

void append_section(std::string& bytes, std::string_view content) {
  append_number<std::uint64_t>(bytes, content.size());
  bytes.append(content);
}

struct Sections {
  std::string_view key, metadata, code;
};

/// Reads the sections of an entry whose checksum is right.
std::optional<Sections> read_sections(std::string_view entry) {
  if (entry.size() < header_bytes + 8 || !entry.starts_with(magic)) return std::nullopt;
  if (number_at<std::uint32_t>(entry, 8) != cache_format_version ||
      number_at<std::uint64_t>(entry, 16) != entry.size())
    return std::nullopt;
  const std::string_view checked = entry.substr(0, entry.size() - 8);
  if (number_at<std::uint64_t>(entry, checked.size()) != core::checksum(checked)) return std::nullopt;
  std::string_view rest = checked.substr(header_bytes);
  Sections sections;
  for (std::string_view* section : {&sections.key, &sections.metadata, &sections.code}) {
    if (rest.size() < 8) return std::nullopt;
    const auto bytes = number_at<std::uint64_t>(rest, 0);
    rest.remove_prefix(8);
    if (bytes > rest.size()) return std::nullopt;
    *section = rest.substr(0, bytes);
    rest.remove_prefix(bytes);
  }
  return rest.empty() ? std::optional(sections) : std::nullopt;
}

std::string metadata_of(const CompiledKernel& kernel) {
  json entries = json::object();
  for (const auto& [name, used] : kernel.artifact.entries)
    entries[name] = {used.registers, used.stack_bytes, used.spill_store_bytes, used.spill_load_bytes,
                     used.shared_bytes};
  const json metadata = {{"launch", kernel.launch.to_json()},
                         {"format", format_names[static_cast<std::size_t>(kernel.artifact.format)]},
                         {"entries", entries},
                         {"log", kernel.artifact.log},
                         {"compile_seconds", kernel.artifact.compile_seconds}};
  return metadata.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Throws on metadata of another shape.
void read_metadata(std::string_view text, core::Artifact& artifact, std::string& launch) {
  const json metadata = json::parse(text);
  launch = metadata.at("launch").get<std::string>();
  const auto& format = metadata.at("format").get_ref<const std::string&>();
  const auto found = std::find(format_names.begin(), format_names.end(), format);
  if (found == format_names.end()) throw std::runtime_error("unknown code format");
  artifact.format = static_cast<core::CodeFormat>(found - format_names.begin());
  for (const auto& [name, used] : metadata.at("entries").items())
    artifact.entries[name] = {used.at(0).get<int>(), used.at(1).get<int>(), used.at(2).get<int>(),
                              used.at(3).get<int>(), used.at(4).get<std::int64_t>()};
  artifact.log = metadata.at("log").get<std::string>();
  artifact.compile_seconds = metadata.at("compile_seconds").get<double>();
}

}  // namespace

std::string encode_entry(std::string_view key, const CompiledKernel& kernel) {
  const std::string metadata = metadata_of(kernel);
  const std::size_t total =
      header_bytes + 3 * 8 + key.size() + metadata.size() + kernel.artifact.code.size() + 8;
  std::string bytes(magic);
  bytes.reserve(total);
  append_number<std::uint32_t>(bytes, cache_format_version);
  append_number<std::uint32_t>(bytes, 0);
  append_number<std::uint64_t>(bytes, total);
  append_section(bytes, key);
  append_section(bytes, metadata);
  append_section(bytes, kernel.artifact.code);
  append_number<std::uint64_t>(bytes, core::checksum(bytes));
  return bytes;
}

std::optional<std::string> entry_key(std::string_view entry) {
  const auto sections = read_sections(entry);
  return sections ? std::optional<std::string>(sections->key) : std::nullopt;
}

std::optional<CompiledKernel> decode_entry(std::string_view entry, std::string_view key) try {
  const auto sections = read_sections(entry);
  if (!sections || sections->key != key) return std::nullopt;
  CompiledKernel kernel;
  std::string launch;
  read_metadata(sections->metadata, kernel.artifact, launch);
  auto plan = core::LaunchPlan::from_json(launch);
  if (!plan.ok()) return std::nullopt;
  kernel.launch = std::move(*plan);
  kernel.artifact.code = std::string(sections->code);
  return kernel;
} catch (const std::exception&) {
  return std::nullopt;  // metadata that a program of the same format version would not write
}

}  // namespace einkern::runtime
