#include "core/launch_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <type_traits>

namespace einkern::core {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 6> kind_names = {"input",   "output",  "inout",
                                                        "scratch", "counter", "constant"};

// --- writing ---

json written(const TensorMapArgument& map) {
  json dims = json::array();
  for (const TensorMapDim& dim : map.dims)
    dims.push_back({{"size", dim.size.text()},
                    {"stride", dim.byte_stride.text()},
                    {"box", dim.box},
                    {"element_stride", dim.element_stride}});
  return {{"tensor_map", map.buffer},
          {"offset", map.byte_offset.text()},
          {"dtype", dtype_name(map.dtype)},
          {"dims", std::move(dims)},
          {"swizzle", static_cast<int>(map.swizzle)},
          {"promotion", static_cast<int>(map.promotion)}};
}

json written(const Argument& argument) {
  return std::visit(
      [](const auto& a) -> json {
        using T = std::decay_t<decltype(a)>;
        if constexpr (std::is_same_v<T, PointerArgument>)
          return {{"pointer", a.buffer}, {"offset", a.byte_offset.text()}};
        else if constexpr (std::is_same_v<T, SizeArgument>)
          return {{"size", a.value.text()}, {"bytes", a.bytes}};
        else if constexpr (std::is_same_v<T, ScalarArgument>)
          return {{"scalar", a.scalar}};
        else if constexpr (std::is_same_v<T, DivisorArgument>)
          return {{"divisor", a.divisor.text()}};
        else
          return written(a);
      },
      argument);
}

json written(const std::vector<Argument>& arguments) {
  json list = json::array();
  for (const Argument& argument : arguments) list.push_back(written(argument));
  return list;
}

json written(const std::array<SizeExpression, 3>& sizes) {
  return json::array({sizes[0].text(), sizes[1].text(), sizes[2].text()});
}

json written(const Step& step) {
  return std::visit(
      [](const auto& s) -> json {
        using T = std::decay_t<decltype(s)>;
        if constexpr (std::is_same_v<T, KernelStep>)
          return {{"step", "kernel"},
                  {"entry", s.entry},
                  {"grid", written(s.grid)},
                  {"block", written(s.block)},
                  {"cluster", written(s.cluster)},
                  {"shared", s.shared_bytes.text()},
                  {"cooperative", s.cooperative},
                  {"arguments", written(s.arguments)}};
        else if constexpr (std::is_same_v<T, CpuStep>)
          return {{"step", "cpu"},
                  {"entry", s.entry},
                  {"tasks", s.tasks.text()},
                  {"grain", s.grain.text()},
                  {"scratch", s.scratch_bytes.text()},
                  {"arguments", written(s.arguments)}};
        else
          return {{"step", "fill"}, {"buffer", s.buffer}, {"bytes", s.bytes.text()}, {"byte", s.byte}};
      },
      step);
}

// --- reading: any deviation throws, and from_json turns it into an Error ---

template <typename T>
T checked(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.error().message);
  return std::move(result).value();
}

SizeExpression read_size(const json& value) {
  return checked(SizeExpression::parse(value.get_ref<const std::string&>()));
}

std::array<SizeExpression, 3> read_sizes(const json& value) {
  if (value.size() != 3) throw std::runtime_error("a grid, block or cluster does not have 3 sizes");
  return {read_size(value.at(0)), read_size(value.at(1)), read_size(value.at(2))};
}

int read_index(const json& value, std::size_t count) {
  const auto index = value.get<std::int64_t>();
  if (index < 0 || static_cast<std::size_t>(index) >= count)
    throw std::runtime_error(fmt::format("the index {} is outside of {} entries", index, count));
  return static_cast<int>(index);
}

DType read_dtype(const json& value) {
  const auto type = parse_dtype(value.get_ref<const std::string&>());
  if (!type) throw std::runtime_error("an element type is unknown");
  return *type;
}

/// One of an enumeration's values, which are numbers of bytes.
template <typename Enumeration>
Enumeration read_bytes(const json& value, std::initializer_list<Enumeration> known) {
  const auto bytes = value.get<std::int64_t>();
  for (const Enumeration candidate : known)
    if (static_cast<std::int64_t>(candidate) == bytes) return candidate;
  throw std::runtime_error(fmt::format("a tensor map has a swizzle or promotion of {} bytes", bytes));
}

/// nlohmann-json wraps numbers that do not fit, so that -1 would become a large box.
std::uint32_t read_count(const json& value) {
  const auto count = value.get<std::int64_t>();
  if (count < 0 || count > std::numeric_limits<std::uint32_t>::max())
    throw std::runtime_error(fmt::format("the number {} is outside of 32 bits", count));
  return static_cast<std::uint32_t>(count);
}

TensorMapArgument read_tensor_map(const json& value, const LaunchPlan& plan) {
  TensorMapArgument map;
  map.buffer = read_index(value.at("tensor_map"), plan.buffers.size());
  map.byte_offset = read_size(value.at("offset"));
  map.dtype = read_dtype(value.at("dtype"));
  for (const json& dim : value.at("dims"))
    map.dims.push_back({read_size(dim.at("size")), read_size(dim.at("stride")), read_count(dim.at("box")),
                        read_count(dim.at("element_stride"))});
  map.swizzle =
      read_bytes(value.at("swizzle"), {Swizzle::none, Swizzle::span_32, Swizzle::span_64, Swizzle::span_128});
  map.promotion = read_bytes(value.at("promotion"), {L2Promotion::none, L2Promotion::bytes_64,
                                                     L2Promotion::bytes_128, L2Promotion::bytes_256});
  if (const Result<void> sound = check_tensor_map(map); !sound.ok())
    throw std::runtime_error(sound.error().message);
  return map;
}

std::vector<Argument> read_arguments(const json& list, const LaunchPlan& plan) {
  std::vector<Argument> arguments;
  for (const json& value : list) {
    if (value.contains("pointer")) {
      arguments.emplace_back(PointerArgument{read_index(value.at("pointer"), plan.buffers.size()),
                                             read_size(value.at("offset"))});
    } else if (value.contains("size")) {
      const int bytes = value.at("bytes").get<int>();
      if (bytes != 4 && bytes != 8) throw std::runtime_error("a size argument has neither 4 nor 8 bytes");
      arguments.emplace_back(SizeArgument{read_size(value.at("size")), bytes});
    } else if (value.contains("scalar")) {
      arguments.emplace_back(ScalarArgument{read_index(value.at("scalar"), plan.scalars.size())});
    } else if (value.contains("tensor_map")) {
      arguments.emplace_back(read_tensor_map(value, plan));
    } else {
      arguments.emplace_back(DivisorArgument{read_size(value.at("divisor"))});
    }
  }
  return arguments;
}

Step read_step(const json& value, const LaunchPlan& plan) {
  const auto& kind = value.at("step").get_ref<const std::string&>();
  if (kind == "kernel") {
    KernelStep step;
    step.entry = value.at("entry").get<std::string>();
    step.grid = read_sizes(value.at("grid"));
    step.block = read_sizes(value.at("block"));
    step.cluster = read_sizes(value.at("cluster"));
    step.shared_bytes = read_size(value.at("shared"));
    step.cooperative = value.at("cooperative").get<bool>();
    step.arguments = read_arguments(value.at("arguments"), plan);
    return step;
  }
  if (kind == "cpu") {
    CpuStep step{value.at("entry").get<std::string>(), read_size(value.at("tasks")),
                 read_size(value.at("grain")), read_size(value.at("scratch")),
                 read_arguments(value.at("arguments"), plan)};
    for (const Argument& argument : step.arguments)
      if (std::holds_alternative<TensorMapArgument>(argument))
        throw std::runtime_error("a loop on a CPU takes a tensor map");
    return step;
  }
  if (kind != "fill") throw std::runtime_error("a step is of an unknown kind");
  return FillStep{read_index(value.at("buffer"), plan.buffers.size()), read_size(value.at("bytes")),
                  value.at("byte").get<std::uint8_t>()};
}

BufferSpec read_buffer(const json& value) {
  BufferSpec buffer;
  buffer.name = value.at("name").get<std::string>();
  const auto& kind = value.at("kind").get_ref<const std::string&>();
  const auto found = std::find(kind_names.begin(), kind_names.end(), kind);
  if (found == kind_names.end()) throw std::runtime_error("a buffer is of an unknown kind");
  buffer.kind = static_cast<BufferKind>(found - kind_names.begin());
  buffer.dtype = read_dtype(value.at("dtype"));
  buffer.bytes = read_size(value.at("bytes"));
  buffer.alignment = value.at("alignment").get<std::int64_t>();
  if (buffer.alignment < 1 || !std::has_single_bit(static_cast<std::uint64_t>(buffer.alignment)))
    throw std::runtime_error("a buffer's alignment is no power of two");
  buffer.zero_on_creation = value.at("zero").get<bool>();
  return buffer;
}

// --- append ---

/// What one buffer is in two plans run one after the other: an input that the second writes is both, and what
/// the first wrote or allocated stays what it was.
BufferKind merged(BufferKind first, BufferKind next) {
  const bool written_later = next == BufferKind::output || next == BufferKind::inout;
  return first == BufferKind::input && written_later ? BufferKind::inout : first;
}

int unify_buffer(std::vector<BufferSpec>& buffers, const BufferSpec& next) {
  const auto found =
      std::find_if(buffers.begin(), buffers.end(), [&](const BufferSpec& b) { return b.name == next.name; });
  const auto index = static_cast<int>(found - buffers.begin());
  if (found == buffers.end()) {
    buffers.push_back(next);
    return index;
  }
  found->kind = merged(found->kind, next.kind);
  if (!(found->bytes == next.bytes)) found->bytes = maximum(found->bytes, next.bytes);
  found->alignment = std::max(found->alignment, next.alignment);
  found->zero_on_creation = found->zero_on_creation || next.zero_on_creation;
  return index;
}

int unify_scalar(std::vector<ScalarSpec>& scalars, const ScalarSpec& next) {
  const auto found =
      std::find_if(scalars.begin(), scalars.end(), [&](const ScalarSpec& s) { return s.name == next.name; });
  const auto index = static_cast<int>(found - scalars.begin());
  if (found == scalars.end()) scalars.push_back(next);
  return index;
}

}  // namespace

std::string LaunchPlan::to_json() const {
  json root = {{"buffers", json::array()}, {"scalars", json::array()}, {"steps", json::array()}};
  for (const BufferSpec& buffer : buffers) {
    root["buffers"].push_back({{"name", buffer.name},
                               {"kind", kind_names[static_cast<std::size_t>(buffer.kind)]},
                               {"dtype", dtype_name(buffer.dtype)},
                               {"bytes", buffer.bytes.text()},
                               {"alignment", buffer.alignment},
                               {"zero", buffer.zero_on_creation}});
  }
  for (const ScalarSpec& scalar : scalars)
    root["scalars"].push_back({{"name", scalar.name}, {"dtype", dtype_name(scalar.dtype)}});
  for (const Step& step : steps) root["steps"].push_back(written(step));
  return root.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<LaunchPlan> LaunchPlan::from_json(std::string_view text) try {
  const json root = json::parse(text);
  LaunchPlan plan;
  for (const json& buffer : root.at("buffers")) plan.buffers.push_back(read_buffer(buffer));
  for (const json& scalar : root.at("scalars"))
    plan.scalars.push_back({scalar.at("name").get<std::string>(), read_dtype(scalar.at("dtype"))});
  for (const json& step : root.at("steps")) plan.steps.push_back(read_step(step, plan));
  return plan;
} catch (const std::exception& failure) {
  return Error{ErrorKind::internal, fmt::format("This is not a launch plan: {}.", failure.what())};
}

void LaunchPlan::append(const LaunchPlan& next) {
  std::vector<int> buffer_of, scalar_of;
  for (const BufferSpec& buffer : next.buffers) buffer_of.push_back(unify_buffer(buffers, buffer));
  for (const ScalarSpec& scalar : next.scalars) scalar_of.push_back(unify_scalar(scalars, scalar));
  const auto renumber = [&](std::vector<Argument>& arguments) {
    for (Argument& argument : arguments) {
      if (auto* pointer = std::get_if<PointerArgument>(&argument))
        pointer->buffer = buffer_of[static_cast<std::size_t>(pointer->buffer)];
      if (auto* scalar = std::get_if<ScalarArgument>(&argument))
        scalar->scalar = scalar_of[static_cast<std::size_t>(scalar->scalar)];
      if (auto* map = std::get_if<TensorMapArgument>(&argument))
        map->buffer = buffer_of[static_cast<std::size_t>(map->buffer)];
    }
  };
  for (Step step : next.steps) {
    if (auto* kernel = std::get_if<KernelStep>(&step)) renumber(kernel->arguments);
    if (auto* cpu = std::get_if<CpuStep>(&step)) renumber(cpu->arguments);
    if (auto* fill = std::get_if<FillStep>(&step))
      fill->buffer = buffer_of[static_cast<std::size_t>(fill->buffer)];
    steps.push_back(std::move(step));
  }
}

}  // namespace einkern::core
