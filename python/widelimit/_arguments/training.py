"""Arguments that train, evolution and equivalence share, converted for the core library."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from widelimit import _core
from widelimit._arguments.arrays import as_array
from widelimit._arguments.options import numbers_of, whole_numbers
from widelimit._arguments.samples import as_images
from widelimit._arguments.targets import as_classes, as_numbers, columns, holds_numbers
from widelimit._arguments.threads import usable
from widelimit._core import InputError, Network

_MARGINS = ("hinge", "squared-hinge", "logistic")


def training_targets(y: ArrayLike, loss: str) -> tuple[NDArray[np.float64], NDArray[Any] | None]:
    """Returns the training targets, and the classes if y holds class labels."""
    given = as_array(y, "y")
    if given.ndim == 2:
        return as_numbers(y), None
    if holds_numbers(y) and loss != "softmax":
        numbers = as_numbers(y)
        if loss not in _MARGINS:
            return numbers, None
        if np.isin(numbers, (-1.0, 1.0)).all():
            return numbers, np.array([-1, 1], dtype=given.dtype)
    classes, labels = as_classes(y)
    return _core.class_targets(labels, len(classes), loss), classes


def held_out_targets(
    y: ArrayLike, loss: str, classes: NDArray[Any] | None, targets: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Returns the targets of other samples, samples × outputs, encoded like those of the training samples."""
    if classes is None or targets.ndim == 1:
        return columns(as_numbers(y))
    labels = as_array(y, "y")
    known = np.isin(labels, classes)
    if not known.all():
        raise InputError(f"class {labels[~known][0]!r} of the test samples was never seen in training")
    return _core.class_targets(np.searchsorted(classes, labels).astype(np.int64), len(classes), loss)


def held_out(
    network: Network,
    test: ArrayLike | tuple[ArrayLike, ArrayLike] | None,
    loss: str,
    classes: NDArray[Any] | None,
    targets: NDArray[np.float64],
    channels_first: bool | None,
    backend: str,
) -> tuple[Any, NDArray[np.float64] | None]:
    """Returns samples and targets of `test`: samples, (samples, y) or None."""
    if test is None:
        return None, None
    labelled = isinstance(test, tuple)
    samples = as_images(network, test[0] if labelled else test, "test samples", channels_first, backend)
    return samples, held_out_targets(test[1], loss, classes, targets) if labelled else None


def training_options(threads: int | None, **given: Any) -> dict[str, Any]:
    """Returns the options of a training for the core library, which has one width, or a width for each layer."""
    options = {**given, "threads": usable(threads)}
    width = given.get("width")
    if width is not None and not isinstance(width, (int, np.integer)):
        options.update(width=None, layer_widths=whole_numbers(width, "width"))
    if given.get("milestones") is not None:
        options["milestones"] = numbers_of(given["milestones"], "milestones")
    if given.get("record_steps") is not None:
        options["record_steps"] = whole_numbers(given["record_steps"], "record_steps")
    return options
