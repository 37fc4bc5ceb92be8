"""Marginal likelihood of the Gaussian process of a network, and the parameters that maximise it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from widelimit import _core
from widelimit._arguments.samples import as_samples
from widelimit._arguments.targets import as_columns
from widelimit._arguments.threads import usable
from widelimit._core import Network
from widelimit._fit import ConvergenceWarning, Summary
from widelimit._kernels import as_network, warn_of_quadrature


class ProcessParameters(NamedTuple):
    """Parameters of the Gaussian process of a network, or derivatives with respect to them."""

    w_std: float
    """Weight standard deviation of all layers."""
    b_std: float
    noise: float
    """Noise variance."""


class MarginalLikelihood(NamedTuple):
    """Log marginal likelihood and its gradient."""

    value: float
    """log p(y), summed over the columns of y."""
    gradient: ProcessParameters
    """Derivatives by log w_std and log b_std (a common factor of all layers) and log noise."""


class LikelihoodStart(NamedTuple):
    """One start of a multi-start search, and its result."""

    start: ProcessParameters
    end: ProcessParameters
    start_value: float | None
    """log p(y); None if K + noise·I is not positive definite."""
    value: float | None
    gradient: float
    """Largest entry of the projected gradient by log-parameters, per target."""
    iterations: int
    ending: str


@dataclass(frozen=True, eq=False)
class LikelihoodOptimum:
    """The best local maximum of a multi-start search."""

    network: Network
    """The network with the optimal w_std and b_std."""
    noise: float
    value: float
    summary: Summary
    """`gradient` is that of the best start; `iterations` is the sum over all starts."""
    w_std: float
    b_std: float
    gradient: ProcessParameters
    """Gradient by log-parameters."""
    starts: list[LikelihoodStart]

    def __repr__(self) -> str:
        found = f"w_std {self.w_std:.4g}, b_std {self.b_std:.4g}, noise {self.noise:.4g}"
        return f"<LikelihoodOptimum: {self.value:.6g} at {found}, {self.summary.ending}>"


def with_std(net: Network | str | list, w_std: float, b_std: float = 0.0) -> Network:
    """Returns the network with this w_std and b_std in all dense and convolutional layers.

    >>> import widelimit as wl
    >>> print(wl.with_std("dense relu dense(w_std=3)", 1.5, 0.1))
    dense(w_std=1.5, b_std=0.1) relu dense(w_std=1.5, b_std=0.1)
    """
    return _core.with_std(as_network(net), w_std, b_std)


def marginal_likelihood(
    net: Network | str | list,
    x: ArrayLike,
    y: ArrayLike,
    *,
    noise: float | None = None,
    kind: str | None = None,
    memory: str | None = None,
    backend: str = "cpu",
    threads: int | None = None,
) -> MarginalLikelihood:
    """Returns log p(y) of y = f(x) + noise, f the Gaussian process of the network, and its gradient.

    noise: noise variance, default 0.
    kind: 'nngp' (default), the prior of the network, or 'ntk' for the NTK as covariance.
    memory: the memory limit, e.g. '1GiB'; default: the available memory. Other arguments as in kernel.
    Raises NumericalError, with the failing minor, if K + noise·I is not positive definite. Always in float64.

    >>> import numpy as np, widelimit as wl
    >>> x = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> value, gradient = wl.marginal_likelihood("fc:2", x, [1.0, -1.0, 0.5], noise=0.1)
    >>> round(value, 4), round(gradient.noise, 4), gradient.b_std
    (-7.1639, 3.3299, 0.0)
    """
    options = {"noise": noise, "kind": kind, "memory": memory, "backend": backend, "threads": usable(threads)}
    value, gradient, error, end = _core.marginal_likelihood(
        as_network(net), as_samples(x, "x", backend), as_columns(y)[0], options
    )
    summary = Summary(*end)
    if not summary.converged:
        raise _core.NumericalError(summary.message)
    warn_of_quadrature(error, None, stacklevel=3)
    return MarginalLikelihood(value, ProcessParameters(*gradient))


def optimise_marginal_likelihood(
    net: Network | str | list,
    x: ArrayLike,
    y: ArrayLike,
    *,
    kind: str | None = None,
    w_std: float | None = None,
    b_std: float | None = None,
    noise: float | None = None,
    w_std_range: tuple[float, float] | None = None,
    b_std_range: tuple[float, float] | None = None,
    noise_range: tuple[float, float] | None = None,
    starts: int | None = None,
    seed: int | None = None,
    tolerance: float | None = None,
    max_iterations: int | None = None,
    memory: str | None = None,
    backend: str = "cpu",
    threads: int | None = None,
) -> LikelihoodOptimum:
    """Maximises the marginal likelihood of y over w_std and b_std of all weight layers and the noise.

    kind, memory: as in marginal_likelihood.
    w_std, b_std, noise: the first start; default: those of the first layer (b_std 0.1 without bias), and a tenth of the
        mean square of y. w_std_range, b_std_range, noise_range: bounds; default: (1e-2, 1e2), (1e-3, 10), and 1e-6 to
        10 times the mean square of y. A parameter with equal bounds is fixed: b_std_range=(0, 0) for a network without
        biases.
    starts: number of starts, default 3; those after the first are drawn by `seed`, and the best result is returned.
    tolerance: of the largest entry of the projected gradient per target, default 1e-6.
    max_iterations: iterations per start, default 100.
    Issues a ConvergenceWarning if the best start did not converge; raises NumericalError if no start has a likelihood.

    >>> import numpy as np, widelimit as wl
    >>> x = np.random.default_rng(0).normal(size=(40, 2))
    >>> y = np.sin(x[:, 0]) + 0.1 * np.random.default_rng(1).normal(size=40)
    >>> best = wl.optimise_marginal_likelihood("dense erf dense", x, y, starts=1)
    >>> best.summary.ending, 0.003 < best.noise < 0.03
    ('converged', True)
    >>> best.value > wl.marginal_likelihood("dense erf dense", x, y, noise=0.1).value
    True
    """
    options: dict[str, Any] = {
        "kind": kind,
        "w_std": w_std,
        "b_std": b_std,
        "noise": noise,
        "w_std_range": w_std_range,
        "b_std_range": b_std_range,
        "noise_range": noise_range,
        "starts": starts,
        "seed": seed,
        "tolerance": tolerance,
        "max_iterations": max_iterations,
        "memory": memory,
        "backend": backend,
        "threads": usable(threads),
    }
    network, found, value, gradient, begun, error, end = _core.optimise_marginal_likelihood(
        as_network(net), as_samples(x, "x", backend), as_columns(y)[0], options
    )
    summary = Summary(*end)
    if summary.ending == "not positive definite":
        raise _core.NumericalError(summary.message)
    if not summary.converged:
        warnings.warn(f"{summary.ending}: {summary.message}", ConvergenceWarning, stacklevel=2)
    warn_of_quadrature(error, None, stacklevel=3)
    best = ProcessParameters(*found)
    return LikelihoodOptimum(
        network,
        best.noise,
        value,
        summary,
        best.w_std,
        best.b_std,
        ProcessParameters(*gradient),
        [LikelihoodStart(ProcessParameters(*a), ProcessParameters(*b), *rest) for a, b, *rest in begun],
    )
