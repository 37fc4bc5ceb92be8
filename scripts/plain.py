"""The compiler's own warnings on every C++ source of the tree, each alone and without precompiled headers, so that no
name and no include depends on what is compiled together. Nothing is generated or linked; clean answers are kept
(scripts/translation_units.py)."""

import shlex
import subprocess
import sys

from translation_units import check_sources


def compile_alone(entry, _build):
    words = shlex.split(entry["command"])
    output = words.index("-o")
    command = [*words[:output], *words[output + 2 :], "-fsyntax-only"]
    result = subprocess.run(command, capture_output=True, text=True, cwd=entry["directory"])
    return "" if result.returncode == 0 else result.stderr or f"{entry['file']}: status {result.returncode}\n"


if __name__ == "__main__":
    sys.exit(check_sources("plain", __doc__, ["c++", "--version"], compile_alone))
