"""Spectra and labels against numpy.linalg.eigh, wl.flow and wl.descend."""

import numpy as np
import pytest

import widelimit as wl


def gram(n, seed=0):
    return wl.kernel("fc:2", np.random.default_rng(seed).normal(size=(n, 6)))


def test_agrees_with_numpy():
    k, y = gram(23), np.random.default_rng(1).normal(size=(23, 2))
    s = wl.spectrum(k, y)
    values, vectors = np.linalg.eigh(k)
    np.testing.assert_allclose(s.eigenvalues, values[::-1], atol=1e-14 * 23 * values[-1])
    np.testing.assert_allclose(s.energy, ((vectors.T @ y) ** 2).sum(axis=1)[::-1], atol=1e-11)
    np.testing.assert_allclose(s.eigenvectors @ np.diag(s.eigenvalues) @ s.eigenvectors.T, k, atol=1e-12)
    np.testing.assert_allclose(s.eigenvectors.T @ y, s.projections, atol=1e-12)
    np.testing.assert_allclose(s.norm, np.trace(y.T @ np.linalg.solve(k, y)), rtol=1e-9)
    assert s.effective_dimension(0.1) == pytest.approx((values / (values + 0.1)).sum(), rel=1e-12)
    assert s.condition == pytest.approx(values[-1] / values[0], rel=1e-9)
    assert s.cumulative_energy[-1] == pytest.approx(1)
    assert "rank 23" in repr(s)


def test_losses_are_those_of_flow_and_descent():
    k, y = gram(12), np.random.default_rng(2).normal(size=12)
    s = wl.spectrum(k, y)
    path = wl.flow(k, y, loss="squared", lam=0.0, times=[0.0, 0.4, 3.0])
    np.testing.assert_allclose(s.loss(2 * path.times), path.loss, rtol=1e-9)
    steps = wl.descend(k, y, loss="squared", lam=0.0, rate=0.3 * s.stable_rate, steps=20)
    np.testing.assert_allclose(s.loss_after([0, 1, 20], 0.6 * s.stable_rate), steps.loss[[0, 1, 20]], rtol=1e-9)
    assert s.loss(s.time_to(0.2)) == pytest.approx(0.2 * (y @ y), rel=1e-12)
    count = s.steps_to(0.2, 0.6 * s.stable_rate)
    assert s.loss_after(count, 0.6 * s.stable_rate) <= 0.2 * (y @ y) < s.loss_after(count - 1, 0.6 * s.stable_rate)


def test_labels():
    k = gram(30)
    y = np.array(["a", "b", "c"] * 10)
    s = wl.spectrum(k, y)
    assert s.projections.shape == (30, 3)
    np.testing.assert_array_equal(wl.spectrum(k, np.arange(30) % 3, classify=True).y, s.y)
    worst = wl.spectrum(k, labels="worst")
    assert set(worst.y) <= {-1.0, 1.0}
    signs = np.where(np.arange(30) < 15, 1.0, -1.0)
    drawn = wl.spectrum(k, signs, labels="random", seed=3)
    assert set(drawn.y) == {-1.0, 1.0} and (drawn.y != signs).any()
    np.testing.assert_array_equal(drawn.y, s.with_labels(signs, labels="random", seed=3).y)
    assert worst.norm > drawn.norm
    np.testing.assert_array_equal(drawn.with_labels(labels="random:0").y, drawn.y)


def test_errors():
    k = gram(5)
    for bad in ("half", "random:2"):
        with pytest.raises(wl.InputError, match="choose"):
            wl.spectrum(k, np.ones(5), labels=bad)
    with pytest.raises(wl.InputError, match="need y"):
        wl.spectrum(k)
    with pytest.raises(wl.InputError):
        wl.spectrum(k, ["a"] * 5)
    with pytest.raises(wl.InputError, match="finite"):
        wl.spectrum(k, [1, 2, 3, 4, np.nan])
    with pytest.raises(wl.NumericalError, match="diagonal"):
        wl.spectrum(np.diag([1.0, -1.0]), [1.0, 1.0])
    twins = wl.spectrum(np.ones((2, 2)), [1.0, -1.0])
    assert twins.floor == pytest.approx(1) and twins.norm is None
    with pytest.raises(wl.NumericalError, match="never falls"):
        twins.time_to(0.5)
    s = wl.spectrum(k, np.arange(5.0))
    with pytest.raises(wl.InputError, match="diverges"):
        s.loss_after(3, 2 * s.stable_rate)
    with pytest.raises(wl.InputError, match="whole"):
        s.loss_after(0.5, 0.1)


def test_training_follows_the_prediction_of_a_linear_network():
    x = np.random.default_rng(4).normal(size=(6, 8))
    s = wl.spectrum(wl.kernel("dense", x), np.random.default_rng(5).normal(size=6))
    found = s.train("dense", x, steps=30)
    np.testing.assert_allclose(found.measured, found.predicted, atol=1e-12 * np.sqrt(found.loss[0]))
    assert found.largest_difference < 1e-12 and found.rate == pytest.approx(s.stable_rate / 4)
    assert all(abs(r.fitted - r.eigenvalue) < 1e-8 * s.eigenvalues[0] for r in found.rates)
    assert "width 1024" in repr(found)
