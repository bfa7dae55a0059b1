// Recording launches into a CUDA graph, by capturing a stream.
#include "runtime/cuda/gpu_device.h"

namespace einkern::runtime::cuda {
namespace {

using core::Result;

class GpuGraph final : public Graph {
 public:
  GpuGraph(std::shared_ptr<GpuDevice> device, GraphExecutionHandle execution)
      : device_(std::move(device)), execution_(execution) {}
  ~GpuGraph() override {
    if (const auto scope = ContextScope::enter(device_->context()); scope.ok())
      device_->driver().graph_execution_destroy(execution_);
  }
  GpuGraph(const GpuGraph&) = delete;
  GpuGraph& operator=(const GpuGraph&) = delete;

  Result<void> launch(Stream stream) const override {
    EINKERN_TRY(const ContextScope scope, ContextScope::enter(device_->context()));
    const Driver& driver = device_->driver();
    return driver.check(driver.graph_launch(execution_, static_cast<StreamHandle>(stream.handle)),
                        "launching a graph");
  }

 private:
  std::shared_ptr<GpuDevice> device_;
  GraphExecutionHandle execution_;
};

}  // namespace

Result<std::unique_ptr<Graph>> GpuDevice::record(Stream stream, const std::function<Result<void>()>& work) {
  EINKERN_TRY(const ContextScope scope, ContextScope::enter(*context_));
  const auto handle = static_cast<StreamHandle>(stream.handle);
  EINKERN_CHECK_OK(driver().check(driver().stream_begin_capture(handle, capture_mode_thread_local),
                                  "recording a stream's work"));
  const Result<void> worked = work();
  // A capture is ended whatever happened in it; one that failed gives no graph.
  GraphHandle graph = nullptr;
  const Status ended = driver().stream_end_capture(handle, &graph);
  GraphExecutionHandle execution = nullptr;
  Status made = ended;
  if (worked.ok() && ended == success) made = driver().graph_instantiate(&execution, graph, 0);
  if (graph != nullptr) driver().graph_destroy(graph);
  if (!worked.ok()) return worked.error();
  EINKERN_CHECK_OK(driver().check(made, "making a graph of a stream's work"));
  return std::unique_ptr<Graph>(std::make_unique<GpuGraph>(shared_from_this(), execution));
}

}  // namespace einkern::runtime::cuda
