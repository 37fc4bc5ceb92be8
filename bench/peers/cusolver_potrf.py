"""Times the Cholesky factorisation of cuSOLVER alone (64-bit interface, float64, in place), the reference for exact
ridge. Prints the median time and the error of the factor of a leading block against NumPy.
"""

import argparse
import ctypes
import statistics
import time

import cupy
import numpy

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--rows", type=int, default=60_000)
parser.add_argument("--repeats", type=int, default=3)
arguments = parser.parse_args()

library = ctypes.CDLL("libcusolver.so.12")
LOWER, FLOAT64 = 0, 1
n = ctypes.c_int64(arguments.rows)


def called(name, *values):
    status = getattr(library, name)(*values)
    if status != 0:
        raise RuntimeError(f"{name}: status {status}")


handle, parameters = ctypes.c_void_p(), ctypes.c_void_p()
called("cusolverDnCreate", ctypes.byref(handle))
called("cusolverDnCreateParams", ctypes.byref(parameters))

fill = cupy.ElementwiseKernel(
    "int64 n, float64 diagonal",
    "float64 a",
    """
    long long r = i / n, c = i % n, low = r < c ? r : c, high = r < c ? c : r;
    unsigned long long x = (low * n + high + 1) * 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    x ^= x >> 31;
    a = r == c ? diagonal : (double)(x >> 11) * 0x1p-52 - 1.0;
    """,
    "fill",
)
a = cupy.empty((arguments.rows, arguments.rows))
place = ctypes.c_void_p(a.data.ptr)
device_bytes, host_bytes = ctypes.c_size_t(), ctypes.c_size_t()
called(
    "cusolverDnXpotrf_bufferSize", handle, parameters, LOWER, n, FLOAT64, place, n, FLOAT64,
    ctypes.byref(device_bytes), ctypes.byref(host_bytes),
)  # fmt: skip
work = cupy.empty(max(1, device_bytes.value), dtype=cupy.uint8)
host_work = ctypes.create_string_buffer(max(1, host_bytes.value))
info = cupy.zeros(1, dtype=cupy.int32)
few = min(300, arguments.rows)
seconds = []
for _ in range(arguments.repeats + 1):
    fill(arguments.rows, 2 * arguments.rows**0.5, a)
    before = cupy.asnumpy(a[:few, :few])
    cupy.cuda.Device().synchronize()
    start = time.perf_counter()
    called(
        "cusolverDnXpotrf", handle, parameters, LOWER, n, FLOAT64, place, n, FLOAT64, ctypes.c_void_p(work.data.ptr),
        device_bytes, host_work, host_bytes, ctypes.c_void_p(info.data.ptr),
    )  # fmt: skip
    cupy.cuda.Device().synchronize()
    seconds.append(time.perf_counter() - start)
error = abs(numpy.triu(cupy.asnumpy(a[:few, :few])) - numpy.linalg.cholesky(before).T).max()
print(f"cuSOLVER potrf n = {arguments.rows}: {statistics.median(seconds[1:]):.3f} s; error {error:.1e}", flush=True)
