// Host memory for tensors and workspaces, and a pool that spares repeated launches the system's page faults.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

namespace einkern::runtime::cpu {

/// Memory aligned to at least 256 bytes, in huge pages where it is large and the system has them. Null if
/// there is none.
void* allocate_aligned(std::int64_t bytes);
void free_aligned(void* memory);

/// Blocks that come and go with launches. A block given back is kept for the next taker, up to `limit_bytes`
/// together. Safe from many threads at once.
class MemoryPool {
 public:
  explicit MemoryPool(std::int64_t limit_bytes) : limit_bytes_(limit_bytes) {}
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// Null if there is no memory. What it holds is unspecified.
  void* take(std::int64_t bytes);
  void give_back(void* memory);

 private:
  struct Block {
    void* memory;
    std::int64_t bytes;
  };
  std::int64_t limit_bytes_, kept_bytes_ = 0;
  std::mutex mutex_;
  std::vector<Block> kept_, taken_;
};

}  // namespace einkern::runtime::cpu
