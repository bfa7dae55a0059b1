// The text that kernels around a ring of operand stages have in common: one thread fills it through the copy
// engine, warp groups multiply what is in it, two barriers a stage say which.
#pragma once

#include <string>
#include <string_view>

#include "codegen/cuda/expression_emitter.h"
#include "codegen/cuda/tile_layout.h"

namespace einkern::codegen::cuda {

/// Emitted names: `ring`, `full`, `empty`, `stage`, `parity`; constants k_stages and k_stage_bytes.
class RingEmitter {
 protected:
  explicit RingEmitter(KernelWriter& kernel);

  TextWriter& body() { return kernel_.body(); }
  std::string_view index() const { return kernel_.index_type(); }
  bool batched() const { return !form_.batch.empty(); }
  void declare(std::string_view name, const std::string& value);
  /// Binds the batch axes to the flat index of a place.
  void bind_batch(const std::string& place);
  /// Declares `batch` where there is one; gives the text of the tile's number within its matrix.
  std::string emit_batch_of_tile(const core::SizeExpression& tiles_of_matrix);

  /// Declares `full` and `empty`, which lie at that address.
  void emit_ring_barriers(const std::string& address);
  /// Initialises them, `empty` for so many arrivals; more barriers may follow before publish_barriers.
  void open_barriers(std::string_view arrivals);
  void publish_barriers();

  /// `int stage` and `unsigned parity` before the first stage.
  void declare_stage(int parity);
  void advance_stage();
  /// A stage's turn to be filled: waits until it is free, announces its bytes to `landed`, gives `to`.
  void emit_filling();
  /// Waits until a stage is full, and begins products of its `a` and `b`.
  void emit_full_stage();
  /// The statement that gives back the stage before the present one.
  static std::string_view give_back_stage();
  void emit_thread_place(const TileLayout& layout, std::string_view thread);

  KernelWriter& kernel_;
  ExpressionEmitter emitter_;
  const Contraction& form_;
};

}  // namespace einkern::codegen::cuda
