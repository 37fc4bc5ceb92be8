"""Sums JUnit files of ctest and pytest: prints "N passed, N failed, N skipped", exits 1 where any failed.

A file that is missing or cannot be read counts as one failure: a runner that died has not passed.
"""

import sys
import xml.etree.ElementTree as ElementTree


def count(path):
    """(passed, failed, skipped) of one JUnit file."""
    try:
        cases = list(ElementTree.parse(path).iter("testcase"))
    except (OSError, ElementTree.ParseError) as error:
        print(f"{path}: {error}", file=sys.stderr)
        return 0, 1, 0
    failed = sum(1 for case in cases if case.find("failure") is not None or case.find("error") is not None)
    skipped = sum(1 for case in cases if case.find("skipped") is not None)
    return len(cases) - failed - skipped, failed, skipped


def main(paths):
    passed, failed, skipped = (sum(column) for column in zip(*map(count, paths), strict=True))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
