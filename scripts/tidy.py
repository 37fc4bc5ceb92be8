"""clang-tidy on every C++ source of the library, the command line and the benchmarks whose answer may have changed.

A source is read again only when it, a header it includes (as ninja knows them from the last build), or .clang-tidy is
newer than its last clean answer; the whole tree from nothing takes minutes, a change takes seconds.

Sources are read without the precompiled headers of the build: clang cannot read those of g++, and a source that forgot
an include is found this way.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("widelimit", "app", "experiments", "bench")


def dependencies(build):
    """Object file → files it was made from."""
    listing = subprocess.run(["ninja", "-C", str(build), "-t", "deps"], capture_output=True, text=True).stdout
    depends, current = {}, []
    for line in listing.splitlines():
        if line and not line.startswith(" "):
            current = depends.setdefault(line.split(":")[0], [])
        elif line.strip():
            current.append(line.strip())
    return depends


def output_of(entry):
    words = shlex.split(entry["command"])
    return words[words.index("-o") + 1]


def as_clang_reads(command):
    """The command without precompiled headers and without what only g++ knows."""
    words, kept = shlex.split(command), []
    while words:
        word = words.pop(0)
        if word == "-include" and words and words[0].endswith("cmake_pch.hxx"):
            words.pop(0)
        elif word not in ("-Winvalid-pch", "-Wshadow=local", "-Wno-subobject-linkage"):
            kept.append(word)
    return shlex.join(kept)


def newest(paths):
    return max((os.stat(path).st_mtime for path in paths if os.path.exists(path)), default=0.0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    clean = build / "tidy"
    depends = dependencies(build)

    entries = json.loads((build / "compile_commands.json").read_text())
    clean.mkdir(parents=True, exist_ok=True)
    plain = [entry | {"command": as_clang_reads(entry["command"])} for entry in entries]
    (clean / "compile_commands.json").write_text(json.dumps(plain))

    work = []
    for entry in entries:
        source = Path(entry["file"])
        # Sources that are compiled as one are read as one: a file that includes them, in the same place of the build.
        place = source.relative_to(build) if source.is_relative_to(build) else Path(os.path.relpath(source, ROOT))
        if place.parts[0] not in FOLDERS:
            continue
        stamp = clean / place.with_suffix(".clean")
        made_from = [build / path for path in depends.get(output_of(entry), [])]
        project_files = [path for path in made_from if path.resolve().is_relative_to(ROOT)]
        last_change = newest([source, ROOT / ".clang-tidy", *project_files])
        if not made_from or last_change >= newest([stamp]):
            work.append((source, stamp))

    def tidy(item):
        source, stamp = item
        command = ["clang-tidy", "-p", str(clean), "--quiet", str(source)]
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode == 0 and "warning:" not in result.stdout:
            stamp.parent.mkdir(parents=True, exist_ok=True)
            stamp.touch()
            return ""
        return result.stdout or result.stderr

    with ThreadPoolExecutor(arguments.jobs) as pool:
        found = [text for text in pool.map(tidy, work) if text]
    print("".join(found), end="")
    print(f"clang-tidy: {len(work)} sources read, {len(found)} with findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
