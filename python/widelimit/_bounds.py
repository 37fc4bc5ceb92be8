"""Generalisation bounds of kernel machines."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from widelimit import _core
from widelimit._arguments.arrays import as_array
from widelimit._arguments.samples import as_kernel
from widelimit._arguments.targets import as_classes, as_numbers
from widelimit._arguments.threads import usable
from widelimit._core import InputError
from widelimit._fit import Fit


class BoundTerms(NamedTuple):
    """The terms of a bound on the expected loss."""

    value: float
    """The sum of the terms."""
    empirical: float
    """Mean loss on the sample."""
    complexity: float
    """2ρB√(tr K)/n."""
    confidence: float
    """3c√(log(2/δ)/(2n))."""


class RademacherBound(NamedTuple):
    """Rademacher bounds of a fitted machine, returned by rademacher_bound."""

    textbook: BoundTerms
    """The bound of EQ, which treats the norm B as fixed before the sample is drawn."""
    uniform: BoundTerms | None
    """Valid for the data-dependent norm of the fit."""
    norm: float
    """B = √(αᵀKα)."""
    trace: float
    """tr K."""
    offset: float
    """|b|."""
    samples: int
    loss: str
    """The bounded loss, clipped; for classes it is clipped at its value for g = 0 and divided by that value."""
    lipschitz: float
    """ρ."""
    range: float
    """c: upper bound of the clipped loss; a bound of c or more is vacuous."""
    delta: float

    @property
    def vacuous(self) -> bool:
        """Whether the uniform bound (else the textbook bound) is vacuous."""
        return (self.uniform or self.textbook).value >= self.range


class LabelBound(NamedTuple):
    """Bounds of kernel regression from labels and kernel alone, returned by label_bound. None if infinite."""

    norm_square: float | None
    """yᵀH⁻¹y; None if no function in the RKHS interpolates these labels."""
    a_priori: float | None
    """√(2yᵀH⁻¹y/n) as published, which assumes K(x, x) = ½."""
    scaled: float | None
    """2√(yᵀH⁻¹y·tr H)/n: the generalisation to kernels of any scale."""
    absolute: float | None
    """Bound of E|f − y| as published: scaled + √(log(1/δ)/n)."""
    uniform: BoundTerms | None
    """Bound with proved constants: of the error rate for labels ±1, else of E min(1, |f − y|)."""
    trace: float
    samples: int
    delta: float
    condition: float | None
    """Estimate of the condition number of H."""
    message: str
    """Why there is no bound, or how reliable it is; may be empty."""


def _terms(parts: tuple | None) -> BoundTerms | None:
    return None if parts is None else BoundTerms(*parts)


def rademacher_bound(
    k: ArrayLike,
    fit: Fit,
    y: ArrayLike,
    delta: float | None = None,
    *,
    loss: str | None = None,
    epsilon: float | None = None,
    clip: float | None = None,
    backend: str | None = None,
    check_definite: bool | None = None,
) -> RademacherBound:
    """Returns an upper bound of the error of a fitted machine that holds with probability 1 − delta over samples.

    k: the Gram matrix of the training samples of `fit`; y: their labels or numbers. The kernel must not depend on
    the sample. For two classes `loss` is 'hinge' (default), 'squared', 'squared-hinge', 'insensitive' or 'logistic',
    each scaled and clipped so that it is at least 1 for an error; for more classes it is 'hinge', a ramp of the margin.
    For numbers the mean of min(loss, clip) is bounded; `loss` defaults to the squared loss (svr: ε-insensitive), and
    clip (default 1) must be chosen independently of the sample.
    delta: probability that the bound fails; default 0.05.
    backend: as in fit_ridge.
    check_definite: as in fit_svm; raises InputError if the kernel is not positive semi-definite.

    >>> import numpy as np, widelimit as wl
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([-1, 1], 300)
    >>> x = rng.normal(size=(600, 2)) + 4 * y[:, None]
    >>> k = wl.classical_kernel("rbf(gamma=0.05)", x)
    >>> bound = wl.rademacher_bound(k, wl.fit_svm(k, y, lam=1.0), y, delta=0.05)
    >>> bool(0.1 < bound.uniform.value < 1), bound.vacuous
    (True, False)
    >>> noise = rng.choice([-1, 1], size=600)
    >>> wl.rademacher_bound(k, wl.fit_svm(k, noise, lam=1.0), noise).vacuous
    True
    """
    if not isinstance(fit, Fit):
        raise InputError(f"fit is of type {type(fit).__name__}; give the Fit of fit_svm, fit_ridge or another machine")
    matrix = as_kernel(k, "K", backend, None)
    alpha = np.ascontiguousarray(fit.alpha[:, None] if fit.alpha.ndim == 1 else fit.alpha)
    bias = np.atleast_1d(np.asarray(fit.bias, dtype=np.float64))
    options = {"delta": delta, "loss": loss, "epsilon": epsilon, "clip": clip, "check_definite": check_definite}
    if fit.classes_ is None:
        targets = as_numbers(y)
        if targets.ndim != 1:
            raise InputError("y must be one number for each sample; bound each target separately")
        if fit.machine == "svr" and loss is None:
            options["loss"] = "insensitive"
        parts = _core.value_bound(matrix, alpha, bias, targets, options)
    else:
        known, numbers = as_classes(y)
        places = {label: place for place, label in enumerate(fit.classes_.tolist())}
        unknown = [label for label in known.tolist() if label not in places]
        if unknown:
            raise InputError(f"label {unknown[0]!r} in y is none of the classes of the fit")
        labels = np.array([places[label] for label in known.tolist()], dtype=np.int64)[numbers]
        parts = _core.class_bound(matrix, alpha, bias, fit.machine, fit.scheme, len(fit.classes_), labels, options)
    return RademacherBound(BoundTerms(*parts[0]), _terms(parts[1]), *parts[2:])


def label_bound(
    h: ArrayLike,
    y: ArrayLike,
    delta: float | None = None,
    *,
    backend: str | None = None,
    threads: int | None = None,
) -> LabelBound:
    """Returns a priori bounds of kernel regression, f = k(·,X)H⁻¹y, from labels and kernel alone.

    h: the Gram matrix; y: two classes, or a number for each sample. Labels aligned with the kernel have a small
    yᵀH⁻¹y, random labels a large one. If duplicate samples have different labels, it is infinite: all bounds are None,
    and the message gives the reason. delta: probability that the bounds fail; default 0.05. backend: as in fit_ridge.

    >>> import numpy as np, widelimit as wl
    >>> h = np.array([[0.5, 0.4], [0.4, 0.5]])
    >>> [round(wl.label_bound(h, y).a_priori, 3) for y in ([1, 1], [1, -1])]
    [1.491, 4.472]
    >>> wl.label_bound(np.ones((2, 2)), [1, -1]).norm_square is None
    True
    """
    values = as_array(y, "y")
    if values.dtype.kind not in "fiu":
        classes, numbers = as_classes(y)
        if len(classes) != 2:
            raise InputError(f"y has {len(classes)} classes; label_bound needs two classes or numbers")
        values = 2.0 * numbers - 1.0
    targets = as_numbers(values)
    if targets.ndim != 1:
        raise InputError("y must be one number or class for each sample")
    gram = as_kernel(h, "H", backend, usable(threads))
    parts = _core.label_bound(gram, targets, {"delta": delta, "threads": usable(threads)})
    return LabelBound(*parts[:4], _terms(parts[4]), *parts[5:])


def clean_error_bound(bound: float, flip: float) -> float:
    """Converts an error bound on noisy labels, each flipped with probability `flip`, to one on clean labels.

    Returns (bound − flip)/(1 − 2·flip), at least 0. For two classes, with flips independent of x.

    >>> import widelimit as wl
    >>> round(wl.clean_error_bound(0.26, flip=0.2), 6)
    0.1
    """
    return _core.clean_error_bound(bound, flip)


def noisy_label_shape(flip: float, norm_square: float, samples: int, lam: float) -> float:
    """Computes (√λ·√(yᵀH⁻¹y/n) + 1/√λ)/(1 − 2p) for ridge k(x,X)(H + λI)⁻¹ỹ on flipped labels (NT-L Theorem 6).

    This is a scaling law, not a guarantee: unspecified constants of the theorem are set to 1. norm_square: yᵀH⁻¹y of
    the clean labels.

    >>> import widelimit as wl
    >>> wl.noisy_label_shape(flip=0.25, norm_square=16.0, samples=4, lam=4.0)
    9.0
    """
    return _core.noisy_label_shape(flip, norm_square, samples, lam)
