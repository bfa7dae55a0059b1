// The cache as one file, to be carried to another machine: "EINKERN-CACHE\n", then u64(bytes) and bytes of
// each entry.
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "runtime/kernel_cache.h"
#include "runtime/private_file.h"

namespace einkern::runtime {
namespace {

constexpr std::string_view archive_magic = "EINKERN-CACHE\n";

core::Error archive_error(const std::string& path, std::string_view what) {
  return {core::ErrorKind::io, fmt::format("The cache archive '{}' {}.", path, what)};
}

bool read_size(std::istream& stream, std::uint64_t& size) {
  unsigned char bytes[8];
  if (!stream.read(reinterpret_cast<char*>(bytes), sizeof bytes)) return false;
  size = 0;
  for (int i = 7; i >= 0; --i) size = size << 8 | bytes[i];
  return true;
}

void write_size(std::ostream& stream, std::uint64_t size) {
  for (int shift = 0; shift < 64; shift += 8) stream.put(static_cast<char>(size >> shift));
}

}  // namespace

core::Result<std::int64_t> KernelCache::export_to(const std::string& path) const {
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  if (!stream) return archive_error(path, "cannot be written; check the folder and its rights");
  stream << archive_magic;
  std::int64_t count = 0;
  for (const CacheEntry& entry : list()) {
    const ReadFile file = read_private_file(path_of(entry.fingerprint), largest_cache_entry);
    if (!decode_entry(file.bytes, entry.key.bytes())) continue;
    write_size(stream, file.bytes.size());
    stream << file.bytes;
    ++count;
  }
  stream.close();
  if (!stream) return archive_error(path, "could not be written whole; is the disk full?");
  return count;
}

core::Result<std::int64_t> KernelCache::import_from(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return archive_error(path, "cannot be read");
  std::string magic(archive_magic.size(), '\0');
  if (!stream.read(magic.data(), static_cast<std::streamsize>(magic.size())) || magic != archive_magic)
    return archive_error(path, "is not an archive that `einkern cache export` wrote");
  if (folder_.empty())
    return core::Error{core::ErrorKind::io,
                       "There is no cache to import into: set EINKERN_CACHE_DIR or HOME."};
  EINKERN_CHECK_OK(make_private_folder(folder_));
  std::int64_t count = 0;
  std::uint64_t size = 0;
  while (read_size(stream, size)) {
    std::string entry;
    if (size > static_cast<std::uint64_t>(largest_cache_entry)) return archive_error(path, "is damaged");
    entry.resize(size);
    if (!stream.read(entry.data(), static_cast<std::streamsize>(size)))
      return archive_error(path, "ends in the middle of an entry");
    const auto key = entry_key(entry);
    if (!key || !decode_entry(entry, *key)) return archive_error(path, "has a damaged entry");
    EINKERN_CHECK_OK(publish_file(path_of(core::fingerprint(*key)), entry));
    ++count;
  }
  return count;
}

}  // namespace einkern::runtime
