"""The run.sh of the GPU bundle: `tests` counts the tests of several processes, and notices those that crash."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

RUN = Path(__file__).parents[1] / "gpu_run.sh"

# Stands for cuda_tests: shard 0 passes two tests and skips one, any other fails one with two messages.
PROGRAM = r"""#!/usr/bin/env bash
for argument in "$@"; do
  case $argument in --gtest_output=xml:*) out=${argument#--gtest_output=xml:} ;; --crash) crash=yes ;; esac
done
[ "$crash" = yes ] && [ "$GTEST_SHARD_INDEX" = 1 ] && kill -SEGV $$
if [ "$GTEST_SHARD_INDEX" = 0 ]; then
  cat >"$out" <<XML
<testsuites tests="3"><testsuite name="A">
<testcase name="a" />
<testcase name="b"></testcase>
<testcase name="c">
<skipped message="../../a/b_test.cpp:30&#x0A;no &quot;device&quot; &amp; driver"><![CDATA[../../a/b_test.cpp:30
no]]></skipped>
</testcase>
</testsuite></testsuites>
XML
else
  cat >"$out" <<XML
<testcase name="d">
<failure message="one"></failure>
<failure message="two"></failure>
</testcase>
XML
fi
"""


@pytest.fixture
def bundle(tmp_path):
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "cuda_tests"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    shutil.copy(RUN, tmp_path / "run.sh")
    return tmp_path


def run(bundle, *arguments):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GTEST_")}
    done = subprocess.run(
        [bundle / "run.sh", *arguments], capture_output=True, text=True, env=environment, timeout=60, check=False
    )
    return done.returncode, done.stdout.splitlines(), done.stderr


def test_counts_the_tests_of_all_processes(bundle):
    status, lines, _ = run(bundle, "tests", "-j", "1")
    assert (status, lines) == (0, ['skipped: no "device" & driver', "2 passed, 0 failed, 1 skipped"])
    status, lines, _ = run(bundle, "tests", "-j", "3")
    assert (status, lines[-1]) == (1, "2 passed, 2 failed, 1 skipped")


def test_a_process_that_crashes_is_a_failure(bundle):
    status, lines, errors = run(bundle, "tests", "-j", "2", "--crash")
    assert (status, lines[-1]) == (1, "2 passed, 1 failed, 1 skipped")
    assert "ended without results" in errors


@pytest.mark.parametrize("processes", ["0", "x", ""])
def test_refuses_a_number_of_processes_that_is_none(bundle, processes):
    status, _, errors = run(bundle, "tests", "-j", processes)
    assert status == 2 and "-j takes a number of processes" in errors


def test_refuses_an_unknown_sanitizer_with_the_usage(bundle):
    status, _, errors = run(bundle, "sanitize", "memchek")
    assert status == 2 and "memcheck, racecheck or initcheck" in errors


def test_benchmarks_run_in_the_folder_of_the_caller(bundle):
    program = bundle / "bin" / "bench_cuda"
    program.write_text('#!/bin/sh\npwd\necho "$@"\n')
    program.chmod(0o755)
    status, lines, _ = run(bundle, "bench", "ntk", "--python", "venv/bin/python")
    assert (status, lines) == (0, [os.getcwd(), f"--peers {bundle}/peers ntk --python venv/bin/python"])


def test_help_names_every_use(bundle):
    status, lines, _ = run(bundle, "help")
    assert status == 0 and [line.split()[1] for line in lines if line.startswith("run.sh")] == [
        "doctor",
        "tests",
        "sanitize",
        "bench",
        "VERB",
    ]
