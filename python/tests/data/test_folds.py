"""Folds from files."""

import json

import numpy as np
import pytest

import widelimit as wl


def test_lines_and_json_agree(tmp_path):
    lines = tmp_path / "folds.txt"
    lines.write_text("0 1 2\n3 4\n2 3 4\n0 1\n")
    as_json = tmp_path / "folds.json"
    as_json.write_text(json.dumps([{"train": [0, 1, 2], "test": [3, 4]}, {"train": [2, 3, 4], "test": [0, 1]}]))
    for path in (lines, str(as_json)):
        folds = wl.read_folds(path)
        assert [part.tolist() for fold in folds for part in fold] == [[0, 1, 2], [3, 4], [2, 3, 4], [0, 1]]
        assert folds[0][0].dtype == np.int64


def test_a_search_takes_them(tmp_path):
    selection = pytest.importorskip("sklearn.model_selection")
    random = np.random.default_rng(0)
    x, y = random.normal(size=(20, 3)), np.array(["a", "b"] * 10)
    path = tmp_path / "folds.txt"
    halves = (range(10), range(10, 20))
    path.write_text("\n".join(" ".join(map(str, rows)) for rows in (*halves, *reversed(halves))))
    search = selection.GridSearchCV(wl.NTKClassifier(), {"lam": [0.1, 1.0]}, cv=wl.read_folds(path, y)).fit(x, y)
    assert search.n_splits_ == 2


def test_rows_are_compared_with_the_samples(tmp_path):
    path = tmp_path / "folds.txt"
    path.write_text("0 1\n5\n")
    with pytest.raises(wl.InputError, match="test row 5 of fold 1"):
        wl.read_folds(path, ["a", "b", "a"])
    path.write_text("0 1\n2\n")
    with pytest.warns(wl.DataWarning, match="no fold tests 2 rows of 3"):
        wl.read_folds(path, [0.5, 1.5, 2.5])
    with pytest.warns(wl.DataWarning, match="classes that it does not train on"):
        wl.read_folds(path, ["a", "b", "c"])
    with pytest.raises(wl.InputError, match="one class"):
        wl.read_folds(path, ["a", "a", "b"])
