// The face that every device shows to the floors above: memory, streams, events, code and launches. The GPU's
// is in runtime/cuda, the CPU's in runtime/cpu; whoever holds a Device need not know which it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/artifact.h"
#include "core/device_facts.h"
#include "core/emission.h"
#include "core/launch_plan.h"
#include "core/result.h"
#include "core/size_expression.h"

namespace einkern::runtime {

/// A place in a device's memory. On the CPU it is the value of the pointer.
using Address = std::uint64_t;

/// A queue of work: on a GPU a CUstream, einkern's or anybody else's, null for the legacy default stream. On
/// the CPU work is done when a call returns, and the stream is not looked at.
struct Stream {
  void* handle = nullptr;
};

/// A point in a stream's work, to wait for and to measure with.
class Event {
 public:
  virtual ~Event() = default;
  /// Marks the end of what has been given to the stream so far. An event may be recorded again.
  virtual core::Result<void> record(Stream stream) = 0;
  virtual core::Result<void> synchronize() = 0;
  /// Seconds from `earlier` to this event, both recorded and reached. A GPU resolves about half a
  /// microsecond.
  virtual core::Result<double> seconds_since(const Event& earlier) const = 0;
};

/// Code loaded on a device. Immutable; unloaded when the last owner lets go, and every prepared launch is an
/// owner.
class Module {
 public:
  virtual ~Module() = default;
  /// What the loaded entries use, by name, as the device reports it (a compiler's log may be empty).
  virtual const std::map<std::string, core::EntryResources>& entries() const = 0;
};

/// Memory for a launch's scratch and counter buffers.
struct Workspace {
  /// At least `workspace_bytes()` bytes, aligned to 256. Null: taken from the device in stream order for one
  /// launch.
  Address address = 0;
  /// Says that `prepare_workspace` has run on it and that only launches of this same PreparedLaunch, one
  /// after the other, have used it since. Else each launch zeroes what must be zero.
  bool prepared = false;
};

struct LaunchArguments {
  /// One for each of the plan's buffers; those of scratch and counter buffers are not looked at.
  std::span<const Address> buffers;
  /// One for each of the plan's scalars: the bits of the value in the low bytes.
  std::span<const std::uint64_t> scalars;
  Workspace workspace;
};

/// A launch plan with all sizes known and all entries found. Immutable: `launch` may be called from many
/// threads at once, allocates nothing on the host and looks nothing up.
class PreparedLaunch {
 public:
  virtual ~PreparedLaunch() = default;
  /// Bytes of scratch and counter buffers together, 0 if there are none.
  virtual std::int64_t workspace_bytes() const = 0;
  /// Zeroes what the plan wants zero on creation, in stream order. See Workspace::prepared.
  virtual core::Result<void> prepare_workspace(Address workspace, Stream stream) const = 0;
  /// Queues the steps. With a workspace it can be captured into a CUDA graph. A step with an empty grid is
  /// skipped.
  virtual core::Result<void> launch(const LaunchArguments& arguments, Stream stream) const = 0;
};

/// Work that was recorded once and is queued as a whole, at the cost of one launch.
class Graph {
 public:
  virtual ~Graph() = default;
  virtual core::Result<void> launch(Stream stream) const = 0;
};

/// Everything may be called from many threads at once. On a GPU the caller's current context is used if it
/// belongs to this device, the primary context if not, and the current context is afterwards what it was.
class Device {
 public:
  virtual ~Device() = default;
  virtual const core::DeviceFacts& facts() const = 0;

  /// Memory aligned to 256 bytes or more; 0 bytes give an address too. Freeing waits for the device on a GPU.
  virtual core::Result<Address> allocate(std::int64_t bytes) = 0;
  virtual void free(Address address) = 0;
  /// Memory that is there for the work given to `stream` after this call, from a pool that einkern keeps.
  virtual core::Result<Address> allocate_in_order(std::int64_t bytes, Stream stream) = 0;
  virtual void free_in_order(Address address, Stream stream) = 0;
  /// Bytes that could be allocated at this moment.
  virtual core::Result<std::int64_t> free_memory() = 0;

  /// In stream order; the source may be reused when the call returns.
  virtual core::Result<void> copy_to_device(Address to, const void* from, std::int64_t bytes,
                                            Stream stream) = 0;
  /// In stream order; the bytes have arrived when the call returns.
  virtual core::Result<void> copy_to_host(void* to, Address from, std::int64_t bytes, Stream stream) = 0;
  virtual core::Result<void> copy(Address to, Address from, std::int64_t bytes, Stream stream) = 0;
  virtual core::Result<void> fill(Address to, std::uint8_t byte, std::int64_t bytes, Stream stream) = 0;

  /// A stream that does not wait for the default stream.
  virtual core::Result<Stream> create_stream() = 0;
  virtual void destroy_stream(Stream stream) = 0;
  virtual core::Result<void> synchronize(Stream stream) = 0;
  /// True while the stream's work is recorded into a graph instead of run.
  virtual core::Result<bool> is_capturing(Stream stream) = 0;
  /// Records what `work` queues on `stream` (not the default stream) from this thread instead of running it.
  /// `work` must not allocate or wait. A CPU, where a launch costs little, has no graphs: an error.
  virtual core::Result<std::unique_ptr<Graph>> record(Stream /*stream*/,
                                                      const std::function<core::Result<void>()>& /*work*/) {
    return core::Error{core::ErrorKind::device, facts().name + " has no graphs of recorded work."};
  }
  virtual core::Result<std::unique_ptr<Event>> create_event() = 0;

  /// Names the compiler and everything about it that can change the code: a field of every cache key.
  virtual std::string compiler_version() const = 0;
  /// Compiles an emission for this device. Takes the time it takes; hold no lock.
  virtual core::Result<core::Artifact> compile(const core::Emission& emission) const = 0;
  virtual core::Result<std::shared_ptr<const Module>> load(const core::Artifact& artifact) = 0;
  /// Finds the plan's entries in `modules` and evaluates its sizes with `symbols`; "sm_count" is added to
  /// them.
  virtual core::Result<std::shared_ptr<const PreparedLaunch>> prepare(
      const core::LaunchPlan& plan, std::span<const std::shared_ptr<const Module>> modules,
      const core::SymbolValues& symbols) = 0;
};

}  // namespace einkern::runtime
