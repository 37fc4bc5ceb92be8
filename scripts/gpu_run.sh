#!/usr/bin/env bash
# The run.sh of the GPU bundle (scripts/gpu_bundle.sh), in the folder that holds its bin/ and lib/.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} WIDELIMIT_GOLDEN=$here/golden

usage() {
  cat <<'TEXT'
run.sh doctor                          lists the devices, or says why there are none
run.sh tests [-j N] [gtest options]    runs the GPU tests in N processes (default: 6, at most one for each processor);
                                       the last line counts them
run.sh sanitize TOOL [gtest options]   runs them under NVIDIA's compute-sanitizer: memcheck, racecheck or initcheck
run.sh bench NAME [options]            runs a benchmark; `run.sh bench --help` lists them
run.sh VERB …                          any verb of widelimit; `run.sh --help` lists them
TEXT
}

# Sums result files of GoogleTest, one for each process; a process that left none has crashed.
count_tests() {
  awk '/<testcase /  { cases++; counted = 0 }
       /<failure/    { if (!counted) failed++; counted = 1 }
       /<skipped/    { skipped++ }
       END           { printf "%d %d %d\n", cases - failed - skipped, failed, skipped }' "$@"
}

run_tests() {
  local processes results children=() files=() crashed=0 passed failed skipped
  processes=$(nproc)
  [ "$processes" -le 6 ] || processes=6
  if [ "${1:-}" = -j ]; then
    [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || { echo "run.sh tests: -j takes a number of processes from 1" >&2; return 2; }
    processes=$2
    shift 2
  fi
  results=$(mktemp -d)
  trap 'kill "${children[@]}" 2>/dev/null; rm -rf "$results"; exit 130' INT TERM
  for ((shard = 0; shard < processes; shard++)); do
    files+=("$results/$shard.xml")
    GTEST_TOTAL_SHARDS=$processes GTEST_SHARD_INDEX=$shard \
      "$here/bin/cuda_tests" --gtest_brief=1 "$@" "--gtest_output=xml:$results/$shard.xml" &
    children+=($!)
  done
  wait
  trap - INT TERM
  for file in "${files[@]}"; do
    [ -s "$file" ] && continue
    echo "run.sh tests: a process ended without results" >&2
    crashed=$((crashed + 1))
    : >"$file"
  done
  read -r passed failed skipped < <(count_tests "${files[@]}")
  # The reasons of skipped tests, which --gtest_brief hides, without the line of the source.
  sed -n 's/.*<skipped message="\([^"]*\)".*/\1/p' "${files[@]}" |
    sed 's/^[^&]*:[0-9]*&#x0A;//; s/&#x0A;/ /g; s/&quot;/"/g; s/&apos;/'"'"'/g; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g; s/^/skipped: /' |
    sort -u
  rm -rf "$results"
  failed=$((failed + crashed))
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" = 0 ] && [ "$passed" != 0 ]
}

case ${1:-doctor} in
  tests) shift && run_tests "$@" ;;
  sanitize)
    [[ ${2:-} =~ ^(memcheck|racecheck|initcheck|synccheck)$ ]] || { usage >&2; exit 2; }
    exec compute-sanitizer --tool "$2" --error-exitcode 1 "$here/bin/cuda_tests" --gtest_brief=1 "${@:3}" ;;
  bench) shift && exec "$here/bin/bench_cuda" --peers "$here/peers" "$@" ;;
  help) usage ;;
  *) exec "$here/bin/widelimit" "${@:-doctor}" ;;
esac
