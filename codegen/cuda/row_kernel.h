// The kernel of rows and columns: which threads share a row, folds over its columns, then the stores.
#pragma once

#include <string>
#include <vector>

#include "codegen/cuda/linear_grid.h"
#include "codegen/cuda/vector_block.h"

namespace einkern::codegen::cuda {

/// How a block's threads lie on rows and columns.
struct RowMapping {
  int threads = 256;
  int threads_per_row = 32;  // "members": they share a row's columns
  int vector = 1;            // consecutive columns of a member
  int vectors = 1;           // vectors that a member has in flight
  bool resident = false;     // threads_per_row * vector * vectors columns cover the row: it is read once
  bool rows_across_lanes =
      false;       // neighbouring lanes take neighbouring rows: where those lie contiguous in memory
  int splits = 1;  // blocks that share a row; > 1: partial results go to scratch, a second kernel merges them

  int rows_per_block() const { return threads / threads_per_row; }
};

/// The rows' and columns' axes in the order in which a mapping walks them, and facts about them.
struct RowShape {
  const RowReduction& form;
  std::vector<AxisId> rows, columns;
  std::vector<std::vector<Fold>> levels;  // folds whose bodies need only earlier levels' results
  std::vector<Store> row_stores, column_stores;
};
RowShape row_shape(const KernelContext& context);

/// Writes the kernel, or with `splits` > 1 the first of two, into `kernel`.
class RowKernelEmitter {
 public:
  RowKernelEmitter(KernelWriter& kernel, const RowMapping& mapping);
  LaunchShape emit();

 private:
  struct Running {
    Fold fold;
    ExpressionEmitter::Accumulator accumulator;
  };

  void bind_row(const LinearGrid& grid);
  void bind_columns();
  void emit_level(const std::vector<Fold>& folds);
  void emit_row_stores();
  void emit_column_stores();
  void emit_partials(const std::vector<Running>& running);
  /// Loops over the vectors of a member (and over tiles of them where the row is not resident); `emit` gets
  /// the slot's text, with the columns bound to the vector's first one.
  void for_each_vector(const std::function<void(const std::string& slot)>& emit);
  void load_tile(const std::string& tile);
  void open_vector_loop(const std::string& tile, std::string& slot);
  void reduce_over_members(const ExpressionEmitter::Accumulator& accumulator);
  void exchange_in_shared(const ExpressionEmitter::Accumulator& accumulator);

  TextWriter& body() { return kernel_.body(); }

  KernelWriter& kernel_;
  ExpressionEmitter emitter_;
  RowMapping mapping_;
  RowShape shape_;
  VectorBlock block_;  // what the folds read: stays in registers where the row is resident
  std::string member_, row_in_block_, row_, split_, begin_, end_;
  std::string active_;  // whether the row exists, where the last block may have rows to spare
};

/// Writes the second kernel of a split reduction: merges each row's partial results, then stores.
LaunchShape emit_row_merge(KernelWriter& kernel, const RowMapping& mapping);

}  // namespace einkern::codegen::cuda
