#include "autotune/record.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/version.h"
#include "runtime/kernel_cache.h"
#include "runtime/private_file.h"
#include "runtime/warnings.h"

namespace einkern::autotune {
namespace {

using Json = nlohmann::ordered_json;
namespace files = std::filesystem;

constexpr std::string_view suffix = ".json";
constexpr int format_version = 1;

core::Error io_error(const std::string& message) { return {core::ErrorKind::io, message}; }

std::optional<std::string> read_file(const files::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

Json to_value(const TuningRecord& record) {
  Json candidates = Json::array();
  for (const CandidateFate& fate : record.candidates)
    candidates.push_back({{"schedule", fate.schedule},
                          {"configuration", fate.configuration},
                          {"outcome", fate.outcome},
                          {"seconds", fate.seconds},
                          {"runs", fate.runs}});
  return {{"format", format_version},
          {"function", record.function},
          {"kernel", record.key.kernel},
          {"specialisation", record.key.specialisation},
          {"sizes", record.key.sizes},
          {"device", record.key.device},
          {"architecture", record.key.architecture},
          {"version", record.version},
          {"schedule", record.schedule},
          {"schedule_version", record.schedule_version},
          {"configuration", record.configuration},
          {"seconds", record.seconds},
          {"spread", record.spread},
          {"error", record.error},
          {"limit_seconds", record.limit_seconds},
          {"candidates", candidates}};
}

core::Result<TuningRecord> from_value(const Json& value) {
  try {
    if (value.at("format").get<int>() != format_version)
      return io_error("a tuning record of another format version");
    TuningRecord record;
    record.function = value.at("function").get<std::string>();
    record.key.kernel = value.at("kernel").get<std::string>();
    record.key.specialisation = value.at("specialisation").get<std::string>();
    record.key.sizes = value.at("sizes").get<std::map<std::string, std::int64_t>>();
    record.key.device = value.at("device").get<std::string>();
    record.key.architecture = value.at("architecture").get<std::string>();
    record.version = value.at("version").get<std::string>();
    record.schedule = value.at("schedule").get<std::string>();
    record.schedule_version = value.at("schedule_version").get<int>();
    record.configuration = value.at("configuration").get<std::string>();
    record.seconds = value.at("seconds").get<double>();
    record.spread = value.at("spread").get<double>();
    record.error = value.at("error").is_null() ? 0 : value.at("error").get<double>();
    record.limit_seconds = value.at("limit_seconds").get<double>();
    for (const Json& fate : value.at("candidates"))
      record.candidates.push_back({fate.at("schedule").get<std::string>(),
                                   fate.at("configuration").get<std::string>(),
                                   fate.at("outcome").get<std::string>(), fate.at("seconds").get<double>(),
                                   fate.at("runs").get<int>()});
    return record;
  } catch (const Json::exception& fault) {
    return io_error(fmt::format("a malformed tuning record: {}", fault.what()));
  }
}

/// Distance of two size sets; infinite if they name different dims or one is 0.
double distance(const std::map<std::string, std::int64_t>& a, const std::map<std::string, std::int64_t>& b) {
  if (a.size() != b.size()) return INFINITY;
  double sum = 0;
  for (auto x = a.begin(), y = b.begin(); x != a.end(); ++x, ++y) {
    if (x->first != y->first || (x->second <= 0) != (y->second <= 0)) return INFINITY;
    if (x->second > 0)
      sum += std::fabs(std::log(static_cast<double>(x->second) / static_cast<double>(y->second)));
  }
  return sum;
}

}  // namespace

core::Key RecordKey::fields() const {
  core::Key key;
  key.add("kernel", kernel)
      .add("specialisation", specialisation)
      .add("device", device)
      .add("architecture", architecture);
  for (const auto& [name, value] : sizes) key.add(name, static_cast<long long>(value));
  return key;
}

std::string TuningRecord::to_json() const { return to_value(*this).dump(1) + "\n"; }

core::Result<TuningRecord> TuningRecord::from_json(std::string_view text) {
  const Json value = Json::parse(text, nullptr, false);
  if (value.is_discarded() || !value.is_object()) return io_error("a tuning record that is no JSON object");
  return from_value(value);
}

RecordKey record_key(const codegen::KernelContext& context) {
  const dsl::Function& graph = *context.plan.graph;
  core::Key kernel;
  kernel.add("function", graph.canonical_text)
      .add("plan", context.plan.name)
      .add("kernel", context.kernel.name);
  RecordKey key{.kernel = kernel.fingerprint(),
                .specialisation = context.specialisation.text(graph),
                .device = context.device.name,
                .architecture = context.device.architecture};
  for (std::size_t i = 0; i < graph.dims.size(); ++i) key.sizes[graph.dims[i].name] = context.binding.dims[i];
  return key;
}

RecordStore::RecordStore(std::string folder) : folder_(std::move(folder)) {}

std::optional<TuningRecord> RecordStore::find(const RecordKey& key) const {
  if (folder_.empty()) return std::nullopt;
  const auto text = read_file(files::path(folder_) / (key.fingerprint() + std::string(suffix)));
  if (!text) return std::nullopt;
  auto record = TuningRecord::from_json(*text);
  // A record says whole what it is for: a renamed or merged file is never used for something else.
  if (!record || record->key.fields().bytes() != key.fields().bytes()) return std::nullopt;
  return std::move(*record);
}

std::vector<TuningRecord> RecordStore::list() const {
  std::vector<files::path> paths;
  std::error_code error;
  if (!folder_.empty())
    for (auto it = files::directory_iterator(folder_, error); !error && it != files::directory_iterator();
         it.increment(error))
      if (it->path().extension() == suffix) paths.push_back(it->path());
  std::sort(paths.begin(), paths.end());
  std::vector<TuningRecord> records;
  for (const files::path& path : paths) {
    const auto text = read_file(path);
    auto record = text ? TuningRecord::from_json(*text) : core::Result<TuningRecord>(io_error("unreadable"));
    if (record)
      records.push_back(std::move(*record));
    else
      runtime::warn_once(path.string(),
                         fmt::format("{} is ignored: {}", path.string(), record.error().message));
  }
  return records;
}

std::optional<TuningRecord> RecordStore::nearest(const RecordKey& key) const {
  std::optional<TuningRecord> best;
  double best_distance = INFINITY;
  for (TuningRecord& record : list()) {
    const RecordKey& other = record.key;
    if (other.kernel != key.kernel || other.specialisation != key.specialisation ||
        other.device != key.device || other.architecture != key.architecture)
      continue;
    const double apart = distance(other.sizes, key.sizes);
    if (apart >= best_distance) continue;
    best_distance = apart;
    best = std::move(record);
  }
  return best;
}

core::Result<void> RecordStore::store(const TuningRecord& record) const {
  if (folder_.empty()) return {};
  std::error_code ignored;  // if the folder cannot be made, publishing says so
  files::create_directories(folder_, ignored);
  const files::path path = files::path(folder_) / (record.key.fingerprint() + std::string(suffix));
  return runtime::publish_file(path.string(), record.to_json());
}

std::int64_t RecordStore::clear() const {
  std::int64_t removed = 0;
  for (const TuningRecord& record : list()) {
    std::error_code error;
    removed +=
        files::remove(files::path(folder_) / (record.key.fingerprint() + std::string(suffix)), error) ? 1 : 0;
  }
  return removed;
}

core::Result<std::int64_t> RecordStore::export_to(const std::string& path) const {
  Json all = Json::array();
  for (const TuningRecord& record : list()) all.push_back(to_value(record));
  EINKERN_CHECK_OK(runtime::publish_file(path, all.dump(1) + "\n"));
  return static_cast<std::int64_t>(all.size());
}

core::Result<std::int64_t> RecordStore::import_from(const std::string& path) const {
  const auto text = read_file(path);
  if (!text) return io_error(fmt::format("cannot read {}", path));
  const Json all = Json::parse(*text, nullptr, false);
  if (!all.is_array())
    return io_error(fmt::format("{} holds no tuning records: a JSON array is expected", path));
  std::int64_t taken = 0;
  for (const Json& value : all) {
    EINKERN_TRY(const TuningRecord record, from_value(value));
    const auto known = find(record.key);
    if (known && known->seconds <= record.seconds) continue;
    EINKERN_CHECK_OK(store(record));
    ++taken;
  }
  return taken;
}

RecordStore& process_records() {
  static RecordStore store = [] {
    if (const char* folder = std::getenv("EINKERN_RECORDS"); folder && *folder) return RecordStore(folder);
    const auto cache = runtime::cache_folder();
    return RecordStore(cache ? *cache + "/tuning" : "");
  }();
  return store;
}

}  // namespace einkern::autotune
