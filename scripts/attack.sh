#!/usr/bin/env bash
# attack.sh [OPTION...]: random attacks on what the built program and package promise; docs/reliability.md says what.
set -euo pipefail
cd "$(dirname "$0")/.."
export OMP_WAIT_POLICY=passive
exec .venv/bin/python tests/attack "$@"
