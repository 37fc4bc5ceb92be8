"""Spectra of kernels: how fast a wide network learns labels, by the eigendirections of its kernel."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from widelimit import _core
from widelimit._core import InputError, Network
from widelimit._fit import ConvergenceWarning
from widelimit._kernels import as_network
from widelimit._samples import as_images, as_kernel
from widelimit._targets import as_classes, as_numbers, holds_numbers
from widelimit._threads import usable


class ModeRate(NamedTuple):
    """The rate of one eigendirection, fitted to a training run."""

    mode: int
    """The direction, from 0."""
    share: float
    """Of ‖y‖² in this direction."""
    eigenvalue: float
    """Of the limit."""
    fitted: float
    """The eigenvalue that the network shows."""
    interval: tuple[float, float] | None
    """95 % of the least-squares slope, were deviations from the line independent; tells how straight it is."""
    points: int
    """Recorded steps that were fitted."""


@dataclass(frozen=True, eq=False, repr=False)
class ModeDynamics:
    """Errors of a network of finite width in the eigendirections of a kernel, along gradient descent."""

    width: int
    rate: float
    """η of gradient descent on ½‖f − y‖²."""
    steps: NDArray[np.int64]
    measured: NDArray[np.float64]
    """Recorded steps × directions: ‖⟨vᵢ, y − f⟩‖ over the outputs."""
    predicted: NDArray[np.float64]
    """|1 − ηλᵢ|ᵏ‖⟨vᵢ, y⟩‖."""
    loss: NDArray[np.float64]
    """‖f − y‖²."""
    predicted_loss: NDArray[np.float64]
    distance: NDArray[np.float64]
    """‖w − w₀‖."""
    rates: list[ModeRate]
    largest_difference: float
    """Largest |loss − predicted_loss|/‖y‖² over the recorded steps."""

    def __repr__(self) -> str:
        return f"<ModeDynamics: width {self.width}, {len(self.steps)} moments, {self.measured.shape[1]} directions>"


class Spectrum:
    """K = Σ λᵢ vᵢ vᵢᵀ, and labels y in its eigendirections.

    Losses are those of gradient flow and descent on ½‖u − y‖² from u = 0: ⟨vᵢ, u(t) − y⟩ = −e^(−λᵢt)⟨vᵢ, y⟩, and
    (1 − ηλᵢ)ᵏ in k steps. wl.flow and wl.train have a squared loss without the ½: half of these times and rates there.
    """

    def __init__(self, kernel: _core.KernelSpectrum, y: NDArray[np.float64], single: bool) -> None:
        self._kernel = kernel
        self._labels = _core.LabelSpectrum.of(kernel, y)
        self._single = single
        self.y = y[:, 0] if single else y
        """The labels as they are learnt: one number for each sample, or a row of them."""

    @property
    def eigenvalues(self) -> NDArray[np.float64]:
        """λ, largest first; those that only rounding leaves below 0 are 0."""
        return self._kernel.eigenvalues()

    @property
    def eigenvectors(self) -> NDArray[np.float64]:
        """vᵢ in column i, as numpy.linalg.eigh has them."""
        return self._kernel.eigenvectors().T

    @property
    def rank(self) -> int:
        """Eigenvalues above rounding; what labels have in the other directions counts as never learnt."""
        return self._kernel.rank

    @property
    def condition(self) -> float | None:
        """λ₁/λₙ; None where λₙ may be rounding."""
        return self._kernel.condition

    @property
    def stable_rate(self) -> float | None:
        """2/λ₁: gradient descent diverges beyond it."""
        return self._kernel.stable_rate

    @property
    def projections(self) -> NDArray[np.float64]:
        """⟨vᵢ, y⟩; a column for each output where y has several."""
        found = self._labels.projections()
        return found[:, 0] if self._single else found

    @property
    def energy(self) -> NDArray[np.float64]:
        """⟨vᵢ, y⟩², summed over the outputs."""
        return self._labels.energy()

    @property
    def cumulative_energy(self) -> NDArray[np.float64]:
        """Share of ‖y‖² in the first directions."""
        return self._labels.cumulative_energy()

    @property
    def floor(self) -> float:
        """Share of ‖y‖² in the null space of K: the loss never falls below it."""
        return self._labels.floor

    @property
    def norm(self) -> float | None:
        """yᵀK⁻¹y, summed over the outputs; None where it is infinite."""
        return self._labels.norm

    def loss(self, t: ArrayLike) -> NDArray[np.float64]:
        """‖u(t) − y‖² of gradient flow at these times; numpy.inf is the end."""
        times = np.asarray(t, dtype=np.float64)
        return self._labels.loss(np.ascontiguousarray(times.ravel())).reshape(times.shape)[()]

    def loss_after(self, steps: ArrayLike, rate: float) -> NDArray[np.float64]:
        """‖u − y‖² after so many steps of gradient descent."""
        counts = np.asarray(steps)
        if counts.dtype.kind not in "iu":
            raise InputError("steps must be whole numbers")
        whole = np.ascontiguousarray(counts.ravel(), dtype=np.int64)
        return self._labels.loss_after(whole, rate).reshape(counts.shape)[()]

    def time_to(self, eps: float) -> float:
        """Least t with ‖u(t) − y‖² ≤ eps·‖y‖². NumericalError with the floor where it is never reached."""
        return self._labels.time_to(eps)

    def steps_to(self, eps: float, rate: float) -> int:
        """The same in steps of gradient descent."""
        return self._labels.steps_to(eps, rate)

    def effective_dimension(self, ridge: float) -> float:
        """Σ λᵢ/(λᵢ + ridge): degrees of freedom of ridge regression with `ridge` on the diagonal."""
        return self._kernel.effective_dimension(ridge)

    def with_labels(
        self, y: ArrayLike | None = None, *, labels: str = "true", classify: bool = False, seed: int | None = None
    ) -> Spectrum:
        """The same kernel with other labels, without a new decomposition; y as before unless given."""
        given = self.y if y is None else y
        return Spectrum(self._kernel, *_chosen(self._kernel, given, labels, classify, seed))

    def train(
        self,
        network: Network | str,
        x: ArrayLike,
        *,
        width: int | None = None,
        steps: int | None = None,
        rate: float | None = None,
        records: int | None = None,
        fitted_to: float | None = None,
        seed: int | None = None,
        precision: str | None = None,
        memory: str | None = None,
        backend: str = "cpu",
        threads: int | None = None,
        channels_first: bool | None = None,
    ) -> ModeDynamics:
        """Trains a network on these labels and measures its error in each eigendirection beside the prediction.

        network, x: those of the kernel. f − f₀ is trained by full-batch gradient descent on ½‖f − f₀ − y‖².
        width: 1024 unless said; steps: 500; rate: η, 1/(2λ₁); records: about so many recorded steps, 60.
        fitted_to: rates are fitted until the error of a direction is this share of its start, 0.1.

        A training that diverges has no rates, with a ConvergenceWarning.
        """
        net = as_network(network)
        options = {
            "width": width,
            "steps": steps,
            "rate": rate,
            "records": records,
            "fitted_to": fitted_to,
            "seed": seed,
            "precision": precision,
            "memory": memory,
            "backend": backend,
            "threads": usable(threads),
        }
        targets = np.ascontiguousarray(self.y[:, None] if self._single else self.y)
        found = _core.mode_dynamics(net, as_images(net, x, "x", channels_first), targets, self._kernel, options)
        trouble = found.pop("trouble")
        if trouble:
            warnings.warn(trouble, ConvergenceWarning, stacklevel=2)
        found["rates"] = [ModeRate(*rate) for rate in found["rates"]]
        return ModeDynamics(**found)

    def __repr__(self) -> str:
        values = self.eigenvalues
        return f"<Spectrum: {len(values)} samples, eigenvalues {values[0]:.3g} to {values[-1]:.3g}, rank {self.rank}>"


def _chosen(
    kernel: _core.KernelSpectrum, y: ArrayLike | None, labels: str, classify: bool, seed: int | None
) -> tuple[NDArray[np.float64], bool]:
    """Targets, and whether they are one output."""
    if y is None:
        if labels != "worst":
            raise InputError(f"labels {labels!r} need y; labels='worst' does without")
        targets = _core.label_targets(labels, None, 0, None, kernel, seed)
    elif classify or not holds_numbers(y) or (labels != "true" and np.isin(y, (-1, 1)).all() and np.ndim(y) == 1):
        classes, numbers = as_classes(y)
        targets = _core.label_targets(labels, numbers, len(classes), None, kernel, seed)
    else:
        values = as_numbers(y)
        values = values[:, None] if values.ndim == 1 else values
        targets = _core.label_targets(labels, None, 0, values, kernel, seed)
    return targets, targets.shape[1] == 1


def spectrum(
    k: ArrayLike,
    y: ArrayLike | None = None,
    *,
    labels: str = "true",
    classify: bool = False,
    seed: int | None = None,
    backend: str | None = None,
    threads: int | None = None,
) -> Spectrum:
    """Eigenvalues and eigenvectors of a Gram matrix, and how fast labels are learnt in their directions.

    k: the Gram matrix of the samples, symmetric and positive semi-definite up to rounding.
    y: one number for each sample, or a row of them; names of classes, or any classes with classify=True, become ±1
        for two and a column of 0 and 1 for each of more.
    labels: 'true', y itself; 'random', classes drawn anew, or numbers in random order; 'random:0.3', so many of them
        replaced; 'worst', ±1 with a large yᵀK⁻¹y, which train slowly, without y.
    seed: of random labels. backend: as in fit_ridge.

    NumericalError where K has a negative eigenvalue. O(n³), and 3n² numbers.

    >>> import numpy as np, widelimit as wl
    >>> s = wl.spectrum(np.diag([2.0, 0.5]), [1.0, 3.0])
    >>> s.eigenvalues, abs(s.projections), s.stable_rate
    (array([2. , 0.5]), array([1., 3.]), 1.0)
    >>> s.loss([0.0, 1.0]).round(4), round(s.time_to(0.01), 4)
    (array([10.    ,  3.3292]), 4.4998)
    """
    kernel = _core.kernel_spectrum(as_kernel(k, "K", backend, usable(threads)), usable(threads))
    return Spectrum(kernel, *_chosen(kernel, y, labels, classify, seed))
