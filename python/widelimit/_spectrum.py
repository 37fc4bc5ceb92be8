"""Kernel spectra, and the training speed of a wide network along the eigendirections of its kernel."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from widelimit import _core
from widelimit._arguments.arrays import as_array
from widelimit._arguments.samples import as_images, as_kernel
from widelimit._arguments.targets import as_classes, as_columns, columns, holds_numbers
from widelimit._arguments.threads import usable
from widelimit._core import InputError, Network
from widelimit._fit import ConvergenceWarning
from widelimit._kernels import as_network


class ModeRate(NamedTuple):
    """Convergence rate along one eigendirection, fitted to a training run."""

    mode: int
    """Index of the eigendirection, from 0."""
    share: float
    """Fraction of ‖y‖² in this direction."""
    eigenvalue: float
    """Eigenvalue of the limit kernel."""
    fitted: float
    """Eigenvalue fitted to the error decay of the network."""
    interval: tuple[float, float] | None
    """95 % interval of the least-squares slope for independent residuals; a measure of linearity."""
    points: int
    """Number of recorded steps in the fit."""


@dataclass(frozen=True, eq=False, repr=False)
class ModeDynamics:
    """Errors of a finite network along the eigendirections of a kernel during gradient descent."""

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
    """Eigendecomposition K = Σ λᵢ vᵢ vᵢᵀ, and the projections of labels y.

    Losses are those of gradient flow and descent on ½‖u − y‖² from u = 0: ⟨vᵢ, u(t) − y⟩ = −e^(−λᵢt)⟨vᵢ, y⟩, and
    (1 − ηλᵢ)ᵏ in k steps. The squared loss of wl.flow and wl.train has no ½: their times and rates are half of these.
    """

    def __init__(self, kernel: _core.KernelSpectrum, y: NDArray[np.float64], single: bool) -> None:
        self._kernel = kernel
        self._labels = _core.LabelSpectrum.of(kernel, y)
        self._single = single
        self.y = y[:, 0] if single else y
        """The targets: one number per sample, or one row."""

    @property
    def eigenvalues(self) -> NDArray[np.float64]:
        """λ in decreasing order; values negative by rounding are set to 0."""
        return self._kernel.eigenvalues()

    @property
    def eigenvectors(self) -> NDArray[np.float64]:
        """vᵢ in column i, as in numpy.linalg.eigh."""
        return self._kernel.eigenvectors().T

    @property
    def rank(self) -> int:
        """Number of eigenvalues above the rounding level; labels in the other directions are never learned."""
        return self._kernel.rank

    @property
    def condition(self) -> float | None:
        """λ₁/λₙ; None if λₙ is below the rounding level."""
        return self._kernel.condition

    @property
    def stable_rate(self) -> float | None:
        """2/λ₁: gradient descent diverges above it."""
        return self._kernel.stable_rate

    @property
    def projections(self) -> NDArray[np.float64]:
        """⟨vᵢ, y⟩; one column per output if there are several."""
        found = self._labels.projections()
        return found[:, 0] if self._single else found

    @property
    def energy(self) -> NDArray[np.float64]:
        """⟨vᵢ, y⟩², summed over the outputs."""
        return self._labels.energy()

    @property
    def cumulative_energy(self) -> NDArray[np.float64]:
        """Cumulative fraction of ‖y‖² in the leading directions."""
        return self._labels.cumulative_energy()

    @property
    def floor(self) -> float:
        """Fraction of ‖y‖² in the null space of K, a lower bound of the relative loss."""
        return self._labels.floor

    @property
    def norm(self) -> float | None:
        """yᵀK⁻¹y, summed over the outputs; None if infinite."""
        return self._labels.norm

    def loss(self, t: ArrayLike) -> NDArray[np.float64]:
        """Returns ‖u(t) − y‖² of gradient flow at these times; numpy.inf is the limit."""
        times = as_array(t, "t")
        if times.dtype.kind not in "fiu":
            raise InputError("t must be one or several numbers")
        given = np.ascontiguousarray(times.ravel(), dtype=np.float64)
        return self._labels.loss(given).reshape(times.shape)[()]

    def loss_after(self, steps: ArrayLike, rate: float) -> NDArray[np.float64]:
        """Returns ‖u − y‖² after these numbers of gradient descent steps."""
        counts = as_array(steps, "steps")
        if counts.dtype.kind not in "iu":
            raise InputError("steps must be whole numbers")
        whole = np.ascontiguousarray(counts.ravel(), dtype=np.int64)
        return self._labels.loss_after(whole, rate).reshape(counts.shape)[()]

    def time_to(self, eps: float) -> float:
        """Returns the smallest t with ‖u(t) − y‖² ≤ eps·‖y‖²; raises NumericalError if eps is below the floor."""
        return self._labels.time_to(eps)

    def steps_to(self, eps: float, rate: float) -> int:
        """Returns the smallest number of gradient descent steps with ‖u − y‖² ≤ eps·‖y‖²."""
        return self._labels.steps_to(eps, rate)

    def effective_dimension(self, ridge: float) -> float:
        """Returns Σ λᵢ/(λᵢ + ridge), the degrees of freedom of ridge regression with `ridge` on the diagonal."""
        return self._kernel.effective_dimension(ridge)

    def with_labels(
        self, y: ArrayLike | None = None, *, labels: str = "true", classify: bool = False, seed: int | None = None
    ) -> Spectrum:
        """Returns the spectrum with other labels, reusing the decomposition; y defaults to the present one."""
        given = self.y if y is None else y
        return Spectrum(self._kernel, *_label_targets(self._kernel, given, labels, classify, seed))

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
        """Trains a network on these labels and compares its error along each eigendirection with the prediction.

        network, x: those of the kernel. f − f₀ is trained by full-batch gradient descent on ½‖f − f₀ − y‖².
        width: default 1024; steps: default 500; rate: η, default 1/(2λ₁); records: approximate number of recorded
        steps, default 60. fitted_to: rates are fitted until the error of a direction has dropped to this fraction of
        its initial value, default 0.1.

        If the training diverges, there are no rates, with a ConvergenceWarning.
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
        targets = np.ascontiguousarray(columns(self.y))
        samples = as_images(net, x, "x", channels_first, backend)
        found = _core.mode_dynamics(net, samples, targets, self._kernel, options)
        trouble = found.pop("trouble")
        if trouble:
            warnings.warn(trouble, ConvergenceWarning, stacklevel=2)
        found["rates"] = [ModeRate(*rate) for rate in found["rates"]]
        return ModeDynamics(**found)

    def __repr__(self) -> str:
        values = self.eigenvalues
        return f"<Spectrum: {len(values)} samples, eigenvalues {values[0]:.3g} to {values[-1]:.3g}, rank {self.rank}>"


def _label_targets(
    kernel: _core.KernelSpectrum, y: ArrayLike | None, labels: str, classify: bool, seed: int | None
) -> tuple[NDArray[np.float64], bool]:
    """Returns the targets, and whether there is one output."""
    if y is None:
        if labels != "worst":
            raise InputError(f"labels {labels!r} need y; only labels='worst' does not")
        targets = _core.label_targets(labels, None, 0, None, kernel, seed)
    elif classify or not holds_numbers(y) or (labels != "true" and np.isin(y, (-1, 1)).all() and np.ndim(y) == 1):
        classes, numbers = as_classes(y)
        targets = _core.label_targets(labels, numbers, len(classes), None, kernel, seed)
    else:
        targets = _core.label_targets(labels, None, 0, as_columns(y)[0], kernel, seed)
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
    """Computes the eigendecomposition of a Gram matrix, and the training speed of labels along its eigenvectors.

    k: the Gram matrix of the samples, symmetric and positive semi-definite up to rounding.
    y: one number per sample, or one row; text classes, or any classes with classify=True: two classes become ±1, more
        are one-hot encoded.
    labels: 'true', y itself; 'random', randomly drawn classes, or permuted numbers; 'random:0.3', this fraction
        replaced; 'worst', ±1 with a large yᵀK⁻¹y, which train slowly; needs no y.
    seed: of random labels. backend: as in fit_ridge.

    Raises NumericalError if K has a negative eigenvalue. Costs O(n³) operations and 3n² numbers of memory.

    >>> import numpy as np, widelimit as wl
    >>> s = wl.spectrum(np.diag([2.0, 0.5]), [1.0, 3.0])
    >>> s.eigenvalues, abs(s.projections), s.stable_rate
    (array([2. , 0.5]), array([1., 3.]), 1.0)
    >>> s.loss([0.0, 1.0]).round(4), round(s.time_to(0.01), 4)
    (array([10.    ,  3.3292]), 4.4998)
    """
    kernel = _core.kernel_spectrum(as_kernel(k, "K", backend, usable(threads)), usable(threads))
    return Spectrum(kernel, *_label_targets(kernel, y, labels, classify, seed))
