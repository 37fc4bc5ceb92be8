"""Long computations release the interpreter lock and can be interrupted."""

import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import widelimit as wl

# Shape of x and a call that takes several seconds.
LONG = {
    "vectors": ((20000, 8), "wl.kernel('fc:60', x)"),
    "rectangle": ((20000, 8), "wl.kernel('fc:60', x, x[::-1], precision='f32')"),
    "one thread": ((20000, 8), "wl.kernel('fc:60', x, threads=1)"),
    "reference": ((3000, 8), "wl.kernel('fc:60', x, backend='reference')"),
    "images": ((400, 16, 16, 3), "wl.kernel('cntk:10(readout=pool)', x)"),
    "monte carlo": ((50, 8), "wl.monte_carlo_kernel('fc:3', x, draws=1000000)"),
    "classical": ((20000, 400), "wl.classical_kernel('laplace', x)"),
    "diagonal of images": ((4000, 16, 16, 3), "wl.diagonal('cntk:10(readout=pool)', x)"),
    "ridge of images": ((4000, 16, 16, 3), "wl.fit_ridge_network('cntk:10', x, x[:, 0, 0, 0])"),
    "wide random networks": ((200, 64), "wl.monte_carlo_kernel('fc:3', x, width=2048, draws=1000)"),
    "large steps": ((3000, 256), "wl.train('fc:3', x, x[:, 0], width=1024, steps=1000)"),
    "convolutional steps": ((400, 16, 16, 3), "wl.train('cntk:4', x, x[:, 0, 0, 0], width=32, steps=1000)"),
    "networks and machines": ((1500, 64), "wl.equivalence('fc:1', x, x[:, 0], widths=[8, 16], seeds=99, parts=True)"),
    "tangent kernel": ((3000, 64), "wl.empirical_ntk(wl.train('fc:3', x[:9], x[:9, 0], width=1024, steps=0), x)"),
    "large weights": ((20, 64), "wl.monte_carlo_kernel('fc:3', x, width=4096, draws=1000)"),
    "products with the tangent kernel": (
        (8000, 64),
        "t = wl.train('fc:3', x[:9], x[:9, 0], width=2048, steps=0)\n"
        "    while True: wl.empirical_ntk_product(t, x, x, x[:, 0])",
    ),
    "many kernels": ((4000, 8), "while True: wl.sweep('fc:5', x, precision='f32')"),
    "many layers": ((6000, 8), "while True: wl.layer_contributions('fc:8', x, precision='f32')"),
    "products": ((12000, 8), "while True: wl.fit_ridge_network('fc:3', x, x[:, 0], lam=1e-6)"),
    "posterior": (
        (3000, 8),
        "p = wl.gaussian_process(wl.kernel('fc:1', x), x[:, 0], 0.1)\n"
        "    while True: p.predict(wl.kernel('fc:1', x), np.full(len(x), 9.0))",
    ),
    "covariance": (
        (3000, 8),
        "k = wl.kernel('fc:1', x); p = wl.gaussian_process(k, x[:, 0], 0.1)\n    while True: p.covariance(k, k)",
    ),
    "posterior of an estimator": (
        (3000, 8),
        "e = wl.NTKRegressor('fc:1', lam=0.1).fit(x, x[:, 0])\n    while True: e.predict(x, return_std=True)",
    ),
    "decisions": (
        (5000, 8),
        "k = wl.kernel('fc:1', x); f = wl.fit_ridge(k, x, 0.1)\n    while True: f.decision_function(k)",
    ),
}

INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np, widelimit as wl
sent = []
def interrupt():
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
x = np.random.default_rng(0).normal(size={shape})
threading.Timer(0.6, interrupt).start()
try:
    {call}
except KeyboardInterrupt:
    print(time.monotonic() - sent[0])
    wl.kernel('fc:1', np.eye(2))
    sys.exit(0)
sys.exit('not interrupted')
"""


@pytest.mark.parametrize("work", LONG)
def test_control_c(work):
    shape, call = LONG[work]
    code = INTERRUPTED.format(shape=shape, call=call)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 10  # seconds; generous for a loaded machine


def test_control_c_without_a_handler_ends_the_process():
    code = "import numpy as np, widelimit as wl\nprint('ready', flush=True)\nwl.kernel('fc:60', np.ones((20000, 8)))"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == -signal.SIGINT
    assert errors.strip().endswith("KeyboardInterrupt")


class Alarm(Exception):
    pass


def test_a_handler_of_ones_own():
    def ring(number, frame):
        raise Alarm

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(Alarm):
            wl.kernel("fc:60", np.random.default_rng(0).normal(size=(20000, 8)))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_harmless_signal_changes_nothing():
    heard = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: heard.append(number))
    x = np.random.default_rng(0).normal(size=(2500, 8))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        k = wl.kernel("fc:10", x)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert heard
    assert np.array_equal(k, wl.kernel("fc:10", x))


FORKED = """
import os
import numpy as np, widelimit as wl
x = np.random.default_rng(0).normal(size=(600, 8))
k = wl.kernel('fc:3', x)
child = os.fork()
if child == 0:
    same = np.array_equal(k, wl.kernel('fc:3', x)) and np.array_equal(k, wl.kernel('fc:3', x, threads=1))
    wl.classical_kernel('rbf', x)
    wl.monte_carlo_kernel('fc:1', x[:3], draws=2)
    try:
        wl.kernel('fc:3', x, threads=2)
    except wl.InputError as error:
        os._exit(0 if same and 'spawn' in str(error) else 1)
    os._exit(2)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_forked_child_does_not_wait_for_lost_threads():
    assert subprocess.run([sys.executable, "-c", FORKED], timeout=30).returncode == 0


def test_other_threads_run_meanwhile():
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.wait(0.01):
            ticks.append(time.monotonic())

    ticker = threading.Thread(target=tick)
    ticker.start()
    start = time.monotonic()
    wl.kernel("fc:30", np.random.default_rng(0).normal(size=(3000, 8)))
    end = time.monotonic()
    stop.set()
    ticker.join()
    during = [t for t in ticks if start < t < end]
    assert len(during) > (end - start) / 0.01 / 20
