"""Estimators and models with user-defined pair features."""

import pickle

import numpy as np
import pytest

import widelimit as wl

pytest.importorskip("sklearn")
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

RNG = np.random.default_rng(8)
N = 150  # more than one block of pairs
Y = np.array(["left", "right"])[np.arange(N) % 2]
X = RNG.normal(size=(N, 4)) + 1.2 * (np.arange(N) % 2)[:, None]
X_TEST = RNG.normal(size=(9, 4)) + 0.6


def overlap(a, b):
    return np.minimum(a[:, None, :], b[None, :, :]).sum(axis=2)


def f2(a, b):
    return np.outer(a.max(axis=1), b.max(axis=1))


def classifier(**options):
    settings = dict(machine="ridge", lam=0.3, label_aware="linear1", ratio=0.5, pair_features=[overlap, f2])
    return wl.NTKClassifier("fc:1", **{**settings, **options})


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("machine", ["ridge", "svm"])
def test_an_estimator_is_the_machine_of_its_label_aware_kernel(machine, threads):
    g = classifier(machine=machine, threads=threads).fit(X, Y).decision_function(X_TEST)
    h = wl.label_aware_kernel(
        wl.kernel("fc:1", X),
        Y,
        wl.kernel("fc:1", X_TEST, X),
        x=X,
        x_test=X_TEST,
        ratio=0.5,
        psd="clip",
        features=[overlap, f2],
    )
    precomputed = wl.NTKClassifier(kernel="precomputed", machine=machine, lam=0.3).fit(h.train, Y)
    assert np.allclose(g, precomputed.decision_function(h.test), rtol=1e-9, atol=1e-9)
    assert not np.allclose(g, classifier(machine=machine, pair_features=None).fit(X, Y).decision_function(X_TEST))


def test_the_diagonal_of_test_samples_has_them():
    theta = wl.kernel("fc:1", X)
    h = wl.label_aware_kernel(
        theta, Y, theta[:5], x=X, x_test=X[:5], test_diagonal=theta.diagonal()[:5], features=overlap
    )
    assert np.allclose(h.test_diagonal, h.train.diagonal()[:5], rtol=1e-12)


def test_files_and_pickles_predict_the_same_bits(tmp_path):
    model = classifier().fit(X, Y)
    g = model.decision_function(X_TEST)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).decision_function(X_TEST), g)
    path = tmp_path / "model.h5"
    model.save(path)
    again = wl.NTKClassifier.load(path, pair_features=[overlap, f2])
    assert np.array_equal(again.decision_function(X_TEST), g)
    loaded = wl.load_model(path, pair_features=(overlap, f2))
    assert np.allclose(loaded.decision_function(X_TEST), g, atol=1e-12)
    assert np.array_equal(loaded.predict(X_TEST), model.predict(X_TEST))
    # A saved copy stores their names too.
    again.save(tmp_path / "again.h5")
    assert np.array_equal(
        wl.NTKClassifier.load(tmp_path / "again.h5", pair_features=[overlap, f2]).decision_function(X_TEST), g
    )


def test_models_name_the_functions_that_are_missing(tmp_path):
    path = tmp_path / "model.h5"
    classifier().fit(X, Y).save(path)
    missing = r"2 user-supplied pair features \('overlap', 'f2'\); pass the same functions for prediction"
    for model in (wl.NTKClassifier.load(path), wl.load_model(path)):
        with pytest.raises(wl.InputError, match=missing):
            model.predict(X_TEST)
    assert wl.NTKClassifier.load(path).label_aware_.pair_features == ["overlap", "f2"]
    for wrong, text in ((overlap, "got 'overlap'"), ([f2, overlap], "got 'f2', 'overlap'"), (3, "not int")):
        for load in (wl.NTKClassifier.load, wl.load_model):
            with pytest.raises(wl.InputError, match=text):
                load(path, pair_features=wrong)
    classifier(pair_features=None).fit(X, Y).save(tmp_path / "without.h5")
    classifier(pair_features=None, label_aware=None).fit(X, Y).save(tmp_path / "plain.h5")
    for name in ("without.h5", "plain.h5"):
        with pytest.raises(wl.InputError, match="no user-supplied pair features, but got 'f2'"):
            wl.load_model(tmp_path / name, pair_features=f2)


def test_cross_validation_leaks_nothing():
    y = RNG.integers(0, 2, N)
    scores = cross_val_score(classifier(lam=0.1, ratio=2.0), X, y, cv=5)
    assert abs(scores.mean() - 0.5) < 5 * 0.5 / np.sqrt(N)


def test_searches_and_clones():
    model = classifier()
    assert clone(model).pair_features == [overlap, f2]
    search = GridSearchCV(model, {"pair_features": [None, overlap, [overlap, f2]]}, cv=3).fit(X, Y)
    assert search.best_score_ > 0.8 and not np.isnan(search.cv_results_["mean_test_score"]).any()


@pytest.mark.parametrize("channels_first", [None, True])
def test_functions_read_samples_as_they_were_given(channels_first, tmp_path):
    shape = (2, 6, 5) if channels_first else (6, 5)
    images = RNG.random((40, *shape)).astype(np.float32)
    blocks = set()

    def top_row(a, b):
        blocks.update((block.shape[1:], block.dtype.name) for block in (a, b))
        first = (slice(None), 0, 0) if channels_first else (slice(None), 0)
        assert np.isin(a[first], images[first]).all() and np.isin(b[first], images[first]).all()
        return a[first] @ b[first].T

    model = classifier(channels_first=channels_first, pair_features=top_row).fit(images, np.arange(40) % 2)
    g = model.decision_function(images)
    path = tmp_path / "model.h5"
    model.save(path)
    assert np.array_equal(wl.NTKClassifier.load(path, pair_features=top_row).decision_function(images), g)
    assert np.allclose(wl.load_model(path, pair_features=top_row).decision_function(images), g, atol=1e-6)
    assert blocks == {(shape, "float32")}


def test_sparse_samples():
    sparse = pytest.importorskip("scipy.sparse")
    dense = np.where(X > 0.5, X, 0.0)

    def product(a, b):
        return (a @ b.T) ** 2 if isinstance(a, np.ndarray) else (a @ b.T).toarray() ** 2

    models = [
        classifier(pair_features=product).fit(x, Y).decision_function(x[:9]) for x in (dense, sparse.csr_array(dense))
    ]
    assert np.allclose(*models, atol=1e-6)


def test_refusals():
    for method in ("kr1", "kr2"):
        with pytest.raises(wl.InputError, match="user-supplied pair features need linear or fjlt"):
            classifier(label_aware=method).fit(X, Y)
    with pytest.raises(wl.InputError, match="need a label-aware kernel"):
        classifier(label_aware=None).fit(X, Y)
    with pytest.raises(wl.InputError, match="precomputed"):
        classifier(kernel="precomputed").fit(wl.kernel("fc:1", X), Y)
    with pytest.raises(wl.InputError, match="shape"):
        classifier(pair_features=lambda a, b: np.ones(3)).fit(X, Y)
    with pytest.raises(wl.InputError, match="is nan"):
        classifier(pair_features=lambda a, b: np.full((len(a), len(b)), np.nan)).fit(X, Y)
    with pytest.raises(wl.InputError, match="not symmetric"):
        classifier(pair_features=lambda a, b: np.outer(a[:, 0], np.ones(len(b)))).fit(X, Y)
    with pytest.raises(wl.InputError, match="not str"):
        classifier(pair_features="overlap").fit(X, Y)
    with pytest.raises(ZeroDivisionError):
        classifier(pair_features=lambda a, b: 1 / 0).fit(X, Y)
    model = classifier().fit(X, Y).set_params(pair_features=None)
    with pytest.raises(wl.InputError, match="'overlap', 'f2'"):
        model.predict(X_TEST)
