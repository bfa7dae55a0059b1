// Steps of reductions that hold more than one value, and moves between the lanes of a warp.
#include "codegen/cuda/prelude_pieces.h"

namespace einkern::codegen::cuda {

namespace {

#define EK_DEVICE "static __device__ __forceinline__ "

// The order of LANGUAGE's argmax: NaN first, then the value, then the lowest index. An index of -1 says
// "nothing yet".
#define EK_ARG(name, sign, word)                                              \
  "// Whether " name " takes (a, i) before (b, j): NaN first, then the " word \
  ", then the lower index.\n"                                                 \
  "template <typename V, typename I>\n" EK_DEVICE "bool ek_" name             \
  "_before(V a, I i, V b, I j) {\n"                                           \
  "  const bool a_nan = a != a, b_nan = b != b;\n"                            \
  "  if (a_nan || b_nan) return a_nan && b_nan ? i < j : a_nan;\n"            \
  "  return a != b ? a " sign                                                 \
  " b : i < j;\n"                                                             \
  "}\n"                                                                       \
  "// Keeps the one of two that " name                                        \
  " takes; an index of -1 is none.\n"                                         \
  "template <typename V, typename I>\n" EK_DEVICE "void ek_" name             \
  "_step(V& value, I& index, V other, I other_index) {\n"                     \
  "  if (other_index >= 0 && (index < 0 || ek_" name                          \
  "_before(other, other_index, value, index))) {\n"                           \
  "    value = other;\n"                                                      \
  "    index = other_index;\n"                                                \
  "  }\n"                                                                     \
  "}\n"
constexpr std::string_view argmax_order = EK_ARG("argmax", ">", "larger");
constexpr std::string_view argmin_order = EK_ARG("argmin", "<", "smaller");
#undef EK_ARG

// Every lane of the warp takes part; lanes that hold nothing hold the identity.
constexpr std::string_view shuffle = R"(// The value of the lane whose number differs in the bits of `mask`.
template <typename T>
)" EK_DEVICE R"(T ek_shuffle_xor(T value, int mask) {
  return __shfl_xor_sync(0xffffffffu, value, mask);
}
)" EK_DEVICE R"(bool ek_shuffle_xor(bool value, int mask) {
  return __shfl_xor_sync(0xffffffffu, (int)value, mask) != 0;
}
)";

}  // namespace

std::vector<PreludePiece> prelude_collectives() {
  return {
      {"ek_argmax_before", {}, 0, argmax_order}, {"ek_argmax_step", {"ek_argmax_before"}, 0, ""},
      {"ek_argmin_before", {}, 0, argmin_order}, {"ek_argmin_step", {"ek_argmin_before"}, 0, ""},
      {"ek_shuffle_xor", {}, 0, shuffle},
  };
}

#undef EK_DEVICE

}  // namespace einkern::codegen::cuda
