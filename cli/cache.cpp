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
  for (std::size_t i = 0; i < emitted->emissions.size(); ++i) {
    const core::Key key = engine::kernel_key(emitted->emissions[i], **device);
    fmt::print("{}  {}\n", emitted->plan.kernels[i].name, key.fingerprint());
    const auto near = cache.nearest(key, 1);
    if (near.empty()) {
      fmt::print("  not cached, and nothing like it is\n");
    } else if (near.front().differences.empty()) {
      fmt::print("  cached, {}\n", engine::bytes_text(static_cast<double>(near.front().entry.bytes)));
    } else {
      fmt::print("  not cached; the nearest entry {} differs in\n", near.front().entry.fingerprint);
      for (const auto& difference : near.front().differences)
        fmt::print("    {}{}\n", difference.field,
                   difference.wanted.size() + difference.found.size() < 120
                       ? fmt::format(": {} here, {} there", difference.wanted, difference.found)
                       : "");
    }
  }
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
  fmt::print("{} kernels and {} tuning records {} {}\n", *kernels, *tuned, out ? "written to" : "taken from",
             options.path);
  return success;
}

}  // namespace

int cache_command(const CacheOptions& options) {
  runtime::KernelCache& cache = runtime::process_cache();
  const autotune::RecordStore& records = autotune::process_records();
  if (options.action == "list") return list_cache(cache, records, options.json);
  if (options.action == "why") return explain_misses(cache, options);
  if (options.action == "path") {
    fmt::print("{}\n", cache.folder());
  } else if (options.action == "clear") {
    const auto kernels = cache.clear();
    fmt::print("{} kernels and {} tuning records removed\n", kernels, records.clear());
  } else if (options.action == "prune") {
    fmt::print("{} kernels removed\n", cache.prune());
  } else if (options.action == "verify") {
    const auto check = cache.verify();
    fmt::print("{} kernels are good, {} were damaged and are removed\n", check.good, check.removed);
  } else if (options.action == "export" || options.action == "import") {
    return carry(cache, records, options);
  }
  return success;
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
