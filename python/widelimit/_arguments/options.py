"""Conversion of options that hold numbers, for the core library."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from widelimit._arguments.arrays import as_array
from widelimit._core import InputError


def whole_numbers(values: Iterable[Any] | None, name: str) -> list[int] | None:
    """Returns whole numbers as a list, None as None; a fraction or text is an InputError, never rounded."""
    if values is None:
        return None
    try:
        return [operator.index(value) for value in values]
    except TypeError:
        raise InputError(f"{name} is {values!r}; give a list of whole numbers") from None


def numbers_of(values: Iterable[Any] | None, name: str) -> list[float] | None:
    """Returns real numbers as a list, None as None; text is an InputError."""
    if values is None:
        return None
    found = as_array(values, name)
    if found.ndim != 1 or (found.size and found.dtype.kind not in "fiu"):
        raise InputError(f"{name} is {values!r}; give a list of numbers")
    return found.astype(np.float64).tolist()


def as_times(times: ArrayLike) -> NDArray[np.float64]:
    """Converts times, which may include infinity; the core library checks their order."""
    found = as_array(times, "times")
    if found.dtype.kind not in "fiu" or found.ndim > 1:
        raise InputError("times must be a list of numbers")
    return np.ascontiguousarray(np.atleast_1d(found), dtype=np.float64)


def as_number(value: ArrayLike, name: str) -> float:
    """Returns one real number, which may be infinite; text is an InputError."""
    found = as_array(value, name)
    if found.dtype.kind not in "fiu" or found.ndim != 0:
        raise InputError(f"{name} is {value!r}; give a number")
    return float(found)
