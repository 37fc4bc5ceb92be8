#!/usr/bin/env bash
# Runs every static check; fails after all of them have reported.
set -uo pipefail
cd "$(dirname "$0")/.."

status=0
check() {
  local name=$1 start=$SECONDS
  shift
  if "$@"; then
    printf 'lint: %-14s ok (%d s)\n' "$name" $((SECONDS - start))
  else
    printf 'lint: %-14s FAILED\n' "$name"
    status=1
  fi
}

format() {
  git ls-files -z --cached --others --exclude-standard '*.cpp' '*.hpp' '*.cu' '*.cuh' |
    xargs -0 -r clang-format --dry-run -Werror
}

# Includes the warnings of clang.
tidy() {
  cmake --preset tidy --log-level=WARNING >/dev/null && .venv/bin/python scripts/tidy.py
}

check format format
check tree .venv/bin/python scripts/check_includes.py
check includes .venv/bin/python scripts/standard_includes.py
check docs .venv/bin/python scripts/check_docs.py
check python .venv/bin/ruff check --quiet .
check clang-tidy tidy
exit $status
