#!/usr/bin/env bash
# The checks of tools/ find what they are there to find.
# usage: check_tools.sh SOURCES
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fresh_copy() {
  rm -rf "$folder/sources"; mkdir "$folder/sources"
  for part in include core dsl codegen runtime autotune engine cli bench examples tests; do cp -r "$1/$part" "$folder/sources/"; done
}
# expect_report TOOL TEXT: the tool fails on the copy and says the text.
expect_report() {
  if output=$("$sources/tools/$1" "$folder/sources"); then echo "$1 missed: $2"; exit 1; fi
  if [[ "$output" != *"$2"* ]]; then printf '%s said, not "%s":\n%s\n' "$1" "$2" "$output"; exit 1; fi
}

sources=$1
fresh_copy "$sources"
echo '#include "engine/call.h"' >>"$folder/sources/core/hash.cpp"
expect_report check_floors 'core/ may not include engine/call.h'
fresh_copy "$sources"
echo '#include <nlohmann/json.hpp>' >>"$folder/sources/core/hash.h"
expect_report check_floors 'nlohmann/json.hpp belongs in .cpp'
echo '#include <llvm-c/Core.h>' >>"$folder/sources/include/einkern/tensor.hpp"
expect_report check_floors 'a public header includes the standard library alone, not llvm-c/Core.h'
for ((i = 0; i < 701; i++)); do echo '// a line'; done >"$folder/sources/core/long.cpp"
expect_report check_length 'core/long.cpp: more than 700 lines'
echo "everything was found"
