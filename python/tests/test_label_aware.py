"""Label-aware kernels against their definition in NumPy, and estimators that use them."""

import pickle

import numpy as np
import pytest

import widelimit as wl

RNG = np.random.default_rng(5)
Y = np.array(["left", "right"])[np.arange(60) % 2]
X = RNG.normal(size=(60, 4)) + 1.2 * (np.arange(60) % 2)[:, None]
X_TEST = RNG.normal(size=(9, 4))
K = wl.kernel("fc:1(b_std=0.3)", X)
K_TEST = wl.kernel("fc:1(b_std=0.3)", X_TEST, X)


def _pair_features(k, a, b, mean_square):
    """Computes the ten features of set 1 by their definitions."""
    a = np.c_[a, np.ones(len(a))]
    b = np.c_[b, np.ones(len(b))]
    inner = a @ b.T
    norms = np.outer(np.linalg.norm(a, axis=1), np.linalg.norm(b, axis=1))
    cosine = np.clip(inner / norms, -1, 1)
    apart = a[:, None, :] - b[None, :, :]
    square = (apart**2).sum(axis=2)
    correlation = np.corrcoef(a, b)[: len(a), len(a) :]
    sine = np.sqrt(1 - cosine**2)
    rbf = np.exp(-square / mean_square)
    found = [k, inner, cosine, square, norms, sine, np.arccos(cosine), rbf, correlation, np.abs(apart).sum(axis=2)]
    return np.stack([f.ravel() for f in found], axis=1)


def test_linear1_is_least_squares_over_all_pairs():
    mean_square = ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2).mean()
    design = _pair_features(K, X, X, mean_square)
    z = np.where(Y[:, None] == Y[None, :], 1.0, -1.0).ravel()
    scale = np.linalg.norm(design, axis=0)
    c = np.linalg.lstsq(design / scale, z, rcond=None)[0] / scale
    fitted = (design @ c).reshape(60, 60)
    lam = 0.2 * np.abs(K).mean() / np.abs(fitted).mean()
    test = K_TEST + lam * (_pair_features(K_TEST, X_TEST, X, mean_square) @ c).reshape(9, 60)
    h = wl.label_aware_kernel(K, Y, K_TEST, x=X, x_test=X_TEST, method="linear1", ratio=0.2)
    # The normalised columns have a condition number of about 1e3; NumPy angles on the diagonal are accurate to 1e-8.
    assert np.allclose(h.train, K + lam * fitted, rtol=1e-6, atol=1e-7)
    assert np.allclose(h.test, test, rtol=1e-6, atol=1e-7)
    assert h.lam == pytest.approx(lam, rel=1e-6)
    assert h.explained == pytest.approx(1 - ((design @ c - z) ** 2).mean(), rel=1e-6)
    assert h.rank == 10 and h.target == "signed" and list(h.coefficients)[2] == "cosine"


@pytest.mark.parametrize("method", ["linear1", "kr1"])
def test_local_elasticity_of_label_aware_kernels_and_its_published_normalisation(method):
    theta = wl.kernel("fc:1(b_std=0.3)", X_TEST).diagonal()
    y_test = np.array(["left", "right"])[np.arange(9) % 2]
    h = wl.label_aware_kernel(K, Y, K_TEST, x=X, x_test=X_TEST, test_diagonal=theta, method=method)
    # Z(x, x) of a test sample equals that of an identical training sample.
    again = wl.label_aware_kernel(K, Y, K[:5], x=X, x_test=X[:5], test_diagonal=K.diagonal()[:5], method=method)
    assert np.allclose(again.test_diagonal, h.train.diagonal()[:5], rtol=1e-12)
    for published, diagonal in ((False, h.test_diagonal), (True, theta)):
        cosines = h.test / np.sqrt(np.outer(diagonal, h.train.diagonal()))
        same = y_test[:, None] == Y[None, :]
        within, between = cosines[same].mean(), cosines[~same].mean()
        found = wl.local_elasticity(h, Y, test_labels=y_test, published=published)
        assert found.test == pytest.approx(within / (within + between), rel=1e-12)
        assert found.train == wl.local_elasticity(h.train, Y).train
    with pytest.raises(wl.InputError, match="published needs a K of label_aware_kernel"):
        wl.local_elasticity(K, Y, published=True)
    with pytest.raises(wl.InputError, match="K_test and test_diagonal"):
        wl.local_elasticity(wl.label_aware_kernel(K, Y, K_TEST, x=X, x_test=X_TEST), Y, test_labels=y_test)
    with pytest.raises(wl.InputError, match="clip"):
        wl.label_aware_kernel(K, Y, K_TEST, x=X, x_test=X_TEST, test_diagonal=theta, psd="clip")


def test_leave_one_out_and_bounds_refuse_it_by_name():
    h = wl.label_aware_kernel(K, Y, x=X)
    signs = np.where(Y == "right", 1.0, -1.0)
    for refused in (lambda: wl.ridge_path(h, signs, [1.0]), lambda: wl.label_bound(h, signs)):
        with pytest.raises(wl.InputError, match="LabelAwareKernel is not a matrix"):
            refused()


@pytest.mark.parametrize("machine", ["ridge", "regression"])
def test_ridge_solves_with_an_indefinite_kernel_and_says_so(machine):
    lam = 0.4 if machine == "ridge" else 0.0
    aware = dict(label_aware="linear1", ratio=1.0, psd="none")
    model = wl.NTKClassifier("fc:1(b_std=0.3)", machine=machine, lam=0.4, **aware).fit(X, Y)
    assert model.summary_.converged and "negative eigenvalues" in model.summary_.message
    k = wl.label_aware_kernel(K, Y, x=X, method="linear1", ratio=1.0).train
    alpha = np.linalg.solve(k + lam / 2 * np.eye(60), np.where(Y == "right", 1.0, -1.0))
    expected = k @ alpha
    assert np.allclose(model.decision_function(X).ravel(), expected, rtol=1e-5, atol=1e-5)
    with pytest.warns(UserWarning, match="clipped or shifted"):
        wl.NTKClassifier("fc:1(b_std=0.3)", machine="svm", **aware).fit(X, Y)


@pytest.mark.parametrize("method", ["linear2", "kr1", "kr2", "fjlt1", "fjlt2"])
def test_ratio_symmetry_and_inertia(method):
    h = wl.label_aware_kernel(K, Y, x=X, method=method, ratio=0.4)
    assert np.abs(h.train - K).mean() == pytest.approx(0.4 * np.abs(K).mean(), rel=1e-9)
    assert np.array_equal(h.train, h.train.T) and h.test is None
    values = np.linalg.eigvalsh(h.train)
    rounding = 60 * np.finfo(float).eps * np.abs(values).max()
    assert h.inertia == ((values < -rounding).sum(), (np.abs(values) <= rounding).sum(), (values > rounding).sum())


def test_psd():
    plain = wl.label_aware_kernel(K, Y, K_TEST, x=X, x_test=X_TEST, ratio=2)
    values, vectors = np.linalg.eigh(plain.train)
    assert values[0] < 0
    clipped = wl.label_aware_kernel(K, Y, K_TEST, x=X, x_test=X_TEST, ratio=2, psd="clip")
    kept = vectors[:, values > 0]
    assert np.allclose(clipped.train, kept @ np.diag(values[values > 0]) @ kept.T)
    assert np.allclose(clipped.test, plain.test @ kept @ kept.T)
    shifted = wl.label_aware_kernel(K, Y, K_TEST, x=X, x_test=X_TEST, ratio=2, psd="shift")
    assert shifted.shift == pytest.approx(-values[0])
    assert np.allclose(shifted.train, plain.train - values[0] * np.eye(60)) and np.allclose(shifted.test, plain.test)
    with pytest.raises(wl.NumericalError, match="negative"):
        wl.label_aware_kernel(K, Y, x=X, ratio=2, psd="refuse")


def test_overwrite_and_precision():
    expected = wl.label_aware_kernel(K, Y, K_TEST, method="kr1")
    k, k_test = K.copy(), K_TEST.copy()
    h = wl.label_aware_kernel(k, Y, k_test, method="kr1", overwrite=True)
    assert h.train is k and h.test is k_test
    assert np.array_equal(k, expected.train) and np.array_equal(k_test, expected.test)
    single = wl.label_aware_kernel(K.astype(np.float32), Y, method="kr1").train
    assert single.dtype == np.float32 and np.allclose(single, expected.train, rtol=1e-5)
    with pytest.raises(wl.InputError, match="overwrite"):
        wl.label_aware_kernel(K.T[::2], Y, method="kr1", overwrite=True)


def test_own_features():
    calls = []

    def both_right(a, b):
        calls.append((len(a), len(b)))
        return np.outer(a.mean(axis=1) > 0.6, b.mean(axis=1) > 0.6).astype(float)

    without = wl.label_aware_kernel(K, Y, x=X)
    h = wl.label_aware_kernel(K, Y, K_TEST, x=X, x_test=X_TEST, features=[both_right])
    assert calls and h.explained > without.explained and "own 1" in h.coefficients
    with pytest.raises(wl.InputError, match="not symmetric"):
        wl.label_aware_kernel(K, Y, x=X, features=lambda a, b: np.outer(a[:, 0], np.ones(len(b))))
    with pytest.raises(wl.InputError, match="shape"):
        wl.label_aware_kernel(K, Y, x=X, features=lambda a, b: np.ones(3))
    with pytest.raises(ZeroDivisionError):
        wl.label_aware_kernel(K, Y, x=X, features=lambda a, b: 1 / 0)


def test_refusals():
    with pytest.raises(wl.InputError, match="needs the samples"):
        wl.label_aware_kernel(K, Y)
    with pytest.raises(wl.InputError, match="one class"):
        wl.label_aware_kernel(K, np.zeros(60, int), method="kr1")
    with pytest.raises(wl.InputError, match="linear1"):
        wl.label_aware_kernel(K, Y, method="linear")
    bad = K_TEST.copy()
    bad[2, 3] = np.nan
    with pytest.raises(wl.InputError, match=r"\(2, 3\)"):
        wl.label_aware_kernel(K, Y, bad, method="kr1")


@pytest.mark.parametrize("psd", ["none", "clip", "shift"])
@pytest.mark.parametrize("method", ["linear1", "kr1", "kr2"])
def test_test_kernels_are_test_by_train(method, psd):
    for columns in (61, 59, 2000):
        with pytest.raises(wl.InputError, match=f"must be test × train, but is 9 by {columns} for 60"):
            wl.label_aware_kernel(K, Y, np.ones((9, columns)), x=X, x_test=X_TEST, method=method, psd=psd)
    k = K.copy()
    with pytest.raises(wl.InputError, match="give its transpose"):
        wl.label_aware_kernel(k, Y, K_TEST.T.copy(), x=X, x_test=X_TEST, method=method, psd=psd, overwrite=True)
    assert np.array_equal(k, K)
    with pytest.raises(wl.InputError, match="9 rows for 8 test samples"):
        wl.label_aware_kernel(K, Y, K_TEST, x=X, x_test=X_TEST[:8], method=method, psd=psd)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_samples_that_are_not_finite_are_named(value):
    bad = X.copy()
    bad[7, 2] = value
    with pytest.raises(wl.InputError, match=f"training sample 7 has {value} at value 2"):
        wl.label_aware_kernel(K, Y, x=bad)
    with pytest.raises(wl.InputError, match=f"test sample 7 has {value} at value 2"):
        wl.label_aware_kernel(K, Y, K_TEST, x=X, x_test=bad[:9])


@pytest.mark.parametrize("labels", [Y, np.where(Y == "right", 1.0, -1.0)])
def test_fit_ridge_and_fit_regression_solve_with_it_if_asked(labels):
    h = wl.label_aware_kernel(K, Y, K_TEST, x=X, x_test=X_TEST, ratio=1.0)
    signs = np.where(Y == "right", 1.0, -1.0)
    fits = ((0.0, lambda **how: wl.fit_regression(h.train, labels, **how)),)
    fits += ((0.4, lambda **how: wl.fit_ridge(h.train, labels, lam=0.4, **how)),)
    for lam, fit in fits:
        with pytest.warns(wl.ConvergenceWarning, match="indefinite=True"):
            assert fit().summary.ending == "not positive definite"
        found = fit(indefinite=True)
        assert found.summary.converged and found.summary.method.startswith("LDL")
        negative = int((np.linalg.eigvalsh(h.train + lam / 2 * np.eye(60)) < 0).sum())
        assert f"{60 - negative} positive and {negative} negative" in found.summary.message
        alpha = np.linalg.solve(h.train + lam / 2 * np.eye(60), signs)
        np.testing.assert_allclose(found.decision_function(h.test), h.test @ alpha, rtol=1e-6, atol=1e-8)
    # Without an effect if K is positive definite.
    plain = [wl.fit_ridge(K, labels, lam=0.4, indefinite=how) for how in (False, True)]
    assert np.array_equal(plain[0].alpha, plain[1].alpha) and plain[1].summary.gap is not None
    # A remark on an eigenvalue near 0 of either sign.
    for near in (1e-7, -1e-7):
        found = wl.fit_regression(np.diag([1.0, near]), [1.0, -1.0], indefinite=True)
        assert found.summary.converged and "an eigenvalue is near 0" in found.summary.message
    # A singular matrix has no solution either way.
    with pytest.warns(wl.ConvergenceWarning, match="not positive definite"):
        wl.fit_regression(np.diag([1.0, 0.0]), [1.0, -1.0], indefinite=True)


def test_an_eigenvalue_near_zero_is_a_warning():
    k = K.copy()
    k[1] = k[0]
    k[:, 1] = k[:, 0]
    k[1, 1] = k[0, 0]
    h = wl.label_aware_kernel(k, Y, method="kr1")
    with pytest.warns(UserWarning, match="eigenvalue of the kernel is near 0"):
        assert h.inertia.positive > 0
    assert h.inertia.negative + h.inertia.zero + h.inertia.positive == 60


@pytest.mark.parametrize(
    ("machine", "psd"),
    [(machine, psd) for machine in ("ridge", "svm") for psd in ("clip", "shift")]
    + [("ridge", "none"), ("regression", "none")],
)
@pytest.mark.parametrize("method", ["kr1", "kr2"])
def test_kernel_regression_takes_precomputed_kernels(method, psd, machine):
    pytest.importorskip("sklearn")
    how = dict(machine=machine, lam=0.3, label_aware=method, ratio=0.3, psd=psd)
    model = wl.NTKClassifier("fc:1(b_std=0.3)", **how).fit(X, Y)
    given = wl.NTKClassifier(kernel="precomputed", **how).fit(K, Y)
    assert np.allclose(given.decision_function(K_TEST), model.decision_function(X_TEST), rtol=1e-6, atol=1e-6)
    again = pickle.loads(pickle.dumps(given))
    assert np.array_equal(again.decision_function(K_TEST), given.decision_function(K_TEST))


def test_precomputed_kernels_do_not_take_methods_that_compare_samples():
    selection = pytest.importorskip("sklearn.model_selection")
    model = wl.NTKClassifier(kernel="precomputed", label_aware="linear1")
    with pytest.raises(wl.InputError, match=r"linear1 compares the samples.*choose kr1 or kr2"):
        model.fit(K, Y)
    model = wl.NTKClassifier(kernel="precomputed", machine="ridge", label_aware="kr1")
    assert selection.cross_val_score(model, K, Y, cv=4).mean() > 0.6


@pytest.mark.parametrize(
    ("option", "message"),
    [({"ratio": -5}, "ratio"), ({"psd": "crop"}, "crop"), ({"pair_target": "both"}, "both"), ({"ratio": "x"}, "ratio")],
)
def test_options_are_checked_without_effect_too(option, message):
    pytest.importorskip("sklearn")
    for label_aware in (None, "kr1"):
        with pytest.raises(wl.InputError, match=message):
            wl.NTKClassifier(label_aware=label_aware, **option).fit(X, Y)


@pytest.mark.parametrize("method", ["linear2", "kr1"])
def test_estimators_remember(method, tmp_path):
    pytest.importorskip("sklearn")
    model = wl.NTKClassifier("fc:1", machine="ridge", lam=0.3, label_aware=method, ratio=0.3).fit(X, Y)
    g = model.decision_function(X_TEST)
    h = wl.label_aware_kernel(
        wl.kernel("fc:1", X), Y, wl.kernel("fc:1", X_TEST, X), x=X, x_test=X_TEST, method=method, ratio=0.3, psd="clip"
    )
    assert np.allclose(g, wl.fit_ridge(h.train, Y, lam=0.3).decision_function(h.test), atol=1e-7)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).decision_function(X_TEST), g)
    path = tmp_path / "model.h5"
    model.save(path)
    again = wl.NTKClassifier.load(path)
    assert np.allclose(again.decision_function(X_TEST), g, atol=1e-12) and again.label_aware == method
    assert np.array_equal(wl.load_model(path).predict(X_TEST), model.predict(X_TEST))
    with pytest.raises(wl.InputError, match="label-aware"):
        wl.certify(model, X_TEST, Y[:9])


def test_estimators_in_cross_validation_leak_nothing():
    selection = pytest.importorskip("sklearn.model_selection")
    y = RNG.integers(0, 2, 60)
    model = wl.NTKClassifier("fc:1", machine="ridge", lam=0.1, label_aware="linear1", ratio=2.0)
    scores = selection.cross_val_score(model, X, y, cv=5)
    assert abs(scores.mean() - 0.5) < 5 * 0.5 / np.sqrt(60)
