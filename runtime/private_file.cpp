#include "runtime/private_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>

namespace einkern::runtime {
namespace {

constexpr std::string_view unpublished_suffix = ".unpublished";

core::Error io_error(std::string_view doing, const std::string& path, int code) {
  return {core::ErrorKind::io, fmt::format("{} '{}' failed: {}.", doing, path, std::strerror(code))};
}

/// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  ~Descriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

/// While it lives, a write past RLIMIT_FSIZE fails with EFBIG in this thread instead of ending the process.
class FileSizeSignalBlock {
 public:
  FileSizeSignalBlock() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  ~FileSizeSignalBlock() {
    if (sigismember(&before_, SIGXFSZ) == 1) return;
    const timespec no_time = {0, 0};
    while (sigtimedwait(&signals_, nullptr, &no_time) > 0) {  // takes the signal that a failed write has left
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  FileSizeSignalBlock(const FileSizeSignalBlock&) = delete;
  FileSizeSignalBlock& operator=(const FileSizeSignalBlock&) = delete;

 private:
  sigset_t signals_{}, before_{};
};

/// 0, or the errno of the write that failed.
int write_all(int descriptor, std::string_view bytes) {
  const FileSizeSignalBlock block;
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : ENOSPC;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

bool is_private(const struct stat& status) {
  return status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::string unpublished_name(const std::string& path) {
  static std::atomic<unsigned> counter = 0;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return fmt::format("{}.{}.{}.{}{}", path, ::getpid(), now.tv_nsec, counter++, unpublished_suffix);
}

}  // namespace

core::Result<void> make_private_folder(const std::string& folder) {
  std::string parent;
  for (const auto& part : std::filesystem::path(folder)) {
    parent = (std::filesystem::path(parent) / part).string();
    if (::mkdir(parent.c_str(), 0700) != 0 && errno != EEXIST && errno != EISDIR) {
      const int code = errno;
      struct stat status{};  // a folder above that cannot be written may exist all the same
      if (::stat(parent.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
        return io_error("Making the folder", parent, code);
    }
  }
  struct stat status{};
  if (::stat(folder.c_str(), &status) != 0) return io_error("Looking at the folder", folder, errno);
  if (!S_ISDIR(status.st_mode)) return io_error("Using the folder", folder, ENOTDIR);
  if (is_private(status)) return {};
  return core::Error{
      core::ErrorKind::io,
      fmt::format("The folder '{}' belongs to another user or can be written by others; make it "
                  "yours alone (`chmod go-w`), or set EINKERN_CACHE_DIR to another.",
                  folder)};
}

ReadFile read_private_file(const std::string& path, std::int64_t limit) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0)
    return {"", errno == ENOENT || errno == ENOTDIR ? ReadFailure::missing : ReadFailure::unacceptable};
  struct stat status{};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) || !is_private(status) ||
      status.st_size > limit)
    return {"", ReadFailure::unacceptable};
  ReadFile result;
  result.bytes.resize(static_cast<std::size_t>(status.st_size));
  std::size_t filled = 0;
  while (filled < result.bytes.size()) {
    const ssize_t count = ::read(file.get(), result.bytes.data() + filled, result.bytes.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return {"", ReadFailure::unacceptable};
    filled += static_cast<std::size_t>(count);
  }
  return result;
}

core::Result<void> publish_file(const std::string& path, std::string_view bytes) {
  const std::string temporary = unpublished_name(path);
  int failure = 0;
  {
    const Descriptor file(
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (file.get() < 0) return io_error("Making the file", temporary, errno);
    failure = write_all(file.get(), bytes);
  }
  if (failure == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) failure = errno;
  if (failure == 0) return {};
  ::unlink(temporary.c_str());
  return io_error("Writing the file", path, failure);
}

bool is_unpublished(std::string_view file_name) { return file_name.ends_with(unpublished_suffix); }

}  // namespace einkern::runtime
