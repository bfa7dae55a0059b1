#include "runtime/cuda/compile_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace einkern::runtime::cuda {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::optional<int> number_at(std::string_view text) {
  int value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  return status == std::errc() ? std::optional(value) : std::nullopt;
}

/// The number that stands before ` <what>` in a line: 12 of "Used 12 registers".
int number_before(std::string_view line, std::string_view what) {
  const std::size_t at = line.find(what);
  if (at == std::string_view::npos) return 0;
  const std::size_t start = line.find_last_not_of("0123456789", at - 1) + 1;
  return number_at(line.substr(start)).value_or(0);
}

/// What stands between two marks, "" if they are not there.
std::string_view between(std::string_view line, std::string_view before, std::string_view after) {
  const std::size_t start = line.find(before);
  if (start == std::string_view::npos) return {};
  line.remove_prefix(start + before.size());
  const std::size_t end = line.find(after);
  return end == std::string_view::npos ? std::string_view() : line.substr(0, end);
}

std::string_view line_of(std::string_view source, int number) {
  const auto lines = lines_of(source);
  return number >= 1 && static_cast<std::size_t>(number) <= lines.size()
             ? lines[static_cast<std::size_t>(number) - 1]
             : std::string_view();
}

}  // namespace

std::map<std::string, core::EntryResources> parse_resources(std::string_view log) {
  std::map<std::string, core::EntryResources> entries;
  core::EntryResources* current = nullptr;  // "Function properties" of a device function name no entry
  core::EntryResources* described = nullptr;
  for (std::string_view line : lines_of(log)) {
    if (const auto name = between(line, "Compiling entry function '", "'"); !name.empty()) {
      current = described = &entries[std::string(name)];
    } else if (const std::size_t at = line.find("Function properties for "); at != std::string_view::npos) {
      const auto found = entries.find(std::string(line.substr(at + 24)));
      described = found == entries.end() ? nullptr : &found->second;
    } else if (described != nullptr && line.find("bytes stack frame") != std::string_view::npos) {
      described->stack_bytes = number_before(line, " bytes stack frame");
      described->spill_store_bytes = number_before(line, " bytes spill stores");
      described->spill_load_bytes = number_before(line, " bytes spill loads");
    } else if (current != nullptr && line.find("Used ") != std::string_view::npos) {
      current->registers = number_before(line, " registers");
      current->shared_bytes = number_before(line, " bytes smem");
    }
  }
  return entries;
}

std::vector<std::string> performance_warnings(std::string_view log) {
  constexpr std::array<std::string_view, 5> codes = {"C7508", "C7510", "C7511", "C7514", "C7519"};
  std::vector<std::string> found;
  for (std::string_view line : lines_of(log))
    if (std::any_of(codes.begin(), codes.end(),
                    [&](std::string_view code) { return line.find(code) != std::string_view::npos; }))
      found.emplace_back(line);
  return found;
}

std::vector<CompileMessage> parse_messages(std::string_view log, std::string_view file_name) {
  std::vector<CompileMessage> messages;
  for (std::string_view line : lines_of(log)) {
    CompileMessage message;
    std::string_view rest = line;
    if (line.starts_with(file_name) && line.substr(file_name.size()).starts_with('(')) {
      rest.remove_prefix(file_name.size() + 1);
      message.line = number_at(rest).value_or(0);
      const std::size_t colon = rest.find("): ");
      if (colon == std::string_view::npos) continue;
      rest.remove_prefix(colon + 3);
    }
    for (const auto& [mark, is_error] : {std::pair<std::string_view, bool>{"error", true},
                                         {"catastrophic error", true},
                                         {"warning", false}}) {
      const bool elsewhere =
          message.line == 0 && is_error && rest.find(": error: ") != std::string_view::npos;
      if (!rest.starts_with(mark) && !elsewhere) continue;
      if (message.line == 0 && !is_error) continue;
      const std::size_t colon = rest.find(": ", elsewhere ? rest.find(": error: ") + 2 : 0);
      message.is_error = is_error;
      message.text = std::string(colon == std::string_view::npos ? rest : rest.substr(colon + 2));
      messages.push_back(std::move(message));
      break;
    }
  }
  return messages;
}

std::string describe_errors(std::string_view log, std::string_view file_name, std::string_view source,
                            std::size_t limit) {
  std::string text;
  std::size_t errors = 0;
  for (const CompileMessage& message : parse_messages(log, file_name)) {
    if (!message.is_error || ++errors > limit) continue;
    text += text.empty() ? "" : "\n";
    if (message.line == 0)
      text += fmt::format("error: {}", message.text);
    else
      text += fmt::format("{}:{}: error: {}\n  {}", file_name, message.line, message.text,
                          line_of(source, message.line));
  }
  if (errors > limit) text += fmt::format("\nand {} more", errors - limit);
  return errors == 0 ? std::string(log) : text;
}

}  // namespace einkern::runtime::cuda
