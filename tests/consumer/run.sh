#!/usr/bin/env bash
# run.sh BUILD_FOLDER CMAKE CXX: installs a build into a temporary folder and checks that each installed header compiles
# alone. Configures, builds and runs the consumer, which uses only that folder. Then configures a project that includes
# the tree by FetchContent: it must have the target of the library, but not those of tests and command line.
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
  # A source whose first include is its own header has already checked that header.
  own=$source/../../${header%.hpp}.cpp
  if [ ! -f "$own" ] || [ "$(grep -m 1 '^#include' "$own")" != "#include \"$header\"" ]; then
    echo "#include \"$header\"" | "$compiler" -std=c++20 -fsyntax-only -Wall -Wextra -Werror -I"$folder/prefix/include" \
      -x c++ - || { echo "$header does not compile alone"; exit 1; }
  fi
  if grep -nE '#include <(hwy|H5|hdf5|cblas|lapack|boost|CLI|archive|zlib|curl|openssl)' "$folder/prefix/include/$header"; then
    echo "$header includes a header of a dependency"
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
  echo "a project that includes the tree builds its tests and its command line"
  exit 1
fi
echo "the tree configures as a subproject"
