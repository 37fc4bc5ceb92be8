"""Long work lets other threads run, and hears signals."""

import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import widelimit as wl

# Each would take minutes.
LONG = {
    "vectors": "wl.kernel('fc:60', np.random.default_rng(0).normal(size=(20000, 8)))",
    "rectangle": "wl.kernel('fc:60', *np.random.default_rng(0).normal(size=(2, 20000, 8)), precision='f32')",
    "one thread": "wl.kernel('fc:60', np.random.default_rng(0).normal(size=(20000, 8)), threads=1)",
    "reference": "wl.kernel('fc:60', np.random.default_rng(0).normal(size=(3000, 8)), backend='reference')",
    "images": "wl.kernel('cntk:3(readout=flatten)', np.random.default_rng(0).normal(size=(2000, 8, 8, 1)))",
    "monte carlo": "wl.monte_carlo_kernel('fc:3', np.random.default_rng(0).normal(size=(50, 8)), draws=1000000)",
    "classical": "wl.classical_kernel('laplace', np.random.default_rng(0).normal(size=(20000, 2000)))",
}

INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np, widelimit as wl
sent = []
def interrupt():
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
wl.kernel('fc:1', np.eye(2))
threading.Timer(0.7, interrupt).start()
try:
    {work}
except KeyboardInterrupt:
    print(time.monotonic() - sent[0])
    wl.kernel('fc:1', np.eye(2))
    sys.exit(0)
sys.exit('not interrupted')
"""


@pytest.mark.parametrize("work", LONG)
def test_control_c(work):
    code = INTERRUPTED.format(work=LONG[work])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 2


def test_control_c_without_a_handler_ends_the_process():
    code = "import numpy as np, widelimit as wl\nprint('ready', flush=True)\n" + LONG["vectors"]
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
