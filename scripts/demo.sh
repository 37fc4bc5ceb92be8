#!/usr/bin/env bash
# The demonstration: kernels of a few networks on the embedded digits; an SVM and ridge regression on one of them, with
# their λ paths and confusion matrices; finite-width networks beside the corresponding machine; certified radii. Prints
# the path of the report page last.
set -euo pipefail
cd "$(dirname "$0")/.."
exec build/release/bin/widelimit demo --out build/demo
