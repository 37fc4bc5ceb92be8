#!/usr/bin/env bash
# The peers that benchmarks run beside us, in an environment of their own: neural-tangents needs an older jax, and
# that an older NumPy, than our tests use. A stamp of the request makes a second run cost nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

stamp=.peers/stamp
requirements=bench/peers/requirements.txt

if [ -f "$stamp" ] && cmp -s "$requirements" "$stamp"; then
  exit 0
fi
echo "setup: installing the benchmarks' peers in .peers" >&2
[ -x .peers/bin/python ] || python3 -m venv .peers
.peers/bin/pip install --quiet --disable-pip-version-check -r "$requirements"
cp "$requirements" "$stamp"
