"""Model files of estimators and of the command line."""

import shutil
import subprocess

import numpy as np
import pytest

import widelimit as wl

X, Y, _ = wl.load_data("digits", limit=200)
X = X.reshape(len(X), 64) / 16
NAMES = np.array(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"])


@pytest.mark.parametrize(
    "labels",
    [Y, Y.astype(np.int8), Y.astype(float), NAMES[Y], NAMES[Y].astype(object), Y > 4],
    ids=["int", "int8", "float", "text", "object", "bool"],
)
def test_classes_of_any_type(tmp_path, labels):
    model = wl.NTKClassifier("fc:2", lam=0.1, bias=True, probability=True).fit(X[:150], labels[:150])
    model.save(tmp_path / "m.h5")
    again = wl.NTKClassifier.load(tmp_path / "m.h5")
    assert (again.predict(X[150:]) == model.predict(X[150:])).all()
    assert again.predict(X[150:]).dtype == model.predict(X[150:]).dtype
    assert np.array_equal(again.predict_proba(X[150:]), model.predict_proba(X[150:]))
    assert np.array_equal(again.decision_function(X[150:]), model.decision_function(X[150:]))
    assert again.get_params()["lam"] == 0.1
    assert again.bias is True


@pytest.mark.parametrize("machine", ["ridge", "svr"])
@pytest.mark.parametrize("columns", [None, 1, 2])
def test_numbers(tmp_path, machine, columns):
    y = X[:, 10] if columns is None else X[:, 10 : 10 + columns]
    model = wl.NTKRegressor("fc:2", machine=machine, lam=0.01).fit(X[:150], y[:150])
    model.save(tmp_path / "m.h5")
    again = wl.NTKRegressor.load(tmp_path / "m.h5")
    assert np.array_equal(again.predict(X[150:]), model.predict(X[150:]))


def test_images(tmp_path):
    images = X.reshape(-1, 8, 8, 1)
    whole = wl.NTKClassifier("cntk:1", machine="ridge").fit(images[:30], Y[:30])
    rows = wl.NTKClassifier("cntk:1", machine="ridge", input_shape=(8, 8, 1)).fit(X[:30], Y[:30])
    for model, new in ((whole, images[30:40]), (rows, X[30:40])):
        model.save(tmp_path / "m.h5")
        again = wl.NTKClassifier.load(tmp_path / "m.h5", threads=1)
        assert np.array_equal(again.predict(new), model.predict(new))
        assert again.threads == 1


def test_what_cannot_be_written_or_read(tmp_path):
    k = wl.kernel("fc:2", X[:50])
    with pytest.raises(wl.InputError, match="precomputed"):
        wl.NTKClassifier(kernel="precomputed").fit(k, Y[:50]).save(tmp_path / "m.h5")
    pairs = np.empty(50, dtype=object)
    pairs[:] = [(int(c), 0) for c in Y[:50]]
    with pytest.raises((wl.InputError, ValueError)):
        wl.NTKClassifier("fc:2").fit(X[:50], pairs).save(tmp_path / "m.h5")
    wl.NTKRegressor("fc:2").fit(X[:50], X[:50, 1]).save(tmp_path / "n.h5")
    with pytest.raises(wl.InputError, match="other estimator"):
        wl.NTKClassifier.load(tmp_path / "n.h5")
    (tmp_path / "broken.h5").write_bytes(b"no model")
    with pytest.raises(wl.InputError):
        wl.NTKClassifier.load(tmp_path / "broken.h5")
    assert not (tmp_path / "m.h5").exists()


@pytest.mark.parametrize(
    "options",
    [dict(machine="logistic"), dict(probability=True), dict(probability=True, scheme="one-vs-rest")],
    ids=repr,
)
@pytest.mark.parametrize("classes", [2, 10])
def test_probabilities_after_loading(tmp_path, options, classes):
    kept = np.isin(Y, range(classes))
    model = wl.NTKClassifier("fc:1", lam=0.1, **options).fit(X[kept], NAMES[Y[kept]])
    model.save(tmp_path / "m.h5")
    again = wl.load_model(tmp_path / "m.h5")
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert np.array_equal(again.classes_, model.classes_)


def test_no_probabilities_after_loading(tmp_path):
    wl.NTKClassifier("fc:1").fit(X, Y).save(tmp_path / "m.h5")
    wl.NTKRegressor("fc:1").fit(X, X[:, 5]).save(tmp_path / "n.h5")
    for name in ("m.h5", "n.h5"):
        with pytest.raises(wl.InputError, match="no probabilities"):
            wl.load_model(tmp_path / name).predict_proba(X)


def test_names_of_files_say_hdf5(tmp_path):
    model = wl.NTKClassifier("fc:1").fit(X, Y)
    with pytest.raises(wl.InputError, match=r"\.h5 or \.hdf5"):
        model.save(tmp_path / "m.npz")
    model.save(tmp_path / "m.hdf5")
    assert [path.name for path in tmp_path.iterdir()] == ["m.hdf5"]


@pytest.mark.skipif(shutil.which("widelimit") is None, reason="the command line is not on the path")
def test_command_line_reads_and_writes_the_same_files(tmp_path):
    model = wl.NTKClassifier("fc:2", lam=0.1).fit(X[:150] * 16, Y[:150])
    model.save(tmp_path / "m.h5")
    table = tmp_path / "p.csv"
    words = ["widelimit", "predict", "--model", tmp_path / "m.h5", "--test", "digits", "--limit", "200", "--out", table]
    subprocess.run(words, check=True, capture_output=True)
    told = [line.split(",")[1] for line in table.read_text().splitlines()[1:]]
    assert [int(c) for c in told] == model.predict(X * 16).tolist()
    words = ["widelimit", "fit", "--network", "fc:2", "--train", "digits", "--limit", "150", "--lambda", "0.1"]
    subprocess.run([*words, "--out", tmp_path / "c.h5"], check=True, capture_output=True)
    again = wl.NTKClassifier.load(tmp_path / "c.h5")
    assert np.mean(again.predict(X[150:] * 16) == Y[150:]) > 0.8
