"""Conversion of targets for the core library: numbers, or indices into sorted classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from widelimit import _core
from widelimit._arguments.arrays import as_array
from widelimit._core import InputError


def holds_numbers(y: ArrayLike) -> bool:
    """Returns whether y holds numbers; text, booleans and objects are class labels."""
    return as_array(y, "y").dtype.kind in "fiu"


def names_classes(y: ArrayLike, classify: bool | None) -> bool:
    """Returns whether y holds class labels: as `classify` says, else unless y holds numbers."""
    return not holds_numbers(y) if classify is None else classify


def as_numbers(y: ArrayLike, name: str = "y") -> NDArray[np.float64]:
    """Returns y as float64: one number per sample, or one row."""
    numbers = as_array(y, name)
    if numbers.dtype.kind not in "fiub":
        raise InputError(f"{name} has dtype {numbers.dtype}; give real numbers")
    if numbers.ndim not in (1, 2):
        raise InputError(f"{name} has {numbers.ndim} dimensions; give one number or one row for each sample")
    numbers = np.ascontiguousarray(numbers, dtype=np.float64)
    if not np.isfinite(numbers).all():
        worst = np.argwhere(~np.isfinite(numbers))[0]
        raise InputError(f"{name}[{', '.join(map(str, worst))}] is {numbers[tuple(worst)]}; it must be finite")
    return numbers


def columns(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns one column per output."""
    return numbers[:, None] if numbers.ndim == 1 else numbers


def as_columns(y: ArrayLike, name: str = "y") -> tuple[NDArray[np.float64], bool]:
    """Returns y as samples × outputs, and whether y is one-dimensional, so that results are."""
    numbers = as_numbers(y, name)
    return columns(numbers), numbers.ndim == 1


def as_classes(y: ArrayLike) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Returns the sorted classes of y, and the class index of each sample."""
    labels = as_array(y, "y")
    if labels.ndim != 1:
        raise InputError(f"y has {labels.ndim} dimensions; a classifier needs one label for each sample")
    if labels.dtype.kind == "c":
        raise InputError(f"y has dtype {labels.dtype}; give real numbers, or class labels")
    if labels.dtype.kind == "f":
        odd = np.flatnonzero(labels != np.rint(labels))  # includes NaN, which differs from itself
        if odd.size:
            at = odd[0]
            raise InputError(f"y[{at}] is {labels[at]}, which is not a class label; give whole numbers or text")
    try:
        classes, numbers = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise InputError(f"the labels in y have no order ({error}); give numbers or text") from error
    return classes, numbers.astype(np.int64)


def class_names(classes: NDArray[Any]) -> list[str]:
    """Returns the classes as text, as data files write them: whole numbers without a decimal point."""
    return [str(int(name)) if isinstance(name, float) else str(name) for name in classes.tolist()]


def as_weights(weights: ArrayLike | None) -> NDArray[np.float64] | None:
    """Converts sample weights, whose values the core library checks."""
    if weights is None:
        return None
    found = as_array(weights, "sample_weight")
    if found.dtype.kind not in "fiub" or found.ndim != 1:
        raise InputError("sample_weight must be one number for each sample")
    if found.size == 0:
        raise InputError("sample_weight is empty; leave it out, or give a number for each sample")
    return np.ascontiguousarray(found, dtype=np.float64)


def class_weight_list(class_weight: Any, classes: NDArray[Any]) -> NDArray[np.float64]:
    """Returns the weight of each class from a dictionary; missing classes have weight 1."""
    if not isinstance(class_weight, Mapping):
        raise InputError(f"class_weight is {class_weight!r}; give 'balanced', or a dictionary {{class: weight}}")
    known = classes.tolist()
    each = np.ones(len(known))
    for i, name in enumerate(known):
        try:
            each[i] = class_weight.get(name, 1.0)
        except (TypeError, ValueError) as error:
            raise InputError(f"the weight of class {name!r} is not a number ({error})") from error
    strange = [name for name in class_weight if name not in known]
    if strange and any(name not in class_weight for name in known):
        raise InputError(f"class_weight contains {strange[0]!r}, which is none of the classes {known}")
    return each


def class_weighted(
    class_weight: Any,
    machine: str,
    classes: NDArray[Any],
    labels: NDArray[np.int64],
    sample_weight: ArrayLike | None,
) -> NDArray[np.float64] | None:
    """Returns sample weights times class weights; class_weight is 'balanced' or a dictionary {class: weight}."""
    weights = as_weights(sample_weight)
    if class_weight is None:
        return weights
    if isinstance(class_weight, str) and class_weight == "balanced":
        return _core.sample_weights(machine, labels, len(classes), None, weights)
    each = class_weight_list(class_weight, classes)
    return _core.sample_weights(machine, labels, len(classes), each, weights)


def number_weights(class_weight: Any, sample_weight: ArrayLike | None) -> NDArray[np.float64] | None:
    """Returns sample weights for numeric targets; raises InputError if class weights are given."""
    if class_weight is not None:
        raise InputError("class_weight needs classes, but y holds numbers; give classify=True if they are class labels")
    return as_weights(sample_weight)


class RidgeTargets(NamedTuple):
    """Targets of ridge regression: numbers, ±1 for two classes, or one-hot rows for more."""

    columns: NDArray[np.float64]
    """Samples × outputs."""
    single: bool
    """Whether there is one output, so that coefficients are one-dimensional."""
    scheme: str
    classes: NDArray[Any] | None
    weights: NDArray[np.float64] | None


def ridge_targets(
    y: ArrayLike, classify: bool | None, class_weight: Any, sample_weight: ArrayLike | None
) -> RidgeTargets:
    """Encodes y for ridge regression; arguments as in fit_ridge."""
    if not names_classes(y, classify):
        weights = number_weights(class_weight, sample_weight)
        return RidgeTargets(*as_columns(y), "values", None, weights)
    classes, labels = as_classes(y)
    if len(classes) < 2:
        raise InputError("all samples are of one class; a classifier needs two")
    weights = class_weighted(class_weight, "ridge", classes, labels, sample_weight)
    if len(classes) == 2:
        return RidgeTargets((2.0 * labels - 1)[:, None], True, "sign", classes, weights)
    return RidgeTargets(np.eye(len(classes))[labels], False, "one-hot", classes, weights)


def as_lams(lams: ArrayLike) -> NDArray[np.float64]:
    found = as_numbers(lams, "lams")
    if found.ndim != 1 or found.size == 0:
        raise InputError("lams must be a list of numbers, one λ or more")
    return found
