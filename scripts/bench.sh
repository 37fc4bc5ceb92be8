#!/usr/bin/env bash
# Speed targets: peers first, then one program per benchmark. A peer that cannot be installed is said, not hidden;
# a benchmark fails where answers differ, not where a target is missed.
set -euo pipefail
cd "$(dirname "$0")/.."
export WIDELIMIT_DATA=${WIDELIMIT_DATA:-$(realpath -m ../shared/data)}

scripts/setup_peers.sh || echo "bench: not all peers could be installed; where one is absent only our own times follow"
status=0
for name in fc_ntk sweep cntk ridge_path svm machines train cnn_training empirical_ntk certificates gntk nth label_aware uci; do
  "build/release/bin/bench_$name" "$@" || status=1
  echo
done
build/release/bin/bench_algebra || status=1
build/release/bin/bench_conjugate_gradient || status=1  # 10,000 samples; 60,000 as its argument
exit $status
