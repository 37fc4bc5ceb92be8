"""Gaussian processes against scikit-learn and the formulas."""

import numpy as np
import pytest

import widelimit as wl

RNG = np.random.default_rng(3)
X, NEW = RNG.normal(size=(30, 4)), RNG.normal(size=(7, 4))
Y = np.sin(X[:, 0]) + X[:, 1]
K = wl.kernel("fc:2", X, kind="nngp")
CROSS = wl.kernel("fc:2", NEW, X, kind="nngp")
OWN = wl.diagonal("fc:2", NEW, kind="nngp")


def test_posterior_and_likelihood_by_the_formulas():
    process = wl.gaussian_process(K, Y, noise=0.1)
    a = K + 0.1 * np.eye(30)
    mean, variance = process.predict(CROSS, OWN)
    assert np.allclose(mean, CROSS @ np.linalg.solve(a, Y))
    assert np.allclose(variance, OWN - np.einsum("ij,ji->i", CROSS, np.linalg.solve(a, CROSS.T)))
    expected = -0.5 * Y @ np.linalg.solve(a, Y) - 0.5 * np.linalg.slogdet(a)[1] - 15 * np.log(2 * np.pi)
    assert process.log_marginal_likelihood == pytest.approx(expected)
    assert np.allclose(process.alpha, wl.fit_ridge(K, Y, lam=0.2).alpha)


def test_several_outputs():
    process = wl.gaussian_process(K, np.column_stack([Y, 2 * Y]), noise=0.1)
    single = wl.gaussian_process(K, Y, noise=0.1)
    assert process.predict(CROSS, OWN).mean.shape == (7, 2)
    assert np.allclose(process.predict(CROSS, OWN).mean[:, 1], 2 * single.predict(CROSS, OWN).mean)
    assert process.log_marginal_likelihood[0] == pytest.approx(single.log_marginal_likelihood)


def test_bad_input():
    with pytest.raises(wl.NumericalError, match="noise"):
        wl.gaussian_process(np.ones((3, 3)), [1.0, 2.0, 3.0])
    with pytest.raises(wl.InputError, match="noise"):
        wl.gaussian_process(K, Y, noise=-1)
    with pytest.raises(wl.InputError, match="columns"):
        wl.gaussian_process(K, Y, noise=1).predict(CROSS[:, :5], OWN)
    with pytest.raises(wl.InputError, match="rows"):
        wl.gaussian_process(K, Y, noise=1).predict(CROSS, OWN[:3])
