#include "codegen/cuda/tile_layout.h"

#include <gtest/gtest.h>

namespace einkern::codegen::cuda {
namespace {

TEST(TileLayout, SimtTilesCoverTheirTile) {
  const SimtTile tile{.thread_rows = 8,
                      .thread_columns = 8,
                      .vector = 4,
                      .row_vector = 4,
                      .lane_rows = 4,
                      .lane_columns = 8,
                      .warp_rows = 4,
                      .warp_columns = 2};
  const TileLayout layout = simt_layout(tile);
  EXPECT_EQ(layout_fault(layout), "");
  EXPECT_EQ(layout.rows, 128);
  EXPECT_EQ(layout.columns, 128);
  EXPECT_EQ(layout.thread_count(), 256);
  EXPECT_EQ(layout.register_count(), 64);
  EXPECT_EQ(layout.contiguous_columns(), 4);
  EXPECT_EQ(layout.of_register(5), (TileCoordinate{0, 33}));
  EXPECT_EQ(layout.of_thread(9), (TileCoordinate{4, 4}));
  EXPECT_EQ(layout.row_sharing_lane_masks(), (std::vector<int>{1, 2, 4}));
}

TEST(TileLayout, RowLayoutsFromOneThreadARowToOneBlockARow) {
  for (const int threads_per_row : {1, 4, 32, 128})
    EXPECT_EQ(layout_fault(row_layout(threads_per_row, threads_per_row <= 32 ? 64 : 2, 4, 3)), "")
        << threads_per_row;
}

TEST(TileLayout, HoldsTheFragmentsOfTensorCores) {
  // PTX ISA, wgmma m64n24 accumulators: 24 columns are three groups of eight, no power of two.
  TileLayout wgmma{.rows = 64,
                   .columns = 24,
                   .registers = {{2, 0, 1}, {2, 8, 0}, {3, 0, 8}},
                   .lanes = {{4, 0, 2}, {8, 1, 0}},
                   .warps = {{4, 16, 0}},
                   .groups = {}};
  EXPECT_EQ(layout_fault(wgmma), "");
  EXPECT_EQ(wgmma.contiguous_columns(), 2);
  EXPECT_EQ(wgmma.row_sharing_lane_masks(), (std::vector<int>{1, 2}));
  wgmma.warps = {{4, 8, 0}};
  EXPECT_NE(layout_fault(wgmma), "");
}

TEST(TileLayout, WritesCoordinatesAsText) {
  const TileLayout layout = row_layout(8, 16, 2, 1);
  EXPECT_EQ(layout.column_of_thread("thread"), "(thread % 8 * 2)");
  EXPECT_EQ(layout.row_of_thread("thread"), "(thread / 8 % 4 + thread / 32 * 4)");
  EXPECT_EQ(row_layout(32, 1, 4, 1).row_of_thread("thread"), "0");
}

}  // namespace
}  // namespace einkern::codegen::cuda
