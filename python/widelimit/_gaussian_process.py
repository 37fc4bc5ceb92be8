"""Gaussian process regression with the kernel of an infinitely wide network."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from widelimit import _core
from widelimit._arguments.samples import as_kernel, as_matrix
from widelimit._arguments.targets import as_columns, as_numbers
from widelimit._arguments.threads import usable
from widelimit._core import InputError
from widelimit._fit import Summary


class Posterior(NamedTuple):
    """Posterior of f at test points."""

    mean: NDArray[np.float64]
    """In the shape of y."""
    variance: NDArray[np.float64]
    """One for each point; add the noise for the variance of an observation."""


class GaussianProcess:
    """Posterior of f with prior covariance K given y = f(x) + noise; returned by gaussian_process."""

    def __init__(self, core: _core.GaussianProcess, noise: float, single: bool) -> None:
        alpha, summary, likelihood = core.fitted()
        self._core = core
        self._single = single
        self.noise = noise
        """Noise variance σ²."""
        self.alpha: NDArray[np.float64] = alpha[:, 0] if single else alpha
        """(K + σ²I)⁻¹y."""
        self.summary = Summary(*summary)
        self.log_marginal_likelihood: float | NDArray[np.float64] = float(likelihood[0]) if single else likelihood
        """log p(y) = −½yᵀ(K + σ²I)⁻¹y − ½ log det(K + σ²I) − n/2·log 2π; one per column of y."""

    def predict(self, k: ArrayLike, diagonal: ArrayLike) -> Posterior:
        """Returns mean and variance of f from K(test, train) and K(x, x) of each test point (see diagonal())."""
        own = as_numbers(diagonal, "diagonal")
        if own.ndim != 1:
            raise InputError("diagonal must be one number K(x, x) for each test point")
        mean, variance = self._core.posterior(as_matrix(k, "K(test, train)"), own)
        return Posterior(mean[:, 0] if self._single else mean, variance)

    def covariance(self, k: ArrayLike, k_test: ArrayLike) -> NDArray[np.float64]:
        """Returns the covariance of f between test points from K(test, train) and K(test, test); exactly symmetric."""
        return self._core.joint_posterior(as_matrix(k, "K(test, train)"), as_matrix(k_test, "K(test, test)"))[2]

    def __repr__(self) -> str:
        return f"<GaussianProcess: {len(self.alpha)} samples, noise {self.noise:g}>"


def gaussian_process(
    k: ArrayLike,
    y: ArrayLike,
    noise: float = 0.0,
    *,
    backend: str | None = None,
    threads: int | None = None,
    check_definite: bool | None = None,
) -> GaussianProcess:
    """Returns the Gaussian process posterior with covariance K, given y = f(x) + noise of variance `noise`.

    k: the Gram matrix of the samples; with the NNGP kernel f is the network at initialisation, and the posterior that
        of Bayesian inference over all its weights. y: one number per sample, or one row of independent outputs.
    check_definite: False if K is known to be positive semi-definite; see fit_svm. backend, threads: as in fit_ridge.
    The mean is that of fit_ridge at lam = 2·noise. Raises NumericalError if K is not positive semi-definite, or
    K + noise·I not positive definite.

    >>> import numpy as np, widelimit as wl
    >>> x, new = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[1.0, 0.1], [-1.0, 1.0]])
    >>> process = wl.gaussian_process(wl.kernel("fc:2", x, kind="nngp"), [1.0, -1.0], noise=0.01)
    >>> own = wl.diagonal("fc:2", new, kind="nngp")
    >>> mean, variance = process.predict(wl.kernel("fc:2", new, x, kind="nngp"), own)
    >>> bool(variance[0] < variance[1])
    True
    >>> round(process.log_marginal_likelihood, 3)
    -13.364
    """
    targets, single = as_columns(y)
    options = dict(noise=noise, check_definite=check_definite, threads=usable(threads))
    core = _core.gaussian_process(as_kernel(k, "K", backend, usable(threads)), targets, options)
    summary = Summary(*core.fitted()[1])
    if not summary.converged:
        raise _core.NumericalError(summary.message)
    return GaussianProcess(core, noise, single)
