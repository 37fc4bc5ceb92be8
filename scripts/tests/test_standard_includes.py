"""A missing header is found; one provided by a header of the tree is accepted."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parent.parent / "standard_includes.py"


def check(root, texts):
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    result = subprocess.run([sys.executable, str(SCRIPT), str(root)], capture_output=True, text=True)
    return result.returncode, result.stdout


def test_a_missing_header_is_named_once(tmp_path):
    text = "#include <string>\nstd::string a;\nstd::vector<int> b;\nstd::vector<int> c;  // std::map\n"
    assert check(tmp_path, {"widelimit/a.cpp": text}) == (1, "widelimit/a.cpp:3: std::vector without <vector>\n")


def test_headers_of_the_tree_bring_theirs(tmp_path):
    texts = {
        "widelimit/room/b.hpp": "#include <vector>\n",
        "widelimit/room/a.hpp": '#include "b.hpp"\n',
        "widelimit/room/a.cpp": '#include "widelimit/room/a.hpp"\nstd::vector<int> b;\nauto c = "std::map";\n',
    }
    assert check(tmp_path, texts) == (0, "")


def test_string_brings_string_view(tmp_path):
    assert check(tmp_path, {"app/a.cpp": "#include <string>\nstd::string_view a;\n"}) == (0, "")
