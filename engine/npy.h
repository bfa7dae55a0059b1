// The .npy format (NumPy's format specification, versions 1 to 3): arrays in files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/dtype.h"
#include "core/result.h"

namespace einkern::engine {

/// An array in memory: dense row-major, in this machine's byte order.
struct NpyArray {
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::string bytes;
};

/// Reads bool, int8-64, uint8-64, float16/32/64, any byte order, C and Fortran order. Errors, of kind io,
/// name the file and what is wrong with it: truncated, another type, a shape that does not fit the file's
/// size.
core::Result<NpyArray> read_npy(const std::string& path);

/// Writes version 1.0. bf16 and f8, which .npy lacks, are written as f32. Written to a temporary name and
/// renamed.
core::Result<void> write_npy(const std::string& path, const NpyArray& array);

/// The elements in another dtype, rounded as a store rounds.
NpyArray convert(const NpyArray& array, DType to);

}  // namespace einkern::engine
