#!/usr/bin/env bash
# fuzz.sh [SECONDS [FORMAT...]]: builds the libFuzzer programs and runs each for SECONDS (default 10) from its seeds, one
# per CPU core in parallel. Inputs that extend the coverage are kept in build/fuzz/corpus; a finding stops the run and is
# kept in build/fuzz/findings.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-10}
shift $(($# > 0 ? 1 : 0))
formats=("$@")
if [ ${#formats[@]} = 0 ]; then
  for source in tests/fuzz/*.cpp; do formats+=("$(basename "$source" .cpp)"); done
fi

[ -f build/sanitize/build.ninja ] || cmake --preset sanitize >/dev/null
cmake --build --preset sanitize --target "${formats[@]/#/fuzz_}"

mkdir -p build/fuzz/findings

# Fuzzes one format; status 255 makes xargs stop.
fuzz() {
  local format=$1 seconds=$2 corpus=build/fuzz/corpus/$1 log=build/fuzz/$1.log
  mkdir -p "$corpus"
  # Leaks inside libraries that abort on damaged input are outside our control; memory growth is still limited.
  if ! ASAN_OPTIONS=detect_leaks=0 build/sanitize/bin/"fuzz_$format" -max_total_time="$seconds" -timeout=10 \
    -rss_limit_mb=2048 -max_len=16384 -detect_leaks=0 -print_final_stats=1 \
    -artifact_prefix=build/fuzz/findings/"$format"- "$corpus" tests/fuzz/seeds/"$format" >"$log" 2>&1; then
    tail -40 "$log" >&2
    echo "fuzz: $format found something; the input is in build/fuzz/findings" >&2
    return 255
  fi
  rm -f build/fuzz/findings/"$format"-*  # left by failed child processes, e.g. of the HDF5 reader
  printf 'fuzz: %-8s %10s inputs, coverage %s\n' "$format" \
    "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" \
    "$(sed -n 's/.*cov: \([0-9]*\).*/\1/p' "$log" | tail -1)"
}
export -f fuzz
printf '%s\n' "${formats[@]}" | xargs -P "$(nproc)" -I{} bash -c 'fuzz {} "$0"' "$seconds"
