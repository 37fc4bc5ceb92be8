"""clang-tidy on every C++ source of the tree, by the commands of the preset `tidy`, which is configured, not built. The
tree from nothing takes minutes, a change seconds.

Sources of the library, the experiments, the command line, the bindings and the benchmarks are each read alone, without
precompiled headers, so that a forgotten include is found. Tests are read in batches: most of their time would go to the
headers of GoogleTest.

A clean answer is kept under a checksum of all that it depends on: the sources, the headers of the tree that they
include, the settings of clang-tidy, its version and the command. Answers lie in the cache folder of the user, so that
another checkout of the same sources finds them.
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
BATCH_SIZE = 6  # as in tests/CMakeLists.txt
# In a batch, a private name of one source is nothing that a local name of another hides.
BATCH_OPTIONS = "-Wno-shadow"
# A newer clang finds deprecated functions inside the stable_sort of libstdc++ 12; both compilers of the builds look for
# them in the tree.
OPTIONS = ["--quiet", "--extra-arg=-Wno-deprecated-declarations"]
# omp.h comes with a compiler, not with clang-tidy: that of g++, after all other headers.
COMPILER_HEADERS = subprocess.run(["c++", "-print-file-name=include"], capture_output=True, text=True).stdout.strip()
OPTIONS += ["--extra-arg=-idirafter", f"--extra-arg={COMPILER_HEADERS}"]
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
KEPT_DAYS = 30
# The one that is installed beside this Python, where there is one.
CLANG_TIDY = next(map(str, Path(sys.executable).parent.glob("clang-tidy")), "clang-tidy")


@dataclass
class Unit:
    """What one run of clang-tidy reads: a source, or several as one."""

    sources: list[Path]
    file: Path
    command: str


@cache
def included(path, root):
    """The files of the tree that `path` names in its includes: from the root, or beside it."""
    names = INCLUDE.findall(path.read_text(encoding="utf-8"))
    places = [next((p for p in (root / name, path.parent / name) if p.is_file()), None) for name in names]
    return [place.resolve() for place in places if place is not None]


def made_from(sources, root):
    """`sources` and every file of the tree that they include, directly or not."""
    known, left = set(sources), list(sources)
    while left:
        new = set(included(left.pop(), root)) - known
        known |= new
        left += new
    return sorted(known)


def key_of(unit, root, version):
    """Checksum of everything that an answer depends on; the same in every checkout."""
    settings = {parent / ".clang-tidy" for source in unit.sources for parent in source.parents}
    key = hashlib.sha256(f"{version}\n{OPTIONS}\n{unit.command.replace(str(root), '')}\n".encode())
    known = [path for path in sorted(settings) if path.is_relative_to(root) and path.is_file()]
    for path in [*made_from(unit.sources, root), *known]:
        key.update(f"{path.relative_to(root)}\n".encode())
        key.update(hashlib.sha256(path.read_bytes()).digest())
    return key.hexdigest()


def units_of(entries, root, folder):
    """The units of a compilation database. Batches lie in `folder`; a batch has sources of one room
    and one command only."""
    units, batches = [], {}
    for entry in entries:
        source = Path(entry["file"])
        if source.is_relative_to(root / "tests") and source.name.endswith("_test.cpp"):
            flags = re.sub(r" -o \S+ -c \S+$", "", entry["command"])
            batches.setdefault((source.relative_to(root / "tests").parts[0], flags), []).append(source)
        elif any(source.is_relative_to(root / name) for name in FOLDERS):
            units.append(Unit([source], source, entry["command"]))
    for (_, flags), sources in batches.items():
        for begin in range(0, len(sources), BATCH_SIZE):
            batch = sources[begin : begin + BATCH_SIZE]
            file = folder / f"batch_{len(units)}.cpp"
            file.write_text("".join(f'#include "{source}"\n' for source in batch))
            units.append(Unit(batch, file, f"{flags} {BATCH_OPTIONS} -c {file}"))
    return units


def forget_old(answers):
    oldest = time.time() - KEPT_DAYS * 24 * 3600
    for answer in answers.iterdir():
        if answer.stat().st_mtime < oldest:
            answer.unlink(missing_ok=True)


def findings_of(unit, folder, root):
    """What clang-tidy says of a unit; nothing where it is clean."""
    settings = root / ".clang-tidy"
    command = [CLANG_TIDY, "-p", str(folder), *OPTIONS]
    if len(unit.sources) > 1:
        command += [f"--header-filter=^{re.escape(str(root))}/.*\\.[ch]pp$"]
        command += [f"--config-file={settings}"] if settings.is_file() else []
    result = subprocess.run([*command, str(unit.file)], capture_output=True, text=True)
    clean = result.returncode == 0 and "warning:" not in result.stdout
    return "" if clean else result.stdout or result.stderr


def main():
    """The exit status. Reads every unit whose answer is not known, and prints what it finds as it goes."""
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=ROOT)
    parser.add_argument("--answers", type=Path, default=caches / "widelimit-tidy", help="folder of clean answers")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    build = root / "build" / "tidy"
    folder = build / "units"
    folder.mkdir(parents=True, exist_ok=True)
    arguments.answers.mkdir(parents=True, exist_ok=True)
    forget_old(arguments.answers)
    version = subprocess.run([CLANG_TIDY, "--version"], capture_output=True, text=True, check=True).stdout

    units = units_of(json.loads((build / "compile_commands.json").read_text()), root, folder)
    entries = [{"directory": str(build), "file": str(unit.file), "command": unit.command} for unit in units]
    (folder / "compile_commands.json").write_text(json.dumps(entries))
    answers = [(unit, arguments.answers / key_of(unit, root, version)) for unit in units]
    work = []
    for unit, answer in answers:
        if answer.exists():
            answer.touch()
        else:
            work.append((unit, answer))

    def check(item):
        unit, answer = item
        found = findings_of(unit, folder, root)
        if found:
            print(found, end="", flush=True)
        else:
            answer.touch()
        return bool(found)

    with ThreadPoolExecutor(arguments.jobs) as pool:
        failed = sum(pool.map(check, work))

    def count(some):
        return sum(len(unit.sources) for unit in some)

    print(f"tidy: {count(units)} sources, {count(unit for unit, _ in work)} read, {failed} with findings")
    return 1 if failed or not units else 0


if __name__ == "__main__":
    sys.exit(main())
