// The loops around the register block are those of Goto and van de Geijn (Anatomy of high-performance matrix
// multiplication, 2008): b is packed once for all threads; a thread takes a block of rows and columns of the
// result, packs its rows of a for a stretch of the sum, and runs the register block over all pairs of panels.
#include "codegen/cpu/contraction_schedule.h"

#include <algorithm>
#include <cmath>

#include "codegen/cpu/axis_group.h"
#include "codegen/cpu/conversions.h"
#include "codegen/cpu/cost.h"
#include "codegen/cpu/expression_emitter.h"
#include "codegen/cpu/register_block.h"
#include "codegen/cpu/task_grid.h"
#include "codegen/plan/access.h"

namespace einkern::codegen::cpu {
namespace {

using core::SizeExpression;

/// A contraction's axes as three indices and a batch.
struct Groups {
  AxisGroup batch, m, n, k;
};

std::vector<ExpressionId> store_values(const Kernel& kernel) {
  std::vector<ExpressionId> values;
  for (const Store& store : kernel.stores) values.push_back(store.value);
  return values;
}

Groups groups_of(const KernelContext& context, const Contraction& form) {
  // The fold itself stands in the stores' values, so that they hold every use of the axes of a result; its
  // rewritten factors hold those of the summed axes.
  std::vector<ExpressionId> outputs = store_values(context.kernel);
  outputs.insert(outputs.end(), {form.a, form.b});
  const std::vector<Store>& stores = context.kernel.stores;
  return {AxisGroup(context, form.batch, outputs, stores), AxisGroup(context, form.m, outputs, stores),
          AxisGroup(context, form.n, outputs, stores),
          AxisGroup(context, form.contracted, {form.a, form.b}, {})};
}

/// Sizes of blocks, in elements, as the launch computes them.
struct Blocking {
  SizeExpression m, n, k, batch;  // of the whole product
  SizeExpression rows, columns,
      sum;  // of a block: multiples of the register block's, and of 16 along the sum
  SizeExpression m_blocks, n_blocks, k_blocks, n_panels;
};

SizeExpression round_up(const SizeExpression& size, std::int64_t multiple) {
  return core::ceil_divide(size, multiple) * SizeExpression(multiple);
}

/// Blocks near the configured sizes, of equal size, and enough of them for all threads.
Blocking blocking_of(const Groups& groups, const RegisterBlock& block, const Configuration& configuration) {
  Blocking b;
  b.batch = groups.batch.size();
  b.m = groups.m.size();
  b.n = groups.n.size();
  b.k = groups.k.size();
  SizeExpression threads = SizeExpression::symbol("sm_count");
  auto even = [](const SizeExpression& size, const SizeExpression& blocks, std::int64_t multiple) {
    return core::maximum(round_up(core::ceil_divide(size, core::maximum(blocks, 1)), multiple), multiple);
  };
  SizeExpression row_blocks = core::ceil_divide(b.m, configuration.get("mc"));
  b.rows = even(b.m, core::ceil_divide(row_blocks, threads) * threads, block.rows);
  b.m_blocks = core::ceil_divide(b.m, b.rows);
  SizeExpression wanted = core::ceil_divide(threads, core::maximum(b.batch * b.m_blocks, 1));
  b.columns =
      even(b.n, core::maximum(core::ceil_divide(b.n, configuration.get("nc")), wanted), block.columns);
  b.n_blocks = core::ceil_divide(b.n, b.columns);
  b.sum = even(b.k, core::ceil_divide(b.k, configuration.get("kc")), 16);
  b.k_blocks = core::ceil_divide(b.k, b.sum);
  b.n_panels = core::ceil_divide(b.n, block.columns);
  return b;
}

class ContractionEmitter {
 public:
  ContractionEmitter(const KernelContext& context, const Configuration& configuration, KernelModule& module)
      : context_(context),
        form_(std::get<Contraction>(context.kernel.form)),
        module_(module),
        groups_(groups_of(context, form_)) {
    block_.type = compute_ir_type(form_.accumulator);
    block_.lanes = context.device.vector_bytes / block_.type.scalar_bytes();
    block_.rows = static_cast<int>(configuration.get("rows"));
    block_.columns = static_cast<int>(configuration.get("vectors")) * block_.lanes;
    block_.unroll = static_cast<int>(configuration.get("unroll"));
    blocking_ = blocking_of(groups_, block_, configuration);
  }

  void emit() {
    emit_packing();
    emit_product();
  }

 private:
  SizeExpression bytes(const SizeExpression& elements) const {
    return elements * SizeExpression(block_.type.scalar_bytes());
  }
  SizeExpression packed_bytes() const {
    return bytes(blocking_.batch * blocking_.n_panels * blocking_.k * SizeExpression(block_.columns));
  }

  /// One task packs one panel of b: all of the sum for `columns` columns.
  void emit_packing() {
    LoopShape shape;
    shape.tasks = blocking_.batch * blocking_.n_panels;
    shape.grain = grain_for(blocking_.k * SizeExpression(block_.columns));
    module_.entry("_pack", shape, [&](EntryFrame& frame) {
      IrWriter& writer = frame.writer();
      ExpressionEmitter emitter(frame);
      IrValue packed = frame.buffer("packed", form_.accumulator, packed_bytes());
      IrValue panels = frame.size(blocking_.n_panels, "panels"), k = frame.size(blocking_.k, "k.size");
      IrValue n_size = frame.size(blocking_.n, "n.size");
      writer.loop("panel", frame.begin(), frame.end(), IrWriter::integer(1), [&](const IrValue& panel) {
        IrValue batch = writer.binary("udiv", panel, panels, "batch");
        IrValue n = writer.multiply(writer.binary("urem", panel, panels, "in.batch"), columns(), "n");
        IrValue offset = writer.multiply(writer.multiply(panel, k), columns(), "panel.offset");
        pack(emitter, form_.b, batch, groups_.n, block_.columns,
             writer.element(packed, offset, block_.type, "to"), n, n_size, IrWriter::integer(0), k);
      });
    });
  }

  void pack(ExpressionEmitter& emitter, ExpressionId operand, const IrValue& batch, const AxisGroup& rows,
            int width, const IrValue& panel, const IrValue& row, const IrValue& row_count,
            const IrValue& first, const IrValue& last) {
    PanelSource source;
    source.unit = unit_of(operand, rows, width);
    source.element = [&](const IrValue& at_row, const IrValue& step, int lanes, bool along_steps) {
      ExpressionEmitter::State before = emitter.state();
      groups_.batch.set(emitter, batch);
      if (along_steps) {
        rows.set(emitter, at_row);
        groups_.k.set_lanes(emitter, step, lanes);
      } else {
        groups_.k.set(emitter, step);
        rows.set_lanes(emitter, at_row, lanes);
      }
      IrValue value = emitter.lanes_value(operand);
      value =
          cast_value(emitter.writer(), value, context_.plan.graph->arena[operand].type, form_.accumulator);
      emitter.restore(std::move(before));
      return value;
    };
    pack_panel(emitter.writer(), block_.type, block_.lanes, width, source, panel, row, row_count, first,
               last);
  }

  /// The direction in which most reads of an operand are contiguous, if vectors can go that way.
  PanelSource::Unit unit_of(ExpressionId operand, const AxisGroup& rows, int width) const {
    const dsl::ExpressionArena& arena = context_.plan.graph->arena;
    int along_rows = 0, along_steps = 0;
    for (ExpressionId read : reads_of(arena, {operand})) {
      const TensorLayout& layout =
          context_.specialisation.tensors[static_cast<std::size_t>(arena[read].index)];
      along_rows += movement(arena, read, rows.innermost(), layout) == Movement::unit;
      along_steps += movement(arena, read, groups_.k.innermost(), layout) == Movement::unit;
    }
    bool rows_fit =
        rows.is_single_run() || (width % block_.lanes == 0 && rows.keeps_lanes_together(block_.lanes));
    if (along_steps >= along_rows && along_steps > 0 && groups_.k.keeps_lanes_together(block_.lanes))
      return PanelSource::Unit::steps;
    if (along_rows > 0 && rows_fit) return PanelSource::Unit::rows;
    return PanelSource::Unit::neither;
  }

  /// One task computes one block of the result.
  void emit_product() {
    LoopShape shape;
    shape.tasks = blocking_.batch * blocking_.n_blocks * blocking_.m_blocks;
    shape.grain =
        grain_for(blocking_.rows * blocking_.columns * core::maximum(core::ceil_divide(blocking_.k, 16), 1));
    // The accumulators of a block wait in memory only where the sum is cut.
    SizeExpression waiting = core::minimum(core::maximum(blocking_.k_blocks - SizeExpression(1), 0), 1);
    SizeExpression tiles = SizeExpression(block_.elements()) + waiting * blocking_.rows * blocking_.columns;
    shape.scratch_bytes = bytes(blocking_.rows * blocking_.sum + tiles) + SizeExpression(64);
    module_.entry("", shape, [&](EntryFrame& frame) {
      ExpressionEmitter emitter(frame);
      Product product = begin_product(frame, waiting);
      frame.writer().loop("task", frame.begin(), frame.end(), IrWriter::integer(1),
                          [&](const IrValue& task) { write_block(emitter, product, task); });
    });
  }

  /// Values that all tasks of the product share, and the place of one task.
  struct Product {
    IrValue packed, packed_a, tiles, tile_step, m, n, k, rows, columns, sum, m_blocks, n_blocks, panels;
    IrValue batch, m0, m1, n0, n1;
  };

  Product begin_product(EntryFrame& frame, const SizeExpression& waiting) {
    IrWriter& writer = frame.writer();
    Product p;
    p.packed = frame.buffer("packed", form_.accumulator, packed_bytes());
    p.m = frame.size(blocking_.m, "m.size");
    p.n = frame.size(blocking_.n, "n.size");
    p.k = frame.size(blocking_.k, "k.size");
    p.rows = frame.size(blocking_.rows, "block.rows");
    p.columns = frame.size(blocking_.columns, "block.columns");
    p.sum = frame.size(blocking_.sum, "block.sum");
    p.m_blocks = frame.size(blocking_.m_blocks, "m.blocks");
    p.n_blocks = frame.size(blocking_.n_blocks, "n.blocks");
    p.panels = frame.size(blocking_.n_panels, "panels");
    p.tile_step = frame.size(waiting, "tile.step");
    p.packed_a = frame.scratch();
    p.tiles = writer.element(p.packed_a, writer.multiply(p.rows, p.sum), block_.type, "tiles");
    return p;
  }

  void write_block(ExpressionEmitter& emitter, Product& p, const IrValue& task) {
    IrWriter& writer = emitter.writer();
    IrValue m_block = writer.binary("urem", task, p.m_blocks, "m.block");
    IrValue rest = writer.binary("udiv", task, p.m_blocks, "rest");
    p.batch = writer.binary("udiv", rest, p.n_blocks, "batch");
    p.m0 = writer.multiply(m_block, p.rows, "m0");
    p.n0 = writer.multiply(writer.binary("urem", rest, p.n_blocks, "n.block"), p.columns, "n0");
    p.m1 = writer.minimum(writer.add(p.m0, p.rows), p.m, "m1");
    p.n1 = writer.minimum(writer.add(p.n0, p.columns), p.n, "n1");
    // An empty sum still has a first and last stretch: the result is the epilogue of 0.
    IrValue one = IrWriter::integer(1);
    IrValue k_end = writer.call(intrinsic("smax", ir_i64), ir_i64, {p.k, one}, "k.end");
    writer.loop("k0", IrWriter::integer(0), k_end, p.sum, [&](const IrValue& k0) {
      IrValue k1 = writer.minimum(writer.add(k0, p.sum), p.k, "k1");
      writer.comment("pack the block's rows of a for this stretch of the sum");
      writer.loop("m", p.m0, p.m1, rows(), [&](const IrValue& m) {
        pack(emitter, form_.a, p.batch, groups_.m, block_.rows, a_panel(writer, p, m), m, p.m1, k0, k1);
      });
      writer.comment("all pairs of panels");
      writer.loop("n", p.n0, p.n1, columns(), [&](const IrValue& n) {
        writer.loop("m", p.m0, p.m1, rows(), [&](const IrValue& m) { write_pair(emitter, p, m, n, k0, k1); });
      });
    });
  }

  IrValue a_panel(IrWriter& writer, const Product& p, const IrValue& m) const {
    return writer.element(p.packed_a, writer.multiply(writer.subtract(m, p.m0), p.sum), block_.type,
                          "a.panel");
  }

  void write_pair(ExpressionEmitter& emitter, const Product& p, const IrValue& m, const IrValue& n,
                  const IrValue& k0, const IrValue& k1) {
    IrWriter& writer = emitter.writer();
    // b's panels lie batch by batch, each with `columns` elements a step.
    IrValue first_column =
        writer.add(writer.multiply(p.batch, writer.multiply(p.panels, columns())), n, "column");
    IrValue b_offset =
        writer.add(writer.multiply(first_column, p.k), writer.multiply(k0, columns()), "b.offset");
    IrValue b_panel = writer.element(p.packed, b_offset, block_.type, "b.panel");
    IrValue tile_offset = writer.add(writer.multiply(writer.subtract(n, p.n0), p.rows),
                                     writer.multiply(writer.subtract(m, p.m0), columns()), "tile.offset");
    IrValue tile = writer.element(p.tiles, writer.multiply(tile_offset, p.tile_step), block_.type, "tile");
    IrValue first = writer.compare("eq", k0, IrWriter::integer(0), "first");
    writer.call_helper_void(register_block_helper(writer, block_),
                            {a_panel(writer, p, m), b_panel, writer.subtract(k1, k0, "steps"), tile, first});
    IrValue last = writer.compare("eq", k1, p.k, "last");
    writer.if_then(last, [&] { write_epilogue(emitter, p, tile, m, n); });
  }

  /// Stores the tile's elements that exist, row by row, in vectors where the result's columns allow.
  void write_epilogue(ExpressionEmitter& emitter, const Product& p, const IrValue& tile, const IrValue& m,
                      const IrValue& n) {
    IrWriter& writer = emitter.writer();
    int lanes = groups_.n.keeps_lanes_together(block_.lanes) ? block_.lanes : 1;
    IrValue count = writer.minimum(writer.subtract(p.n1, n), columns(), "present");
    IrValue m_end = writer.minimum(writer.add(m, rows()), p.m1, "m.end");
    ExpressionEmitter::State before = emitter.state();
    groups_.batch.set(emitter, p.batch);
    writer.loop("i", m, m_end, IrWriter::integer(1), [&](const IrValue& i) {
      ExpressionEmitter::State outer = emitter.state();
      groups_.m.set(emitter, i);
      IrValue row =
          writer.element(tile, writer.multiply(writer.subtract(i, m), columns()), block_.type, "tile.row");
      for_each_vector(writer, "j", IrWriter::integer(0), count, lanes, 1, [&](const IrValue& j, int width) {
        ExpressionEmitter::State point = emitter.state();
        groups_.n.set_lanes(emitter, writer.add(n, j, "column"), width);
        IrValue at = writer.element(row, j, block_.type, "sum.at");
        emitter.set_value(form_.fold,
                          writer.load(block_.type.with_lanes(width), at, block_.type.scalar_bytes(), "sum"));
        for (const Store& store : context_.kernel.stores) emitter.store(store);
        emitter.restore(std::move(point));
      });
      emitter.restore(std::move(outer));
    });
    emitter.restore(std::move(before));
  }

  IrValue rows() const { return IrWriter::integer(block_.rows); }
  IrValue columns() const { return IrWriter::integer(block_.columns); }

  const KernelContext& context_;
  const Contraction& form_;
  KernelModule& module_;
  Groups groups_;
  RegisterBlock block_;
  Blocking blocking_;
};

class ContractionSchedule final : public Schedule {
 public:
  std::string_view name() const override { return "cpu.contraction"; }
  int version() const override { return 1; }
  core::Backend backend() const override { return core::Backend::cpu; }

  std::optional<std::string> reason_against(const KernelContext& context) const override {
    const auto* form = std::get_if<Contraction>(&context.kernel.form);
    if (form == nullptr)
      return "it is no contraction but a " + std::string(form_name(context.kernel)) + " kernel";
    Groups groups = groups_of(context, *form);
    if (!groups.batch.is_computed() || !groups.m.is_computed() || !groups.n.is_computed() ||
        !groups.k.is_computed())
      return "the range of an axis depends on data";
    return std::nullopt;
  }

  ConfigurationSpace space(const KernelContext& context) const override {
    const auto& form = std::get<Contraction>(context.kernel.form);
    int element = compute_ir_type(form.accumulator).scalar_bytes();
    int registers = context.device.max_registers_per_thread;
    std::int64_t l2 = context.device.l2_bytes;
    ConfigurationSpace space;
    space.parameters = {
        {"rows", {14, 12, 8, 6, 4, 2, 1}, true, "rows of the block held in registers"},
        {"vectors", {2, 3, 4, 1}, true, "vectors of columns of the block held in registers"},
        {"unroll", {1, 2, 4}, true, "steps of the sum in one turn of the innermost loop"},
        {"mc", {112, 56, 224, 28}, false, "rows of the result that a task computes, about"},
        {"nc", {1024, 512, 256, 4096}, false, "columns of the result that a task computes, about"},
        {"kc",
         {1024, 512, 256, 2048},
         false,
         "steps of the sum for which a task packs its rows at once, about"}};
    space.constraints = {{"the accumulators, a row of b and two of a fit the vector registers",
                          [registers](const Configuration& c) -> std::optional<std::string> {
                            std::int64_t needed = (c.get("rows") + 1) * c.get("vectors") + 2;
                            if (needed <= registers) return std::nullopt;
                            return std::to_string(needed) + " vector registers > " +
                                   std::to_string(registers);
                          }},
                         {"the packed rows of a fit half of the L2 cache",
                          [l2, element](const Configuration& c) -> std::optional<std::string> {
                            std::int64_t bytes = c.get("mc") * c.get("kc") * element;
                            if (bytes <= l2 / 2) return std::nullopt;
                            return std::to_string(bytes) + " bytes > " + std::to_string(l2 / 2);
                          }}};
    return space;
  }

  Estimate estimate(const KernelContext& context, const Configuration& configuration) const override {
    const auto& form = std::get<Contraction>(context.kernel.form);
    const dsl::Function& graph = *context.plan.graph;
    double m = static_cast<double>(extent_of(graph, form.m, context.binding));
    double n = static_cast<double>(extent_of(graph, form.n, context.binding));
    double k = static_cast<double>(extent_of(graph, form.contracted, context.binding));
    double rows = static_cast<double>(configuration.get("rows")),
           vectors = static_cast<double>(configuration.get("vectors"));
    int element = compute_ir_type(form.accumulator).scalar_bytes();
    int elements = context.device.vector_bytes / element;  // of a vector
    double columns = vectors * elements;
    // A step of the block starts rows * vectors multiply-adds and loads rows + vectors values; about two of
    // the first and two of the second start in a cycle, and fewer than eight chains of sums do not fill the
    // pipelines.
    double balance = rows * vectors / std::max(rows * vectors, rows + vectors);
    double chains = std::min(1.0, rows * vectors / 10);
    auto whole = [](double size, double tile) { return size / (std::ceil(size / tile) * tile); };
    double used = m * n > 0 ? whole(m, rows) * whole(n, columns) : 1;
    double cuts = std::ceil(k / static_cast<double>(configuration.get("kc")));
    double packing = 1 + 4 / std::max(1.0, m) +
                     4 / std::max(1.0, std::min(n, static_cast<double>(configuration.get("nc")))) +
                     0.01 * cuts;
    double lanes = context.device.vector_bytes / 4.0 * balance * chains * used / packing;
    Estimate estimate =
        roofline(context, kernel_cost(context.plan, context.kernel, context.binding), 2 * lanes);
    return estimate;
  }

  core::Result<core::Emission> emit(const KernelContext& context,
                                    const Configuration& configuration) const override {
    KernelModule module(context, *this, configuration);
    ContractionEmitter(context, configuration, module).emit();
    return module.finish();
  }
};

}  // namespace

const Schedule& contraction_schedule() {
  static const ContractionSchedule schedule;
  return schedule;
}

}  // namespace einkern::codegen::cpu
