// Values between their stored form and the type they are computed in, with the language's rounding, for
// scalars and vectors alike. bf16 and f8 exist only as integers here: no CPU is asked for them.
#pragma once

#include "codegen/cpu/ir_writer.h"
#include "core/dtype.h"

namespace einkern::codegen::cpu {

/// Stored elements (storage_ir_type of `dtype`) as values of its compute type.
IrValue from_storage(IrWriter& writer, const IrValue& stored, DType dtype);

/// Values of the compute type `from` as stored elements of `dtype`: floats round once, to nearest even; f16
/// overflows to infinity, f8 saturates; integers wrap; floats become integers as by a cast.
IrValue to_storage(IrWriter& writer, const IrValue& value, DType from, DType dtype);

/// A cast of the language: to a compute type, or rounded (wrapped) to a storage type and back in its compute
/// type. Floats to integers truncate and saturate, NaN gives 0; anything to bool is "not 0".
IrValue cast_value(IrWriter& writer, const IrValue& value, DType from, DType to);

}  // namespace einkern::codegen::cpu
