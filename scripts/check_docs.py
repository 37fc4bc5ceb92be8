"""Keeps the documentation true: relative links in *.md resolve, and blocks that say so run.

A fenced block with the info string `sh run` is a promise: with --run every such block is run by bash, in the root of
the tree, stopping at the first command that fails. Blocks of one file share nothing but the tree. Prints the counts
as "N passed, N failed, 0 skipped"; exits 1 where anything failed.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
FENCE = re.compile(r"^\s*(```+|~~~+)\s*(.*?)\s*$")
TIME_LIMIT = 900


def documents():
    command = ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard", "-z", "*.md"]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [ROOT / name for name in listing.split("\0") if name and (ROOT / name).is_file()]


def split(text):
    """(prose lines, fenced blocks), each with line numbers; a block is (line, info string, body)."""
    prose, blocks, fence = [], [], None
    for number, line in enumerate(text.splitlines(), start=1):
        match = FENCE.match(line)
        if fence is None and match:
            fence = (match.group(1), number, match.group(2), [])
        elif fence is not None and match and match.group(1).startswith(fence[0]) and not match.group(2):
            blocks.append((fence[1], fence[2], "\n".join(fence[3])))
            fence = None
        elif fence is not None:
            fence[3].append(line)
        else:
            prose.append((number, line))
    return prose, blocks


def anchor(heading):
    """The name GitHub gives a heading."""
    kept = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return kept.replace(" ", "-")


def anchors(path):
    prose, _ = split(path.read_text(encoding="utf-8"))
    return {anchor(line.lstrip("#")) for _, line in prose if re.match(r"#+ ", line)}


def broken_links(path):
    prose, _ = split(path.read_text(encoding="utf-8"))
    for number, line in prose:
        for target in LINK.findall(re.sub(r"`[^`]*`", "", line)):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, fragment = target.partition("#")
            there = (path.parent / name).resolve() if name else path
            if not there.exists():
                yield number, f"link to {target}: no such file"
            elif fragment and there.suffix == ".md" and fragment not in anchors(there):
                yield number, f"link to {target}: no such heading"


def run_block(body):
    """None where the block ran, else why it did not."""
    try:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", body], cwd=ROOT, capture_output=True, text=True, timeout=TIME_LIMIT
        )
    except subprocess.TimeoutExpired:
        return f"took longer than {TIME_LIMIT} s"
    return None if done.returncode == 0 else f"status {done.returncode}\n{done.stdout}{done.stderr}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", action="store_true", help="also run the blocks marked `sh run`")
    arguments = parser.parse_args()
    passed = failed = 0
    for path in documents():
        name = path.relative_to(ROOT)
        broken = list(broken_links(path))
        for number, what in broken:
            print(f"{name}:{number}: {what}")
        failed += bool(broken)
        passed += not broken
        if not arguments.run:
            continue
        for number, info, body in split(path.read_text(encoding="utf-8"))[1]:
            if info.split() != ["sh", "run"]:
                continue
            why = run_block(body)
            if why:
                print(f"{name}:{number}: block does not run: {why}")
            failed += why is not None
            passed += why is None
    if arguments.run:
        print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
