#include "codegen/cpu/ir_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <utility>

namespace einkern::codegen::cpu {
namespace {

std::string integer_text(std::int64_t value, IrType type) {
  if (type.kind == IrType::Kind::i1) return value != 0 ? "true" : "false";
  return fmt::format("{}", value);
}

/// LLVM takes a decimal number only if it is exact in the type; everything else is the bits of the double.
std::string floating_text(double value) {
  if (std::isfinite(value) && value * 1024 == std::trunc(value * 1024) && std::fabs(value) < 16384 &&
      !(value == 0 && std::signbit(value))) {
    char digits[64];
    auto end = std::to_chars(digits, digits + sizeof digits, value, std::chars_format::fixed, 10).ptr;
    while (end[-1] == '0' && end[-2] != '.') --end;
    return std::string(digits, end);
  }
  return fmt::format("0x{:016X}", std::bit_cast<std::uint64_t>(value));
}

std::optional<std::int64_t> constant(const IrValue& value) {
  std::int64_t number = 0;
  const char* end = value.text.data() + value.text.size();
  auto [rest, status] = std::from_chars(value.text.data(), end, number);
  if (!value.is_constant() || value.type != ir_i64 || status != std::errc{} || rest != end) return {};
  return number;
}

std::string typed(const IrValue& value) { return value.type.text() + " " + value.text; }

std::string operands(const std::vector<IrValue>& values) {
  std::string text;
  for (const IrValue& value : values) text += (text.empty() ? "" : ", ") + typed(value);
  return text;
}

std::string alignment_text(int alignment) {
  return alignment > 0 ? fmt::format(", align {}", alignment) : std::string();
}

}  // namespace

std::string IrType::text() const {
  static constexpr const char* names[] = {"i1",   "i8",     "i16",   "i32",    "i64",
                                          "half", "bfloat", "float", "double", "ptr"};
  const char* name = names[static_cast<int>(kind)];
  return lanes == 1 ? name : fmt::format("<{} x {}>", lanes, name);
}

std::string IrType::suffix() const {
  static constexpr const char* names[] = {"i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "p0"};
  const char* name = names[static_cast<int>(kind)];
  return lanes == 1 ? name : fmt::format("v{}{}", lanes, name);
}

int IrType::scalar_bytes() const {
  static constexpr int bytes[] = {1, 1, 2, 4, 8, 2, 2, 4, 8, 8};
  return bytes[static_cast<int>(kind)];
}

std::string intrinsic(std::string_view name, IrType type) {
  return fmt::format("llvm.{}.{}", name, type.suffix());
}

// --- the module ---

void IrWriter::write_function(std::string_view head, const std::vector<Parameter>& parameters,
                              const std::function<std::optional<IrValue>(const Values&)>& body,
                              std::string& module) {
  FunctionText outer = std::exchange(current_, {});
  current_.names.insert("%entry");  // blocks and values share their names
  Values values;
  std::string list;
  for (const Parameter& parameter : parameters) {
    values.push_back({parameter.type, fresh(parameter.name)});
    list += fmt::format("{}{} {}{}{}", list.empty() ? "" : ", ", parameter.type.text(), parameter.attributes,
                        parameter.attributes.empty() ? "" : " ", values.back().text);
  }
  current_.block = "entry";
  std::optional<IrValue> result = body(values);
  line(result ? "ret " + typed(*result) : "ret void");
  module += fmt::format("define {}({}) nounwind {{\nentry:\n{}{}}}\n\n", head, list, current_.prologue,
                        current_.text);
  current_ = std::move(outer);
}

void IrWriter::function(std::string_view name, const std::vector<Parameter>& parameters,
                        const std::function<void(const Values&)>& body) {
  auto wrapped = [&](const Values& values) -> std::optional<IrValue> { return body(values), std::nullopt; };
  write_function(fmt::format("void @{}", name), parameters, wrapped, exported_);
}

void IrWriter::helper(std::string_view name, const std::vector<Parameter>& parameters,
                      std::optional<IrType> result,
                      const std::function<std::optional<IrValue>(const Values&)>& body) {
  if (!helper_names_.insert(std::string(name)).second) return;
  std::string text;  // a helper may ask for others, which then stand before it
  write_function(fmt::format("internal {} @{}", result ? result->text() : "void", name), parameters, body,
                 text);
  helpers_ += text;
}

std::string IrWriter::finish() const {
  std::string text = exported_ + helpers_;
  for (const std::string& declaration : declarations_) text += declaration + "\n";
  if (text.find("!invariant.load") != std::string::npos) text += "!0 = !{}\n";
  return text;
}

IrValue IrWriter::in_prologue(const std::function<IrValue()>& write) {
  std::swap(current_.text, current_.prologue);
  IrValue value = write();
  std::swap(current_.text, current_.prologue);
  return value;
}

void IrWriter::comment(std::string_view text) { line(fmt::format("; {}", text)); }

void IrWriter::line(std::string_view text) { current_.text += fmt::format("  {}\n", text); }

void IrWriter::begin_block(const std::string& label) {
  current_.block = label;
  current_.text += label + ":\n";
}

std::string IrWriter::fresh(std::string_view name) {
  int& count = current_.counts[std::string(name)];
  for (;; ++count) {
    std::string candidate = count == 0 ? fmt::format("%{}", name) : fmt::format("%{}.{}", name, count);
    if (current_.names.insert(candidate).second) return ++count, candidate;
  }
}

IrValue IrWriter::define(std::string_view name, IrType type, std::string_view right_side) {
  IrValue value{type, fresh(name)};
  line(fmt::format("{} = {}", value.text, right_side));
  return value;
}

void IrWriter::declare(std::string_view function, const std::string& result, const Values& arguments) {
  std::string types;
  for (const IrValue& argument : arguments) types += (types.empty() ? "" : ", ") + argument.type.text();
  // A library function without memory effects may be hoisted and merged like an intrinsic.
  std::string effects = function.starts_with("llvm.") ? "" : " nounwind willreturn memory(none)";
  declarations_.insert(fmt::format("declare {} @{}({}){}", result, function, types, effects));
}

// --- constants ---

IrValue IrWriter::integer(std::int64_t value, IrType type) {
  if (value == 0 && type.lanes > 1) return zero(type);
  return {type, integer_text(value, type)};
}

IrValue IrWriter::integers(std::int64_t value, IrType type) {
  if (value == 0) return zero(type);
  return splat(integer(value, type.scalar()), type.lanes);
}

IrValue IrWriter::floating(double value, IrType type) {
  // LLVM refuses a number that is not exact in its type.
  double exact = type.kind == IrType::Kind::f32 ? static_cast<double>(static_cast<float>(value)) : value;
  return splat({type.scalar(), floating_text(exact)}, type.lanes);
}

IrValue IrWriter::zero(IrType type) {
  if (type.lanes > 1) return {type, "zeroinitializer"};
  if (type.is_float()) return {type, "0.0"};
  return {type, type.kind == IrType::Kind::i1 ? "false" : type.kind == IrType::Kind::pointer ? "null" : "0"};
}

IrValue IrWriter::undefined(IrType type) { return {type, "poison"}; }

IrValue IrWriter::lane_numbers(IrType type) {
  std::string text;
  for (int lane = 0; lane < type.lanes; ++lane)
    text += fmt::format("{}{} {}", lane == 0 ? "" : ", ", type.scalar().text(), lane);
  return {type, "<" + text + ">"};
}

// --- arithmetic ---

IrValue IrWriter::binary(std::string_view opcode, const IrValue& a, const IrValue& b, std::string_view name) {
  return define(name, a.type, fmt::format("{} {} {}, {}", opcode, a.type.text(), a.text, b.text));
}

IrValue IrWriter::negate(const IrValue& a, std::string_view name) {
  return define(name, a.type, "fneg " + typed(a));
}

IrValue IrWriter::add(const IrValue& a, const IrValue& b, std::string_view name) {
  auto left = constant(a), right = constant(b);
  if (left && right) return integer(*left + *right);
  if (left == 0) return b;
  if (right == 0) return a;
  return binary("add nsw", a, b, name);
}

IrValue IrWriter::subtract(const IrValue& a, const IrValue& b, std::string_view name) {
  auto left = constant(a), right = constant(b);
  if (left && right) return integer(*left - *right);
  return right == 0 ? a : binary("sub nsw", a, b, name);
}

IrValue IrWriter::multiply(const IrValue& a, const IrValue& b, std::string_view name) {
  auto left = constant(a), right = constant(b);
  if (left && right) return integer(*left * *right);
  if (left == 0 || right == 1) return a;
  if (right == 0 || left == 1) return b;
  return binary("mul nsw", a, b, name);
}

IrValue IrWriter::minimum(const IrValue& a, const IrValue& b, std::string_view name) {
  auto left = constant(a), right = constant(b);
  if (left && right) return integer(std::min(*left, *right));
  return call(intrinsic("smin", a.type), a.type, {a, b}, name);
}

IrValue IrWriter::compare(std::string_view predicate, const IrValue& a, const IrValue& b,
                          std::string_view name) {
  std::string_view opcode = a.type.is_float() ? "fcmp" : "icmp";
  return define(name, ir_i1.with_lanes(a.type.lanes),
                fmt::format("{} {} {}, {}", opcode, predicate, typed(a), b.text));
}

IrValue IrWriter::select(const IrValue& condition, const IrValue& a, const IrValue& b,
                         std::string_view name) {
  return define(name, a.type, fmt::format("select {}, {}, {}", typed(condition), typed(a), typed(b)));
}

IrValue IrWriter::cast(std::string_view opcode, const IrValue& a, IrType type, std::string_view name) {
  return define(name, type, fmt::format("{} {} to {}", opcode, typed(a), type.text()));
}

IrValue IrWriter::call(std::string_view function, IrType result, const Values& arguments,
                       std::string_view name) {
  declare(function, result.text(), arguments);
  return call_helper(function, result, arguments, name);
}

void IrWriter::call_void(std::string_view function, const Values& arguments) {
  declare(function, "void", arguments);
  call_helper_void(function, arguments);
}

IrValue IrWriter::call_helper(std::string_view function, IrType result, const Values& arguments,
                              std::string_view name) {
  return define(name, result, fmt::format("call {} @{}({})", result.text(), function, operands(arguments)));
}

void IrWriter::call_helper_void(std::string_view function, const Values& arguments) {
  line(fmt::format("call void @{}({})", function, operands(arguments)));
}

// --- vectors ---

IrValue IrWriter::splat(const IrValue& scalar, int lanes) {
  if (scalar.type.lanes == lanes) return scalar;
  IrType type = scalar.type.with_lanes(lanes);
  auto write = [&] {
    std::string name = scalar.is_constant() ? "c" : scalar.text.substr(1);
    IrValue first = define(name + ".first", type,
                           fmt::format("insertelement {} poison, {}, i64 0", type.text(), typed(scalar)));
    return define(name + ".all", type,
                  fmt::format("shufflevector {}, {} poison, <{} x i32> zeroinitializer", typed(first),
                              type.text(), lanes));
  };
  if (!scalar.is_constant()) return write();
  std::string key = type.text() + scalar.text;
  auto known = current_.splats.find(key);
  if (known == current_.splats.end()) known = current_.splats.emplace(key, in_prologue(write)).first;
  return known->second;
}

IrValue IrWriter::extract(const IrValue& vector, int lane, std::string_view name) {
  if (vector.type.lanes == 1) return vector;
  return define(name, vector.type.scalar(), fmt::format("extractelement {}, i64 {}", typed(vector), lane));
}

IrValue IrWriter::insert(const IrValue& vector, const IrValue& scalar, int lane, std::string_view name) {
  if (vector.type.lanes == 1) return scalar;
  return define(name, vector.type,
                fmt::format("insertelement {}, {}, i64 {}", typed(vector), typed(scalar), lane));
}

IrValue IrWriter::shuffle(const IrValue& a, const IrValue& b, std::span<const int> lanes,
                          std::string_view name) {
  std::string mask;
  for (int lane : lanes) mask += fmt::format("{}i32 {}", mask.empty() ? "" : ", ", lane);
  int count = static_cast<int>(lanes.size());
  IrValue result =
      define(name, a.type.with_lanes(count),
             fmt::format("shufflevector {}, {}, <{} x i32> <{}>", typed(a), typed(b), count, mask));
  return result;
}

// --- memory ---

IrValue IrWriter::load(IrType type, const IrValue& pointer, int alignment, std::string_view name) {
  return define(name, type,
                fmt::format("load {}, {}{}", type.text(), typed(pointer), alignment_text(alignment)));
}

IrValue IrWriter::load_constant(IrType type, const IrValue& pointer, int alignment, std::string_view name) {
  return define(name, type,
                fmt::format("load {}, {}{}, !invariant.load !0", type.text(), typed(pointer),
                            alignment_text(alignment)));
}

void IrWriter::store(const IrValue& value, const IrValue& pointer, int alignment) {
  line(fmt::format("store {}, {}{}", typed(value), typed(pointer), alignment_text(alignment)));
}

IrValue IrWriter::element(const IrValue& base, const IrValue& index, IrType element_type,
                          std::string_view name) {
  if (constant(index) == 0) return base;
  return define(name, ir_pointer.with_lanes(index.type.lanes),
                fmt::format("getelementptr {}, {}, {}", element_type.text(), typed(base), typed(index)));
}

// --- control ---

IrWriter::Values IrWriter::loop(std::string_view name, const IrValue& begin, const IrValue& end,
                                const IrValue& step, const Values& initial, const LoopBody& body) {
  IrValue index{ir_i64, fresh(name)};
  std::string label = index.text.substr(1), before = current_.block;
  Values carried;
  for (const IrValue& value : initial) carried.push_back({value.type, fresh(label + ".carried")});
  line(fmt::format("br label %{}.head", label));
  begin_block(label + ".head");
  std::size_t phis_at = current_.text.size();
  IrValue more = compare("slt", index, end, label + ".more");
  line(fmt::format("br {}, label %{}.body, label %{}.exit", typed(more), label, label));
  begin_block(label + ".body");
  Values next = body(index, carried);
  IrValue next_index = binary("add nsw", index, step, label + ".next");
  std::string latch = current_.block;
  line(fmt::format("br label %{}.head", label));
  // The phis name the values of the body, so they are written when it is.
  std::string phis = fmt::format("  {} = phi i64 [ {}, %{} ], [ {}, %{} ]\n", index.text, begin.text, before,
                                 next_index.text, latch);
  for (std::size_t i = 0; i < carried.size(); ++i)
    phis += fmt::format("  {} = phi {} [ {}, %{} ], [ {}, %{} ]\n", carried[i].text, carried[i].type.text(),
                        initial[i].text, before, next[i].text, latch);
  current_.text.insert(phis_at, phis);
  begin_block(label + ".exit");
  return carried;
}

void IrWriter::loop(std::string_view name, const IrValue& begin, const IrValue& end, const IrValue& step,
                    const std::function<void(const IrValue& index)>& body) {
  loop(name, begin, end, step, {},
       [&](const IrValue& index, const Values&) { return body(index), Values(); });
}

void IrWriter::if_then(const IrValue& condition, const std::function<void()>& then) {
  if_else(condition, [&] { return then(), Values(); }, [] { return Values(); });
}

IrWriter::Values IrWriter::if_else(const IrValue& condition, const std::function<Values()>& then,
                                   const std::function<Values()>& otherwise) {
  std::string label = fresh("if").substr(1);
  line(fmt::format("br {}, label %{}.then, label %{}.else", typed(condition), label, label));
  begin_block(label + ".then");
  Values first = then();
  std::string first_end = current_.block;
  line(fmt::format("br label %{}.end", label));
  begin_block(label + ".else");
  Values second = otherwise();
  std::string second_end = current_.block;
  line(fmt::format("br label %{}.end", label));
  begin_block(label + ".end");
  Values results;
  for (std::size_t i = 0; i < first.size(); ++i)
    results.push_back(define(label + ".value", first[i].type,
                             fmt::format("phi {} [ {}, %{} ], [ {}, %{} ]", first[i].type.text(),
                                         first[i].text, first_end, second[i].text, second_end)));
  return results;
}

}  // namespace einkern::codegen::cpu
