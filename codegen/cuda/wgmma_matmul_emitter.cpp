#include "codegen/cuda/wgmma_matmul_emitter.h"

#include <fmt/format.h>

#include "codegen/cuda/epilogue.h"
#include "codegen/cuda/linear_grid.h"
#include "codegen/cuda/operand_tile.h"
#include "codegen/cuda/ring_emitter.h"
#include "codegen/cuda/wgmma_instruction.h"

namespace einkern::codegen::cuda {

namespace {

using core::SizeExpression;

class WgmmaEmitter : RingEmitter {
 public:
  WgmmaEmitter(KernelWriter& kernel, const WgmmaProblem& problem, const WgmmaTile& tile, int band)
      : RingEmitter(kernel),
        problem_(problem),
        tile_(tile),
        band_(band),
        a_(kernel, "a", problem.a, problem.type, tile.tile_m),
        b_(kernel, "b", problem.b, problem.type, tile.tile_n),
        rows_(product_of_sizes(kernel, form_.m)),
        columns_(product_of_sizes(kernel, form_.n)),
        tiles_m_(core::ceil_divide(rows_, tile.tile_m)),
        tiles_n_(core::ceil_divide(columns_, tile.tile_n)),
        tiles_(tiles_m_ * tiles_n_) {
    if (!form_.batch.empty()) tiles_ = tiles_ * product_of_sizes(kernel, form_.batch);
  }

  LaunchShape emit() {
    declare_result_map();
    declare_constants();
    emit_shared_memory();
    emit_locate();
    emit_barriers();
    body().blank();
    body().open("if (warp_group == 0)");
    emit_loading();
    body().next("else");
    emit_multiplying();
    body().close();
    // As many blocks as give each the same number of tiles: then the tiles in flight are whole bands.
    const SizeExpression waves = core::ceil_divide(tiles_, SizeExpression::symbol("sm_count"));
    return {.grid = {core::ceil_divide(tiles_, waves), 1, 1},
            .threads = tile_.threads(),
            .least_blocks = 1,
            .shared_bytes = tile_.shared_bytes()};
  }

 private:
  // --- what stands at the top ---

  void declare_result_map() {
    if (!tile_.staged) return;
    map_result_ = kernel_.tensor_map("result", problem_.result->tensor, [&](int buffer) {
      return tensor_map(*problem_.result, result_type(), buffer, WgmmaTile::block_rows,
                        WgmmaTile::slab_columns, core::Swizzle::span_128);
    });
  }

  DType result_type() const { return kernel_.graph()[problem_.result->tensor].dtype; }

  void declare_constants() {
    for (const auto& [name, value] : {std::pair{"tile_m", tile_.tile_m},
                                      {"tile_n", tile_.tile_n},
                                      {"tile_k", WgmmaTile::tile_k},
                                      {"stages", tile_.stages},
                                      {"consumers", tile_.consumers()},
                                      {"row_blocks", tile_.row_blocks()},
                                      {"a_bytes", tile_.bytes_a()},
                                      {"stage_bytes", tile_.stage_bytes()}})
      kernel_.constant(name, value);
    if (!tile_.staged) return;
    kernel_.constant("pieces", tile_.pieces());
    kernel_.constant("slabs", tile_.slabs());
    kernel_.constant("slab_bytes", WgmmaTile::slab_bytes);
  }

  void emit_shared_memory() {
    body().comment(tile_.staged ? "Shared memory: the ring of operand stages, staged results, barriers."
                                : "Shared memory: the ring of operand stages, barriers.");
    body().line("extern __shared__ __align__(1024) unsigned char shared[];");
    body().line("const unsigned ring = ek_shared_address(shared);");
    std::string after_ring = "ring + k_stages * k_stage_bytes";
    if (tile_.staged) {
      body().line(fmt::format("const unsigned staging = {};", after_ring));
      after_ring = "staging + k_consumers * k_slabs * k_slab_bytes";
    }
    emit_ring_barriers(after_ring);
    body().line(
        "const int warp_group = __shfl_sync(~0u, threadIdx.x / 128, 0);  // known to be a warp's own");
    steps_ = kernel_.extent(core::ceil_divide(product_of_sizes(kernel_, form_.contracted), WgmmaTile::tile_k),
                            "steps");
    tile_count_ = kernel_.extent(tiles_, "tiles");
  }

  /// Tiles in bands of rows. Inside a band the blocks in flight share rows of both operands in L2, and each
  /// band begins where the last one ended.
  void emit_locate() {
    body().blank();
    body().comment(
        "Where a tile lies: down the rows of a band first, then along it, every second band backwards;");
    body().comment("the tiles in flight share operands in the L2 cache.");
    body().line(fmt::format("struct Place {{ {} m, n{}; }};", index(), batched() ? ", batch" : ""));
    body().open(fmt::format("const auto locate = [&]({} tile) -> Place", index()));
    const std::string tile = emit_batch_of_tile(tiles_m_ * tiles_n_);
    const std::string height = kernel_.launch_constant("band", band_);
    declare("band", quotient_text(kernel_, tile, tiles_n_ * band_));
    declare("in_band", remainder_text(kernel_, tile, tiles_n_ * band_));
    declare("first_row", fmt::format("band * {}", height));
    declare("rows", fmt::format("min({}, {} - first_row)", height, kernel_.extent(tiles_m_, "tiles_m")));
    declare("along", "in_band / rows");
    const std::string last = kernel_.extent(tiles_n_, "tiles_n") + " - 1";
    body().line(
        fmt::format("return {{(first_row + in_band % rows) * k_tile_m, (band % 2 == 0 ? along : {} - along) "
                    "* k_tile_n{}}};",
                    last, batched() ? ", batch" : ""));
    body().close(";");
  }

  void emit_barriers() {
    body().blank();
    body().comment("full: a stage's bytes are in; empty: those who multiply it have finished with it.");
    open_barriers(tile_.turns ? "1" : "k_consumers");
    publish_barriers();
  }

  void open_tiles(std::string_view first, std::string_view step) {
    body().open(
        fmt::format("for ({0} tile = {2}; tile < {1}; tile += {3})", index(), tile_count_, first, step));
    body().line("const Place at = locate(tile);");
  }

  // --- the loading warp group ---

  void emit_loading() {
    body().comment(
        "One thread fills the ring. It runs ahead into the next tile while the consumers write this one.");
    if (tile_.moves_registers())
      body().line(fmt::format("ek_give_registers<{}>();", WgmmaTile::loading_registers));
    body().line("if (threadIdx.x != 0) return;");
    declare_stage(1);
    body().line("bool backward = false;");
    open_tiles("blockIdx.x", "gridDim.x");
    {
      const ExpressionEmitter::Scope scope(emitter_);
      bind_batch("at");
      body().open(fmt::format("for ({0} step = 0; step < {1}; ++step)", index(), steps_));
      body().comment("every second tile from the far end: what was read last is still in L2");
      declare("first_k", fmt::format("(backward ? {} - 1 - step : step) * k_tile_k", steps_));
      emit_filling();
      a_.emit_loads(emitter_, "to", {"at.m", "first_k", "at.batch"}, "ek_evict_last");
      b_.emit_loads(emitter_, "to + k_a_bytes", {"at.n", "first_k", "at.batch"}, "ek_evict_first");
      advance_stage();
      body().close();
    }
    body().line("backward = !backward;");
    body().close();
  }

  // --- a multiplying warp group ---

  void emit_multiplying() {
    const TileLayout layout = tile_.layout();
    if (tile_.moves_registers())
      body().line(fmt::format("ek_take_registers<{}>();", tile_.multiplying_registers()));
    body().line("const int thread = threadIdx.x - 128, consumer = warp_group - 1;");
    body().line("const bool leader = thread % 128 == 0;");
    a_.emit_descriptor(body(), "operand_a",
                       tile_.turns ? "ring" : "ring + consumer * k_row_blocks * 64 * 128");
    b_.emit_descriptor(body(), "operand_b", "ring + k_a_bytes");
    emit_thread_place(layout, tile_.turns ? "thread % 128" : "thread");
    body().line("float sums[k_row_blocks * k_tile_n / 2] = {};");
    if (tile_.staged) emit_write();
    declare_stage(0);
    if (tile_.turns) emit_turns();
    body().blank();
    if (tile_.turns) {
      open_tiles("blockIdx.x + consumer * gridDim.x", "2 * gridDim.x");
      body().line("ek_wait_turn(3 + consumer);");
    } else {
      open_tiles("blockIdx.x", "gridDim.x");
    }
    emit_products();
    if (tile_.turns) body().line("skip_tile();");
    if (tile_.staged)
      emit_staged(layout);
    else
      emit_results(layout, "");
    body().close();
    if (!tile_.staged) return;
    if (tile_.deferred) write_pieces("pending");
    body().line("if (leader) ek_wait_stored<0>();  // shared memory must outlive the copies");
  }

  /// The stages of every second tile are the other's. Turns keep them in order, and a barrier's parity from
  /// coming round unseen: who waits for a fill must have seen the one before end.
  void emit_turns() {
    body().open("const auto skip_tile = [&]");
    body().line(fmt::format("const {} next = stage + {};", index(), steps_));
    body().line("parity ^= (unsigned)(next / k_stages) & 1u;");
    body().line("stage = (int)(next % k_stages);");
    body().close(";");
    body().open("if (consumer == 1)");
    body().line("skip_tile();");
    body().line("ek_pass_turn(3);  // the first turn is the other's");
    body().close();
  }

  void emit_products() {
    body().comment("Products: one group stays in flight; behind it the stage before is given back.");
    body().open(fmt::format("for ({0} step = 0; step < {1}; ++step)", index(), steps_));
    emit_full_stage();
    body().line("#pragma unroll");
    body().open(fmt::format("for (int i = 0; i < k_tile_k / {}; ++i)", WgmmaTile::step));
    const std::string row_block = tile_.row_blocks() > 1 ? "block" : "";
    if (!row_block.empty()) {
      body().line("#pragma unroll");
      body().open("for (int block = 0; block < k_row_blocks; ++block)");
    }
    body().line(fmt::format(
        "ek_multiply(sums{}, a{} + i * {}, b + i * {}, step > 0 || i > 0);",
        row_block.empty() ? "" : " + block * (k_tile_n / 2)",
        row_block.empty() ? ""
                          : fmt::format(" + block * {}", WgmmaTile::block_rows * WgmmaTile::row_bytes / 16),
        a_.step_units(), b_.step_units()));
    if (!row_block.empty()) body().close();
    body().close();
    body().line("ek_commit_products();");
    if (tile_.staged && tile_.deferred) {
      body().line("#pragma unroll");
      body().line("for (int piece = 0; piece < k_pieces; ++piece)");
      body().line("  if (step == piece + 1 && pending) write(piece);");
    }
    body().line("ek_wait_products<1>();");
    body().line(fmt::format("if (step > 0 && leader) {}", give_back_stage()));
    advance_stage();
    body().close();
    if (tile_.turns) body().line("ek_pass_turn(4 - consumer);");
    body().line("ek_wait_products<0>();");
    body().line(fmt::format("if (leader) {}", give_back_stage()));
    body().blank();
  }

  void emit_write() {
    body().blank();
    body().comment(
        "A tile's results wait as pairs. Each piece of 64 x 64 goes to swizzled shared memory and leaves");
    body().comment(tile_.deferred ? "from there by the copy engine, behind the next tile's products."
                                  : "from there by the copy engine.");
    body().line("unsigned packed[k_row_blocks * k_tile_n / 4] = {};");
    body().line("Place last = {};");
    if (tile_.deferred) body().line("bool pending = false;");
    body().line("const int slab_row = thread % 128 / 32 * 16 + thread % 16, half = thread % 32 / 16;");
    body().open("const auto write = [&](int piece)");
    body().line("const unsigned slab = staging + (consumer * k_slabs + piece % k_slabs) * k_slab_bytes;");
    body().line("if (leader) ek_wait_stored<k_slabs - 1>();  // what left this slab last has been read");
    body().line("ek_group_barrier(1 + consumer);");
    body().line("#pragma unroll");
    body().open("for (int octet = 0; octet < 8; octet += 2)");
    body().line("const unsigned* pair = packed + piece * 16 + octet * 2;");
    body().line("const int chunk = (octet + half) ^ slab_row % 8;");
    body().line("ek_store_matrices(slab + slab_row * 128 + chunk * 16, pair[0], pair[1], pair[2], pair[3]);");
    body().close();
    body().line("ek_publish_staged();");
    body().line("ek_group_barrier(1 + consumer);");
    body().open("if (leader)");
    {
      const ExpressionEmitter::Scope scope(emitter_);
      bind_batch("last");
      body().line(fmt::format(
          "ek_store_box(slab, {}, ek_evict_first{});", map_result_,
          box_coordinates(emitter_, *problem_.result, {piece_row(), piece_column(), "last.batch"})));
    }
    body().close();
    body().close(";");
    body().blank();
  }

  /// Where a piece lies in the result: pieces go along the columns of a row block first.
  std::string piece_row() const {
    std::string blocks = tile_.turns ? "" : tile_.row_blocks() == 1 ? "consumer" : "consumer * k_row_blocks";
    if (tile_.row_blocks() > 1)
      blocks +=
          fmt::format("{}piece / {}", blocks.empty() ? "" : " + ", tile_.tile_n / WgmmaTile::slab_columns);
    return blocks.empty() ? "last.m" : fmt::format("last.m + ({}) * 64", blocks);
  }
  std::string piece_column() const {
    if (tile_.row_blocks() == 1) return "last.n + piece * 64";
    return fmt::format("last.n + piece % {} * 64", tile_.tile_n / WgmmaTile::slab_columns);
  }

  void write_pieces(std::string_view condition) {
    if (!condition.empty()) body().open(fmt::format("if ({})", condition));
    body().line("#pragma unroll");
    body().line("for (int piece = 0; piece < k_pieces; ++piece) write(piece);");
    if (!condition.empty()) body().close();
  }

  void emit_staged(const TileLayout& layout) {
    if (tile_.deferred) {
      body().comment("Where the sum is too short for the tile before to have left behind it.");
      body().line("#pragma unroll");
      body().line("for (int piece = 0; piece < k_pieces; ++piece)");
      body().line(fmt::format("  if (pending && piece + 1 >= {}) write(piece);", steps_));
    }
    emit_results(layout, "packed");
    body().line("last = at;");
    if (tile_.deferred)
      body().line("pending = true;");
    else
      write_pieces("");
  }

  /// Results from the sums: stored, or rounded into pairs.
  void emit_results(const TileLayout& layout, const std::string& packed) {
    const ExpressionEmitter::Scope scope(emitter_);
    bind_batch("at");
    declare("row_of_sums", "at.m + thread_row");
    declare("column_of_sums", "at.n + thread_column");
    emit_epilogue(emitter_, {.layout = layout,
                             .accumulators = {{form_.fold, "sums"}},
                             .rows = {form_.m, "row_of_sums", rows_},
                             .columns = {form_.n, "column_of_sums", columns_},
                             .packed = packed});
  }

  const WgmmaProblem& problem_;
  const WgmmaTile& tile_;
  int band_;
  OperandTile a_, b_;
  SizeExpression rows_, columns_, tiles_m_, tiles_n_, tiles_;
  std::string map_result_, steps_, tile_count_;
};

}  // namespace

LaunchShape emit_wgmma_matmul(ModuleWriter& module, KernelWriter& kernel, const WgmmaProblem& problem,
                              const WgmmaTile& tile, int band) {
  module.add_function(wgmma_function(problem.type, tile.tile_n, !problem.a.columns_contiguous(),
                                     !problem.b.columns_contiguous()));
  return WgmmaEmitter(kernel, problem, tile, band).emit();
}

}  // namespace einkern::codegen::cuda
