#include "engine/npy.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "engine/call.h"

namespace einkern::engine {
namespace {

constexpr std::string_view magic = "\x93NUMPY";

struct Header {
  std::string type;
  bool fortran = false;
  std::vector<std::int64_t> shape;
};

/// The text after `'key':` in the header's dictionary.
std::string_view field(std::string_view dictionary, std::string_view key) {
  const std::size_t at = dictionary.find(fmt::format("'{}'", key));
  if (at == std::string_view::npos) return {};
  const std::size_t colon = dictionary.find(':', at);
  return colon == std::string_view::npos ? std::string_view{} : dictionary.substr(colon + 1);
}

std::optional<Header> parse_header(std::string_view dictionary) {
  Header header;
  const std::string_view type = field(dictionary, "descr");
  const std::size_t open = type.find('\''), close = type.find('\'', open + 1);
  if (open == std::string_view::npos || close == std::string_view::npos) return std::nullopt;
  header.type = type.substr(open + 1, close - open - 1);
  const std::string_view order = field(dictionary, "fortran_order");
  const std::size_t word = order.find_first_not_of(' ');
  if (word == std::string_view::npos) return std::nullopt;
  header.fortran = order.substr(word).starts_with("True");
  const std::string_view shape = field(dictionary, "shape");
  const std::size_t first = shape.find('('), last = shape.find(')');
  if (first == std::string_view::npos || last == std::string_view::npos || last < first) return std::nullopt;
  std::string_view numbers = shape.substr(first + 1, last - first - 1);
  while (true) {
    const std::size_t digit = numbers.find_first_not_of(" ,");
    if (digit == std::string_view::npos) break;
    numbers.remove_prefix(digit);
    std::int64_t extent = 0;
    const auto [end, fault] = std::from_chars(numbers.data(), numbers.data() + numbers.size(), extent);
    if (fault != std::errc() || extent < 0) return std::nullopt;
    header.shape.push_back(extent);
    numbers.remove_prefix(static_cast<std::size_t>(end - numbers.data()));
  }
  return header;
}

std::optional<DType> type_of(std::string_view text) {
  if (text.size() < 3) return std::nullopt;
  static const std::vector<std::pair<std::string_view, DType>> types = {
      {"b1", DType::boolean}, {"i1", DType::i8},  {"i2", DType::i16}, {"i4", DType::i32},
      {"i8", DType::i64},     {"u1", DType::u8},  {"u2", DType::u16}, {"u4", DType::u32},
      {"u8", DType::u64},     {"f2", DType::f16}, {"f4", DType::f32}, {"f8", DType::f64}};
  for (const auto& [name, type] : types)
    if (text.substr(1) == name) return type;
  return std::nullopt;
}

std::string_view type_text(DType type) {
  switch (type) {
    case DType::boolean:
      return "|b1";
    case DType::i8:
      return "|i1";
    case DType::u8:
      return "|u1";
    case DType::i16:
      return "<i2";
    case DType::i32:
      return "<i4";
    case DType::i64:
      return "<i8";
    case DType::u16:
      return "<u2";
    case DType::u32:
      return "<u4";
    case DType::u64:
      return "<u8";
    case DType::f16:
      return "<f2";
    case DType::f64:
      return "<f8";
    default:
      return "<f4";
  }
}

void swap_bytes(std::string& bytes, int size) {
  for (std::size_t i = 0; i + static_cast<std::size_t>(size) <= bytes.size();
       i += static_cast<std::size_t>(size))
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                 bytes.begin() + static_cast<std::ptrdiff_t>(i) + size);
}

/// Column-major bytes in row-major order.
std::string to_row_major(const std::string& bytes, const std::vector<std::int64_t>& shape, int size) {
  std::string result(bytes.size(), '\0');
  std::vector<std::int64_t> index(shape.size(), 0);
  const std::size_t width = static_cast<std::size_t>(size);
  for (std::size_t at = 0; at + width <= bytes.size(); at += width) {
    std::int64_t from = 0;
    for (std::size_t i = shape.size(); i-- > 0;) from = from * shape[i] + index[i];
    std::memcpy(result.data() + at, bytes.data() + static_cast<std::size_t>(from) * width, width);
    for (std::size_t i = shape.size(); i-- > 0;) {
      if (++index[i] < shape[i]) break;
      index[i] = 0;
    }
  }
  return result;
}

}  // namespace

core::Result<NpyArray> read_npy(const std::string& path) {
  const auto fault = [&](std::string_view what) {
    return core::Error{core::ErrorKind::io, fmt::format("{}: {}", path, what)};
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return fault("is a folder");
  std::ifstream in(path, std::ios::binary);
  if (!in) return fault("cannot be read: does it exist?");
  std::string file(10, '\0');  // first the beginning: what is no .npy file may have no end
  in.read(file.data(), static_cast<std::streamsize>(file.size()));
  if (in.gcount() < 10 || !std::string_view(file).starts_with(magic)) return fault("is no .npy file");
  std::ostringstream rest;
  rest << in.rdbuf();
  file += rest.str();
  const int major = static_cast<unsigned char>(file[6]);
  if (major < 1 || major > 3)
    return fault(fmt::format("has .npy version {}, of which nothing is known", major));
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  std::size_t header_bytes = 0;
  if (file.size() < 8 + length_bytes) return fault("is cut off in its header");
  for (std::size_t i = 0; i < length_bytes; ++i)
    header_bytes |= static_cast<std::size_t>(static_cast<unsigned char>(file[8 + i])) << (8 * i);
  const std::size_t start = 8 + length_bytes;
  if (file.size() - start < header_bytes) return fault("is cut off in its header");
  const auto header = parse_header(std::string_view(file).substr(start, header_bytes));
  if (!header) return fault("has a malformed header");
  const auto type = type_of(header->type);
  if (!type)
    return fault(fmt::format(
        "holds elements of type '{}': bool, integers and floats of 16 to 64 bits can be read", header->type));
  std::int64_t elements = 1;
  for (std::int64_t extent : header->shape)
    if (__builtin_mul_overflow(elements, extent, &elements))
      return fault("has a shape too large for any file");
  const int size = core::size_bytes(*type);
  const std::size_t data = start + header_bytes;
  if (elements > static_cast<std::int64_t>(file.size()) ||
      file.size() - data < static_cast<std::size_t>(elements) * static_cast<std::size_t>(size))
    return fault(fmt::format("is cut off: its shape ({}) needs {} bytes of data, {} are there",
                             fmt::join(header->shape, ", "), elements * size, file.size() - data));
  NpyArray array{*type, header->shape, file.substr(data, static_cast<std::size_t>(elements * size))};
  const bool little = std::endian::native == std::endian::little;
  if ((header->type[0] == '>' && little) || (header->type[0] == '<' && !little))
    swap_bytes(array.bytes, size);
  if (header->fortran && header->shape.size() > 1) array.bytes = to_row_major(array.bytes, array.shape, size);
  return array;
}

core::Result<void> write_npy(const std::string& path, const NpyArray& given) {
  const bool unknown =
      given.dtype == DType::bf16 || given.dtype == DType::f8e4m3 || given.dtype == DType::f8e5m2;
  const NpyArray array = unknown ? convert(given, DType::f32) : given;
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", type_text(array.dtype),
                  fmt::join(array.shape, ", "), array.shape.size() == 1 ? "," : "");
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  header = fmt::format("{}\x01{}{}{}{}", magic, '\0', static_cast<char>(header.size() & 0xff),
                       static_cast<char>(header.size() >> 8), header);
  const auto fault = [&](const std::string& why) {
    return core::Error{core::ErrorKind::io, fmt::format("{}: cannot be written: {}", path, why)};
  };
  // A pipe, a device or a link is written as it is; a rename would put a file in its place.
  std::error_code error;
  const std::filesystem::file_type type = std::filesystem::symlink_status(path, error).type();
  if (type == std::filesystem::file_type::directory) return fault("it is a folder");
  const bool replaces =
      type == std::filesystem::file_type::not_found || type == std::filesystem::file_type::regular;
  const std::string written = replaces ? fmt::format("{}.{}.tmp", path, getpid()) : path;
  std::ofstream out(written, std::ios::binary | std::ios::trunc);
  out << header << array.bytes;
  out.close();
  if (out && replaces) std::filesystem::rename(written, path, error = {});
  if (out && !(replaces && error)) return {};
  if (replaces) std::filesystem::remove(written, error);
  return fault("does the folder exist, is the disk full?");
}

NpyArray convert(const NpyArray& array, DType to) {
  if (array.dtype == to) return array;
  const auto from_size = static_cast<std::size_t>(core::size_bytes(array.dtype));
  const auto to_size = static_cast<std::size_t>(core::size_bytes(to));
  const std::size_t elements = array.bytes.size() / from_size;
  NpyArray result{to, array.shape, std::string(elements * to_size, '\0')};
  for (std::size_t i = 0; i < elements; ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, array.bytes.data() + i * from_size, from_size);
    const bool integers = !core::is_float(array.dtype) && !core::is_float(to);
    const std::uint64_t converted =
        integers ? static_cast<std::uint64_t>(core::wrap_integer(
                       to, core::wrap_integer(array.dtype, static_cast<std::int64_t>(bits))))
                 : bits_of(to, number_of(array.dtype, bits));
    std::memcpy(result.bytes.data() + i * to_size, &converted, to_size);
  }
  return result;
}

}  // namespace einkern::engine
