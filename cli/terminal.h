// What commands print, and how errors end them.
#pragma once

#include <string>
#include <string_view>

#include "cli/options.h"
#include "core/result.h"

namespace einkern::cli {

/// Whether what a command prints is for machines (--json): errors are then JSON on standard output too. Set
/// once, by main.
void set_json_output(bool json);
bool json_output();

/// Prints "einkern: error: …" to standard error, and with --json {"error": {"kind": …, "message": …}} to
/// standard output; returns the exit code of that kind of error.
int report(const core::Error& error);
/// One line to standard error.
void notice(std::string_view text);
/// Whether colours may go to standard error: a terminal, and no NO_COLOR.
bool colours();
/// Whether standard error is a terminal, for the progress bar.
bool interactive();

/// Splits "name=value"; the error says how the option is written.
core::Result<std::pair<std::string, std::string>> split_pair(std::string_view option, std::string_view text);

}  // namespace einkern::cli
