#include "codegen/cpu/register_block.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace einkern::codegen::cpu {
namespace {

using Values = IrWriter::Values;

/// acc[i][v] += a[i] * b[v] for one step, in the order that keeps the fewest vectors alive.
Values multiply_step(IrWriter& writer, const RegisterBlock& block, const IrValue& a, const IrValue& b,
                     Values sums) {
  IrType vector = block.type.with_lanes(block.lanes);
  Values columns;
  for (int v = 0; v < block.vectors(); ++v)
    columns.push_back(writer.load(vector,
                                  writer.element(b, IrWriter::integer(v * block.lanes), block.type, "b.at"),
                                  block.type.scalar_bytes() * block.lanes, "b"));
  for (int i = 0; i < block.rows; ++i) {
    IrValue scalar =
        writer.load(block.type, writer.element(a, IrWriter::integer(i), block.type, "a.at"), 0, "a");
    IrValue row = writer.splat(scalar, block.lanes);
    for (int v = 0; v < block.vectors(); ++v) {
      IrValue& sum = sums[static_cast<std::size_t>(i * block.vectors() + v)];
      if (block.type.is_float()) {
        sum = writer.call(intrinsic("fma", vector), vector, {row, columns[static_cast<std::size_t>(v)], sum},
                          "sum");
      } else {
        sum =
            writer.binary("add", sum, writer.binary("mul", row, columns[static_cast<std::size_t>(v)]), "sum");
      }
    }
  }
  return sums;
}

void write_register_block(IrWriter& writer, const RegisterBlock& block, const Values& parameters) {
  const IrValue &a = parameters[0], &b = parameters[1], &steps = parameters[2], &tile = parameters[3];
  IrType vector = block.type.with_lanes(block.lanes);
  auto at_tile = [&](int i) {
    return writer.element(tile, IrWriter::integer(i * block.lanes), block.type, "tile.at");
  };
  int count = block.rows * block.vectors();
  Values sums = writer.if_else(
      parameters[4], [&] { return Values(static_cast<std::size_t>(count), IrWriter::zero(vector)); },
      [&] {
        Values values;
        for (int i = 0; i < count; ++i) values.push_back(writer.load(vector, at_tile(i), 0, "sum"));
        return values;
      });
  auto step_from = [&](const IrValue& step, int more, Values carried) {
    IrValue s = writer.add(step, IrWriter::integer(more), "s");
    IrValue a_row = writer.element(a, writer.multiply(s, IrWriter::integer(block.rows)), block.type, "a.row");
    IrValue b_row =
        writer.element(b, writer.multiply(s, IrWriter::integer(block.columns)), block.type, "b.row");
    return multiply_step(writer, block, a_row, b_row, std::move(carried));
  };
  IrValue whole = steps, begin = IrWriter::integer(0);
  if (block.unroll > 1) {
    whole = writer.binary("and", steps, IrWriter::integer(-block.unroll), "whole");
    sums = writer.loop("step", begin, whole, IrWriter::integer(block.unroll), sums,
                       [&](const IrValue& step, const Values& carried) {
                         Values next = carried;
                         for (int u = 0; u < block.unroll; ++u) next = step_from(step, u, std::move(next));
                         return next;
                       });
    begin = whole;
  }
  sums = writer.loop("step", begin, steps, IrWriter::integer(1), sums,
                     [&](const IrValue& step, const Values& carried) { return step_from(step, 0, carried); });
  for (int i = 0; i < count; ++i)
    writer.store(sums[static_cast<std::size_t>(i)], at_tile(i), block.type.scalar_bytes());
}

/// Transposes a square of vectors by log2(lanes) rounds of interleaving: after each, one bit of the row
/// number has moved into the lane number.
Values transpose(IrWriter& writer, Values rows) {
  std::size_t count = rows.size();
  std::vector<int> low, high;
  for (int i = 0; i < static_cast<int>(count) / 2; ++i) {
    for (int half : {0, 1}) {
      low.push_back(i + half * static_cast<int>(count));
      high.push_back(i + static_cast<int>(count) / 2 + half * static_cast<int>(count));
    }
  }
  for (std::size_t round = 1; round < count; round *= 2) {
    Values next(count);
    for (std::size_t i = 0; i < count / 2; ++i) {
      next[2 * i] = writer.shuffle(rows[i], rows[i + count / 2], low);
      next[2 * i + 1] = writer.shuffle(rows[i], rows[i + count / 2], high);
    }
    rows = std::move(next);
  }
  return rows;
}

struct Packing {
  IrWriter& writer;
  IrType type;
  int lanes = 0, width = 0;
  const PanelSource& source;
  IrValue panel, row, first_step, last_step;

  IrValue at(const IrValue& step, int row_in_panel) const {
    IrValue offset = writer.multiply(writer.subtract(step, first_step), IrWriter::integer(width));
    return writer.element(panel, writer.add(offset, IrWriter::integer(row_in_panel)), type, "panel.at");
  }
  IrValue row_at(int i) const { return writer.add(row, IrWriter::integer(i), "row"); }

  /// All rows of the panel exist and lie contiguously: vectors along the rows.
  void along_rows() const {
    writer.loop("step", first_step, last_step, IrWriter::integer(1), [&](const IrValue& step) {
      for (int i = 0, chunk = lanes; i < width; i += chunk) {
        while (chunk > width - i) chunk /= 2;
        writer.store(source.element(row_at(i), step, chunk, false), at(step, i), type.scalar_bytes());
      }
    });
  }

  /// All rows of the panel exist and each lies contiguously along the steps: squares are transposed in
  /// registers.
  void along_steps() const {
    IrValue steps = writer.subtract(last_step, first_step);
    IrValue whole = writer.add(first_step, writer.binary("and", steps, IrWriter::integer(-lanes)), "whole");
    writer.loop("step", first_step, whole, IrWriter::integer(lanes), [&](const IrValue& step) {
      for (int i = 0; i < width; i += lanes) square(step, i);
    });
    by_elements(whole, IrWriter::integer(width));
  }

  void square(const IrValue& step, int first_row) const {
    int present = std::min(lanes, width - first_row);
    Values rows;
    for (int i = 0; i < lanes; ++i)
      rows.push_back(i < present ? source.element(row_at(first_row + i), step, lanes, true) : rows.back());
    rows = transpose(writer, std::move(rows));
    for (int s = 0; s < lanes; ++s)
      for (int i = 0, chunk = lanes; i < present; i += chunk) {
        while (chunk > present - i) chunk /= 2;
        std::vector<int> kept(static_cast<std::size_t>(chunk));
        std::iota(kept.begin(), kept.end(), i);
        const IrValue& whole = rows[static_cast<std::size_t>(s)];
        writer.store(chunk == lanes ? whole : writer.shuffle(whole, whole, kept),
                     at(writer.add(step, IrWriter::integer(s)), first_row + i), type.scalar_bytes());
      }
  }

  /// Any layout, element by element: the steps from `from` on of the first `present` rows, then zeros.
  void by_elements(const IrValue& from, const IrValue& present) const {
    IrValue one = IrWriter::integer(1);
    writer.loop("step", from, last_step, one, [&](const IrValue& step) {
      IrValue offset = writer.multiply(writer.subtract(step, first_step), IrWriter::integer(width));
      auto target = [&](const IrValue& i) {
        return writer.element(panel, writer.add(offset, i), type, "panel.at");
      };
      writer.loop("i", IrWriter::integer(0), present, one, [&](const IrValue& i) {
        writer.store(source.element(writer.add(row, i, "row"), step, 1, false), target(i));
      });
      if (present.is_constant()) return;  // all rows
      writer.loop("i", present, IrWriter::integer(width), one,
                  [&](const IrValue& i) { writer.store(IrWriter::zero(type), target(i)); });
    });
  }
};

}  // namespace

std::string register_block_helper(IrWriter& writer, const RegisterBlock& block) {
  std::string name =
      fmt::format("ek_block_{}x{}_{}_u{}", block.rows, block.columns, block.type.suffix(), block.unroll);
  writer.helper(name,
                {{ir_pointer, "a", "noalias"},
                 {ir_pointer, "b", "noalias"},
                 {ir_i64, "steps", ""},
                 {ir_pointer, "tile", "noalias"},
                 {ir_i1, "first", ""}},
                {}, [&](const Values& parameters) -> std::optional<IrValue> {
                  write_register_block(writer, block, parameters);
                  return std::nullopt;
                });
  return name;
}

void pack_panel(IrWriter& writer, IrType type, int lanes, int width, const PanelSource& source,
                const IrValue& panel, const IrValue& row, const IrValue& rows, const IrValue& first_step,
                const IrValue& last_step) {
  Packing packing{writer, type, lanes, width, source, panel, row, first_step, last_step};
  IrValue present = writer.minimum(writer.subtract(rows, row), IrWriter::integer(width), "present");
  if (source.unit == PanelSource::Unit::neither) return packing.by_elements(first_step, present);
  IrValue whole = writer.compare("sle", writer.add(row, IrWriter::integer(width)), rows, "whole");
  writer.if_else(
      whole,
      [&] {
        source.unit == PanelSource::Unit::rows ? packing.along_rows() : packing.along_steps();
        return Values();
      },
      [&] { return packing.by_elements(first_step, present), Values(); });
}

}  // namespace einkern::codegen::cpu
