"""Runs clang-tidy on every C++ source of the tree, with the commands of the preset `tidy`, which is configured but not
built. A full run takes minutes, a run after a change seconds.

Sources are checked in the batches in which they are compiled (cmake/batches.cmake), without precompiled headers, since
headers dominate the time. A batch can hide errors of single sources; the sanitizer build, which compiles the library
source by source, and standard_includes.py, which checks standard headers, find them.

Clean results are cached under a checksum of everything they depend on: the sources, the headers of the tree that they
include, the settings and version of clang-tidy, and the command. The cache is in the user's cache folder, so that
other checkouts of the same sources share it.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("widelimit", "experiments", "app", "bench", "python/bindings", "tests")
# clang reports deprecated functions inside the stable_sort of libstdc++ 12; both compilers of the builds already check
# the tree for them.
OPTIONS = ["--quiet", "--extra-arg=-Wno-deprecated-declarations"]
# omp.h belongs to the compiler, not to clang-tidy: use the one of g++, searched after all other headers.
COMPILER_HEADERS = subprocess.run(["c++", "-print-file-name=include"], capture_output=True, text=True).stdout.strip()
OPTIONS += ["--extra-arg=-idirafter", f"--extra-arg={COMPILER_HEADERS}"]
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
CACHE_DAYS = 30
# Prefers the clang-tidy installed beside this Python.
CLANG_TIDY = next(map(str, Path(sys.executable).parent.glob("clang-tidy")), "clang-tidy")


@dataclass
class Unit:
    """Input of one run of clang-tidy: a source, or a batch of sources."""

    sources: list[Path]
    file: Path
    command: str


@cache
def included(path, root):
    """Returns the files of the tree that `path` includes, relative to the root or to its folder."""
    names = INCLUDE.findall(path.read_text(encoding="utf-8"))
    places = [next((p for p in (root / name, path.parent / name) if p.is_file()), None) for name in names]
    return [place.resolve() for place in places if place is not None]


def dependencies_of(sources, root):
    """Returns `sources` and every file of the tree that they include, directly or indirectly."""
    known, left = set(sources), list(sources)
    while left:
        new = set(included(left.pop(), root)) - known
        known |= new
        left += new
    return sorted(known)


def key_of(unit, root, version):
    """Returns a checksum of everything that a result depends on; identical in every checkout."""
    settings = {parent / ".clang-tidy" for source in unit.sources for parent in source.parents}
    key = hashlib.sha256(f"{version}\n{OPTIONS}\n{unit.command.replace(str(root), '')}\n".encode())
    known = [path for path in sorted(settings) if path.is_relative_to(root) and path.is_file()]
    for path in [*dependencies_of(unit.sources, root), *known]:
        key.update(f"{path.relative_to(root)}\n".encode())
        key.update(hashlib.sha256(path.read_bytes()).digest())
    return key.hexdigest()


def units_of(entries, root, build):
    """Returns the units of a compilation database: sources of the tree, and batches of them in its build folder."""
    units = []
    for entry in entries:
        file = Path(entry["file"])
        batch = file.is_relative_to(build) and file.suffix == ".cxx"
        sources = [Path(name) for name in INCLUDE.findall(file.read_text(encoding="utf-8"))] if batch else [file]
        if any(sources[0].is_relative_to(root / name) for name in FOLDERS):
            units.append(Unit(sources, file, entry["command"]))
    return units


def remove_old(folder):
    oldest = time.time() - CACHE_DAYS * 24 * 3600
    for result in folder.iterdir():
        if result.stat().st_mtime < oldest:
            result.unlink(missing_ok=True)


def findings_of(unit, build, root):
    """Returns the output of clang-tidy for a unit, empty if it is clean."""
    settings = root / ".clang-tidy"
    command = [CLANG_TIDY, "-p", str(build), *OPTIONS]
    if len(unit.sources) > 1:
        command += [f"--header-filter=^{re.escape(str(root))}/.*\\.[ch]pp$"]
        command += [f"--config-file={settings}"] if settings.is_file() else []
    result = subprocess.run([*command, str(unit.file)], capture_output=True, text=True)
    clean = result.returncode == 0 and "warning:" not in result.stdout
    return "" if clean else result.stdout or result.stderr


def main():
    """Checks every unit without a cached result, prints findings as they occur, and returns the exit status."""
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=ROOT)
    default = caches / "widelimit-tidy"
    parser.add_argument("--answers", dest="cache", type=Path, default=default, help="cache folder of clean results")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    build = root / "build" / "tidy"
    arguments.cache.mkdir(parents=True, exist_ok=True)
    remove_old(arguments.cache)
    version = subprocess.run([CLANG_TIDY, "--version"], capture_output=True, text=True, check=True).stdout

    units = units_of(json.loads((build / "compile_commands.json").read_text()), root, build)
    results = [(unit, arguments.cache / key_of(unit, root, version)) for unit in units]
    pending = []
    for unit, result in results:
        if result.exists():
            result.touch()
        else:
            pending.append((unit, result))

    def check(item):
        unit, result = item
        found = findings_of(unit, build, root)
        if found:
            print(found, end="", flush=True)
        else:
            result.touch()
        return bool(found)

    with ThreadPoolExecutor(arguments.jobs) as pool:
        failed = sum(pool.map(check, pending))

    def count(some):
        return sum(len(unit.sources) for unit in some)

    print(f"tidy: {count(units)} sources, {count(unit for unit, _ in pending)} read, {failed} with findings")
    return 1 if failed or not units else 0


if __name__ == "__main__":
    sys.exit(main())
