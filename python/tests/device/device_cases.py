"""Cases for a back end cuda:0 with host-accessible memory; run by test_device.py."""

import gc
import signal

import numpy as np
import pytest
from fake_device import CUDA, FakeTensor, SharedView

import widelimit as wl
from widelimit import _core

NET = "fc:2(b_std=0.1)"


@pytest.fixture(name="data")
def _data():
    x = np.random.default_rng(0).normal(size=(37, 4))
    return x, np.sin(x[:, 0]), wl.kernel(NET, x)


def test_kernel_stays_on_the_device(data):
    x, _, k = data
    own = wl.kernel(NET, x, backend="cuda:0", out="device")
    assert isinstance(own, wl.DeviceArray)
    assert own.shape == (37, 37) and own.dtype == np.float64 and own.device == "cuda:0" and len(own) == 37
    assert own.ndim == 2 and own.nbytes == 37 * 37 * 8 and "37 × 37, float64, cuda:0" in repr(own)
    np.testing.assert_allclose(own.numpy(), k, rtol=1e-13)
    both = wl.gram(NET, x[:5], x, kind=("nngp", "ntk"), backend="cuda:0", out="device", precision="f32")
    assert both.nngp.shape == (5, 37) and both.ntk.dtype == np.float32 and not both.symmetric
    pair = wl.kernel(NET, x[:5], x, kind=("ntk", "nngp"), backend="cuda:0", out="device")
    np.testing.assert_allclose(pair.ntk.numpy(), k[:5], rtol=1e-13)
    for n in (0, 1):
        assert wl.kernel(NET, x[:n], backend="cuda:0", out="device").numpy().shape == (n, n)
    with pytest.raises(TypeError, match="numpy"):
        np.asarray(own)


def machines(k, kt, y, **where):
    """Returns results of every function that takes a Gram matrix."""
    classes = y > 0
    found = {
        "ridge": wl.fit_ridge(k, y, 0.1, **where).alpha,
        "regression": wl.fit_regression(k, y, **where).alpha,
        "svm": wl.fit_svm(k, classes, 0.1, **where).alpha,
        "svm2": wl.fit_svm2(k, classes, 0.1, **where).alpha,
        "svr": wl.fit_svr(k, y, 0.1, **where).alpha,
        "hard": wl.fit_hard_svm(k, classes, **where).alpha,
        "logistic": wl.fit_logistic(k, classes, 0.1, **where).alpha,
        "path": wl.ridge_path(k, y, [0.1, 1.0], **where).loo_error,
        "svms": wl.svm_path(k, classes, [0.1], **where).alpha(0),
        "spectrum": wl.spectrum(k, y, **where).eigenvalues,
        "flow": wl.flow(k, y, loss="squared", times=[0.1, 1.0], k_test=kt, **where).outputs,
        "descend": wl.descend(k, y, loss="squared", steps=5, **where).outputs,
        "bound": [wl.label_bound(k, y, **where).a_priori],
    }
    process = wl.gaussian_process(k, y, noise=0.1, **where)
    fit = wl.fit_svm(k, classes, 0.1, **where)
    found["process"] = [process.log_marginal_likelihood]
    found["rademacher"] = [wl.rademacher_bound(k, fit, classes, **where).textbook.value]
    found["decisions"] = fit.decision_function(kt)
    return found


def test_every_machine_takes_device_arrays_and_tensors(data):
    x, y, k = data
    kt = wl.kernel(NET, x[:7], x)
    expected = machines(k, kt, y)
    own = wl.kernel(NET, x, backend="cuda:0", out="device")
    own_test = wl.kernel(NET, x[:7], x, backend="cuda:0", out="device")
    for name, found in machines(own, own_test, y).items():
        np.testing.assert_allclose(found, expected[name], rtol=1e-5, atol=1e-7, err_msg=name)
    uploaded = machines(k, kt, y, backend="cuda:0")
    shared = FakeTensor(k)
    for name, found in machines(shared, kt, y, backend="cuda:0").items():
        np.testing.assert_array_equal(found, uploaded[name], err_msg=name)
    gc.collect()
    assert len(shared.streams) == shared.deleted > 10
    assert set(shared.streams) == {1}


def test_a_tensor_is_used_where_it_lies_and_let_go_once(data):
    _, y, k = data
    tensor = FakeTensor(k)
    held = _core.adopt(tensor.__dlpack__(stream=1), "cuda:0")
    assert held.__cuda_array_interface__["data"][0] == k.ctypes.data
    del held
    gc.collect()
    assert tensor.deleted == 1
    before = k.copy()
    wide = np.zeros((37, 50))
    wide[:, :37] = k
    rows_apart = FakeTensor(wide[:, :37])
    fit = wl.fit_ridge(rows_apart, y, 0.1)
    np.testing.assert_array_equal(fit.alpha, wl.fit_ridge(FakeTensor(k), y, 0.1).alpha)
    np.testing.assert_array_equal(k, before)
    gc.collect()
    assert rows_apart.deleted == 1


def test_what_cannot_be_used_is_refused_and_let_go(data):
    _, y, k = data
    bad = k.copy()
    bad[3, 5] = np.nan
    cases = [
        (FakeTensor(k.T), "not contiguous"),
        (FakeTensor(k.astype(np.float16)), "float32 or float64"),
        (FakeTensor((1000 * k).astype(np.int64)), "float32 or float64"),
        (FakeTensor(bad), r"\(3, 5\) of the Gram matrix is nan"),
        (FakeTensor(k[:5]), "square"),
    ]
    for tensor, said in cases:
        with pytest.raises(wl.InputError, match=said):
            wl.fit_ridge(tensor, y, 0.1)
        gc.collect()
        assert len(tensor.streams) == 1, said
    assert sum(tensor.deleted for tensor, _ in cases[3:]) == 2
    for flat in (k[0], np.eye(36).reshape(36, 6, 6)):
        with pytest.raises(wl.InputError, match=f"^K has {flat.ndim} dimensions; give a matrix$"):
            wl.fit_ridge(FakeTensor(flat), y[:36], 0.1)
    with pytest.raises(wl.InputError, match="not finite"):
        wl.fit_ridge(k, y, 0.1).predict(FakeTensor(bad))
    other = FakeTensor(k, (CUDA, 1))
    with pytest.raises(wl.InputError, match="cuda:1"):
        wl.fit_ridge(other, y, 0.1, backend="cuda")
    with pytest.raises(wl.InputError, match="lies on cuda:0, but the back end is cpu"):
        wl.fit_ridge(wl.kernel(NET, np.eye(3), backend="cuda:0", out="device"), y, 0.1, backend="cpu")

    class Unshareable(FakeTensor):
        def __dlpack__(self, *, stream=None, max_version=None):
            raise BufferError("it requires a gradient")

    with pytest.raises(wl.InputError, match="K cannot be shared: it requires a gradient"):
        wl.fit_ridge(Unshareable(k), y, 0.1)


def test_others_share_the_memory_of_a_device_array(data):
    x, y, k = data
    own = wl.kernel(NET, x, backend="cuda:0", out="device")
    view = SharedView(own.__dlpack__(stream=1))
    assert view.device == (2, 0) and own.__dlpack_device__() == (2, 0)
    assert view.array.ctypes.data == own.__cuda_array_interface__["data"][0]
    view.array[0, 0] += 1.0  # the next fit uses the modified value
    changed = k.copy()
    changed[0, 0] += 1.0
    np.testing.assert_allclose(wl.fit_ridge(own, y, 0.1).alpha, wl.fit_ridge(changed, y, 0.1).alpha, rtol=1e-6)
    del own
    gc.collect()
    np.testing.assert_allclose(view.array, changed, rtol=1e-13)
    view.release()


def test_the_protocol_of_dlpack(data):
    own = wl.kernel(NET, data[0], backend="cuda:0", out="device")
    for stream in (None, -1, 1, 2, 12345):
        SharedView(own.__dlpack__(stream=stream)).release()
    assert "dltensor_versioned" in repr(own.__dlpack__(max_version=(1, 0)))
    assert "dltensor_versioned" in repr(own.__dlpack__(max_version=(1, 1), dl_device=(2, 0), copy=False))
    for stream in (0, -2):
        with pytest.raises(wl.InputError, match="names no CUDA stream"):
            own.__dlpack__(stream=stream)
    with pytest.raises(BufferError, match="copy=True"):
        own.__dlpack__(copy=True)
    with pytest.raises(BufferError, match="another device"):
        own.__dlpack__(dl_device=(1, 0))
    empty = wl.kernel(NET, data[0][:0], data[0], backend="cuda:0", out="device")
    assert empty.__cuda_array_interface__["data"] == (0, False)
    interface = own.__cuda_array_interface__
    assert interface["shape"] == (37, 37) and interface["typestr"] == "<f8" and interface["version"] == 3


def test_samples_on_the_device_are_fetched(data):
    x, y, k = data
    np.testing.assert_allclose(wl.kernel(NET, FakeTensor(x), backend="cuda:0"), k, rtol=1e-13)
    images = np.random.default_rng(1).normal(size=(3, 4, 4, 2)).astype(np.float32)
    shared = FakeTensor(images)
    found = wl.kernel("cntk:2(readout=flatten)", shared, backend="cuda:0")
    np.testing.assert_allclose(found, wl.kernel("cntk:2(readout=flatten)", images), rtol=1e-10)
    gc.collect()
    assert shared.deleted == 1
    with pytest.raises(wl.InputError, match=r"^x1 lies on cuda:0.*x1\.cpu\(\) in PyTorch, x1\.get\(\) in CuPy$"):
        wl.kernel(NET, FakeTensor(x))
    with pytest.raises(wl.InputError, match=r"^x1: a device array must be float32 or float64; convert it on the dev"):
        wl.kernel(NET, FakeTensor(x.astype(np.int64)), backend="cuda:0")
    assert wl.kernel(NET, FakeTensor(x[:0]), backend="cuda:0").shape == (0, 0)
    estimator = wl.NTKRegressor(NET, backend="cuda:0").fit(x, y)
    np.testing.assert_allclose(estimator.predict(x), wl.NTKRegressor(NET).fit(x, y).predict(x), rtol=1e-6, atol=1e-8)


def test_estimators_take_samples_on_the_device(data):
    x, y, k = data
    for estimator, labels in ((wl.NTKRegressor, y), (wl.NTKClassifier, y > 0)):
        fit = estimator(NET, backend="cuda:0").fit(FakeTensor(x), labels)
        np.testing.assert_array_equal(fit.predict(FakeTensor(x)), fit.predict(x))
        with pytest.raises(wl.InputError, match=r"^X lies on cuda:0, but the back end is cpu"):
            estimator(NET).fit(FakeTensor(x), labels)
        with pytest.raises(wl.InputError, match=r"^X lies on cuda:0, but this function runs on the host"):
            estimator(kernel="precomputed", backend="cuda:0").fit(FakeTensor(k), labels)
    own = wl.kernel(NET, x, backend="cuda:0", out="device")
    given = wl.NTKRegressor(kernel="precomputed", machine="ridge").fit(own, y)
    np.testing.assert_allclose(given.predict(own), wl.fit_ridge(k, y).predict(k), rtol=1e-6, atol=1e-9)


def test_training_takes_samples_on_the_device(data):
    x, y, _ = data
    there = FakeTensor(x)
    where = {"backend": "cuda:0"}
    short = {"width": 20, "steps": 5}
    trained = wl.train("fc:1", x, y, test=x[:4], **short)
    found = wl.train("fc:1", there, y, test=FakeTensor(x[:4]), **short, **where)
    np.testing.assert_allclose(found.test_outputs, trained.test_outputs, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(found.predict(there, **where), trained.predict(x), rtol=1e-9, atol=1e-11)
    classes = wl.train("fc:1", x, y > 0, loss="softmax", **short)
    np.testing.assert_allclose(classes.predict_proba(there, **where), classes.predict_proba(x), rtol=1e-9)
    np.testing.assert_array_equal(classes.predict_classes(there, **where), classes.predict_classes(x))
    ntk = wl.empirical_ntk(trained, x[:3], x)
    np.testing.assert_allclose(wl.empirical_ntk(trained, FakeTensor(x[:3]), there, **where), ntk, rtol=1e-9)
    product = wl.empirical_ntk_product(trained, FakeTensor(x[:3]), there, y, **where)
    np.testing.assert_allclose(product, ntk @ y, rtol=1e-8, atol=1e-10)
    e = wl.evolution("fc:1", there, y, probe=9, test=FakeTensor(x[:4]), **short, **where)
    np.testing.assert_allclose(e.kernels, wl.evolution("fc:1", x, y, probe=9, test=x[:4], **short).kernels, rtol=1e-8)
    both = {"widths": [16, 24], "seeds": 1, "loss": "hinge", "lam": 1.0, "steps": 5}
    compared = wl.equivalence("fc:1", there, np.sign(y), test=FakeTensor(x[:4]), **both, **where)
    expected = wl.equivalence("fc:1", x, np.sign(y), test=x[:4], **both)
    np.testing.assert_allclose(compared.difference, expected.difference, rtol=1e-7)
    k = wl.kernel("fc:1", x)
    modes = [wl.spectrum(k, y).train("fc:1", given, **short, **back) for given, back in ((x, {}), (there, where))]
    np.testing.assert_allclose(modes[1].measured, modes[0].measured, rtol=1e-7, atol=1e-10)


def test_back_end_of_the_other_functions(data):
    x, y, _ = data
    for call in (
        lambda **where: wl.classical_kernel("rbf(gamma=0.1)", x, **where),
        lambda **where: wl.classical_kernel("laplace(gamma=0.1)", x, x[:5], **where),
        lambda **where: wl.diagonal(NET, x, **where),
        lambda **where: wl.sweep("fc:2", x, **where),
        lambda **where: wl.layer_contributions("fc:2", x, **where).ntk[0],
        lambda **where: wl.ensemble(NET, x, y, x[:5], t=[0.5], **where).mean,
        lambda **where: [wl.marginal_likelihood(NET, x, y, noise=0.1, **where).value],
        lambda **where: wl.nth_kernel(x[:6], y[:6], samples=4096, width=1000, **where).train,
        lambda **where: wl.fit_ridge_network(NET, x, y, 0.1, tolerance=1e-11, precision="f64", **where).alpha,
    ):
        np.testing.assert_allclose(call(backend="cuda:0"), call(), rtol=1e-6, atol=1e-9)


def test_control_c_stops_a_kernel_on_the_device():
    x = np.random.default_rng(0).normal(size=(3000, 300))  # repeated until the signal arrives

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for out in (None, "device"):
            signal.setitimer(signal.ITIMER_REAL, 0.5)
            with pytest.raises(KeyboardInterrupt):
                while True:
                    wl.kernel("fc:3", x, backend="cuda:0", out=out)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert wl.kernel("fc:3", x[:3], backend="cuda:0").shape == (3, 3)


def test_no_room_is_an_error_with_sizes():
    x = np.random.default_rng(0).normal(size=(12000, 2))
    with pytest.raises(wl.ResourceError, match=r"cannot allocate 1\.07 GiB: .* of its 1\.00 GiB are free"):
        wl.kernel("fc:1", x, backend="cuda:0", out="device")


def test_random_and_trained_networks_of_finite_width(data):
    x, y, _ = data
    here = wl.monte_carlo_kernel("fc:1", x[:6], x, width=16, draws=3, seed=2, backend="cuda:0")
    there = wl.monte_carlo_kernel("fc:1", x[:6], x, width=16, draws=3, seed=2)
    for name in there._fields:
        np.testing.assert_allclose(getattr(here, name), getattr(there, name), rtol=1e-9, atol=1e-11, err_msg=name)
    classes = (y > 0).astype(int)
    trained = wl.train("fc:1", x, classes, width=20, steps=20, loss="softmax")
    found = wl.certify(trained, x, classes, backend="cuda:0", attack={"steps": 3})
    expected = wl.certify(trained, x, classes, attack={"steps": 3})
    np.testing.assert_array_equal(found.correct, expected.correct)
    np.testing.assert_allclose(found.radius, expected.radius, rtol=1.1e-3)
