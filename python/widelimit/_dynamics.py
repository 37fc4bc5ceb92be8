"""Kernel machines while they are trained: gradient flow and gradient descent of a Gram matrix."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from widelimit import _core
from widelimit._core import InputError
from widelimit._fit import ConvergenceWarning, Summary
from widelimit._samples import as_kernel, as_matrix
from widelimit._targets import as_classes, as_numbers, holds_numbers
from widelimit._threads import usable

_CLASS_LOSSES = ("hinge", "squared-hinge", "logistic", "softmax")


class FlowEvent(NamedTuple):
    """An output that met a kink of its loss."""

    time: float
    sample: int
    output: int
    meeting: str
    """'crosses', 'slides' (stays, held by a multiplier), 'leaves' or 'rests'."""


class RateCheck(NamedTuple):
    """L(β_t) − L(β*) ≤ e^{−2λt}(L(β₀) − L(β*)), EQ Theorem 3.1, along a trajectory; None where not known."""

    holds: bool | None
    optimum: float | None
    """L(β*)."""
    largest_ratio: float | None
    """Of the left to the right side, after the start."""
    at: float | None
    """Its time or step."""
    note: str
    """Why it was not checked, if so."""


@dataclass(frozen=True, repr=False)
class Trajectory:
    """Outputs of a kernel machine while it is trained. Arrays have a first axis of recorded moments; a last axis of
    outputs is left out where y was one column."""

    times: NDArray[np.float64]
    """Times of a flow, numbers of steps of a descent."""
    outputs: NDArray[np.float64]
    """g on the training samples: moments × samples (× outputs)."""
    test_outputs: NDArray[np.float64] | None
    """g on the test points, where k_test was given."""
    coefficients: NDArray[np.float64] | None
    """α at each moment, where asked for."""
    objective: NDArray[np.float64]
    """λ/2‖β‖² + Σ l, without the part of the norm of a start outside the span of the samples."""
    loss: NDArray[np.float64]
    """Σ l."""
    alpha: NDArray[np.float64]
    """α at the end: g(x) = Σ αᵢ K(x, xᵢ)."""
    samples: NDArray[np.intp]
    """The training samples whose outputs were kept."""
    events: list[FlowEvent]
    """Of a flow whose loss has kinks, the first 100,000 of each output."""
    event_count: int
    rate: RateCheck
    recursion_error: float | None
    """Of a descent: how far the outputs carried by EQ Theorem 3.2 are from those of α, relative."""
    stable_step: float | None
    """Of a descent: beyond this step it diverges."""
    step: float | None
    """Of a descent with a constant schedule: its step."""
    summary: Summary

    def __repr__(self) -> str:
        return f"<Trajectory: {len(self.times)} moments, {len(self.alpha)} samples, {self.summary.ending}>"


def _targets(y: ArrayLike, loss: str) -> tuple[NDArray[np.float64], bool]:
    """y as samples × outputs, and whether that is one output; the library checks that it fits the loss."""
    numeric = holds_numbers(y)
    if numeric and (np.ndim(y) == 2 or loss not in _CLASS_LOSSES):
        numbers = as_numbers(y)
        return (numbers[:, None], True) if numbers.ndim == 1 else (numbers, False)
    classes, labels = as_classes(y)
    if len(classes) < 2:
        # Numbers ±1 of one class are still numbers, but a softmax of one class is nothing.
        if not numeric or loss == "softmax":
            raise InputError(f"y has {len(classes)} classes; give two or more")
        return as_numbers(y)[:, None], True
    targets = _core.loss_targets(loss, labels, len(classes))
    return targets, targets.shape[1] == 1


def _part(values: ArrayLike | None, name: str) -> NDArray[np.float64] | None:
    if values is None:
        return None
    numbers = as_numbers(values, name)
    return numbers[:, None] if numbers.ndim == 1 else numbers


def _times(times: ArrayLike) -> NDArray[np.float64]:
    """Times as the library reads them, which checks their order; infinity is one."""
    found = np.asarray(times)
    if found.dtype.kind not in "fiu" or found.ndim > 1:
        raise InputError("times must be a list of numbers")
    return np.ascontiguousarray(np.atleast_1d(found), dtype=np.float64)


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
    """The machine of a Gram matrix trained by gradient flow, ġ(x) = −λ g(x) − Σ l'(g(xᵢ), yᵢ) K(x, xᵢ).

    k: the Gram matrix of the samples, symmetric; float32 and float64 are read where they lie.
    y: numbers for 'squared' and 'insensitive', else the class of each sample (two become ±1, the second in order the
        positive one); or samples × outputs as the loss takes them.
    loss: 'squared' (closed form), 'hinge' or 'insensitive' (event by event, exactly), 'squared-hinge', 'logistic' or
        'softmax' (Runge–Kutta).
    times: from 0 up; numpy.inf is the limit, the fitted machine.
    lam: λ, 1 unless said; 0 is allowed. epsilon: of 'insensitive', 0.1 unless said.
    k_test: K(test, train); these points are carried along.
    alpha0: coefficients at the start; g0, g0_test: outputs at the start beside K @ alpha0, which decay as e^{−λt}.
    record: training samples whose outputs are kept, all unless said; coefficients: True keeps α at all times.
    method: 'runge-kutta' for squared loss without its closed form. tolerance: of a Runge–Kutta step, 1e-9 unless said.
    backend: as in fit_ridge; k_test is read by the host. check_definite: as in fit_svm.

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
    if method not in (None, "runge-kutta"):
        raise InputError(f"method {method!r}; leave it out, or give 'runge-kutta'")
    targets, single = _targets(y, loss)
    moments = _times(times)
    parts = _core.flow(
        as_kernel(k, "K", backend, usable(threads)),
        targets,
        loss,
        moments,
        lam,
        epsilon,
        None if k_test is None else as_matrix(k_test, "K(test, train)"),
        _part(alpha0, "alpha0"),
        _part(g0, "g0"),
        _part(g0_test, "g0_test"),
        None if record is None else [int(i) for i in record],
        coefficients,
        method == "runge-kutta",
        tolerance,
        max_events,
        max_steps,
        usable(threads),
        check_definite,
    )
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
    """The machine of a Gram matrix trained by (sub)gradient descent, α ← (1 − ηλ)α − η·(n/|B|)·Σ_{i∈B} l'(g(xᵢ), yᵢ)eᵢ.

    rate: η, a stable one unless said; schedule: 'pegasos' for 1/(λt) instead. steps: 1000 unless
        said.
    batch: samples of a step, all unless said, drawn by seed: wl.train with the same seed sees the same ones.
    record_every: steps between recorded moments, 1 unless said; step 0 and the last are recorded too.
    Other arguments as those of flow. Steps beyond `stable_step` are warned of, and a descent that diverges is stopped.

    >>> import widelimit as wl
    >>> t = wl.descend([[2.0]], [1.0], loss="squared", lam=0.0, rate=0.125, steps=3)
    >>> t.outputs[:, 0]
    array([0.   , 0.5  , 0.75 , 0.875])
    >>> t.stable_step
    0.5
    """
    targets, single = _targets(y, loss)
    parts = _core.descend(
        as_kernel(k, "K", backend, usable(threads)),
        targets,
        loss,
        rate,
        schedule,
        steps,
        batch,
        seed,
        record_every,
        lam,
        epsilon,
        None if k_test is None else as_matrix(k_test, "K(test, train)"),
        _part(alpha0, "alpha0"),
        _part(g0, "g0"),
        _part(g0_test, "g0_test"),
        None if record is None else [int(i) for i in record],
        coefficients,
        usable(threads),
        check_definite,
    )
    return _trajectory(parts, single, k_test is not None, 2)
