"""Loading data by name and by file."""

import pickle
import warnings

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
    assert wl.load_data("digits", label="none").y is None
    with pytest.raises(wl.InputError, match="has no column or array 'y'"):
        wl.load_data("digits", label="y")


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


def sorted_table(path):
    rows = [f"{2 * i},{i % 7},{'xyz'[i // 20]}" for i in range(60)]
    path.write_text("\n".join(["a,b,kind", *rows]) + "\n")
    return path


def test_split_of_a_sorted_file_has_every_class(tmp_path):
    path = sorted_table(tmp_path / "sorted.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        train, test = wl.load_train_test(path, split=0.8)
    assert np.bincount(test.y).tolist() == [4, 4, 4]
    assert np.bincount(train.y).tolist() == [16, 16, 16]
    again, _ = wl.load_train_test(path, split=0.8, seed=0)
    other, _ = wl.load_train_test(path, split=0.8, seed=1)
    assert np.array_equal(train.x, again.x)
    assert not np.array_equal(train.x, other.x)
    with pytest.warns(wl.DataWarning, match="no sample of class x, y"):
        train, test = wl.load_train_test(path, split=0.8, split_order="file")
    assert test.x[0, 0] == 2 * 48
    assert "no sample of class x, y" in train.notes[0]
    with pytest.raises(wl.InputError, match="stratified, file"):
        wl.load_train_test(path, split=0.8, split_order="random")


def test_classes_beyond_a_limit_are_left_out(tmp_path):
    with pytest.warns(wl.DataWarning, match="class z"):
        data = wl.load_data(sorted_table(tmp_path / "sorted.csv"), limit=30)
    assert data.class_names == ["x", "y"]


def test_arrays_of_both_parts(tmp_path):
    path = tmp_path / "both.npz"
    x = np.arange(12.0).reshape(6, 2)
    np.savez(path, x_train=x[:4], y_train=[0, 1, 0, 1], x_test=x[4:], y_test=[1, 0])
    train, test = wl.load_train_test(path, path)
    assert np.array_equal(train.x, x[:4])
    assert np.array_equal(test.x, x[4:])
    assert test.y.tolist() == [1, 0]
    np.savez(path, x=x, x_train=x, y=[0, 1] * 3)
    with pytest.raises(wl.InputError, match="x, x_train, y"):
        wl.load_data(path)
    assert wl.load_data(f"{path}(x=x_train,label=y)").x.shape == (6, 2)


def test_tasks(tmp_path):
    path = tmp_path / "ages.csv"
    path.write_text("".join(f"{i},{20 + i % 30}\n" for i in range(60)))
    with pytest.warns(wl.DataWarning, match="regression"):
        assert wl.load_data(path).y.dtype == np.float64
    assert wl.load_data(path, task="classification").y.dtype == np.int64
    assert wl.load_data(path, task="regression").y[1] == 21


def test_tables(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,a,colour,y\n1,1,red,0\n2,,blue,1\n3,5,?,1\n")
    with pytest.raises(wl.InputError, match="missing='drop'"):
        wl.load_data(path)
    data = wl.load_data(path, drop="id", missing="mean")
    assert data.feature_names == ["a", "colour=blue", "colour=red"]
    assert data.x.tolist() == [[1, 0, 1], [3, 1, 0], [5, 1, 0]]
    with pytest.warns(wl.DataWarning, match="2 of 3 rows"):
        assert len(wl.load_data(path, missing="drop").x) == 1
    assert wl.load_data(path, columns=["id"], missing="mean").x.shape == (3, 1)
    assert wl.load_data(path, columns=["id"], categorical=["id"], missing="mean").x.shape == (3, 3)
    copy = pickle.loads(pickle.dumps(data))
    assert copy.feature_names == data.feature_names
    assert copy.class_names == ["0", "1"]


def test_several_labels(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text("y,a,b,z\n" + "".join(f"{i},{i % 7},{i % 5},{0.5 * i}\n" for i in range(30)))
    train, test = wl.load_train_test(path, split=0.8, label="y,z")
    assert train.y.shape == (24, 2)
    assert np.array_equal(test.y[:, 0], 2 * test.y[:, 1])
    assert train.feature_names == ["a", "b"]
    machine = wl.NTKRegressor("fc:1", machine="ridge", lam=0.1).fit(train.x, train.y)
    assert machine.predict(test.x).shape == (6, 2)


def test_parts_of_a_model(tmp_path):
    path = sorted_table(tmp_path / "sorted.csv")
    train, test = wl.load_train_test(path, split=0.8, seed=3)
    machine = wl.NTKClassifier("fc:1", machine="ridge", lam=0.1).fit(train.x, train.y)
    machine.save(tmp_path / "m.h5", data=train)
    model = wl.load_model(tmp_path / "m.h5")
    assert model.origin["split"] == {"fraction": 0.8, "order": "stratified", "seed": 3}
    assert model.classes_.tolist() == ["x", "y", "z"]
    for part, then in (("train", train), ("test", test)):
        found = wl.load_data(path, model=model, part=part)
        assert np.array_equal(found.x, then.x)
        assert np.array_equal(found.y, then.y)
        assert np.array_equal(model.predict(found.x) == model.classes_[found.y], machine.predict(then.x) == then.y)
    with pytest.warns(wl.DataWarning, match="trained on some of these"):
        assert len(wl.load_data(path, model=model).x) == 60
    turned = tmp_path / "turned.csv"
    turned.write_text("b,a\n3,1\n4,2\n")
    found = wl.load_data(turned, model=model)
    assert found.y is None
    assert found.x.tolist() == [[1, 3], [2, 4]]
    turned.write_text("b,c\n3,1\n")
    with pytest.raises(wl.InputError, match="missing: a"):
        wl.load_data(turned, model=model)
    with pytest.raises(wl.InputError, match="not the source"):
        wl.load_data("digits", model=model, part="test")
    with pytest.raises(wl.InputError, match="scale="):
        wl.load_data(path, model=model, scale="unit")
    with pytest.raises(wl.InputError, match="model="):
        wl.load_data(path, part="test")
    with pytest.raises(wl.InputError, match="unscaled"):
        machine.save(tmp_path / "m.h5", data=wl.load_data(path, scale="unit"))


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
        ("graphs:NOSUCH", {}),
    ],
)
def test_bad_requests(spec, options):
    with pytest.raises(wl.InputError):
        wl.load_data(spec, **options)
    with pytest.raises(wl.InputError):
        wl.load_train_test("digits", "digits", split=0.5)
