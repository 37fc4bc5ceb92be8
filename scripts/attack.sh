#!/usr/bin/env bash
# attack.sh [OPTION...]: random attacks on the guarantees of the built program and package, listed in docs/reliability.md.
set -euo pipefail
cd "$(dirname "$0")/.."
export OMP_WAIT_POLICY=passive
exec .venv/bin/python tests/attack "$@"
