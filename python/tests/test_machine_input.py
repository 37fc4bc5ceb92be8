"""Invalid inputs of machines, and their messages."""

import numpy as np
import pytest

import widelimit as wl

RNG = np.random.default_rng(3)
X = RNG.normal(size=(60, 4))
K = wl.kernel("fc:2", X)
NEW = wl.kernel("fc:2", RNG.normal(size=(25, 4)), X)
SIGNS = np.where(X[:, 0] + 0.5 * RNG.normal(size=60) > 0, 1, -1)
NUMBERS = np.sin(2 * X[:, 0]) + X[:, 1]
THREE = np.argmax(X[:, :3], axis=1)

CLASSIFIERS = {
    "svm": wl.fit_svm,
    "svm2": wl.fit_svm2,
    "hard-svm": wl.fit_hard_svm,
    "logistic": wl.fit_logistic,
}
WITH_LAM = {
    "ridge": wl.fit_ridge,
    "svm": wl.fit_svm,
    "svm2": wl.fit_svm2,
    "svr": wl.fit_svr,
    "logistic": wl.fit_logistic,
}
ALL = {**CLASSIFIERS, **WITH_LAM, "regression": wl.fit_regression}


def with_entry(value):
    k = K.copy()
    k[7, 9] = value
    return k


@pytest.mark.parametrize("machine", ALL)
@pytest.mark.parametrize(
    ("k", "message"),
    [
        (K[:, :50], "square"),
        (K[:50, :50], "50"),
        (np.zeros((0, 0)), "0|empty|no samples"),
        (K[0], "1 dimensions"),
        (with_entry(np.nan), r"\(7, 9\)|nan"),
        (with_entry(np.inf), r"\(7, 9\)|inf"),
        (with_entry(99.0), "symmetric"),
        (K.astype(complex), "complex"),
        (K.astype(str), "dtype"),
        ([[1.0, 2.0], [3.0]], "not an array"),
    ],
)
def test_bad_gram(machine, k, message):
    with pytest.raises(wl.InputError, match=message):
        ALL[machine](k, SIGNS)


@pytest.mark.parametrize("machine", WITH_LAM)
@pytest.mark.parametrize("lam", [-1.0, np.nan, np.inf])
def test_bad_lam(machine, lam):
    with pytest.raises(wl.InputError):
        WITH_LAM[machine](K, SIGNS, lam)
    with pytest.raises(TypeError):
        WITH_LAM[machine](K, SIGNS, "one")


@pytest.mark.parametrize("machine", CLASSIFIERS)
@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.ones(60), "class"),
        (NUMBERS, "not a class label"),
        (np.where(np.arange(60) == 3, np.nan, SIGNS), r"y\[3\] is nan"),
        (SIGNS[:, None], "2 dimensions"),
        (np.array([None, "a"] * 30, dtype=object), "order"),
        ([], "label"),
        ([[1], [1, 2]], "not an array"),
    ],
)
def test_bad_labels(machine, y, message):
    with pytest.raises(wl.InputError, match=message):
        CLASSIFIERS[machine](K, y)


@pytest.mark.parametrize("machine", ["ridge", "regression", "svr"])
@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.where(np.arange(60) == 3, np.nan, NUMBERS), r"y\[3\] is nan"),
        (np.ones((60, 2, 2)), "3 dimensions"),
        (np.ones(60, dtype=complex), "complex|order|class"),
        (NUMBERS[:-1], "59"),
    ],
)
def test_bad_numbers(machine, y, message):
    with pytest.raises(wl.InputError, match=message):
        ALL[machine](K, y)


@pytest.mark.parametrize("machine", ALL)
@pytest.mark.parametrize(
    "weights", [np.ones(59), -np.ones(60), np.zeros(60), np.full(60, np.nan), [], np.ones((60, 1)), ["a"] * 60]
)
def test_bad_weights(machine, weights):
    with pytest.raises(wl.InputError, match="weight"):
        ALL[machine](K, SIGNS, sample_weight=weights)


def test_bad_options():
    with pytest.raises(wl.InputError, match="one-vs-rest"):
        wl.fit_svm(K, THREE, scheme="softmax")
    with pytest.raises(wl.InputError, match="scheme"):
        wl.fit_svm(K, THREE, scheme="nosuch")
    with pytest.raises(wl.InputError):
        wl.fit_svm(K, SIGNS, tolerance=-1.0)
    with pytest.raises(wl.InputError):
        wl.fit_svr(K, NUMBERS, epsilon=-0.1)
    with pytest.raises(wl.InputError):
        wl.fit_ridge(K, NUMBERS, threads=-1)


def test_bad_predictions():
    fit = wl.fit_svm(K, SIGNS)
    with pytest.raises(wl.InputError, match="60"):
        fit.predict(NEW[:, :10])
    with pytest.raises(wl.InputError, match="nan"):
        fit.predict(np.full((1, 60), np.nan))
    with pytest.raises(wl.InputError, match="dimensions"):
        fit.predict(NEW[0])
    with pytest.raises(wl.InputError, match="fit_logistic"):
        fit.predict_proba(NEW)
    assert fit.predict(NEW[:0]).shape == (0,)


def test_outputs_that_overflow_are_no_predictions():
    fit = wl.fit_ridge(K, NUMBERS)
    with pytest.raises(wl.NumericalError, match="test point 1"):
        fit.predict(np.stack([NEW[0], np.sign(fit.alpha) * 1e308]))
