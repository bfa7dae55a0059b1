// einkern cache and einkern devices: what is kept, and what is here.
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "autotune/record.h"
#include "cli/problem.h"
#include "cli/terminal.h"
#include "engine/device_registry.h"
#include "engine/explain.h"
#include "runtime/kernel_cache.h"

namespace einkern::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string field(const core::Key& key, std::string_view name) {
  for (const auto& [known, value] : key.fields())
    if (known == name) return value;
  return "";
}

int list_cache(runtime::KernelCache& cache, const autotune::RecordStore& records, bool json) {
  const auto entries = cache.list();
  const auto tuned = records.list();
  if (json) {
    Json kernels = Json::array(), tuning = Json::array();
    for (const auto& entry : entries)
      kernels.push_back({{"fingerprint", entry.fingerprint},
                         {"bytes", entry.bytes},
                         {"seconds_unused", entry.seconds_unused},
                         {"architecture", field(entry.key, "architecture")},
                         {"compiler", field(entry.key, "compiler")}});
    for (const auto& record : tuned) tuning.push_back(Json::parse(record.to_json()));
    fmt::print("{}\n", Json{{"folder", cache.folder()}, {"kernels", kernels}, {"records", tuning}}.dump(1));
    return success;
  }
  std::int64_t bytes = 0;
  for (const auto& entry : entries) {
    bytes += entry.bytes;
    fmt::print("kernel  {}  {:>9}  {}\n", entry.fingerprint,
               engine::bytes_text(static_cast<double>(entry.bytes)), field(entry.key, "architecture"));
  }
  for (const auto& record : tuned)
    fmt::print("record  {}  {:>9}  {} {} on {}\n", record.key.fingerprint(),
               engine::seconds_text(record.seconds), record.function, record.configuration,
               record.key.device);
  fmt::print("{} kernels, {} in {}; {} tuning records\n", entries.size(),
             engine::bytes_text(static_cast<double>(bytes)), cache.folder(), tuned.size());
  return success;
}

/// Why one kernel is not cached, or that it is.
Json miss_of(runtime::KernelCache& cache, const std::string& name, const core::Key& key) {
  Json differences = Json::array();
  Json found = {{"name", name}, {"fingerprint", key.fingerprint()}, {"cached", false}};
  const auto near = cache.nearest(key, 1);
  if (near.empty()) return found;
  found["cached"] = near.front().differences.empty();
  found["nearest"] = near.front().entry.fingerprint;
  found["bytes"] = near.front().entry.bytes;
  for (const auto& difference : near.front().differences)
    differences.push_back(
        {{"field", difference.field}, {"wanted", difference.wanted}, {"found", difference.found}});
  found["differences"] = differences;
  return found;
}

std::string miss_text(const Json& miss) {
  std::string text =
      fmt::format("{}  {}\n", miss.at("name").get<std::string>(), miss.at("fingerprint").get<std::string>());
  if (!miss.contains("nearest")) return text + "  not cached, and nothing like it is\n";
  if (miss.at("cached").get<bool>())
    return text + fmt::format("  cached, {}\n", engine::bytes_text(miss.at("bytes").get<double>()));
  text +=
      fmt::format("  not cached; the nearest entry {} differs in\n", miss.at("nearest").get<std::string>());
  for (const Json& difference : miss.at("differences")) {
    const auto wanted = difference.at("wanted").get<std::string>(),
               found = difference.at("found").get<std::string>();
    const bool is_short = wanted.size() + found.size() < 120;  // a whole source would fill the screen
    text += fmt::format("    {}{}\n", difference.at("field").get<std::string>(),
                        is_short ? fmt::format(": {} here, {} there", wanted, found) : "");
  }
  return text;
}

/// For each kernel of a problem: whether it is cached, else the nearest entry and the fields in which it
/// differs.
int explain_misses(runtime::KernelCache& cache, const CacheOptions& options) {
  auto loaded = load_problem(options.problem);
  if (const int* code = std::get_if<int>(&loaded)) return *code;
  const auto device =
      options.device == "best" ? engine::open_best_device() : engine::open_device(options.device);
  if (!device) return report(device.error());
  const auto emitted = emit_plan(std::get<Problem>(loaded), (*device)->facts(), {});
  if (!emitted) return report(emitted.error());
  Json kernels = Json::array();
  for (std::size_t i = 0; i < emitted->emissions.size(); ++i)
    kernels.push_back(
        miss_of(cache, emitted->plan.kernels[i].name, engine::kernel_key(emitted->emissions[i], **device)));
  if (options.json)
    fmt::print("{}\n", kernels.dump(1));
  else
    for (const Json& miss : kernels) fmt::print("{}", miss_text(miss));
  return success;
}

/// What an action did: one line, or one JSON object.
int tell(const CacheOptions& options, const Json& numbers, const std::string& line) {
  fmt::print("{}\n", options.json ? numbers.dump(1) : line);
  return success;
}

/// Export writes two files; import takes those of the two that are there, so that records can be shipped
/// alone.
int carry(runtime::KernelCache& cache, const autotune::RecordStore& records, const CacheOptions& options) {
  const std::string kernel_file = options.path + ".kernels", record_file = options.path + ".records.json";
  const bool out = options.action == "export";
  const bool with_kernels = out || std::filesystem::exists(kernel_file);
  const bool with_records = out || std::filesystem::exists(record_file);
  if (!with_kernels && !with_records)
    return report({core::ErrorKind::io, fmt::format("there is neither {} nor {}", kernel_file, record_file)});
  core::Result<std::int64_t> kernels = std::int64_t{0}, tuned = std::int64_t{0};
  if (with_kernels) kernels = out ? cache.export_to(kernel_file) : cache.import_from(kernel_file);
  if (!kernels) return report(kernels.error());
  if (with_records) tuned = out ? records.export_to(record_file) : records.import_from(record_file);
  if (!tuned) return report(tuned.error());
  return tell(options, {{"kernels", *kernels}, {"records", *tuned}},
              fmt::format("{} kernels and {} tuning records {} {}", *kernels, *tuned,
                          out ? "written to" : "taken from", options.path));
}

}  // namespace

int cache_command(const CacheOptions& options) {
  runtime::KernelCache& cache = runtime::process_cache();
  const autotune::RecordStore& records = autotune::process_records();
  if (options.action == "list") return list_cache(cache, records, options.json);
  if (options.action == "why") return explain_misses(cache, options);
  if (options.action == "path") return tell(options, {{"folder", cache.folder()}}, cache.folder());
  if (options.action == "clear") {
    const auto kernels = cache.clear(), tuned = records.clear();
    return tell(options, {{"kernels", kernels}, {"records", tuned}},
                fmt::format("{} kernels and {} tuning records removed", kernels, tuned));
  }
  if (options.action == "prune") {
    const auto kernels = cache.prune();
    return tell(options, {{"kernels", kernels}}, fmt::format("{} kernels removed", kernels));
  }
  if (options.action == "verify") {
    const auto check = cache.verify();
    return tell(
        options, {{"good", check.good}, {"removed", check.removed}},
        fmt::format("{} kernels are good, {} were damaged and are removed", check.good, check.removed));
  }
  return carry(cache, records, options);
}

int devices_command(const DevicesOptions& options) {
  Json all = Json::array();
  for (const engine::DeviceListing& listing : engine::list_devices()) {
    if (!listing.device) {
      if (options.json)
        all.push_back({{"name", listing.name}, {"missing", listing.missing}});
      else
        fmt::print("{}  not here\n  {}\n", listing.name, listing.missing);
      continue;
    }
    const core::DeviceFacts& facts = listing.device->facts();
    if (options.json) {
      all.push_back({{"name", listing.name},
                     {"device", facts.name},
                     {"architecture", facts.architecture},
                     {"uuid", facts.uuid},
                     {"multiprocessors", facts.multiprocessors},
                     {"memory_bytes", facts.memory_bytes},
                     {"l2_bytes", facts.l2_bytes},
                     {"compiler", listing.device->compiler_version()},
                     {"copy_bytes_per_second", facts.copy_bytes_per_second},
                     {"f32_flops", facts.f32_flops}});
      continue;
    }
    fmt::print("{}  {}, {}\n  {} {}, {} memory, L2 {}\n  {}\n", listing.name, facts.name, facts.architecture,
               facts.multiprocessors, facts.backend == core::Backend::cuda ? "multiprocessors" : "threads",
               engine::bytes_text(static_cast<double>(facts.memory_bytes)),
               engine::bytes_text(static_cast<double>(facts.l2_bytes)), listing.device->compiler_version());
  }
  if (options.json) fmt::print("{}\n", all.dump(1));
  return success;
}

}  // namespace einkern::cli
