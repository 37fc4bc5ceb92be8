"""Ensembles of infinitely wide networks against the formulas evaluated with NumPy."""

import numpy as np
import pytest

import widelimit as wl

RNG = np.random.default_rng(11)
X, NEW = RNG.normal(size=(12, 3)), RNG.normal(size=(5, 3))
Y = RNG.normal(size=(12, 2))
NET = "dense(b_std=0.3) relu dense(w_std=1.4) relu dense"


def by_eigenvectors(t, kind, diag_reg, t_scale):
    """Computes mean and covariance by the formulas of Lee et al. for the loss ½Σ(y − f)², time scaled by t_scale."""
    theta, k = wl.kernel(NET, X, kind=kind), wl.kernel(NET, X, kind="nngp")
    theta_new, k_new = wl.kernel(NET, NEW, X, kind=kind), wl.kernel(NET, NEW, X, kind="nngp")
    theta = theta + diag_reg * np.trace(theta) / 12 * np.eye(12)
    values, vectors = np.linalg.eigh(theta)
    learnt = -np.expm1(-values * t * t_scale) / values
    a = theta_new @ (vectors * learnt) @ vectors.T
    cross = a @ k_new.T
    return a @ Y, wl.kernel(NET, NEW, kind="nngp") + a @ k @ a.T - cross - cross.T


@pytest.mark.parametrize("kind", ["ntk", "nngp"])
@pytest.mark.parametrize("diag_reg", [0.0, 0.05])
def test_formulas_at_all_times(kind, diag_reg):
    times = [0.0, 0.3, 7.0, np.inf]
    found = wl.ensemble(NET, X, Y, NEW, t=times, kind=kind, diag_reg=diag_reg, covariance=True)
    for moment, t in enumerate(times):
        # Our loss has no ½, so time is doubled.
        mean, covariance = by_eigenvectors(t, kind, diag_reg, 2)
        assert np.allclose(found.mean[moment], mean, atol=1e-9)
        assert np.allclose(found.covariance[moment], covariance, atol=1e-9)
        assert np.allclose(found.std[moment] ** 2, np.diag(covariance), atol=1e-9)
        assert np.linalg.eigvalsh(found.covariance[moment]).min() > -1e-9


def test_time_of_neural_tangents():
    """neural-tangents uses the loss 1/(2·y.size) Σ(y − f)² and multiplies time by the learning rate."""
    s, rate = 200.0, 0.7
    mean, covariance = by_eigenvectors(s * rate / Y.size, "ntk", 0.01, 1)
    found = wl.ensemble(NET, X, Y, NEW, t=rate * s / (2 * Y.size), diag_reg=0.01, covariance=True)
    assert np.allclose(found.mean, mean)
    assert np.allclose(found.covariance, covariance)


def test_limits():
    prior = wl.ensemble(NET, X, Y, NEW, t=0, covariance=True)
    assert (prior.mean == 0).all()
    assert np.allclose(prior.covariance, wl.kernel(NET, NEW, kind="nngp"))
    end = wl.ensemble(NET, X, Y[:, 0])
    assert end.mean.shape == end.std.shape == (12,)
    assert np.allclose(end.mean, Y[:, 0])
    assert np.allclose(end.std, 0, atol=1e-6)
    ridge = wl.ensemble(NET, X, Y, NEW, lam=0.4).mean
    assert np.allclose(ridge, wl.fit_ridge(wl.kernel(NET, X), Y, lam=0.4).predict(wl.kernel(NET, NEW, X)))


def test_single_precision_is_near():
    found = wl.ensemble(NET, X, Y, NEW, t=1.0, lam=0.1, covariance=True, precision="f32")
    exact = wl.ensemble(NET, X, Y, NEW, t=1.0, lam=0.1, covariance=True)
    assert np.allclose(found.mean, exact.mean, atol=1e-4)
    assert np.allclose(found.covariance, exact.covariance, atol=1e-4)


def test_mean_is_the_flow_from_zero():
    path = wl.flow(wl.kernel(NET, X), Y, loss="squared", lam=0.2, times=[0.5, 3], k_test=wl.kernel(NET, NEW, X))
    assert np.allclose(wl.ensemble(NET, X, Y, NEW, t=[0.5, 3], lam=0.2).mean, path.test_outputs)


def test_bad_input():
    for options in ({"t": -1.0}, {"t": []}, {"lam": -1.0}, {"diag_reg": np.inf}, {"t": "soon"}):
        with pytest.raises(wl.InputError):
            wl.ensemble(NET, X, Y, NEW, **options)
    with pytest.raises((wl.InputError, ValueError)):
        wl.ensemble(NET, X, Y, NEW, kind="nngp,ntk")
    with pytest.raises(wl.InputError):
        wl.ensemble(NET, X, Y[:3], NEW)
