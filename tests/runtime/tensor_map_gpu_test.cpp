// Tensor maps and clusters on a GPU that has them (sm_90 and newer): a box with a 128-byte swizzle arrives as
// documented, a box goes back to where it belongs, and a cluster of the launch's attribute is one.
#include <gtest/gtest.h>

#include <numeric>

#include "runtime/cuda/gpu_device.h"

namespace einkern::runtime::cuda {
namespace {

using namespace core;

constexpr const char* source = R"(
struct alignas(64) TensorMap { unsigned long long words[16]; };
__device__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
constexpr int box_rows = 16, box_columns = 64;

// Loads a box from x, copies its bytes to y as they lie in shared memory, and stores the box through z's map.
extern "C" __global__ void move_box(const __grid_constant__ TensorMap x, const __grid_constant__ TensorMap z,
                                    unsigned short* y, int column, int row) {
  __shared__ __align__(1024) unsigned short box[box_rows * box_columns];
  __shared__ unsigned long long barrier;
  const unsigned at = shared_address(box), ready = shared_address(&barrier);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(ready));
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
      :: "r"(ready), "n"(2 * box_rows * box_columns) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];"
      :: "r"(at), "l"(&x), "r"(ready), "r"(column), "r"(row) : "memory");
  }
  asm volatile("{.reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra again;}"
    :: "r"(ready) : "memory");
  for (int i = threadIdx.x; i < box_rows * box_columns; i += blockDim.x) y[i] = box[i];
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%1, {%2, %3}], [%0];"
      :: "r"(at), "l"(&z), "r"(column), "r"(row) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}
extern "C" __global__ void ranks(unsigned* y) {
  unsigned rank, blocks;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
  y[blockIdx.x] = blocks * 100 + rank;
}
)";

constexpr std::size_t rows = 20, columns = 100, pitch = 104;
constexpr std::size_t box_rows = 16, box_columns = 64;
constexpr std::uint16_t untouched = 0xffff;

class TensorMapGpu : public testing::Test {
 protected:
  void SetUp() override {
    const auto devices = process_devices();
    if (!devices.ok()) GTEST_SKIP() << devices.error().message;
    if (!process_nvrtc().ok()) GTEST_SKIP() << "no NVRTC here";
    gpu_ = devices->front();
    if (gpu_->facts().compute_capability < 90) GTEST_SKIP() << "tensor maps need sm_90";
    Emission emission;
    emission.source = source;
    emission.entries = {"move_box", "ranks"};
    const auto artifact = gpu_->compile(emission);
    ASSERT_TRUE(artifact.ok()) << artifact.error().message;
    module_ = gpu_->load(*artifact).value();
    stream_ = gpu_->create_stream().value();
  }
  void TearDown() override {
    for (const Address address : addresses_) gpu_->free(address);
    if (stream_.handle != nullptr) gpu_->destroy_stream(stream_);
  }

  template <typename Element>
  Address upload(const std::vector<Element>& values) {
    const auto bytes = static_cast<std::int64_t>(values.size() * sizeof(Element));
    addresses_.push_back(gpu_->allocate(bytes).value());
    EXPECT_TRUE(gpu_->copy_to_device(addresses_.back(), values.data(), bytes, stream_).ok());
    return addresses_.back();
  }
  template <typename Element>
  std::vector<Element> download(Address address, std::size_t count) {
    std::vector<Element> values(count);
    const auto bytes = static_cast<std::int64_t>(count * sizeof(Element));
    const auto copied = gpu_->copy_to_host(values.data(), address, bytes, stream_);
    EXPECT_TRUE(copied.ok()) << copied.error().message;
    return values;
  }

  std::shared_ptr<GpuDevice> gpu_;
  std::shared_ptr<const Module> module_;
  Stream stream_;
  std::vector<Address> addresses_;
};

LaunchPlan box_plan() {
  const auto map_of = [](int buffer) {
    return TensorMapArgument{buffer,
                             0,
                             DType::u16,
                             {{columns, 0, box_columns}, {rows, 2 * pitch, box_rows}},
                             Swizzle::span_128,
                             L2Promotion::bytes_256};
  };
  LaunchPlan plan;
  plan.buffers = {{"x", BufferKind::input, DType::u16, 0, 16, false},
                  {"z", BufferKind::output, DType::u16, 0, 16, false},
                  {"y", BufferKind::output, DType::u16, 0, 2, false}};
  KernelStep step;
  step.entry = "move_box";
  step.block[0] = 128;
  step.arguments = {map_of(0), map_of(1), PointerArgument{2, 0},
                    SizeArgument{SizeExpression::symbol("column"), 4},
                    SizeArgument{SizeExpression::symbol("row"), 4}};
  plan.steps = {step};
  return plan;
}

TEST_F(TensorMapGpu, MovesSwizzledBoxesInAndOut) {
  std::vector<std::uint16_t> x(rows * pitch);
  std::iota(x.begin(), x.end(), std::uint16_t{1});
  const Address source_x = upload(x);
  for (const auto& [row, column] : {std::pair<std::size_t, std::size_t>{0, 0}, {3, 8}, {16, 64}}) {
    const Address z = upload(std::vector(rows * pitch, untouched));
    const Address y = upload(std::vector(box_rows * box_columns, untouched));
    const auto prepared = gpu_->prepare(
        box_plan(), std::span(&module_, 1),
        {{"row", static_cast<std::int64_t>(row)}, {"column", static_cast<std::int64_t>(column)}});
    ASSERT_TRUE(prepared.ok()) << prepared.error().message;
    const Address buffers[] = {source_x, z, y};
    const auto launched = (*prepared)->launch({buffers, {}, {}}, stream_);
    ASSERT_TRUE(launched.ok()) << launched.error().message;
    const auto box = download<std::uint16_t>(y, box_rows * box_columns);
    const auto stored = download<std::uint16_t>(z, rows * pitch);
    const auto inside = [](std::size_t r, std::size_t c) { return r < rows && c < columns; };
    for (std::size_t r = 0; r < box_rows; ++r)
      for (std::size_t c = 0; c < box_columns; ++c) {
        // Pieces of 16 bytes change places by the row within 8 rows of 128 bytes.
        const std::size_t place = r * box_columns + ((c / 8) ^ (r % 8)) * 8 + c % 8;
        const int expected = inside(row + r, column + c) ? x[(row + r) * pitch + column + c] : 0;
        ASSERT_EQ(box[place], expected) << "row " << row + r << ", column " << column + c;
      }
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < pitch; ++c) {
        const bool in_box = r >= row && r < row + box_rows && c >= column && c < column + box_columns;
        // The row's last piece of 16 bytes is stored whole.
        const bool in_last_piece = r < rows && c >= columns && c < (columns + 7) / 8 * 8;
        const int outside = in_box && in_last_piece ? 0 : untouched;
        ASSERT_EQ(stored[r * pitch + c], in_box && inside(r, c) ? x[r * pitch + c] : outside)
            << "row " << r << ", column " << c;
      }
  }
}

TEST_F(TensorMapGpu, LaunchesClusters) {
  LaunchPlan plan;
  plan.buffers = {{"y", BufferKind::output, DType::u32, 0, 4, false}};
  KernelStep step;
  step.entry = "ranks";
  step.grid[0] = 8;
  step.block[0] = 1;
  step.cluster[0] = 4;
  step.arguments = {PointerArgument{0, 0}};
  plan.steps = {step};
  const auto prepared = gpu_->prepare(plan, std::span(&module_, 1), {});
  ASSERT_TRUE(prepared.ok()) << prepared.error().message;
  const Address buffers[] = {upload(std::vector<std::uint32_t>(8))};
  const auto launched = (*prepared)->launch({buffers, {}, {}}, stream_);
  ASSERT_TRUE(launched.ok()) << launched.error().message;
  EXPECT_EQ(download<std::uint32_t>(buffers[0], 8),
            (std::vector<std::uint32_t>{400, 401, 402, 403, 400, 401, 402, 403}));
}

TEST_F(TensorMapGpu, RefusesATensorThatBeginsBetweenPieces) {
  const auto prepared = gpu_->prepare(box_plan(), std::span(&module_, 1), {{"row", 0}, {"column", 0}});
  ASSERT_TRUE(prepared.ok()) << prepared.error().message;
  const Address x = upload(std::vector<std::uint16_t>(rows * pitch + 1));
  const Address buffers[] = {x + 2, x, x};
  const auto launched = (*prepared)->launch({buffers, {}, {}}, stream_);
  ASSERT_FALSE(launched.ok());
  EXPECT_EQ(launched.error().kind, ErrorKind::device);
}

}  // namespace
}  // namespace einkern::runtime::cuda
