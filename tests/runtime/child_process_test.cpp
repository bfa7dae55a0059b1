#include "runtime/child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace einkern::runtime {
namespace {

using namespace std::chrono_literals;
using State = MessageChannel::State;
using testing::HasSubstr;

ChildProcess start_echo(const std::vector<std::string>& arguments = {}) {
  auto child = ChildProcess::start(EINKERN_ECHO_CHILD, arguments);
  EXPECT_TRUE(child.ok());
  return std::move(*child);
}

TEST(ChildProcess, ExchangesMessagesOfAnyLength) {
  ChildProcess child = start_echo({"an argument"});
  EXPECT_EQ(child.channel().receive(10s).message, "an argument");
  for (std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{65536}, std::size_t{3'000'000}}) {
    const std::string message(length, 'm');
    ASSERT_TRUE(child.channel().send(message));
    ASSERT_EQ(child.channel().receive(10s).message, "echo " + message);
  }
}

TEST(ChildProcess, TellsHowAChildEnded) {
  ChildProcess crashed = start_echo();
  crashed.channel().send("crash");
  EXPECT_EQ(crashed.channel().receive(10s).state, State::closed);
  const auto status = crashed.wait(10s);
  ASSERT_TRUE(status.has_value());
  EXPECT_FALSE(status->exited);
  EXPECT_EQ(status->code, SIGSEGV);
  EXPECT_EQ(status->text(), "signal 11 (Segmentation fault)");
  ChildProcess left = start_echo();
  left.channel().send("leave");
  EXPECT_EQ(left.wait(10s)->text(), "exit status 3");
  EXPECT_FALSE(left.channel().send("anybody?") && left.channel().send("there?"));
}

TEST(ChildProcess, IsKilledWhenItHangs) {
  ChildProcess child = start_echo();
  child.channel().send("hang");
  EXPECT_EQ(child.channel().receive(50ms).state, State::timeout);
  EXPECT_FALSE(child.poll().has_value());
  EXPECT_FALSE(child.wait(10ms).has_value());
  const ExitStatus status = child.kill();
  EXPECT_EQ(status.code, SIGKILL);
  EXPECT_EQ(child.kill().code, SIGKILL) << "killing twice is harmless";
}

TEST(ChildProcess, DiesWithItsParentEvenIfItHangs) {
  int ids[2];
  ASSERT_EQ(pipe(ids), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    ChildProcess child = start_echo();
    child.channel().send("hang");
    const pid_t id = child.id();
    if (write(ids[1], &id, sizeof id) != sizeof id) _exit(1);
    std::this_thread::sleep_for(100ms);
    ::kill(getpid(), SIGKILL);
  }
  pid_t grandchild = 0;
  ASSERT_EQ(read(ids[0], &grandchild, sizeof grandchild), static_cast<ssize_t>(sizeof grandchild));
  waitpid(parent, nullptr, 0);
  // The orphan becomes a zombie or is reaped by whoever adopts it; either way its thread is gone, and so is
  // its program.
  bool gone = false;
  for (int i = 0; i < 500 && !gone; ++i) {
    std::this_thread::sleep_for(10ms);
    char target[16];
    gone = readlink(("/proc/" + std::to_string(grandchild) + "/exe").c_str(), target, sizeof target) < 0;
  }
  EXPECT_TRUE(gone);
  close(ids[0]);
  close(ids[1]);
}

TEST(ChildProcess, LeavesNothingBehindWhenItsOwnerGoes) {
  pid_t id = 0;
  {
    ChildProcess child = start_echo();
    id = child.id();
    ChildProcess moved = std::move(child);
    EXPECT_EQ(moved.id(), id);
    EXPECT_EQ(::kill(id, 0), 0);
  }
  EXPECT_NE(::kill(id, 0), 0);
}

TEST(ChildProcess, SaysThatAProgramCannotBeStarted) {
  const auto child = ChildProcess::start("/absent/program", {});
  ASSERT_FALSE(child.ok());
  EXPECT_EQ(child.error().kind, core::ErrorKind::io);
  EXPECT_THAT(child.error().message, HasSubstr("'/absent/program' cannot be started: No such file"));
}

TEST(ChildProcess, FindsAProgramOfTheInstallation) {
  const auto named =
      find_program("einkern-worker", "EINKERN_WORKER", [](std::string_view) { return EINKERN_ECHO_CHILD; });
  EXPECT_EQ(named.value(), EINKERN_ECHO_CHILD);
  const auto beside =
      find_program("einkern_runtime_test", "EINKERN_WORKER", [](std::string_view) { return ""; });
  ASSERT_TRUE(beside.ok()) << beside.error().message;
  const auto absent = find_program("einkern-absent", "EINKERN_WORKER", [](std::string_view) { return ""; });
  ASSERT_FALSE(absent.ok());
  EXPECT_THAT(absent.error().message, HasSubstr("bin/einkern-absent"));
  EXPECT_THAT(absent.error().message, HasSubstr("Set EINKERN_WORKER"));
}

class Channel : public testing::Test {
 protected:
  Channel() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    raw_ = ends[0];
    channel_ = MessageChannel(ends[1]);
  }
  ~Channel() override { close(raw_); }
  void send_raw(const std::string& bytes) {
    ASSERT_EQ(::send(raw_, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }

  int raw_ = -1;
  MessageChannel channel_{-1};
};

TEST_F(Channel, RefusesAnAbsurdLength) {
  send_raw(std::string(8, '\xff'));
  EXPECT_EQ(channel_.receive(1s).state, State::closed);
  EXPECT_EQ(channel_.receive(1s).state, State::closed) << "closed for good";
}

TEST_F(Channel, TimesOutInTheMiddleOfAMessage) {
  send_raw(std::string("\x05\0\0\0\0\0\0\0ab", 10));
  EXPECT_EQ(channel_.receive(20ms).state, State::timeout);
  EXPECT_EQ(channel_.receive(20ms).state, State::closed) << "its place in the stream is lost";
}

TEST_F(Channel, WaitsForMoreAfterATimeoutBetweenMessages) {
  EXPECT_EQ(channel_.receive(1ms).state, State::timeout);
  send_raw(std::string("\x02\0\0\0\0\0\0\0ab", 10));
  const auto received = channel_.receive(1s);
  EXPECT_EQ(received.state, State::message);
  EXPECT_EQ(received.message, "ab");
}

TEST_F(Channel, NoticesThatTheOtherEndHasGone) {
  shutdown(raw_, SHUT_RDWR);
  EXPECT_EQ(channel_.receive().state, State::closed);
  EXPECT_FALSE(channel_.send("x"));
}

}  // namespace
}  // namespace einkern::runtime
