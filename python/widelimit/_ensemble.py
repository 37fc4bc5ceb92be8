"""Gaussian ensemble of randomly initialised, infinitely wide networks trained by gradient flow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from widelimit import _core
from widelimit._arguments.options import as_times
from widelimit._arguments.samples import as_samples
from widelimit._arguments.targets import as_columns
from widelimit._arguments.threads import usable
from widelimit._core import Network
from widelimit._fit import Summary
from widelimit._kernels import as_network, warn_of_quadrature


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Outputs of the ensemble on test points. If t is a list, the first axis of all arrays is that of times."""

    times: NDArray[np.float64]
    mean: NDArray[np.float64]
    """Points, with an axis of outputs if y is two-dimensional."""
    variance: NDArray[np.float64]
    """One for each point; equal for all outputs."""
    covariance: NDArray[np.float64] | None
    """Points × points, if requested."""
    summary: Summary

    @property
    def std(self) -> NDArray[np.float64]:
        """Standard deviation of each point."""
        return np.sqrt(self.variance)

    def __repr__(self) -> str:
        return f"<Ensemble: {self.variance.shape[-1]} points, {self.times.size} times>"


def ensemble(
    net: Network | str | list,
    x: ArrayLike,
    y: ArrayLike,
    x_test: ArrayLike | None = None,
    *,
    t: ArrayLike = np.inf,
    kind: str | None = None,
    lam: float | None = None,
    diag_reg: float | None = None,
    covariance: bool = False,
    precision: str | None = None,
    memory: str | None = None,
    backend: str = "cpu",
    threads: int | None = None,
) -> Ensemble:
    """Returns mean and covariance of infinitely wide networks trained by gradient flow on Σ(y − f)² + λ/2‖w − w₀‖².

    y: one number per sample, or one row. x_test: test points, default the training samples.
    t: one or several times, in the units of flow; numpy.inf is the end of training.
    kind: 'ntk' (default), all layers trained, or 'nngp', only the last layer trained, which for t = ∞ and λ = 0 is
        noise-free Bayesian inference.
    lam: λ, default 0; diag_reg: the same relative to the mean diagonal of the kernel: λ = 2·diag_reg·mean.
    covariance: True also returns the covariance between points.
    memory: the memory limit, e.g. '1GiB'; default: the available memory. Other arguments as in kernel.

    gradient_descent_mse_ensemble(kernel_fn, x, y, learning_rate=η, diag_reg=r) of neural-tangents at time s is
    equivalent to diag_reg=r at t = η·s/(2·y.size).

    >>> import numpy as np, widelimit as wl
    >>> x, new = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[1.0, 0.2]])
    >>> found = wl.ensemble("fc:1", x, [1.0, -1.0], new, t=[0.0, 1.0, np.inf])
    >>> found.mean[:, 0].round(3)
    array([0.   , 0.472, 0.829])
    >>> bool((np.diff(found.std[:, 0]) < 0).all())
    True
    """
    targets, single = as_columns(y)
    samples = as_samples(x, "x", backend)
    times = as_times(t)
    options = {
        "kind": kind,
        "lam": lam,
        "diag_reg": diag_reg,
        "covariance": covariance,
        "precision": precision,
        "memory": memory,
        "backend": backend,
        "threads": usable(threads),
    }
    mean, variance, between, error, end = _core.ensemble(
        as_network(net),
        samples,
        targets,
        samples if x_test is None else as_samples(x_test, "x_test", backend),
        times,
        options,
    )
    summary = Summary(*end)
    if not summary.converged:
        raise _core.NumericalError(summary.message)
    warn_of_quadrature(error, precision, stacklevel=3)
    mean = mean[..., 0] if single else mean
    if np.ndim(t) == 0:
        return Ensemble(times, mean[0], variance[0], None if between is None else between[0], summary)
    return Ensemble(times, mean, variance, between, summary)
