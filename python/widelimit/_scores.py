"""Scores of predicted numbers, classes and probabilities."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from widelimit import _core
from widelimit._arguments.arrays import as_array
from widelimit._arguments.targets import as_classes, as_columns
from widelimit._core import InputError


class ValueScores(NamedTuple):
    """Regression scores; means over the columns if there are several."""

    samples: int
    r2: float | None
    """1 − Σ(y − g)²/Σ(y − ȳ)²; None if y is constant."""
    squared_error: float
    """Mean of (y − g)²."""
    root_squared_error: float
    absolute_error: float
    """Mean of |y − g|."""
    notes: list[str]
    """Which scores are undefined, and why."""


class ClassScore(NamedTuple):
    """Scores of one class; None if undefined."""

    label: Any
    support: int
    """Number of samples of the class."""
    predicted: int
    """Number of samples predicted as the class."""
    precision: float | None
    """None if no sample is predicted as the class."""
    recall: float | None
    """None if no sample is of the class."""
    f1: float | None


class ReliabilityBin(NamedTuple):
    """Samples whose maximal class probability lies in one bin."""

    samples: int
    confidence: float
    """Mean of the maximal probability."""
    accuracy: float
    """Fraction of the samples whose most probable class is correct."""


class ClassScores(NamedTuple):
    """Classification scores; None if undefined, or without probabilities."""

    samples: int
    accuracy: float
    balanced_accuracy: float
    """Mean recall of the classes that have samples."""
    precision: float | None
    """Macro average over the classes in y or predictions, like recall and f1; None if undefined for one of them."""
    recall: float | None
    f1: float
    auc: float | None
    """Area under the ROC curve; for several classes the mean over pairs of classes (Hand and Till 2001)."""
    log_loss: float | None
    """Mean of −log p(true class); None if one of these probabilities is 0."""
    brier: float | None
    """Mean of (p − y)² of the second class for two classes; mean of Σ(p_c − [y = c])² for more."""
    calibration_error: float | None
    """Expected calibration error: mean |confidence − accuracy| over the bins of reliability."""
    reliability: list[ReliabilityBin] | None
    """The reliability curve: the non-empty bins by increasing confidence."""
    by_class: list[ClassScore]
    confusion: NDArray[np.int64]
    """Confusion matrix [true class, predicted class]."""
    notes: list[str]
    """Which scores are undefined, and why."""


def scores(
    y: ArrayLike,
    predictions: ArrayLike,
    probabilities: ArrayLike | None = None,
    *,
    decisions: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    classify: bool | None = None,
    bins: int | None = None,
) -> ValueScores | ClassScores:
    """Computes scores of predictions: ClassScores for classes, ValueScores for numbers.

    y, predictions: one class or number per sample, or one row of numbers.
    probabilities: class probabilities, as returned by predict_proba: for the log loss, the Brier score and the
        calibration, and for the AUC unless decisions are given.
    decisions: scores for the AUC: one number per sample, larger for the second of two classes, or one column per
        class.
    classes: the classes in the order of the columns; default: those of y and predictions.
    classify: True if numbers are class labels; default: floats without probabilities and decisions are numbers.
    bins: number of calibration bins, default 10.

    >>> import widelimit as wl
    >>> found = wl.scores(["a", "b", "b", "b"], ["a", "b", "a", "b"])
    >>> found.accuracy, round(found.balanced_accuracy, 4), [round(c.f1, 4) for c in found.by_class]
    (0.75, 0.8333, [0.6667, 0.8])
    >>> wl.scores([1, 1], [1, 0], [[0.3, 0.7], [0.6, 0.4]]).notes
    ["all samples are of class '1': there is no AUC", "no samples of class '0': no recall"]
    >>> round(wl.scores([1.0, 3.0, 8.0], [0.0, 4.0, 6.0]).r2, 4)
    0.7692
    """
    if classify is None:
        kind = as_array(y, "y").dtype.kind
        classify = kind != "f" or probabilities is not None or decisions is not None
    if not classify:
        if probabilities is not None or decisions is not None or classes is not None:
            raise InputError("probabilities, decisions and classes need class labels, but y is numbers")
        return ValueScores(**_core.value_scores(as_columns(y)[0], as_columns(predictions, "predictions")[0]))
    return _class_scores(y, predictions, probabilities, decisions, classes, bins)


def _class_scores(y, predictions, probabilities, decisions, classes, bins) -> ClassScores:
    known, labels = as_classes(y)
    predicted_classes, predicted_labels = as_classes(predictions)
    try:
        union = np.union1d(known, predicted_classes) if classes is None else np.atleast_1d(as_array(classes, "classes"))
    except TypeError as error:
        raise InputError(f"the classes of y and predictions cannot be put in order ({error})") from error
    places = {name: i for i, name in enumerate(union.tolist())}
    if len(places) != union.size:
        raise InputError("classes contains a class twice")

    def numbered(names: NDArray[Any], which: NDArray[np.int64], of: str) -> NDArray[np.int64]:
        for name in names.tolist():
            if name not in places:
                raise InputError(f"{of} has the class {name!r}, which is none of classes {union.tolist()}")
        return np.array([places[name] for name in names.tolist()], dtype=np.int64)[which]

    found = _core.class_scores(
        numbered(known, labels, "y"),
        numbered(predicted_classes, predicted_labels, "predictions"),
        [str(name) for name in union.tolist()],
        None if probabilities is None else _of_classes(probabilities, len(places), "probabilities"),
        None if decisions is None else _of_classes(decisions, len(places), "decisions"),
        bins,
    )
    each = [ClassScore(name, *one) for name, one in zip(union.tolist(), found.pop("by_class"), strict=True)]
    curve = found.pop("reliability")
    reliability = None if curve is None else [ReliabilityBin(*one) for one in curve]
    confusion = np.array(found.pop("confusion"), dtype=np.int64)
    return ClassScores(**found, reliability=reliability, by_class=each, confusion=confusion)


def _of_classes(numbers: ArrayLike, count: int, name: str) -> NDArray[np.float64]:
    """Returns one column per class; a single column of two classes is that of the second."""
    found, _ = as_columns(numbers, name)
    if found.shape[1] == 1 and count == 2 and name == "probabilities":
        found = np.hstack([1 - found, found])
    if found.shape[1] != count and not (found.shape[1] == 1 and count == 2):
        raise InputError(
            f"{name} has {found.shape[1]} columns for {count} classes; give classes= if y and predictions do not "
            "contain all of them"
        )
    return found
