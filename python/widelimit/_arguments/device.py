"""Arrays in device memory: DeviceArray, and arrays of PyTorch, CuPy and JAX through DLPack."""

from __future__ import annotations

from typing import Any

import numpy as np

from widelimit import _core
from widelimit._core import DeviceArray, InputError

# DLPack device types.
_HOST = (1, 3)
_CUDA = (2, 13)
# The legacy default stream of CUDA; the producer synchronises it with pending writes to the array.
_LEGACY_STREAM = 1


def device_of(x: Any) -> int | None:
    """Returns N if x is on CUDA device N; None if it is on the host or not an array."""
    if isinstance(x, np.ndarray) or not hasattr(x, "__dlpack_device__"):
        return None
    kind, number = x.__dlpack_device__()
    if int(kind) in _HOST:
        return None
    if int(kind) in _CUDA:
        return int(number)
    raise InputError(f"an array is on a device of DLPack kind {int(kind)}; copy it to the host first")


def device_name(backend: str) -> str:
    """Expands 'cuda' to its first device."""
    return "cuda:0" if backend == "cuda" else backend


def require_device(x: Any, name: str, number: int, backend: str | None) -> None:
    """Raises InputError if x is on another device than the back end; data are never moved implicitly."""
    backend = backend or "cpu"
    if device_name(backend) == f"cuda:{number}":
        return
    copy = f"{name}.numpy()" if isinstance(x, DeviceArray) else f"{name}.cpu() in PyTorch, {name}.get() in CuPy"
    raise InputError(
        f"{name} lies on cuda:{number}, but the back end is {backend}; "
        f"give backend='cuda:{number}', or a copy in host memory: {copy}"
    )


def _capsule(x: Any, name: str) -> Any:
    try:
        return x.__dlpack__(stream=_LEGACY_STREAM)
    except (BufferError, TypeError):
        try:
            return x.__dlpack__(stream=_LEGACY_STREAM, max_version=(1, 0))
        except (BufferError, TypeError) as error:
            raise InputError(f"{name} cannot be shared: {error}") from error


def wrapped(x: Any, name: str, backend: str) -> DeviceArray:
    """Wraps a matrix on the device of the back end without a copy."""
    if isinstance(x, DeviceArray):
        return x
    try:
        return _core.adopt(_capsule(x, name), device_name(backend))
    except InputError as error:
        raise InputError(f"{name}: {error}") from error


def on_host(x: Any, name: str, backend: str) -> Any:
    """Returns x, or a host copy if x is on the device of the back end."""
    number = device_of(x)
    if number is None:
        return x
    require_device(x, name, number, backend)
    return wrapped(x, name, backend).numpy().reshape(tuple(x.shape))


def fetched(k: Any, name: str) -> Any:
    """Returns k, or a host copy of a DeviceArray, for computations on the host."""
    if isinstance(k, DeviceArray):
        return k.numpy()
    number = device_of(k)
    if number is not None:
        raise InputError(
            f"{name} lies on cuda:{number}, but this function runs on the host; "
            f"give a copy in host memory: {name}.cpu() in PyTorch, {name}.get() in CuPy"
        )
    return k
