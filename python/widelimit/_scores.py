"""How good predictions are: scores of numbers, of classes and of probabilities."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from widelimit import _core
from widelimit._core import InputError
from widelimit._targets import as_classes, as_numbers


class ValueScores(NamedTuple):
    """Scores of predicted numbers; of several columns the means over them."""

    samples: int
    r2: float | None
    """1 − Σ(y − g)²/Σ(y − ȳ)²; None where y is constant."""
    squared_error: float
    """Mean of (y − g)²."""
    root_squared_error: float
    absolute_error: float
    """Mean of |y − g|."""
    notes: list[str]
    """Which scores are undefined, and why."""


class ClassScore(NamedTuple):
    """Scores of one class; None where they are undefined."""

    label: Any
    support: int
    """Samples of the class."""
    predicted: int
    """Samples taken for it."""
    precision: float | None
    """None where no sample is taken for the class."""
    recall: float | None
    """None where no sample is of the class."""
    f1: float | None


class ReliabilityBin(NamedTuple):
    """Samples whose most probable class has a probability within one bin."""

    samples: int
    confidence: float
    """Mean of that probability."""
    accuracy: float
    """Fraction of the samples that are of that class."""


class ClassScores(NamedTuple):
    """Scores of predicted classes; None where they are undefined, or where there are no probabilities."""

    samples: int
    accuracy: float
    balanced_accuracy: float
    """Mean recall of the classes that have samples."""
    precision: float | None
    """Mean over the classes that occur in y or predictions, as recall and f1; None where one of them has none."""
    recall: float | None
    f1: float
    auc: float | None
    """Area under the ROC curve; of several classes the mean over pairs of classes (Hand and Till 2001)."""
    log_loss: float | None
    """Mean of −log p(true class); None where one of these is 0."""
    brier: float | None
    """Two classes: mean of (p − y)² of the second; more: mean of Σ(p_c − [y = c])²."""
    calibration_error: float | None
    """Expected calibration error: the mean distance of confidence and accuracy over the bins of reliability."""
    reliability: list[ReliabilityBin] | None
    """The reliability curve: the bins that have samples, by rising confidence."""
    by_class: list[ClassScore]
    confusion: NDArray[np.int64]
    """[true class, predicted class]."""
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
    """Scores of predictions against what is true: ClassScores of classes, ValueScores of numbers.

    y, predictions: a class or a number for each sample; of numbers also a row for each.
    probabilities: of each class, as predict_proba gives them: for the log loss, the Brier score and the calibration,
        and for the AUC unless decisions are given.
    decisions: what orders samples for the AUC: a number for each, high for the second of two classes, or a column for
        each class.
    classes: the classes in the order of the columns; those of y and predictions unless said.
    classify: True where numbers name classes; unless said, floats without probabilities and decisions are numbers.
    bins: of the calibration, 10 unless said.

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
        kind = np.asarray(y).dtype.kind
        classify = kind != "f" or probabilities is not None or decisions is not None
    if not classify:
        if probabilities is not None or decisions is not None or classes is not None:
            raise InputError("probabilities, decisions and classes are of classes; y is numbers")
        return ValueScores(**_core.value_scores(_columns(y, "y"), _columns(predictions, "predictions")))
    return _class_scores(y, predictions, probabilities, decisions, classes, bins)


def _class_scores(y, predictions, probabilities, decisions, classes, bins) -> ClassScores:
    known, labels = as_classes(y)
    seen, told = as_classes(predictions)
    try:
        union = np.union1d(known, seen) if classes is None else np.asarray(classes)
    except TypeError as error:
        raise InputError(f"the classes of y and predictions cannot be put in order ({error})") from error
    places = {name: i for i, name in enumerate(union.tolist())}
    if len(places) != union.size:
        raise InputError("classes names a class twice")

    def numbered(names: NDArray[Any], which: NDArray[np.int64], of: str) -> NDArray[np.int64]:
        for name in names.tolist():
            if name not in places:
                raise InputError(f"{of} has the class {name!r}, which is none of classes {union.tolist()}")
        return np.array([places[name] for name in names.tolist()], dtype=np.int64)[which]

    found = _core.class_scores(
        numbered(known, labels, "y"),
        numbered(seen, told, "predictions"),
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


def _columns(numbers: ArrayLike, name: str) -> NDArray[np.float64]:
    found = as_numbers(numbers, name)
    return np.ascontiguousarray(found[:, None] if found.ndim == 1 else found)


def _of_classes(numbers: ArrayLike, count: int, name: str) -> NDArray[np.float64]:
    """A column for each class; one column of two classes is the second's."""
    found = _columns(numbers, name)
    if found.shape[1] == 1 and count == 2 and name == "probabilities":
        found = np.hstack([1 - found, found])
    if found.shape[1] != count and not (found.shape[1] == 1 and count == 2):
        raise InputError(
            f"{name} has {found.shape[1]} columns for {count} classes; give classes= where y and predictions do not "
            "have them all"
        )
    return found
