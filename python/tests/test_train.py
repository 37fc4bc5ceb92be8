"""Training of finite networks against the explicit recursion, and the empirical NTK."""

import numpy as np
import pytest

import widelimit as wl


def points(n=12, d=5, seed=0):
    random = np.random.default_rng(seed)
    return random.normal(size=(n, d)), np.where(random.random(n) < 0.5, -1.0, 1.0)


def test_one_layer_is_the_machine_of_its_kernel():
    x, y = points()
    k = x @ x.T / x.shape[1]
    t = wl.train("dense", x, y, loss="hinge", lam=0.2, rate=0.05, steps=40, centred=True, records=41)
    g = np.zeros(len(y))
    for step in range(41):
        np.testing.assert_allclose(t.outputs[step], g, atol=1e-12)
        g = g - 0.05 * (0.2 * g + k @ np.where(y * g < 1, -y, 0.0))
    assert t.steps.tolist() == list(range(41))
    np.testing.assert_allclose(t.predict(x), t.outputs[-1], atol=1e-12)
    np.testing.assert_allclose(t.loss[-1], np.maximum(0, 1 - y * t.outputs[-1]).sum())


def test_wide_network_is_near_the_machine():
    x, y = points(8, 6, 3)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    k = wl.kernel("fc:1", x)
    t = wl.train("fc:1", x, y, width=8192, lam=0.1, rate=0.5, steps=60, centred=True, seed=1)
    g = np.zeros(len(y))
    for _ in range(60):
        g = g - 0.5 * (0.1 * g + k @ (2 * (g - y)))
    assert abs(t.predict(x) - g).max() < 10 / np.sqrt(8192)


def test_classes_become_outputs():
    x, y, _ = wl.load_data("digits", limit=80, scale="unit")
    t = wl.train("fc:1", x, y, width=128, loss="softmax", rate=1.0, steps=60, test=(x[:10], y[:10]), precision="f32")
    assert t.outputs.shape == (61, 80, 10)
    assert t.test_outputs.shape == (61, 10, 10)
    assert t.predict(x).shape == (80, 10)
    assert (t.predict_classes(x) == y).mean() == t.accuracy[-1] > 0.8
    assert t.parameters[0].w.dtype == np.float32
    names = np.array(["three", "eight"])[(y % 2 == 0).astype(int)]
    two = wl.train("fc:1", x, names, width=64, loss="hinge", rate=0.02, steps=40, test=(x[:3], names[:3]))
    assert two.outputs.ndim == 2
    assert set(two.predict_classes(x)) <= {"eight", "three"}
    with pytest.raises(wl.InputError, match="never seen"):
        wl.train("fc:1", x, names, width=64, loss="hinge", steps=1, test=(x[:1], ["nine"]))


def test_parameters_are_those_of_the_network():
    x, y = points()
    t = wl.train("dense(b_std=0.5) relu dense", x, y, width=32, rate=0.05, steps=20, momentum=0.5, batch=4)
    (w0, b0), (w1, none) = t.parameters
    assert none is None
    hidden = np.maximum(x @ w0 / np.sqrt(5) + 0.5 * b0, 0)
    np.testing.assert_allclose(t.predict(x), (hidden @ w1 / np.sqrt(32))[:, 0], atol=1e-12)
    moved = sum(((a.w - b.w) ** 2).sum() for a, b in zip(t.parameters, t.start, strict=True))
    moved += ((b0 - t.start[0].b) ** 2).sum()
    np.testing.assert_allclose(t.distance[-1], np.sqrt(moved))
    with pytest.raises(ValueError):
        w0[0, 0] = 1.0


def test_adam_is_the_published_one():
    """One layer in NumPy: algorithm 1 of Kingma and Ba with decoupled weight decay, warm-up and cosine schedule."""
    x, y = points()
    d = x.shape[1]
    options = {"optimiser": "adamw", "weight_decay": 0.1, "schedule": "cosine", "warmup": 0.25, "last_rate": 0.2}
    t = wl.train("dense", x, y, rate=0.05, epochs=20, regulariser="none", **options)
    w = t.start[0].w[:, 0].astype(float)
    m, s = np.zeros(d), np.zeros(d)
    for k in range(20):
        share = (k + 1) / 5 if k < 5 else 0.2 + 0.8 * (1 + np.cos(np.pi * (k - 5) / 15)) / 2
        g = 2 * x.T @ (x @ w / np.sqrt(d) - y) / np.sqrt(d)
        m, s = 0.9 * m + 0.1 * g, 0.999 * s + 0.001 * g**2
        step = m / (1 - 0.9 ** (k + 1)) / (np.sqrt(s / (1 - 0.999 ** (k + 1))) + 1e-8)
        w = w - 0.05 * share * (step + 0.1 * w)
    np.testing.assert_allclose(t.parameters[0].w[:, 0], w, rtol=1e-12)
    assert t.summary.steps == 20
    with pytest.raises(wl.InputError, match="both steps and epochs"):
        wl.train("dense", x, y, steps=3, epochs=3)
    with pytest.raises(wl.InputError, match="choose one of"):
        wl.train("dense", x, y, optimiser="rmsprop")


def test_training_goes_on_bit_for_bit(tmp_path):
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(20, 6, 6, 1)), np.arange(20) % 3
    options = {
        "width": [4, 6],
        "loss": "softmax",
        "optimiser": "adam",
        "epochs": 6,
        "batch": 5,
        "schedule": "cosine",
        "flip": True,
        "crop": 1,
        "parameterisation": "standard",
        "initialisation": "pytorch",
    }
    net = "conv(b_std=1) relu conv(b_std=1) relu flatten dense(b_std=1)"
    whole = wl.train(net, x, y, **options)
    assert [layer.w.shape for layer in whole.parameters] == [(9, 4), (36, 6), (216, 3)]
    assert np.abs(whole.start[0].w).max() <= 1 / 3
    path = tmp_path / "c.h5"
    with pytest.raises(wl.InputError, match="already"):
        wl.train(net, x, y, checkpoint=path, checkpoint_every=100, **options)
        wl.train(net, x, y, resume=wl.load_network(path), **{**options, "epochs": 5})
    with pytest.raises(wl.InputError, match="seed"):
        wl.train(net, x, y, resume=wl.load_network(path), seed=1, **options)

    again = wl.train(net, x, y, resume=wl.load_network(path), **options)
    for a, b in zip(whole.parameters, again.parameters, strict=True):
        assert (a.w == b.w).all() and (a.b == b.b).all()

    whole.save(tmp_path / "net.h5")
    del options["epochs"]
    begun = wl.train(net, 2 * x, y, resume=wl.load_network(tmp_path / "net.h5"), steps=0, **options)
    assert (begun.parameters[1].w == whole.parameters[1].w).all()


def test_empirical_kernel_of_the_trained_network():
    x, y = points(6, 4)
    t = wl.train("fc:1", x, y, width=24, rate=0.1, steps=30)
    (w0, _), (w1, _) = t.parameters
    z = x @ w0 / 2
    signal = (z >= 0) * w1[:, 0] / np.sqrt(24)
    expected = (x @ x.T / 4) * (signal @ signal.T) + np.maximum(z, 0) @ np.maximum(z, 0).T / 24
    kernel = wl.empirical_ntk(t, x)
    np.testing.assert_allclose(kernel, expected, atol=1e-12)
    np.testing.assert_allclose(wl.empirical_ntk(t, x[:2], x), expected[:2], atol=1e-12)
    assert abs(wl.empirical_ntk(t, x, start=True) - expected).max() > 1e-6
    v = np.arange(6.0)
    np.testing.assert_allclose(wl.empirical_ntk_product(t, x, x, v), expected @ v, atol=1e-12)
    both = wl.train("fc:1", x, np.stack([y, -y], axis=1), width=24, steps=0)
    assert wl.empirical_ntk(both, x, outputs="full").shape == (12, 12)
    assert wl.empirical_ntk(both, x).shape == (6, 6)
    with pytest.raises(wl.InputError):
        wl.empirical_ntk(t, x[:, :3])


def test_saved_network_comes_back(tmp_path):
    x, y = points()
    t = wl.train("fc:1", x, y, width=16, steps=5, centred=True, seed=4)
    t.save(tmp_path / "n.h5")
    again = wl.load_network(tmp_path / "n.h5")
    np.testing.assert_array_equal(again.predict(x), t.predict(x))
    assert again.network == t.network and again.seed == 4
    (tmp_path / "bad.h5").write_bytes(b"not a network")
    with pytest.raises(wl.InputError):
        wl.load_network(tmp_path / "bad.h5")


def test_endings_and_refusals():
    x, y = points()
    with pytest.warns(wl.ConvergenceWarning, match="smaller learning rate"):
        t = wl.train("fc:1", x, y, width=16, rate=1e4, steps=100)
    assert t.summary.ending == "diverged" and np.isfinite(t.loss).all()
    for wrong in [{"rate": -1.0}, {"steps": -1}, {"batch": 100}, {"loss": "hing"}, {"regulariser": "l2"}]:
        with pytest.raises(wl.InputError):
            wl.train("fc:1", x, y, width=4, **wrong)
    with pytest.raises(wl.InputError):
        wl.train("fc:1", x, y[:-1], width=4)
    with pytest.raises(wl.ResourceError):
        wl.train("fc:3", x, y, width=1 << 20)


@pytest.mark.parametrize(("loss", "classes"), [("logistic", [3, 8]), ("softmax", [3, 8]), ("softmax", [1, 3, 8])])
def test_probabilities_by_the_loss(loss, classes, tmp_path):
    x, y, _ = wl.load_data("digits", classes=classes, limit=30, scale="unit")
    trained = wl.train("fc:1", x, y, width=32, loss=loss, steps=20, rate=0.05)
    outputs = trained.predict(x)
    found = trained.predict_proba(x)
    if loss == "logistic":
        expected = np.column_stack([1 / (1 + np.exp(outputs)), 1 / (1 + np.exp(-outputs))])
    else:
        expected = np.exp(outputs) / np.exp(outputs).sum(axis=1, keepdims=True)
    assert found.shape == (30, len(classes))
    assert np.allclose(found, expected)
    assert (trained.classes_[found.argmax(axis=1)] == trained.predict_classes(x)).all()
    trained.save(tmp_path / "net.h5")
    again = wl.load_network(tmp_path / "net.h5")
    assert np.array_equal(again.predict_proba(x), found)
    assert again.origin == {}


def test_probabilities_are_refused_where_there_are_none(tmp_path):
    x = np.array([[1.0, 0.0], [0.0, 1.0]])
    for y, loss in [([0, 1], "hinge"), ([1.0, -1.0], "squared")]:
        trained = wl.train("fc:1", x, y, width=8, steps=1, rate=0.01, loss=loss)
        with pytest.raises(wl.InputError, match="no probabilities"):
            trained.predict_proba(x)
        trained.save(tmp_path / "net.h5")
        with pytest.raises(wl.InputError, match="no probabilities"):
            wl.load_network(tmp_path / "net.h5").predict_proba(x)


def test_a_file_remembers_where_its_samples_come_from(tmp_path):
    data, held_out = wl.load_train_test("digits", classes=[3, 8], split=0.8, seed=3)
    trained = wl.train("fc:1", data.x, data.y, width=8, steps=5, loss="logistic")
    assert trained.origin == {}
    trained.save(tmp_path / "net.h5", data=data)
    again = wl.load_network(tmp_path / "net.h5")
    assert again.origin["classes"] == ["3", "8"]
    assert again.origin["split"]["fraction"] == 0.8
    assert list(again.classes_) == ["3", "8"]
    part = wl.load_data("digits", model=again, part="test")
    assert np.array_equal(part.x, held_out.x)
    assert np.array_equal(part.y, held_out.y)
    again.save(tmp_path / "copy.h5")
    assert wl.load_network(tmp_path / "copy.h5").origin == again.origin
    scaled, _ = wl.load_train_test("digits", split=0.8, scale="unit")
    with pytest.raises(wl.InputError, match="unscaled"):
        trained.save(tmp_path / "other.h5", data=scaled)


def test_frozen_layers_keep_their_weights():
    x, y = points()
    t = wl.train("dense(b_std=0.1) relu dense(b_std=0.2, frozen=true) relu dense", x, y, width=16, steps=5)
    assert np.array_equal(t.parameters[1].w, t.start[1].w)
    assert np.array_equal(t.parameters[1].b, t.start[1].b)
    assert not np.array_equal(t.parameters[0].w, t.start[0].w)
    assert t.summary.weights == 16 * (5 + 1) + 16
    wide = wl.train("dense relu dense(frozen=true)", x, y, width=8192, steps=0)
    assert abs(wl.empirical_ntk(wide, x) - wl.kernel("dense relu dense(frozen=true)", x)).max() < 0.1
    v = np.arange(len(y), dtype=float)
    np.testing.assert_allclose(wl.empirical_ntk_product(wide, x, x, v), wl.empirical_ntk(wide, x) @ v, rtol=1e-10)
    with pytest.raises(wl.InputError, match="nothing to train"):
        wl.train("fc:1(frozen=2)", x, y)
    with pytest.raises(wl.InputError, match="frozen"):
        wl.train("dense relu dense(frozen=true)", x, y, regulariser="output", lam=0.1)


def test_backends():
    """The reference back end gives the same result, and an absent device is named in the error."""
    x, y = points()
    cpu = wl.train("fc:1", x, y, width=9, rate=0.01, steps=3)
    oracle = wl.train("fc:1", x, y, width=9, rate=0.01, steps=3, backend="reference")
    np.testing.assert_allclose(oracle.predict(x), cpu.predict(x), rtol=1e-12)
    np.testing.assert_allclose(wl.empirical_ntk(cpu, x, backend="reference"), wl.empirical_ntk(cpu, x), rtol=1e-12)
    if any(b.name == "cuda" and b.present for b in wl.backends()):
        device = wl.train("fc:1", x, y, width=9, rate=0.01, steps=3, backend="cuda:0")
        np.testing.assert_allclose(device.predict(x), cpu.predict(x), rtol=1e-10)
        return
    for call in (
        lambda: wl.train("fc:1", x, y, steps=1, backend="cuda:0"),
        lambda: wl.empirical_ntk(cpu, x, backend="cuda:0"),
        lambda: wl.equivalence("fc:1", x, y, widths=[8], steps=1, backend="cuda:0"),
        lambda: wl.evolution("fc:1", x, y, probe=4, width=8, steps=1, backend="cuda:0"),
    ):
        with pytest.raises(ValueError, match="cuda:0"):
            call()


@pytest.mark.parametrize("how", ["save", "checkpoint"])
def test_whole_number_classes_are_written_as_in_data_files(tmp_path, how):
    """NumPy reads labels from text as floats; `widelimit predict` compares names of classes with the text of files."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(12, 3)), np.arange(12) % 3.0
    path = tmp_path / "net.h5"
    options = {"checkpoint": path} if how == "checkpoint" else {}
    t = wl.train("fc:1", x, y, width=8, steps=5, loss="softmax", **options)
    if how == "save":
        t.save(path)
    again = wl.load_network(path)
    assert again.classes_.tolist() == ["0", "1", "2"]
    assert t.classes_.tolist() == [0.0, 1.0, 2.0]
    assert (again.predict_classes(x).astype(float) == t.predict_classes(x)).all()


def test_an_overflowed_output_is_no_loss_of_zero():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(6, 3)), [1.0, -1.0] * 3
    with pytest.warns(wl.ConvergenceWarning, match="non-finite"):
        t = wl.train("fc:1", x, y, width=4, steps=4, loss="hinge", rate=1e25, precision="f32")
    assert t.summary.ending == "diverged"
    assert np.isfinite(t.outputs).all()
    with pytest.raises(wl.NumericalError, match="tangent kernel exceeds the range of f64"):
        wl.empirical_ntk(wl.train("fc:1", x, y, width=4, steps=0), 1e200 * x)
