#!/usr/bin/env bash
# plain.sh [JOBS]: compiles every source alone and without precompiled headers (library, experiments, command line,
# tests, benchmarks, Python module), so that no name and no include depends on what is compiled together. Objects only:
# nothing is linked, nothing is optimised.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=${1:-$(nproc)}

cmake --preset plain --log-level=WARNING >/dev/null
mapfile -t objects < <(.venv/bin/python - <<'END'
import json, shlex
from pathlib import Path

folders = [str(Path(name).resolve()) + "/" for name in ("widelimit", "experiments", "app", "tests", "bench", "python/bindings")]
for entry in json.loads(Path("build/plain/compile_commands.json").read_text()):
    words = shlex.split(entry["command"])
    if entry["file"].startswith(tuple(folders)):
        print(words[words.index("-o") + 1])
END
)
# Every error of a run, not the first alone.
ninja -C build/plain -k 0 -j "$jobs" --quiet "${objects[@]}"
echo "plain: ${#objects[@]} sources compile alone"
