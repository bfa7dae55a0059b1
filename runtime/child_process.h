// A program run as a child that talks over a socket, may crash or hang without harm to its parent, and never
// outlives it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "runtime/library_search.h"
#include "runtime/message_channel.h"

namespace einkern::runtime {

/// How a child ended.
struct ExitStatus {
  bool exited = false;  // by itself, with `code`; else by the signal `code`
  int code = 0;
  /// "exit status 3", "signal 11 (Segmentation fault)".
  std::string text() const;
};

class ChildProcess {
 public:
  /// Starts a program with posix_spawn: no input, its standard output goes to standard error, and its end of
  /// the channel is the descriptor that `parent_channel` takes. It is in a process group of its own, so that
  /// a Ctrl-C reaches the parent alone. An error of kind io if it cannot be started.
  static core::Result<ChildProcess> start(const std::string& program,
                                          const std::vector<std::string>& arguments);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  /// Kills it if it still runs.
  ~ChildProcess();

  MessageChannel& channel() { return channel_; }
  pid_t id() const { return process_; }
  /// Nothing while it runs.
  std::optional<ExitStatus> poll();
  /// Waits so long for its end; nothing if it still runs then.
  std::optional<ExitStatus> wait(std::chrono::milliseconds timeout);
  /// Ends it now (SIGKILL) and waits for its end, at most 10 seconds.
  ExitStatus kill();

 private:
  ChildProcess(pid_t process, MessageChannel channel) : process_(process), channel_(std::move(channel)) {}
  pid_t process_ = -1;  // -1 once its end has been seen
  std::optional<ExitStatus> status_;
  MessageChannel channel_;
};

/// In a child: the channel to the parent. From this call on, a thread ends this process at once when the
/// parent's end of the channel is gone, even if the main thread hangs. Call it once.
MessageChannel parent_channel();

/// The program `name` of this installation: the file that `variable` of the environment names, else beside
/// the library or program that holds this code, in ../bin and in ../libexec/einkern. The error, of kind io,
/// lists what was tried.
core::Result<std::string> find_program(const std::string& name, std::string_view variable,
                                       const Environment& environment = process_environment);

}  // namespace einkern::runtime
