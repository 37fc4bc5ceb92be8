"""Device arrays: errors of the back end cpu, and behaviour on the emulated device."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from fake_device import CUDA, METAL, FakeTensor

import widelimit as wl

EMULATED = Path(__file__).resolve().parents[3] / "build" / "release" / "emulated"


def gram(n=20):
    x = np.random.default_rng(0).normal(size=(n, 4))
    return x, wl.kernel("fc:2", x)


def test_the_processor_refuses_what_lies_on_a_device():
    x, k = gram()
    on_device = FakeTensor(k)
    for call in (
        lambda: wl.fit_ridge(on_device, x[:, 0], 0.1, backend="cpu"),
        lambda: wl.ridge_path(on_device, x[:, 0], [0.1], backend="cpu"),
        lambda: wl.spectrum(on_device, x[:, 0], backend="cpu"),
        lambda: wl.fit_svm(on_device, x[:, 0] > 0, backend="cpu"),
        lambda: wl.flow(on_device, x[:, 0], loss="squared", times=[1.0], backend="cpu"),
        lambda: wl.kernel("fc:2", FakeTensor(x)),
        lambda: wl.classical_kernel("rbf", FakeTensor(x)),
        lambda: wl.local_elasticity(on_device, x[:, 0] > 0),
    ):
        with pytest.raises(wl.InputError, match=r"cuda:0.*\.cpu\(\)"):
            call()
    assert on_device.streams == [] and on_device.deleted == 0


def test_another_device_is_refused_before_it_is_asked():
    x, k = gram()
    tensor = FakeTensor(k, (CUDA, 1))
    with pytest.raises(wl.InputError, match="K lies on cuda:1, but the back end is cuda:0"):
        wl.fit_ridge(tensor, x[:, 0], 0.1, backend="cuda:0")
    with pytest.raises(wl.InputError, match="kind 8; copy it to the host"):
        wl.fit_ridge(FakeTensor(k, (METAL, 0)), x[:, 0], 0.1)
    assert tensor.streams == []


def test_the_processor_has_no_device_arrays():
    x, _ = gram()
    for call in (wl.kernel, wl.gram):
        with pytest.raises(wl.InputError, match="needs a back end with device memory"):
            call("fc:2", x, out="device")
    with pytest.raises(wl.InputError, match="leave it out, or give 'device'"):
        wl.gram("fc:2", x, out="file.h5")


def test_back_ends_of_the_host_take_kernels_of_the_host():
    x, k = gram(9)
    by_cpu = wl.fit_ridge(k, x[:, 0], 0.1, backend="cpu")
    by_reference = wl.fit_ridge(k, x[:, 0], 0.1, backend="reference")
    np.testing.assert_allclose(by_reference.alpha, by_cpu.alpha, rtol=1e-12)
    with pytest.raises(wl.InputError, match="unknown"):
        wl.fit_ridge(k, x[:, 0], 0.1, backend="abacus")


def run_cases(environment):
    cases = Path(__file__).with_name("device_cases.py")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(cases)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


@pytest.mark.skipif(not list(EMULATED.glob("lib*")), reason="the emulated device is built with the C++ tests")
def test_cases_on_the_emulated_device():
    run_cases({"WIDELIMIT_PLUGINS": str(EMULATED), "WIDELIMIT_EMULATED_MEMORY": "1GiB"})


def has_gpu():
    return any(engine.name == "cuda" and engine.present for engine in wl.backends())


def to_torch(torch):
    if not torch.cuda.is_available():
        pytest.skip("PyTorch has no CUDA")
    return torch.from_dlpack, lambda array: torch.tensor(array, device="cuda:0"), lambda tensor: tensor.cpu().numpy()


def to_cupy(cupy):
    return cupy.from_dlpack, cupy.asarray, cupy.asnumpy


def to_jax(jax):
    jax.config.update("jax_enable_x64", True)
    if jax.default_backend() != "gpu":
        pytest.skip("JAX has no CUDA")
    return jax.dlpack.from_dlpack, jax.numpy.asarray, np.asarray


@pytest.mark.skipif(not has_gpu(), reason="no NVIDIA device on this machine")
@pytest.mark.parametrize(("library", "functions"), [("torch", to_torch), ("cupy", to_cupy), ("jax", to_jax)])
def test_other_libraries_on_a_device(library, functions):
    share, upload, download = functions(pytest.importorskip(library))
    x, k = gram(60)
    y = x[:, 0]
    expected = wl.fit_ridge(k, y, 0.1).alpha
    own = wl.kernel("fc:2", x, backend="cuda:0", out="device")
    shared = share(own)
    np.testing.assert_allclose(download(shared), k, rtol=1e-12)
    np.testing.assert_allclose(wl.fit_ridge(own, y, 0.1).alpha, expected, rtol=1e-8)
    np.testing.assert_allclose(wl.fit_ridge(shared, y, 0.1, backend="cuda:0").alpha, expected, rtol=1e-8)
    np.testing.assert_allclose(wl.fit_ridge(upload(k), y, 0.1).alpha, expected, rtol=1e-8)
    with pytest.raises(wl.InputError, match="back end is cpu"):
        wl.fit_ridge(shared, y, 0.1, backend="cpu")
    del own
    np.testing.assert_allclose(download(shared), k, rtol=1e-12)
    np.testing.assert_allclose(wl.kernel("fc:2", upload(x), backend="cuda:0"), k, rtol=1e-12)
    if library != "jax":  # JAX arrays are always contiguous
        with pytest.raises(wl.InputError, match="not contiguous"):
            wl.fit_ridge(shared[::2, ::2], y[::2], 0.1)
