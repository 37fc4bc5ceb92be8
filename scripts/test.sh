#!/usr/bin/env bash
# test.sh PRESET: builds that preset and runs its tests; for `release` also those of the Python package and of the
# scripts. The last line is the total: "N passed, N failed, N skipped".
set -uo pipefail
cd "$(dirname "$0")/.."
export WIDELIMIT_DATA=${WIDELIMIT_DATA:-$(realpath -m ../shared/data)}
preset=${1:-release}
results=build/$preset/results
rm -rf "$results"

cmake --preset "$preset" --log-level=WARNING >/dev/null &&
  cmake --build --preset "$preset" -j "$(nproc)" || exit 1
mkdir -p "$results"

status=0
# One program per CPU core runs at a time, each with its own threads: waiting threads must not spin, or they slow down
# the working ones.
export OMP_WAIT_POLICY=passive
# Sanitizers stop at the first finding. OpenBLAS and OpenMP keep their thread pools until the end; these are reachable
# and therefore not leaks.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=1:strict_string_checks=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1:halt_on_error=1}
ctest --test-dir "build/$preset" -j "$(nproc)" --output-on-failure --progress --no-tests=error \
  --output-junit "$PWD/$results/ctest.xml" || status=1

if [ "$preset" = release ]; then
  for folder in python/tests scripts/tests; do
    [ -d "$folder" ] || continue
    .venv/bin/python -m pytest -q -n "$(nproc)" "$folder" --junitxml "$results/${folder%%/*}.xml" || status=1
  done
fi

python3 scripts/count_tests.py "$results"/*.xml || status=1
exit $status
