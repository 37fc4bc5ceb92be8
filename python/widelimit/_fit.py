"""Fitted kernel machines and their convergence."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from widelimit import _core
from widelimit._arguments.samples import as_kernel
from widelimit._core import InputError


class ConvergenceWarning(UserWarning):
    """A solver did not converge; the summary gives the reason and a remedy."""


class Summary(NamedTuple):
    """Outcome of a fit. None stands for quantities that a machine does not define."""

    ending: str
    """'converged', 'iteration limit', 'not positive definite', 'not separable' or 'diverged'."""
    message: str
    """What happened and what to do; may be empty."""
    method: str
    primal: float | None
    """λ/2‖β‖² + Σ wᵢ l(g(xᵢ), yᵢ), summed over outputs."""
    dual: float | None
    """A lower bound of the minimal objective that accounts for rounding."""
    gap: float | None
    """(primal − dual)/max(|primal|, |dual|), an upper bound of the relative suboptimality."""
    gradient: float | None
    """Norm of the gradient or residual, relative to that at zero."""
    condition: float | None
    """Estimate of the condition number of the factorised matrix."""
    iterations: int
    seconds: float
    memory: int
    """Peak memory of the solver in bytes, without the Gram matrix."""

    @property
    def converged(self) -> bool:
        return self.ending == "converged"

    @property
    def objective(self) -> float | None:
        """The primal objective."""
        return self.primal


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted machine: g(x) = Σᵢ αᵢ K(x, xᵢ) + b for each of its outputs.

    >>> import numpy as np, widelimit as wl
    >>> x = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.2]])
    >>> fit = wl.fit_svm(wl.kernel("fc:1", x), ["east", "north", "west"])
    >>> fit.classes_
    array(['east', 'north', 'west'], dtype='<U5')
    >>> fit.predict(wl.kernel("fc:1", [[2.0, 0.3]], x))
    array(['east'], dtype='<U5')
    """

    machine: str
    """'regression', 'ridge', 'hard-svm', 'svm', 'svm2', 'svr' or 'logistic'."""
    scheme: str
    """Meaning of the outputs: 'values', 'sign', 'one-hot', 'one-vs-rest', 'one-vs-one(-first)' or 'softmax'."""
    alpha: NDArray[np.float64]
    """One coefficient per sample; one column per output if there are several."""
    bias: float | NDArray[np.float64]
    """One per output; 0 unless requested."""
    classes_: NDArray[Any] | None
    """The sorted classes, in the dtype of y; None for a regressor."""
    summary: Summary
    calibration: NDArray[np.float64] | None = None
    """Slope and offset of Platt's sigmoid for each output; None unless probabilities were requested."""
    label_aware: Any = None
    """The label-aware part of the kernel; None unless requested."""

    @property
    def support(self) -> NDArray[np.intp]:
        """Indices of the samples with nonzero coefficients; predictions depend on no others."""
        return np.flatnonzero(self.alpha.any(axis=1) if self.alpha.ndim == 2 else self.alpha)

    def decision_function(self, k: ArrayLike) -> NDArray[np.float64]:
        """Returns g on new points from K(test, train), with one column per output if there are several.

        For two classes it is positive for the second. One-vs-one has one column per pair (0,1), (0,2), …, (1,2), …,
        positive for the first of the pair.
        """
        outputs = self._outputs(k)
        return outputs[:, 0] if self.alpha.ndim == 1 else outputs

    def predict(self, k: ArrayLike) -> NDArray[Any]:
        """Returns predicted classes or numbers for new points from K(test, train)."""
        if self.classes_ is None:
            return self.decision_function(k)
        return self.classes_[_core.classes_of(self.scheme, len(self.classes_), self._outputs(k))]

    def predict_proba(self, k: ArrayLike) -> NDArray[np.float64]:
        """Returns class probabilities for new points from K(test, train).

        Raises InputError unless the machine is logistic, or a support vector machine fitted with probability=True,
        whose most probable class may differ from the result of predict.
        """
        if self.machine != "logistic" and self.calibration is None:
            raise InputError(
                f"this {self.machine} has no probabilities; use fit_logistic, or fit_svm(…, probability=True)"
            )
        return _core.probabilities(
            self.machine, self.scheme, len(self.classes_), self.calibration, self._outputs(k)
        )

    def _outputs(self, k: ArrayLike) -> NDArray[np.float64]:
        alpha = self.alpha[:, None] if self.alpha.ndim == 1 else self.alpha
        bias = np.atleast_1d(np.asarray(self.bias, dtype=np.float64))
        return _core.decisions(np.ascontiguousarray(alpha), bias, as_kernel(k, "K(test, train)", None, None))

    def __repr__(self) -> str:
        classes = "" if self.classes_ is None else f", {len(self.classes_)} classes"
        return f"<Fit: {self.machine}, {len(self.alpha)} samples{classes}, {self.summary.ending}>"


def make_fit(
    machine: str,
    scheme: str,
    parts: tuple,
    classes: NDArray[Any] | None,
    single: bool,
    calibration: NDArray[np.float64] | None = None,
) -> Fit:
    """Builds a Fit from the result of the core library; single: y, and so alpha, is one-dimensional."""
    alpha, bias, summary = parts
    if single and alpha.shape[1] == 1:
        return Fit(machine, scheme, alpha[:, 0], float(bias[0]), classes, Summary(*summary), calibration)
    return Fit(machine, scheme, alpha, bias, classes, Summary(*summary), calibration)


def warn_of(fit: Fit, stacklevel: int, where: str = "") -> Fit:
    if not fit.summary.converged:
        reason = fit.summary.message or fit.summary.ending
        warnings.warn(f"{fit.machine}{where}: {reason}", ConvergenceWarning, stacklevel=stacklevel + 1)
    return fit
