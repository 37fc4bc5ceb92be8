"""Sums JUnit files of GoogleTest, ctest and pytest: prints "N passed, N failed, N skipped"; exits with status 1 if any
failed.

A missing or unreadable file counts as one failure, e.g. after a crash. ctest runs programs with many tests, which write
their own files NAME.xml beside ctest.xml. An entry of ctest.xml counts only if it adds information: a program without a
file, or one that failed after its last test, e.g. because of a leak.
"""

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def cases_of(path):
    return list(ElementTree.parse(path).iter("testcase"))


def has_failed(case):
    return case.find("failure") is not None or case.find("error") is not None


def is_reported_elsewhere(case, folder):
    """Whether the result of this ctest entry is contained in the program's own result file."""
    own = folder / f"{case.get('name')}.xml"
    return own.exists() and (not has_failed(case) or any(has_failed(test) for test in cases_of(own)))


def count(path):
    """Returns (passed, failed, skipped) of one JUnit file."""
    try:
        cases = cases_of(path)
        if path.name == "ctest.xml":
            cases = [case for case in cases if not is_reported_elsewhere(case, path.parent)]
    except (OSError, ElementTree.ParseError) as error:
        print(f"{path}: {error}", file=sys.stderr)
        return 0, 1, 0
    failed = sum(1 for case in cases if has_failed(case))
    skipped = sum(1 for case in cases if case.find("skipped") is not None)
    return len(cases) - failed - skipped, failed, skipped


def main(paths):
    passed, failed, skipped = (sum(column) for column in zip(*map(count, map(Path, paths)), strict=True))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
