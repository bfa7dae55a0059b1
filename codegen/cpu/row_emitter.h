// Writes the entries of a row reduction for one choice of how lanes, accumulators and threads are used.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "codegen/cpu/axis_group.h"
#include "codegen/cpu/expression_emitter.h"
#include "codegen/cpu/kernel_module.h"
#include "codegen/cpu/reductions.h"

namespace einkern::codegen::cpu {

/// How a row reduction is computed.
struct RowChoice {
  bool across_rows = false;  // lanes hold neighbouring rows, else neighbouring columns
  int lanes = 16;
  int vectors = 4;     // of accumulators at a time: along the lanes' direction
  bool split = false;  // the columns are cut into chunks that threads share; partial results are merged
  std::int64_t chunk = 16384;  // columns of a chunk, at least
};

/// The choice that a configuration of cpu.rows says.
RowChoice row_choice(const Configuration& configuration);

/// Whether the columns can be run through as one index whose neighbours share a vector.
bool has_flat_columns(const KernelContext& context, int lanes);
bool may_split(const KernelContext& context);
bool may_go_across_rows(const KernelContext& context, int lanes);

class RowEmitter {
 public:
  RowEmitter(const KernelContext& context, const RowChoice& choice, KernelModule& module);
  void emit();

 private:
  using Values = IrWriter::Values;

  /// Rows computed together: one (lanes along the columns), or up to `vectors` vectors of them. A fold's
  /// results stand beside the rows for which they hold.
  struct Rows {
    IrValue first;  // index in the row group
    int lanes = 1;
    std::vector<IrValue> results;  // by fold, as far as known
  };
  using RowSet = std::vector<Rows>;
  /// Columns [from, to) of the flat index; without a value: all of them.
  struct Columns {
    std::optional<IrValue> from, to;
  };

  void emit_whole_rows();
  void emit_split();
  void for_each_row_set(EntryFrame& frame, const IrValue& first, const IrValue& last,
                        const std::function<void(RowSet&)>& body);
  void set_rows(ExpressionEmitter& emitter, const Rows& rows) const;

  Values fold_element(ExpressionEmitter& emitter, const Fold& fold, const Values& carried, int lanes) const;
  Values accumulate(ExpressionEmitter& emitter, const Fold& fold, const RowSet& rows,
                    const Columns& columns) const;
  Values accumulate_scalar_columns(ExpressionEmitter& emitter, const Fold& fold, const RowSet& rows,
                                   const Columns& columns) const;
  Values accumulate_vector_columns(ExpressionEmitter& emitter, const Fold& fold, const Rows& rows,
                                   const Columns& columns) const;
  Values nest_columns(ExpressionEmitter& emitter, std::size_t depth, const Values& initial,
                      const std::function<Values(const Values&)>& innermost) const;
  ReductionEmitter reduction(IrWriter& writer, const Fold& fold) const;

  void store_rows(ExpressionEmitter& emitter, const RowSet& rows) const;
  void store_columns(ExpressionEmitter& emitter, const RowSet& rows, const Columns& columns) const;
  bool stores_columns() const;
  bool is_column_store(const Store& store) const;

  // columns in chunks (row_split.cpp)
  struct Chunks {
    core::SizeExpression length, count, row_blocks;
  };
  Chunks chunks() const;
  std::vector<std::vector<std::size_t>> stages() const;
  void emit_stage(const Chunks& chunks, const std::vector<std::size_t>& folds);
  void for_each_chunk(EntryFrame& frame, const Chunks& chunks, bool by_columns,
                      const std::function<void(RowSet&, const IrValue& chunk, const Columns&)>& body);
  void merge_partials(ExpressionEmitter& emitter, std::size_t fold_count, RowSet& rows,
                      const Chunks& chunks) const;
  std::vector<std::pair<IrValue, DType>> partial_buffers(EntryFrame& frame, std::size_t fold,
                                                         const Chunks& chunks) const;
  IrValue partial_index(EntryFrame& frame, const IrValue& chunk, const Rows& rows) const;

  const KernelContext& context_;
  const RowReduction& form_;
  RowChoice choice_;
  KernelModule& module_;
  AxisGroup rows_, columns_;
  bool flat_;
};

}  // namespace einkern::codegen::cpu
