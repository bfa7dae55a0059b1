// einkern: tensor math in index notation, one tuned kernel at run time, on a GPU or on this CPU.
//
//   namespace ek = einkern;
//   ek::Program program = ek::compile("fn saxpy(a: f32, x: f32[N], y: f32[N]) -> z: f32[N] { z[i] = a * x[i]
//   + y[i] }"); ek::Tensor z = program["saxpy"](2.0f, x, y);
#pragma once

#include "einkern/dtype.h"
#include "einkern/error.hpp"
#include "einkern/program.hpp"
#include "einkern/source_module.hpp"
#include "einkern/tensor.hpp"
