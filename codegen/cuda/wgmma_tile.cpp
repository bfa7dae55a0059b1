#include "codegen/cuda/wgmma_tile.h"

namespace einkern::codegen::cuda {

TileLayout wgmma_layout(int columns, int row_blocks, int groups) {
  constexpr int block_rows = WgmmaTile::block_rows;
  TileLayout layout;
  layout.rows = block_rows * row_blocks * groups;
  layout.columns = columns;
  layout.registers = {{2, 0, 1}, {2, 8, 0}, {columns / 8, 0, 8}, {row_blocks, block_rows, 0}};
  layout.lanes = {{4, 0, 2}, {8, 1, 0}};
  layout.warps = {{4, 16, 0}};
  layout.groups = {{groups, block_rows * row_blocks, 0}};
  return layout;
}

WgmmaTile wgmma_tile(const Configuration& configuration) {
  WgmmaTile tile;
  tile.tile_m = static_cast<int>(configuration.get("tile_m"));
  tile.tile_n = static_cast<int>(configuration.get("tile_n"));
  tile.stages = static_cast<int>(configuration.get("stages"));
  tile.staged = configuration.get("staged") != 0;
  tile.deferred = configuration.get("staged") == 2;
  tile.turns = configuration.get("turns") != 0;
  return tile;
}

}  // namespace einkern::codegen::cuda
