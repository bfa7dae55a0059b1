// What follows a product: every store's value from the accumulators, written for any TileLayout.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "codegen/cuda/expression_emitter.h"
#include "codegen/cuda/tile_layout.h"

namespace einkern::codegen::cuda {

/// Axes that one tile coordinate walks, outermost first: the flat index is decoded into them.
struct FlatAxes {
  std::vector<AxisId> axes;
  std::string first;  // text of the flat index at this thread's register 0 (primary, of the index type)
  core::SizeExpression size;  // of the flat range; the predicate is first + step < size
};

struct EpilogueRequest {
  TileLayout layout;
  /// Nodes of the stores' values and the arrays (in register order) that hold them: {fold, "accumulator"}.
  std::vector<std::pair<ExpressionId, std::string>> accumulators;
  FlatAxes rows, columns;  // batch axes are bound by the caller
  bool edges = true;       // false: the tile is known to lie inside (sizes are multiples of the tile)
  /// Name of an array of registers: the only store's values go there, rounded, two neighbouring columns in
  /// each, in register order; the caller stores them. A pair is never cut by an edge. Empty: values are
  /// stored.
  std::string packed = {};
};

/// Widest access in elements that all stores and vector reads of the kernel allow along the columns' last
/// axis, at most `most`: alignment, divisor class and contiguity decide. 1 where nothing is known.
int epilogue_vector(const KernelContext& context, const std::vector<AxisId>& columns, int most);

/// Whether the stores' values can be packed: one store of an f32 value to f16 or bf16, and pairs of columns
/// that stay together where several axes make them up.
bool can_pack(const KernelContext& context, const std::vector<AxisId>& columns);

/// Emits loops over the registers (unrolled by the compiler), decodes rows and columns, reads what the values
/// need (vectors where contiguous and aligned), evaluates, rounds and stores; predicated at the edges. Loops
/// keep the text small; all register numbers are constants after unrolling.
void emit_epilogue(ExpressionEmitter& emitter, const EpilogueRequest& request);

}  // namespace einkern::codegen::cuda
