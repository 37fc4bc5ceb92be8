"""equivalence against separate runs of wl.train and wl.descend."""

import numpy as np
import pytest

import widelimit as wl


def points(n=12, d=5, seed=0):
    random = np.random.default_rng(seed)
    x = random.normal(size=(n, d))
    return x * np.sqrt(d) / np.linalg.norm(x, axis=1, keepdims=True), np.where(random.random(n) < 0.5, -1.0, 1.0)


def test_differences_are_those_of_train_and_descend():
    x, y = points()
    how = {"loss": "hinge", "lam": 0.1, "rate": 0.02, "steps": 40}
    e = wl.equivalence("fc:1", x, y, widths=[64, 16], seeds=2, seed=3, test=x[:4] + 0.1, batch=4, **how)
    assert [(run.width, run.seed) for run in e.runs] == [(64, 3), (16, 3), (64, 4), (16, 4)]
    assert e.widths.tolist() == [64, 16]
    test = x[:4] + 0.1
    for run in e.runs:
        t = wl.train("fc:1", x, y, width=run.width, seed=run.seed, batch=4, centred=True, test=test, records=41, **how)
        g = wl.descend(wl.kernel("fc:1", x), y, seed=run.seed, batch=4, k_test=wl.kernel("fc:1", test, x), **how)
        apart = max(abs(t.outputs - g.outputs).max(), abs(t.test_outputs - g.test_outputs).max())
        np.testing.assert_allclose(run.difference, apart, atol=1e-10)
        np.testing.assert_allclose(run.machine_loss, g.loss[-1], atol=1e-10)
    np.testing.assert_allclose(e.difference[1], (e.runs[1].difference + e.runs[3].difference) / 2)
    slope = np.polyfit(np.log([64, 16, 64, 16]), np.log([run.difference for run in e.runs]), 1)[0]
    np.testing.assert_allclose([e.slope, e.local_slopes[0].slope], slope)
    assert e.slope_interval[0] < e.slope < e.slope_interval[1]
    assert e.settled is None and e.kernel_part is None and e.local_slopes[0].start == 16
    assert "slope" in repr(e)


def test_parts_and_recorded_steps():
    x, y = points()
    how = {"rate": 0.01, "steps": 30, "record_steps": [1, 7]}
    e = wl.equivalence("fc:1", x, y, widths=[16, 64, 256], seeds=2, parts=True, **how)
    assert e.steps.tolist() == [0, 1, 7, 30]
    assert isinstance(e.settled, bool)
    for run in e.runs:
        assert run.difference <= run.kernel_part + run.movement_part
    assert e.movement_slope < e.kernel_slope < 0
    assert wl.train("fc:1", x, y, width=8, **how).steps.tolist() == [0, 1, 7, 30]


def test_endings_and_refusals():
    x, y = points()
    with pytest.warns(wl.ConvergenceWarning, match="width 16"):
        wl.equivalence("fc:1", x, y, widths=[16], rate=1e4, steps=50)
    for wrong in [{"widths": []}, {"widths": [0]}, {"seeds": 0}, {"machine_kernel": "own"}, {"record_steps": [5, 2]}]:
        with pytest.raises(wl.InputError):
            wl.equivalence("fc:1", x, y, **({"widths": [8]} | wrong))
