// Few rows, many columns: threads share the columns. Each stage of folds leaves partial results of every
// chunk; whoever needs a fold's value merges them in the chunks' order, so that all threads get the same
// bits.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/cpu/conversions.h"
#include "codegen/cpu/cost.h"
#include "codegen/cpu/row_emitter.h"
#include "codegen/cpu/task_grid.h"

namespace einkern::codegen::cpu {

using core::SizeExpression;

namespace {

constexpr std::int64_t most_chunks = 256;  // merging stays cheap

}  // namespace

RowEmitter::Chunks RowEmitter::chunks() const {
  SizeExpression columns = columns_.size();
  SizeExpression least = core::maximum(choice_.chunk, core::ceil_divide(columns, most_chunks));
  Chunks chunks;
  chunks.length = core::ceil_divide(least, 64) * SizeExpression(64);
  chunks.count = core::ceil_divide(columns, chunks.length);
  std::int64_t rows_of_task = choice_.across_rows ? choice_.lanes * choice_.vectors : 1;
  chunks.row_blocks = core::ceil_divide(rows_.size(), rows_of_task);
  return chunks;
}

/// Folds that may run side by side: none uses a result of its own stage.
std::vector<std::vector<std::size_t>> RowEmitter::stages() const {
  std::vector<std::vector<std::size_t>> stages;
  for (std::size_t f = 0; f < form_.folds.size(); ++f) {
    bool depends = stages.empty();
    dsl::visit_nodes(context_.plan.graph->arena, form_.folds[f].body, [&](ExpressionId id) {
      if (stages.empty()) return;
      for (std::size_t other : stages.back()) depends = depends || form_.folds[other].node == id;
    });
    if (depends) stages.emplace_back();
    stages.back().push_back(f);
  }
  return stages;
}

void RowEmitter::for_each_chunk(
    EntryFrame& frame, const Chunks& chunks, bool by_columns,
    const std::function<void(RowSet&, const IrValue& chunk, const Columns&)>& body) {
  IrWriter& writer = frame.writer();
  IrValue rows_of_task = IrWriter::integer(choice_.across_rows ? choice_.lanes * choice_.vectors : 1);
  IrValue row_count = frame.size(rows_.size(), "rows");
  writer.loop("task", frame.begin(), frame.end(), IrWriter::integer(1), [&](const IrValue& task) {
    IrValue block = task, chunk = IrWriter::integer(0);
    Columns columns;
    if (by_columns) {
      IrValue count = frame.size(chunks.count, "chunks"), length = frame.size(chunks.length, "chunk.length");
      block = writer.binary("udiv", task, count, "block");
      chunk = writer.binary("urem", task, count, "chunk");
      columns.from = writer.multiply(chunk, length, "columns.from");
      columns.to = writer.minimum(writer.add(*columns.from, length), frame.size(columns_.size(), "columns"),
                                  "columns.to");
    }
    IrValue first = writer.multiply(block, rows_of_task, "row.first");
    IrValue last = writer.minimum(writer.add(first, rows_of_task), row_count, "row.last");
    for_each_row_set(frame, first, last, [&](RowSet& rows) { body(rows, chunk, columns); });
  });
}

/// A fold's buffers, one for each value it carries: the best element and its place, or the one value.
std::vector<std::pair<IrValue, DType>> RowEmitter::partial_buffers(EntryFrame& frame, std::size_t fold,
                                                                   const Chunks& chunks) const {
  const Fold& facts = form_.folds[fold];
  std::vector<DType> types = {context_.plan.graph->arena[facts.body].type};
  if (reduction(frame.writer(), facts).has_position()) types.push_back(DType::i64);
  std::vector<std::pair<IrValue, DType>> buffers;
  for (std::size_t i = 0; i < types.size(); ++i) {
    SizeExpression bytes = chunks.count * rows_.size() * SizeExpression(core::size_bytes(types[i]));
    buffers.emplace_back(frame.buffer(fmt::format("partial.{}.{}", fold, i), types[i], bytes), types[i]);
  }
  return buffers;
}

/// Partials lie chunk by chunk, so that neighbouring rows share a vector.
IrValue RowEmitter::partial_index(EntryFrame& frame, const IrValue& chunk, const Rows& rows) const {
  IrWriter& writer = frame.writer();
  return writer.add(writer.multiply(chunk, frame.size(rows_.size(), "rows")), rows.first, "partial");
}

void RowEmitter::merge_partials(ExpressionEmitter& emitter, std::size_t fold_count, RowSet& rows,
                                const Chunks& chunks) const {
  EntryFrame& frame = emitter.frame();
  IrWriter& writer = frame.writer();
  for (std::size_t f = 0; f < fold_count; ++f) {
    ReductionEmitter reduce = reduction(writer, form_.folds[f]);
    auto buffers = partial_buffers(frame, f, chunks);
    for (Rows& row : rows) {
      Values merged = writer.loop(
          "chunk", IrWriter::integer(0), frame.size(chunks.count, "chunks"), IrWriter::integer(1),
          reduce.identity(row.lanes), [&](const IrValue& chunk, const Values& carried) {
            Values partial;
            for (const auto& [buffer, type] : buffers) {
              IrType stored = storage_ir_type(type);
              IrValue at = writer.element(buffer, partial_index(frame, chunk, row), stored);
              IrValue value = writer.load(stored.with_lanes(row.lanes), at, stored.scalar_bytes());
              partial.push_back(from_storage(writer, value, type));
            }
            return reduce.merge(carried, partial);
          });
      row.results.push_back(ReductionEmitter::result(merged));
    }
  }
}

void RowEmitter::emit_stage(const Chunks& chunks, const std::vector<std::size_t>& folds) {
  LoopShape shape;
  shape.tasks = chunks.row_blocks * chunks.count;
  shape.grain = grain_for(chunks.length * SizeExpression(operations_of_point(context_)));
  module_.entry(fmt::format("_fold{}", folds[0]), shape, [&](EntryFrame& frame) {
    IrWriter& writer = frame.writer();
    ExpressionEmitter emitter(frame);
    for_each_chunk(frame, chunks, true, [&](RowSet& rows, const IrValue& chunk, const Columns& columns) {
      merge_partials(emitter, folds[0], rows, chunks);
      for (std::size_t fold : folds) {
        Values carried = accumulate(emitter, form_.folds[fold], rows, columns);
        auto buffers = partial_buffers(frame, fold, chunks);
        for (std::size_t r = 0; r < rows.size(); ++r)
          for (std::size_t i = 0; i < buffers.size(); ++i) {
            const auto& [buffer, type] = buffers[i];
            IrValue stored = to_storage(writer, carried[r * buffers.size() + i], type, type);
            IrValue at = writer.element(buffer, partial_index(frame, chunk, rows[r]), storage_ir_type(type));
            writer.store(stored, at, core::size_bytes(type));
          }
      }
    });
  });
}

void RowEmitter::emit_split() {
  Chunks all = chunks();
  for (const std::vector<std::size_t>& folds : stages()) emit_stage(all, folds);
  const std::vector<Store>& stores = context_.kernel.stores;
  bool row_stores =
      std::any_of(stores.begin(), stores.end(), [&](const Store& store) { return !is_column_store(store); });
  if (row_stores) {
    LoopShape shape;
    shape.tasks = all.row_blocks;
    shape.grain = grain_for(all.count);
    module_.entry("_rows", shape, [&](EntryFrame& frame) {
      ExpressionEmitter emitter(frame);
      for_each_chunk(frame, all, false, [&](RowSet& rows, const IrValue&, const Columns&) {
        merge_partials(emitter, form_.folds.size(), rows, all);
        store_rows(emitter, rows);
      });
    });
  }
  if (!stores_columns()) return;
  LoopShape shape;
  shape.tasks = all.row_blocks * all.count;
  shape.grain = grain_for(all.length * SizeExpression(operations_of_point(context_)));
  module_.entry("_columns", shape, [&](EntryFrame& frame) {
    ExpressionEmitter emitter(frame);
    for_each_chunk(frame, all, true, [&](RowSet& rows, const IrValue&, const Columns& columns) {
      merge_partials(emitter, form_.folds.size(), rows, all);
      store_columns(emitter, rows, columns);
    });
  });
}

}  // namespace einkern::codegen::cpu
