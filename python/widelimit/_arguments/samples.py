"""Conversion of samples for the core library, with copies only if dtype or memory layout require them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from widelimit import _core
from widelimit._arguments.arrays import as_array
from widelimit._arguments.device import device_name, device_of, fetched, on_host, require_device, wrapped
from widelimit._core import DeviceArray, GraphSamples, InputError, Network, SparseSamples
from widelimit._graphs import Graphs, as_graphs

_LAYOUTS = "a matrix of N vectors, or images N×H×W or N×H×W×C"


def is_sparse(x: Any) -> bool:
    """Returns whether x is a sparse matrix or array of SciPy, without importing SciPy."""
    return hasattr(x, "tocsr")


def as_samples(x: Any, name: str, backend: str = "cpu") -> NDArray[np.floating] | SparseSamples | GraphSamples:
    """Returns x as float32 or float64 with contiguous samples; copies only if dtype, alignment or order require it.

    Sparse matrices of SciPy stay sparse: float64, sorted 32-bit column indices, duplicates summed. Arrays on the device
    of the back end are copied to the host for preprocessing.
    """
    if isinstance(x, (SparseSamples, GraphSamples)):
        return x
    if isinstance(x, Graphs):
        return as_graphs(x, name)
    if is_sparse(x):
        return _as_sparse(x, name)
    samples = as_array(on_host(x, name, backend), name, _LAYOUTS)
    if samples.dtype.kind not in "fiub":
        raise InputError(f"{name} has dtype {samples.dtype}; give real numbers, float32 or float64")
    if samples.ndim == 1:
        raise InputError(
            f"{name} has one dimension, {samples.shape}; give one sample per row: "
            f"{name}[None, :] is one sample of {samples.size} features, "
            f"{name}[:, None] is {samples.size} samples of one feature"
        )
    if samples.ndim not in (2, 3, 4):
        raise InputError(f"{name} has {samples.ndim} dimensions; give {_LAYOUTS}")
    return _as_floating_rows(samples)


def _as_sparse(x: Any, name: str) -> SparseSamples:
    if x.ndim != 2:
        raise InputError(f"{name} is a sparse array of {x.ndim} dimensions; give a matrix with one sample per row")
    if x.dtype.kind not in "fiub":
        raise InputError(f"{name} has dtype {x.dtype}; give real numbers")
    rows = x.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy() if rows is x else rows
        rows.sum_duplicates()
    if rows.shape[1] > np.iinfo(np.int32).max:
        raise InputError(f"{name} has {rows.shape[1]} columns; sparse samples have at most {np.iinfo(np.int32).max}")
    return SparseSamples(
        np.ascontiguousarray(rows.data, dtype=np.float64),
        np.ascontiguousarray(rows.indices, dtype=np.int32),
        np.ascontiguousarray(rows.indptr, dtype=np.int64),
        rows.shape[1],
    )


def as_images(
    network: Network, x: Any, name: str, channels_first: bool | None, backend: str = "cpu"
) -> NDArray[np.floating] | SparseSamples | GraphSamples:
    """Returns x as samples of a network, channels last. channels_first: True copies N×C×H×W; None raises InputError for
    images that look like N×C×H×W if the network has spatial layers; False disables this check.
    """
    if network.reads_graphs:
        return as_graphs(x, name)
    samples = as_samples(x, name, backend)
    if isinstance(samples, GraphSamples):
        return samples
    if channels_first:
        return channels_last(samples, name)
    unchecked = channels_first is None and samples.ndim == 4
    if unchecked and (warning := _core.layout_warning(network, *samples.shape[1:])):
        raise InputError(f"{name}: {warning}; give channels_first=True, or channels_first=False if they do not")
    return samples


def as_rows(x: Any, name: str) -> Any:
    """Returns x as an array, or in CSR format if it is sparse, whose rows can be selected by indices."""
    return x.tocsr() if is_sparse(x) else as_array(x, name)


def channels_last(samples: Any, name: str) -> NDArray:
    """Converts N×C×H×W to N×H×W×C."""
    if samples.ndim != 4:
        raise InputError(f"{name} has {samples.ndim} dimensions; channels_first=True is for images N×C×H×W")
    return np.ascontiguousarray(np.moveaxis(samples, 1, -1))


def laid_out(rows: Any, shape: Sequence[int], planes: Sequence[int] | None = None) -> Any:
    """Reshapes rows of the core library, channels last, to samples of a shape; sparse rows are unchanged.

    planes: H, W and C if the shape has channels first.
    """
    if is_sparse(rows):
        return rows
    if planes is not None:
        rows = np.moveaxis(rows.reshape(len(rows), *planes), -1, 1)
    return rows.reshape(len(rows), *shape)


def as_matrix(k: ArrayLike, name: str) -> NDArray[np.floating]:
    """Returns k as a host matrix, float32 or float64, with contiguous rows; copies only if required."""
    if is_sparse(k):
        raise InputError(f"{name} is a sparse matrix; a Gram matrix is dense: give {name}.toarray()")
    matrix = as_array(fetched(k, name), name, "a matrix")
    if matrix.dtype.kind not in "fiub":
        raise InputError(f"{name} has dtype {matrix.dtype}; give real numbers, float32 or float64")
    if matrix.ndim != 2:
        raise InputError(f"{name} has {matrix.ndim} dimensions; give a matrix")
    return _as_floating_rows(matrix)


def as_kernel(
    k: ArrayLike | DeviceArray, name: str, backend: str | None, threads: int | None
) -> NDArray[np.floating] | DeviceArray:
    """Returns the Gram matrix k for a back end: without a copy if possible, uploaded from the host to a device if not.
    backend: None for the device of k, or the CPU.
    """
    number = device_of(k)
    if number is not None:
        device = f"cuda:{number}" if backend is None else backend
        require_device(k, name, number, device)
        if len(k.shape) != 2:
            raise InputError(f"{name} has {len(k.shape)} dimensions; give a matrix")
        return wrapped(k, name, device)
    matrix = as_matrix(k, name)
    return matrix if backend in (None, "cpu") else _core.hold(matrix, device_name(backend), threads)


def _as_floating_rows(samples: NDArray) -> NDArray[np.floating]:
    if samples.dtype not in (np.float32, np.float64) or not samples.dtype.isnative:
        dtype = np.float32 if samples.dtype == np.float32 else np.float64
        return np.ascontiguousarray(samples, dtype=dtype)
    return samples if _has_contiguous_rows(samples) else np.ascontiguousarray(samples)


def _has_contiguous_rows(samples: NDArray[np.floating]) -> bool:
    """Returns whether every sample is aligned and contiguous; the stride between samples is arbitrary."""
    if samples.size == 0:
        return samples.flags.c_contiguous
    return (
        samples.flags.aligned
        and samples.strides[0] % samples.itemsize == 0
        and samples[0].flags.c_contiguous
    )
