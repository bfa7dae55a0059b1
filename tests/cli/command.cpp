#include "tests/cli/command.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <sys/wait.h>

namespace einkern::testing {
namespace {

std::string new_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "einkern-cli-XXXXXX").string();
  if (!mkdtemp(name.data())) throw std::runtime_error("no folder for temporary files");
  return name;
}

/// Kernels that the tests compile, kept while they run.
const std::string& shared_cache() {
  struct Folder {
    std::string name = new_folder();
    ~Folder() {
      std::error_code ignored;
      std::filesystem::remove_all(name, ignored);
    }
  };
  static const Folder folder;
  return folder.name;
}

std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

CommandFolder::CommandFolder() : folder_(new_folder()) {}

CommandFolder::~CommandFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

Ran CommandFolder::run(const std::vector<std::string>& words, const RunSetting& setting) const {
  std::string line = "exec \"$einkern\"";
  for (const std::string& word : words) line += " " + quoted(word);
  return shell(line, setting);
}

Ran CommandFolder::shell(const std::string& line, const RunSetting& setting) const {
  const std::string streams = new_folder();
  std::ofstream(streams + "/in", std::ios::binary) << setting.input;
  std::string variables =
      "einkern=" + quoted(EINKERN_COMMAND) + " EINKERN_CACHE_DIR=" + quoted(shared_cache());
  for (const auto& [name, value] : setting.environment) variables += " " + name + "=" + quoted(value);
  const std::string whole = "cd " + quoted(folder_) + " && " + variables + " timeout -k 5 " +
                            std::to_string(setting.seconds) + " sh -c " + quoted(line) + " <" +
                            quoted(streams + "/in") + " >" + quoted(streams + "/out") + " 2>" +
                            quoted(streams + "/err");
  const int status = std::system(whole.c_str());
  Ran ran{WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), content(streams + "/out"),
          content(streams + "/err")};
  std::filesystem::remove_all(streams);
  return ran;
}

void CommandFolder::write(const std::string& name, const std::string& text) const {
  std::ofstream(path(name), std::ios::binary) << text;
}

std::string CommandFolder::read(const std::string& name) const { return content(path(name)); }

std::vector<std::string> CommandFolder::names() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder_))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

void CommandFolder::write_npy(const std::string& name, const std::vector<std::int64_t>& shape,
                              const std::vector<float>& values) const {
  const auto written = engine::write_npy(path(name), {DType::f32, shape, raw(values)});
  if (!written) throw std::runtime_error(written.error().message);
}

std::vector<float> CommandFolder::read_npy(const std::string& name) const {
  const auto array = engine::read_npy(path(name));
  if (!array) throw std::runtime_error(array.error().message);
  std::vector<float> values(array->bytes.size() / sizeof(float));
  std::memcpy(values.data(), array->bytes.data(), values.size() * sizeof(float));
  return values;
}

std::string npy_bytes(const std::string& header, const std::string& data, int major) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(major);
  bytes += '\0';
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i)
    bytes += static_cast<char>((header.size() >> (8 * i)) & 0xff);
  return bytes + header + data;
}

std::string example(const std::string& name) { return EINKERN_TEST_DIR "/../examples/" + name; }

}  // namespace einkern::testing
