#include "codegen/cuda/tile_layout.h"

#include <utility>

#include <fmt/format.h>

namespace einkern::codegen::cuda {

namespace {

using Factors = std::vector<TileFactor>;

int count(const Factors& factors) {
  int product = 1;
  for (const TileFactor& factor : factors) product *= factor.extent;
  return product;
}

/// Adds what the digits of `number` move; gives what is left above them.
int add_digits(const Factors& factors, int number, TileCoordinate& at) {
  for (const TileFactor& factor : factors) {
    at.row += number % factor.extent * factor.row_step;
    at.column += number % factor.extent * factor.column_step;
    number /= factor.extent;
  }
  return number;
}

/// Sum over the digits of a thread's number, as C++ text.
std::string digits_text(const TileLayout& layout, std::string_view thread, int TileFactor::* step) {
  std::string text;
  int below = 1;
  const int threads = layout.thread_count();
  for (const Factors* part : {&layout.lanes, &layout.warps, &layout.groups})
    for (const TileFactor& factor : *part) {
      const int divisor = below;
      below *= factor.extent;
      if (factor.*step == 0 || factor.extent == 1) continue;
      std::string digit(thread);
      if (divisor > 1) digit += fmt::format(" / {}", divisor);
      if (below < threads) digit += fmt::format(" % {}", factor.extent);
      if (factor.*step != 1) digit += fmt::format(" * {}", factor.*step);
      text += (text.empty() ? "" : " + ") + digit;
    }
  return text.empty() ? "0" : "(" + text + ")";
}

}  // namespace

int TileLayout::register_count() const { return count(registers); }

int TileLayout::thread_count() const { return count(lanes) * count(warps) * count(groups); }

TileCoordinate TileLayout::of_register(int number) const {
  TileCoordinate at;
  add_digits(registers, number, at);
  return at;
}

TileCoordinate TileLayout::of_thread(int thread) const {
  TileCoordinate at;
  add_digits(groups, add_digits(warps, add_digits(lanes, thread, at), at), at);
  return at;
}

int TileLayout::contiguous_columns() const {
  int run = 1;
  for (const TileFactor& factor : registers) {
    if (factor.extent == 1) continue;
    if (factor.row_step != 0 || factor.column_step != run) break;
    run *= factor.extent;
  }
  return run;
}

std::vector<int> TileLayout::row_sharing_lane_masks() const {
  std::vector<int> masks;
  int below = 1;
  for (const TileFactor& factor : lanes) {
    for (int mask = 1; factor.row_step == 0 && mask < factor.extent; mask *= 2) masks.push_back(mask * below);
    below *= factor.extent;
  }
  return masks;
}

std::string TileLayout::row_of_thread(std::string_view thread) const {
  return digits_text(*this, thread, &TileFactor::row_step);
}

std::string TileLayout::column_of_thread(std::string_view thread) const {
  return digits_text(*this, thread, &TileFactor::column_step);
}

std::string layout_fault(const TileLayout& layout) {
  const int threads = layout.thread_count(), registers = layout.register_count();
  if (static_cast<long long>(threads) * registers != static_cast<long long>(layout.rows) * layout.columns)
    return fmt::format("{} threads of {} registers do not make a tile of {} x {}", threads, registers,
                       layout.rows, layout.columns);
  std::vector<bool> covered(static_cast<std::size_t>(layout.rows) * static_cast<std::size_t>(layout.columns));
  for (int thread = 0; thread < threads; ++thread)
    for (int number = 0; number < registers; ++number) {
      const TileCoordinate base = layout.of_thread(thread), step = layout.of_register(number);
      const int row = base.row + step.row, column = base.column + step.column;
      if (row < 0 || row >= layout.rows || column < 0 || column >= layout.columns)
        return fmt::format("thread {} register {} lies outside, at ({}, {})", thread, number, row, column);
      const std::size_t at = static_cast<std::size_t>(row) * static_cast<std::size_t>(layout.columns) +
                             static_cast<std::size_t>(column);
      if (covered[at]) return fmt::format("two registers hold ({}, {})", row, column);
      covered[at] = true;
    }
  return {};
}

TileLayout transposed(TileLayout layout) {
  std::swap(layout.rows, layout.columns);
  for (Factors* part : {&layout.registers, &layout.lanes, &layout.warps, &layout.groups})
    for (TileFactor& factor : *part) std::swap(factor.row_step, factor.column_step);
  return layout;
}

TileLayout simt_layout(const SimtTile& tile) {
  TileLayout layout;
  layout.rows = tile.thread_rows * tile.lane_rows * tile.warp_rows;
  layout.columns = tile.thread_columns * tile.lane_columns * tile.warp_columns;
  layout.registers = {{tile.vector, 0, 1},
                      {tile.thread_columns / tile.vector, 0, tile.lane_columns * tile.vector},
                      {tile.row_vector, 1, 0},
                      {tile.thread_rows / tile.row_vector, tile.lane_rows * tile.row_vector, 0}};
  layout.lanes = {{tile.lane_columns, 0, tile.vector}, {tile.lane_rows, tile.row_vector, 0}};
  layout.warps = {{tile.warp_columns, 0, tile.lane_columns * tile.thread_columns},
                  {tile.warp_rows, tile.lane_rows * tile.thread_rows, 0}};
  return layout;
}

TileLayout row_layout(int threads_per_row, int rows, int vector, int vectors) {
  TileLayout layout;
  layout.rows = rows;
  layout.columns = threads_per_row * vector * vectors;
  layout.registers = {{vector, 0, 1}, {vectors, 0, threads_per_row * vector}};
  if (threads_per_row <= 32) {
    const int rows_per_warp = 32 / threads_per_row;
    layout.lanes = {{threads_per_row, 0, vector}, {rows_per_warp, 1, 0}};
    layout.warps = {{rows / rows_per_warp, rows_per_warp, 0}};
  } else {
    layout.lanes = {{32, 0, vector}};
    layout.warps = {{threads_per_row / 32, 0, 32 * vector}, {rows, 1, 0}};
  }
  return layout;
}

}  // namespace einkern::codegen::cuda
