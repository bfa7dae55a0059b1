#include "codegen/cuda/simt_matmul_emitter.h"

#include <fmt/format.h>

#include "codegen/cuda/epilogue.h"
#include "codegen/cuda/linear_grid.h"
#include "codegen/cuda/monoid.h"

namespace einkern::codegen::cuda {

namespace {

using core::SizeExpression;

const Contraction& contraction_of(const KernelWriter& kernel) {
  return std::get<Contraction>(kernel.context().kernel.form);
}

/// The scratch buffer of partial sums, [split][batch][m][n].
std::string parts_buffer(KernelWriter& kernel, const SimtMatmulTile& tile, bool written) {
  const Contraction& form = contraction_of(kernel);
  SizeExpression bytes = product_of_sizes(kernel, form.m) * product_of_sizes(kernel, form.n);
  if (!form.batch.empty()) bytes = bytes * product_of_sizes(kernel, form.batch);
  return kernel.scratch("parts", form.accumulator, bytes * (tile.splits * tile.element_bytes), written);
}

/// What stands before a sum of i64 where it is used: its value fits the index type where that is narrow.
std::string as_index_value(const KernelWriter& kernel) {
  return contraction_of(kernel).accumulator == DType::i64 && kernel.narrow() ? "(int)" : "";
}

class SimtMatmulEmitter {
 public:
  SimtMatmulEmitter(KernelWriter& kernel, const SimtMatmulTile& tile)
      : kernel_(kernel),
        emitter_(kernel),
        form_(contraction_of(kernel)),
        tile_(tile),
        a_(matmul_operand(kernel.context(), "a", form_.a, form_.m)),
        b_(matmul_operand(kernel.context(), "b", form_.b, form_.n)),
        layout_(tile.layout()),
        type_(value_type(form_.accumulator)),
        rows_(product_of_sizes(kernel, form_.m)),
        columns_(product_of_sizes(kernel, form_.n)),
        steps_(product_of_sizes(kernel, form_.contracted)) {}

  LaunchShape emit() {
    declare_constants();
    const SizeExpression tiles =
        core::ceil_divide(rows_, tile_.block_m) * core::ceil_divide(columns_, tile_.block_n);
    SizeExpression items = tiles;
    if (tile_.splits > 1) items = items * tile_.splits;
    if (!form_.batch.empty()) items = items * product_of_sizes(kernel_, form_.batch);
    const LinearGrid grid = open_linear_grid(kernel_, items, 1);
    emit_place(grid.block, tiles);
    emit_main();
    tile_.splits > 1 ? emit_parts() : emit_stores();
    if (grid.loop) body().line("__syncthreads();  // before the next tile's copies");
    close_linear_grid(kernel_, grid);
    return {.grid = {grid.grid, 1, 1},
            .threads = tile_.threads(),
            .least_blocks = tile_.resident_by_registers(
                kernel_.context().device, a_.passing_registers(tile_) + b_.passing_registers(tile_)),
            .shared_bytes = tile_.shared_bytes(a_.along_steps, b_.along_steps)};
  }

 private:
  TextWriter& body() { return kernel_.body(); }
  std::string_view index() const { return kernel_.index_type(); }

  void declare_constants() {
    for (const auto& [name, value] : {std::pair{"block_m", tile_.block_m},
                                      {"block_n", tile_.block_n},
                                      {"block_k", tile_.block_k},
                                      {"thread_m", tile_.thread_m},
                                      {"thread_n", tile_.thread_n},
                                      {"stages", tile_.stages}})
      kernel_.constant(name, value);
  }

  void declare(std::string_view name, const std::string& value) {
    body().line(fmt::format("const {} {} = {};", index(), name, value));
  }

  /// Which tile, part of the sum and batch element the block computes.
  void emit_place(const std::string& block, const SizeExpression& tiles) {
    std::string tile = block;
    const bool outer = tile_.splits > 1 || !form_.batch.empty();
    if (outer) {
      declare("tile_number", remainder_text(kernel_, block, tiles));
      tile = "tile_number";
      std::string rest = quotient_text(kernel_, block, tiles);
      if (tile_.splits > 1 && !form_.batch.empty()) {
        declare("part_number", rest);
        rest = fmt::format("part_number / {}", kernel_.constant("splits", tile_.splits));
        declare("split", fmt::format("part_number % {}", kernel_.constant("splits", tile_.splits)));
      } else if (tile_.splits > 1) {
        declare("split", rest);
      }
      if (!form_.batch.empty()) {
        declare("batch", rest);
        bind_axes_from_flat(emitter_, "batch", form_.batch);
      }
    }
    body().comment(
        "Blocks go through bands of k_band tile rows, so that those in flight share operands in the L2 "
        "cache.");
    const SizeExpression tiles_n = core::ceil_divide(columns_, tile_.block_n);
    const std::string band_height = kernel_.constant("band", tile_.band);
    declare("band", quotient_text(kernel_, tile, tiles_n * tile_.band));
    declare("in_band", remainder_text(kernel_, tile, tiles_n * tile_.band));
    declare("band_row", fmt::format("band * {}", band_height));
    const std::string tiles_m = kernel_.extent(core::ceil_divide(rows_, tile_.block_m), "tiles_m");
    declare("height", fmt::format("min(({0}){1}, {2} - band_row)", index(), band_height, tiles_m));
    declare("first_m", "(band_row + in_band % height) * k_block_m");
    declare("first_n", "in_band / height * k_block_n");
    body().comment("The part of the sum, in tiles of k_block_k steps.");
    const SizeExpression tiles_k = core::ceil_divide(steps_, tile_.block_k);
    const std::string count = kernel_.extent(tiles_k, "tiles_k");
    if (tile_.splits > 1) {
      const std::string part = kernel_.extent(core::ceil_divide(tiles_k, tile_.splits), "tiles_of_part");
      declare("first_tile", fmt::format("min({}, split * {})", count, part));
      declare("end_tile", fmt::format("min({}, first_tile + {})", count, part));
    } else {
      declare("end_tile", count);
    }
  }

  void emit_main() {
    const MatmulNames names{.value_type = type_,
                            .first_tile = tile_.splits > 1 ? "first_tile" : "",
                            .step_count = kernel_.extent(steps_, "steps")};
    MatmulNames a_names = names, b_names = names;
    a_names.first_row = "first_m";
    a_names.row_count = kernel_.extent(rows_, "rows");
    b_names.first_row = "first_n";
    b_names.row_count = kernel_.extent(columns_, "columns");
    MatmulOperandWriter a(emitter_, a_, tile_, a_names), b(emitter_, b_, tile_, b_names);

    body().blank();
    body().line("extern __shared__ __align__(16) unsigned char shared[];");
    body().line(fmt::format("{0}* const a_shared = reinterpret_cast<{0}*>(shared);", type_));
    body().line(fmt::format("{}* const b_shared = a_shared + k_stages * k_a_stage;", type_));
    body().line("const int thread = threadIdx.x;");
    a.declare_copies();
    b.declare_copies();

    body().blank();
    body().comment(
        "Registers: a block of the result, and two sets of operand fragments, one being read while the other "
        "is used.");
    body().line(
        fmt::format("const int thread_row = {};", without_parentheses(layout_.row_of_thread("thread"))));
    body().line(fmt::format("const int thread_column = {};",
                            without_parentheses(layout_.column_of_thread("thread"))));
    body().line(fmt::format("{} accumulator[k_thread_m * k_thread_n] = {{}};", type_));
    a.declare_fragments("thread_row", tile_.thread_m, tile_.lanes_m());
    b.declare_fragments("thread_column", tile_.thread_n, tile_.lanes_n());
    emit_multiply();
    emit_loop(a, b);
  }

  /// The outer product of two fragments. The inner loop runs back and forth: neighbouring steps then share an
  /// operand, which the register file's reuse cache holds.
  void emit_multiply() {
    const int chunk = tile_.chunk();
    body().open("auto multiply = [&](int buffer)");
    const char *outer = "row", *inner = "column", *outer_count = "k_thread_m", *inner_count = "k_thread_n";
    if (tile_.columns_outer) {
      std::swap(outer, inner);
      std::swap(outer_count, inner_count);
    }
    body().line("#pragma unroll");
    body().open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", outer, outer_count));
    body().line("#pragma unroll");
    body().open(fmt::format("for (int i = 0; i < {}; ++i)", inner_count));
    body().line(fmt::format("const int {} = {} % 2 == 0 ? i : {} - 1 - i;  // back and forth", inner, outer,
                            inner_count));
    body().line(fmt::format("{}& sum = accumulator[row * k_thread_n + column];", type_));
    body().line(
        fmt::format("sum = ek_multiply_add(a_fragment[buffer][row / {0}].element[row % {0}], "
                    "b_fragment[buffer][column / {0}].element[column % {0}], sum);",
                    chunk));
    body().close();
    body().close();
    body().close(";");
  }

  void emit_loop(MatmulOperandWriter& a, MatmulOperandWriter& b) {
    const bool copied = a.copied() || b.copied(), passing = !a.copied() || !b.copied();
    const std::string first = tile_.splits > 1 ? "first_tile" : "0";
    body().blank();
    body().comment("Fill all stages but one.");
    body().line("#pragma unroll");
    body().open("for (int stage = 0; stage < k_stages - 1; ++stage)");
    declare("tile", first == "0" ? "stage" : first + " + stage");
    body().open("if (tile < end_tile)");
    for (MatmulOperandWriter* operand : {&a, &b}) operand->start("tile", "stage");
    for (MatmulOperandWriter* operand : {&a, &b}) operand->finish("tile", "stage");
    body().close();
    if (copied) body().line("ek_commit_copies();");
    body().close();
    if (copied) body().line("ek_wait_copies<k_stages - 2>();");
    body().line("__syncthreads();");
    body().line("int read_stage = 0, write_stage = k_stages - 1;");
    body().line("read_a(0, 0);");
    body().line("read_b(0, 0);");
    body().blank();
    body().open(fmt::format("for ({} tile = {}; tile < end_tile; ++tile)", index(), first));
    declare("ahead", "tile + k_stages - 1");
    if (passing) declare("next", "min(ahead, end_tile - 1)");
    body().line("#pragma unroll");
    body().open("for (int step = 0; step < k_block_k; ++step)");
    emit_stage_switch(a, b, copied);
    body().line("read_a((step + 1) % 2, (step + 1) % k_block_k);");
    body().line("read_b((step + 1) % 2, (step + 1) % k_block_k);");
    emit_copies_ahead(a, b, copied, passing);
    body().line("multiply(step % 2);");
    body().close();
    body().close();
  }

  /// At a tile's last step, whose fragments are in registers.
  void emit_stage_switch(MatmulOperandWriter& a, MatmulOperandWriter& b, bool copied) {
    body().open("if (step == k_block_k - 1)");
    body().comment("the next tile has come in, and the oldest stage is free");
    if (copied) body().line("ek_wait_copies<k_stages - 2>();");
    body().line("__syncthreads();");
    for (const char* stage : {"read_stage", "write_stage"})
      body().line(fmt::format("{0} = {0} == k_stages - 1 ? 0 : {0} + 1;", stage));
    for (MatmulOperandWriter* operand : {&a, &b}) operand->move_to("read_stage");
    body().close();
  }

  /// Copies begin at a tile's first step. What passes through registers is loaded there too, behind a branch
  /// that keeps the loads from sinking to the stores that wait for them, and stored a step before the switch.
  void emit_copies_ahead(MatmulOperandWriter& a, MatmulOperandWriter& b, bool copied, bool passing) {
    body().open("if (step == 0)");
    body().open("if (ahead < end_tile)");
    for (MatmulOperandWriter* operand : {&a, &b})
      operand->start(operand->copied() ? "ahead" : "next", "write_stage");
    if (passing) body().line("__syncwarp();  // keeps the branch, and the loads in it");
    body().close();
    if (copied) body().line("ek_commit_copies();");
    body().close();
    if (!passing) return;
    body().open("if (step == k_block_k - 2)");
    for (MatmulOperandWriter* operand : {&a, &b}) operand->finish("next", "write_stage");
    body().close();
  }

  void emit_stores() {
    body().blank();
    body().comment("Results.");
    if (type_ == "float") {
      body().line("#pragma unroll");
      body().line(
          "for (int i = 0; i < k_thread_m * k_thread_n; ++i) accumulator[i] = ek_detached(accumulator[i]);");
    }
    declare("first_row", "first_m + thread_row");
    declare("first_column", "first_n + thread_column");
    emit_epilogue(emitter_, {.layout = layout_,
                             .accumulators = {{form_.fold, as_index_value(kernel_) + "accumulator"}},
                             .rows = {form_.m, "first_row", rows_},
                             .columns = {form_.n, "first_column", columns_}});
  }

  void emit_parts() {
    body().blank();
    body().comment("Partial sums: [split][batch][m][n].");
    const std::string parts = parts_buffer(kernel_, tile_, true);
    const std::string rows = kernel_.extent(rows_, "rows"), columns = kernel_.extent(columns_, "columns");
    std::string matrix = "split";
    if (!form_.batch.empty())
      matrix = fmt::format("(split * {} + batch)",
                           kernel_.extent(product_of_sizes(kernel_, form_.batch), "batches"));
    const int chunk = tile_.chunk();
    body().line("#pragma unroll");
    body().open("for (int i = 0; i < k_thread_m; ++i)");
    declare("row",
            fmt::format("first_m + thread_row + i / {0} * {1} + i % {0}", chunk, chunk * tile_.lanes_m()));
    body().line("#pragma unroll");
    body().open("for (int j = 0; j < k_thread_n; ++j)");
    declare("column",
            fmt::format("first_n + thread_column + j / {0} * {1} + j % {0}", chunk, chunk * tile_.lanes_n()));
    body().line(
        fmt::format("if (row < {0} && column < {1}) {2}[((long long){3} * {0} + row) * {1} + column] = "
                    "accumulator[i * k_thread_n + j];",
                    rows, columns, parts, matrix));
    body().close();
    body().close();
  }

  KernelWriter& kernel_;
  ExpressionEmitter emitter_;
  const Contraction& form_;
  const SimtMatmulTile& tile_;
  MatmulOperand a_, b_;
  TileLayout layout_;
  std::string type_;
  SizeExpression rows_, columns_, steps_;
};

}  // namespace

LaunchShape emit_simt_matmul(KernelWriter& kernel, const SimtMatmulTile& tile) {
  return SimtMatmulEmitter(kernel, tile).emit();
}

LaunchShape emit_sum_of_parts(KernelWriter& kernel, const SimtMatmulTile& tile) {
  constexpr int threads = 256;
  const Contraction& form = contraction_of(kernel);
  ExpressionEmitter emitter(kernel);
  std::vector<AxisId> axes = form.batch;
  axes.insert(axes.end(), form.m.begin(), form.m.end());
  axes.insert(axes.end(), form.n.begin(), form.n.end());
  const SizeExpression items = product_of_sizes(kernel, axes);
  const LinearGrid grid = open_linear_grid(kernel, items, threads);
  TextWriter& body = kernel.body();
  body.line(fmt::format("const {0} element = ({0})({1} * {2} + threadIdx.x);", kernel.index_type(),
                        kernel.narrow() ? grid.block : "(long long)" + grid.block,
                        kernel.constant("threads", threads)));
  const std::string count = kernel.extent(items, "elements");
  body.open(fmt::format("if ({}element < {})", kernel.narrow() ? "(unsigned)" : "", count));
  {
    const ExpressionEmitter::Scope scope(emitter);
    const std::string parts = parts_buffer(kernel, tile, false);
    body.line(fmt::format("{} sum = {}[element];", value_type(form.accumulator), parts));
    body.line("#pragma unroll");
    body.line(fmt::format("for (int split = 1; split < {0}; ++split) sum = {1};",
                          kernel.constant("splits", tile.splits),
                          combined_text(dsl::Reduction::sum, form.accumulator, Arithmetic::as_typed, "sum",
                                        fmt::format("{}[(long long)split * {} + element]", parts, count))));
    bind_axes_from_flat(emitter, "element", axes);
    emitter.bind_node(form.fold, as_index_value(kernel) + "sum");
    emitter.store_all(kernel.context().kernel.stores);
  }
  body.close();
  close_linear_grid(kernel, grid);
  return {.grid = {grid.grid, 1, 1}, .threads = threads};
}

}  // namespace einkern::codegen::cuda
