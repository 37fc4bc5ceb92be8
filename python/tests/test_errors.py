"""Errors raise one of three exceptions, with a remedy in the message."""

import numpy as np
import pytest

import widelimit as wl

X = np.random.default_rng(5).normal(size=(4, 3))


def test_exception_types():
    assert issubclass(wl.InputError, ValueError)
    assert issubclass(wl.NumericalError, ArithmeticError)
    assert issubclass(wl.ResourceError, MemoryError)
    assert wl.InputError.__module__ == "widelimit"


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.ones(3), r"x1\[None, :\]"),
        ([1.0, 2.0], r"x1\[:, None\]"),
        (3.0, "0 dimensions"),
        (np.ones((1, 2, 3, 4, 5)), "5 dimensions"),
        (X.astype(complex), "complex"),
        (X.astype(object), "object"),
        (np.array([["a", "b"]]), "dtype"),
        ([[1.0, 2.0], [3.0]], "not an array"),
        (None, "dtype object"),
        (np.array([["2020-01-01"]], dtype="M8[D]"), "datetime"),
        (np.zeros((3, 0)), "at least 1"),
        (np.array([[1.0, np.nan]]), "sample 0"),
        (np.array([[1.0, 2.0], [np.inf, 1.0]]), "sample 1"),
    ],
)
def test_bad_samples(x, message):
    with pytest.raises(wl.InputError, match=message):
        wl.kernel("fc:1", x)


def test_second_set_is_named():
    with pytest.raises(wl.InputError, match="x2"):
        wl.kernel("fc:1", X, np.ones(3))
    with pytest.raises(wl.InputError, match="different shape"):
        wl.kernel("fc:1", X, X[:, :2])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"backend": "nosuch"}, "cpu, reference"),
        ({"backend": "cuda:0"}, "cuda:0"),
        ({"threads": -1}, "-1"),
        ({"precision": "f16"}, "f32 or f64"),
        ({"kind": "tnk"}, "tnk"),
        ({"kind": ()}, "choose"),
        ({"kind": ("ntk", "ntk")}, "choose"),
        ({"kind": ("ntk", 3)}, "choose"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(wl.InputError, match=message):
        wl.kernel("fc:1", X, **options)


def test_wrong_types_are_type_errors():
    for options in ({"threads": "two"}, {"backend": 3}, {"precision": 64}, {"nosuch": 1}):
        with pytest.raises(TypeError):
            wl.kernel("fc:1", X, **options)


def test_network_that_does_not_fit():
    with pytest.raises(wl.InputError, match="layer 1"):
        wl.kernel("conv(kernel=9, padding=VALID) flatten dense", np.ones((2, 4, 4, 1)))
    with pytest.raises(wl.InputError, match="max_pool"):
        wl.kernel("max_pool flatten dense", np.ones((2, 4, 4, 1)))
    with pytest.raises(wl.InputError):
        wl.sweep("residual{ dense } dense", X)


def test_overflow():
    with pytest.raises(wl.NumericalError, match="overflow"):
        wl.kernel("dense exp dense", 100 * X)


def test_more_memory_than_there_can_be():
    rows = np.broadcast_to(np.zeros((1, 1)), (4_500_000, 1))
    with pytest.raises(wl.ResourceError, match="GiB"):
        wl.classical_kernel("linear", rows)


def test_classical_and_monte_carlo():
    with pytest.raises(wl.InputError):
        wl.classical_kernel("nosuch", X)
    with pytest.raises(wl.InputError):
        wl.monte_carlo_kernel("fc:1", X, draws=1)
    with pytest.raises(wl.InputError, match="kind"):
        wl.diagonal("fc:1", X, kind="tnk")


def test_an_error_leaves_the_library_usable():
    before = wl.kernel("fc:1", X)
    for _ in range(50):
        with pytest.raises(wl.InputError):
            wl.kernel("fc:1", np.array([[np.nan]]))
    assert np.array_equal(before, wl.kernel("fc:1", X))
