// Files of a folder that belongs to this user alone: read with suspicion, published by renaming.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"

namespace einkern::runtime {

/// Makes the folder, and those above it, with mode 0700 where they are missing. An error, of kind io, if that
/// fails, or if the folder is not this user's or others may write to it.
core::Result<void> make_private_folder(const std::string& folder);

enum class ReadFailure { none, missing, unacceptable };
struct ReadFile {
  std::string bytes;
  ReadFailure failure = ReadFailure::none;
};
/// Reads a regular file of this user, that no other user may write, of at most `limit` bytes. No link is
/// followed.
ReadFile read_private_file(const std::string& path, std::int64_t limit);

/// Writes a new file of mode 0600 beside `path` and renames it to `path`; readers see the old file or the
/// whole new one. On an error, of kind io, nothing stays behind. A limit on file sizes gives an error, not a
/// signal.
core::Result<void> publish_file(const std::string& path, std::string_view bytes);

/// True of names that publish_file gives to files that it has not renamed yet.
bool is_unpublished(std::string_view file_name);

}  // namespace einkern::runtime
