// What products on Hopper's tensor cores need: barriers in shared memory that count bytes, the copy engine
// (TMA), and the moves between registers and swizzled shared memory. The instructions are those of the PTX
// ISA's sections on mbarrier, cp.async.bulk.tensor, setmaxnreg, stmatrix and wgmma.
#include "codegen/cuda/prelude_pieces.h"

namespace einkern::codegen::cuda {

namespace {

constexpr int hopper = 90;

constexpr std::string_view tensor_map =
    R"(// A tensor as the copy engine sees it; made by the driver, passed by value.
struct alignas(64) ek_tensor_map {
  unsigned long long words[16];
};
)";
constexpr std::string_view shared_address =
    R"(static __device__ __forceinline__ unsigned ek_shared_address(const void* pointer) {
  return (unsigned)__cvta_generic_to_shared(pointer);
}
)";

// A barrier's phase ends when all arrivals and all announced bytes are in. A waiter names the parity of the
// phase whose end it waits for; on a fresh barrier parity 1 counts as ended.
constexpr std::string_view barrier_init =
    R"(static __device__ __forceinline__ void ek_barrier_init(unsigned barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
)";
constexpr std::string_view publish_barriers =
    R"(// Makes initialised barriers visible to the copy engine; a barrier of the block must follow.
static __device__ __forceinline__ void ek_publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
)";
constexpr std::string_view barrier_expect =
    R"(// Arrives, and announces bytes that the copy engine will bring.
static __device__ __forceinline__ void ek_barrier_expect(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
)";
constexpr std::string_view barrier_arrive =
    R"(static __device__ __forceinline__ void ek_barrier_arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
)";
constexpr std::string_view barrier_wait =
    R"(static __device__ __forceinline__ void ek_barrier_wait(unsigned barrier, unsigned parity) {
  asm volatile(
      "{\n .reg .pred done;\n"
      "again:\n mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n @!done bra again;\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}
)";

// Blocks of a cluster reach each other's shared memory: `block` is a rank in the cluster, and an address is
// that which the place has in the caller's own shared memory.
constexpr std::string_view arrive_at =
    R"(// Arrives at the barrier of another block of the cluster.
static __device__ __forceinline__ void ek_barrier_arrive_at(unsigned barrier, int block) {
  asm volatile(
      "{\n .reg .b32 remote;\n mapa.shared::cluster.u32 remote, %0, %1;\n"
      " mbarrier.arrive.shared::cluster.b64 _, [remote];\n}" ::"r"(barrier),
      "r"(block)
      : "memory");
}
)";
constexpr std::string_view send =
    R"(// Starts writing four floats to a block of the cluster, whose barrier counts the bytes.
static __device__ __forceinline__ void ek_send(unsigned to, unsigned barrier, int block, const float* four) {
  asm volatile(
      "{\n .reg .b32 place, signal;\n mapa.shared::cluster.u32 place, %0, %2;\n"
      " mapa.shared::cluster.u32 signal, %1, %2;\n"
      " st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [place], {%3, %4, %5, %6}, [signal];\n}" ::"r"(
          to),
      "r"(barrier), "r"(block), "f"(four[0]), "f"(four[1]), "f"(four[2]), "f"(four[3])
      : "memory");
}
)";
constexpr std::string_view cluster_arrive =
    R"(// The cluster's barrier in two halves: what a thread wrote before its arrival is seen behind the wait.
static __device__ __forceinline__ void ek_cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
}
)";
constexpr std::string_view cluster_wait =
    R"(static __device__ __forceinline__ void ek_cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}
)";

// The policies are the constants that createpolicy gives for whole ranges (CUTLASS, copy_sm90_tma.hpp).
constexpr std::string_view cache_policies =
    R"(// How long the L2 cache should keep what a copy touches.
constexpr unsigned long long ek_evict_first = 0x12F0000000000000ull, ek_evict_last = 0x14F0000000000000ull;
)";

constexpr std::string_view load_box =
    R"(// Starts copying one box of a tensor to shared memory; coordinates are of its first element, the fastest
// dimension first. What hangs over the tensor's edges arrives as zeros. The barrier counts the bytes.
static __device__ __forceinline__ void ek_load_box(unsigned to, const ek_tensor_map& map, unsigned barrier,
                                                   unsigned long long policy, int c0, int c1) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1, {%4, %5}], [%2], %3;" ::"r"(to),
      "l"(&map), "r"(barrier), "l"(policy), "r"(c0), "r"(c1)
      : "memory");
}
static __device__ __forceinline__ void ek_load_box(unsigned to, const ek_tensor_map& map, unsigned barrier,
                                                   unsigned long long policy, int c0, int c1, int c2) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1, {%4, %5, %6}], [%2], %3;" ::"r"(to),
      "l"(&map), "r"(barrier), "l"(policy), "r"(c0), "r"(c1), "r"(c2)
      : "memory");
}
static __device__ __forceinline__ void ek_load_box(unsigned to, const ek_tensor_map& map, unsigned barrier,
                                                   unsigned long long policy, int c0, int c1, int c2, int c3) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1, {%4, %5, %6, %7}], [%2], %3;" ::"r"(to),
      "l"(&map), "r"(barrier), "l"(policy), "r"(c0), "r"(c1), "r"(c2), "r"(c3)
      : "memory");
}
static __device__ __forceinline__ void ek_load_box(unsigned to, const ek_tensor_map& map, unsigned barrier,
                                                   unsigned long long policy, int c0, int c1, int c2, int c3,
                                                   int c4) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1, {%4, %5, %6, %7, %8}], [%2], %3;" ::"r"(to),
      "l"(&map), "r"(barrier), "l"(policy), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4)
      : "memory");
}
)";
constexpr std::string_view store_box =
    R"(// Starts copying one box from shared memory to a tensor, cut at the tensor's edges, as a group of its own.
static __device__ __forceinline__ void ek_store_box(unsigned from, const ek_tensor_map& map,
                                                    unsigned long long policy, int c0, int c1) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint [%1, {%3, %4}], [%0], %2;\n"
      "cp.async.bulk.commit_group;" ::"r"(from),
      "l"(&map), "l"(policy), "r"(c0), "r"(c1)
      : "memory");
}
static __device__ __forceinline__ void ek_store_box(unsigned from, const ek_tensor_map& map,
                                                    unsigned long long policy, int c0, int c1, int c2) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group.L2::cache_hint [%1, {%3, %4, %5}], [%0], %2;\n"
      "cp.async.bulk.commit_group;" ::"r"(from),
      "l"(&map), "l"(policy), "r"(c0), "r"(c1), "r"(c2)
      : "memory");
}
static __device__ __forceinline__ void ek_store_box(unsigned from, const ek_tensor_map& map,
                                                    unsigned long long policy, int c0, int c1, int c2, int c3) {
  asm volatile(
      "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group.L2::cache_hint [%1, {%3, %4, %5, %6}], [%0], "
      "%2;\n"
      "cp.async.bulk.commit_group;" ::"r"(from),
      "l"(&map), "l"(policy), "r"(c0), "r"(c1), "r"(c2), "r"(c3)
      : "memory");
}
static __device__ __forceinline__ void ek_store_box(unsigned from, const ek_tensor_map& map,
                                                    unsigned long long policy, int c0, int c1, int c2, int c3,
                                                    int c4) {
  asm volatile(
      "cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group.L2::cache_hint [%1, {%3, %4, %5, %6, %7}], "
      "[%0], %2;\n"
      "cp.async.bulk.commit_group;" ::"r"(from),
      "l"(&map), "l"(policy), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4)
      : "memory");
}
)";
constexpr std::string_view wait_stored =
    R"(// Waits until all but the `Pending` youngest of this thread's boxes have been read from shared memory.
template <int Pending>
static __device__ __forceinline__ void ek_wait_stored() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Pending) : "memory");
}
)";
constexpr std::string_view publish_staged =
    R"(// Orders this thread's writes of shared memory before the copy engine's reads; a barrier must follow.
static __device__ __forceinline__ void ek_publish_staged() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
)";
constexpr std::string_view store_matrices =
    R"(// A warp writes four 8 x 8 matrices of 16-bit elements; each lane names the 16 bytes of one matrix row.
static __device__ __forceinline__ void ek_store_matrices(unsigned to, unsigned a, unsigned b, unsigned c, unsigned d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(a), "r"(b), "r"(c),
               "r"(d)
               : "memory");
}
)";
constexpr std::string_view group_barrier =
    R"(// A barrier of one warp group's 128 threads; number 0 is the whole block's.
static __device__ __forceinline__ void ek_group_barrier(int number) {
  asm volatile("bar.sync %0, 128;" ::"r"(number) : "memory");
}
)";
constexpr std::string_view wait_turn =
    R"(// Two warp groups take turns: one waits for its barrier, which the other passes on to it.
static __device__ __forceinline__ void ek_wait_turn(int number) {
  asm volatile("bar.sync %0, 256;" ::"r"(number) : "memory");
}
)";
constexpr std::string_view pass_turn =
    R"(static __device__ __forceinline__ void ek_pass_turn(int number) {
  asm volatile("bar.arrive %0, 256;" ::"r"(number) : "memory");
}
)";
constexpr std::string_view take_registers =
    R"(// Moves registers between the warp groups of a block: each keeps `Count` a thread.
template <int Count>
static __device__ __forceinline__ void ek_take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Count));
}
)";
constexpr std::string_view give_registers =
    R"(template <int Count>
static __device__ __forceinline__ void ek_give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Count));
}
)";
constexpr std::string_view operand_descriptor =
    R"(// How wgmma finds an operand in shared memory that is swizzled by 128 bytes (PTX ISA, "Matrix descriptor"):
// address, then the bytes from one group of rows to the next, all in units of 16 bytes. In a cluster the address
// has the block's rank above its 18 bits.
static __device__ __forceinline__ unsigned long long ek_operand_descriptor(unsigned address, int leading_bytes,
                                                                           int group_bytes) {
  return (unsigned long long)((address & 0x3ffff) >> 4) | (unsigned long long)(leading_bytes >> 4) << 16 |
         (unsigned long long)(group_bytes >> 4) << 32 | 1ull << 62;
}
)";
constexpr std::string_view begin_products =
    R"(// Before a warp group's first product that uses registers which it has touched.
static __device__ __forceinline__ void ek_begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
)";
constexpr std::string_view commit_products =
    R"(// Makes one group of the products started since the last group.
static __device__ __forceinline__ void ek_commit_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
)";
constexpr std::string_view wait_products =
    R"(// Waits until at most `Pending` of the youngest groups of products are under way.
template <int Pending>
static __device__ __forceinline__ void ek_wait_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}
)";
constexpr std::string_view pack_bf16 =
    R"(// Two rounded elements in one register, the first in the low half.
static __device__ __forceinline__ unsigned ek_pack_bf16(float first, float second) {
  unsigned pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  return pair;
}
)";
constexpr std::string_view pack_f16 =
    R"(// Two rounded elements in one register, the first in the low half.
static __device__ __forceinline__ unsigned ek_pack_f16(float first, float second) {
  unsigned pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  return pair;
}
)";

}  // namespace

std::vector<PreludePiece> prelude_hopper() {
  return {
      {"ek_tensor_map", {}, hopper, tensor_map},
      {"ek_shared_address", {}, hopper, shared_address},
      {"ek_barrier_init", {}, hopper, barrier_init},
      {"ek_publish_barriers", {}, hopper, publish_barriers},
      {"ek_barrier_expect", {}, hopper, barrier_expect},
      {"ek_barrier_arrive", {}, hopper, barrier_arrive},
      {"ek_barrier_wait", {}, hopper, barrier_wait},
      {"ek_barrier_arrive_at", {}, hopper, arrive_at},
      {"ek_send", {}, hopper, send},
      {"ek_cluster_arrive", {}, hopper, cluster_arrive},
      {"ek_cluster_wait", {}, hopper, cluster_wait},
      {"ek_evict_first", {}, hopper, cache_policies},
      {"ek_load_box", {"ek_tensor_map", "ek_evict_first"}, hopper, load_box},
      {"ek_store_box", {"ek_tensor_map", "ek_evict_first"}, hopper, store_box},
      {"ek_wait_stored", {}, hopper, wait_stored},
      {"ek_publish_staged", {}, hopper, publish_staged},
      {"ek_store_matrices", {}, hopper, store_matrices},
      {"ek_group_barrier", {}, hopper, group_barrier},
      {"ek_wait_turn", {}, hopper, wait_turn},
      {"ek_pass_turn", {}, hopper, pass_turn},
      {"ek_take_registers", {}, hopper, take_registers},
      {"ek_give_registers", {}, hopper, give_registers},
      {"ek_operand_descriptor", {}, hopper, operand_descriptor},
      {"ek_begin_products", {}, hopper, begin_products},
      {"ek_commit_products", {}, hopper, commit_products},
      {"ek_wait_products", {}, hopper, wait_products},
      {"ek_pack_bf16", {}, hopper, pack_bf16},
      {"ek_pack_f16", {}, hopper, pack_f16},
  };
}

}  // namespace einkern::codegen::cuda
