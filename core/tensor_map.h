// A tensor as the copy engine of sm_90 and newer sees it (TMA): what a launch encodes into a CUtensorMap.
// Rules and limits are those that the CUDA driver's documentation gives for cuTensorMapEncodeTiled.
#pragma once

#include <cstdint>
#include <vector>

#include "core/dtype.h"
#include "core/result.h"
#include "core/size_expression.h"

namespace einkern::core {

/// The span in shared memory, in bytes, in which the 16-byte pieces of a box's rows are permuted. A box's
/// innermost dim has at most so many bytes.
enum class Swizzle { none = 0, span_32 = 32, span_64 = 64, span_128 = 128 };

/// The least number of bytes that a read brings into L2. 256 is taken as 128 in a launch where a stride is no
/// multiple of 128 bytes: there each row of a box would fetch lines that nobody asked for (measured on an
/// H200: a product 23 % slower).
enum class L2Promotion { none = 0, bytes_64 = 64, bytes_128 = 128, bytes_256 = 256 };

/// One dim of a tensor map.
struct TensorMapDim {
  SizeExpression size;               // elements: 0 to 2^32; 0: see TensorMapArgument
  SizeExpression byte_stride = 0;    // multiple of 16 below 2^40. Not looked at for dim 0, whose elements are
                                     // contiguous, nor where the size is 1
  std::uint32_t box = 1;             // elements that one copy walks over, 1 to 256; may exceed the size
  std::uint32_t element_stride = 1;  // 1 to 8; ceil(box / element_stride) elements are copied. 1 in dim 0
};

/// A kernel parameter of 128 bytes, passed by value and aligned to 64: `const __grid_constant__ T map` with
/// `struct alignas(64) T { unsigned long long words[16]; };`. Reads outside of the tensor give zeros, writes
/// outside are left out, but along dim 0 only from the next multiple of 16 bytes on (seen on an H200): a
/// store whose row ends between two of them writes zeros up to there. A tensor of which any dim is 0 has
/// nothing to map: the kernel then gets 128 zero bytes, which it must not use.
struct TensorMapArgument {
  int buffer = 0;              // index in LaunchPlan::buffers
  SizeExpression byte_offset;  // the first element's address is a multiple of 16 bytes
  DType dtype = DType::bf16;
  std::vector<TensorMapDim> dims;  // 1 to 5, innermost first: dims[0] is contiguous
  Swizzle swizzle = Swizzle::none;
  L2Promotion promotion = L2Promotion::bytes_256;
};

inline constexpr std::size_t most_tensor_map_dims = 5;
/// 8-byte words of a tensor map, and of the alignment that it wants.
inline constexpr int tensor_map_words = 16, tensor_map_alignment_words = 8;

/// Checks whatever does not depend on sizes: the number of dims, the box with its swizzle, element strides.
/// The internal error says which rule is broken, with both numbers.
Result<void> check_tensor_map(const TensorMapArgument& map);

}  // namespace einkern::core
