#include "codegen/cuda/split_k_emitter.h"

#include <fmt/format.h>

#include "codegen/cuda/epilogue.h"
#include "codegen/cuda/linear_grid.h"
#include "codegen/cuda/operand_tile.h"
#include "codegen/cuda/ring_emitter.h"
#include "codegen/cuda/wgmma_instruction.h"

namespace einkern::codegen::cuda {

namespace {

using core::SizeExpression;

/// Fetching 256 bytes at a miss costs 7 % where most bytes come from device memory (docs/performance.md).
constexpr core::L2Promotion promotion = core::L2Promotion::bytes_128;

class SplitKEmitter : RingEmitter {
 public:
  SplitKEmitter(KernelWriter& kernel, const WgmmaProblem& problem, const SplitKTile& tile)
      : RingEmitter(kernel),
        tile_(tile),
        streamed_axes_(tile.swapped ? form_.n : form_.m),
        kept_axes_(tile.swapped ? form_.m : form_.n),
        streamed_(kernel, "streamed", tile.swapped ? problem.b : problem.a, problem.type, tile.rows,
                  promotion),
        kept_(kernel, "kept", tile.swapped ? problem.a : problem.b, problem.type, tile.columns, promotion),
        tiles_across_(core::ceil_divide(product_of_sizes(kernel, kept_axes_), tile.columns)),
        tiles_(core::ceil_divide(product_of_sizes(kernel, streamed_axes_), tile.rows) * tiles_across_) {
    tiles_of_matrix_ = tiles_;
    if (batched()) tiles_ = tiles_ * product_of_sizes(kernel, form_.batch);
  }

  LaunchShape emit() {
    declare_constants();
    emit_shared_memory();
    emit_locate();
    emit_barriers();
    body().blank();
    body().open("if (warp_group == k_consumers)");
    emit_loading();
    body().next("else");
    emit_multiplying();
    body().close();
    return {.grid = {clusters() * tile_.split, 1, 1},
            .threads = tile_.threads(),
            .least_blocks = tile_.resident,
            .shared_bytes = tile_.shared_bytes(),
            .cluster = tile_.split};
  }

 private:
  bool splits() const { return tile_.split > 1; }

  /// As many clusters as are resident at once, or fewer, so that each has the same number of tiles.
  SizeExpression clusters() const {
    const SizeExpression slots = tile_.resident_clusters(SizeExpression::symbol("sm_count"));
    return core::ceil_divide(tiles_, core::ceil_divide(tiles_, slots));
  }

  // --- what stands at the top ---

  void declare_constants() {
    for (const auto& [name, value] : {std::pair{"rows", tile_.rows},
                                      {"columns", tile_.columns},
                                      {"tile_k", tile_.tile_k()},
                                      {"slices", tile_.slices},
                                      {"stages", tile_.stages},
                                      {"consumers", tile_.consumers()},
                                      {"streamed_bytes", tile_.streamed_bytes()},
                                      {"kept_bytes", tile_.kept_bytes()},
                                      {"stage_bytes", tile_.stage_bytes()}})
      kernel_.constant(name, value);
    if (!splits()) return;
    for (const auto& [name, value] : {std::pair{"split", tile_.split},
                                      {"owners", tile_.owners()},
                                      {"share_columns", tile_.share_columns()},
                                      {"share_registers", tile_.share_registers()},
                                      {"share_bytes", tile_.share_bytes()}})
      kernel_.constant(name, value);
  }

  void emit_shared_memory() {
    body().comment(splits() ? "Shared memory: the ring of operand stages, partial sums, barriers."
                            : "Shared memory: the ring of operand stages, barriers.");
    body().line("extern __shared__ __align__(1024) unsigned char shared[];");
    body().line("const unsigned ring = ek_shared_address(shared);");
    std::string after_ring = "ring + k_stages * k_stage_bytes";
    if (splits()) {
      body().line(fmt::format("const unsigned partial = {};", after_ring));
      after_ring = "partial + k_split * k_share_bytes";
    }
    emit_ring_barriers(after_ring);
    if (splits()) body().line("const unsigned sent = empty + 8 * k_stages, taken = sent + 8;");
    body().line(
        "const int warp_group = __shfl_sync(~0u, threadIdx.x / 128, 0);  // known to be a warp's own");
    const std::string steps = kernel_.extent(
        core::ceil_divide(product_of_sizes(kernel_, form_.contracted), tile_.tile_k()), "steps");
    if (splits()) {
      body().line("const int rank = blockIdx.x % k_split;");
      body().comment("The block's part of the sum.");
      declare("first_step", fmt::format("{} * rank / k_split", steps));
      declare("end_step", fmt::format("{} * (rank + 1) / k_split", steps));
    } else {
      declare("first_step", "0");
      declare("end_step", steps);
    }
  }

  void emit_locate() {
    body().blank();
    body().comment("Where a tile lies: along the kept operand first, so that L2 serves what is read again.");
    body().line(fmt::format("struct Place {{ {} streamed, kept{}; }};", index(), batched() ? ", batch" : ""));
    body().open(fmt::format("const auto locate = [&]({} tile) -> Place", index()));
    const std::string tile = emit_batch_of_tile(tiles_of_matrix_);
    body().line(fmt::format("return {{{} * k_rows, {} * k_columns{}}};",
                            quotient_text(kernel_, tile, tiles_across_),
                            remainder_text(kernel_, tile, tiles_across_), batched() ? ", batch" : ""));
    body().close(";");
  }

  void emit_barriers() {
    body().blank();
    body().comment("full: a stage's bytes are in; empty: all consumers have finished with it.");
    if (splits())
      body().comment(
          "sent: the partial sums of this block's share are in; taken: the owners have read theirs.");
    open_barriers("k_consumers");
    if (splits()) {
      body().line("ek_barrier_init(sent, 1);");
      body().line("ek_barrier_init(taken, k_owners * k_consumers);");
    }
    publish_barriers();
    if (splits()) body().line("ek_cluster_arrive();");
  }

  void open_tiles() {
    body().open(fmt::format("for ({0} tile = blockIdx.x{2}; tile < {1}; tile += gridDim.x{2})", index(),
                            kernel_.extent(tiles_, "tiles"), splits() ? " / k_split" : ""));
    body().line("const Place at = locate(tile);");
  }

  // --- the loading warp ---

  void emit_loading() {
    body().comment(
        "One thread fills the ring. It runs ahead into the next tile while partial sums are added up.");
    body().line("if (threadIdx.x % 32 != 0) return;");
    declare_stage(1);
    open_tiles();
    {
      const ExpressionEmitter::Scope scope(emitter_);
      bind_batch("at");
      body().open(fmt::format("for ({} step = first_step; step < end_step; ++step)", index()));
      emit_filling();
      if (tile_.slices > 1) {
        body().line("#pragma unroll");
        body().open("for (int slice = 0; slice < k_slices; ++slice)");
        declare("first_k", fmt::format("step * k_tile_k + slice * {}", WgmmaTile::tile_k));
        streamed_.emit_loads(emitter_, "to + slice * k_streamed_bytes",
                             {"at.streamed", "first_k", "at.batch"}, "ek_evict_first");
        kept_.emit_loads(emitter_, "to + k_slices * k_streamed_bytes + slice * k_kept_bytes",
                         {"at.kept", "first_k", "at.batch"}, "ek_evict_last");
        body().close();
      } else {
        declare("first_k", "step * k_tile_k");
        streamed_.emit_loads(emitter_, "to", {"at.streamed", "first_k", "at.batch"}, "ek_evict_first");
        kept_.emit_loads(emitter_, "to + k_streamed_bytes", {"at.kept", "first_k", "at.batch"},
                         "ek_evict_last");
      }
      advance_stage();
      body().close();
    }
    body().close();
  }

  // --- a multiplying warp group ---

  void emit_multiplying() {
    const TileLayout layout = tile_.layout();
    body().line("const int thread = threadIdx.x;");
    body().line("const bool leader = thread % 128 == 0;");
    streamed_.emit_descriptor(body(), "operand_a", "ring + warp_group * 64 * 128");
    kept_.emit_descriptor(body(), "operand_b", "ring + k_slices * k_streamed_bytes");
    emit_thread_place(layout, "thread");
    declare_stage(0);
    if (splits()) {
      body().line("unsigned turn = 0;");
      body().line("ek_cluster_wait();  // the barriers of the other blocks exist");
    }
    body().blank();
    open_tiles();
    emit_products();
    if (splits()) {
      emit_sending();
      if (tile_.owners() < tile_.split) body().open("if (rank < k_owners)");
      emit_adding();
      emit_results(layout, "results");
      if (tile_.owners() < tile_.split) body().close();
      body().line("turn ^= 1;");
    } else {
      emit_results(layout, "sums");
    }
    body().close();
  }

  void emit_products() {
    body().comment("Products: one group stays in flight; behind it the stage before is given back.");
    body().line("float sums[k_columns / 2] = {};");
    body().open(fmt::format("for ({} step = first_step; step < end_step; ++step)", index()));
    emit_full_stage();
    const bool sliced = tile_.slices > 1;
    if (sliced) {
      body().line("#pragma unroll");
      body().open("for (int slice = 0; slice < k_slices; ++slice)");
    }
    body().line("#pragma unroll");
    body().open(fmt::format("for (int i = 0; i < {}; ++i)", WgmmaTile::tile_k / WgmmaTile::step));
    body().line(fmt::format("ek_multiply(sums, a{} + i * {}, b{} + i * {}, step > first_step || {}i > 0);",
                            sliced ? " + slice * (k_streamed_bytes / 16)" : "", streamed_.step_units(),
                            sliced ? " + slice * (k_kept_bytes / 16)" : "", kept_.step_units(),
                            sliced ? "slice > 0 || " : ""));
    body().close();
    if (sliced) body().close();
    body().line("ek_commit_products();");
    body().line("ek_wait_products<1>();");
    body().line(fmt::format("if (step > first_step && leader) {}", give_back_stage()));
    advance_stage();
    body().close();
    body().line("ek_wait_products<0>();");
    body().line(fmt::format("if (first_step < end_step && leader) {}", give_back_stage()));
    body().blank();
  }

  void emit_sending() {
    body().comment("Every block sends each owner its share of the partial sums.");
    body().line("ek_barrier_wait(taken, turn ^ 1);");
    body().line(fmt::format("if ({}thread == 0) ek_barrier_expect(sent, k_split * k_share_bytes);",
                            tile_.owners() < tile_.split ? "rank < k_owners && " : ""));
    body().line("#pragma unroll");
    body().open("for (int owner = 0; owner < k_owners; ++owner)");
    body().line("#pragma unroll");
    body().open("for (int i = 0; i < k_share_registers; i += 4)");
    body().line("const unsigned place = rank * k_share_bytes + (i / 4 * k_consumers * 128 + thread) * 16;");
    body().line("ek_send(partial + place, sent, owner, sums + owner * k_share_registers + i);");
    body().close();
    body().close();
    body().blank();
  }

  void emit_adding() {
    body().comment("An owner adds them up, always in the same order.");
    body().line("ek_barrier_wait(sent, turn);");
    body().line("float results[k_share_registers] = {};");
    body().line("#pragma unroll");
    body().open("for (int block = 0; block < k_split; ++block)");
    body().line("#pragma unroll");
    body().open("for (int i = 0; i < k_share_registers; i += 4)");
    body().line("const int place = block * k_share_bytes + (i / 4 * k_consumers * 128 + thread) * 16;");
    body().line("const float4 sum = *(const float4*)(shared + k_stages * k_stage_bytes + place);");
    for (const auto& [number, member] : {std::pair{"i", 'x'}, {"i + 1", 'y'}, {"i + 2", 'z'}, {"i + 3", 'w'}})
      body().line(fmt::format("results[{}] += sum.{};", number, member));
    body().close();
    body().close();
    body().line("ek_group_barrier(1 + warp_group);");
    body().line(
        fmt::format("if (leader && tile + gridDim.x / k_split < {})", kernel_.extent(tiles_, "tiles")));
    body().line("  for (int block = 0; block < k_split; ++block) ek_barrier_arrive_at(taken, block);");
    body().blank();
  }

  void emit_results(const TileLayout& layout, const std::string& sums) {
    const ExpressionEmitter::Scope scope(emitter_);
    bind_batch("at");
    const std::string share = splits() ? " + rank * k_share_columns" : "";
    declare("row_of_sums", tile_.swapped ? "at.kept" + share + " + thread_row" : "at.streamed + thread_row");
    declare("column_of_sums",
            tile_.swapped ? "at.streamed + thread_column" : "at.kept" + share + " + thread_column");
    emit_epilogue(emitter_, {.layout = layout,
                             .accumulators = {{form_.fold, sums}},
                             .rows = {form_.m, "row_of_sums", product_of_sizes(kernel_, form_.m)},
                             .columns = {form_.n, "column_of_sums", product_of_sizes(kernel_, form_.n)}});
  }

  const SplitKTile& tile_;
  const std::vector<AxisId>&streamed_axes_, &kept_axes_;
  OperandTile streamed_, kept_;
  SizeExpression tiles_across_, tiles_, tiles_of_matrix_;
};

}  // namespace

LaunchShape emit_split_k(ModuleWriter& module, KernelWriter& kernel, const WgmmaProblem& problem,
                         const SplitKTile& tile) {
  const WgmmaOperand& streamed = tile.swapped ? problem.b : problem.a;
  const WgmmaOperand& kept = tile.swapped ? problem.a : problem.b;
  module.add_function(
      wgmma_function(problem.type, tile.columns, !streamed.columns_contiguous(), !kept.columns_contiguous()));
  return SplitKEmitter(kernel, problem, tile).emit();
}

}  // namespace einkern::codegen::cuda
