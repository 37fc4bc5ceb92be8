"""Contents of the installed package."""

import ast
import importlib.metadata
import inspect
import re
from pathlib import Path

import widelimit as wl

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(wl.__file__).parent


def test_version():
    expected = re.search(r"project\(widelimit VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
    assert wl.__version__ == expected == importlib.metadata.version("widelimit")


def test_stubs_are_installed():
    assert (FOLDER / "py.typed").is_file()
    stub = ast.parse((FOLDER / "_core.pyi").read_text(encoding="utf-8"))
    named = {node.name for node in stub.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    assert {name for name in dir(wl._core) if not name.startswith("_")} == named


def test_wheel_lists_its_files():
    files = {str(path) for path in importlib.metadata.files("widelimit")}
    assert {"widelimit/_core.pyi", "widelimit/py.typed", "widelimit/__init__.py"} <= files
    assert not [name for name in files if "test" in name or name.endswith((".hpp", ".a"))]


def test_everything_public_is_documented():
    for name in wl.__all__:
        assert name == "__version__" or getattr(wl, name).__doc__, name
    assert not inspect.ismodule(getattr(wl, "kernel", None))


def test_backends():
    there = {backend.name: backend for backend in wl.backends()}
    assert there["cpu"].present
    assert there["reference"].present
    assert all(backend.detail for backend in there.values())
    assert "cpu" in repr(there["cpu"])
