#include "tests/docs/markdown.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

namespace einkern::tests {

namespace fs = std::filesystem;

namespace {

const fs::path sources = fs::path(EINKERN_TEST_DIR).parent_path();

}  // namespace

std::vector<CodeBlock> code_blocks(const std::string& file, std::string_view text) {
  std::vector<CodeBlock> blocks;
  std::istringstream lines{std::string(text)};
  std::string line;
  bool inside = false;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.starts_with("```")) {
      inside = !inside;
      if (!inside) continue;
      std::istringstream words(line.substr(3));
      CodeBlock block{.file = file, .line = number + 1, .language = {}, .mode = {}, .text = {}};
      words >> block.language >> block.mode;
      blocks.push_back(block);
    } else if (inside) {
      blocks.back().text += line + "\n";
    }
  }
  EXPECT_FALSE(inside) << file << " ends inside a block of code";
  return blocks;
}

std::vector<CodeBlock> documented_blocks() {
  std::vector<std::string> files = {"README.md", "CONTRIBUTING.md"};
  for (const auto& entry : fs::directory_iterator(sources / "docs"))
    if (entry.path().extension() == ".md") files.push_back("docs/" + entry.path().filename().string());
  std::sort(files.begin(), files.end());
  std::vector<CodeBlock> all;
  for (const std::string& file : files)
    for (CodeBlock& block : code_blocks(file, read_source_file(file))) all.push_back(std::move(block));
  return all;
}

std::string read_source_file(const std::string& relative_path) {
  std::ifstream stream(sources / relative_path, std::ios::binary);
  EXPECT_TRUE(stream) << "cannot read " << relative_path;
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace einkern::tests
