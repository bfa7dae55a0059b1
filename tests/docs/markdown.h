// Blocks of code in the documents.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace einkern::tests {

/// A fenced block: "```ein error" begins one of language "ein" and mode "error".
struct CodeBlock {
  std::string file;  // relative to the sources
  int line = 0;      // of its first line of code, from 1
  std::string language, mode, text;
};

/// The blocks of one document's text, in order.
std::vector<CodeBlock> code_blocks(const std::string& file, std::string_view text);

/// The blocks of README.md, CONTRIBUTING.md and docs/*.md.
std::vector<CodeBlock> documented_blocks();

/// A file of the sources; fails the test and gives "" if it cannot be read.
std::string read_source_file(const std::string& relative_path);

}  // namespace einkern::tests
