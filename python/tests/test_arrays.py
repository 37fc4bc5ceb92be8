"""Copies of inputs, and ownership of results."""

import gc
import tracemalloc

import numpy as np
import pytest

import widelimit as wl

NET = "fc:2"
X = np.random.default_rng(11).normal(size=(12, 6))
IMAGES = np.random.default_rng(12).normal(size=(5, 4, 3, 2))
CONV = "conv relu flatten dense"


def with_row_gaps(x):
    wide = np.full((len(x), x.shape[1] + 3), np.nan)
    wide[:, : x.shape[1]] = x
    return wide[:, : x.shape[1]]


def unaligned(x):
    packed = np.zeros(len(x), dtype=np.dtype([("tag", "i1"), ("x", "f8", x.shape[1])]))
    packed["x"] = x
    return packed["x"]


LAYOUTS = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "row gaps": with_row_gaps,
    "every other row": lambda x: np.repeat(x, 2, axis=0)[::2],
    "backwards": lambda x: x[::-1].copy()[::-1],
    "every other column": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "columns backwards": lambda x: x[:, ::-1].copy()[:, ::-1],
    "big endian": lambda x: x.astype(">f8"),
    "long double": lambda x: x.astype(np.longdouble),
    "unaligned": unaligned,
    "list": lambda x: x.tolist(),
    "memoryview": memoryview,
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_vector_layouts(layout):
    x = LAYOUTS[layout](X)
    assert np.array_equal(wl.kernel(NET, x), wl.kernel(NET, X))
    assert np.array_equal(wl.kernel(NET, x, X), wl.kernel(NET, X, X.copy()))


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[::2],
        lambda x: x[::-1],
        lambda x: x[:, 1:3],
        lambda x: x[:, :, ::2],
        lambda x: x[..., :1],
        lambda x: np.asfortranarray(x),
        lambda x: x.transpose(0, 2, 1, 3),
        lambda x: np.broadcast_to(x[:1], x.shape),
    ],
)
def test_image_layouts(view):
    x = view(IMAGES)
    assert np.array_equal(wl.kernel(CONV, x), wl.kernel(CONV, np.array(x, order="C")))


@pytest.mark.parametrize("dtype", ["f4", "f2", "i1", "u1", "i8", "u8", "?"])
def test_dtypes(dtype):
    x = (X * 3).astype(dtype)
    assert np.allclose(wl.kernel(NET, x), wl.kernel(NET, x.astype(np.float64)), rtol=1e-15, atol=0)
    assert wl.kernel(NET, x).dtype == np.float64


def test_bytes_of_images():
    x = (IMAGES * 10).astype(np.uint8)
    assert np.array_equal(wl.kernel(CONV, x), wl.kernel(CONV, x.astype(float)))


def test_read_only_memory(tmp_path):
    frozen = X.copy()
    frozen.setflags(write=False)
    assert np.array_equal(wl.kernel(NET, frozen), wl.kernel(NET, X))
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert np.array_equal(wl.kernel(NET, mapped), wl.kernel(NET, X))


def peak_of(call):
    """Returns the peak memory of NumPy during the call, in bytes."""
    gc.collect()
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("view", "copies"),
    [
        (lambda x: x, 0),
        (lambda x: x[:, :1500], 0),
        (lambda x: x[::2], 0),
        (lambda x: x[::-1], 0),
        (lambda x: x.reshape(-1, 40, 50, 1), 0),
        (lambda x: x.reshape(-1, 40, 50, 1)[:, 8:], 0),
        (np.asfortranarray, 1),
        (lambda x: x[:, ::2], 1),
    ],
)
def test_copies(view, copies, dtype):
    x = view(np.ones((100, 2000), dtype=dtype))
    peak = peak_of(lambda: wl.diagonal("fc:1", x))
    assert copies * x.nbytes <= peak < copies * x.nbytes + 60_000


def test_other_types_are_converted_once():
    x = np.ones((100, 2000), dtype=np.int32)
    assert 1_600_000 <= peak_of(lambda: wl.diagonal("fc:1", x)) < 1_700_000


@pytest.mark.parametrize("precision", ["f32", "f64"])
def test_results_own_the_library_memory(precision):
    x = np.ones((700, 3))
    peak = peak_of(lambda: wl.kernel("fc:1", x, precision=precision))
    assert peak < 60_000  # no matrix was allocated by NumPy
    k = wl.kernel("fc:1", x, precision=precision)
    assert k.flags.c_contiguous
    assert k.flags.writeable
    assert k.flags.aligned
    part = k[5:8, 2:4]
    kept = part.copy()
    del k
    gc.collect()
    wl.kernel("fc:1", 2 * x, precision=precision)
    assert np.array_equal(part, kept)


def test_results_are_given_back():
    resource = pytest.importorskip("resource")
    x = np.ones((1500, 2))
    wl.kernel("dense", x)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(20):  # 18 MB each
        wl.kernel("dense", x)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 120_000


def test_sweep_is_one_block():
    table = wl.sweep("fc:2", X)
    assert table.flags.c_contiguous
    assert not table.flags.owndata
