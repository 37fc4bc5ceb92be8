"""Mock producer of DLPack capsules that reports its memory as CUDA memory, as on the emulated device."""

from __future__ import annotations

import ctypes
from typing import ClassVar

import numpy as np

CPU, CUDA, METAL = 1, 2, 8


class _Tensor(ctypes.Structure):
    _fields_: ClassVar = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Managed(ctypes.Structure):
    _fields_: ClassVar = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _Deleter)]


_NAME = b"dltensor"
_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype = ctypes.c_void_p
_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


class FakeTensor:
    """Mock of a device array of another library."""

    def __init__(self, array: np.ndarray, device: tuple[int, int] = (CUDA, 0)) -> None:
        self.array = array
        self.shape = array.shape
        self.device = device
        self.streams: list[int | None] = []
        self.deleted = 0
        self._kept: list = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, *, stream: int | None = None):
        self.streams.append(stream)
        numbers = ctypes.c_int64 * self.array.ndim
        shape = numbers(*self.array.shape)
        strides = numbers(*(step // self.array.itemsize for step in self.array.strides))
        code = {"i": 0, "f": 2}[self.array.dtype.kind]
        tensor = _Tensor(
            self.array.ctypes.data, *self.device, self.array.ndim, code, 8 * self.array.itemsize, 1, shape, strides, 0
        )
        managed = _Managed(tensor, None, _Deleter(self._delete))
        self._kept.append((managed, shape, strides))
        return _new_capsule(ctypes.addressof(managed), _NAME, None)

    def _delete(self, _: int) -> None:
        self.deleted += 1


class SharedView:
    """Consumer of a capsule: a view of its data until release calls the deleter."""

    def __init__(self, capsule) -> None:
        self._managed = _Managed.from_address(_pointer(capsule, _NAME))
        tensor = self._managed.tensor
        self.device = (tensor.device_type, tensor.device_id)
        shape = [tensor.shape[axis] for axis in range(tensor.ndim)]
        number = {32: ctypes.c_float, 64: ctypes.c_double}[tensor.bits]
        count = int(np.prod(shape))
        self.array = np.ctypeslib.as_array((number * count).from_address(tensor.data)).reshape(shape)
        ctypes.pythonapi.PyCapsule_SetName(ctypes.py_object(capsule), b"used_dltensor")

    def release(self) -> None:
        self._managed.deleter(ctypes.addressof(self._managed))
