// The built command, run as a user runs it: words, files and the environment in; exit code and both streams
// out.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/npy.h"

namespace einkern::testing {

struct Ran {
  int code = 0;  // 124: it was ended after its time; 128 + n: signal n ended it
  std::string out, err;
};

struct RunSetting {
  std::string input;  // standard input
  std::map<std::string, std::string> environment;
  int seconds = 60;  // then it is ended
};

/// A folder that goes with its owner, in which the command runs; all share one cache of kernels.
class CommandFolder {
 public:
  CommandFolder();
  ~CommandFolder();
  CommandFolder(const CommandFolder&) = delete;
  CommandFolder& operator=(const CommandFolder&) = delete;

  /// einkern with these words, in this folder.
  Ran run(const std::vector<std::string>& words, const RunSetting& setting = {}) const;
  /// A line for the shell, in which $einkern is the command.
  Ran shell(const std::string& line, const RunSetting& setting = {}) const;

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  void write(const std::string& name, const std::string& content) const;
  std::string read(const std::string& name) const;
  /// Names of the files in the folder, sorted.
  std::vector<std::string> names() const;
  /// f32 numbers as an .npy file, and back.
  void write_npy(const std::string& name, const std::vector<std::int64_t>& shape,
                 const std::vector<float>& values) const;
  std::vector<float> read_npy(const std::string& name) const;

 private:
  std::string folder_;
};

/// An .npy file from its parts: header text as it stands, and data.
std::string npy_bytes(const std::string& header, const std::string& data, int major = 1);
/// The bytes of numbers as they lie in memory.
template <typename Number>
std::string raw(const std::vector<Number>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

/// The path of an example of the repository.
std::string example(const std::string& name);

}  // namespace einkern::testing
