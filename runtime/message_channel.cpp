#include "runtime/message_channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace einkern::runtime {
namespace {

using Clock = std::chrono::steady_clock;

/// Grows a message as its bytes arrive, so that a length alone takes no memory.
constexpr std::size_t piece_bytes = std::size_t{1} << 20;

}  // namespace

MessageChannel::MessageChannel(MessageChannel&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

MessageChannel& MessageChannel::operator=(MessageChannel&& other) noexcept {
  if (this != &other) {
    close();
    descriptor_ = std::exchange(other.descriptor_, -1);
  }
  return *this;
}

MessageChannel::~MessageChannel() { close(); }

void MessageChannel::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

bool MessageChannel::send(std::string_view message) {
  if (descriptor_ < 0 || message.size() > longest) return false;
  std::array<char, 8> length{};
  for (std::size_t i = 0; i < length.size(); ++i) length[i] = static_cast<char>(message.size() >> (8 * i));
  for (std::string_view bytes : {std::string_view(length.data(), length.size()), message}) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  return true;
}

MessageChannel::Filled MessageChannel::fill(char* to, std::size_t bytes,
                                            std::optional<Clock::time_point> deadline) {
  std::size_t filled = 0;
  while (filled < bytes) {
    int wait = -1;
    if (deadline) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count();
      wait = static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30));
    }
    pollfd readable = {descriptor_, POLLIN, 0};
    const int ready = ::poll(&readable, 1, wait);
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return Filled::closed;
    if (ready == 0) return filled == 0 ? Filled::nothing_in_time : Filled::partly;
    const ssize_t count = ::recv(descriptor_, to + filled, bytes - filled, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return Filled::closed;
    filled += static_cast<std::size_t>(count);
  }
  return Filled::all;
}

MessageChannel::Received MessageChannel::receive(std::optional<std::chrono::milliseconds> timeout) {
  if (descriptor_ < 0) return {State::closed, ""};
  std::optional<Clock::time_point> deadline;
  if (timeout) deadline = Clock::now() + *timeout;
  std::array<char, 8> header{};
  const Filled begun = fill(header.data(), header.size(), deadline);
  if (begun == Filled::nothing_in_time) return {State::timeout, ""};
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < header.size(); ++i)
    length |= static_cast<std::uint64_t>(static_cast<unsigned char>(header[i])) << (8 * i);
  if (begun != Filled::all || length > longest) {
    close();
    return {begun == Filled::partly ? State::timeout : State::closed, ""};
  }
  Received received{State::message, ""};
  while (received.message.size() < length) {
    const std::size_t have = received.message.size(),
                      piece = std::min<std::size_t>(piece_bytes, length - have);
    received.message.resize(have + piece);
    const Filled filled = fill(received.message.data() + have, piece, deadline);
    if (filled == Filled::all) continue;
    close();
    return {filled == Filled::closed ? State::closed : State::timeout, ""};
  }
  return received;
}

}  // namespace einkern::runtime
