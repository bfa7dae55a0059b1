// The child of the process tests: does what each message says, and sends messages back.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>

#include "runtime/child_process.h"

int main(int argc, char** argv) {
  einkern::runtime::MessageChannel channel = einkern::runtime::parent_channel();
  if (argc > 1) channel.send(argv[1]);
  for (;;) {
    const auto received = channel.receive();
    if (received.state != einkern::runtime::MessageChannel::State::message) return 2;
    if (received.message == "crash") {
      std::signal(SIGSEGV, SIG_DFL);  // a sanitizer's handler would make an exit of it
      std::raise(SIGSEGV);
    }
    if (received.message == "leave") return 3;
    while (received.message == "hang") std::this_thread::sleep_for(std::chrono::hours(1));
    channel.send("echo " + received.message);
  }
}
