#include "codegen/cuda/wgmma_instruction.h"

#include <fmt/format.h>

namespace einkern::codegen::cuda {

namespace {

/// `count` items, numbered, sixteen a line.
template <typename Item>
std::string listed(int count, std::string_view line_start, std::string_view line_end, const Item& item) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    if (i % 16 == 0) text += line_start;
    text += item(i);
    if (i + 1 < count) text += i % 16 == 15 ? "," : ", ";
    if (i % 16 == 15 || i + 1 == count) text += line_end;
  }
  return text;
}

}  // namespace

std::string wgmma_function(DType type, int columns, bool a_transposed, bool b_transposed) {
  const int sums = columns / 2;
  const std::string_view name = type == DType::bf16 ? "bf16" : "f16";
  const std::string registers =
      listed(sums, "      \"", "\\n\"\n", [](int i) { return fmt::format("%{}", i); });
  const std::string operands =
      listed(sums, "        ", "\n", [](int i) { return fmt::format("\"+f\"(sum[{}])", i); });
  return fmt::format(
      "// A warp group's 64 x 16 by 16 x {0} product on the tensor cores; both operands are in shared "
      "memory, "
      "found by\n// descriptors. Without `accumulate` the sum starts anew.\n"
      "static __device__ __forceinline__ void ek_multiply(float* sum, unsigned long long a, unsigned long "
      "long b, "
      "int accumulate) {{\n"
      "  asm volatile(\n"
      "      \"{{\\n .reg .pred accumulate;\\n setp.ne.b32 accumulate, %{1}, 0;\\n\"\n"
      "      \" wgmma.mma_async.sync.aligned.m64n{0}k16.f32.{2}.{2} {{\\n\"\n"
      "{3}"
      "      \"}}, %{4}, %{5}, accumulate, 1, 1, {6}, {7};\\n}}\"\n"
      "      :\n{8}"
      "      : \"l\"(a), \"l\"(b), \"r\"(accumulate));\n"
      "}}\n",
      columns, sums + 2, name, registers, sums, sums + 1, a_transposed ? 1 : 0, b_transposed ? 1 : 0,
      operands);
}

}  // namespace einkern::codegen::cuda
