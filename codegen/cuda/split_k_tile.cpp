#include "codegen/cuda/split_k_tile.h"

#include <algorithm>

namespace einkern::codegen::cuda {

namespace {

constexpr std::int64_t reserved_bytes = 1024;  // the driver keeps them of every block's shared memory

}  // namespace

core::SizeExpression SplitKTile::resident_clusters(const core::SizeExpression& multiprocessors) const {
  const core::SizeExpression usable =
      split > 2 ? core::floor_divide(multiprocessors * 10, 11) : multiprocessors;
  return core::maximum(core::floor_divide(usable * resident, split), 1);
}

TileLayout SplitKTile::layout() const {
  const TileLayout layout = wgmma_layout(share_columns(), 1, consumers());
  return swapped ? transposed(layout) : layout;
}

SplitKTile split_k_tile(const Configuration& configuration, const core::DeviceFacts& device) {
  const auto get = [&](std::string_view name) { return static_cast<int>(configuration.get(name)); };
  SplitKTile tile{.rows = get("rows"),
                  .columns = get("columns"),
                  .split = get("split"),
                  .slices = get("slices"),
                  .resident = get("resident"),
                  .swapped = get("swapped") != 0};
  const std::int64_t share = device.shared_bytes_per_multiprocessor / tile.resident - reserved_bytes;
  const std::int64_t ring = std::min(share, device.shared_bytes_per_block) - tile.shared_bytes();
  tile.stages = static_cast<int>(
      std::clamp<std::int64_t>(ring / (tile.stage_bytes() + 16), 0, SplitKTile::most_stages));
  return tile;
}

}  // namespace einkern::codegen::cuda
