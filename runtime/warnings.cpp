#include "runtime/warnings.h"

#include <fmt/format.h>

#include <cstdio>
#include <mutex>
#include <set>

namespace einkern::runtime {
namespace {

struct State {
  std::mutex mutex;
  std::set<std::string, std::less<>> told;
  WarningHandler handler = [](std::string_view message) {
    fmt::print(stderr, "einkern: warning: {}\n", message);
  };
};

State& state() {
  static State* instance = new State;  // never destroyed: threads may warn while the process exits
  return *instance;
}

}  // namespace

void set_warning_handler(WarningHandler handler) {
  const std::lock_guard lock(state().mutex);
  state().handler = std::move(handler);
}

void warn_once(std::string_view topic, std::string_view message) {
  const std::lock_guard lock(state().mutex);
  if (!state().told.emplace(topic).second) return;
  if (state().handler) state().handler(message);
}

}  // namespace einkern::runtime
