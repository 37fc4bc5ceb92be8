"""clang-tidy on every C++ source of the tree, each as its own translation unit. The tree from nothing takes tens of
minutes, a change seconds: clean answers are kept (scripts/translation_units.py)."""

import subprocess
import sys

from translation_units import check_sources


def tidy(entry, build):
    command = ["clang-tidy", "-p", str(build), "--quiet", entry["file"]]
    result = subprocess.run(command, capture_output=True, text=True)
    clean = result.returncode == 0 and "warning:" not in result.stdout
    return "" if clean else result.stdout or result.stderr


if __name__ == "__main__":
    sys.exit(check_sources("tidy", __doc__, ["clang-tidy", "--version"], tidy))
