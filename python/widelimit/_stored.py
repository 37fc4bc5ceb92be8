"""Gram matrices in HDF5 files, computed and read in blocks."""

from __future__ import annotations

import json
import operator
import os
from typing import Any

import numpy as np

from widelimit import _core
from widelimit._core import InputError

_TYPES = {"f32": np.dtype(np.float32), "f64": np.dtype(np.float64)}


class StoredGram:
    """A Gram matrix in an HDF5 file. Indexing reads only the selected block; numpy.asarray reads all of it.

    >>> import os, tempfile, numpy as np, widelimit as wl
    >>> x = np.random.default_rng(0).normal(size=(40, 3))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     k = wl.kernel("fc:2", x, out=os.path.join(folder, "k.h5"))
    ...     k.shape, k.dtype, k[3, 5:7].shape, np.array_equal(k, wl.kernel("fc:2", x))
    ((40, 40), dtype('float64'), (2,), True)
    """

    def __init__(self, path: str | os.PathLike[str], name: str | None = None) -> None:
        self._path = os.fspath(path)
        self._gram = _core.StoredGram(self._path, name)

    @property
    def name(self) -> str:
        """Name in the file: 'ntk', 'test_nngp', 'network2/ntk', …"""
        return self._gram.name

    @property
    def names(self) -> list[str]:
        """Names of all matrices of the file."""
        return self._gram.names

    @property
    def shape(self) -> tuple[int, int]:
        return self._gram.rows, self._gram.cols

    @property
    def ndim(self) -> int:
        return 2

    @property
    def size(self) -> int:
        return self._gram.rows * self._gram.cols

    @property
    def dtype(self) -> np.dtype:
        return _TYPES[self._gram.precision]

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of the computation: network, data, precision, route, …"""
        text = self._gram.settings
        return json.loads(text) if text else {}

    def __len__(self) -> int:
        return self._gram.rows

    def __getitem__(self, index: Any) -> Any:
        """Returns a copy of a block; accepts integers, slices and Ellipsis, like a two-dimensional NumPy array."""
        rows, cols = _split_index(index)
        row, height, row_step = _covering_range(rows, self._gram.rows)
        col, width, col_step = _covering_range(cols, self._gram.cols)
        return self._gram.read(row, col, height, width)[row_step, col_step]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("a stored Gram matrix cannot be converted without a copy; leave copy=False out")
        whole = self._gram.read(0, 0, *self.shape)
        return whole if dtype is None else whole.astype(dtype, copy=False)

    def __repr__(self) -> str:
        return f"<StoredGram {self.name!r} of {self._path!r}, {self.shape[0]}×{self.shape[1]} {self.dtype}>"

    def __reduce__(self) -> tuple:
        return StoredGram, (self._path, self.name)


def open_gram(path: str | os.PathLike[str], name: str | None = None) -> StoredGram:
    """Opens the Gram matrix `name` of an HDF5 file; default: ntk, else nngp, else the only matrix.

    Only indexed blocks are read, so the matrix may be larger than memory.

    >>> import os, tempfile, numpy as np, widelimit as wl
    >>> x = np.random.default_rng(0).normal(size=(40, 3))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "k.h5")
    ...     _ = wl.kernel("fc:2", x, kind=("nngp", "ntk"), out=path)
    ...     k = wl.open_gram(path)
    ...     k.name, k.names, k[:2, -3:].shape, k.settings["precision"]
    ('ntk', ['nngp', 'ntk'], (2, 3), 'f64')
    """
    return StoredGram(path, name)


def _split_index(index: Any) -> tuple[Any, Any]:
    """Splits an index into that of rows and that of columns."""
    parts = index if isinstance(index, tuple) else (index,)
    if sum(part is Ellipsis for part in parts) > 1 or sum(part is not Ellipsis for part in parts) > 2:
        raise IndexError("a Gram matrix has two dimensions")
    if not any(part is Ellipsis for part in parts):
        parts = (*parts, Ellipsis)
    at = next(k for k, part in enumerate(parts) if part is Ellipsis)
    missing = 3 - len(parts)
    rows, cols = (*parts[:at], *[slice(None)] * missing, *parts[at + 1 :])
    return rows, cols


def _covering_range(index: Any, size: int) -> tuple[int, int, Any]:
    """Returns start and length of a contiguous range that covers `index`, and the index relative to that range."""
    if isinstance(index, slice):
        selected = range(size)[index]
        if len(selected) == 0:
            return 0, 0, slice(None)
        first, last = min(selected[0], selected[-1]), max(selected[0], selected[-1])
        within = slice(None, None, selected.step)
        return first, last - first + 1, within
    try:
        place = operator.index(index)
    except TypeError:
        raise InputError(
            f"a stored Gram matrix is indexed by integers and slices, not by {type(index).__name__}; "
            "read the rows first, k[first:last], and index the result"
        ) from None
    if not -size <= place < size:
        raise IndexError(f"index {place} is out of bounds for a dimension of {size}")
    return place % size, 1, 0
