"""Training dynamics of kernel machines: gradient flow and gradient descent on a Gram matrix."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from widelimit import _core
from widelimit._arguments.arrays import as_array
from widelimit._arguments.options import as_times, whole_numbers
from widelimit._arguments.samples import as_kernel, as_matrix
from widelimit._arguments.targets import as_classes, as_columns, holds_numbers
from widelimit._arguments.threads import usable
from widelimit._core import InputError
from widelimit._fit import ConvergenceWarning, Summary

_CLASS_LOSSES = ("hinge", "squared-hinge", "logistic", "softmax")


class FlowEvent(NamedTuple):
    """An output that reached a kink of its loss."""

    time: float
    sample: int
    output: int
    meeting: str
    """'crosses', 'slides' (stays at the kink by a multiplier), 'leaves' or 'rests'."""


class RateCheck(NamedTuple):
    """L(β_t) − L(β*) ≤ e^{−2λt}(L(β₀) − L(β*)), EQ Theorem 3.1, along a trajectory; None if unknown."""

    holds: bool | None
    optimum: float | None
    """L(β*)."""
    largest_ratio: float | None
    """Largest ratio of the left to the right side after the start."""
    at: float | None
    """Time or step of the largest ratio."""
    note: str
    """Why the inequality was not checked, if so."""


@dataclass(frozen=True, repr=False)
class Trajectory:
    """Outputs of a kernel machine during training. The first axis of arrays is that of the recorded times; the last
    axis, of outputs, is omitted if y is one-dimensional."""

    times: NDArray[np.float64]
    """Times of a flow, or step counts of a descent."""
    outputs: NDArray[np.float64]
    """g on the training samples: times × samples (× outputs)."""
    test_outputs: NDArray[np.float64] | None
    """g on the test points, if k_test was given."""
    coefficients: NDArray[np.float64] | None
    """α at each recorded time, if requested."""
    objective: NDArray[np.float64]
    """λ/2‖β‖² + Σ l, without the norm of the initial component outside the span of the samples."""
    loss: NDArray[np.float64]
    """Σ l."""
    alpha: NDArray[np.float64]
    """α at the end: g(x) = Σ αᵢ K(x, xᵢ)."""
    samples: NDArray[np.intp]
    """Indices of the training samples whose outputs were recorded."""
    events: list[FlowEvent]
    """Events of a flow whose loss has kinks; at most 100,000 per output."""
    event_count: int
    rate: RateCheck
    recursion_error: float | None
    """Descent: relative difference of the outputs by the recursion of EQ Theorem 3.2 from those of α."""
    stable_step: float | None
    """Descent: largest stable step size."""
    step: float | None
    """Descent with a constant schedule: its step size."""
    summary: Summary

    def __repr__(self) -> str:
        return f"<Trajectory: {len(self.times)} moments, {len(self.alpha)} samples, {self.summary.ending}>"


def _targets(y: ArrayLike, loss: str) -> tuple[NDArray[np.float64], bool]:
    """Returns y as samples × outputs, and whether there is one output. The core library checks the loss."""
    numeric = holds_numbers(y)
    if numeric and (as_array(y, "y").ndim == 2 or loss not in _CLASS_LOSSES):
        return as_columns(y)
    classes, labels = as_classes(y)
    if len(classes) < 2:
        # Numbers ±1 with one distinct value are valid targets, but softmax needs two classes.
        if not numeric or loss == "softmax":
            raise InputError(f"y has {len(classes)} classes; give two or more")
        return as_columns(y)
    targets = _core.loss_targets(loss, labels, len(classes))
    return targets, targets.shape[1] == 1


def _test_and_start(
    k_test: ArrayLike | None, alpha0: ArrayLike | None, g0: ArrayLike | None, g0_test: ArrayLike | None
) -> tuple:
    """Converts the arrays that flow and descend share, in the order of the core library."""

    def optional_columns(values: ArrayLike | None, name: str) -> NDArray[np.float64] | None:
        return None if values is None else as_columns(values, name)[0]

    return (
        None if k_test is None else as_matrix(k_test, "K(test, train)"),
        optional_columns(alpha0, "alpha0"),
        optional_columns(g0, "g0"),
        optional_columns(g0_test, "g0_test"),
    )


def _trajectory(parts: tuple, single: bool, tested: bool, stacklevel: int) -> Trajectory:
    times, train, test, coefficients, objective, loss, alpha, samples, events, count, rate, error, *steps, end = parts

    def squeezed(array: NDArray[np.float64]) -> NDArray[np.float64]:
        return array[..., 0] if single else array

    summary = Summary(*end)
    if summary.message:
        warnings.warn(f"{summary.ending}: {summary.message}", ConvergenceWarning, stacklevel=stacklevel + 1)
    return Trajectory(
        times,
        squeezed(train),
        squeezed(test) if tested else None,
        squeezed(coefficients) if coefficients.size else None,
        objective,
        loss,
        squeezed(alpha),
        samples,
        [FlowEvent(*event) for event in events],
        count,
        RateCheck(*rate),
        error,
        *steps,
        summary,
    )


def flow(
    k: ArrayLike,
    y: ArrayLike,
    *,
    loss: str,
    times: ArrayLike,
    lam: float | None = None,
    epsilon: float | None = None,
    k_test: ArrayLike | None = None,
    alpha0: ArrayLike | None = None,
    g0: ArrayLike | None = None,
    g0_test: ArrayLike | None = None,
    record: Sequence[int] | None = None,
    coefficients: bool = False,
    method: str | None = None,
    tolerance: float | None = None,
    max_events: int | None = None,
    max_steps: int | None = None,
    backend: str | None = None,
    threads: int | None = None,
    check_definite: bool | None = None,
) -> Trajectory:
    """Trains a kernel machine by gradient flow, ġ(x) = −λ g(x) − Σ l'(g(xᵢ), yᵢ) K(x, xᵢ).

    k: the symmetric Gram matrix of the samples; float32 and float64 are not copied.
    y: numbers for 'squared' and 'insensitive', else the class of each sample (two classes become ±1, the second in
        sorted order is positive); or a samples × outputs array of targets of the loss.
    loss: 'squared' (closed form), 'hinge' or 'insensitive' (exact, event-driven), 'squared-hinge', 'logistic' or
        'softmax' (Runge–Kutta).
    times: increasing, nonnegative; numpy.inf is the limit, the fitted machine.
    lam: λ ≥ 0, default 1. epsilon: ε of 'insensitive', default 0.1.
    k_test: K(test, train); the outputs at these points are integrated too.
    alpha0: initial coefficients; g0, g0_test: initial outputs in addition to K @ alpha0, which decay as e^{−λt}.
    record: training samples whose outputs are recorded, default all; coefficients: True records α at all times.
    method: 'runge-kutta' to integrate the squared loss numerically. tolerance: of a Runge–Kutta step, default 1e-9.
    max_events: kinks reached per output, default 1,000 plus 200 per sample; max_steps: Runge–Kutta steps, default one
        million.
    backend: as in fit_ridge; k_test must be in host memory. check_definite: as in fit_svm.

    A flow that cannot reach all times ends early, with a ConvergenceWarning.

    >>> import numpy as np, widelimit as wl
    >>> t = wl.flow([[2.0]], [1.0], loss="hinge", lam=0.5, times=[0.1, 1.0, np.inf])
    >>> t.outputs[:, 0].round(4)
    array([0.1951, 1.    , 1.    ])
    >>> t.events[0].meeting, round(t.events[0].time, 4)
    ('slides', 0.5754)
    >>> t.alpha, t.rate.holds
    (array([0.5]), True)
    """
    targets, single = _targets(y, loss)
    options = dict(
        loss=loss, lam=lam, epsilon=epsilon, record=whole_numbers(record, "record"), coefficients=coefficients,
        method=method, tolerance=tolerance, max_events=max_events, max_steps=max_steps, threads=usable(threads),
        check_definite=check_definite,
    )  # fmt: skip
    gram = as_kernel(k, "K", backend, usable(threads))
    arrays = _test_and_start(k_test, alpha0, g0, g0_test)
    parts = _core.flow(gram, targets, as_times(times), *arrays, options)
    return _trajectory(parts, single, k_test is not None, 2)


def descend(
    k: ArrayLike,
    y: ArrayLike,
    *,
    loss: str,
    lam: float | None = None,
    rate: float | None = None,
    schedule: str | None = None,
    steps: int | None = None,
    batch: int | None = None,
    seed: int | None = None,
    record_every: int | None = None,
    epsilon: float | None = None,
    k_test: ArrayLike | None = None,
    alpha0: ArrayLike | None = None,
    g0: ArrayLike | None = None,
    g0_test: ArrayLike | None = None,
    record: Sequence[int] | None = None,
    coefficients: bool = False,
    backend: str | None = None,
    threads: int | None = None,
    check_definite: bool | None = None,
) -> Trajectory:
    """Trains a kernel machine by (sub)gradient descent, α ← (1 − ηλ)α − η·(n/|B|)·Σ_{i∈B} l'(g(xᵢ), yᵢ)eᵢ.

    rate: η; default: a stable step size. schedule: 'pegasos' for η = 1/(λt). steps: default 1000.
    batch: batch size, default all samples; batches are drawn by seed, the same as in wl.train with this seed.
    record_every: steps between recordings, default 1; step 0 and the last step are always recorded.
    Other arguments as in flow. A step size above `stable_step` gives a warning, and a diverging descent is stopped.

    >>> import widelimit as wl
    >>> t = wl.descend([[2.0]], [1.0], loss="squared", lam=0.0, rate=0.125, steps=3)
    >>> t.outputs[:, 0]
    array([0.   , 0.5  , 0.75 , 0.875])
    >>> t.stable_step
    0.5
    """
    targets, single = _targets(y, loss)
    options = dict(
        loss=loss, rate=rate, schedule=schedule, steps=steps, batch=batch, seed=seed, record_every=record_every,
        lam=lam, epsilon=epsilon, record=whole_numbers(record, "record"), coefficients=coefficients,
        threads=usable(threads), check_definite=check_definite,
    )  # fmt: skip
    gram = as_kernel(k, "K", backend, usable(threads))
    parts = _core.descend(gram, targets, *_test_and_start(k_test, alpha0, g0, g0_test), options)
    return _trajectory(parts, single, k_test is not None, 2)
