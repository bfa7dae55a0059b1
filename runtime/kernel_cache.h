// Compiled kernels on disk, by everything that can change them. Nothing here fails a program: what cannot be
// read is a miss, what cannot be written stays unwritten, and one warning says so.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/hash.h"
#include "core/result.h"
#include "runtime/cache_entry.h"
#include "runtime/library_search.h"

namespace einkern::runtime {

/// The folder that the environment asks for: EINKERN_CACHE_DIR, else einkern in XDG_CACHE_HOME (if that is an
/// absolute path, as its specification wants), else .cache/einkern in HOME. Nothing if no home is known, or
/// if the program runs with more rights than its user has (`elevated`, setuid): then the environment is not
/// to be believed.
std::optional<std::string> cache_folder(const Environment& environment, bool elevated);
/// The same for this process.
std::optional<std::string> cache_folder();

struct CacheLimits {
  std::int64_t bytes = std::int64_t{1} << 30;
  std::int64_t seconds_unused = 60 * 24 * 3600;  // 60 days
};

struct CacheStatistics {
  std::int64_t hits = 0, misses = 0, rejected = 0,
               stored = 0;  // of this object; rejected ones are misses too
};

struct CacheEntry {
  std::string fingerprint;
  core::Key key;
  std::int64_t bytes = 0;
  std::int64_t seconds_unused = 0;
};

/// An entry, and the fields in which its key differs from a key that was asked for.
struct NearMiss {
  CacheEntry entry;
  struct Difference {
    std::string field, wanted, found;  // "" on the side that lacks the field
  };
  std::vector<Difference> differences;
};

/// All members may be called from many threads and many processes at once.
class KernelCache {
 public:
  /// Keeps its files in `folder`, made when first written to. An empty folder name makes a cache that holds
  /// nothing.
  explicit KernelCache(std::string folder, CacheLimits limits = {});
  const std::string& folder() const { return folder_; }

  /// A file that deviates in any way is a miss, and removed.
  std::optional<CompiledKernel> find(const core::Key& key);
  void store(const core::Key& key, const CompiledKernel& kernel);
  CacheStatistics statistics() const;

  /// All readable entries, by fingerprint.
  std::vector<CacheEntry> list() const;
  /// The entries whose keys differ from `key` in the fewest fields, fewest first; an entry of the key itself
  /// differs in none.
  std::vector<NearMiss> nearest(const core::Key& key, std::size_t count) const;

  struct Check {
    std::int64_t good = 0, removed = 0;
  };
  /// Reads every file and removes those that deviate.
  Check verify();
  /// Removes every entry; returns how many there were.
  std::int64_t clear();
  /// Removes what has not been used for long, then what has been unused longest until the rest fits; returns
  /// how many. `store` calls it now and then.
  std::int64_t prune();

  /// Writes all good entries to one file, to be carried to another machine; returns how many. An error of
  /// kind io.
  core::Result<std::int64_t> export_to(const std::string& path) const;
  /// Takes in the entries of such a file. Who imports a file trusts it as he would trust a program.
  core::Result<std::int64_t> import_from(const std::string& path);

 private:
  std::string path_of(std::string_view fingerprint) const;
  bool prepare_folder();
  void prune_now_and_then();

  std::string folder_;  // of the entries; "" if there is no cache
  CacheLimits limits_;
  std::atomic<std::int64_t> hits_{0}, misses_{0}, rejected_{0}, stored_{0};
  std::atomic<int> stores_until_prune_{0};
};

/// The process's cache in `cache_folder()`.
KernelCache& process_cache();

}  // namespace einkern::runtime
