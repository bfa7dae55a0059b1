// Messages between a process and its child over a socket: u64 length, then the bytes.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"

namespace einkern::runtime {

/// Owns one end of a stream socket. One thread may send while another receives.
class MessageChannel {
 public:
  /// Takes over an open socket.
  explicit MessageChannel(int descriptor) : descriptor_(descriptor) {}
  MessageChannel(MessageChannel&& other) noexcept;
  MessageChannel& operator=(MessageChannel&& other) noexcept;
  MessageChannel(const MessageChannel&) = delete;
  MessageChannel& operator=(const MessageChannel&) = delete;
  ~MessageChannel();

  /// Longest message that is sent or taken, in bytes.
  static constexpr std::uint64_t longest = std::uint64_t{1} << 30;

  enum class State { message, timeout, closed };
  struct Received {
    State state = State::closed;
    std::string message;
  };
  /// False if the other end is gone.
  bool send(std::string_view message);
  /// Waits for a whole message; without a timeout as long as the other end lives. After a timeout in the
  /// middle of a message, and after a malformed one, the channel is closed.
  Received receive(std::optional<std::chrono::milliseconds> timeout = std::nullopt);
  int descriptor() const { return descriptor_; }
  void close();

 private:
  enum class Filled { all, nothing_in_time, partly, closed };
  Filled fill(char* to, std::size_t bytes, std::optional<std::chrono::steady_clock::time_point> deadline);
  int descriptor_ = -1;
};

}  // namespace einkern::runtime
