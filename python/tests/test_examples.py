"""Runs all examples of the docstrings and of the manual as doctests."""

import doctest
from pathlib import Path

import pytest

import widelimit as wl

ROOT = Path(__file__).resolve().parents[2]


def documented():
    yield "widelimit", wl.__doc__
    for name in wl.__all__:
        value = getattr(wl, name)
        if isinstance(value, str):
            continue
        yield name, value.__doc__
        if isinstance(value, type):
            for member, attribute in vars(value).items():
                if not member.startswith("_"):
                    yield f"{name}.{member}", getattr(attribute, "__doc__", None)


EXAMPLES = [(name, doc) for name, doc in documented() if doc and ">>>" in doc]


@pytest.mark.parametrize(("name", "doc"), EXAMPLES, ids=[name for name, _ in EXAMPLES])
def test_docstring(name, doc):
    test = doctest.DocTestParser().get_doctest(doc, {}, name, None, None)
    report = []
    runner = doctest.DocTestRunner()
    runner.run(test, out=report.append)
    assert runner.failures == 0, "".join(report)


def test_every_function_has_an_example():
    shown = {name for name, _ in EXAMPLES}
    functions = {name for name in wl.__all__ if callable(getattr(wl, name)) and not isinstance(getattr(wl, name), type)}
    assert functions | {"Network"} <= shown


def test_manual():
    failures, tried = doctest.testfile(str(ROOT / "docs" / "python.md"), module_relative=False)
    assert tried > 20
    assert failures == 0
