#!/usr/bin/env bash
# Installs what a plain Debian 12 lacks: Debian packages through apt, Python packages in .venv.
# Both steps store a stamp of the request, so that a second run does nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

stamps=build/stamps
mkdir -p "$stamps"

packages=$(grep -v '^#' scripts/packages.txt)

missing_packages() {
  local package
  for package in $packages; do
    dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || echo "$package"
  done
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    sudo "$@"
  elif command -v sudo >/dev/null && [ -t 0 ]; then
    sudo "$@"
  else
    echo "setup: these Debian packages are missing and need root to install:" >&2
    echo "  apt-get install" $missing >&2
    echo "setup: run that as root once (or make sudo available), then repeat the command." >&2
    exit 1
  fi
}

if ! cmp -s scripts/packages.txt "$stamps/debian"; then
  if ! command -v dpkg-query >/dev/null; then
    echo "setup: this is not a Debian system; install the equivalents of scripts/packages.txt by hand," >&2
    echo "setup: then 'cp scripts/packages.txt $stamps/debian' and repeat the command." >&2
    exit 1
  fi
  missing=$(missing_packages | tr '\n' ' ')
  if [ -n "${missing// /}" ]; then
    echo "setup: installing Debian packages: $missing"
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >"$stamps/apt.log" 2>&1 ||
      { cat "$stamps/apt.log" >&2; exit 1; }
  fi
  cp scripts/packages.txt "$stamps/debian"
fi

# The stamp is inside .venv, so that it is deleted with it.
if ! cmp -s scripts/requirements.txt .venv/stamp; then
  echo "setup: installing Python packages in .venv"
  [ -x .venv/bin/pip ] || python3 -m venv --clear .venv
  .venv/bin/pip install --quiet --disable-pip-version-check -r scripts/requirements.txt
  cp scripts/requirements.txt .venv/stamp
fi
