// Which thread holds which element of a two-dimensional tile, as data.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace einkern::codegen::cuda {

/// One digit of a register number, lane, warp or group: counting it up by one moves by these steps in the
/// tile.
struct TileFactor {
  int extent = 1;
  int row_step = 0;
  int column_step = 0;
  friend bool operator==(const TileFactor&, const TileFactor&) = default;
};

struct TileCoordinate {
  int row = 0;
  int column = 0;
  friend bool operator==(const TileCoordinate&, const TileCoordinate&) = default;
};

/// A linear map from (register, lane, warp, group) to (row, column): each of the four is a number in mixed
/// radix, whose digits (least significant first) add their steps. Factors of two are a map over bits; others
/// serve 24-column fragments.
///
/// The threads of a block are numbered lane + 32 * (warp + warps * group).
struct TileLayout {
  int rows = 0, columns = 0;
  std::vector<TileFactor> registers, lanes, warps, groups;

  int register_count() const;
  int thread_count() const;
  TileCoordinate of_register(int number) const;
  TileCoordinate of_thread(int thread) const;

  /// The run of registers 0, 1, … that lie in consecutive columns of one row: how wide a vector access may
  /// be.
  int contiguous_columns() const;
  /// Masks of a thread number's lanes across which a row is spread, for shuffles: lane ^ mask for each,
  /// smallest first.
  std::vector<int> row_sharing_lane_masks() const;

  /// C++ text of the tile's row (or column) at which the thread's registers begin, from the text of its
  /// number in the block.
  std::string row_of_thread(std::string_view thread) const;
  std::string column_of_thread(std::string_view thread) const;
};

/// Why the layout does not cover each element of its tile exactly once; empty if it does.
std::string layout_fault(const TileLayout& layout);

/// Threads as a grid on a tile, each with a small block of registers: CUDA-core products.
struct SimtTile {
  int thread_rows = 1, thread_columns = 1;  // registers of a thread: rows × columns
  int vector = 1;                           // consecutive columns of a thread; thread_columns is a multiple
  int row_vector = 1;                       // consecutive rows of a thread; thread_rows is a multiple
  int lane_rows = 4, lane_columns = 8;      // lanes of a warp
  int warp_rows = 1, warp_columns = 1;      // warps of the block
};
/// Registers row-major: number = row * thread_columns + column. A thread's runs of `vector` columns stand
/// lane_columns * vector apart and its runs of rows lane_rows * row_vector, so that lanes touch neighbouring
/// addresses; warps tile the block.
TileLayout simt_layout(const SimtTile& tile);

/// The same threads and registers on the tile with rows and columns exchanged.
TileLayout transposed(TileLayout layout);

/// Threads of a group along one row, each with `vectors` runs of `vector` consecutive columns; groups along
/// rows.
TileLayout row_layout(int threads_per_row, int rows, int vector, int vectors);

}  // namespace einkern::codegen::cuda
