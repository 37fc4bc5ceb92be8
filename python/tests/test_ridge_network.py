"""Matrix-free ridge against ridge on the Gram matrix."""

import numpy as np
import pytest

import widelimit as wl

X, Y, _ = wl.load_data("digits", limit=260, scale="unit")
X = X.reshape(len(X), 64)


@pytest.mark.parametrize("bias", [False, True])
def test_is_ridge(bias):
    weights = 1.0 + np.arange(200) % 3
    found = wl.fit_ridge_network(
        "fc:2", X[:200], Y[:200], 0.1, classify=True, bias=bias, sample_weight=weights, precision="f64", tolerance=1e-10
    )
    k = wl.kernel("fc:2", X[:200])
    exact = wl.fit_ridge(k, Y[:200], 0.1, classify=True, bias=bias, sample_weight=weights)
    assert found.summary.converged
    assert np.allclose(found.alpha, exact.alpha, atol=1e-6 * np.abs(exact.alpha).max())
    new = wl.kernel("fc:2", X[200:], X[:200])
    assert (found.predict(new) == exact.predict(new)).all()


def test_estimators():
    ours = wl.NTKClassifier("fc:2", machine="ridge", lam=0.1, solver="cg", precision="f64").fit(X[:200], Y[:200])
    theirs = wl.NTKClassifier("fc:2", machine="ridge", lam=0.1).fit(X[:200], Y[:200])
    assert np.allclose(ours.decision_function(X[200:]), theirs.decision_function(X[200:]), atol=1e-5)
    numbers = X[:, :3] @ np.array([[1.0, 0.0], [0.5, 2.0], [0.0, 1.0]])
    ours = wl.NTKRegressor("fc:2", lam=0.1, solver="cg", precision="f64").fit(X[:200], numbers[:200])
    theirs = wl.NTKRegressor("fc:2", lam=0.1).fit(X[:200], numbers[:200])
    assert np.allclose(ours.predict(X[200:]), theirs.predict(X[200:]), atol=1e-5)


def test_bad_input():
    with pytest.raises(wl.InputError, match="ridge"):
        wl.NTKClassifier("fc:2", solver="cg").fit(X[:20], Y[:20])
    with pytest.raises(wl.InputError, match="solver"):
        wl.NTKRegressor("fc:2", solver="qr").fit(X[:20], X[:20, 0])
    with pytest.raises(wl.InputError, match="one class"):
        wl.fit_ridge_network("fc:2", X[:3], ["a"] * 3)
    with pytest.raises(wl.ResourceError):
        wl.fit_ridge_network("fc:2", X, X[:, 0], memory="1KiB")
