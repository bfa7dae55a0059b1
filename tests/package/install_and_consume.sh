#!/usr/bin/env bash
# Installs einkern into an empty folder, and builds and runs a project against what is there.
# usage: install_and_consume.sh BUILD_FOLDER [options for the consumer's cmake]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1; shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export EINKERN_CACHE_DIR="$folder/cache"

cmake --install "$build" --prefix "$folder/prefix" >"$folder/install.log"
cmake -S "$here" -B "$folder/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$folder/prefix" "$@"
cmake --build "$folder/build"
"$folder/build/consumer"
"$folder/prefix/bin/einkern" --version
