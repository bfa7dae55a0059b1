#include "autotune/check_kernels.h"

#include <string>

#include "autotune/element_rule.h"

namespace einkern::autotune {
namespace {

static_assert(check_threads == 256 && value_table_size == 4096, "as in the text below");

constexpr const char* kernels = R"(
// Extents and strides of a tensor's dimensions, outermost first, are pairs in `geometry`.
static __device__ long long offset_of(const long long* geometry, long long rank, long long number) {
  long long offset = 0;
  for (long long d = rank - 1; d > 0; --d) {
    offset += number % geometry[2 * d] * geometry[2 * d + 1];
    number /= geometry[2 * d];
  }
  return offset + number * geometry[1];
}

static __device__ unsigned long long loaded(const unsigned char* first, long long offset, long long bytes) {
  switch (bytes) {
    case 1: return first[offset];
    case 2: return ((const unsigned short*)first)[offset];
    case 4: return ((const unsigned int*)first)[offset];
    default: return ((const unsigned long long*)first)[offset];
  }
}

static __device__ void store(unsigned char* first, long long offset, long long bytes, unsigned long long bits) {
  switch (bytes) {
    case 1: first[offset] = (unsigned char)bits; break;
    case 2: ((unsigned short*)first)[offset] = (unsigned short)bits; break;
    case 4: ((unsigned int*)first)[offset] = (unsigned int)bits; break;
    default: ((unsigned long long*)first)[offset] = bits;
  }
}

// The value depends on the place alone, so that elements which share one agree.
static __device__ unsigned long long value_at(const unsigned long long* table, unsigned long long state,
                                              long long limit) {
  const unsigned long long word = random_word(state);
  return limit > 0 ? word % (unsigned long long)limit : table[word % 4096];
}

static __device__ void leave(ElementFindings* results, unsigned long long* fingerprints, ElementFindings mine,
                             unsigned long long fingerprint) {
  __shared__ ElementFindings findings[256];
  __shared__ unsigned long long sums[256];
  findings[threadIdx.x] = mine;
  sums[threadIdx.x] = fingerprint;
  for (unsigned half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      merge_findings(findings[threadIdx.x], findings[threadIdx.x + half]);
      sums[threadIdx.x] += sums[threadIdx.x + half];
    }
  }
  if (threadIdx.x != 0) return;
  results[blockIdx.x] = findings[0];
  fingerprints[blockIdx.x] = sums[0];
}

#define FOR_EACH_ELEMENT                                                                       \
  const long long step = (long long)gridDim.x * blockDim.x;                                    \
  for (long long n = (long long)blockIdx.x * blockDim.x + threadIdx.x; n < count; n += step)

extern "C" __global__ void __launch_bounds__(256) ek_check_fill(
    unsigned char* first, const long long* geometry, const unsigned long long* table, long long rank,
    long long count, long long bytes, long long lowest, unsigned long long seed, long long limit) {
  FOR_EACH_ELEMENT {
    const long long offset = offset_of(geometry, rank, n);
    store(first, offset, bytes, table != 0 ? value_at(table, seed + (unsigned long long)(offset - lowest), limit)
                                           : poison_bits((int)bytes));
  }
}

extern "C" __global__ void __launch_bounds__(256) ek_check_unchanged(
    const unsigned char* first, const long long* geometry, const unsigned long long* table,
    ElementFindings* results, unsigned long long* fingerprints, long long rank, long long count, long long bytes,
    long long lowest, unsigned long long seed, long long limit) {
  ElementFindings mine = no_findings();
  FOR_EACH_ELEMENT {
    const long long offset = offset_of(geometry, rank, n);
    if (loaded(first, offset, bytes) != value_at(table, seed + (unsigned long long)(offset - lowest), limit))
      note_wrong(mine, n, 1);
  }
  leave(results, fingerprints, mine, 0);
}

extern "C" __global__ void __launch_bounds__(256) ek_check_magnitude(
    const unsigned char* first, const long long* geometry, ElementFindings* results,
    unsigned long long* fingerprints, long long rank, long long count, long long bytes, long long exponent_bits,
    long long mantissa_bits, long long has_infinity) {
  const ElementFormat format = {(int)bytes, (int)exponent_bits, (int)mantissa_bits, (int)has_infinity};
  ElementFindings mine = no_findings();
  FOR_EACH_ELEMENT
    note_magnitude(mine, format, loaded(first, offset_of(geometry, rank, n), bytes));
  leave(results, fingerprints, mine, 0);
}

extern "C" __global__ void __launch_bounds__(256) ek_check_compare(
    const unsigned char* right, const unsigned char* found, const long long* geometry, ElementFindings* results,
    unsigned long long* fingerprints, long long rank, long long count, long long bytes, long long exponent_bits,
    long long mantissa_bits, long long has_infinity, double relative, double absolute, long long sampled) {
  const ElementFormat format = {(int)bytes, (int)exponent_bits, (int)mantissa_bits, (int)has_infinity};
  const ElementRule rule = {format, relative, absolute, (int)sampled};
  ElementFindings mine = no_findings();
  unsigned long long fingerprint = 0;
  FOR_EACH_ELEMENT {
    const long long offset = offset_of(geometry, rank, n);
    const unsigned long long bits = loaded(found, offset, bytes);
    note_element(mine, rule, n, loaded(right, offset, bytes), bits);
    fingerprint += random_word(bits ^ random_word((unsigned long long)n));
  }
  leave(results, fingerprints, mine, fingerprint);
}

extern "C" __global__ void __launch_bounds__(256) ek_check_poison(
    const unsigned long long* words, ElementFindings* results, unsigned long long* fingerprints, long long count) {
  ElementFindings mine = no_findings();
  FOR_EACH_ELEMENT
    if (words[n] != ~0ull) note_wrong(mine, n, 1);
  leave(results, fingerprints, mine, 0);
}
)";

}  // namespace

core::Emission check_emission() {
  // The shared code has no __device__ of its own: unmarked functions run on the device.
  return {.language = core::SourceLanguage::cuda,
          .source = std::string(element_rule_text) + kernels,
          .entries = {"ek_check_fill", "ek_check_unchanged", "ek_check_magnitude", "ek_check_compare",
                      "ek_check_poison"},
          .options = {"--device-as-default-execution-space"}};
}

}  // namespace einkern::autotune
