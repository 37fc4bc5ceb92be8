"""Conversion of array-likes to NumPy arrays, before any check of their contents."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from widelimit._core import InputError


def as_array(x: Any, name: str, wanted: str = "") -> NDArray[Any]:
    """Returns numpy.asarray(x); raises InputError for rows of different lengths, masked entries and device memory.

    wanted: what to give instead, for the message.
    """
    refuse_masked(x, name)
    try:
        return np.asarray(x)
    except (ValueError, TypeError) as error:  # TypeError: of an array in device memory
        raise InputError(f"{name} is not an array ({error}){wanted and '; give ' + wanted}") from error


def refuse_masked(x: Any, name: str) -> None:
    """Raises InputError if x has masked entries, which numpy.asarray would replace by the values under the mask."""
    if isinstance(x, np.ma.MaskedArray) and np.ma.is_masked(x):
        raise InputError(f"{name} has masked entries; fill them, or remove their samples")
