"""Comparison of finite networks with the kernel machine that is the limit of their training."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from widelimit import _core
from widelimit._arguments.options import whole_numbers
from widelimit._arguments.samples import as_images
from widelimit._arguments.targets import columns
from widelimit._arguments.training import training_options, training_targets
from widelimit._core import Network
from widelimit._fit import ConvergenceWarning
from widelimit._kernels import as_network


class EquivalenceRun(NamedTuple):
    """One network and its machine. Differences are maxima of |f − g| over outputs, points and recorded steps."""

    width: int
    seed: int
    trouble: str
    """Why the network or the machine diverged, in which case all numbers are 0; else empty."""
    difference: float
    train_difference: float
    test_difference: float
    final_difference: float
    """Difference at the last step."""
    kernel_part: float
    """Machine of the limit kernel minus machine of the empirical NTK at initialisation, with parts=True."""
    movement_part: float
    """Machine of the empirical NTK at initialisation minus network, with parts=True."""
    loss: float
    machine_loss: float
    distance: float
    """‖w − w₀‖ at the end."""
    seconds: float


class EquivalencePath(NamedTuple):
    """The first network of a width and its machine during training, with one entry per recorded step."""

    width: int
    difference: NDArray[np.float64]
    loss: NDArray[np.float64]
    machine_loss: NDArray[np.float64]
    outputs: NDArray[np.float64]
    """Steps × watched samples."""
    machine_outputs: NDArray[np.float64]


class WidthSlope(NamedTuple):
    """Slope of log difference against log width between two neighbouring widths."""

    start: int
    end: int
    slope: float
    error: float | None
    """Standard error; None if a width has one network."""


@dataclass(frozen=True, repr=False)
class Equivalence:
    """Result of equivalence. Differences are means over seeds, with one entry per width."""

    widths: NDArray[np.int64]
    difference: NDArray[np.float64]
    slope: float | None
    """Slope of log difference against log width over all networks; None for one width."""
    slope_interval: tuple[float, float] | None
    """95 % confidence interval."""
    final_slope: float | None
    """Slope of the difference at the last step."""
    local_slopes: list[WidthSlope]
    settled: bool | None
    """False if a test at 5 % rejects linearity over the widths; None if untestable."""
    kernel_part: NDArray[np.float64] | None
    movement_part: NDArray[np.float64] | None
    kernel_slope: float | None
    movement_slope: float | None
    runs: list[EquivalenceRun]
    steps: NDArray[np.int64]
    """The recorded steps."""
    watched: NDArray[np.int64]
    """Indices of the training samples whose outputs the paths contain."""
    paths: list[EquivalencePath]
    rate: float
    """Learning rate of networks and machines."""

    def __repr__(self) -> str:
        slope = "no slope" if self.slope is None else f"slope {self.slope:.3f}"
        return f"<Equivalence: widths {self.widths.tolist()}, {slope}>"


def equivalence(
    network: Network | str,
    x: ArrayLike,
    y: ArrayLike,
    *,
    widths: Sequence[int],
    seeds: int | None = None,
    loss: str = "squared",
    lam: float | None = None,
    regulariser: str | None = None,
    rate: float | None = None,
    steps: int | None = None,
    batch: int | None = None,
    seed: int | None = None,
    test: ArrayLike | None = None,
    epsilon: float | None = None,
    linearised: bool | None = None,
    machine_kernel: str | None = None,
    parts: bool = False,
    precision: str | None = None,
    records: int | None = None,
    record_steps: Sequence[int] | None = None,
    backend: str = "cpu",
    threads: int | None = None,
    channels_first: bool | None = None,
) -> Equivalence:
    """Trains networks of several widths and the kernel machine on the same batches, and compares their outputs.

    widths: widths of the hidden layers; seeds: networks per width, with seeds seed, seed + 1, …
    machine_kernel: 'limit', the kernel of infinite width, or 'start', the empirical NTK at initialisation.
    parts: True splits the difference into the random fluctuation of the kernel at initialisation, O(m^(−1/2)), and the
        movement of the kernel in training, which decays faster and dominates if λ or the widths are small.
    rate: learning rate of networks and machine; default: the smallest that train would choose over the widths.
    Other arguments as in train. Under 'init', 'none' and 'aux' f − f₀ is trained, as machines start at 0.

    A network or machine that diverges is excluded from means and slopes, with a ConvergenceWarning.

    >>> import numpy as np, widelimit as wl
    >>> x, y, _ = wl.load_data("digits", classes=[0, 1], limit=16, scale="unit")
    >>> e = wl.equivalence("fc:1", x, y, widths=[32, 512], seeds=3, loss="hinge", lam=1.0, rate=0.1, steps=30)
    >>> bool(e.difference[1] < e.difference[0]), len(e.runs), e.paths[0].outputs.shape
    (True, 6, (31, 2))
    """
    net = as_network(network)
    targets, _ = training_targets(y, loss)
    options = training_options(
        threads,
        loss=loss,
        lam=lam,
        regulariser=regulariser,
        rate=rate,
        steps=steps,
        batch=batch,
        seed=seed,
        epsilon=epsilon,
        linearised=linearised,
        precision=precision,
        records=records,
        record_steps=record_steps,
        backend=backend,
        seeds=seeds,
        machine_kernel=machine_kernel,
        parts=parts,
    )
    samples = as_images(net, x, "x", channels_first, backend)
    points = None if test is None else as_images(net, test, "test samples", channels_first, backend)
    channels = whole_numbers(widths, "widths")
    found = _core.equivalence(net, samples, columns(targets), points, channels, options)
    if found["trouble"]:
        warnings.warn(f"equivalence: {found['trouble']}", ConvergenceWarning, stacklevel=2)
    return Equivalence(
        np.array(channels),
        found["difference"],
        *found["slope"],
        found["final_slope"][0],
        [WidthSlope(*local) for local in found["local_slopes"]],
        found["settled"],
        found["kernel_part"] if parts else None,
        found["movement_part"] if parts else None,
        found["kernel_slope"][0],
        found["movement_slope"][0],
        [EquivalenceRun(*run) for run in found["runs"]],
        found["steps"],
        found["watched"],
        [EquivalencePath(*path) for path in found["paths"]],
        found["rate"],
    )
