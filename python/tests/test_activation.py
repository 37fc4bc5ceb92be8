"""User-defined activations."""

import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

import widelimit as wl

X = np.random.default_rng(3).normal(size=(9, 4))
IMAGES = np.random.default_rng(4).normal(size=(3, 3, 4, 2))
NETS = {
    "vectors": ("dense(b_std=0.3) {} dense {} dense", X),
    "images": ("conv {} conv {} flatten dense", IMAGES),
    "all pairs": ("conv {} global_avg_pool dense", IMAGES),
}


def network(form, activation):
    return wl.Network(NETS[form][0].replace("{}", activation))


# The oracle integrates every pair separately, which is affordable only for vectors.
@pytest.mark.parametrize(("form", "backend"), [*((form, "cpu") for form in NETS), ("vectors", "reference")])
def test_equals_the_built_in(form, backend):
    wl.register_activation("python_tanh", np.tanh)
    x = NETS[form][1][:3]
    found = wl.kernel(network(form, "custom(name=python_tanh)"), x, kind=("nngp", "ntk"), backend=backend, threads=4)
    expected = wl.kernel(network(form, "tanh"), x, kind=("nngp", "ntk"), backend=backend)
    assert np.allclose(found.nngp, expected.nngp, rtol=1e-12, atol=1e-14)
    assert np.allclose(found.ntk, expected.ntk, rtol=1e-9, atol=1e-12)


class OwnError(Exception):
    pass


@pytest.mark.parametrize("form", NETS)
@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_exceptions_come_through(form, backend):
    def broken(x):
        raise OwnError("from the activation")

    wl.register_activation("broken", broken)
    net = network(form, "custom(name=broken)")
    for _ in range(5):
        with pytest.raises(OwnError, match="from the activation"):
            wl.kernel(net, NETS[form][1], backend=backend, threads=4)


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda x: x[:-1], wl.InputError, "elementwise"),
        (lambda x: 1.0, wl.InputError, "elementwise"),
        (lambda x: None, wl.InputError, "elementwise"),
        (lambda x: x[:, None], wl.InputError, "elementwise"),
        (lambda x: x + 1j, wl.InputError, "real numbers"),
        (lambda x: x.astype(str), wl.InputError, "real numbers"),
        (lambda x: np.where(x > 0, np.nan, x), wl.NumericalError, "'bad' is nan"),
        (lambda x: np.full_like(x, np.inf), wl.NumericalError, "'bad' is inf"),
    ],
)
def test_bad_values(function, error, message):
    wl.register_activation("bad", function)
    with pytest.raises(error, match=message):
        wl.kernel("dense custom(name=bad) dense", X)


@pytest.mark.filterwarnings("ignore::widelimit.AccuracyWarning")
def test_values_of_other_types():
    wl.register_activation("whole", lambda x: (x > 0).astype(np.int8))
    wl.register_activation("listed", lambda x: [float(value > 0) for value in x])
    wl.register_activation("strided", lambda x: np.repeat(x > 0, 2).astype(np.float32)[::2])
    first, second, third = (wl.kernel(f"dense custom(name={name}) dense", X) for name in ("whole", "listed", "strided"))
    assert np.array_equal(first, second)
    assert np.array_equal(first, third)


def test_argument_belongs_to_the_function():
    kept = []

    def greedy(x):
        kept.append(x)
        y = np.tanh(x)
        x[:] = np.nan
        return y

    wl.register_activation("greedy", greedy)
    k = wl.kernel("dense custom(name=greedy) dense", X)
    assert np.allclose(k, wl.kernel("dense tanh dense", X), rtol=1e-9)
    assert all(np.isnan(x).all() for x in kept)


def test_replacing():
    wl.register_activation("changes", np.tanh)
    net = wl.Network("dense custom(name=changes) dense")
    first = wl.kernel(net, X)
    wl.register_activation("changes", np.sin)
    assert not np.allclose(first, wl.kernel(net, X))


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_kinks_and_jumps_are_found(backend):
    wl.register_activation("kink", lambda x: np.maximum(x, 0))
    wl.register_activation("jump", lambda x: np.sign(x))
    for own, known in (("kink", "relu"), ("jump", "sign")):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = wl.gram(f"dense custom(name={own}) dense", X[:5], kind=("nngp", "ntk"), backend=backend)
        expected = wl.gram(f"dense {known} dense", X[:5], kind=("nngp", "ntk"), backend=backend)
        assert 0 < found.quadrature_error < 1e-11
        assert np.allclose(found.nngp, expected.nngp, rtol=1e-12, atol=1e-13)
        assert np.allclose(found.ntk, expected.ntk, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_what_cannot_be_integrated_is_warned_of(backend):
    wl.register_activation("noise", lambda x: np.modf(np.sin(1e5 * x) * 43758.5453)[0])
    net = "dense custom(name=noise) dense"
    for call in (wl.diagonal, wl.sweep, wl.layer_contributions, wl.kernel):
        with pytest.warns(wl.AccuracyWarning, match="quadrature leaves a relative error of about") as caught:
            call(net, X[:1], backend=backend)
        assert caught[0].filename == __file__
    with pytest.warns(wl.AccuracyWarning):
        assert wl.gram(net, X[:1], backend=backend).quadrature_error > 1e-3


def test_bad_registrations():
    with pytest.raises(wl.InputError, match="function"):
        wl.register_activation("number", 3)
    with pytest.raises(wl.InputError, match="word"):
        wl.register_activation("two words", np.tanh)
    with pytest.raises(wl.InputError, match="never_registered"):
        wl.kernel("dense custom(name=never_registered) dense", X)


def test_from_many_python_threads():
    wl.register_activation("threaded", np.tanh)
    expected = wl.kernel("conv custom(name=threaded) flatten dense", IMAGES)
    found = [None] * 4

    def work(index):
        found[index] = wl.kernel("conv custom(name=threaded) flatten dense", IMAGES, threads=3)

    threads = [threading.Thread(target=work, args=(index,)) for index in range(len(found))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(k, expected) for k in found)


def test_interpreter_ends_quietly():
    code = (
        "import numpy as np, widelimit as wl\n"
        "net = wl.Network('dense custom(name=f) dense')\n"
        "wl.register_activation('f', lambda x: np.tanh(x) + 0 * len(net))\n"
        "wl.register_activation('f', lambda x: np.tanh(x) + 0 * len(net))\n"
        "wl.kernel(net, np.eye(3))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
