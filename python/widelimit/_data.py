"""Data by name or by file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from widelimit import _core


class Data(NamedTuple):
    """Samples with what is known of them."""

    x: NDArray[np.floating]
    """N×D, or N×H×W×C for images; float32 where the source holds bytes."""
    y: NDArray[np.int64] | NDArray[np.float64] | None
    """Class of each sample, an index into class_names; or real targets; or None."""
    class_names: list[str]
    """As the source writes them; empty for targets."""


def load_data(
    spec: str | os.PathLike[str],
    *,
    classes: Sequence[Any] | None = None,
    limit: int | None = None,
    shuffle: int | None = None,
    scale: str | None = None,
    label: str | int | None = None,
    memory: str | int | None = None,
) -> Data:
    """Samples, labels and class names of a set of the catalogue ('digits', 'mnist:train', 'uci:iris') or of a file.

    classes: keep these; limit: the first so many; shuffle: a seed, else the order of the source; scale: 'none',
    'unit', 'standard', 'minmax' or 'byte'; label: which column or array of a file is the label, or 'none'. In this
    order: classes, shuffle, limit, scale. memory: bytes that loading may take at once ("1GiB"), else what is left.

    >>> import widelimit as wl
    >>> x, y, names = wl.load_data("digits", classes=[3, 8], limit=100, scale="unit")
    >>> x.shape, y.shape, names
    ((100, 8, 8, 1), (100,), ['3', '8'])
    """
    train, _ = _core.load(
        os.fspath(spec), None, _texts(classes), limit, None, shuffle, scale, None, _text(label), _text(memory)
    )
    return _data(*train)


def load_train_test(
    train: str | os.PathLike[str],
    test: str | os.PathLike[str] | None = None,
    *,
    split: float | None = None,
    classes: Sequence[Any] | None = None,
    limit: int | None = None,
    test_limit: int | None = None,
    shuffle: int | None = None,
    scale: str | None = None,
    label: str | int | None = None,
    memory: str | int | None = None,
) -> tuple[Data, Data | None]:
    """Two sets that belong together: one set split, or two sets; the scaling is learned on the first.

    The labels of both are indices into the class names of the first. The second is None without test and split.

    >>> import widelimit as wl
    >>> train, test = wl.load_train_test("digits", split=0.8, shuffle=0, scale="standard")
    >>> len(train.x), len(test.x)
    (1438, 359)
    """
    first, second = _core.load(
        os.fspath(train),
        None if test is None else os.fspath(test),
        _texts(classes),
        limit,
        test_limit,
        shuffle,
        scale,
        split,
        _text(label),
        _text(memory),
    )
    return _data(*first), None if second is None else _data(*second)


def _data(x: Any, y: Any, class_names: list[str]) -> Data:
    # The buffer protocol says long long where NumPy's int64 is long: the same numbers, another name in print.
    return Data(x, y if y is None or y.dtype.kind == "f" else y.view(np.int64), class_names)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _texts(values: Sequence[Any] | None) -> list[str] | None:
    if isinstance(values, str):
        return [part.strip() for part in values.split(",")]
    return None if values is None else [str(value) for value in values]
