"""Kernels of the neural tangent hierarchy: how training on labels moves the tangent kernel of a wide network."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from widelimit import _core
from widelimit._core import InputError
from widelimit._kernels import warn_of_quadrature
from widelimit._samples import as_samples
from widelimit._targets import as_numbers
from widelimit._threads import usable


@dataclass(frozen=True, eq=False)
class NthKernel:
    """K^NTH with the standard errors of its entries; matrices of test samples are None where there are none."""

    train: NDArray[np.float64]
    """Exactly symmetric."""
    train_error: NDArray[np.float64]
    train_ntk: NDArray[np.float64]
    """The NTK that the correction was added to."""
    test: NDArray[np.float64] | None
    """test × train."""
    test_error: NDArray[np.float64] | None
    test_ntk: NDArray[np.float64] | None
    samples: int
    """Hidden weight vectors that were used."""
    relative_error: float
    """Largest standard error, relative to the largest entry of the correction."""
    relative_correction: float
    """Largest entry of the correction, relative to that of the NTK."""
    remarks: tuple[str, ...]
    """What a reader should know."""
    seconds: float

    def __repr__(self) -> str:
        points = "" if self.test is None else f" and {self.test.shape[0]} test points"
        return (
            f"<NthKernel: {self.train.shape[0]} samples{points}, {self.samples} directions, "
            f"standard error {self.relative_error:.2g} of the correction>"
        )


def nth_kernel(
    x: ArrayLike,
    y: ArrayLike,
    x_test: ArrayLike | None = None,
    *,
    activation: str = "erf",
    samples: int | None = None,
    tolerance: float | None = None,
    max_samples: int | None = None,
    width: float | None = None,
    seed: int | None = None,
    memory: str | None = None,
    backend: str = "cpu",
    threads: int | None = None,
) -> NthKernel:
    """Kernel of the neural tangent hierarchy for f(x) = m^(−1/2) Σ a_r φ(w_r·x), both layers trained on labels y.

    To the order 1/m it is the mean over initial weights of the tangent kernel at the end of centred training
    (f₀ = 0) with squared loss: the NTK and a correction that knows the labels.

    x: rows of numbers, read as they are: the network "dense φ dense" of width m has this kernel on x/√d.
    y: one number for each sample; −1 and 1 for two classes.
    activation: as networks write it. Smooth ones are validated on trained networks; for 'relu' the kernel is as
        published (Chen, He, Su 2020), but kinks add a larger term to the kernel of a trained network: a warning says so.
    samples: hidden weight vectors of the expectations, 4,096 unless said; with tolerance more are drawn, up to
        max_samples, until the largest standard error is at most tolerance times the largest correction.
    width: m; 1 unless said, so that the correction is that of m = 1.

    >>> import numpy as np, widelimit as wl
    >>> x, y = np.array([[1.0, 0.0], [0.6, 0.8], [-0.8, 0.6]]), [1.0, 1.0, -1.0]
    >>> n = wl.nth_kernel(x, y, [[0.0, 1.0]], width=100)
    >>> n.train.shape, n.test.shape, bool((n.train_error < 0.01).all())
    ((3, 3), (1, 3), True)
    >>> same_class = n.train[0, 1] - n.train_ntk[0, 1]
    >>> bool(same_class > n.train[0, 2] - n.train_ntk[0, 2])
    True
    """
    numbers = as_numbers(y)
    if numbers.ndim != 1:
        raise InputError(f"y has {numbers.ndim} dimensions; the hierarchy takes one number for each sample")
    options = {
        "samples": samples,
        "tolerance": tolerance,
        "max_samples": max_samples,
        "width": width,
        "seed": seed,
        "memory": memory,
        "backend": backend,
        "threads": usable(threads),
    }
    points = None if x_test is None else as_samples(x_test, "x_test")
    found = _core.nth_kernel(activation, as_samples(x, "x"), numbers, points, options)
    for remark in found["remarks"]:
        warnings.warn(remark, UserWarning, stacklevel=2)
    warn_of_quadrature(found["quadrature_error"], None, stacklevel=3)
    return NthKernel(
        *found["train"],
        *(found["test"] or (None, None, None)),
        found["samples"],
        found["relative_error"],
        found["relative_correction"],
        tuple(found["remarks"]),
        found["seconds"],
    )
