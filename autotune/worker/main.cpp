// einkern-worker: measures kernels for the tuner in a process of its own, since a kernel may crash it or hang
// it. Started by the tuner alone; it talks over the descriptor that its parent left it.
#include <cstdio>

#include "autotune/messages.h"
#include "autotune/worker/devices.h"
#include "autotune/worker/session.h"
#include "runtime/child_process.h"

int main(int argument_count, char**) {
  using namespace einkern;
  if (argument_count > 1) {
    std::fputs("einkern-worker is started by einkern's tuner and takes no arguments.\n", stderr);
    return 2;
  }
  runtime::MessageChannel channel = runtime::parent_channel();
  autotune::worker::Session session(autotune::worker::open_device);
  for (;;) {
    const auto received = channel.receive();
    if (received.state != runtime::MessageChannel::State::message) return 0;
    const auto request = autotune::decode_request(received.message);
    const autotune::Reply reply =
        request ? session.answer(*request) : autotune::Reply{.failure = request.error().message};
    if (!channel.send(autotune::encode(reply))) return 0;
  }
}
