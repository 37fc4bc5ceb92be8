"""Checks rules of the tree that a compiler cannot check. Prints each violation as file:line: message; exits with
status 1 if there is one.

- A room may include itself and the rooms to its left in ROOMS.
- The library includes nothing of app/, experiments/, bench/, tests/ or python/; experiments/ includes nothing of app/,
  bench/, tests/ or python/.
- Only widelimit/engine/, tests/ and bench/ include headers of one engine, under widelimit/engine/<name>/.
- Conditional compilation only under widelimit/engine/.
- Messages of the library name no command-line option; an Error carries a Remedy instead.
- No file longer than MAX_LINES, no notes of unfinished work, no paths of a developer's machine.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOMS = ["base", "data", "network", "recipe", "engine", "finite", "kernel", "machine"]
ROOMS += ["analysis", "certificate", "report"]
# Folders on top of the library and the experiments.
TOP_FOLDERS = {"app", "bench", "tests", "python"}
MAX_LINES = 400
# Private headers of one engine.
ENGINES = tuple(f"widelimit/engine/{name}/" for name in ("cpu", "reference", "cuda", "mpi"))

CPP = {".cpp", ".hpp", ".cu", ".cuh"}
TEXT = CPP | {".py", ".sh", ".cmake", ".md", ".txt", ".toml", ".json", ".yml", ""}
LENGTH_LIMITED = CPP | {".py", ".sh", ".cmake"}

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]')
CONDITIONAL = re.compile(r"^\s*#\s*(if|ifdef|ifndef|elif)\b")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
OPTION = re.compile(r"(?<![\w-])--[a-z]")
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
MACHINE_PATH = re.compile(r"(?<![\w.$}/-])/(work|root|home|farm|Users)/")


def room_of(path):
    """Returns the room of a source or header of the library, None for other files."""
    parts = Path(path).parts
    return parts[1] if len(parts) > 2 and parts[0] == "widelimit" else None


def check_include(path, header):
    """Returns a message if `path` must not include `header`, else None."""
    here = room_of(path)
    there = room_of(header)
    if Path(path).parts[0] == "experiments" and header.split("/")[0] in TOP_FOLDERS:
        return f"experiments/ includes {header}; it may include only the library and itself"
    if header.startswith(ENGINES) and here != "engine" and Path(path).parts[0] not in ("tests", "bench"):
        return f"{header} is private to one engine; use widelimit/engine/engine.hpp"
    if here is None:
        return None
    if here not in ROOMS:
        return f"room '{here}' is not in the list of rooms"
    if header.split("/")[0] in TOP_FOLDERS | {"experiments"}:
        return f"the library includes {header}, which is outside the library"
    if there is None:
        return None
    if there not in ROOMS:
        return f"{header}: room '{there}' is not in the list of rooms"
    if ROOMS.index(there) > ROOMS.index(here):
        return f"{here} includes {header}, but {there} comes after it in the order {' '.join(ROOMS)}"
    return None


def check_file(path, text):
    """Returns (line, message) of every violation in one file; `path` is relative to the root of the tree."""
    violations = []
    suffix = Path(path).suffix
    lines = text.splitlines()
    if suffix in LENGTH_LIMITED and len(lines) > MAX_LINES:
        violations.append((len(lines), f"{len(lines)} lines; the limit is {MAX_LINES}"))
    for number, line in enumerate(lines, start=1):
        if suffix in CPP:
            include = INCLUDE.match(line)
            wrong = include and check_include(path, include.group(1))
            if wrong:
                violations.append((number, wrong))
            if CONDITIONAL.match(line) and not path.startswith("widelimit/engine/"):
                violations.append((number, "conditional compilation outside widelimit/engine/"))
            named = any(OPTION.search(text) for text in STRING.findall(line))
            if room_of(path) and named and "run_program(" not in line:
                violations.append((number, "a message of the library names an option of the command line"))
        if UNFINISHED.search(line):
            violations.append((number, "a note of unfinished work"))
        if MACHINE_PATH.search(line):
            violations.append((number, "a path of a developer's machine"))
    return violations


def tracked_files(root):
    command = ["git", "-C", str(root), "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [name for name in listing.split("\0") if name and Path(name).suffix in TEXT and (root / name).is_file()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).parent.parent)
    root = parser.parse_args().root
    found = 0
    for name in tracked_files(root):
        try:
            text = (root / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for number, what in check_file(name, text):
            print(f"{name}:{number}: {what}")
            found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
