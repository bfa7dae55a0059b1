#include "codegen/cuda/simt_matmul_tile.h"

#include <algorithm>

#include <fmt/format.h>

namespace einkern::codegen::cuda {

namespace {

/// Times a number, without what does nothing.
std::string scaled(const std::string& text, int factor) {
  return factor == 1 ? text : fmt::format("{} * {}", text, factor);
}

}  // namespace

std::string CopyPattern::row_text(const std::string& thread) const {
  if (!along_steps) return row_chunks == 1 ? "0" : scaled(fmt::format("{} % {}", thread, row_chunks), width);
  const int row_lanes = 32 / step_lanes;
  std::string text =
      step_lanes == 1 ? fmt::format("{} % 32", thread) : fmt::format("{} % 32 / {}", thread, step_lanes);
  if (row_lanes == 1) text = "0";
  return fmt::format("{} + {} * ({} / {})", text, row_lanes, thread, 32 * step_groups);
}

std::string CopyPattern::step_text(const std::string& thread) const {
  if (!along_steps) return row_chunks == 1 ? thread : fmt::format("{} / {}", thread, row_chunks);
  std::string text = step_lanes == 1 ? "0" : scaled(fmt::format("{} % {}", thread, step_lanes), width);
  if (step_groups > 1) text += fmt::format(" + {} * ({} / 32 % {})", step_lanes * width, thread, step_groups);
  return text;
}

std::string TurnPattern::row_text(const std::string& thread) const {
  const int row_lanes = 32 / step_lanes;
  return scaled(fmt::format("({0} % {1} + {1} * ({0} / 32))", thread, row_lanes), rows);
}

std::string TurnPattern::step_text(const std::string& thread) const {
  return fmt::format("{} % 32 / {} * {}", thread, 32 / step_lanes, steps);
}

TileLayout SimtMatmulTile::layout() const {
  const SimtTile tile{.thread_rows = thread_m,
                      .thread_columns = thread_n,
                      .vector = chunk(),
                      .row_vector = chunk(),
                      .lane_rows = lanes_m(),
                      .lane_columns = lanes_n(),
                      .warp_rows = warps_m(),
                      .warp_columns = warps_n()};
  TileLayout layout = simt_layout(tile);
  layout.lanes = {{2, chunk(), 0}, {lanes_n(), 0, chunk()}, {lanes_m() / 2, 2 * chunk(), 0}};
  layout.warps = {{warps_m(), lanes_m() * thread_m, 0}, {warps_n(), 0, lanes_n() * thread_n}};
  return layout;
}

std::optional<CopyPattern> SimtMatmulTile::copy_pattern(int rows, bool along_steps, int widest) const {
  const int elements = rows * block_k;
  CopyPattern pattern{.along_steps = along_steps};
  pattern.width = std::min({widest, std::max(1, elements / threads()), along_steps ? block_k : rows});
  if (!along_steps) {
    pattern.row_chunks = rows / pattern.width;
    if (threads() % pattern.row_chunks != 0) return std::nullopt;
    pattern.advance = threads() / pattern.row_chunks;
    if (pattern.advance > block_k) return std::nullopt;
    pattern.count = block_k / pattern.advance;
    return pattern;
  }
  // A step of the tile is `chunk` banks' groups past the next, so that 8 elements along the summed axis times
  // 4 rows fill the 32 banks once; two accesses along it at the least make whole sectors of 32 bytes.
  const int accesses = block_k / pattern.width, warps = threads() / 32;
  pattern.step_lanes = std::min(accesses, std::max(2, 8 / pattern.width));
  pattern.step_groups = accesses / pattern.step_lanes;
  if (pattern.step_groups > warps || warps % pattern.step_groups != 0) return std::nullopt;
  pattern.advance = 32 / pattern.step_lanes * (warps / pattern.step_groups);
  if (pattern.advance > rows) return std::nullopt;
  pattern.count = rows / pattern.advance;
  return pattern;
}

std::optional<TurnPattern> SimtMatmulTile::turn_pattern(int rows) const {
  TurnPattern pattern;
  pattern.step_lanes = block_k / TurnPattern::steps;
  const int lines = rows * pattern.step_lanes;  // of four steps, in the tile
  if (lines % threads() != 0) return std::nullopt;
  const int own = lines / threads();
  pattern.rows = std::min(own, 4);
  if (own % pattern.rows != 0) return std::nullopt;
  pattern.blocks = own / pattern.rows;
  pattern.advance = threads() / pattern.step_lanes * pattern.rows;
  return pattern;
}

std::int64_t SimtMatmulTile::shared_bytes(bool a_along_steps, bool b_along_steps) const {
  const int a_stage = block_k * pitch(block_m, a_along_steps),
            b_stage = block_k * pitch(block_n, b_along_steps);
  return static_cast<std::int64_t>(stages) * (a_stage + b_stage) * element_bytes;
}

int SimtMatmulTile::registers(int passing) const {
  const int words = element_bytes / 4;
  return (thread_m * thread_n + 2 * (thread_m + thread_n)) * words + 24 + 8 * words + passing;
}

int SimtMatmulTile::resident_by_registers(const core::DeviceFacts& device, int passing) const {
  const int rounded = (registers(passing) + 7) / 8 * 8;
  const int allowed = device.registers_per_multiprocessor / (rounded * threads());
  const int enough_threads = passing == 0 ? 512 : 256;  // to ask for more led to spills
  return std::max(1, std::min(allowed, enough_threads / threads()));
}

SimtMatmulTile simt_matmul_tile(const Configuration& configuration, int element_bytes) {
  const auto get = [&](std::string_view name) { return static_cast<int>(configuration.get(name)); };
  return {.block_m = get("block_m"),
          .block_n = get("block_n"),
          .block_k = get("block_k"),
          .thread_m = get("thread_m"),
          .thread_n = get("thread_n"),
          .stages = get("stages"),
          .band = get("band"),
          .splits = get("splits"),
          .columns_outer = get("columns_outer") != 0,
          .turned = get("turned") != 0,
          .element_bytes = element_bytes};
}

}  // namespace einkern::codegen::cuda
