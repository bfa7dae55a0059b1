#include "codegen/cuda/operand_tile.h"

#include <fmt/format.h>

#include "codegen/cuda/wgmma_tile.h"

namespace einkern::codegen::cuda {

namespace {

constexpr int box_elements = WgmmaTile::row_bytes / WgmmaTile::element_bytes;  // a box is 128 bytes wide

}  // namespace

std::string box_coordinates(ExpressionEmitter& emitter, const MatrixView& view, const BoxPlace& place) {
  const KernelWriter& kernel = emitter.kernel();
  const auto& form = std::get<Contraction>(kernel.context().kernel.form);
  std::string text;
  for (const MatrixDimension& dimension : view.dimensions) {
    std::string at = dimension.way == MatrixWay::rows ? place.row : place.column;
    if (dimension.way == MatrixWay::batch)
      at = dimension.axes.size() == form.batch.size() ? place.batch : emitter.axis_text(dimension.axes[0]);
    text += ", " + (kernel.narrow() ? at : fmt::format("(int)({})", at));
  }
  return text;
}

OperandTile::OperandTile(KernelWriter& kernel, std::string_view role, const WgmmaOperand& operand, DType type,
                         int rows, core::L2Promotion promotion)
    : view_(operand.view), rows_(rows) {
  const int box_rows = view_.columns_contiguous() ? rows : box_elements;
  const auto map = [&](int buffer) {
    core::TensorMapArgument argument =
        tensor_map(view_, type, buffer, box_rows, WgmmaTile::tile_k, core::Swizzle::span_128);
    argument.promotion = promotion;
    return argument;
  };
  map_ = operand.packed ? kernel.scratch_map(operand.packed->name, type, operand.packed->bytes(), map)
                        : kernel.tensor_map(role, view_.tensor, map);
}

void OperandTile::emit_loads(ExpressionEmitter& emitter, const std::string& to, const BoxPlace& place,
                             std::string_view policy) const {
  const int boxes = view_.columns_contiguous() ? 1 : rows_ / box_elements;
  for (int box = 0; box < boxes; ++box) {
    const int first = box * box_elements;
    BoxPlace at = place;
    if (box > 0) at.row += fmt::format(" + {}", first);
    const std::string address = box == 0 ? to : fmt::format("{} + {}", to, first * WgmmaTile::row_bytes);
    emitter.kernel().body().line(fmt::format("ek_load_box({}, {}, landed, {}{});", address, map_, policy,
                                             box_coordinates(emitter, view_, at)));
  }
}

void OperandTile::emit_descriptor(TextWriter& body, std::string_view name, const std::string& address) const {
  // From one group of 8 rows to the next 1024 bytes; of an operand given transposed, from one box of 64 to
  // the next as much as a box holds.
  const int leading = view_.columns_contiguous() ? 16 : WgmmaTile::tile_k * WgmmaTile::row_bytes;
  body.line(fmt::format("const unsigned long long {} = ek_operand_descriptor({}, {}, 1024);", name, address,
                        leading));
}

int OperandTile::step_units() const {
  const int bytes = view_.columns_contiguous() ? WgmmaTile::element_bytes : WgmmaTile::row_bytes;
  return WgmmaTile::step * bytes / 16;
}

}  // namespace einkern::codegen::cuda
