// One compiled kernel as the bytes of one file.
//
//   entry    := header section(key) section(metadata) section(code) checksum
//   header   := "EINKERN\n" u32(format version) u32(0) u64(bytes of the whole entry)
//   section  := u64(bytes) bytes
//   metadata := JSON: launch plan, code format, entries with their resources, log, compile time
//   checksum := u64(XXH3-64 of everything before it)
//
// Numbers are little-endian. The key stands in the entry whole, so a fingerprint that two keys shared would
// be noticed, and `cache why` can tell keys apart by their fields.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/artifact.h"
#include "core/launch_plan.h"

namespace einkern::runtime {

/// What a key stands for.
struct CompiledKernel {
  core::LaunchPlan launch;
  core::Artifact artifact;
};

/// Grows with every change of the layout or of the metadata's meaning.
inline constexpr std::uint32_t cache_format_version = 1;
/// Larger files are not read.
inline constexpr std::int64_t largest_cache_entry = std::int64_t{256} << 20;

std::string encode_entry(std::string_view key, const CompiledKernel& kernel);

/// The key bytes of an entry whose size and checksum are right; nothing otherwise.
std::optional<std::string> entry_key(std::string_view entry);

/// The kernel, if the entry is whole and its key is `key`; nothing otherwise.
std::optional<CompiledKernel> decode_entry(std::string_view entry, std::string_view key);

}  // namespace einkern::runtime
