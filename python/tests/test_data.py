"""Data by name and by file."""

import numpy as np
import pytest

import widelimit as wl


def test_digits():
    x, y, names = wl.load_data("digits")
    assert x.shape == (1797, 8, 8, 1)
    assert y.shape == (1797,)
    assert y.dtype == np.int64
    assert names == [str(digit) for digit in range(10)]
    assert np.bincount(y).min() > 170


def test_options():
    data = wl.load_data("digits", classes=["3", 8], limit=50, shuffle=1, scale="unit")
    assert data.x.shape == (50, 8, 8, 1)
    assert set(data.y) == {0, 1}
    assert data.class_names == ["3", "8"]
    assert np.allclose(np.linalg.norm(data.x.reshape(50, -1), axis=1), 1, rtol=1e-6)
    again = wl.load_data("digits", classes="3, 8", limit=50, shuffle=1, scale="unit")
    assert np.array_equal(data.x, again.x)


def test_file_with_classes(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,kind\n1,2,cat\n3,4,dog\n5,6,cat\n")
    x, y, names = wl.load_data(path)
    assert x.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert y.tolist() == [0, 1, 0]
    assert names == ["cat", "dog"]


def test_file_with_targets_or_nothing(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("0.5,1,2\n1.5,3,4\n")
    x, y, names = wl.load_data(path, label=0)
    assert x.tolist() == [[1, 2], [3, 4]]
    assert y.tolist() == [0.5, 1.5]
    assert names == []
    assert wl.load_data(path, label="none").y is None


def test_arrays_outlive_their_set():
    x = wl.load_data("spirals(n=300,noise=0.1)").x
    copy = x.copy()
    wl.load_data("spirals(n=300,noise=0.2)")
    assert np.array_equal(x, copy)


def test_train_and_test():
    train, test = wl.load_train_test("digits", split=0.8, shuffle=0, scale="standard", limit=100, test_limit=20)
    assert len(train.x) == len(train.y) == 100
    assert len(test.x) == len(test.y) == 20
    assert train.class_names == test.class_names
    assert wl.load_train_test("spirals")[1] is None


def test_kernel_of_data():
    x, y, _ = wl.load_data("digits", limit=40, scale="unit")
    k = wl.kernel("fc:2", x)
    assert k.shape == (40, 40)
    assert len(y) == 40


@pytest.mark.parametrize(
    ("spec", "options"),
    [
        ("nosuch", {}),
        ("nosuch.csv", {}),
        ("digits", {"classes": [77]}),
        ("digits", {"scale": "huge"}),
        ("digits", {"limit": -1}),
        ("spirals(n=", {}),
        ("graphs:MUTAG", {}),
    ],
)
def test_bad_requests(spec, options):
    with pytest.raises(wl.InputError):
        wl.load_data(spec, **options)
    with pytest.raises(wl.InputError):
        wl.load_train_test("digits", "digits", split=0.5)
