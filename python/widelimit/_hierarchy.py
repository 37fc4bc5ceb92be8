"""Kernels of the neural tangent hierarchy: corrections of the NTK of a wide network by training on labels."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from widelimit import _core
from widelimit._arguments.options import as_number
from widelimit._arguments.samples import as_samples
from widelimit._arguments.targets import as_numbers
from widelimit._arguments.threads import usable
from widelimit._core import InputError, Network
from widelimit._kernels import warn_of_quadrature
from widelimit._train import TrainedNetwork, train


@dataclass(frozen=True, eq=False)
class NthKernel:
    """K^NTH with standard errors of its entries; test matrices are None without test samples."""

    train: NDArray[np.float64]
    """Exactly symmetric."""
    train_error: NDArray[np.float64]
    train_ntk: NDArray[np.float64]
    """The NTK without the correction."""
    test: NDArray[np.float64] | None
    """test × train."""
    test_error: NDArray[np.float64] | None
    test_ntk: NDArray[np.float64] | None
    samples: int
    """Number of sampled hidden weight vectors."""
    relative_error: float
    """Largest standard error, relative to the largest entry of the correction."""
    relative_correction: float
    """Largest entry of the correction, relative to that of the NTK."""
    remarks: tuple[str, ...]
    """Remarks on the validity of the result."""
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
    """Returns the neural tangent hierarchy kernel of f(x) = m^(−1/2) Σ a_r φ(w_r·x), both layers trained on labels y.

    To first order in 1/m it is the mean over initial weights of the tangent kernel at the end of centred training
    (f₀ = 0) with squared loss: the NTK plus a label-dependent correction.

    x: N×D, used without scaling: this is the kernel of the network "dense φ dense" of width m on √d·x.
    y: one number per sample; −1 and 1 for two classes.
    activation: in the syntax of networks. Smooth activations are validated on trained networks; for 'relu' the kernel
        is as published (Chen, He, Su 2020), but kinks add a larger term to the kernel of a trained network, of which a
        warning is given.
    samples: number of hidden weight vectors for the expectations, default 4,096; powers of 2 are best. With tolerance
        it is doubled, up to max_samples, until the largest standard error is at most tolerance times the largest
        correction; the kernel is that of samples with the final number. All back ends draw the same vectors.
    width: m, default 1. seed: of the hidden weights. memory: the memory limit, e.g. '1GiB'; default: the available
        memory.
    x_test: test points, for K(test, train). backend, threads: as in kernel.

    >>> import numpy as np, widelimit as wl
    >>> x, y = np.array([[1.0, 0.0], [0.6, 0.8], [-0.8, 0.6]]), [1.0, 1.0, -1.0]
    >>> n = wl.nth_kernel(x, y, [[0.0, 1.0]], width=100)
    >>> n.train.shape, n.test.shape, bool((n.train_error < 0.01).all())
    ((3, 3), (1, 3), True)
    >>> bool((abs(n.train - n.train_ntk) > 3 * n.train_error).any())
    True
    """
    numbers = as_numbers(y)
    if numbers.ndim != 1:
        raise InputError(f"y has {numbers.ndim} dimensions; nth_kernel needs one number for each sample")
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
    points = None if x_test is None else as_samples(x_test, "x_test", backend)
    found = _core.nth_kernel(activation, as_samples(x, "x", backend), numbers, points, options)
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


@dataclass(frozen=True, eq=False)
class KernelAtTime:
    """K̂_t of one network; test matrices are None without test points."""

    train: NDArray[np.float64]
    """train_start + train_first + train_second."""
    train_start: NDArray[np.float64]
    """The empirical NTK at initialisation."""
    train_first: NDArray[np.float64]
    train_second: NDArray[np.float64]
    train_trained: NDArray[np.float64] | None
    """The empirical NTK of the trained network, with trained=True."""
    test: NDArray[np.float64] | None
    """test × train."""
    test_start: NDArray[np.float64] | None
    test_first: NDArray[np.float64] | None
    test_second: NDArray[np.float64] | None
    test_trained: NDArray[np.float64] | None
    remarks: tuple[str, ...]
    seconds: float

    def __repr__(self) -> str:
        return f"<KernelAtTime: {self.train.shape[0]} samples>"


def kernel_at_time(
    t: float,
    net: TrainedNetwork | Network | str | list,
    x: ArrayLike,
    y: ArrayLike,
    x_test: ArrayLike | None = None,
    *,
    width: int | None = None,
    seed: int | None = None,
    centred: bool = False,
    trained: bool = False,
    tolerance: float | None = None,
    threads: int | None = None,
) -> KernelAtTime:
    """Predicts the tangent kernel of a finite network after training for time t from its initial weights.

    Uses the second order of the neural tangent hierarchy, for any architecture with one output and smooth activations.

    t: time of the gradient flow on Σ(y − f)², as in flow and train; numpy.inf is the end of training. In the units of
        Chen, He and Su (2020), whose loss is Σ(y − f)²/(2n), it is 2n·t.
    net: a network from train, whose initial weights are used, or a network with width and seed.
    centred: train f − f₀, so that outputs start at 0; given by a network from train.
    trained: True also trains the network up to t, with the given tolerance of outputs, and returns its kernel.

    >>> import numpy as np, widelimit as wl
    >>> x, y = np.array([[1.0, 0.0], [0.6, 0.8], [-0.8, 0.6]]), [1.0, 1.0, -1.0]
    >>> k = wl.kernel_at_time(0.5, "dense tanh dense", x, y, width=512, trained=True)
    >>> bool(abs(k.train_trained - k.train).max() < 0.2 * abs(k.train_trained - k.train_start).max())
    True
    """
    numbers = as_numbers(y)
    if numbers.ndim != 1:
        raise InputError(f"y has {numbers.ndim} dimensions; give one number for each sample")
    if not isinstance(net, TrainedNetwork):
        more = {name: value for name, value in (("width", width), ("seed", seed)) if value is not None}
        net = train(net, x, numbers, steps=0, centred=centred, threads=threads, **more)
    elif width is not None or seed is not None or centred:
        raise InputError("width, seed and centred are those of the trained network; leave them out")
    options = {"time": as_number(t, "t"), "trained": trained, "tolerance": tolerance, "threads": usable(threads)}
    points = None if x_test is None else net._samples(x_test, "x_test")
    found = _core.kernel_at_time(net._core, net._samples(x, "x"), numbers, points, options)
    for remark in found["remarks"]:
        warnings.warn(remark, UserWarning, stacklevel=2)
    return KernelAtTime(*found["train"], *(found["test"] or (None,) * 5), tuple(found["remarks"]), found["seconds"])
