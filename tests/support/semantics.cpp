#include "tests/support/semantics.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>

namespace einkern::testing {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" `");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" `") - first + 1);
}

/// The cells of a table row, `| a | b |`; empty for any other line. A bar inside a cell is not supported.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  if (line.empty() || line[0] != '|') return cells;
  for (std::size_t start = 1; start < line.size();) {
    const std::size_t end = line.find('|', start);
    if (end == std::string::npos) break;
    cells.push_back(trimmed(line.substr(start, end - start)));
    start = end + 1;
  }
  return cells;
}

std::vector<SemanticsRow> load() {
  std::ifstream file(std::string(EINKERN_TEST_DIR) + "/../docs/semantics.md");
  std::vector<SemanticsRow> rows;
  std::vector<std::string> header;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const std::vector<std::string> cells = cells_of(line);
    if (cells.empty()) {
      header.clear();
    } else if (header.empty()) {
      header = cells;
    } else if (header.back() == "gives" && cells[0] != "---") {
      SemanticsRow row{number, cells[0], {}, cells.back()};
      for (std::size_t i = 1; i + 1 < cells.size(); ++i) {
        if (!cells[i].empty()) row.arguments[header[i]] = cells[i];
      }
      rows.push_back(row);
    }
  }
  return rows;
}

void append_number(const std::string& text, HostTensor& tensor) {
  if (core::is_float(tensor.dtype)) {
    tensor.floats.push_back(core::round_to(tensor.dtype, std::strtod(text.c_str(), nullptr)));
  } else if (tensor.dtype == DType::boolean) {
    tensor.integers.push_back(text == "true");
  } else if (tensor.dtype == DType::u64) {
    tensor.integers.push_back(static_cast<std::int64_t>(std::strtoull(text.c_str(), nullptr, 10)));
  } else {
    tensor.integers.push_back(std::strtoll(text.c_str(), nullptr, 10));
  }
}

/// "f32 [1, nan]" or "i32 -7" (a tensor of rank 0).
HostTensor parse_value(const std::string& cell) {
  const std::size_t blank = cell.find(' ');
  HostTensor tensor;
  tensor.dtype = *core::parse_dtype(cell.substr(0, blank));
  std::string rest = cell.substr(blank + 1);
  if (rest[0] != '[') {
    append_number(rest, tensor);
    return tensor;
  }
  rest = rest.substr(1, rest.size() - 2);
  for (std::size_t start = 0; start < rest.size();) {
    const std::size_t end = std::min(rest.find(',', start), rest.size());
    append_number(trimmed(rest.substr(start, end - start)), tensor);
    start = end + 1;
  }
  tensor.shape = {static_cast<std::int64_t>(std::max(tensor.floats.size(), tensor.integers.size()))};
  return tensor;
}

}  // namespace

const std::vector<SemanticsRow>& semantics_rows() {
  static const std::vector<SemanticsRow> rows = load();
  return rows;
}

std::string check_semantics(const SemanticsRow& row, const RunCase& run) {
  const HostTensor expected = parse_value(row.gives);
  std::string parameters;
  NamedArguments arguments;
  for (const auto& [name, cell] : row.arguments) {
    const HostTensor value = parse_value(cell);
    const std::string type(core::dtype_name(value.dtype));
    parameters += fmt::format("{}{}: {}{}", parameters.empty() ? "" : ", ", name, type,
                              value.shape.empty() ? "" : fmt::format("[N{}]", name));
    if (!value.shape.empty()) {
      arguments.emplace(name, value);
    } else {
      const bool is_float = core::is_float(value.dtype);
      arguments.emplace(
          name, HostScalar{value.dtype, is_float ? value.floats[0] : 0, is_float ? 0 : value.integers[0]});
    }
  }
  const std::string shape = expected.shape.empty() ? "" : fmt::format("[{}]", expected.shape[0]);
  const std::string source = fmt::format(
      "fn f({}) -> r: {}{} {{ r{} = {} }}", parameters, core::dtype_name(expected.dtype), shape,
      expected.shape.empty() ? "" : fmt::format("[i in 0..{}]", expected.shape[0]), row.expression);
  const core::Result<Call> call = make_call(source, "f", {}, arguments);
  if (!call.ok()) return call.error().message;
  const core::Result<Results> results = run(*call);
  if (!results.ok()) return results.error().message;
  const auto comparison = codegen::reference::compare(expected, results->at(call->tensor("r")),
                                                      codegen::reference::Tolerance::exact());
  return comparison.ok ? "" : comparison.text("r") + " in " + source;
}

}  // namespace einkern::testing
