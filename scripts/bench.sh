#!/usr/bin/env bash
# Speed targets: installs the peers, then runs one program per benchmark. Reports peers that cannot be installed. A
# benchmark fails if results differ, not if a target is missed.
set -euo pipefail
cd "$(dirname "$0")/.."
export WIDELIMIT_DATA=${WIDELIMIT_DATA:-$(realpath -m ../shared/data)}

scripts/setup_peers.sh || echo "bench: not all peers could be installed; benchmarks without a peer report only our own times"
status=0
for name in fc_ntk sweep cntk ridge_path svm machines train cnn_training empirical_ntk certificates gntk nth label_aware uci; do
  "build/release/bin/bench_$name" "$@" || status=1
  echo
done
build/release/bin/bench_algebra || status=1
build/release/bin/bench_conjugate_gradient || status=1  # 10,000 samples; 60,000 as its argument
exit $status
