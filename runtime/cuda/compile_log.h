// What NVRTC and ptxas say, read into data.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/artifact.h"

namespace einkern::runtime::cuda {

/// Resources of each entry, from the lines that `--ptxas-options=-v` asks for. Empty if the log has none.
std::map<std::string, core::EntryResources> parse_resources(std::string_view log);

/// Lines in which ptxas says that it gave up something: C7508, C7510, C7511, C7514, C7519 (wgmma serialised,
/// setmaxnreg ignored and the like), which arrive as "info". A tensor-core kernel with one of them is many
/// times too slow.
std::vector<std::string> performance_warnings(std::string_view log);

struct CompileMessage {
  int line = 0;  // 1-based, 0 if the message has none
  bool is_error = false;
  std::string text;
};
/// Errors and warnings that name a line of `file_name`, and errors that name none.
std::vector<CompileMessage> parse_messages(std::string_view log, std::string_view file_name);

/// Tells a person about the errors of a log: each with its line of `source`, at most `limit` of them; the log
/// itself if it has no error that could be read.
std::string describe_errors(std::string_view log, std::string_view file_name, std::string_view source,
                            std::size_t limit = 5);

}  // namespace einkern::runtime::cuda
