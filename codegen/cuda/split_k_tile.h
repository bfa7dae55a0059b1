// The geometry of a product whose sum is split over a cluster of blocks: tiles, the ring of stages, shares of
// the partial sums.
#pragma once

#include <cstdint>

#include "codegen/configuration.h"
#include "codegen/cuda/tile_layout.h"
#include "codegen/cuda/wgmma_tile.h"
#include "core/device_facts.h"
#include "core/size_expression.h"

namespace einkern::codegen::cuda {

/// The numbers of one configuration. One operand is streamed: its rows are the 64-row side of wgmma, 64 of
/// them a multiplying warp group. Few rows of the other, the kept one, make up wgmma's columns. The blocks of
/// a cluster have the same tile of the result and each a part of the sum; afterwards `owners()` of them add
/// up the partial sums of a share of the columns each.
struct SplitKTile {
  int rows = 64, columns = 16;  // of a tile: of the streamed operand, of the kept one
  int split = 2;                // blocks of a cluster
  int slices = 1;               // 64-element slices of the sum a stage
  int resident = 2;             // blocks a multiprocessor
  bool swapped = true;          // the second factor is streamed: the tile is a transposed piece of the result
  int stages = 0;               // of the ring: as many as fit beside the other resident blocks

  static constexpr int most_stages = 32;
  static constexpr int octet = 8;  // columns of an indivisible share of partial sums

  int consumers() const { return rows / WgmmaTile::block_rows; }
  int consumer_threads() const { return 128 * consumers(); }
  int threads() const { return consumer_threads() + 32; }  // one warp loads
  int accumulators() const { return columns / 2; }         // registers of a multiplying thread
  int tile_k() const { return slices * WgmmaTile::tile_k; }

  int streamed_bytes() const { return rows * WgmmaTile::row_bytes; }  // of a slice
  int kept_bytes() const { return columns * WgmmaTile::row_bytes; }
  int stage_bytes() const { return slices * (streamed_bytes() + kept_bytes()); }

  int owners() const { return split < columns / octet ? split : columns / octet; }
  int share_columns() const { return columns / owners(); }
  int share_registers() const { return accumulators() / owners(); }
  int share_bytes() const { return consumer_threads() * share_registers() * 4; }
  int partial_bytes() const { return split > 1 ? split * share_bytes() : 0; }
  /// Ring, two barriers a stage, partial sums, and the two barriers of their exchange.
  std::int64_t shared_bytes() const { return stages * (stage_bytes() + 16) + partial_bytes() + 16; }

  /// Clusters that run at once. A cluster lies within one group of multiprocessors (GPC), whose numbers are
  /// no multiples of 4: of an H200's 132 multiprocessors 120 serve clusters of 4.
  core::SizeExpression resident_clusters(const core::SizeExpression& multiprocessors) const;

  /// Which multiplying thread has which result of its share, in the plan's rows and columns.
  TileLayout layout() const;
};

/// The configuration's tile, with the ring that its place on the device allows.
SplitKTile split_k_tile(const Configuration& configuration, const core::DeviceFacts& device);

}  // namespace einkern::codegen::cuda
