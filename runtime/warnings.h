// What the library has to say that is no error: a cache that cannot be written, a GPU newer than the
// compiler.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace einkern::runtime {

using WarningHandler = std::function<void(std::string_view message)>;

/// Sets who hears warnings, from all threads one at a time; by default they go to standard error. Null
/// silences them.
void set_warning_handler(WarningHandler handler);

/// Tells `message` unless a warning with the same topic has been told in this process.
void warn_once(std::string_view topic, std::string_view message);

}  // namespace einkern::runtime
