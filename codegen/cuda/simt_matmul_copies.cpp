// The text of MatmulOperandWriter.
#include <fmt/format.h>

#include "codegen/cuda/linear_grid.h"
#include "codegen/cuda/simt_matmul_operand.h"

namespace einkern::codegen::cuda {

namespace {

std::string times(const std::string& text, int factor) {
  return factor == 1 ? text : fmt::format("{} * {}", text, factor);
}

std::string joined(std::string_view a, std::string_view b) {
  if (a == "0") return std::string(b);
  return b == "0" ? std::string(a) : fmt::format("{} + {}", a, b);
}

}  // namespace

MatmulOperandWriter::MatmulOperandWriter(ExpressionEmitter& emitter, const MatmulOperand& operand,
                                         const SimtMatmulTile& tile, MatmulNames names)
    : emitter_(emitter), kernel_(emitter.kernel()), operand_(operand), names_(std::move(names)) {
  const int rows = operand.name == "a" ? tile.block_m : tile.block_n;
  if (tile.turned && operand.turnable)
    turn_ = tile.turn_pattern(rows);
  else
    pattern_ = *tile.copy_pattern(rows, operand.along_steps, operand.widest);
  const int pitch = tile.pitch(rows, operand.along_steps);
  pitch_ = kernel_.constant(name() + "_pitch", pitch);
  stage_ = kernel_.constant(name() + "_stage", static_cast<std::int64_t>(pitch) * tile.block_k);
  block_k_ = kernel_.constant("block_k", tile.block_k);
  block_k_size_ = tile.block_k;
  shared_ = name() + "_shared";
  thread_row_ = name() + "_row";
  thread_step_ = name() + "_step";
  if (!operand.copied)
    block_.emplace(emitter_, operand_.last_axis(), pattern_.width,
                   std::vector<ExpressionId>{operand_.factor});
}

std::string MatmulOperandWriter::stride_text(const LinearSteps& steps, std::string_view name) {
  const TensorId tensor{kernel_.graph().arena[operand_.factor].index};
  const bool dense = kernel_.context().specialisation.tensors[static_cast<std::size_t>(tensor.value)].dense;
  std::string text;
  for (const auto& [coefficient, dimension] : steps) {
    std::string stride;
    if (dense) {
      core::SizeExpression size = 1;
      const int rank = static_cast<int>(kernel_.graph()[tensor].shape.size());
      for (int d = dimension + 1; d < rank; ++d)
        size = d == dimension + 1 ? kernel_.tensor_dimension(tensor, d)
                                  : size * kernel_.tensor_dimension(tensor, d);
      stride = dimension + 1 == rank ? "1" : kernel_.extent(size, name);
    } else {
      stride = kernel_.stride(tensor, dimension);
    }
    if (coefficient != 1)
      stride = stride == "1" ? fmt::format("{}", coefficient) : fmt::format("{} * {}", coefficient, stride);
    text += (text.empty() ? "" : " + ") + stride;
  }
  if (text.empty()) return "0";
  return text.find(' ') == std::string::npos ? text : "(" + text + ")";
}

void MatmulOperandWriter::declare_copies() {
  body().blank();
  const std::string upper = name() == "a" ? "A" : "B";
  if (turn_) {
    body().comment(
        fmt::format("{}: neighbours lie along the sum; blocks of a tile are turned in registers, it is "
                    "stored [step][row]",
                    upper));
    body().line(fmt::format("const int {} = {};", thread_row_, turn_->row_text("thread")));
    body().line(fmt::format("const int {} = {};", thread_step_, turn_->step_text("thread")));
    declare_turned();
    return;
  }
  if (operand_.along_steps)
    body().comment(
        fmt::format("{}: neighbours lie along the sum; a tile is stored transposed, [step][row]", upper));
  else
    body().comment(fmt::format("{}: neighbours lie along the rows; a tile is [step][row]", upper));
  body().line(fmt::format("const int {} = {};", thread_row_, pattern_.row_text("thread")));
  body().line(fmt::format("const int {} = {};", thread_step_, pattern_.step_text("thread")));
  operand_.copied ? declare_copied() : declare_staged();
}

/// The distance of `count` strides as a 64-bit constant of the kernel; empty where the stride is 0.
std::string MatmulOperandWriter::declare_advance(std::string_view suffix, const std::string& stride,
                                                 const std::string& count) {
  if (stride == "0") return {};
  if (stride == "1") return count;
  const std::string variable = fmt::format("{}_{}", name(), suffix);
  body().line(fmt::format("const long long {} = (long long){} * {};", variable, stride, count));
  return variable;
}

/// Text of the offset of the operand's first row and step.
std::string MatmulOperandWriter::first_offset() {
  const dsl::Expression& read = kernel_.graph().arena[operand_.factor];
  const ExpressionEmitter::Scope scope(emitter_);
  for (const auto* axes : {&operand_.rows, &operand_.steps})
    for (const AxisId axis : *axes) emitter_.bind_axis(axis, emitter_.value(kernel_.graph().arena[axis].low));
  std::vector<std::string> indices;
  for (const ExpressionId index : read.operands) indices.push_back(emitter_.value(index));
  return without_parentheses(emitter_.offset(TensorId{read.index}, indices));
}

void MatmulOperandWriter::declare_copied() {
  const TensorId tensor{kernel_.graph().arena[operand_.factor].index};
  const std::string row_stride = stride_text(operand_.row_steps, name() + "_row_stride");
  const std::string step_stride = stride_text(operand_.step_steps, name() + "_step_stride");
  const auto product = [](const std::string& count, const std::string& stride) {
    if (stride == "0") return stride;
    return stride == "1" ? count : fmt::format("({}) * {}", count, stride);
  };
  const std::string first_step = names_.first_tile.empty()
                                     ? thread_step_
                                     : fmt::format("{} * {} + {}", names_.first_tile, block_k_, thread_step_);
  std::string offset = joined(first_offset(), product(names_.first_row + " + " + thread_row_, row_stride));
  offset = joined(offset, product(first_step, step_stride));
  body().line(fmt::format("const {}* {}_from = {} + {};", names_.value_type, name(), kernel_.tensor(tensor),
                          offset.find(' ') == std::string::npos ? offset : "(" + offset + ")"));
  body().line(fmt::format("const {} {}_rows = {} - {} - {};", kernel_.index_type(), name(), names_.row_count,
                          names_.first_row, thread_row_));
  std::string advance;
  if (pattern_.count > 1)
    advance = declare_advance("advance", operand_.along_steps ? row_stride : step_stride,
                              fmt::format("{}", pattern_.advance));
  declare_copy(advance, declare_advance("tile_advance", step_stride, block_k_));
}

/// The lambda that starts copying a tile, and moves on to the next: `advance` is the distance between a
/// thread's accesses, `tile_advance` that between tiles.
void MatmulOperandWriter::declare_copy(const std::string& advance, const std::string& tile_advance) {
  body().open(fmt::format("auto copy_{} = [&]({} tile, int stage)", name(), kernel_.index_type()));
  const std::string rows_left = name() + "_rows";
  const std::string steps_left =
      fmt::format("{} - tile * {} - {}", names_.step_count, block_k_, thread_step_);
  body().comment("how far the operand goes on from here; zeros stand in for what lies past its edges");
  body().line(fmt::format("const {} left = {} > 0 ? {} : 0;", kernel_.index_type(),
                          operand_.along_steps ? steps_left : rows_left,
                          operand_.along_steps ? rows_left : steps_left));
  body().line(fmt::format("{}* to = {} + stage * {} + {} * {} + {};", names_.value_type, shared_, stage_,
                          thread_step_, pitch_, thread_row_));
  body().line(fmt::format("const {}* from = {}_from;", names_.value_type, name()));
  if (pattern_.count > 1) {
    const std::string to_step =
        operand_.along_steps ? fmt::format("{}", pattern_.advance) : times(pitch_, pattern_.advance);
    body().line("#pragma unroll");
    body().open(fmt::format("for (int i = 0; i < {}; ++i)", pattern_.count));
    body().line(fmt::format("ek_copy_async<{}>(to + i * {}, from, i * {} < left);", pattern_.width, to_step,
                            pattern_.advance));
    if (!advance.empty()) body().line(fmt::format("from += {};", advance));
    body().close();
  } else {
    body().line(fmt::format("ek_copy_async<{}>(to, from, left > 0);", pattern_.width));
  }
  if (!tile_advance.empty()) body().line(fmt::format("{}_from += {};", name(), tile_advance));
  body().close(";");
}

/// Offsets of the thread's lines, held for the whole sum; rows past the edge read the last one, and nobody
/// looks at what comes of them.
void MatmulOperandWriter::declare_turned() {
  const TensorId tensor{kernel_.graph().arena[operand_.factor].index};
  const std::string row_stride = stride_text(operand_.row_steps, name() + "_row_stride");
  const std::string lines = kernel_.constant(name() + "_lines", turn_->lines());
  const std::string_view index = kernel_.index_type();
  const std::string blocks =
      turn_->blocks > 1 ? fmt::format(" + i / {} * {}", turn_->rows, turn_->advance) : "";
  const std::string inside = turn_->rows == 1    ? ""
                             : turn_->blocks > 1 ? fmt::format(" + i % {}", turn_->rows)
                                                 : " + i";
  body().line(fmt::format("{} {}_offset[{}];", index, name(), lines));
  body().line("#pragma unroll");
  body().open(fmt::format("for (int i = 0; i < {}; ++i)", lines));
  body().line(fmt::format("const {} row = min({} + {}{}{}, {} - 1);", index, names_.first_row, thread_row_,
                          blocks, inside, names_.row_count));
  const std::string offset = joined(first_offset(), row_stride == "1" ? "row" : "row * " + row_stride);
  body().line(fmt::format("{}_offset[i] = {};", name(), offset));
  body().close();

  body().line(
      fmt::format("ek_vector<{}, {}> {}_line[{}];", names_.value_type, TurnPattern::steps, name(), lines));
  body().open(fmt::format("auto load_{} = [&]({} tile)", name(), index));
  body().line(fmt::format("const {} step = tile * {} + {};", index, block_k_, thread_step_));
  body().line("#pragma unroll");
  body().open(fmt::format("for (int i = 0; i < {}; ++i)", lines));
  const bool whole = divides_axis(kernel_.context(), operand_.steps.back(), block_k_size_);
  if (!whole || operand_.line == 1)
    body().line(fmt::format("{}_line[i] = {{}};  // zeros past the end of the sum", name()));
  const std::string from = fmt::format("{} + {}_offset[i] + step", kernel_.tensor(tensor), name());
  if (operand_.line == TurnPattern::steps) {
    const std::string guard = whole ? "" : fmt::format("if (step < {}) ", names_.step_count);
    body().line(fmt::format("{}ek_load<4>({}_line[i], {});", guard, name(), from));
  } else {
    body().line("#pragma unroll");
    body().line("for (int s = 0; s < 4; ++s)");
    body().line(fmt::format("  if (step + s < {}) {}_line[i].element[s] = ({})[s];", names_.step_count,
                            name(), from));
  }
  body().close();
  body().close(";");

  body().open(fmt::format("auto store_{} = [&]({} tile, int stage)", name(), index));
  body().line(fmt::format("{}* to = {} + stage * {} + {} * {} + {};", names_.value_type, shared_, stage_,
                          thread_step_, pitch_, thread_row_));
  const bool several = turn_->blocks > 1;
  if (several) {
    body().line("#pragma unroll");
    body().open(fmt::format("for (int block = 0; block < {}; ++block)", turn_->blocks));
  }
  body().line("#pragma unroll");
  body().open("for (int step = 0; step < 4; ++step)");
  body().line(fmt::format("ek_vector<{}, {}> rows;", names_.value_type, turn_->rows));
  body().line("#pragma unroll");
  body().line(
      fmt::format("for (int row = 0; row < {}; ++row) rows.element[row] = {}_line[{}row].element[step];",
                  turn_->rows, name(), several ? fmt::format("block * {} + ", turn_->rows) : ""));
  body().line(fmt::format("ek_store<{}>(to + step * {}{}, rows);", turn_->rows, pitch_,
                          several ? fmt::format(" + block * {}", turn_->advance) : ""));
  body().close();
  if (several) body().close();
  body().close(";");
}

MatmulOperandWriter::StagedPlace MatmulOperandWriter::emit_place(const std::string& slot) {
  const std::string_view index = kernel_.index_type();
  const std::string moved = slot.empty() ? "" : fmt::format(" + {} * {}", slot, pattern_.advance);
  const bool rows_move = operand_.along_steps;
  StagedPlace place{kernel_.names().unique("i", "row"), kernel_.names().unique("i", "step"), {}};
  body().line(fmt::format("const {} {} = {} + {}{};", index, place.row, names_.first_row, thread_row_,
                          rows_move ? moved : ""));
  body().line(fmt::format("const {} {} = tile * {} + {}{};", index, place.step, block_k_, thread_step_,
                          rows_move ? "" : moved));
  place.inside =
      fmt::format("{} < {} && {} < {}", place.row, names_.row_count, place.step, names_.step_count);
  return place;
}

void MatmulOperandWriter::bind_place(const StagedPlace& place) {
  bind_axes_from_flat(emitter_, place.row, operand_.rows);
  bind_axes_from_flat(emitter_, place.step, operand_.steps);
}

std::string MatmulOperandWriter::slot_destination(const std::string& slot) const {
  std::string text =
      fmt::format("{} + stage * {} + {} * {} + {}", shared_, stage_, thread_step_, pitch_, thread_row_);
  if (!slot.empty())
    text += fmt::format(
        " + {} * {}", slot,
        operand_.along_steps ? fmt::format("{}", pattern_.advance) : times(pitch_, pattern_.advance));
  return text;
}

void MatmulOperandWriter::emit_staged_values(const std::string& slot, const StagedPlace& place) {
  const ExpressionEmitter::Scope scope(emitter_);
  bind_place(place);
  const AxisId axis = operand_.last_axis();
  const std::string first = emitter_.axis_text(axis);
  std::string element = "0";
  emitter_.hoist(operand_.factor, {axis});
  if (pattern_.width > 1) {
    element = kernel_.names().unique("i", "element");
    body().line("#pragma unroll");
    body().open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", element, pattern_.width));
  }
  {
    const ExpressionEmitter::Scope inner(emitter_);
    emitter_.bind_axis(axis, pattern_.width > 1 ? fmt::format("({} + {})", first, element) : first);
    block_->bind(slot, element);
    const std::string value = without_parentheses(emitter_.value(operand_.factor));
    body().line(fmt::format("values.element[{}] = {};", element, value));
  }
  if (pattern_.width > 1) body().close();
}

void MatmulOperandWriter::declare_staged() {
  const bool several = pattern_.count > 1;
  const std::string slot = several ? "slot" : "";
  const auto open_slots = [&] {
    if (!several) return;
    body().line("#pragma unroll");
    body().open(fmt::format("for (int slot = 0; slot < {}; ++slot)", pattern_.count));
  };
  const auto close_slots = [&] {
    if (several) body().close();
  };
  if (block_->has_reads()) {
    block_->declare(pattern_.count);
    body().open(fmt::format("auto load_{} = [&]({} tile)", name(), kernel_.index_type()));
    open_slots();
    const ExpressionEmitter::Scope scope(emitter_);
    const StagedPlace place = emit_place(slot);
    body().open(fmt::format("if ({})", place.inside));
    bind_place(place);
    block_->load(slot, {});
    body().close();
    close_slots();
    body().close(";");
  }
  body().open(fmt::format("auto store_{} = [&]({} tile, int stage)", name(), kernel_.index_type()));
  open_slots();
  const StagedPlace place = emit_place(slot);
  body().line(fmt::format("ek_vector<{}, {}> values = {{}};  // zeros past the edges", names_.value_type,
                          pattern_.width));
  body().open(fmt::format("if ({})", place.inside));
  emit_staged_values(slot, place);
  body().close();
  const std::string to = slot_destination(slot);
  if (operand_.along_steps && pattern_.width > 1) {
    body().line("#pragma unroll");
    body().line(fmt::format("for (int i = 0; i < {}; ++i) ({})[i * {}] = values.element[i];", pattern_.width,
                            to, pitch_));
  } else {
    const int bytes = core::size_bytes(std::get<Contraction>(kernel_.context().kernel.form).accumulator);
    body().line(fmt::format("ek_store<{}>({}, values);", std::min(pattern_.width, 16 / bytes), to));
  }
  close_slots();
  body().close(";");
}

void MatmulOperandWriter::start(const std::string& tile, const std::string& stage) {
  if (copied())
    body().line(fmt::format("copy_{}({}, {});", name(), tile, stage));
  else if (turn_ || block_->has_reads())
    body().line(fmt::format("load_{}({});", name(), tile));
}

void MatmulOperandWriter::finish(const std::string& tile, const std::string& stage) {
  if (!copied()) body().line(fmt::format("store_{}({}, {});", name(), tile, stage));
}

void MatmulOperandWriter::declare_fragments(const std::string& thread_row, int thread_rows, int lanes) {
  const int chunk = 16 / core::size_bytes(std::get<Contraction>(kernel_.context().kernel.form).accumulator);
  const std::string vectors = fmt::format("{}", thread_rows / chunk);
  body().line(
      fmt::format("ek_vector<{}, {}> {}_fragment[2][{}];", names_.value_type, chunk, name(), vectors));
  first_fragment_ = thread_row;
  body().line(fmt::format("const {}* {}_read = {} + {};", names_.value_type, name(), shared_, thread_row));
  body().open(fmt::format("auto read_{} = [&](int buffer, int step)", name()));
  body().line(fmt::format("const {}* from = {}_read + step * {};", names_.value_type, name(), pitch_));
  body().line("#pragma unroll");
  body().line(
      fmt::format("for (int i = 0; i < {0}; ++i) ek_load<{1}>({2}_fragment[buffer][i], from + i * {3});",
                  vectors, chunk, name(), lanes * chunk));
  body().close(";");
}

void MatmulOperandWriter::move_to(const std::string& stage) {
  body().line(
      fmt::format("{0}_read = {1} + {2} * {3} + {4};", name(), shared_, stage, stage_, first_fragment_));
}

}  // namespace einkern::codegen::cuda
