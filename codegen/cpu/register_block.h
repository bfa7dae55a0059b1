// The innermost part of a matrix product: one block of the result held in registers, fed from packed panels.
#pragma once

#include <functional>
#include <string>

#include "codegen/cpu/ir_writer.h"

namespace einkern::codegen::cpu {

/// `rows` × `columns` accumulators in vectors of `lanes` along the columns. It fits the registers without a
/// spill if rows * vectors() + vectors() + 2 does not exceed their number.
struct RegisterBlock {
  IrType type = ir_f32;  // of an accumulator: f32, f64, i32 or i64
  int lanes = 16;
  int rows = 14, columns = 32;
  int unroll = 1;  // steps of the summed axis in one turn of the loop

  int vectors() const { return columns / lanes; }
  int elements() const { return rows * columns; }
};

/// Makes sure of the helper void name(ptr a, ptr b, i64 steps, ptr tile, i1 first): tile[i][j] (+)= sum over
/// s < steps of a[s][i] * b[s][j], with a[s] of `rows` and b[s] of `columns` elements, 64-byte aligned;
/// `first` overwrites the tile. Returns the name.
std::string register_block_helper(IrWriter& writer, const RegisterBlock& block);

/// How an operand is read for packing. `element(row, step, lanes, along_steps)` writes a read of `lanes`
/// elements of the accumulator's type from (row, step) on, along the steps or along the rows.
struct PanelSource {
  enum class Unit { rows, steps, neither };  // along which the operand lies contiguously
  Unit unit = Unit::neither;
  std::function<IrValue(const IrValue& row, const IrValue& step, int lanes, bool along_steps)> element;
};

/// Writes code that packs `width` rows from `row` on, and the steps [first_step, last_step), into
/// panel[step][width]. Rows from `rows` on (of the operand) become 0.
void pack_panel(IrWriter& writer, IrType type, int lanes, int width, const PanelSource& source,
                const IrValue& panel, const IrValue& row, const IrValue& rows, const IrValue& first_step,
                const IrValue& last_step);

}  // namespace einkern::codegen::cpu
