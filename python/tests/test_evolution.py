"""Evolution of the empirical NTK during training."""

import numpy as np
import pytest

import widelimit as wl


@pytest.fixture(scope="module")
def digits():
    x, y, _ = wl.load_data("digits", classes=[0, 1, 2], limit=60, scale="unit")
    return x, np.array(["zero", "one", "two"])[y]


def test_kernels_are_those_of_shorter_trainings(digits):
    x, y = digits
    how = {"width": 32, "rate": 0.02, "batch": 20, "seed": 4, "loss": "softmax"}
    e = wl.evolution("fc:2", x, y, probe=9, epochs=4, at_epochs=[1], test=(x, y), outputs="class", **how)
    assert e.steps.tolist() == [0, 3, 12]
    assert e.epochs.tolist() == [0, 1, 4]
    assert e.kernels.shape == (3, 3, 9, 9)
    assert sorted(y[e.probe]) == ["one"] * 3 + ["two"] * 3 + ["zero"] * 3
    t = wl.train("fc:2", x, y, steps=3, **how)
    full = wl.empirical_ntk(t, x[e.probe], outputs="full").reshape(9, 3, 9, 3)
    for k in range(3):
        np.testing.assert_allclose(e.kernels[1, k], full[:, k, :, k], rtol=1e-9)
    a, b = e.kernels[0].ravel(), e.kernels[1].ravel()
    cosine = a @ b / np.sqrt(a @ a * (b @ b))
    assert e.distance[1] == pytest.approx(1 - cosine, abs=1e-14)
    assert e.velocity[1] == pytest.approx(e.distance[1], abs=1e-15)
    assert np.isnan(e.velocity[0])
    assert e.test_accuracy[-1] == e.accuracy[-1]
    mean = e.kernels[-1].mean(axis=0)
    same = y[e.probe][:, None] == y[e.probe]
    assert e.same_class[-1] == pytest.approx(mean[same].mean() / np.diag(mean).mean())
    assert e.other_class[-1] == pytest.approx(mean[~same].mean() / np.diag(mean).mean())


def test_branches(digits):
    x, y = digits
    e = wl.evolution(
        "fc:1", x, y, probe=(x[:9], y[:9]), width=32, loss="softmax", epochs=4, batch=20, test=(x, y), tangent=True,
        tangent_samples=20, linearised=True, barriers=True, barrier_points=3, branch_at=[0], checkpoints=3,
    )  # fmt: skip
    assert e.probe is None
    assert [t["step"] for t in e.tangent] == [0]
    # 60 outputs and 32·(64 + 3) weights: the tangent model interpolates.
    assert e.tangent[0]["squared_error"] < 1e-12
    assert e.tangent[0]["descent_test_accuracy"] > 0.5
    assert e.barriers[0]["test"]["alphas"] == [0, 0.5, 1]
    assert e.barriers[0]["test"]["barrier"] >= 0
    assert "softmax" in e.remarks[0]


def test_sketches_tell_their_error(digits):
    x, y = digits
    e = wl.evolution("fc:1", x, y, probe=6, width=16, loss="softmax", steps=4, projections=50, checkpoints=2)
    assert (e.kernel_error > 0.02).all()
    assert (e.kernel_error < 0.4).all()
    assert "50 random directions" in e.remarks[0]


def test_what_it_refuses(digits):
    x, y = digits
    with pytest.raises(wl.InputError, match="takes no 'flow'"):
        wl.evolution("fc:1", x, y, flow=1.0)
    with pytest.raises(wl.InputError, match="both steps and epochs"):
        wl.evolution("fc:1", x, y, steps=1, epochs=1)
    with pytest.raises(Exception, match="full batches"):
        wl.evolution("fc:1", x, y, steps=1, barriers=True, loss="softmax")
    with pytest.raises(Exception, match="ascending steps"):
        wl.evolution("fc:1", x, y, steps=5, at=[9], loss="softmax")


def test_sparse_samples_are_probed_like_dense_ones(digits):
    sparse = pytest.importorskip("scipy.sparse")
    x, y = digits
    rows = x.reshape(len(x), -1)
    how = {"width": 16, "steps": 4, "probe": 6, "loss": "softmax", "rate": 0.02}
    expected = wl.evolution("fc:1", rows, y, **how)
    for form in (sparse.csr_array, sparse.coo_array, sparse.csc_matrix):
        e = wl.evolution("fc:1", form(rows), y, **how)
        assert np.array_equal(e.probe, expected.probe)
        assert np.array_equal(e.kernels, expected.kernels)


def test_wrong_probes_are_named(digits):
    x, y = digits
    for rows in (x[:0], x[:7]):
        with pytest.raises(wl.InputError, match=f"{len(rows)} samples have 60 rows of targets"):
            wl.evolution("fc:1", rows, y, width=8, steps=2)
    for probe in ("9", 9.5, None):
        with pytest.raises(wl.InputError, match="probe is"):
            wl.evolution("fc:1", x, y, width=8, steps=2, probe=probe)
