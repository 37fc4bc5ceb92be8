"""The total of count_tests.py for passing, failing and crashed runs."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import count_tests

PASSED = '<testcase name="{}"/>'
FAILED = '<testcase name="{}"><failure/></testcase>'
SKIPPED = '<testcase name="{}"><skipped/></testcase>'


def write(folder, name, *cases):
    body = "".join(case.format(f"case{k}" if name != "ctest" else f"room.{k}") for k, case in enumerate(cases))
    path = folder / f"{name}.xml"
    path.write_text(f"<testsuite>{body}</testsuite>")
    return path


def total(folder):
    return tuple(map(sum, zip(*map(count_tests.count, sorted(folder.glob("*.xml"))), strict=True)))


def test_tests_of_programs_count_once(tmp_path):
    write(tmp_path, "room.0", PASSED, PASSED, SKIPPED)
    write(tmp_path, "room.1", PASSED, FAILED)
    write(tmp_path, "ctest", PASSED, FAILED)
    assert total(tmp_path) == (3, 1, 1)


def test_a_test_without_a_file_of_its_own_counts(tmp_path):
    write(tmp_path, "ctest", PASSED, PASSED)
    assert total(tmp_path) == (2, 0, 0)


def test_a_program_that_died_is_a_failure(tmp_path):
    write(tmp_path, "room.0", PASSED)
    write(tmp_path, "ctest", PASSED, FAILED)
    assert total(tmp_path) == (1, 1, 0)


def test_a_failure_after_the_last_test_is_a_failure(tmp_path):
    write(tmp_path, "room.0", PASSED, PASSED)
    write(tmp_path, "ctest", FAILED)
    assert total(tmp_path) == (2, 1, 0)


def test_a_file_cut_short_is_a_failure(tmp_path):
    write(tmp_path, "room.0", PASSED).write_text("<testsuite><testcase")
    assert total(tmp_path) == (0, 1, 0)


def test_the_status_says_whether_all_is_well(tmp_path, capsys):
    assert count_tests.main([str(write(tmp_path, "good", PASSED))]) == 0
    assert capsys.readouterr().out == "1 passed, 0 failed, 0 skipped\n"
    assert count_tests.main([str(write(tmp_path, "none"))]) == 1
    assert count_tests.main([str(tmp_path / "absent.xml")]) == 1
