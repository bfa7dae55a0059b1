// An operand of a matrix product on CUDA cores: how it lies in memory, and the text that brings its tiles
// into shared memory.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codegen/cuda/expression_emitter.h"
#include "codegen/cuda/simt_matmul_tile.h"
#include "codegen/cuda/vector_block.h"

namespace einkern::codegen::cuda {

/// How a flat index over several axes moves an address: by Σ coefficient × stride of dimension, an element.
using LinearSteps = std::vector<std::pair<std::int64_t, int>>;

/// One factor of a contraction, as matrix of rows (m or n axes, flattened) by steps (contracted axes).
struct MatmulOperand {
  std::string name;  // "a" or "b"
  ExpressionId factor;
  std::vector<AxisId> rows, steps;
  bool along_steps =
      false;       // neighbouring elements lie along the last summed axis, else along the last row axis
  int widest = 1;  // elements that one aligned access may read
  /// The element type is the accumulator's and addresses move by constants: cp.async copies it. Else its
  /// values pass through registers, where conversions, guards and whole expressions are worked out.
  bool copied = false;
  LinearSteps row_steps, step_steps;  // where copied
  /// Copied, and four-byte elements lie one after another along the sum, `lines` of them for an aligned
  /// access: may be turned in registers instead.
  bool turnable = false;
  int line = 1;

  AxisId last_axis() const { return along_steps ? steps.back() : rows.back(); }
  int tile_rows(const SimtMatmulTile& tile) const { return name == "a" ? tile.block_m : tile.block_n; }
  bool turned(const SimtMatmulTile& tile) const { return tile.turned && turnable; }
  /// Registers a thread that its elements take on their way, with their addresses and indices; an estimate.
  int passing_registers(const SimtMatmulTile& tile) const;
};

/// `rows`: the contraction's m for a, n for b.
MatmulOperand matmul_operand(const KernelContext& context, std::string name, ExpressionId factor,
                             const std::vector<AxisId>& rows);

/// What the operand's text refers to: names of variables and sizes in the kernel under way.
struct MatmulNames {
  std::string value_type;             // of the accumulator
  std::string first_row;              // of the block's tile, a primary expression
  std::string first_tile;             // number of the block's first tile along the sum; empty: 0
  std::string row_count, step_count;  // sizes of the whole operand
};

/// Writes one operand's part of a kernel: the copy of a tile, which a lambda does, and the reading of
/// fragments.
class MatmulOperandWriter {
 public:
  /// The configuration must have a copy pattern for the operand.
  MatmulOperandWriter(ExpressionEmitter& emitter, const MatmulOperand& operand, const SimtMatmulTile& tile,
                      MatmulNames names);

  /// Declares what copies need, and the lambdas copy_a, or load_a and store_a.
  void declare_copies();
  /// Starts bringing tile number `tile` to a stage.
  void start(const std::string& tile, const std::string& stage);
  /// Ends what `start` began; nothing where cp.async does it.
  void finish(const std::string& tile, const std::string& stage);
  bool copied() const { return operand_.copied && !turn_; }

  /// Declares the fragments and the lambda read_a. `thread_row`: the thread's first row in the tile.
  void declare_fragments(const std::string& thread_row, int thread_rows, int lanes);
  /// Makes read_a read another stage.
  void move_to(const std::string& stage);

 private:
  struct StagedPlace {
    std::string row, step, inside;
  };

  void declare_copied();
  void declare_copy(const std::string& advance, const std::string& tile_advance);
  std::string first_offset();
  std::string declare_advance(std::string_view suffix, const std::string& stride, const std::string& count);
  void declare_staged();
  void declare_turned();
  StagedPlace emit_place(const std::string& slot);
  void bind_place(const StagedPlace& place);
  void emit_staged_values(const std::string& slot, const StagedPlace& place);
  std::string stride_text(const LinearSteps& steps, std::string_view name);
  std::string slot_destination(const std::string& slot) const;

  TextWriter& body() { return kernel_.body(); }
  const std::string& name() const { return operand_.name; }

  ExpressionEmitter& emitter_;
  KernelWriter& kernel_;
  const MatmulOperand& operand_;
  MatmulNames names_;
  CopyPattern pattern_;
  std::optional<TurnPattern> turn_;
  std::optional<VectorBlock> block_;
  std::string pitch_, stage_, block_k_;  // names of constants
  int block_k_size_ = 0;
  std::string thread_row_, thread_step_, shared_, first_fragment_;
};

}  // namespace einkern::codegen::cuda
