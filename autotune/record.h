// Tuning records: what was measured for one kernel on one device, as text that can be read, diffed, shipped
// and merged.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/schedule.h"
#include "core/hash.h"
#include "core/result.h"

namespace einkern::autotune {

/// What became of one candidate.
struct CandidateFate {
  std::string schedule;
  std::string configuration;
  /// "measured", or why it fell out: "compile: …", "launch: …", "fault: …", "hang: …", "wrong: …".
  std::string outcome;
  double seconds = 0;  // best median, if it was measured
  int runs = 0;
};

/// What a record is for: everything that can change which kernel is best.
struct RecordKey {
  std::string kernel;          // fingerprint of the function's canonical text, the plan and the kernel
  std::string specialisation;  // Specialisation::text
  std::map<std::string, std::int64_t> sizes;  // dims by name
  std::string device;                         // name of the device
  std::string architecture;
  core::Key fields() const;
  std::string fingerprint() const { return fields().fingerprint(); }
};

struct TuningRecord {
  RecordKey key;
  std::string function;  // name and kernel, for people
  std::string schedule;
  int schedule_version = 0;
  std::string configuration;
  double seconds = 0;        // median
  double spread = 0;         // (upper quartile - lower quartile) / median
  double error = 0;          // largest measured error against the reference
  double limit_seconds = 0;  // the hardware's limit for this kernel
  std::string version;       // of einkern
  std::vector<CandidateFate> candidates;

  std::string to_json() const;
  static core::Result<TuningRecord> from_json(std::string_view text);
};

RecordKey record_key(const codegen::KernelContext& context);

/// Records in a folder, one file each, written atomically. Unreadable files are skipped with a warning, once.
class RecordStore {
 public:
  /// An empty folder name makes a store that holds nothing on disk.
  explicit RecordStore(std::string folder);
  const std::string& folder() const { return folder_; }

  std::optional<TuningRecord> find(const RecordKey& key) const;
  /// The record of the same kernel, specialisation and device whose sizes are nearest (least sum of |log(a /
  /// b)|).
  std::optional<TuningRecord> nearest(const RecordKey& key) const;
  core::Result<void> store(const TuningRecord& record) const;
  std::vector<TuningRecord> list() const;
  /// Removes all records; returns how many there were.
  std::int64_t clear() const;
  /// All records as one JSON array, and back; of two records for one key the faster is kept. Returns how many
  /// were taken in.
  core::Result<std::int64_t> export_to(const std::string& path) const;
  core::Result<std::int64_t> import_from(const std::string& path) const;

 private:
  std::string folder_;
};

/// The process's store: the folder `tuning` in EINKERN_RECORDS, else in the cache folder.
RecordStore& process_records();

}  // namespace einkern::autotune
