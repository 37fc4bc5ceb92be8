"""The tree rules find violations and accept what is allowed."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "check_includes.py"
spec = importlib.util.spec_from_file_location("check_includes", SCRIPT)
rules = importlib.util.module_from_spec(spec)
spec.loader.exec_module(rules)


def violations(path, text):
    return [what for _, what in rules.check_file(path, text)]


@pytest.mark.parametrize(
    ("path", "header"),
    [
        ("widelimit/data/formats/csv.cpp", "widelimit/network/network.hpp"),
        ("widelimit/base/matrix.hpp", "widelimit/report/html.hpp"),
        ("widelimit/network/text.cpp", "app/verb.hpp"),
        ("widelimit/engine/cpu/tile.cpp", "widelimit/kernel/gram.hpp"),
        ("widelimit/kernel/gram.cpp", "widelimit/attic/old.hpp"),
        ("widelimit/attic/old.cpp", "widelimit/base/types.hpp"),
        ("widelimit/report/html.cpp", "experiments/experiment.hpp"),
        ("experiments/equivalence/every_net.cpp", "app/shell/interrupt.hpp"),
        ("experiments/equivalence/every_net.cpp", "bench/measure.hpp"),
        ("widelimit/finite/layers/affine.cpp", "widelimit/engine/cpu/algebra/blas_library.hpp"),
        ("app/doctor.cpp", "widelimit/engine/cpu/vector/strip.hpp"),
        ("experiments/equivalence/every_net.cpp", "widelimit/engine/reference/pair.hpp"),
    ],
)
def test_a_wrong_include_is_found(path, header):
    assert len(violations(path, f'#pragma once\n#  include "{header}"\n')) == 1


@pytest.mark.parametrize(
    ("path", "header"),
    [
        ("widelimit/kernel/gram.cpp", "widelimit/finite/forward.hpp"),
        ("widelimit/kernel/gram.cpp", "widelimit/kernel/gram.hpp"),
        ("widelimit/report/html.cpp", "widelimit/base/error.hpp"),
        ("widelimit/base/matrix.cpp", "vector"),
        ("app/kernel/kernel.cpp", "widelimit/report/html.hpp"),
        ("tests/data/csv_test.cpp", "widelimit/kernel/gram.hpp"),
        ("experiments/equivalence/every_net.cpp", "experiments/log_slope.hpp"),
        ("experiments/equivalence/every_net.cpp", "widelimit/report/table.hpp"),
        ("app/experiment.cpp", "experiments/experiment.hpp"),
        ("bench/machines.cpp", "experiments/tasks/mnist_task.hpp"),
        ("widelimit/engine/host/host.cpp", "widelimit/engine/cpu/algebra/blas_calls.hpp"),
        ("widelimit/certificate/cone/cone_kernel.hpp", "widelimit/engine/host/cone/cone.hpp"),
        ("tests/engine/tiled_test.cpp", "widelimit/engine/cpu/algebra/tiled.hpp"),
    ],
)
def test_a_right_include_is_left_alone(path, header):
    assert violations(path, f'#include "{header}"\n') == []


def test_messages_of_the_library_name_no_options():
    line = '  fail(Code::usage, "allow more (--memory)");\n'
    assert len(violations("widelimit/kernel/gram.cpp", line)) == 1
    assert violations("app/kernel/kernel.cpp", line) == []
    assert violations("widelimit/kernel/gram.cpp", '  fail(Code::usage, "x -- y");  // --memory\n') == []


def test_conditional_compilation_is_for_back_ends():
    assert violations("widelimit/kernel/gram.cpp", "#ifdef FAST\n#endif\n")
    assert violations("widelimit/engine/cpu/tile.cpp", "#if HWY_ONCE\n#endif\n") == []


def test_length_notes_and_paths():
    assert violations("app/main.cpp", "\n" * 401)
    assert violations("app/main.cpp", "\n" * 400) == []
    assert violations("docs/tutorial.md", "see /ro" "ot/data\n")
    assert violations("docs/tutorial.md", "[home](docs/home/page.md) /usr/lib\n") == []
    assert violations("app/main.cpp", "// TO" "DO: more\n")


def test_a_planted_tree_fails(tmp_path):
    source = tmp_path / "widelimit" / "data" / "csv.cpp"
    source.parent.mkdir(parents=True)
    source.write_text('#include "widelimit/kernel/gram.hpp"\n')
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    result = subprocess.run([sys.executable, str(SCRIPT), str(tmp_path)], capture_output=True, text=True)
    assert result.returncode == 1
    assert result.stdout.startswith("widelimit/data/csv.cpp:1: data includes")
