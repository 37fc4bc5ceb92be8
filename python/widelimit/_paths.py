"""Regularisation paths: fits for several λ at little more than the cost of one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from widelimit import _core
from widelimit._arguments.samples import as_kernel
from widelimit._arguments.targets import as_classes, as_lams, class_weighted, ridge_targets
from widelimit._arguments.threads import usable
from widelimit._fit import Fit, make_fit, warn_of


class Path:
    """Fits for several λ: path[i] is the Fit at path.lams[i]."""

    def __init__(self, lams: NDArray[np.float64], fits: list[Fit]) -> None:
        self.lams = lams
        self._fits = fits

    def alpha(self, i: int) -> NDArray[np.float64]:
        """Returns the coefficients at the i-th λ."""
        return self._fits[i].alpha

    def __len__(self) -> int:
        return len(self._fits)

    def __getitem__(self, i: int) -> Fit:
        return self._fits[i]

    def __iter__(self) -> Iterator[Fit]:
        return iter(self._fits)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} λ from {self.lams.min():g} to {self.lams.max():g}>"


class RidgePath(Path):
    """Ridge fits for several λ, with exact leave-one-out errors."""

    def __init__(self, lams, fits, points, best, best_classifier) -> None:
        super().__init__(lams, fits)
        self._left_out = [left_out for _, left_out, _, _ in points]
        self.loo_error: NDArray[np.float64] = np.array([_or_infinite(error) for _, _, error, _ in points])
        """Weighted mean squared leave-one-out error for each λ; infinite if the fit failed."""
        missed = [share for _, _, _, share in points]
        self.loo_misclassified: NDArray[np.float64] | None = (
            None if all(share is None for share in missed) else np.array([_or_infinite(share) for share in missed])
        )
        """Leave-one-out error rate for each λ; None for regression."""
        self.best: int | None = best
        """Index of the λ with minimal loo_error; None if no fit converged."""
        self.best_classifier: int | None = best_classifier
        """Index of the λ with minimal loo_misclassified; loo_error breaks ties."""

    def left_out(self, i: int) -> NDArray[np.float64]:
        """Returns the leave-one-out outputs at the i-th λ, in the shape of alpha(i)."""
        return self._left_out[i][:, 0] if self.alpha(i).ndim == 1 else self._left_out[i]


def ridge_path(
    k: ArrayLike,
    y: ArrayLike,
    lams: ArrayLike,
    *,
    bias: bool | None = None,
    sample_weight: ArrayLike | None = None,
    class_weight: Any = None,
    classify: bool | None = None,
    backend: str | None = None,
    threads: int | None = None,
) -> RidgePath:
    """Fits ridge for every λ, with exact leave-one-out errors, from one reduction of the Gram matrix.

    Arguments as in fit_ridge; lams in any order.

    >>> import numpy as np, widelimit as wl
    >>> x, y, _ = wl.load_data("digits", classes=[3, 8], limit=60, scale="unit")
    >>> path = wl.ridge_path(wl.kernel("fc:2", x), 2.0 * y - 1, np.logspace(-6, 1, 8))
    >>> path.loo_error.shape, path.alpha(path.best).shape
    ((8,), (60,))
    >>> bool(path.loo_misclassified[path.best_classifier] < 0.1)
    True
    >>> path[path.best].predict(wl.kernel("fc:2", x[:2], x)).shape
    (2,)
    """
    targets = ridge_targets(y, classify, class_weight, sample_weight)
    lams = as_lams(lams)
    gram = as_kernel(k, "K", backend, usable(threads))
    options = dict(bias=bias, threads=usable(threads))
    points, best, best_classifier = _core.ridge_path(gram, targets.columns, lams, targets.weights, options)
    fits = [make_fit("ridge", targets.scheme, point[0], targets.classes, targets.single) for point in points]
    _warn_of_first(fits, lams)
    return RidgePath(lams, fits, points, best, best_classifier)


def svm_path(
    k: ArrayLike,
    y: ArrayLike,
    lams: ArrayLike,
    *,
    machine: str = "svm",
    bias: bool | None = None,
    sample_weight: ArrayLike | None = None,
    class_weight: Any = None,
    scheme: str | None = None,
    tolerance: float | None = None,
    backend: str | None = None,
    threads: int | None = None,
    check_definite: bool | None = None,
) -> Path:
    """Fits a support vector machine ('svm' or 'svm2') for every λ, each warm-started from the next larger λ.

    Arguments as in fit_svm; lams in any order.

    >>> import numpy as np, widelimit as wl
    >>> x, y, _ = wl.load_data("digits", classes=[3, 8], limit=60, scale="unit")
    >>> path = wl.svm_path(wl.kernel("fc:2", x), y, [0.01, 0.1, 1.0])
    >>> len(path), path.alpha(0).shape, all(fit.summary.converged for fit in path)
    (3, (60,), True)
    """
    classes, labels = as_classes(y)
    lams = as_lams(lams)
    weights = class_weighted(class_weight, machine, classes, labels, sample_weight)
    options = dict(
        machine=machine, bias=bias, scheme=scheme, tolerance=tolerance, check_definite=check_definite,
        threads=usable(threads),
    )  # fmt: skip
    gram = as_kernel(k, "K", backend, usable(threads))
    used, found = _core.svm_path(gram, labels, len(classes), lams, weights, options)
    fits = [make_fit(machine, used, parts, classes, single=True) for parts in found]
    _warn_of_first(fits, lams)
    return Path(lams, fits)


def _or_infinite(value: float | None) -> float:
    return np.inf if value is None else value


def _warn_of_first(fits: list[Fit], lams: NDArray[np.float64]) -> None:
    failed = [i for i, fit in enumerate(fits) if not fit.summary.converged]
    if failed:
        where = f" at λ = {lams[failed[0]]:g} (and at {len(failed) - 1} others)" if len(failed) > 1 else (
            f" at λ = {lams[failed[0]]:g}"
        )
        warn_of(fits[failed[0]], 3, where)
