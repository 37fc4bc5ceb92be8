"""Citations of missing files are found; valid ones are accepted."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import check_docs

FILES = {"docs/theory/kernels.md", "widelimit/base/matrix.hpp", "widelimit/kernel/gram.cpp", "tools/values.py"}


def violations(name, text):
    return [what for _, what in check_docs.broken_citations(name, text, FILES, lambda _: {"recursion"})]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("widelimit/kernel/gram.cpp", "/// The state of a pair.   [docs/theory/kernel.md]"),
        ("widelimit/kernel/gram.cpp", "/// The state of a pair.   [docs/theory/kernels.md#recursions]"),
        ("widelimit/kernel/gram.cpp", "/// Row by row (base/matrices.hpp)."),
        ("widelimit/kernel/gram.cpp", "/// Row by row (atrix.hpp)."),
        ("docs/theory/kernels.md", "see `widelimit/base/matrices.hpp`"),
        ("tools/values.py", '"""Checked by tools/value.py."""'),
        ("widelimit/kernel/gram.cpp", "/// The recursion.   [mathematics §1]"),
        ("widelimit/kernel/gram.cpp", "// as interface.md asks"),
        ("tools/values.py", "# the goals of targets.md"),
        ("docs/theory/kernels.md", "the works in ../shared/seeds/"),
    ],
)
def test_a_bad_citation_is_found(name, text):
    assert len(violations(name, text)) == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("widelimit/kernel/gram.cpp", "/// The state of a pair.   [docs/theory/kernels.md#recursion]"),
        ("widelimit/kernel/gram.cpp", "/// Row by row (base/matrix.hpp, matrix.hpp, widelimit/base/matrix.hpp)."),
        ("widelimit/kernel/gram.cpp", 'write("matrices.hpp");'),
        ("docs/theory/kernels.md", "`tools/values.py` and [a link](../missing.md)"),
        ("docs/theory/kernels.md", "Names come from the mathematics; data lie in `../shared/data`."),
    ],
)
def test_a_good_citation_is_left_alone(name, text):
    assert violations(name, text) == []


def test_changelog_and_planted_names_are_not_checked():
    assert not check_docs.citing("CHANGELOG.md")
    assert not check_docs.citing("scripts/tests/test_check_docs.py")
    assert check_docs.citing("widelimit/kernel/gram.cpp")
    assert check_docs.citing("docs/theory/kernels.md")


def test_the_tree_cites_nothing_that_is_missing(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["check_docs.py"])
    assert check_docs.main() == 0, capsys.readouterr().out
