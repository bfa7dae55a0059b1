// A GPU without hardware behind the face: the fake driver records its launches, the fake NVRTC compiles text.
#pragma once

#include "engine/face_access.h"
#include "tests/fakes/fake_gpu.h"

namespace einkern::testing {

/// A fresh fake GPU with the fakes' state reset. Its NVRTC has a version that there is not, so that nothing
/// which it made is ever found in a cache by a real one.
class FakeDevice {
 public:
  FakeDevice() : driver_(runtime::reset_fake_driver()), nvrtc_(runtime::reset_fake_nvrtc()) {
    nvrtc_.minor = 99;
    device_ = detail::Access::wrap(runtime::open_fake_gpu());
  }
  const Device& device() const { return device_; }
  fakes::FakeDriverState& driver() { return driver_; }
  fakes::FakeNvrtcState& nvrtc() { return nvrtc_; }

 private:
  fakes::FakeDriverState& driver_;
  fakes::FakeNvrtcState& nvrtc_;
  Device device_;
};

}  // namespace einkern::testing
