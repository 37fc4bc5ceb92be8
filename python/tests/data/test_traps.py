"""Mistakes that must not pass silently: image layouts, rates, dead networks, wrong files, misspelt names."""

import numpy as np
import pytest

import widelimit as wl

RNG = np.random.default_rng(5)
CHW = RNG.normal(size=(12, 3, 9, 8))
HWC = np.ascontiguousarray(np.moveaxis(CHW, 1, -1))
SIGNS = np.where(np.arange(12) % 2 == 0, 1, -1)
NET = "conv relu global_avg_pool dense"


def test_a_convolution_on_vectors_is_refused():
    flat = RNG.normal(size=(4, 784))
    calls = [
        lambda: wl.kernel(NET, flat),
        lambda: wl.train(NET, flat, SIGNS[:4], width=4, steps=1),
        lambda: wl.NTKClassifier(NET).fit(flat, SIGNS[:4]),
        lambda: wl.Network("avg_pool flatten dense").shapes(784),
        lambda: wl.monte_carlo_kernel(NET, flat, draws=2),
    ]
    for call in calls:
        with pytest.raises(wl.InputError, match=r"perhaps 28x28x1 \(x\.reshape\(len\(x\), height, width, channels\)\)"):
            call()
    with pytest.raises(wl.InputError, match="perhaps 32x32x3"):
        wl.kernel(NET, np.ones((2, 3072)))
    wl.kernel("conv(kernel=1) relu flatten dense", flat)  # equivalent to a dense layer


def test_images_with_channels_first():
    expected = wl.kernel(NET, HWC)
    with pytest.raises(wl.InputError, match="channels_first=True"):
        wl.kernel(NET, CHW)
    assert np.array_equal(wl.kernel(NET, CHW, channels_first=True), expected)
    assert np.array_equal(wl.kernel(NET, CHW, CHW[:5], channels_first=True), wl.kernel(NET, HWC, HWC[:5]))
    assert not np.allclose(wl.kernel(NET, CHW, channels_first=False), expected)
    assert np.array_equal(wl.diagonal(NET, CHW, channels_first=True), wl.diagonal(NET, HWC))
    assert np.array_equal(wl.gram(NET, CHW, channels_first=True).ntk, expected)
    with pytest.raises(wl.InputError, match="N×C×H×W"):
        wl.kernel("fc:1", CHW.reshape(12, -1), channels_first=True)
    wl.kernel("fc:1", CHW)  # a dense network is invariant to the order of features


def test_a_network_keeps_the_layout(tmp_path):
    how = {"width": 6, "steps": 5, "loss": "hinge", "seed": 1}
    with pytest.raises(wl.InputError, match="channels_first=True"):
        wl.train(NET, CHW, SIGNS, **how)
    t = wl.train(NET, CHW, SIGNS, channels_first=True, **how)
    plain = wl.train(NET, HWC, SIGNS, **how)
    assert np.array_equal(t.predict(CHW), plain.predict(HWC))
    with pytest.raises(wl.InputError, match="shape"):
        plain.predict(CHW)
    t.save(tmp_path / "n.h5")
    again = wl.load_network(tmp_path / "n.h5")
    assert again.channels_first
    assert np.array_equal(again.predict(CHW), t.predict(CHW))
    assert np.array_equal(again.predict(CHW.reshape(12, -1)), t.predict(CHW))
    assert np.array_equal(wl.empirical_ntk(t, CHW), wl.empirical_ntk(plain, HWC))


def test_an_estimator_keeps_the_layout(tmp_path):
    with pytest.raises(wl.InputError, match="channels_first=True"):
        wl.NTKClassifier(NET).fit(CHW, SIGNS)
    plain = wl.NTKClassifier(NET, lam=0.1).fit(HWC, SIGNS)
    for x, shape in [(CHW, None), (CHW.reshape(12, -1), (3, 9, 8))]:
        model = wl.NTKClassifier(NET, lam=0.1, channels_first=True, input_shape=shape).fit(x, SIGNS)
        assert np.allclose(model.decision_function(x), plain.decision_function(HWC), atol=1e-12)
        path = tmp_path / "m.h5"
        model.save(path)
        loaded = wl.NTKClassifier.load(path)
        assert np.allclose(loaded.decision_function(x), plain.decision_function(HWC), atol=1e-12)
        stored = wl.load_model(path)
        assert stored.channels_first
        for again in (CHW, CHW.reshape(12, -1), HWC):
            assert np.allclose(stored.decision_function(again), plain.decision_function(HWC), atol=1e-12)
    plain.save(path)
    with pytest.raises(wl.InputError, match="shape"):
        wl.load_model(path).predict(CHW)


def test_the_default_rate_is_stable():
    x, y, _ = wl.load_data("digits", classes=[0, 1], limit=60)
    for loss in ("squared", "logistic", "hinge"):
        t = wl.train("fc:2", x, np.where(y == 0, -1, 1), loss=loss, width=128, steps=50)
        assert t.summary.finished
        assert t.loss[-1] < t.loss[0]
        assert t.summary.rate > 0
    k = wl.kernel("fc:2", x)
    path = wl.descend(k, np.where(y == 0, -1.0, 1.0), loss="squared", lam=0.1, steps=20)
    assert path.step == pytest.approx(path.stable_step / 2)
    assert path.objective[-1] < path.objective[0]
    assert wl.equivalence("fc:1", x, np.where(y == 0, -1, 1), widths=[16, 64], steps=10).rate > 0


def test_an_objective_that_rises_is_told():
    x, y, _ = wl.load_data("digits", classes=[0, 1], limit=60)
    signs = np.where(y == 0, -1, 1)
    stable = 2 * wl.train("dense", x, signs, steps=0).summary.rate
    with pytest.warns(wl.ConvergenceWarning, match="rose from .* choose a smaller learning rate, about"):
        t = wl.train("dense", x, signs, rate=1.3 * stable, steps=12)
    assert t.summary.ending == "diverged"
    assert np.isfinite(t.loss).all()


def test_a_dead_network_is_told(tmp_path):
    x = np.abs(RNG.normal(size=(20, 3))) + 0.1
    y = np.where(np.arange(20) % 3 == 0, 1, -1)
    net = wl.Network("dense(b_std=1) relu dense(b_std=1)")
    with pytest.warns(wl.ConvergenceWarning, match="layer 2 \\(relu\\)"):
        t = wl.train(net, x, y, loss="hinge", width=4, rate=30.0, steps=400, seed=3)
    assert t.summary.ending == "dead"
    assert np.ptp(t.predict(x)) == 0
    t.save(tmp_path / "dead.h5")
    with pytest.warns(wl.ConvergenceWarning, match="dead"):
        wl.load_network(tmp_path / "dead.h5")


def test_a_file_of_another_kind_names_its_reader(tmp_path):
    wl.train("fc:1", [[1.0], [2.0]], [1.0, -1.0], width=4, steps=0).save(tmp_path / "n.h5")
    wl.NTKRegressor("fc:1").fit([[1.0], [2.0]], [1.0, -1.0]).save(tmp_path / "m.h5")
    with pytest.raises(wl.InputError, match="load_network"):
        wl.load_model(tmp_path / "n.h5")
    with pytest.raises(wl.InputError, match="load_model"):
        wl.load_network(tmp_path / "m.h5")


def test_networks_are_read_from_lists():
    assert wl.Network([["dense"], ["relu"]]) == wl.Network("dense relu")
    assert wl.Network(wl.Network("fc:1")) == wl.Network("fc:1")
    assert wl.train([["dense"]], [[1.0], [2.0]], [1.0, -1.0], steps=0).network == wl.Network("dense")
    for wrong in (3, None, {"dense": 1}, b"dense", np.eye(2), [["dense", {"w_std": object()}]], [np.eye(2)]):
        with pytest.raises(wl.InputError, match=r"list of layers|network"):
            wl.Network(wrong)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: wl.Network("fc3"), "did you mean 'fc:3'"),
        (lambda: wl.Network("resnet2(w_std=1)"), "did you mean 'resnet:2'"),
        (lambda: wl.Network("dense rellu dense"), "did you mean 'relu'"),
        (lambda: wl.load_data("digit"), "did you mean 'digits'"),
        (lambda: wl.NTKClassifier("fc:1", machine="ridgee").fit([[0.0], [1.0]], [0, 1]), "did you mean 'ridge'"),
        (lambda: wl.train("fc:1", [[1.0]], [1.0], loss="squard"), "did you mean 'squared'"),
        (lambda: wl.kernel("fc:1", [[1.0]], backend="cpus"), "did you mean 'cpu'"),
        (lambda: wl.classical_kernel("rbff", [[1.0]]), "did you mean 'rbf'"),
    ],
)
def test_near_misses_are_suggested(call, named):
    with pytest.raises(wl.InputError, match=named):
        call()


@pytest.mark.parametrize("bad", [-1.0, float("nan"), float("inf")])
def test_numbers_out_of_range_name_what_is_wrong(bad):
    k, y = np.eye(3), [1.0, -1.0, 1.0]
    x = np.eye(3)
    lam = [
        lambda: wl.fit_ridge(k, y, bad),
        lambda: wl.fit_svm(k, y, bad),
        lambda: wl.fit_svr(k, y, bad),
        lambda: wl.fit_logistic(k, y, bad),
        lambda: wl.ridge_path(k, y, [bad]),
        lambda: wl.svm_path(k, y, [bad]),
        lambda: wl.flow(k, y, loss="squared", lam=bad, times=[1.0]),
        lambda: wl.flow(k, y, loss="squared", lam=bad, times=[]),
        lambda: wl.descend(k, y, loss="squared", lam=bad),
        lambda: wl.train("fc:1", x, y, lam=bad, steps=0),
        lambda: wl.equivalence("fc:1", x, y, widths=[4], lam=bad, steps=1),
        lambda: wl.fit_ridge_network("fc:1", x, y, lam=bad),
        lambda: wl.NTKRegressor("fc:1", lam=bad).fit(x, y),
    ]
    for call in lam:
        with pytest.raises(wl.InputError, match=r"lambda|λ|lams"):
            call()
    for call in (lambda: wl.train("fc:1", x, y, rate=bad), lambda: wl.descend(k, y, loss="hinge", rate=bad)):
        with pytest.raises(wl.InputError, match="rate"):
            call()
    with pytest.raises(wl.InputError, match="time"):
        wl.train("fc:1", x, y, flow=bad)
    if bad != float("inf"):
        with pytest.raises(wl.InputError, match="time"):
            wl.flow(k, y, loss="squared", times=[bad])


def test_counts_out_of_range_name_what_is_wrong():
    x, y, k = np.eye(3), [1.0, -1.0, 1.0], np.eye(3)
    for name, call in {
        "width": lambda: wl.train("fc:1", x, y, width=-1, steps=0),
        "steps": lambda: wl.train("fc:1", x, y, steps=-1),
        "records": lambda: wl.train("fc:1", x, y, records=0),
        "batch": lambda: wl.train("fc:1", x, y, batch=-1),
        "step": lambda: wl.descend(k, y, loss="squared", steps=-1),
        "width ": lambda: wl.equivalence("fc:1", x, y, widths=[-4], steps=1),
        "draws": lambda: wl.monte_carlo_kernel("fc:1", x, draws=-1),
        "threads": lambda: wl.kernel("fc:1", x, threads=-1),
    }.items():
        with pytest.raises(wl.InputError, match=name):
            call()
