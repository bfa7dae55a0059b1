#include "codegen/cuda/ring_emitter.h"

#include <fmt/format.h>

#include "codegen/cuda/linear_grid.h"

namespace einkern::codegen::cuda {

RingEmitter::RingEmitter(KernelWriter& kernel)
    : kernel_(kernel), emitter_(kernel), form_(std::get<Contraction>(kernel.context().kernel.form)) {}

void RingEmitter::declare(std::string_view name, const std::string& value) {
  body().line(fmt::format("const {} {} = {};", index(), name, value));
}

void RingEmitter::bind_batch(const std::string& place) {
  if (batched()) bind_axes_from_flat(emitter_, place + ".batch", form_.batch);
}

std::string RingEmitter::emit_batch_of_tile(const core::SizeExpression& tiles_of_matrix) {
  if (!batched()) return "tile";
  declare("batch", quotient_text(kernel_, "tile", tiles_of_matrix));
  declare("in_batch", remainder_text(kernel_, "tile", tiles_of_matrix));
  return "in_batch";
}

void RingEmitter::emit_ring_barriers(const std::string& address) {
  body().line(fmt::format("const unsigned full = {}, empty = full + 8 * k_stages;", address));
}

void RingEmitter::open_barriers(std::string_view arrivals) {
  body().open("if (threadIdx.x == 0)");
  body().open("for (int stage = 0; stage < k_stages; ++stage)");
  body().line("ek_barrier_init(full + 8 * stage, 1);");
  body().line(fmt::format("ek_barrier_init(empty + 8 * stage, {});", arrivals));
  body().close();
}

void RingEmitter::publish_barriers() {
  body().line("ek_publish_barriers();");
  body().close();
  body().line("__syncthreads();");
}

void RingEmitter::declare_stage(int parity) {
  body().line("int stage = 0;");
  body().line(fmt::format("unsigned parity = {};", parity));
}

void RingEmitter::advance_stage() {
  body().open("if (++stage == k_stages)");
  body().line("stage = 0;");
  body().line("parity ^= 1;");
  body().close();
}

void RingEmitter::emit_filling() {
  body().line("const unsigned landed = full + 8 * stage, to = ring + stage * k_stage_bytes;");
  body().line("ek_barrier_wait(empty + 8 * stage, parity);");
  body().line("ek_barrier_expect(landed, k_stage_bytes);");
}

void RingEmitter::emit_full_stage() {
  body().line("ek_barrier_wait(full + 8 * stage, parity);");
  body().line("const unsigned long long a = operand_a + stage * (k_stage_bytes / 16);");
  body().line("const unsigned long long b = operand_b + stage * (k_stage_bytes / 16);");
  body().line("ek_begin_products();");
}

std::string_view RingEmitter::give_back_stage() {
  return "ek_barrier_arrive(empty + 8 * (stage == 0 ? k_stages - 1 : stage - 1));";
}

void RingEmitter::emit_thread_place(const TileLayout& layout, std::string_view thread) {
  body().line(fmt::format("const int thread_row = {}, thread_column = {};",
                          without_parentheses(layout.row_of_thread(thread)),
                          without_parentheses(layout.column_of_thread(thread))));
}

}  // namespace einkern::codegen::cuda
