"""Sources are checked in batches or alone: findings in any are reported, and a result is cached until one of its inputs
changes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parent.parent


@pytest.fixture
def tree(tmp_path):
    """A tree with two sources; the second includes a header that includes another."""
    room = tmp_path / "bench"
    room.mkdir()
    (room / "a.hpp").write_text("#pragma once\n")
    (room / "b.hpp").write_text('#pragma once\n#include "a.hpp"\n')
    (room / "one.cpp").write_text("int one();\n")
    (room / "two.cpp").write_text('#include "bench/b.hpp"\n#include <string>\nstd::string two();\n')
    (tmp_path / ".clang-tidy").write_text("Checks: 'clang-diagnostic-*,modernize-use-equals-default'\n")
    build = tmp_path / "build" / "tidy"
    build.mkdir(parents=True)
    entries = [
        {
            "directory": str(build),
            "file": str(room / name),
            "command": f"c++ -std=c++20 -Wall -Wextra -Wshadow -Werror -I{tmp_path} -o {name}.o -c {room / name}",
        }
        for name in ("one.cpp", "two.cpp")
    ]
    (build / "compile_commands.json").write_text(json.dumps(entries))
    return tmp_path


def tidy(tree):
    command = [sys.executable, str(SCRIPTS / "tidy.py"), "--root", str(tree), "--answers", str(tree / "cache")]
    result = subprocess.run(command, capture_output=True, text=True)
    return result.returncode, result.stdout


def test_clean_results_are_cached_until_something_they_depend_on_changes(tree):
    assert tidy(tree) == (0, "tidy: 2 sources, 2 read, 0 with findings\n")
    assert tidy(tree) == (0, "tidy: 2 sources, 0 read, 0 with findings\n")
    # The changed header is included indirectly by one of the sources.
    (tree / "bench" / "a.hpp").write_text("#pragma once\nint more();\n")
    assert tidy(tree) == (0, "tidy: 2 sources, 1 read, 0 with findings\n")
    (tree / "bench" / ".clang-tidy").write_text("Checks: 'modernize-use-override'\n")
    assert tidy(tree) == (0, "tidy: 2 sources, 2 read, 0 with findings\n")


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ("#include <string>\nstd::vector<int> values;\n", "vector"),
        ("static int hidden = 1;\nint two(int hidden) { return hidden; }\nint three() { return hidden; }\n", "shadow"),
    ],
)
def test_what_a_neighbour_would_hide_is_found_every_time(tree, text, finding):
    (tree / "bench" / "two.cpp").write_text(text)
    for read in (2, 1):
        status, output = tidy(tree)
        assert status == 1
        assert finding in output
        assert output.endswith(f"tidy: 2 sources, {read} read, 1 with findings\n")


def test_a_batch_is_read_as_it_is_compiled(tree):
    """A finding in any source of a batch is reported, and a change of one source rechecks the whole batch."""
    folder = tree / "tests" / "room"
    folder.mkdir(parents=True)
    for i in range(2):
        (folder / f"{i}_test.cpp").write_text(f"int f{i}() {{ return 1; }}\n")
    database = tree / "build" / "tidy" / "compile_commands.json"
    batch = database.parent / "unity_0.cxx"
    batch.write_text("".join(f'#include "{folder}/{i}_test.cpp"\n' for i in range(2)))
    command = f"c++ -std=c++20 -Wall -Wextra -Werror -I{tree} -o batch.o -c {batch}"
    entries = json.loads(database.read_text())
    entries.append({"directory": str(database.parent), "file": str(batch), "command": command})
    database.write_text(json.dumps(entries))
    assert tidy(tree) == (0, "tidy: 4 sources, 4 read, 0 with findings\n")
    (folder / "1_test.cpp").write_text("int b(int unused) { return 1; }\n")
    status, output = tidy(tree)
    assert status == 1
    assert "1_test.cpp:1:11: error: unused parameter" in output
    assert output.endswith("tidy: 4 sources, 2 read, 1 with findings\n")


def test_an_empty_tree_is_no_success(tree):
    (tree / "build" / "tidy" / "compile_commands.json").write_text("[]")
    assert tidy(tree)[0] == 1
