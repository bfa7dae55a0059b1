#include "runtime/kernel_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <map>

#include "runtime/private_file.h"
#include "runtime/warnings.h"

namespace einkern::runtime {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view entry_suffix = ".kernel";
constexpr std::int64_t day = 24 * 3600, hour = 3600;
constexpr int stores_between_prunes = 64;

struct FileStatus {
  std::string name;
  std::int64_t bytes = 0;
  std::int64_t seconds_unused = 0;
};

/// The folder's files by name; none if it cannot be read.
std::vector<FileStatus> files_of(const std::string& folder) {
  std::vector<FileStatus> files;
  std::error_code failure;
  const std::time_t now = std::time(nullptr);
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    struct stat status{};
    if (::lstat(entry->path().c_str(), &status) != 0 || S_ISDIR(status.st_mode)) continue;
    files.push_back({entry->path().filename().string(), status.st_size,
                     std::max<std::int64_t>(0, now - status.st_mtime)});
  }
  std::sort(files.begin(), files.end(),
            [](const FileStatus& a, const FileStatus& b) { return a.name < b.name; });
  return files;
}

bool is_entry(const FileStatus& file) { return file.name.ends_with(entry_suffix); }

std::string fingerprint_of(const FileStatus& file) {
  return file.name.substr(0, file.name.size() - entry_suffix.size());
}

/// An entry that stands under the name of its own key.
std::optional<core::Key> key_of(const std::string& bytes, const std::string& fingerprint) {
  const auto key_bytes = entry_key(bytes);
  if (!key_bytes || core::fingerprint(*key_bytes) != fingerprint) return std::nullopt;
  return core::Key::from_bytes(*key_bytes);
}

std::vector<NearMiss::Difference> differences_of(const core::Key& wanted, const core::Key& found) {
  std::map<std::string, std::pair<std::string, std::string>> by_field;
  for (const auto& [field, value] : wanted.fields()) by_field[field].first += value;
  for (const auto& [field, value] : found.fields()) by_field[field].second += value;
  std::vector<NearMiss::Difference> differences;
  for (auto& [field, values] : by_field)
    if (values.first != values.second)
      differences.push_back({field, std::move(values.first), std::move(values.second)});
  return differences;
}

}  // namespace

std::optional<std::string> cache_folder(const Environment& environment, bool elevated) {
  if (elevated) return std::nullopt;
  if (std::string folder = environment("EINKERN_CACHE_DIR"); !folder.empty()) return folder;
  const std::string cache_home = environment("XDG_CACHE_HOME"), home = environment("HOME");
  if (cache_home.starts_with('/')) return (fs::path(cache_home) / "einkern").string();
  if (home.starts_with('/')) return (fs::path(home) / ".cache" / "einkern").string();
  return std::nullopt;
}

std::optional<std::string> cache_folder() {
  return cache_folder(process_environment, ::getauxval(AT_SECURE) != 0);
}

KernelCache::KernelCache(std::string folder, CacheLimits limits)
    : folder_(folder.empty() ? folder
                             : (fs::path(folder) / fmt::format("kernels-{}", cache_format_version)).string()),
      limits_(limits) {}

std::string KernelCache::path_of(std::string_view fingerprint) const {
  return fmt::format("{}/{}{}", folder_, fingerprint, entry_suffix);
}

std::optional<CompiledKernel> KernelCache::find(const core::Key& key) {
  if (folder_.empty()) return std::nullopt;
  const std::string bytes = key.bytes(), path = path_of(core::fingerprint(bytes));
  const ReadFile file = read_private_file(path, largest_cache_entry);
  auto kernel = file.failure == ReadFailure::none ? decode_entry(file.bytes, bytes) : std::nullopt;
  if (!kernel) {
    ++misses_;
    if (file.failure == ReadFailure::missing) return std::nullopt;
    ++rejected_;
    ::unlink(path.c_str());
    return std::nullopt;
  }
  ++hits_;
  struct stat status{};
  if (::lstat(path.c_str(), &status) == 0 && std::time(nullptr) - status.st_mtime > day)
    ::utimensat(AT_FDCWD, path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);  // the time of last use, for prune
  return kernel;
}

bool KernelCache::prepare_folder() {
  const auto made = make_private_folder(folder_);
  if (!made.ok())
    warn_once("cache " + folder_, fmt::format("Compiled kernels are not kept. {}", made.error().message));
  return made.ok();
}

void KernelCache::store(const core::Key& key, const CompiledKernel& kernel) {
  if (folder_.empty() || !prepare_folder()) return;
  const std::string bytes = key.bytes();
  const std::string entry = encode_entry(bytes, kernel);
  if (static_cast<std::int64_t>(entry.size()) > largest_cache_entry) return;
  const auto written = publish_file(path_of(core::fingerprint(bytes)), entry);
  if (written.ok())
    ++stored_;
  else
    warn_once("cache " + folder_, fmt::format("Compiled kernels are not kept. {}", written.error().message));
  prune_now_and_then();
}

void KernelCache::prune_now_and_then() {
  if (stores_until_prune_-- > 0) return;
  stores_until_prune_ = stores_between_prunes;
  prune();
}

CacheStatistics KernelCache::statistics() const { return {hits_, misses_, rejected_, stored_}; }

std::vector<CacheEntry> KernelCache::list() const {
  std::vector<CacheEntry> entries;
  for (const FileStatus& file : files_of(folder_)) {
    if (!is_entry(file)) continue;
    const std::string fingerprint = fingerprint_of(file);
    auto key = key_of(read_private_file(path_of(fingerprint), largest_cache_entry).bytes, fingerprint);
    if (key) entries.push_back({fingerprint, std::move(*key), file.bytes, file.seconds_unused});
  }
  return entries;
}

std::vector<NearMiss> KernelCache::nearest(const core::Key& key, std::size_t count) const {
  std::vector<NearMiss> misses;
  for (CacheEntry& entry : list()) {
    auto differences = differences_of(key, entry.key);
    misses.push_back({std::move(entry), std::move(differences)});
  }
  std::stable_sort(misses.begin(), misses.end(), [](const NearMiss& a, const NearMiss& b) {
    return a.differences.size() < b.differences.size();
  });
  if (misses.size() > count) misses.resize(count);
  return misses;
}

KernelCache::Check KernelCache::verify() {
  Check check;
  for (const FileStatus& file : files_of(folder_)) {
    if (!is_entry(file)) continue;
    const std::string fingerprint = fingerprint_of(file), path = path_of(fingerprint);
    const ReadFile content = read_private_file(path, largest_cache_entry);
    const auto key = key_of(content.bytes, fingerprint);
    if (key && decode_entry(content.bytes, key->bytes())) {
      ++check.good;
    } else if (::unlink(path.c_str()) == 0) {
      ++check.removed;
    }
  }
  return check;
}

std::int64_t KernelCache::clear() {
  std::int64_t removed = 0;
  for (const FileStatus& file : files_of(folder_))
    if ((is_entry(file) || is_unpublished(file.name)) &&
        ::unlink(fmt::format("{}/{}", folder_, file.name).c_str()) == 0)
      removed += is_entry(file) ? 1 : 0;
  return removed;
}

std::int64_t KernelCache::prune() {
  std::vector<FileStatus> files = files_of(folder_);
  std::stable_sort(files.begin(), files.end(), [](const FileStatus& a, const FileStatus& b) {
    return a.seconds_unused > b.seconds_unused;
  });
  std::int64_t total = 0, removed = 0;
  for (const FileStatus& file : files) total += is_entry(file) ? file.bytes : 0;
  for (const FileStatus& file : files) {
    const bool abandoned = is_unpublished(file.name) && file.seconds_unused > hour;  // its writer was killed
    const bool unwanted =
        is_entry(file) && (file.seconds_unused > limits_.seconds_unused || total > limits_.bytes);
    if (!abandoned && !unwanted) continue;
    if (::unlink(fmt::format("{}/{}", folder_, file.name).c_str()) != 0 || !is_entry(file)) continue;
    total -= file.bytes;
    ++removed;
  }
  return removed;
}

KernelCache& process_cache() {
  static auto* const cache =
      new KernelCache(cache_folder().value_or(""));  // threads may use it while the process exits
  return *cache;
}

}  // namespace einkern::runtime
