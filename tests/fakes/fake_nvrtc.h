// A compiler that compiles nothing: its code is a line for each option, then the source. Tests load it in
// NVRTC's stead.
#pragma once

#include <string>
#include <vector>

namespace einkern::fakes {

struct FakeNvrtcState {
  int major = 12, minor = 4;
  std::vector<int> architectures = {60, 70, 80, 90};
  int compile_status = 0;  // an nvrtcResult
  std::string log;
};

}  // namespace einkern::fakes

extern "C" einkern::fakes::FakeNvrtcState* fake_nvrtc_state();
