#!/usr/bin/env bash
# run.sh BUILD_FOLDER CMAKE: installs a build into a temporary folder, then configures, builds and runs the consumer
# against that alone.
set -euo pipefail
build=$1
cmake=$2
source=$(cd "$(dirname "$0")" && pwd)

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$cmake" --install "$build" --prefix "$folder/prefix" >"$folder/log"
"$cmake" -S "$source" -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$folder/prefix" >>"$folder/log"
"$cmake" --build "$folder/build" >>"$folder/log" || { cat "$folder/log"; exit 1; }
"$folder/build/consumer"
