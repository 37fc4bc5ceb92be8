"""clang-tidy on every C++ source of the tree, each as its own translation unit, by the commands of a preset that is
configured, not built. The tree from nothing takes minutes, a change seconds.

The preset `tidy` reads the library, experiments, benchmarks and bindings without precompiled headers, so that a
forgotten include is found. `tidy-doors` reads the command line and the tests with precompiled headers of CLI11 and
GoogleTest, which would take most of the time; nothing else of it is built.

A clean answer is kept under a checksum of all that it depends on: the source, the headers of the tree that it includes,
the settings of clang-tidy, its version and the command. Answers lie in the cache folder of the user, so that another
checkout of the same sources finds them.
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
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = {"tidy": ("widelimit", "experiments", "bench", "python/bindings"), "tidy-doors": ("app", "tests")}
PRECOMPILED = re.compile(r"-include-pch -Xclang (\S+)")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
KEPT_DAYS = 30


@cache
def included(path, root):
    """The files of the tree that `path` names in its includes: from the root, or beside it."""
    names = INCLUDE.findall(path.read_text(encoding="utf-8"))
    places = [next((p for p in (root / name, path.parent / name) if p.is_file()), None) for name in names]
    return [place.resolve() for place in places if place is not None]


def made_from(source, root):
    """`source` and every file of the tree that it includes, directly or not."""
    known, left = {source}, [source]
    while left:
        new = set(included(left.pop(), root)) - known
        known |= new
        left += new
    return sorted(known)


def key_of(entry, root, version):
    """Checksum of everything that an answer depends on; the same in every checkout."""
    source = Path(entry["file"])
    settings = [folder / ".clang-tidy" for folder in source.parents if folder.is_relative_to(root)]
    key = hashlib.sha256(f"{version}\n{entry['command'].replace(str(root), '')}\n".encode())
    for path in [*made_from(source, root), *(path for path in settings if path.is_file())]:
        key.update(f"{path.relative_to(root)}\n".encode())
        key.update(hashlib.sha256(path.read_bytes()).digest())
    return key.hexdigest()


def forget_old(answers):
    oldest = time.time() - KEPT_DAYS * 24 * 3600
    for answer in answers.iterdir():
        if answer.stat().st_mtime < oldest:
            answer.unlink(missing_ok=True)


def findings_of(entry, build):
    """What clang-tidy says of a source; nothing where it is clean."""
    result = subprocess.run(
        ["clang-tidy", "-p", str(build), "--quiet", entry["file"]], capture_output=True, text=True
    )
    clean = result.returncode == 0 and "warning:" not in result.stdout
    return "" if clean else result.stdout or result.stderr


def main():
    """The exit status. Reads every source whose answer is not known, and prints what it finds as it goes."""
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=ROOT)
    parser.add_argument("--answers", type=Path, default=caches / "widelimit-tidy", help="folder of clean answers")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--preset", choices=FOLDERS, default="tidy")
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    build = root / "build" / arguments.preset
    arguments.answers.mkdir(parents=True, exist_ok=True)
    forget_old(arguments.answers)
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, text=True, check=True).stdout

    sources, work = 0, []
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if not any(Path(entry["file"]).is_relative_to(root / folder) for folder in FOLDERS[arguments.preset]):
            continue
        sources += 1
        answer = arguments.answers / key_of(entry, root, version)
        if answer.exists():
            answer.touch()
        else:
            work.append((entry, answer))

    precompiled = {name for entry, _ in work for name in PRECOMPILED.findall(entry["command"])}
    if precompiled:
        targets = [str(Path(name).relative_to(build)) for name in sorted(precompiled)]
        subprocess.run(["cmake", "--build", str(build), "--target", *targets], check=True, capture_output=True)

    def check(item):
        entry, answer = item
        found = findings_of(entry, build)
        if found:
            print(found, end="", flush=True)
        else:
            answer.touch()
        return bool(found)

    with ThreadPoolExecutor(arguments.jobs) as pool:
        failed = sum(pool.map(check, work))
    print(f"{arguments.preset}: {sources} sources, {len(work)} read, {failed} with findings")
    return 1 if failed or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
