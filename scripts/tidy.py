"""clang-tidy on every C++ source of the tree, each as its own translation unit, where its answer may have changed.

The commands are those of the preset `plain`, which compiles each source alone and without precompiled headers; it is
configured, not built. A clean answer is kept under a checksum of all that it depends on: the source, the headers of the
tree that it includes, the settings of clang-tidy, its version and the command. Answers lie beside those of ccache, so
that another checkout of the same sources finds them: the tree from nothing takes tens of minutes, a change seconds.
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
FOLDERS = ("widelimit", "app", "experiments", "bench", "tests", "python/bindings")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
KEPT_DAYS = 30


@cache
def included(path):
    """The files of the tree that `path` names in its includes: from the root, or beside it."""
    names = INCLUDE.findall(path.read_text(encoding="utf-8"))
    places = ((ROOT / name, path.parent / name) for name in names)
    return [next(place.resolve() for place in both if place.is_file()) for both in places if any(map(Path.is_file, both))]


def made_from(source):
    """`source` and every file of the tree that it includes, in the end."""
    known, left = {source}, [source]
    while left:
        new = set(included(left.pop())) - known
        known |= new
        left += new
    return sorted(known)


def settings_of(source):
    folders = [folder for folder in source.parents if folder.is_relative_to(ROOT)]
    return [folder / ".clang-tidy" for folder in folders if (folder / ".clang-tidy").is_file()]


def key_of(source, command, version):
    """Checksum of everything that an answer depends on; the same in every checkout."""
    sum_of_all = hashlib.sha256(f"{version}\n{command.replace(str(ROOT), '')}\n".encode())
    for path in [*made_from(source), *settings_of(source)]:
        sum_of_all.update(f"{path.relative_to(ROOT)}\n".encode())
        sum_of_all.update(hashlib.sha256(path.read_bytes()).digest())
    return sum_of_all.hexdigest()


def default_answers():
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return caches / "widelimit-tidy"


def forget_old(answers):
    oldest = time.time() - KEPT_DAYS * 24 * 3600
    for answer in answers.iterdir():
        if answer.stat().st_mtime < oldest:
            answer.unlink(missing_ok=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "plain")
    parser.add_argument("--answers", type=Path, default=default_answers(), help="folder of clean answers")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("folders", nargs="*", default=FOLDERS, help="parts of the tree to read; all of them")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    arguments.answers.mkdir(parents=True, exist_ok=True)
    forget_old(arguments.answers)
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, text=True, check=True).stdout

    sources = 0
    work = []
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = Path(entry["file"])
        if not any(source.is_relative_to(ROOT / folder) for folder in arguments.folders):
            continue
        sources += 1
        answer = arguments.answers / key_of(source, entry["command"], version)
        if answer.exists():
            answer.touch()
        else:
            work.append((source, answer))

    def tidy(item):
        source, answer = item
        command = ["clang-tidy", "-p", str(build), "--quiet", str(source)]
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode == 0 and "warning:" not in result.stdout:
            answer.touch()
            return ""
        text = result.stdout or result.stderr
        print(text, end="", flush=True)
        return text

    with ThreadPoolExecutor(arguments.jobs) as pool:
        found = [text for text in pool.map(tidy, work) if text]
    print(f"clang-tidy: {sources} sources, {len(work)} read, {len(found)} with findings")
    return 1 if found or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
