// A GPU of the fake driver for one test, with its state reset.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "runtime/cuda/gpu_device.h"
#include "tests/fakes/fake_driver.h"
#include "tests/fakes/fake_nvrtc.h"

namespace einkern::runtime {

inline LibrarySearch search_of(const char* path) {
  LibrarySearch search;
  search.name = "The fake";
  search.explicit_paths = {path};
  search.remedy = "Build it.";
  return search;
}

/// State of a fake library, through the function that it exports.
template <typename State>
State& state_of(const char* path, const char* function) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  return *reinterpret_cast<State* (*)()>(dlsym(library, function))();
}

inline fakes::FakeDriverState& reset_fake_driver() {
  auto& state = state_of<fakes::FakeDriverState>(EINKERN_FAKE_DRIVER, "fake_driver_state");
  for (const auto& [address, bytes] : state.allocations) std::free(reinterpret_cast<void*>(address));
  state = {};
  return state;
}

inline fakes::FakeNvrtcState& reset_fake_nvrtc() {
  auto& state = state_of<fakes::FakeNvrtcState>(EINKERN_FAKE_NVRTC, "fake_nvrtc_state");
  state = {};
  return state;
}

inline core::Result<std::shared_ptr<const cuda::Nvrtc>> load_fake_nvrtc() {
  return cuda::load_nvrtc(search_of(EINKERN_FAKE_NVRTC));
}

/// GPU 0 of the fake driver. Aborts if it cannot be opened.
inline std::shared_ptr<cuda::GpuDevice> open_fake_gpu() {
  auto driver = cuda::load_driver(search_of(EINKERN_FAKE_DRIVER));
  return cuda::open_devices(driver.value(), load_fake_nvrtc).value().front();
}

/// An artifact that the fake driver loads.
inline core::Artifact fake_artifact(const std::string& entry, int parameters, int registers = 32,
                                    int shared_bytes = 0) {
  core::Artifact artifact;
  artifact.code = "kernel " + entry + " " + std::to_string(parameters) + " " + std::to_string(registers) +
                  " " + std::to_string(shared_bytes) + "\n";
  artifact.entries[entry] = {};
  return artifact;
}

}  // namespace einkern::runtime
