// CUDA C++ on a host, for tests: what emitted kernels use of the language and of the device's built-in
// functions, and blocks whose threads are fibers that switch at __syncthreads and at shuffles. Slow,
// deterministic, one block after the other.
//
// Emitted text is compiled below this header as it is, but for prelude functions that hold PTX: run_emulated
// puts portable ones in their place.
#pragma once

#include <ucontext.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static
#define __align__(bytes) alignas(bytes)

namespace emulation {

struct Index3 {
  unsigned x = 0, y = 0, z = 0;
};

inline Index3 thread_index, block_index, block_size, grid_size;

/// A block's dynamic shared memory; Hopper has the most, 227 KiB.
alignas(16) inline unsigned char dynamic_shared[227 * 1024];

/// Runs the threads of one block after another.
class Block {
 public:
  static constexpr std::size_t stack_bytes = 96 * 1024;

  explicit Block(unsigned threads) : fibers_(threads), exchange_(threads) {
    for (Fiber& fiber : fibers_) fiber.stack = std::make_unique_for_overwrite<char[]>(stack_bytes);
  }

  void run(const std::function<void()>& body) {
    std::memset(dynamic_shared, 0xff, sizeof dynamic_shared);  // NaN: what was never written shows
    body_ = &body;
    current_ = this;
    for (unsigned t = 0; t < fibers_.size(); ++t) start(t);
    while (round()) {
    }
    for (const Fiber& fiber : fibers_)
      if (fiber.state != State::done) {
        std::fprintf(stderr, "emulated block: some threads wait for others that will not come\n");
        std::abort();
      }
  }

  static Block& current() { return *current_; }

  /// Asynchronous copies happen as late as they may: when their thread waits for their group.
  void start_copy(std::function<void()> copy) { fibers_[running_].started.push_back(std::move(copy)); }
  void commit_copies() {
    fibers_[running_].groups.push_back(std::move(fibers_[running_].started));
    fibers_[running_].started.clear();
  }
  void wait_copies(std::size_t pending) {
    std::deque<std::vector<std::function<void()>>>& groups = fibers_[running_].groups;
    for (; groups.size() > pending; groups.pop_front())
      for (const std::function<void()>& copy : groups.front()) copy();
  }

  void wait_for_block() { yield(State::at_block_barrier); }

  /// All lanes of the caller's warp give a word; each gets that of lane ^ mask.
  std::uint64_t exchange(std::uint64_t word, int mask) {
    const unsigned self = running_, parity = fibers_[self].parity;
    exchange_[self].words[parity] = word;
    fibers_[self].parity = 1 - parity;  // a second exchange may begin before all have read the first
    yield(State::at_warp_barrier);
    const unsigned partner = self / 32 * 32 + ((self % 32) ^ static_cast<unsigned>(mask));
    return partner < fibers_.size() ? exchange_[partner].words[parity] : word;
  }

 private:
  enum class State { ready, at_warp_barrier, at_block_barrier, done };
  struct Fiber {
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    State state = State::ready;
    unsigned parity = 0;
    std::vector<std::function<void()>> started;             // asynchronous copies of no group yet
    std::deque<std::vector<std::function<void()>>> groups;  // oldest first
  };
  struct Words {
    std::uint64_t words[2] = {0, 0};
  };

  void start(unsigned t) {
    Fiber& fiber = fibers_[t];
    fiber.state = State::ready;
    fiber.parity = 0;
    fiber.started.clear();
    fiber.groups.clear();
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = stack_bytes;
    fiber.context.uc_link = &scheduler_;
    makecontext(&fiber.context, reinterpret_cast<void (*)()>(&Block::enter), 0);
  }

  static void enter() {
    Block& block = *current_;
    (*block.body_)();
    block.fibers_[block.running_].state = State::done;
  }

  void yield(State state) {
    fibers_[running_].state = state;
    swapcontext(&fibers_[running_].context, &scheduler_);
  }

  /// Runs every ready thread up to its next barrier; then opens the barriers at which all have arrived.
  bool round() {
    bool ran = false;
    for (unsigned t = 0; t < fibers_.size(); ++t) {
      if (fibers_[t].state != State::ready) continue;
      ran = true;
      running_ = t;
      thread_index = {t, 0, 0};
      swapcontext(&scheduler_, &fibers_[t].context);
    }
    for (unsigned warp = 0; warp < fibers_.size(); warp += 32)
      open(warp, std::min<unsigned>(warp + 32, static_cast<unsigned>(fibers_.size())),
           State::at_warp_barrier);
    open(0, static_cast<unsigned>(fibers_.size()), State::at_block_barrier);
    return ran;
  }

  void open(unsigned begin, unsigned end, State barrier) {
    for (unsigned t = begin; t < end; ++t)
      if (fibers_[t].state != barrier) return;
    for (unsigned t = begin; t < end; ++t) fibers_[t].state = State::ready;
  }

  static inline Block* current_ = nullptr;
  std::vector<Fiber> fibers_;
  std::vector<Words> exchange_;
  ucontext_t scheduler_;
  const std::function<void()>* body_ = nullptr;
  unsigned running_ = 0;
};

template <typename... P, std::size_t... I>
void call(void (*kernel)(P...), void* const* arguments, std::index_sequence<I...>) {
  kernel(*static_cast<std::remove_reference_t<P>*>(arguments[I])...);
}

/// Launches a kernel over a grid; arguments as cuLaunchKernel takes them.
template <typename... P>
void launch(void (*kernel)(P...), const unsigned* grid, unsigned threads, void* const* arguments) {
  grid_size = {grid[0], grid[1], grid[2]};
  block_size = {threads, 1, 1};
  Block block(threads);
  const std::function<void()> body = [&] { call(kernel, arguments, std::index_sequence_for<P...>()); };
  for (unsigned z = 0; z < grid[2]; ++z)
    for (unsigned y = 0; y < grid[1]; ++y)
      for (unsigned x = 0; x < grid[0]; ++x) {
        block_index = {x, y, z};
        block.run(body);
      }
}

}  // namespace emulation

#define threadIdx emulation::thread_index
#define blockIdx emulation::block_index
#define blockDim emulation::block_size
#define gridDim emulation::grid_size

inline void __syncthreads() { emulation::Block::current().wait_for_block(); }
inline void __syncwarp(unsigned = 0xffffffffu) { emulation::Block::current().exchange(0, 0); }
template <typename T>
T __shfl_xor_sync(unsigned, T value, int mask) {
  std::uint64_t word = 0;
  std::memcpy(&word, &value, sizeof value);
  word = emulation::Block::current().exchange(word, mask);
  std::memcpy(&value, &word, sizeof value);
  return value;
}

// The device's overloads: no mixed operands, so that mixing them in emitted text is an error here too.
inline int min(int a, int b) { return b < a ? b : a; }
inline int max(int a, int b) { return a < b ? b : a; }
inline unsigned min(unsigned a, unsigned b) { return b < a ? b : a; }
inline unsigned max(unsigned a, unsigned b) { return a < b ? b : a; }
inline long long min(long long a, long long b) { return b < a ? b : a; }
inline long long max(long long a, long long b) { return a < b ? b : a; }
inline unsigned long long min(unsigned long long a, unsigned long long b) { return b < a ? b : a; }
inline unsigned long long max(unsigned long long a, unsigned long long b) { return a < b ? b : a; }

using std::isinf;
using std::isnan;
inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }

inline float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }
inline float __int_as_float(int x) { return std::bit_cast<float>(x); }
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline int __float_as_int(float x) { return std::bit_cast<int>(x); }
inline double __longlong_as_double(long long x) { return std::bit_cast<double>(x); }
inline long long __double_as_longlong(double x) { return std::bit_cast<long long>(x); }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>((std::uint64_t{a} * b) >> 32);
}
inline int __popc(unsigned x) { return std::popcount(x); }
inline int __popcll(unsigned long long x) { return std::popcount(x); }
inline int __clz(int x) { return std::countl_zero(static_cast<unsigned>(x)); }
inline int __clzll(long long x) { return std::countl_zero(static_cast<unsigned long long>(x)); }

namespace emulation {
/// Truncates and saturates, as cvt.rzi does; the limits are exact in long double.
template <typename I>
I truncated(long double x) {
  if (x <= static_cast<long double>(std::numeric_limits<I>::min())) return std::numeric_limits<I>::min();
  if (x >= static_cast<long double>(std::numeric_limits<I>::max())) return std::numeric_limits<I>::max();
  return static_cast<I>(x);
}
/// Towards zero.
inline float towards_zero(long double x) {
  const float nearest = static_cast<float>(x);
  return std::fabs(static_cast<long double>(nearest)) > std::fabs(x) ? std::nextafterf(nearest, 0.0f)
                                                                     : nearest;
}
}  // namespace emulation
inline int __float2int_rz(float x) { return emulation::truncated<int>(x); }
inline int __double2int_rz(double x) { return emulation::truncated<int>(x); }
inline unsigned __float2uint_rz(float x) { return emulation::truncated<unsigned>(x); }
inline unsigned __double2uint_rz(double x) { return emulation::truncated<unsigned>(x); }
inline long long __float2ll_rz(float x) { return emulation::truncated<long long>(x); }
inline long long __double2ll_rz(double x) { return emulation::truncated<long long>(x); }
inline unsigned long long __float2ull_rz(float x) { return emulation::truncated<unsigned long long>(x); }
inline unsigned long long __double2ull_rz(double x) { return emulation::truncated<unsigned long long>(x); }
inline float __double2float_rz(double x) {
  return x != x ? static_cast<float>(x) : emulation::towards_zero(x);
}
inline float __ull2float_rz(unsigned long long x) { return emulation::towards_zero(x); }

inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }

// In the place of prelude functions that hold PTX and have no portable twin.
template <int N, typename T>
void ek_copy_async(T* to, const T* from, bool inside) {
  emulation::Block::current().start_copy([=] {
    for (int i = 0; i < N; ++i) to[i] = inside ? from[i] : T();
  });
}
inline void ek_commit_copies() { emulation::Block::current().commit_copies(); }
template <int Pending>
void ek_wait_copies() {
  emulation::Block::current().wait_copies(Pending);
}
inline float ek_f16_to_f32(unsigned short bits) {
  const unsigned exponent = bits >> 10 & 31u, mantissa = bits & 0x3ffu;
  float value = 0;
  if (exponent == 31)
    value = mantissa != 0 ? NAN : INFINITY;
  else if (exponent == 0)
    value = std::ldexp(static_cast<float>(mantissa), -24);
  else
    value = std::ldexp(static_cast<float>(mantissa | 0x400u), static_cast<int>(exponent) - 25);
  return (bits & 0x8000u) != 0 ? -value : value;
}
inline unsigned short ek_f32_to_f16(float value) {
  const unsigned sign = std::signbit(value) ? 0x8000u : 0u;
  const float magnitude = std::fabs(value);
  if (magnitude != magnitude) return 0x7fff;
  if (magnitude >= 65520.0f) return static_cast<unsigned short>(sign | 0x7c00u);
  if (magnitude < 0x1p-14f)
    return static_cast<unsigned short>(sign |
                                       static_cast<unsigned>(std::nearbyint(std::ldexp(magnitude, 24))));
  const unsigned bits = __float_as_uint(magnitude);
  return static_cast<unsigned short>(sign | (((bits + 0xfffu + (bits >> 13 & 1u)) >> 13) - (112u << 10)));
}
