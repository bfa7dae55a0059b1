// The geometry of a product on Hopper's tensor cores: tiles, the ring of stages, staging of results, and who
// holds what.
#pragma once

#include <cstdint>

#include "codegen/configuration.h"
#include "codegen/cuda/tile_layout.h"
#include "core/device_facts.h"

namespace einkern::codegen::cuda {

/// Which thread of the multiplying warp groups has which result in which accumulator (PTX ISA,
/// "wgmma.mma_async", figure of the D fragment): each group has `row_blocks` blocks of 64 rows below one
/// another, row blocks outermost in the register's number.
TileLayout wgmma_layout(int columns, int row_blocks, int groups);

/// The numbers of one configuration. One warp group loads, `consumers` of them multiply. They share a tile by
/// its rows, or take turns, each with a tile of its own; what one holds are row blocks of 64, the rows of one
/// wgmma.
struct WgmmaTile {
  int tile_m = 128, tile_n = 256;
  int stages = 4;        // of the ring that the copy engine fills
  bool staged = true;    // results leave through shared memory and the copy engine, else from registers
  bool deferred = true;  // a staged tile is written behind the next tile's products
  bool turns = false;    // one's results hide behind the other's products

  static constexpr int block_rows = 64;    // of one wgmma
  static constexpr int step = 16;          // of the sum, in one wgmma of 16-bit elements
  static constexpr int row_bytes = 128;    // of a swizzled row in shared memory
  static constexpr int element_bytes = 2;  // f16 and bf16
  static constexpr int tile_k = row_bytes / element_bytes;
  static constexpr int slab_columns = row_bytes / element_bytes;  // of results that are staged together

  int consumers() const { return turns || tile_m > block_rows ? 2 : 1; }
  /// Multiplying warp groups that work on one tile.
  int sharers() const { return turns ? 1 : consumers(); }
  int row_blocks() const { return tile_m / (block_rows * sharers()); }
  int threads() const { return 128 * (1 + consumers()); }
  int accumulators() const { return row_blocks() * tile_n / 2; }  // registers of a multiplying thread

  int bytes_a() const { return tile_m * row_bytes; }
  int bytes_b() const { return tile_n * row_bytes; }
  int stage_bytes() const { return bytes_a() + bytes_b(); }
  /// Slabs of 64 × 64 results that a consumer writes for a tile, and those that have a place in shared memory
  /// at once. The second divides the first: a tile's first slab must not take the place of the one stored
  /// last.
  int pieces() const { return row_blocks() * tile_n / slab_columns; }
  int slabs() const { return pieces() % 2 == 0 ? 2 : 1; }
  static constexpr int slab_bytes = block_rows * row_bytes;
  int staging_bytes() const { return staged ? consumers() * slabs() * slab_bytes : 0; }
  std::int64_t shared_bytes() const { return stages * (stage_bytes() + 16) + staging_bytes(); }

  /// Registers a thread that __launch_bounds__ leaves, and what the loading and multiplying warp groups keep
  /// of them once they have moved some (setmaxnreg); nothing is moved where a thread has enough.
  int registers() const { return threads() == 384 ? 168 : 255; }
  bool moves_registers() const { return threads() == 384; }
  static constexpr int loading_registers = 40;
  int multiplying_registers() const { return 232; }  // 128 · 40 + 256 · 232 ≤ 384 · 168

  TileLayout layout() const { return wgmma_layout(tile_n, row_blocks(), sharers()); }
};

WgmmaTile wgmma_tile(const Configuration& configuration);

}  // namespace einkern::codegen::cuda
