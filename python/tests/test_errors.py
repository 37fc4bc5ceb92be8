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


K = wl.kernel("fc:1", X)
Y = [1.0, -1.0, 1.0, -1.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: wl.kernel("fc:1", X, threads=2.5), "threads is 2.5; give an integer"),
        (lambda: wl.kernel("fc:1", X, kind=3), "kind 3 is unknown"),
        (lambda: wl.sweep("fc:1", X, precision=64), "precision is 64; give text"),
        (lambda: wl.classical_kernel("rbf", X, backend=3), "backend is 3; give text"),
        (lambda: wl.monte_carlo_kernel("fc:1", X, draws="8"), "draws is '8'; give an integer"),
        (lambda: wl.fit_ridge(K, Y, lam="0.1"), "lam is '0.1'; give a number"),
        (lambda: wl.fit_svm(K, Y, bias="no"), "bias is 'no'; give True or False"),
        (lambda: wl.fit_svm(K, Y, scheme=1), "scheme is 1; give text"),
        (lambda: wl.ridge_path(K, Y, [1.0], bias=2), "bias is 2; give True or False"),
        (lambda: wl.svm_path(K, Y, [1.0], machine=None), "machine is None; give text"),
        (lambda: wl.fit_ridge_network("fc:1", X, Y, rank=1.5), "rank is 1.5; give an integer"),
        (lambda: wl.gaussian_process(K, Y, "0.1"), "noise is '0.1'; give a number"),
        (lambda: wl.flow(K, Y, loss=None, times=[1.0]), "loss is None; give text"),
        (lambda: wl.descend(K, Y, loss="hinge", steps="3"), "steps is '3'; give an integer"),
        (lambda: wl.equivalence("fc:1", X, Y, widths=[8], parts=1), "parts is 1; give True or False"),
        (lambda: wl.NTKClassifier("fc:1", machine=None).fit(X, Y), "machine is None; give text"),
    ],
)
def test_an_option_of_the_wrong_type_is_named(call, message):
    """Both an InputError and a TypeError; `lam` is that of the caller, not the fifth argument of the core library."""
    with pytest.raises(wl.InputError, match=message) as raised:
        call()
    assert message.startswith("kind 3") or isinstance(raised.value, TypeError)


def test_an_option_whose_repr_has_no_encoding_is_named():
    class Odd:
        def __repr__(self):
            return "odd \ud800"

    with pytest.raises(wl.InputTypeError, match="lam is odd"):
        wl.fit_ridge(K, Y, lam=Odd())


def test_scalars_of_numpy_are_options():
    plain = wl.fit_svm(K, Y, lam=0.5, bias=True, tolerance=0.125)
    scalars = dict(lam=np.float32(0.5), bias=np.True_, tolerance=np.float16(0.125), threads=np.int8(1))
    assert np.array_equal(wl.fit_svm(K, Y, **scalars).alpha, plain.alpha)
    assert wl.descend(K, Y, loss="squared", steps=np.uint8(3), coefficients=np.True_).coefficients.shape == (4, 4)


def test_lists_of_whole_numbers_are_not_rounded():
    options = dict(width=8, steps=4)
    for wrong in ([1.5], ["1"], 3, [None]):
        for call in (
            lambda: wl.train("fc:1", X, Y, record_steps=wrong, **options),  # noqa: B023
            lambda: wl.evolution("fc:1", X, Y, at=wrong, probe=3, **options),  # noqa: B023
            lambda: wl.flow(K, Y, loss="hinge", times=[1.0], record=wrong),  # noqa: B023
            lambda: wl.equivalence("fc:1", X, Y, widths=wrong, steps=2),  # noqa: B023
        ):
            with pytest.raises(wl.InputError, match="give a list of whole numbers"):
                call()
    with pytest.raises(wl.InputError, match="milestones"):
        wl.train("fc:1", X, Y, schedule="step", milestones=["0.5"], **options)
    with pytest.raises(wl.InputError, match=r"width is \[8.5\]"):
        wl.train("fc:1", X, Y, width=[8.5], steps=1)


MASKED = np.ma.masked_array(X, mask=np.equal(X, X[1, 1]))


@pytest.mark.parametrize(
    "call",
    [
        lambda: wl.kernel("fc:1", MASKED),
        lambda: wl.kernel("fc:1", X, MASKED),
        lambda: wl.fit_ridge(np.ma.masked_array(K, mask=np.eye(4)), Y),
        lambda: wl.fit_ridge(K, np.ma.masked_array(Y, mask=[0, 1, 0, 0])),
        lambda: wl.fit_svm(K, np.ma.masked_array([1, 2, 1, 2], mask=[0, 1, 0, 0])),
        lambda: wl.fit_svm(K, Y, sample_weight=np.ma.masked_array(np.ones(4), mask=[0, 1, 0, 0])),
        lambda: wl.train("fc:1", MASKED, Y, width=8, steps=1),
        lambda: wl.NTKRegressor("fc:1").fit(MASKED, Y),
    ],
)
def test_masked_entries_are_refused(call):
    with pytest.raises(wl.InputError, match="masked entries"):
        call()


def test_a_mask_without_masked_entries_is_accepted():
    assert np.array_equal(wl.kernel("fc:1", np.ma.masked_array(X)), wl.kernel("fc:1", X))


def test_complex_numbers_are_no_classes():
    for call in (
        lambda y: wl.fit_ridge(K, y),
        lambda y: wl.fit_svm(K, y),
        lambda y: wl.flow(K, y, loss="hinge", times=[1.0]),
        lambda y: wl.train("fc:1", X, y, width=8, steps=1),
        lambda y: wl.label_bound(K, y),
    ):
        with pytest.raises(wl.InputError, match="complex128"):
            call(np.array(Y) + 1j)


def test_objects_of_the_wrong_kind_are_named():
    with pytest.raises(wl.InputError, match="leave it out, or give 'device'"):
        wl.gram("fc:1", X, out=np.empty((4, 4)))
    with pytest.raises(wl.InputError, match="resume is of type str"):
        wl.train("fc:1", X, Y, width=8, steps=1, resume="net.h5")
    with pytest.raises(wl.InputError, match="model is of type str"):
        wl.load_data("digits", model="model.h5")
    with pytest.raises(wl.InputError, match="surrogate"):
        wl.Network("fc:1\ud800")
    with pytest.raises(wl.InputError, match=r"t is .0\.5.; give a number"):
        wl.kernel_at_time("0.5", "dense tanh dense", X, Y, width=8)
    with pytest.raises(wl.InputError, match="t must be"):
        wl.spectrum(K, Y).loss("1")
    with pytest.raises(wl.InputError, match="not an array"):
        wl.train("fc:1", X, [[1.0], [1.0, 2.0]], width=8, steps=1)


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
