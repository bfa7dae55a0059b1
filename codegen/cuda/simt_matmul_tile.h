// The geometry of a matrix product on CUDA cores: tiles in shared memory, register blocks, and who copies
// what.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "codegen/configuration.h"
#include "codegen/cuda/tile_layout.h"
#include "core/device_facts.h"

namespace einkern::codegen::cuda {

/// How one operand's tile of block_k × rows elements is copied: the threads cover part of it at a time, and
/// move on by `advance`. Every thread copies `width` neighbouring elements each time.
struct CopyPattern {
  bool along_steps = false;  // neighbours lie along the summed axis: the copy transposes
  int width = 1;
  int count = 1;                        // times
  int advance = 1;                      // along the rows if along_steps, else along the summed axis
  int step_lanes = 1, step_groups = 1;  // along_steps: threads of a warp, and warps, side by side along it
  int row_chunks = 1;                   // not along_steps: threads side by side along the rows

  /// C++ text of a thread's first element, from the text of its number.
  std::string row_text(const std::string& thread) const;
  std::string step_text(const std::string& thread) const;
};

/// How one operand's tile is turned on its way through registers: a thread loads four neighbours along the
/// summed axis of each of some rows, and stores as many of each step. Its blocks stand `advance` rows apart.
struct TurnPattern {
  static constexpr int steps = 4;
  int rows = 1;    // of a block, at most 4
  int blocks = 1;  // of a thread
  int advance = 1;
  int step_lanes = 2;  // threads of a warp side by side along the summed axis

  int lines() const { return rows * blocks; }
  /// C++ text of a thread's first element, from the text of its number.
  std::string row_text(const std::string& thread) const;
  std::string step_text(const std::string& thread) const;
};

/// The numbers of one configuration.
struct SimtMatmulTile {
  int block_m = 128, block_n = 128, block_k = 16;
  int thread_m = 8, thread_n = 8;  // the block of the result that a thread holds in registers
  int stages = 3;                  // tiles of the operands in shared memory
  int band = 8;                    // tile rows that neighbouring blocks share
  int splits = 1;                  // parts of the sum, each its own block
  bool columns_outer = true;       // order of the register block: over columns, then rows
  bool turned = false;    // operands that lie along the sum pass through registers, and are turned there
  int element_bytes = 4;  // of the accumulator's type, in which tiles are kept

  /// Lanes of a warp along m; the other way along n. A warp's part is as square as can be.
  int lanes_m() const { return thread_m >= thread_n ? 4 : 8; }
  int lanes_n() const { return 32 / lanes_m(); }
  int warps_m() const { return block_m / (lanes_m() * thread_m); }
  int warps_n() const { return block_n / (lanes_n() * thread_n); }
  int threads() const { return 32 * warps_m() * warps_n(); }
  /// Consecutive elements that one access of shared memory moves: 16 bytes of them.
  int chunk() const { return 16 / element_bytes; }

  /// Whose accumulators are whose. Two lanes side by side along m, then the lanes along n: a half warp then
  /// reads its operands in one pass each.
  TileLayout layout() const;
  /// The copy of a tile of `rows` rows by accesses of at most `widest` elements; nullopt if the block's
  /// threads cannot share it out evenly.
  std::optional<CopyPattern> copy_pattern(int rows, bool along_steps, int widest) const;
  /// The same by blocks that are turned in registers.
  std::optional<TurnPattern> turn_pattern(int rows) const;
  /// Elements from one step of the tile to the next: padded where the copy transposes, so that its writes
  /// fall into different banks.
  int pitch(int rows, bool along_steps) const { return rows + (along_steps ? chunk() : 0); }
  std::int64_t shared_bytes(bool a_along_steps, bool b_along_steps) const;

  /// An estimate: accumulators, two sets of fragments and addresses, and what `passing` elements of operands
  /// take on their way.
  int registers(int passing) const;
  /// Blocks on one multiprocessor that the registers allow; __launch_bounds__ asks for them.
  int resident_by_registers(const core::DeviceFacts& device, int passing) const;
};

SimtMatmulTile simt_matmul_tile(const Configuration& configuration, int element_bytes);

}  // namespace einkern::codegen::cuda
