#!/usr/bin/env bash
# Installs the peers of the benchmarks in a separate environment: neural-tangents needs an older jax, and that an older
# NumPy, than our tests use. PyTorch (three gigabytes, mostly CUDA libraries, which it needs even without a GPU) is
# installed separately, so that a failure does not affect the others. A stamp of each request makes a second run a no-op.
set -euo pipefail
cd "$(dirname "$0")/.."

status=0
for requirements in bench/peers/requirements.txt bench/peers/requirements-torch.txt; do
  stamp=.peers/$(basename "$requirements" .txt).stamp
  cmp -s "$requirements" "$stamp" && continue
  echo "setup: installing $(basename "$requirements" .txt | sed 's/requirements/peers/') in .peers" >&2
  [ -x .peers/bin/python ] || python3 -m venv .peers
  if .peers/bin/pip install --quiet --disable-pip-version-check -r "$requirements"; then
    cp "$requirements" "$stamp"
  else
    echo "setup: $requirements could not be installed; benchmarks that need it say so" >&2
    status=1
  fi
done
exit $status
