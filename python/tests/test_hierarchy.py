"""Neural tangent hierarchy: kernels, kernels at a time, local elasticity."""

from __future__ import annotations

import numpy as np
import pytest

import widelimit as wl

RNG = np.random.default_rng(3)
X = RNG.normal(size=(12, 4)) / 2
Y = np.where(X[:, 0] > 0, 1.0, -1.0)


def test_nth_kernel_is_the_ntk_and_a_correction():
    n = wl.nth_kernel(X[:8], Y[:8], X[8:], samples=512, width=50)
    assert n.train.shape == (8, 8) and n.test.shape == (4, 8)
    assert (n.train == n.train.T).all() and (n.train_error > 0).all()
    # w·x without 1/√d: the first layer of the network has w_std = √d.
    assert np.allclose(n.train_ntk, wl.kernel("dense(w_std=2) erf dense", X[:8]), rtol=1e-12)
    again = wl.nth_kernel(X[:8], Y[:8], X[8:], samples=512, width=100, threads=1)
    assert np.allclose(2 * (again.test - again.test_ntk), n.test - n.test_ntk, rtol=1e-9, atol=1e-12)


def test_nth_kernel_with_a_tolerance_is_that_of_the_final_number_of_samples():
    x, y = np.random.default_rng(0).normal(size=(4, 3)), np.array([1.0, -1.0, 1.0, -1.0])
    n = wl.nth_kernel(x, y, tolerance=0.005, width=100, seed=1)
    assert n.relative_error <= 0.005 and n.samples <= 131_072
    fixed = wl.nth_kernel(x, y, samples=n.samples, width=100, seed=1)
    assert (fixed.train == n.train).all() and (fixed.train_error == n.train_error).all()


@pytest.mark.parametrize("activation", ["erf", "gelu"])
def test_nth_kernel_draws_the_same_directions_on_every_engine(activation):
    x, y = np.random.default_rng(0).normal(size=(4, 3)), np.array([1.0, -1.0, 1.0, -1.0])
    options = {"samples": 256, "width": 100, "activation": activation}
    cpu, reference = (wl.nth_kernel(x, y, backend=name, **options) for name in ("cpu", "reference"))
    assert cpu.train_error.max() > 1e-4
    assert np.allclose(cpu.train, reference.train, rtol=0, atol=1e-10)
    assert np.allclose(cpu.train_error, reference.train_error, rtol=0, atol=1e-10)


def test_nth_kernel_warns_and_refuses():
    with pytest.warns(UserWarning, match="kink"):
        wl.nth_kernel(X, Y, activation="relu", samples=64)
    with pytest.raises(wl.InputError):
        wl.nth_kernel(X, np.stack([Y, Y], axis=1))
    with pytest.raises(ValueError):
        wl.nth_kernel(X, Y, activation="sign")
    with pytest.raises(ValueError, match=r"number of directions is 3; .* \(samples=…\)"):
        wl.nth_kernel(X, Y, samples=3)
    with pytest.raises(wl.InputError, match="unknown activation 'realu'; did you mean 'relu'"):
        wl.nth_kernel(X, Y, activation="realu")
    with pytest.raises(wl.InputError, match="without a tolerance"):
        wl.nth_kernel(X, Y, max_samples=1000)


def test_kernel_at_time_begins_at_the_empirical_ntk():
    t = wl.train("dense tanh dense", X, Y, width=64, steps=0, centred=True)
    k = wl.kernel_at_time(0.0, t, X, Y)
    assert np.allclose(k.train, wl.empirical_ntk(t, X, start=True), rtol=1e-12)
    end = wl.kernel_at_time(np.inf, t, X[:6], Y[:6], X[6:])
    assert end.test.shape == (6, 6) and end.train_trained is None
    assert np.allclose(end.test, end.test_start + end.test_first + end.test_second)
    with pytest.raises(wl.InputError):
        wl.kernel_at_time(1.0, t, X, Y, width=3)


def test_local_elasticity_is_the_ratio_of_means():
    k = wl.kernel("fc:1", X)
    labels = np.array(["a", "b", "c"])[np.arange(12) % 3]
    scaled = k / np.sqrt(np.outer(k.diagonal(), k.diagonal()))
    same = labels[:, None] == labels[None, :]
    off = ~np.eye(12, dtype=bool)
    ratio = scaled[same & off].mean() / (scaled[same & off].mean() + scaled[~same].mean())
    assert wl.local_elasticity(k, labels).train == pytest.approx(ratio, rel=1e-12)
    with_self = scaled[same].mean() / (scaled[same].mean() + scaled[~same].mean())
    assert wl.local_elasticity(k, labels, self_pairs=True).train == pytest.approx(with_self, rel=1e-12)
    part = wl.local_elasticity(k[:9, :9], labels[:9], k[9:, :9], labels[9:], test_diagonal=k.diagonal()[9:])
    rows, alike = scaled[9:, :9], same[9:, :9]
    assert part.test == pytest.approx(rows[alike].mean() / (rows[alike].mean() + rows[~alike].mean()), rel=1e-12)


def test_local_elasticity_of_networks_by_kernel_and_by_steps():
    x = X + 1  # similarities are positive
    t = wl.train("dense tanh dense", x[:8], Y[:8], width=32, steps=50)
    by_kernel = wl.local_elasticity(t, Y[:8], None, Y[8:], x=x[:8], x_test=x[8:])
    by_steps = wl.local_elasticity(t, Y[:8], None, Y[8:], x=x[:8], x_test=x[8:], step=1e-6)
    assert by_steps.train == pytest.approx(by_kernel.train, rel=1e-4)
    assert by_steps.test == pytest.approx(by_kernel.test, rel=1e-4)
    k = wl.empirical_ntk(t, x)
    direct = wl.local_elasticity(k[:8, :8], Y[:8], k[8:, :8], Y[8:], test_diagonal=k.diagonal()[8:])
    assert direct.test == pytest.approx(by_kernel.test, rel=1e-9)
    with pytest.raises(wl.InputError):
        wl.local_elasticity(t, Y[:8])
    for step in (0, -1.0, np.inf, np.nan):
        with pytest.raises(wl.InputError, match="step is"):
            wl.local_elasticity(t, Y[:8], x=x[:8], step=step)
    k[0, 1] *= 2
    with pytest.raises(wl.InputError, match="not symmetric"):
        wl.local_elasticity(k, Y)


def test_local_elasticity_of_sparse_samples():
    sparse = pytest.importorskip("scipy.sparse")
    x, y, _ = wl.load_data("digits", classes=[3, 8], limit=90, scale="unit")
    x = x.reshape(90, -1)
    t = wl.train("fc:1", x[:20], np.where(y[:20] == 0, -1.0, 1.0), width=16, steps=5)
    dense = wl.local_elasticity(t, y[:20], x=x[:20], x_test=x[20:], test_labels=y[20:])
    rows = sparse.csr_array(x)
    assert wl.local_elasticity(t, y[:20], x=rows[:20], x_test=rows[20:], test_labels=y[20:]) == dense


def test_local_elasticity_refuses_what_is_no_kernel():
    k, labels = wl.kernel("fc:1", np.random.default_rng(0).normal(size=(6, 3))), [0, 1] * 3
    for wrong in (k + 1j, k.astype(str), k.astype("M8[s]"), k[0]):
        with pytest.raises(wl.InputError, match="K has"):
            wl.local_elasticity(wrong, labels)
        with pytest.raises(wl.InputError, match="K_test has"):
            wl.local_elasticity(k, labels, wrong, labels)
    with pytest.raises(wl.InputError, match="labels has 0 dimensions"):
        wl.local_elasticity(k, "010101")
