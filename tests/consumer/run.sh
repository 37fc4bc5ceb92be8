#!/usr/bin/env bash
# run.sh BUILD_FOLDER CMAKE CXX: installs a build into a temporary folder; each installed header must compile alone, and
# the consumer, which knows that folder only, is configured, built and run. Then the tree itself is taken into a project
# by FetchContent: that must offer the library and none of our tests.
set -euo pipefail
build=$1
cmake=$2
compiler=$3
source=$(cd "$(dirname "$0")" && pwd)

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$cmake" --install "$build" --prefix "$folder/prefix" >"$folder/log"
count=0
while IFS= read -r header; do
  # A source that includes its header first has compiled it alone already.
  own=$source/../../${header%.hpp}.cpp
  if [ ! -f "$own" ] || [ "$(grep -m 1 '^#include' "$own")" != "#include \"$header\"" ]; then
    echo "#include \"$header\"" | "$compiler" -std=c++20 -fsyntax-only -Wall -Wextra -Werror -I"$folder/prefix/include" \
      -x c++ - || { echo "$header does not compile alone"; exit 1; }
  fi
  if grep -nE '#include <(hwy|H5|hdf5|cblas|lapack|boost|CLI|archive|zlib|curl|openssl)' "$folder/prefix/include/$header"; then
    echo "$header shows what the library stands on"
    exit 1
  fi
  count=$((count + 1))
done < <(cd "$folder/prefix/include" && find widelimit -name '*.hpp' | sort)
echo "$count public headers, each compiles alone"

"$cmake" -S "$source" -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$folder/prefix" >>"$folder/log"
"$cmake" --build "$folder/build" >>"$folder/log" || { cat "$folder/log"; exit 1; }
"$folder/build/consumer"

"$cmake" -S "$source/fetched" -B "$folder/fetched" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DFETCHCONTENT_SOURCE_DIR_WIDELIMIT="$source/../.." >>"$folder/log" || { tail -n 30 "$folder/log"; exit 1; }
if "$cmake" --build "$folder/fetched" --target help | grep -qE '^(machine_tests|widelimit_app):'; then
  echo "a project that takes the tree in gets its tests and its program"
  exit 1
fi
echo "the tree configures inside another project"
