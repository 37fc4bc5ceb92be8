"""Flow and descent of kernel machines against integrators of SciPy, scikit-learn and our own fits."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import widelimit as wl


def gram(n, seed=0, features=6):
    x = np.random.default_rng(seed).normal(size=(n, features))
    return wl.kernel("fc:2", x)


def signs(n, seed=1):
    y = np.random.default_rng(seed).choice([-1.0, 1.0], size=n)
    y[:2] = 1, -1
    return y


def test_squared_loss_is_a_matrix_exponential():
    k, y = gram(17), np.random.default_rng(2).normal(size=17)
    t = wl.flow(k, y, loss="squared", lam=0.0, times=[0.0, 0.3, 2.0], k_test=k[:3])
    for time, g in zip(t.times, t.outputs, strict=True):
        np.testing.assert_allclose(g - y, expm(-2 * time * k) @ -y, atol=1e-11)
    np.testing.assert_allclose(t.test_outputs, t.outputs[:, :3], atol=1e-11)
    limit = wl.flow(k, y, loss="squared", lam=0.4, times=np.inf)
    np.testing.assert_allclose(limit.alpha, wl.fit_ridge(k, y, lam=0.4).alpha, rtol=1e-8)


def test_logistic_loss_agrees_with_scipy():
    k, y = gram(11), signs(11)

    def slope(_, alpha):
        return -0.2 * alpha + y / (1 + np.exp(y * (k @ alpha)))

    theirs = solve_ivp(slope, (0, 5), np.zeros(11), rtol=1e-10, atol=1e-12, t_eval=[1.0, 5.0])
    ours = wl.flow(k, y, loss="logistic", lam=0.2, times=[1.0, 5.0], coefficients=True)
    np.testing.assert_allclose(ours.coefficients, theirs.y.T, atol=1e-7)
    assert ours.rate.holds and 0 < ours.rate.largest_ratio <= 1 + 1e-9


def test_hinge_ends_at_the_support_vector_machine():
    k, y = gram(60), signs(60)
    t = wl.flow(k, y, loss="hinge", lam=0.05, times=[1.0, 10.0, np.inf])
    fit = wl.fit_svm(k, y, lam=0.05, tolerance=1e-11)
    np.testing.assert_allclose(t.alpha, fit.alpha, atol=1e-4)
    np.testing.assert_allclose(t.objective[-1], fit.summary.primal, rtol=1e-9)
    assert t.rate.holds and t.event_count > 0
    assert {event.meeting for event in t.events} <= {"crosses", "slides", "leaves", "rests"}
    assert all(a.time <= b.time for a, b in zip(t.events, t.events[1:], strict=False))


def test_steps_follow_the_flow():
    k, y = gram(30), signs(30)
    exact = wl.flow(k, y, loss="hinge", lam=0.1, times=[4.0]).outputs[0]
    far = [
        np.abs(wl.descend(k, y, loss="hinge", lam=0.1, rate=4.0 / n, steps=n).outputs[-1] - exact).max()
        for n in (1000, 16000)
    ]
    assert far[1] < far[0] / 4


def test_batches_are_those_of_the_seed():
    k, y = gram(20), signs(20)
    same = [wl.descend(k, y, loss="hinge", steps=50, batch=5, seed=s, record_every=10) for s in (3, 3, 4)]
    assert list(same[0].times) == [0, 10, 20, 30, 40, 50]
    assert np.array_equal(same[0].alpha, same[1].alpha)
    assert not np.array_equal(same[0].alpha, same[2].alpha)
    assert same[0].recursion_error < 1e-12


def test_shapes_and_classes():
    k = gram(12)
    names = np.array(["a", "b", "c"] * 4)
    t = wl.flow(k, names, loss="softmax", lam=1.0, times=[0.5, 1.0], record=[3, 1])
    assert t.outputs.shape == (2, 2, 3) and t.alpha.shape == (12, 3) and list(t.samples) == [3, 1]
    assert t.test_outputs is None and t.coefficients is None
    two = wl.flow(k, names == "a", loss="hinge", times=[1.0], k_test=k[:5])
    assert two.outputs.shape == (1, 12) and two.test_outputs.shape == (1, 5)
    same = wl.flow(k, np.where(names == "a", 1.0, -1.0)[:, None], loss="hinge", times=[1.0])
    np.testing.assert_array_equal(same.outputs[..., 0], two.outputs)
    assert "converged" in repr(two)


def test_start():
    k, y = gram(9), signs(9)
    first = wl.flow(k, y, loss="hinge", lam=0.3, times=[2.0])
    rest = wl.flow(k, y, loss="hinge", lam=0.3, times=[3.0], alpha0=first.alpha)
    whole = wl.flow(k, y, loss="hinge", lam=0.3, times=[5.0])
    np.testing.assert_allclose(rest.outputs, whole.outputs, atol=1e-11)
    h = np.linspace(-2, 2, 9)
    outside = wl.flow(k, y, loss="hinge", lam=0.3, times=[0.0, 2.0], g0=h, g0_test=h[:4], k_test=k[:4])
    np.testing.assert_array_equal(outside.outputs[0], h)
    np.testing.assert_allclose(outside.outputs[1], k @ outside.alpha + np.exp(-0.6) * h, atol=1e-12)
    np.testing.assert_allclose(outside.test_outputs, outside.outputs[:, :4], atol=1e-12)


def test_an_indefinite_matrix_is_no_machine():
    k, y = gram(10, features=2) - 0.3 * np.eye(10), signs(10)
    for run in (
        lambda: wl.flow(k, y, loss="hinge", lam=0.1, times=[1.0, np.inf]),
        lambda: wl.flow(k, y, loss="logistic", lam=0.1, times=[1.0]),
        lambda: wl.descend(k, y, loss="hinge", lam=0.1, steps=20),
    ):
        with pytest.warns(wl.ConvergenceWarning, match="not positive definite.*diagonal"):
            t = run()
        assert t.summary.ending == "not positive definite" and len(t.times) == 0 and t.outputs.shape == (0, 10)


def test_a_step_too_large_is_told():
    k, y = gram(10), signs(10)
    with pytest.warns(wl.ConvergenceWarning, match="stable"):
        t = wl.descend(k, y, loss="squared", rate=100.0)
    assert t.summary.ending == "diverged"
    assert np.isfinite(t.outputs).all()


@pytest.mark.parametrize(
    "change",
    [
        {"loss": "absolute"},
        {"times": [2.0, 1.0]},
        {"times": "soon"},
        {"times": [np.nan]},
        {"lam": -1.0},
        {"k_test": np.ones((2, 3))},
        {"alpha0": np.ones(3)},
        {"record": [99]},
        {"method": "euler"},
        {"method": "runge-kutta"},
        {"y": [1.0, 0.5, -1.0, 1.0]},
        {"y": [1, 1, 1]},
        {"k": np.ones((4, 3))},
        {"k": np.full((4, 4), np.nan)},
    ],
)
def test_bad_input(change):
    good = {"k": np.eye(4), "y": [1, -1, 1, -1], "loss": "hinge", "times": [1.0], "lam": 0.1}
    call = good | change
    with pytest.raises(wl.InputError):
        wl.flow(call.pop("k"), call.pop("y"), **call)


LONG = """
import os, signal, threading
import numpy as np, widelimit as wl
x = np.random.default_rng(0).normal(size=(1500, 5))
k, y = wl.kernel("fc:1", x), np.sign(x[:, 0] * x[:, 1])
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    for _ in range(100):
        {call}
except KeyboardInterrupt:
    raise SystemExit(0)
raise SystemExit("not interrupted")
"""


@pytest.mark.parametrize(
    "call",
    [
        'wl.flow(k, y, loss="hinge", lam=1e-5, times=[np.inf])',
        'wl.flow(k, y, loss="logistic", lam=1e-3, times=[1e4])',
        'wl.descend(k, y, loss="logistic", lam=1e-3, rate=1e-3, steps=10**6, record_every=10**5)',
    ],
)
def test_interrupt(call):
    done = subprocess.run([sys.executable, "-c", LONG.format(call=call)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
