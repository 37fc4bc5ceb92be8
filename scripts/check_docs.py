"""Checks the documentation: relative links in *.md resolve, cited files exist, and runnable blocks run.

Comments and documents cite files of the tree, as docs/theory/kernels.md#recursion or widelimit/base/matrix.hpp; the
file and the heading must exist. C++ comments may shorten the path of a source to its last components. Files outside the
tree, such as design documents, must not be cited. CHANGELOG.md may name deleted files, and tests of scripts contain
invalid names on purpose.

With --run, bash runs every fenced block with the info string `sh run` in the root of the tree and stops at the first
command that fails. The blocks of one file share only the tree. Prints the counts as "N passed, N failed, 0 skipped";
exits with status 1 if anything failed.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
FENCE = re.compile(r"^\s*(```+|~~~+)\s*(.*?)\s*$")
CITED = re.compile(
    r"(?<![\w./-])((?:docs|widelimit)/[\w./-]*\w\.md|(?:widelimit|app|experiments|bench|tests|python)/[\w./-]*\w\.[ch]pp"
    r"|(?:tools|scripts|bench|tests)/[\w./-]*\w\.py)\b(?:#([\w-]+))?"
)
CITED_SOURCE = re.compile(r"(?<![\w./-])([\w/-]*\w\.[ch]pp)\b(?!\.o)")
OUTSIDE = re.compile(
    r"mathe" r"matics(?:\.md| §)|\b(?:inter" r"face|tar" r"gets)\.md|shared/(?:design|seeds|reference)"
)
SOURCES = {".cpp", ".hpp", ".cu", ".cuh", ".py", ".sh", ".cmake", ".toml", ".txt", ".md"}
CPP = {".cpp", ".hpp", ".cu", ".cuh"}
TIME_LIMIT = 900


def tree():
    """Returns the names of all files of the tree, relative to its root."""
    command = ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return sorted(name for name in listing.split("\0") if name and (ROOT / name).is_file())


def split(text):
    """Returns (prose lines, fenced blocks), each with line numbers; a block is (line, info string, body)."""
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
    """Returns the anchor that GitHub generates for a heading."""
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


def citing(name):
    """Whether the citations of this file are checked."""
    return Path(name).suffix in SOURCES and name != "CHANGELOG.md" and not name.startswith("scripts/tests/")


def broken_citations(name, text, files, headings):
    """Yields (line, message) for every citation of a missing file or heading.

    `files`: names of the tree; `headings(name)`: the anchors of a document.
    """
    for number, line in enumerate(text.splitlines(), start=1):
        for cited, fragment in CITED.findall(line):
            if cited not in files:
                yield number, f"cites {cited}: no such file"
            elif fragment and cited.endswith(".md") and fragment not in headings(cited):
                yield number, f"cites {cited}#{fragment}: no such heading"
        comment = line.partition("//")[2] if Path(name).suffix in CPP else ""
        for cited in CITED_SOURCE.findall(comment):
            if not any(known == cited or known.endswith("/" + cited) for known in files):
                yield number, f"cites {cited}: no such file"
        if OUTSIDE.search(line):
            yield number, "cites a document outside the tree; cite docs/theory/ or docs/references.md"


def run_block(body):
    """Runs a block; returns None, or the reason of its failure."""
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
    files = set(tree())
    for name in sorted(files):
        path = ROOT / name
        is_document = path.suffix == ".md"
        broken = list(broken_links(path)) if is_document else []
        if citing(name):
            broken += broken_citations(
                name, path.read_text(encoding="utf-8"), files, lambda cited: anchors(ROOT / cited)
            )
        for number, what in broken:
            print(f"{name}:{number}: {what}")
        failed += bool(broken)
        passed += is_document and not broken
        if not (arguments.run and is_document):
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
