// One operand's tiles in shared memory: how the copy engine brings them and how wgmma finds them.
#pragma once

#include <string>
#include <string_view>

#include "codegen/cuda/expression_emitter.h"
#include "codegen/cuda/wgmma_problem.h"

namespace einkern::codegen::cuda {

/// Texts of a box's first row, column and flat batch index.
struct BoxPlace {
  std::string row, column, batch;
};

/// The box's coordinates in the view's order of dimensions, each after a comma. Batch axes must be bound.
std::string box_coordinates(ExpressionEmitter& emitter, const MatrixView& view, const BoxPlace& place);

/// Tiles of `rows` rows of the operand by 64 elements of the sum, in shared memory swizzled by 128 bytes.
/// Where rows are contiguous instead of columns (the operand is given transposed), a tile consists of boxes
/// of 64 rows.
class OperandTile {
 public:
  /// Declares the operand's map as a parameter of the kernel. `promotion`: how much L2 fetches at a miss.
  OperandTile(KernelWriter& kernel, std::string_view role, const WgmmaOperand& operand, DType type, int rows,
              core::L2Promotion promotion = core::L2Promotion::bytes_256);

  /// Starts the copies of one tile to the address `to`, counted by the barrier `landed`.
  void emit_loads(ExpressionEmitter& emitter, const std::string& to, const BoxPlace& place,
                  std::string_view policy) const;
  /// Declares wgmma's descriptor of the tile at the address.
  void emit_descriptor(TextWriter& body, std::string_view name, const std::string& address) const;
  /// What one step of wgmma along the sum adds to the descriptor.
  int step_units() const;

 private:
  MatrixView view_;
  int rows_;
  std::string map_;
};

}  // namespace einkern::codegen::cuda
