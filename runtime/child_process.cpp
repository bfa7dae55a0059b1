#include "runtime/child_process.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

extern char** environ;

namespace einkern::runtime {
namespace {

namespace fs = std::filesystem;

constexpr int channel_descriptor = 3;  // in the child, the first after the standard ones

/// The settings of a spawn: descriptors, signals as a fresh program expects them, a group of its own.
class SpawnSettings {
 public:
  explicit SpawnSettings(int child_end) {
    posix_spawn_file_actions_init(&files_);
    posix_spawn_file_actions_adddup2(&files_, child_end,
                                     channel_descriptor);  // clears close-on-exec, also if equal
    posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files_, STDERR_FILENO, STDOUT_FILENO);
    posix_spawnattr_init(&attributes_);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  const posix_spawn_file_actions_t* files() const { return &files_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t files_{};
  posix_spawnattr_t attributes_{};
};

ExitStatus status_of(int wait_status) {
  if (WIFEXITED(wait_status)) return {true, WEXITSTATUS(wait_status)};
  return {false, WTERMSIG(wait_status)};
}

/// The folder of the file that holds this code.
fs::path own_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code failure;
  const fs::path file = fs::canonical(info.dli_fname, failure);
  if (!failure) return file.parent_path();
  return fs::read_symlink("/proc/self/exe", failure)
      .parent_path();  // a program started by a relative name, then chdir
}

}  // namespace

std::string ExitStatus::text() const {
  if (exited) return fmt::format("exit status {}", code);
  const char* name = ::strsignal(code);
  return fmt::format("signal {} ({})", code, name != nullptr ? name : "unknown");
}

core::Result<ChildProcess> ChildProcess::start(const std::string& program,
                                               const std::vector<std::string>& arguments) {
  const auto failure = [&](int code) {
    return core::Error{core::ErrorKind::io,
                       fmt::format("The program '{}' cannot be started: {}.", program, std::strerror(code))};
  };
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return failure(errno);
  MessageChannel parent_end(ends[0]), child_end(ends[1]);
  std::vector<char*> words = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  const SpawnSettings settings(child_end.descriptor());
  pid_t process = -1;
  const int code = ::posix_spawn(&process, program.c_str(), settings.files(), settings.attributes(),
                                 words.data(), environ);
  if (code != 0) return failure(code);
  return ChildProcess(process, std::move(parent_end));
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : process_(std::exchange(other.process_, -1)),
      status_(other.status_),
      channel_(std::move(other.channel_)) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  if (this == &other) return *this;
  if (process_ >= 0) kill();
  process_ = std::exchange(other.process_, -1);
  status_ = other.status_;
  channel_ = std::move(other.channel_);
  return *this;
}

ChildProcess::~ChildProcess() {
  if (process_ >= 0) kill();
}

std::optional<ExitStatus> ChildProcess::poll() {
  if (process_ < 0) return status_;
  int wait_status = 0;
  const pid_t ended = ::waitpid(process_, &wait_status, WNOHANG);
  if (ended == 0 || (ended < 0 && errno == EINTR)) return std::nullopt;
  // Where the application ignores SIGCHLD, the status is lost, but not that it ended.
  status_ = ended < 0 ? ExitStatus{true, 0} : status_of(wait_status);
  process_ = -1;
  return status_;
}

std::optional<ExitStatus> ChildProcess::wait(std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  for (auto pause = std::chrono::microseconds(50);;
       pause = std::min(2 * pause, std::chrono::microseconds(5000))) {
    if (auto status = poll()) return status;
    if (std::chrono::steady_clock::now() >= deadline) return std::nullopt;
    std::this_thread::sleep_for(pause);
  }
}

ExitStatus ChildProcess::kill() {
  if (process_ >= 0) ::kill(process_, SIGKILL);
  if (auto status = wait(std::chrono::seconds(10))) return *status;
  process_ = -1;  // it hangs in the kernel, where no signal reaches it
  return {false, SIGKILL};
}

MessageChannel parent_channel() {
  ::fcntl(channel_descriptor, F_SETFD, FD_CLOEXEC);
  // A descriptor of its own: the channel may be closed before the thread first looks, and that is no parent
  // gone.
  const int watched = ::fcntl(channel_descriptor, F_DUPFD_CLOEXEC, 0);
  std::thread([watched] {
    pollfd parent = {watched, POLLRDHUP, 0};
    while (::poll(&parent, 1, -1) < 0 && errno == EINTR) {
    }
    ::_exit(1);
  }).detach();
  return MessageChannel(channel_descriptor);
}

core::Result<std::string> find_program(const std::string& name, std::string_view variable,
                                       const Environment& environment) {
  const fs::path here = own_folder();
  // The last is where libraries stand in a folder of their architecture, as in /usr/lib/x86_64-linux-gnu.
  std::vector<fs::path> candidates = {here / name, here / "../bin" / name, here / "../libexec/einkern" / name,
                                      here / "../../bin" / name};
  if (std::string named = environment(variable); !named.empty()) candidates = {std::move(named)};
  std::string tried;
  for (const fs::path& candidate : candidates) {
    if (::access(candidate.c_str(), X_OK) == 0) return candidate.lexically_normal().string();
    tried += fmt::format("\n  {}", candidate.lexically_normal().string());
  }
  return core::Error{
      core::ErrorKind::io,
      fmt::format("The program {} was not found. Tried:{}\nSet {} to its path.", name, tried, variable)};
}

}  // namespace einkern::runtime
