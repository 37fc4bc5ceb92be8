"""Fits can be interrupted, release the interpreter lock, and survive a fork."""

import subprocess
import sys

import pytest

# Number of samples and a call of about a second, repeated until the signal arrives.
LONG = {
    "ridge": (7000, "wl.fit_ridge(k, x[:, 0])"),
    "ridge path": (3000, "wl.ridge_path(k, x[:, 0], [1.0] * 300)"),
    "svm": (3000, "wl.fit_svm(k, noise, 1e-9, tolerance=1e-14)"),
    "svm of many classes": (3000, "wl.svm_path(k, many, [10.0**-i for i in range(12)], tolerance=1e-13)"),
    "svr": (3000, "wl.fit_svr(k, x[:, 0] * noise, 1e-9, 1e-9, tolerance=1e-14)"),
    "logistic": (2000, "wl.fit_logistic(k, noise, 1e-9)"),
    "softmax": (1500, "wl.fit_logistic(k, many, 1e-9)"),
    "softmax by conjugate gradients": (3000, "wl.fit_logistic(k, many, 1e-2)"),
    "gaussian process": (5000, "wl.gaussian_process(k, x[:, 0], 0.1)"),
    "test of the Gram": (6000, "wl.fit_svm(touched(k), noise)"),
    "cure of the Gram": (3000, "wl.fit_svm(touched(k) - 9 * np.eye(len(k)), noise)"),
    "squared flow": (2500, "wl.flow(k, x[:, 0], loss='squared', times=[1.0])"),
    "hinge flow": (2500, "wl.flow(k, noise, loss='hinge', lam=1e-3, times=[1.0, np.inf])"),
    "logistic flow": (2500, "wl.flow(k, noise, loss='logistic', lam=1e-3, times=[10.0])"),
    "descent": (5000, "wl.descend(touched(k), noise, loss='logistic', lam=1e-3, rate=1e-5, steps=3000)"),
}

INTERRUPTED = """
import os, signal, sys, threading, time, warnings
import numpy as np, widelimit as wl
rng = np.random.default_rng(0)
x = rng.normal(size=({samples}, 8))
noise, many = rng.choice([-1, 1], size=len(x)), rng.integers(0, 8, size=len(x))
k = wl.kernel("fc:1", x)
def touched(k):  # another matrix each time, so that no answer is known already
    k[0, 0] += 1e-9
    return k
warnings.simplefilter("ignore")
sent = []
def interrupt():
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
threading.Timer(0.5, interrupt).start()
try:
    for _ in range(100):
        {call}
except KeyboardInterrupt:
    print(time.monotonic() - sent[0])
    wl.fit_ridge(np.eye(2), [1.0, 2.0])
    sys.exit(0)
sys.exit('not interrupted')
"""


@pytest.mark.parametrize("work", LONG)
def test_control_c(work):
    samples, call = LONG[work]
    code = INTERRUPTED.format(samples=samples, call=call)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 5  # seconds; generous for a loaded machine


FORKED = """
import os, sys
import numpy as np, widelimit as wl
x = np.random.default_rng(0).normal(size=(400, 8))
k, signs, many = wl.kernel('fc:2', x), np.sign(x[:, 0]), np.arange(400) % 3
def fits():
    return [
        wl.fit_ridge(k, x[:, 1]), wl.fit_svm(k, signs), wl.fit_svm(k, many), wl.fit_logistic(k, signs),
        wl.fit_logistic(k, many), wl.fit_svr(k, x[:, 1]), wl.ridge_path(k, signs, [0.1, 1.0])[0],
    ]
before = fits()
child = os.fork()
if child == 0:
    same = all(np.allclose(a.predict(k), b.predict(k), atol=1e-3) for a, b in zip(before, fits()))
    os._exit(0 if same else 1)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_forked_child_fits():
    assert subprocess.run([sys.executable, "-c", FORKED], timeout=60).returncode == 0
