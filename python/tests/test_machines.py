"""Machines against reference solvers and optimality conditions."""

import gc
import pickle
import tracemalloc
import warnings
from fractions import Fraction

import numpy as np
import pytest

import widelimit as wl

RNG = np.random.default_rng(3)
X = RNG.normal(size=(60, 4))
K = wl.kernel("fc:2", X)
NEW = wl.kernel("fc:2", RNG.normal(size=(25, 4)), X)
SIGNS = np.where(X[:, 0] + 0.5 * RNG.normal(size=60) > 0, 1, -1)
NUMBERS = np.sin(2 * X[:, 0]) + X[:, 1]
THREE = np.argmax(X[:, :3] + 0.3 * RNG.normal(size=(60, 3)), axis=1)
WEIGHTS = RNG.uniform(0.1, 3, size=60)

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


def separable():
    signs = np.where(NUMBERS > 0, 1, -1)
    return K + 1e-3 * np.eye(60), signs


# Reference solvers


@pytest.mark.parametrize("lam", [1e-3, 0.1, 1.0])
def test_svm_beside_svc(lam):
    svm = pytest.importorskip("sklearn.svm")
    theirs = svm.SVC(C=1 / lam, kernel="precomputed", tol=1e-10).fit(K, SIGNS)
    ours = wl.fit_svm(K, SIGNS, lam, bias=True, tolerance=1e-12)
    assert np.allclose(ours.decision_function(NEW), theirs.decision_function(NEW), rtol=0, atol=1e-6)
    assert np.array_equal(ours.predict(NEW), theirs.predict(NEW))
    assert ours.bias == pytest.approx(theirs.intercept_[0], abs=1e-6)


def test_weighted_svm_beside_svc():
    svm = pytest.importorskip("sklearn.svm")
    theirs = svm.SVC(C=5.0, kernel="precomputed", tol=1e-10).fit(K, SIGNS, sample_weight=WEIGHTS)
    ours = wl.fit_svm(K, SIGNS, 0.2, bias=True, sample_weight=WEIGHTS, tolerance=1e-12)
    assert np.allclose(ours.decision_function(NEW), theirs.decision_function(NEW), rtol=0, atol=1e-6)


def test_one_vs_one_beside_svc():
    svm = pytest.importorskip("sklearn.svm")
    theirs = svm.SVC(C=10.0, kernel="precomputed", tol=1e-10, decision_function_shape="ovo").fit(K, THREE)
    ours = wl.fit_svm(K, THREE, 0.1, bias=True, tolerance=1e-12)
    assert ours.scheme == "one-vs-one"
    assert ours.alpha.shape == (60, 3)
    assert np.allclose(ours.decision_function(NEW), theirs.decision_function(NEW), rtol=0, atol=1e-6)


def test_equal_votes_beside_svc():
    svm = pytest.importorskip("sklearn.svm")
    # Classes on a circle in the plane, and points near the centre, where votes tie.
    random = np.random.default_rng(5)
    angles = 2 * np.pi * np.arange(5) / 5
    y = np.repeat(np.arange(5), 12)
    x = np.stack([np.cos(angles), np.sin(angles)], axis=1)[y] + 0.8 * random.normal(size=(60, 2))
    new = 0.4 * random.normal(size=(400, 2))
    theirs = svm.SVC(C=1.0, kernel="linear", tol=1e-10).fit(x, y).predict(new)
    ours = wl.fit_svm(x @ x.T, y, 1.0, bias=True, tolerance=1e-12, scheme="one-vs-one-first")
    assert ours.scheme == "one-vs-one-first"
    assert np.array_equal(ours.predict(new @ x.T), theirs)
    by_sums = wl.fit_svm(x @ x.T, y, 1.0, bias=True, tolerance=1e-12)
    assert np.any(by_sums.predict(new @ x.T) != theirs)


def test_svr_beside_svr():
    svm = pytest.importorskip("sklearn.svm")
    theirs = svm.SVR(C=4.0, epsilon=0.2, kernel="precomputed", tol=1e-10).fit(K, NUMBERS)
    ours = wl.fit_svr(K, NUMBERS, 0.25, 0.2, bias=True, tolerance=1e-12)
    assert np.allclose(ours.predict(NEW), theirs.predict(NEW), rtol=0, atol=1e-6)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_ridge_beside_kernel_ridge(weights):
    ridge = pytest.importorskip("sklearn.kernel_ridge")
    several = np.stack([NUMBERS, SIGNS], axis=1)
    theirs = ridge.KernelRidge(alpha=0.3 / 2, kernel="precomputed").fit(K, several, sample_weight=weights)
    ours = wl.fit_ridge(K, several, lam=0.3, sample_weight=weights)
    assert np.allclose(ours.predict(NEW), theirs.predict(NEW), rtol=1e-9, atol=1e-9)
    assert np.allclose(wl.fit_ridge(K, NUMBERS, 0.3, sample_weight=weights).alpha, ours.alpha[:, 0], atol=1e-9)


# Optimality conditions


def test_ridge_by_definition():
    assert np.allclose(wl.fit_ridge(K, NUMBERS).alpha, np.linalg.solve(K + 0.5 * np.eye(60), NUMBERS), rtol=1e-9)
    regular = K + 0.1 * np.eye(60)
    assert np.allclose(wl.fit_regression(regular, NUMBERS).alpha, np.linalg.solve(regular, NUMBERS), rtol=1e-8)
    with_bias = wl.fit_ridge(K, NUMBERS, 0.2, bias=True)
    assert abs(with_bias.alpha.sum()) < 1e-8
    assert np.allclose(K @ with_bias.alpha + with_bias.bias + 0.1 * with_bias.alpha, NUMBERS, atol=1e-8)


@pytest.mark.parametrize("lam", [1e-3, 0.1, 10.0])
def test_homogeneous_svm_is_optimal(lam):
    fit = wl.fit_svm(K, SIGNS, lam, tolerance=1e-10)
    a = fit.alpha * SIGNS
    margin = SIGNS * (K @ fit.alpha)
    assert fit.bias == 0
    assert np.all((a >= 0) & (a <= 1 / lam * (1 + 1e-12)))
    assert np.all(margin[a == 0] > 1 - 1e-4)
    assert np.all(margin[a >= 1 / lam] < 1 + 1e-4)
    primal = lam / 2 * fit.alpha @ K @ fit.alpha + np.maximum(0, 1 - margin).sum()
    assert fit.summary.primal == pytest.approx(primal, rel=1e-9)
    assert fit.summary.gap < 1e-10


def test_svm2_is_optimal():
    fit = wl.fit_svm2(K, SIGNS, 0.3, tolerance=1e-12)
    slack = np.maximum(0, 1 - SIGNS * (K @ fit.alpha))
    assert np.allclose(0.3 * fit.alpha * SIGNS, 2 * slack, atol=1e-4)


def test_logistic_is_optimal():
    for bias in (False, True):
        fit = wl.fit_logistic(K, SIGNS, 0.3, bias=bias, sample_weight=WEIGHTS)
        g = fit.decision_function(K)
        assert np.allclose(0.3 * fit.alpha, WEIGHTS * SIGNS / (1 + np.exp(SIGNS * g)), atol=1e-5)
        assert bias == (fit.bias != 0)


def test_softmax_is_optimal():
    fit = wl.fit_logistic(K, THREE, 0.3)
    p = fit.predict_proba(K)
    assert fit.scheme == "softmax"
    assert np.allclose(p.sum(axis=1), 1)
    assert np.allclose(0.3 * fit.alpha, np.eye(3)[THREE] - p, atol=1e-4)
    assert np.array_equal(fit.predict(K), np.argmax(p, axis=1))


def test_hard_margin():
    k, signs = separable()
    fit = wl.fit_hard_svm(k, signs)
    assert fit.summary.converged
    margin = signs * (k @ fit.alpha)
    assert margin.min() > 1 - 1e-4
    assert np.allclose(margin[fit.support], 1, atol=1e-2)


# Types of y


@pytest.mark.parametrize(
    "names",
    [
        np.array(["no", "yes"]),
        np.array([False, True]),
        np.array([-1.0, 1.0]),
        np.array([3, 8], dtype=np.uint8),
        np.array(["a", "bb"], dtype=object),
        np.array([b"x", b"y"]),
        np.array(["2020-01-01", "2021-01-01"], dtype="M8[D]"),
    ],
)
@pytest.mark.parametrize("machine", CLASSIFIERS)
def test_any_names_of_classes(machine, names):
    k, signs = separable()
    y = names[(signs > 0).astype(int)]
    fit = CLASSIFIERS[machine](k, y)
    plain = CLASSIFIERS[machine](k, signs)
    assert np.array_equal(fit.alpha, plain.alpha)
    assert fit.classes_.dtype == y.dtype
    assert np.array_equal(fit.predict(NEW), names[(plain.predict(NEW) > 0).astype(int)])
    assert np.array_equal(CLASSIFIERS[machine](k, y.tolist()).alpha, fit.alpha)


def test_ridge_of_classes():
    names = np.array(["a", "b", "c"])[THREE]
    fit = wl.fit_ridge(K, names, 0.1)
    assert fit.scheme == "one-hot"
    assert np.allclose(fit.alpha, wl.fit_ridge(K, np.eye(3)[THREE], 0.1).alpha)
    assert np.array_equal(wl.fit_ridge(K, THREE, 0.1, classify=True).alpha, fit.alpha)
    assert set(fit.predict(NEW)) <= {"a", "b", "c"}
    two = wl.fit_ridge(K, SIGNS > 0, 0.1)
    assert np.array_equal(two.alpha, wl.fit_ridge(K, SIGNS, 0.1).alpha)
    assert two.predict(NEW).dtype == bool
    with pytest.raises(wl.InputError, match="real numbers"):
        wl.fit_ridge(K, names, classify=False)


@pytest.mark.parametrize("scheme", ["one-vs-one", "one-vs-rest"])
@pytest.mark.parametrize("machine", ["svm", "svm2"])
def test_schemes(machine, scheme):
    fit = CLASSIFIERS[machine](K, THREE, scheme=scheme)
    assert fit.scheme == scheme
    assert (fit.predict(K) == THREE).mean() > 0.8


# Results


def test_summary():
    summary = wl.fit_svm(K, SIGNS).summary
    assert summary.converged
    assert summary.ending == "converged"
    assert summary.objective == summary.primal >= summary.dual
    assert summary.iterations > 0
    assert summary.seconds > 0
    assert summary.memory > 0
    assert summary.method
    assert wl.fit_ridge(K, NUMBERS).summary.condition > 1


def test_pickle():
    for fit in (wl.fit_svm(K, THREE), wl.fit_ridge(K, NUMBERS), wl.fit_logistic(K, SIGNS)):
        again = pickle.loads(pickle.dumps(fit))
        assert np.array_equal(again.predict(NEW), fit.predict(NEW))
        assert again.summary == fit.summary
        assert repr(again) == repr(fit)


def test_support_is_all_that_is_needed():
    fit = wl.fit_svm(K, SIGNS, 0.01)
    assert 0 < len(fit.support) < 60
    part = NEW[:, fit.support] @ fit.alpha[fit.support]
    assert np.allclose(part, fit.decision_function(NEW))


def test_numerical_endings_are_warnings_at_the_call():
    singular = np.ones((4, 4))
    with pytest.warns(wl.ConvergenceWarning, match="regression") as caught:
        fit = wl.fit_regression(singular, [1.0, 2.0, 3.0, 4.0])
    assert caught[0].filename == __file__
    assert fit.summary.ending == "not positive definite"
    assert np.isfinite(fit.alpha).all()
    with pytest.warns(wl.ConvergenceWarning) as caught:
        fit = wl.fit_hard_svm(singular, [1, -1, 1, -1])
    assert caught[0].filename == __file__
    assert fit.summary.ending == "not separable"
    with pytest.warns(wl.ConvergenceWarning, match=r"λ = 0 ") as caught:
        path = wl.ridge_path(-np.eye(3), [1.0, 2.0, 4.0], [0.0, 1.0, 8.0])
    assert caught[0].filename == __file__
    assert np.isinf(path.loo_error[:2]).all()
    assert path.best == 2
    assert issubclass(wl.ConvergenceWarning, UserWarning)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("y", [SIGNS[:6], np.arange(6) % 3])
@pytest.mark.parametrize("machine", CLASSIFIERS)
def test_an_indefinite_gram_is_not_fitted(machine, y, dtype):
    k = -np.eye(6, dtype=dtype)
    y = np.array([1, -1, 1, -1, 1, -1]) if len(set(y)) < 3 else y
    with pytest.warns(wl.ConvergenceWarning, match="negative eigenvalue.*diagonal"):
        fit = CLASSIFIERS[machine](k, y)
    assert fit.summary.ending == "not positive definite"
    assert fit.summary.gap is None
    assert not fit.alpha.any()
    with pytest.warns(wl.ConvergenceWarning, match="negative eigenvalue"):
        assert CLASSIFIERS[machine](k, y, check_definite=False).summary.ending == "not positive definite"


def test_an_indefinite_gram_elsewhere():
    k = np.diag([1.0, 2.0, -1e-6])
    with pytest.warns(wl.ConvergenceWarning, match="negative eigenvalue"):
        assert wl.fit_svr(k, [1.0, 2.0, 3.0]).summary.ending == "not positive definite"
    with pytest.warns(wl.ConvergenceWarning, match="negative eigenvalue"):
        path = wl.svm_path(k, [1, -1, 1], [0.1, 1.0])
    assert all(fit.summary.ending == "not positive definite" for fit in path)
    with pytest.raises(wl.NumericalError, match="negative eigenvalue"):
        wl.gaussian_process(k, [1.0, 2.0, 3.0], 1.0)
    assert wl.fit_ridge(-np.eye(3), [1.0, 2.0, 4.0], 8.0).summary.gap is None


def test_gap_counts_rounding():
    """With coefficients of 1e12 and margins of 1, plain float64 products have errors of 1e-4."""
    k = np.array([[1.0, 1.0, 0.5], [1.0, 1.0 + 1e-11, 0.5], [0.5, 0.5, 1.0]])
    y = np.array([1, -1, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wl.ConvergenceWarning)
        fit = wl.fit_svm(k, y, 1e-13)
    exact = [[Fraction(float(x)) for x in row] for row in k]
    alpha, lam = [Fraction(float(a)) for a in fit.alpha], Fraction(1e-13)
    g = [sum(a * x for a, x in zip(alpha, row, strict=True)) for row in exact]
    primal = lam / 2 * sum(a * x for a, x in zip(alpha, g, strict=True))
    primal += sum(max(Fraction(0), 1 - int(s) * x) for s, x in zip(y, g, strict=True))
    dual = lam * sum(abs(a) for a in alpha) - lam / 2 * sum(a * x for a, x in zip(alpha, g, strict=True))
    assert primal - dual <= Fraction(fit.summary.gap) * primal
    # Half an ulp of a coefficient of 2e11 changes the objective by 7.6e-4.
    assert fit.summary.gap <= 7.6e-4


@pytest.mark.parametrize("lam", [1e-12, 1e12])
@pytest.mark.parametrize("machine", WITH_LAM)
def test_extreme_lam(machine, lam):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wl.ConvergenceWarning)
        fit = WITH_LAM[machine](K, SIGNS, lam)
    assert np.isfinite(fit.alpha).all()
    assert np.isfinite(fit.decision_function(NEW)).all()


@pytest.mark.parametrize("machine", ["ridge", "svr", "regression"])
def test_one_sample(machine):
    fit = ALL[machine]([[2.0]], [3.0])
    assert fit.alpha.shape == (1,)
    assert np.isfinite(fit.alpha[0])


# Memory


def peak_of(call):
    gc.collect()
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("machine", ["ridge", "svm", "logistic"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gram_is_not_copied(machine, dtype):
    k = (np.eye(500) + 0.1).astype(dtype)
    y = np.where(np.arange(500) % 2, 1, -1)
    fits = []
    assert peak_of(lambda: fits.append(ALL[machine](k, y))) < 150_000
    assert peak_of(lambda: fits[0].predict(k)) < 150_000
    wide = np.zeros((500, 700), dtype=dtype)
    wide[:, :500] = k
    assert peak_of(lambda: fits.append(ALL[machine](wide[:, :500], y))) < 150_000
    assert np.array_equal(fits[0].alpha, fits[1].alpha)


def test_other_layouts():
    alpha = wl.fit_svm(K, SIGNS).alpha
    for k in (np.asfortranarray(K), K[::-1].copy()[::-1], K.astype(np.longdouble), K.tolist(), K.astype(">f8")):
        assert np.allclose(wl.fit_svm(k, SIGNS).alpha, alpha)
    frozen = K.copy()
    frozen.setflags(write=False)
    assert np.array_equal(wl.fit_svm(frozen, SIGNS).alpha, alpha)


def test_stored_gram(tmp_path):
    stored = wl.kernel("fc:2", X, out=tmp_path / "k.h5")
    assert np.allclose(wl.fit_ridge(stored, NUMBERS).alpha, wl.fit_ridge(K, NUMBERS).alpha)
