"""Marginal likelihood against scikit-learn, its gradient against finite differences, and its optimum."""

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import Kernel

import widelimit as wl

RNG = np.random.default_rng(5)
X = RNG.normal(size=(35, 3))
Y = np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] + 0.1 * RNG.normal(size=35)
NET = wl.with_std("dense erf dense", 1.3, 0.2)


class Fixed(Kernel):
    """A kernel for scikit-learn with precomputed entries: X contains sample indices."""

    def __init__(self, k):
        self.k = k

    def __call__(self, X, Y=None, eval_gradient=False):
        rows, cols = X[:, 0].astype(int), (X if Y is None else Y)[:, 0].astype(int)
        k = self.k[np.ix_(rows, cols)]
        return (k, np.empty((len(rows), len(rows), 0))) if eval_gradient else k

    def diag(self, X):
        return np.diag(self.k)[X[:, 0].astype(int)]

    def is_stationary(self):
        return False


@pytest.mark.parametrize("kind", ["nngp", "ntk"])
def test_value_is_that_of_scikit_learn(kind):
    k = wl.kernel(NET, X, kind=kind)
    peer = GaussianProcessRegressor(Fixed(k), alpha=0.05, optimizer=None).fit(np.arange(35)[:, None], Y)
    found = wl.marginal_likelihood(NET, X, Y, noise=0.05, kind=kind)
    assert found.value == pytest.approx(peer.log_marginal_likelihood_value_, rel=1e-11)
    assert found.value == pytest.approx(wl.gaussian_process(k, Y, noise=0.05).log_marginal_likelihood, rel=1e-11)


def test_gradient_is_the_slope_by_log_parameters():
    point = np.log([1.3, 0.2, 0.05])

    def value(logs):
        w_std, b_std, noise = np.exp(logs)
        k = wl.kernel(wl.with_std("dense erf dense", w_std, b_std), X, kind="nngp") + noise * np.eye(35)
        return -0.5 * Y @ np.linalg.solve(k, Y) - 0.5 * np.linalg.slogdet(k)[1] - 17.5 * np.log(2 * np.pi)

    gradient = wl.marginal_likelihood(NET, X, Y, noise=0.05).gradient
    h = 1e-3
    for p, found in enumerate(gradient):
        step = h * np.eye(3)[p]
        first, second = (value(point + step) - value(point - step)) / (2 * h), (
            value(point + 2 * step) - value(point - 2 * step)
        ) / (4 * h)
        assert found == pytest.approx((4 * first - second) / 3, abs=1e-6)


def test_optimum_is_stationary_and_above_its_neighbours():
    best = wl.optimise_marginal_likelihood("dense erf dense", X, Y, starts=2, seed=1)
    assert best.summary.converged and best.summary.gradient <= 1e-6
    assert best.network == wl.with_std("dense erf dense", best.w_std, best.b_std)
    value, gradient = wl.marginal_likelihood(best.network, X, Y, noise=best.noise)
    assert value == pytest.approx(best.value, rel=1e-12)
    assert np.allclose(gradient, best.gradient)
    for w_std, b_std, noise in 1 + 0.1 * RNG.normal(size=(10, 3)):
        other = wl.with_std(NET, best.w_std * abs(w_std), max(best.b_std * abs(b_std), 1e-3))
        assert wl.marginal_likelihood(other, X, Y, noise=best.noise * abs(noise)).value <= best.value + 1e-9
    assert len(best.starts) == 2
    assert best.value == max(start.value for start in best.starts)
    assert best.starts[0].start.w_std == 1.0
    assert best.starts[0].start.b_std == 0.1
    assert "converged" in repr(best)


def test_what_is_fixed_stays():
    best = wl.optimise_marginal_likelihood("fc:1", X, Y, b_std_range=(0, 0), noise_range=(0.2, 0.2), starts=1)
    assert (best.b_std, best.noise) == (0.0, 0.2)
    assert abs(best.gradient.w_std) <= 35e-6


def test_bad_input():
    twice = np.vstack([X[:5], X[:1]])
    with pytest.raises(wl.NumericalError, match="minor"):
        wl.marginal_likelihood("fc:1", twice, np.arange(6.0))
    with pytest.raises(wl.NumericalError, match="minor"):
        wl.optimise_marginal_likelihood("fc:1", twice, np.arange(6.0), noise_range=(0, 0), starts=1)
    with pytest.raises(wl.InputError, match="noise"):
        wl.marginal_likelihood("fc:1", X, Y, noise=-1)
    with pytest.raises(wl.InputError, match="bounds"):
        wl.optimise_marginal_likelihood("fc:1", X, Y, w_std_range=(2, 1))
    with pytest.raises(wl.InputError, match="35"):
        wl.marginal_likelihood("fc:1", X, Y[:4])
    with pytest.warns(wl.ConvergenceWarning, match="allow more"):
        wl.optimise_marginal_likelihood("fc:1", X, Y, starts=1, max_iterations=1)


def test_an_estimator_optimises_its_prior():
    model = wl.NTKRegressor("dense erf dense", kind="nngp", optimise="marginal_likelihood", lam=0.1).fit(X, Y)
    best = wl.optimise_marginal_likelihood("dense erf dense", X, Y, noise=0.05)
    assert model.lam_ == pytest.approx(2 * best.noise)
    assert model.network_ == best.network
    assert model.log_marginal_likelihood_ == pytest.approx(best.value)
    assert model.network == "dense erf dense"
    k = wl.kernel(best.network, X, kind="nngp")
    assert np.allclose(model.predict(X), k @ np.linalg.solve(k + best.noise * np.eye(35), Y))
    with pytest.raises(wl.InputError, match="svr"):
        wl.NTKRegressor(machine="svr", optimise="marginal_likelihood").fit(X, Y)
    with pytest.raises(wl.InputError, match="choose 'marginal_likelihood'"):
        wl.NTKRegressor(optimise="evidence").fit(X, Y)
