"""What a sample promises of data not seen: generalisation bounds of kernel machines."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from widelimit import _core
from widelimit._core import InputError
from widelimit._fit import Fit
from widelimit._samples import as_kernel
from widelimit._targets import as_classes, as_numbers
from widelimit._threads import usable


class BoundTerms(NamedTuple):
    """The parts of a bound on the mean loss over all data."""

    value: float
    """Their sum."""
    empirical: float
    """Mean loss on the sample."""
    complexity: float
    """2ρB√(tr K)/n."""
    confidence: float
    """3c√(log(2/δ)/(2n))."""


class RademacherBound(NamedTuple):
    """Bounds of a fitted machine; made by rademacher_bound."""

    textbook: BoundTerms
    """EQ's: the norm B taken as if it had been chosen before the sample was seen."""
    uniform: BoundTerms | None
    """True of the norm that the fit has."""
    norm: float
    """B = √(αᵀKα)."""
    trace: float
    """tr K."""
    offset: float
    """|b|."""
    samples: int
    loss: str
    """The loss that is bounded, clipped: for classes at that of no decision, and divided by it."""
    lipschitz: float
    """ρ."""
    range: float
    """c: no loss is larger, and a bound of c or more says nothing."""
    delta: float

    @property
    def vacuous(self) -> bool:
        """Whether the bound that is true of this fit says nothing."""
        return (self.uniform or self.textbook).value >= self.range


class LabelBound(NamedTuple):
    """Bounds of kernel regression from labels and kernel alone; made by label_bound. None where infinite."""

    norm_square: float | None
    """yᵀH⁻¹y; None where no function of the kernel takes these labels."""
    a_priori: float | None
    """√(2yᵀH⁻¹y/n) as printed, which supposes K(x, x) = ½."""
    scaled: float | None
    """2√(yᵀH⁻¹y·tr H)/n: the same for kernels of any scale."""
    absolute: float | None
    """Of E|f − y|, as printed: scaled + √(log(1/δ)/n)."""
    uniform: BoundTerms | None
    """With constants that are proved: of the share of errors for labels ±1, else of E min(1, |f − y|)."""
    trace: float
    samples: int
    delta: float
    condition: float | None
    """Estimate of the condition number of H."""
    message: str
    """Why there is no bound, or how sure it is; empty where there is nothing to say."""


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
    """With probability 1 − delta over samples, the share of errors of a fitted machine is at most this.

    k: the Gram matrix of the samples that `fit` was fitted to, y their labels or numbers. The kernel must not depend on
    the sample. Of two classes `loss` may be 'hinge' (the default), 'squared', 'squared-hinge', 'insensitive' or
    'logistic', each clipped so that it is at least 1 for an error; of more it is 'hinge', a ramp of the margin. For
    numbers the mean of min(loss, clip) is bounded, of the squared loss (svr: the ε-insensitive one) unless another is
    asked for, and clip, 1 unless given, must be chosen without a look at the sample.
    delta: share of samples on which the bound may fail; 0.05 unless given.
    backend: as in fit_ridge.
    check_definite: as in fit_svm; a kernel that is not positive semi-definite is an InputError.

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
        raise InputError(f"fit is of type {type(fit).__name__}; give the Fit of fit_svm, fit_ridge or another of them")
    matrix = as_kernel(k, "K", backend, None)
    alpha = np.ascontiguousarray(fit.alpha[:, None] if fit.alpha.ndim == 1 else fit.alpha)
    bias = np.atleast_1d(np.asarray(fit.bias, dtype=np.float64))
    options = {"delta": delta, "loss": loss, "epsilon": epsilon, "clip": clip, "check_definite": check_definite}
    if fit.classes_ is None:
        targets = as_numbers(y)
        if targets.ndim != 1:
            raise InputError("y must be one number for each sample; bound each target by itself")
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
    """Bounds of kernel regression, f = k(·,X)H⁻¹y, before any training: from labels and kernel alone.

    h: the Gram matrix; y: two classes, or a number for each sample. Labels that follow the kernel have a small
    yᵀH⁻¹y, random ones a large one. Where samples are repeated with different labels it is infinite: all bounds are
    None, and the message says why.

    >>> import numpy as np, widelimit as wl
    >>> h = np.array([[0.5, 0.4], [0.4, 0.5]])
    >>> [round(wl.label_bound(h, y).a_priori, 3) for y in ([1, 1], [1, -1])]
    [1.491, 4.472]
    >>> wl.label_bound(np.ones((2, 2)), [1, -1]).norm_square is None
    True
    """
    values = np.asarray(y)
    if values.dtype.kind not in "fiu":
        classes, numbers = as_classes(y)
        if len(classes) != 2:
            raise InputError(f"y has {len(classes)} classes; a bound by labels is of two, or of numbers")
        values = 2.0 * numbers - 1.0
    targets = as_numbers(values)
    if targets.ndim != 1:
        raise InputError("y must be one number or class for each sample")
    gram = as_kernel(h, "H", backend, usable(threads))
    parts = _core.label_bound(gram, targets, {"delta": delta, "threads": usable(threads)})
    return LabelBound(*parts[:4], _terms(parts[4]), *parts[5:])


def clean_error_bound(bound: float, flip: float) -> float:
    """A bound on errors beside noisy labels, of which each was flipped with probability `flip`, as one beside clean
    labels: (bound − flip)/(1 − 2·flip), at least 0. Two classes, flips that do not depend on x.

    >>> import widelimit as wl
    >>> round(wl.clean_error_bound(0.26, flip=0.2), 6)
    0.1
    """
    return _core.clean_error_bound(bound, flip)


def noisy_label_shape(flip: float, norm_square: float, samples: int, lam: float) -> float:
    """(√λ·√(yᵀH⁻¹y/n) + 1/√λ)/(1 − 2p) for ridge k(x,X)(H + λI)⁻¹ỹ on flipped labels (NT-L Theorem 6).

    A shape, not a guarantee: 1 stands for constants that the work does not give. norm_square is that of clean labels.

    >>> import widelimit as wl
    >>> wl.noisy_label_shape(flip=0.25, norm_square=16.0, samples=4, lam=4.0)
    9.0
    """
    return _core.noisy_label_shape(flip, norm_square, samples, lam)
