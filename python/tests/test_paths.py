"""Regularisation paths against separate fits and explicit leave-one-out."""

import pickle

import numpy as np
import pytest

import widelimit as wl

RNG = np.random.default_rng(8)
X = RNG.normal(size=(37, 3))
K = wl.kernel("fc:2", X)
NUMBERS = np.stack([np.sin(X[:, 0]), X[:, 1] * X[:, 2]], axis=1)
SIGNS = np.where(X[:, 0] + 0.3 * RNG.normal(size=37) > 0, 1, -1)
THREE = np.argmax(X + 0.3 * RNG.normal(size=X.shape), axis=1)
WEIGHTS = RNG.uniform(0.5, 2, size=37)
LAMS = [1e-3, 10.0, 0.1]  # unsorted


@pytest.mark.parametrize("y", [NUMBERS, NUMBERS[:, 0], np.array(["a", "b", "c"])[THREE], SIGNS > 0])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_points_are_ridge_fits(y, bias, weights):
    path = wl.ridge_path(K, y, LAMS, bias=bias, sample_weight=weights)
    assert len(path) == 3
    assert np.array_equal(path.lams, LAMS)
    for i, (lam, fit) in enumerate(zip(LAMS, path, strict=True)):
        alone = wl.fit_ridge(K, y, lam, bias=bias, sample_weight=weights)
        assert np.allclose(path.alpha(i), alone.alpha, rtol=1e-7, atol=1e-9)
        assert np.allclose(fit.bias, alone.bias, rtol=1e-7, atol=1e-9)
        assert fit.scheme == alone.scheme
        assert np.array_equal(fit.predict(K), alone.predict(K)) or fit.classes_ is None


@pytest.mark.parametrize("y", [NUMBERS, SIGNS])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_leave_one_out_by_brute_force(y, bias, weights):
    path = wl.ridge_path(K, y, LAMS, bias=bias, sample_weight=weights)
    w = np.ones(37) if weights is None else weights
    for i, lam in enumerate(LAMS):
        left_out = np.empty(y.shape)
        for j in range(37):
            rest = np.arange(37) != j
            fit = wl.fit_ridge(
                K[np.ix_(rest, rest)], y[rest], lam, bias=bias, sample_weight=None if weights is None else w[rest]
            )
            left_out[j] = fit.predict(K[j : j + 1, rest])[0]
        assert np.allclose(path.left_out(i), left_out, rtol=1e-6, atol=1e-7)
        squares = ((y - left_out) ** 2).reshape(37, -1).sum(axis=1)
        assert path.loo_error[i] == pytest.approx((w * squares).sum() / w.sum(), rel=1e-6)
        if y is SIGNS:
            missed = (w * (np.sign(left_out) != y)).sum() / w.sum()
            assert path.loo_misclassified[i] == pytest.approx(missed)
    assert path.best == np.argmin(path.loo_error)
    assert (path.loo_misclassified is None) == (y is NUMBERS)


def test_classes_have_missed_shares():
    path = wl.ridge_path(K, np.array(["a", "b", "c"])[THREE], LAMS)
    assert path.loo_misclassified[path.best_classifier] == path.loo_misclassified.min() < 0.5


@pytest.mark.parametrize("machine", ["svm", "svm2"])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(("y", "scheme"), [(SIGNS, None), (THREE, "one-vs-one"), (THREE, "one-vs-rest")])
def test_points_are_svm_fits(machine, bias, y, scheme):
    path = wl.svm_path(K, y, LAMS, machine=machine, bias=bias, scheme=scheme, tolerance=1e-12, sample_weight=WEIGHTS)
    alone = {"svm": wl.fit_svm, "svm2": wl.fit_svm2}[machine]
    for i, lam in enumerate(LAMS):
        fit = alone(K, y, lam, bias=bias, scheme=scheme, tolerance=1e-12, sample_weight=WEIGHTS)
        assert path[i].scheme == fit.scheme
        assert path.alpha(i).shape == fit.alpha.shape
        assert path[i].summary.primal == pytest.approx(fit.summary.primal, rel=1e-9)
        assert np.allclose(path[i].decision_function(K), fit.decision_function(K), atol=1e-4)


def test_pickle():
    path = wl.ridge_path(K, SIGNS, LAMS)
    again = pickle.loads(pickle.dumps(path))
    assert np.array_equal(again.loo_error, path.loo_error)
    assert np.array_equal(again[1].predict(K), path[1].predict(K))
    assert repr(again) == repr(path) == "<RidgePath of 3 λ from 0.001 to 10>"


@pytest.mark.parametrize("path", [wl.ridge_path, wl.svm_path])
@pytest.mark.parametrize("lams", [[], 1.0, [-1.0], [np.nan], ["a"], [[1.0]]])
def test_bad_lams(path, lams):
    with pytest.raises(wl.InputError):
        path(K, SIGNS, lams)


@pytest.mark.parametrize("path", [wl.ridge_path, wl.svm_path])
def test_bad_input(path):
    spoilt = K.copy()
    spoilt[3, 4] = np.nan
    for k, y in ((K[:, :5], SIGNS), (K, SIGNS[:5]), (spoilt, SIGNS), (K, np.full(37, "a"))):
        with pytest.raises(wl.InputError):
            path(k, y, LAMS)
    with pytest.raises(wl.InputError, match="weight"):
        path(K, SIGNS, LAMS, sample_weight=np.ones(3))


def test_bad_options():
    with pytest.raises(wl.InputError, match="svm2"):
        wl.svm_path(K, SIGNS, LAMS, machine="logistic")
    with pytest.raises(wl.InputError, match="one-vs-rest"):
        wl.svm_path(K, THREE, LAMS, scheme="softmax")
