#include "runtime/cpu/memory_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

namespace einkern::runtime::cpu {
namespace {

constexpr std::int64_t huge_page_bytes = 2 << 20;

}  // namespace

void* allocate_aligned(std::int64_t bytes) {
  std::int64_t alignment = bytes >= 2 * huge_page_bytes ? huge_page_bytes : bytes >= 4096 ? 4096 : 256;
  if (bytes > INT64_MAX - alignment) return nullptr;
  auto rounded =
      static_cast<std::size_t>((std::max<std::int64_t>(bytes, 1) + alignment - 1) / alignment * alignment);
  void* memory = std::aligned_alloc(static_cast<std::size_t>(alignment), rounded);
  if (memory != nullptr && alignment == huge_page_bytes) madvise(memory, rounded, MADV_HUGEPAGE);
  return memory;
}

void free_aligned(void* memory) { std::free(memory); }

MemoryPool::~MemoryPool() {
  for (const Block& block : kept_) free_aligned(block.memory);
  for (const Block& block : taken_) free_aligned(block.memory);
}

void* MemoryPool::take(std::int64_t bytes) {
  std::lock_guard lock(mutex_);
  // The smallest block that is large enough, but not one of more than twice the size.
  auto best = kept_.end();
  for (auto block = kept_.begin(); block != kept_.end(); ++block)
    if (block->bytes >= bytes && block->bytes / 2 <= bytes &&
        (best == kept_.end() || block->bytes < best->bytes))
      best = block;
  if (best != kept_.end()) {
    Block block = *best;
    kept_.erase(best);
    kept_bytes_ -= block.bytes;
    taken_.push_back(block);
    return block.memory;
  }
  void* memory = allocate_aligned(bytes);
  if (memory != nullptr) taken_.push_back({memory, bytes});
  return memory;
}

void MemoryPool::give_back(void* memory) {
  std::lock_guard lock(mutex_);
  auto found =
      std::find_if(taken_.begin(), taken_.end(), [&](const Block& block) { return block.memory == memory; });
  if (found == taken_.end()) return;
  Block block = *found;
  taken_.erase(found);
  if (kept_bytes_ + block.bytes > limit_bytes_) return free_aligned(block.memory);
  kept_bytes_ += block.bytes;
  kept_.push_back(block);
}

}  // namespace einkern::runtime::cpu
