"""Certified radii: all types of models, all options, and errors."""

import subprocess
import sys

import numpy as np
import pytest

import widelimit as wl

X, Y, _ = wl.load_data("digits", classes=[3, 8], limit=140)
X = X.reshape(len(X), 64) / 16
NAMES = np.array(["three", "eight"])[Y]
NEW, NEW_Y = X[120:], Y[120:]


@pytest.fixture(scope="module")
def model():
    return wl.NTKClassifier("fc:1", machine="ridge", lam=1.0).fit(X[:120], Y[:120])


@pytest.mark.parametrize("norm", ["linf", "l2"])
def test_methods_grow_and_stay_below_the_attack(model, norm):
    before = np.zeros(len(NEW))
    for method in ("paper", "interval", "convex"):
        r = wl.certify(model, NEW, NEW_Y, norm=norm, method=method, box=(0, 1), attack=method == "convex")
        assert (r.radius >= before * (1 - 2e-3)).all()
        before = r.radius
    assert (r.correct == (model.predict(NEW) == NEW_Y)).all()
    assert ((r.radius > 0) == r.correct).all()
    assert (r.radius <= r.attack)[r.correct].all()
    assert r.attacked.shape == NEW.shape
    assert set(r.method) <= {"paper", "interval", "convex"}
    found = r.correct & np.isfinite(r.attack)
    moved = r.attacked[found] - NEW[found]
    size = np.abs(moved).max(axis=1) if norm == "linf" else np.linalg.norm(moved, axis=1)
    assert np.allclose(size, r.attack[found], rtol=1e-6)
    assert (model.predict(r.attacked[found]) != NEW_Y[found]).all()
    assert r.attacked[found].min() >= 0
    assert r.attacked[found].max() <= 1


def test_random_moves_inside_the_radius_change_nothing(model):
    r = wl.certify(model, NEW, NEW_Y)
    rng = np.random.default_rng(0)
    for _ in range(20):
        signs = rng.choice([-1.0, 1.0], size=NEW.shape)
        told = model.predict(NEW + 0.999 * r.radius[:, None] * signs)
        assert (told == NEW_Y)[r.correct].all()


def test_a_given_radius(model):
    r = wl.certify(model, NEW, NEW_Y, method="interval")
    middle = float(np.median(r.radius))
    yes = wl.certify(model, NEW, NEW_Y, method="interval", radius=middle).radius > 0
    sure = np.abs(r.radius / middle - 1) > 0.01
    assert (yes == (r.radius > middle))[sure].all()
    assert wl.certify(model, NEW, NEW_Y).attack is None


def test_estimators_files_and_names_agree(tmp_path, model):
    expected = wl.certify(model, NEW, NEW_Y).radius
    model.save(tmp_path / "m.h5")
    loaded = wl.load_model(tmp_path / "m.h5")
    assert np.array_equal(wl.certify(loaded, NEW, NEW_Y).radius, expected)
    assert np.array_equal(wl.certify(loaded, NEW.reshape(-1, 8, 8), NEW_Y.astype(str)).radius, expected)
    single = NEW.astype(np.float32)  # multiples of 1/16, exact in float32
    assert np.array_equal(wl.certify(loaded, single, NEW_Y, threads=1).radius, expected)
    named = wl.NTKClassifier("fc:1", machine="ridge", lam=1.0).fit(X[:120], NAMES[:120])
    assert np.allclose(wl.certify(named, NEW, NAMES[120:]).radius, expected, rtol=2e-3)
    assert loaded.predict(NEW).tolist() == model.predict(NEW).tolist()


def test_ten_classes_and_numbers():
    x, y, _ = wl.load_data("digits", limit=200)
    x = x.reshape(200, 64) / 16
    for machine in ("svm", "logistic", "ridge"):
        many = wl.NTKClassifier("fc:2", machine=machine, lam=0.1).fit(x[:180], y[:180])
        r = wl.certify(many, x[180:], y[180:], method="interval")
        assert (r.radius[r.correct] > 0).all()
        assert (r.radius[~r.correct] == 0).all()
    numbers = wl.NTKRegressor("fc:1", lam=0.1).fit(X[:120], 2.0 * Y[:120] - 1)
    assert (wl.certify(numbers, NEW, 2.0 * NEW_Y - 1).radius > 0).any()


def test_trained_networks():
    t = wl.train("fc:1", X[:60], Y[:60], width=64, loss="hinge", lam=0.01, rate=0.02, steps=100)
    r = wl.certify(t, NEW, NEW_Y, box=(0, 1), attack={"steps": 10, "restarts": 1})
    assert (r.correct == (t.predict_classes(NEW) == NEW_Y)).all()
    assert (r.radius[r.correct] > 0).all()
    assert set(r.method) == {"interval"}
    assert (r.radius <= r.attack)[r.correct].all()


def test_what_is_refused(model):
    def refused(part, *arguments, **options):
        with pytest.raises(wl.InputError, match=part):
            wl.certify(*(arguments or (model, NEW, NEW_Y)), **options)

    refused("norm", norm="l3")
    refused("method", method="best")
    refused("radius", radius=0.0)
    refused("radius", radius=-1.0)
    refused("tolerance", tolerance=0.0)
    refused("box", box=(1, 0))
    refused("box", box=3)
    refused("box", box=(0.4, 0.6))
    refused("option 'step'", attack={"step": 3})
    refused("step", attack={"steps": 0})
    refused(r"y\[0\] is \d+, which is none of the classes 0, 1", model, NEW, NEW_Y + 7)
    refused("dimensions", model, NEW, NEW_Y[:, None])
    refused("shape|features", model, NEW[:, :10], NEW_Y)
    broken = np.array(NEW)
    broken[2, 5] = np.nan
    refused("samples: sample 2, feature 5 is nan", model, broken, NEW_Y)
    refused("finite", model, np.full_like(NEW, np.nan), NEW_Y)
    refused("not fitted", wl.NTKClassifier("fc:1"), NEW, NEW_Y)
    refused("no certificate", None, NEW, NEW_Y)
    refused(r"load_model\('model.h5'\)", "model.h5", NEW, NEW_Y)
    refused("radius is 'big'; give a number", radius="big")
    refused("steps is 1.5; give an integer", attack={"steps": 1.5})
    refused("attack is 'yes'", attack="yes")
    k = wl.kernel("fc:1", X[:40])
    refused("precomputed", wl.NTKClassifier(kernel="precomputed").fit(k, Y[:40]), NEW, NEW_Y)
    erf = wl.NTKClassifier("dense erf dense", machine="ridge").fit(X[:40], Y[:40])
    refused("erf", erf, NEW, NEW_Y)
    with pytest.raises(wl.InputError):
        wl.certify(model, NEW, NEW_Y[:3])


INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np, widelimit as wl
rng = np.random.default_rng(0)
x = rng.normal(size=(3000, 30))
model = wl.NTKClassifier("fc:1", machine="ridge").fit(x, x[:, 0] > 0)
sent = []
def interrupt():
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
threading.Timer(0.5, interrupt).start()
try:
    for _ in range(100):
        wl.certify(model, x, x[:, 0] > 0, attack=True)
except KeyboardInterrupt:
    print(time.monotonic() - sent[0])
    sys.exit(0)
sys.exit('not interrupted')
"""


def test_control_c():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 10  # seconds; generous for a loaded machine


@pytest.fixture(scope="module")
def tables():
    """Returns features of very different scales."""
    x, y, _ = wl.load_data("digits", classes=[3, 8], limit=90)
    x = x.reshape(90, 64)[:, [10, 11, 12, 18, 19, 20, 27, 28, 34, 36, 42, 43, 44, 52]]
    return x * np.logspace(-2, 3, 14) + np.linspace(-50, 50, 14), y


def moved(x, r, signs):
    return x + signs * r.feature_radius


@pytest.mark.parametrize("scaler", ["StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler"])
def test_pipelines_are_certified_in_the_units_of_their_input(tables, scaler):
    from sklearn import preprocessing
    from sklearn.pipeline import make_pipeline

    x, y = tables
    machine = wl.NTKClassifier("fc:1", machine="ridge", lam=0.1)
    pipeline = make_pipeline(getattr(preprocessing, scaler)(), "passthrough", machine).fit(x[:60], y[:60])
    points, labels = x[60:], y[60:]
    rng = np.random.default_rng(0)
    for units in (None, "input", "scaled"):
        r = wl.certify(pipeline, points, labels, units=units, attack=True)
        assert r.units == (units or "input")
        assert (r.correct == (pipeline.predict(points) == labels)).all()
        assert (r.radius[r.correct] > 0).all()
        # The pipeline itself keeps the class at corners of the balls, and changes it at the adversarial inputs.
        for _ in range(50):
            near = moved(points, r, rng.choice([-1, 1], size=points.shape))
            assert (pipeline.predict(near)[r.correct] == labels[r.correct]).all()
        broken = r.correct & np.isfinite(r.attack)
        assert broken.any()
        assert (pipeline.predict(r.attacked)[broken] != labels[broken]).mean() > 0.9
        assert (r.radius[broken] <= r.attack[broken]).all()
    # A ball in scaled units equals that of a machine on scaled samples.
    own = wl.certify(pipeline[-1], pipeline[:-1].transform(points), labels)
    scaled = wl.certify(pipeline, points, labels, units="scaled")
    assert np.allclose(scaled.radius, own.radius, rtol=1e-9)
    steps = wl.certify(pipeline, points, labels, widths=scaled.widths)
    assert np.allclose(steps.radius, scaled.radius, rtol=1e-9)


def test_searches_are_certified_by_their_best_estimator(tables):
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    x, y = tables
    pipeline = make_pipeline(StandardScaler(), wl.NTKClassifier("fc:1", machine="ridge"))
    search = GridSearchCV(pipeline, {"ntkclassifier__lam": [0.1, 1.0]}, cv=2)
    with pytest.raises(wl.InputError, match="best_estimator_; fit it first"):
        wl.certify(search, x[60:], y[60:])
    search.fit(x[:60], y[:60])
    found = wl.certify(search, x[60:], y[60:])
    assert np.array_equal(found.radius, wl.certify(search.best_estimator_, x[60:], y[60:]).radius)


def test_widths_and_boxes_are_those_of_features(tables):
    x, y = tables
    machine = wl.NTKClassifier("fc:1", machine="ridge", lam=0.1).fit(x[:60], y[:60])
    points, labels = x[60:66], y[60:66]
    widths = np.ones(14)
    widths[3:] = 0
    fixed = wl.certify(machine, points, labels, widths=widths, attack=True)
    assert (fixed.radius >= wl.certify(machine, points, labels).radius).all()
    assert np.array_equal(fixed.attacked[:, 3:], points[:, 3:])
    low, high = x.min(axis=0), x.max(axis=0)
    cut = wl.certify(machine, points, labels, box=(low, high))
    assert (cut.radius >= wl.certify(machine, points, labels).radius * (1 - 1e-9)).all()
    for wrong, message in [
        ({"widths": [1.0]}, "1 half-widths for samples of 14"),
        ({"widths": "wide"}, "one number for each feature"),
        ({"box": (low[:3], high[:3])}, "box of 3 features"),
        ({"box": (high, low)}, "empty"),
        ({"units": "metres"}, "input"),
        ({"norm": "l2", "widths": widths}, "linf"),
    ]:
        with pytest.raises(wl.InputError, match=message):
            wl.certify(machine, points, labels, **wrong)


def test_steps_that_are_no_scalers_are_refused_by_name(tables):
    from sklearn.decomposition import PCA
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler, Normalizer

    x, y = tables
    for step, message in [(PCA(5), "PCA"), (Normalizer(), "Normalizer"), (MinMaxScaler(clip=True), "clip=False")]:
        pipeline = make_pipeline(step, wl.NTKClassifier("fc:1", machine="ridge")).fit(x, y)
        with pytest.raises(wl.InputError, match=message):
            wl.certify(pipeline, x, y)


def test_back_ends_are_named(tables):
    x, y = tables
    machine = wl.NTKClassifier("fc:1", machine="ridge", lam=0.1).fit(x[:60], y[:60])
    points, labels = x[60:66], y[60:66]
    named = wl.certify(machine, points, labels, backend="cpu")
    assert np.array_equal(named.radius, wl.certify(machine, points, labels).radius)
    with pytest.raises(wl.InputError, match="choose the back end cpu instead of reference"):
        wl.certify(machine, points, labels, backend="reference")
    present = {engine.name: engine.present for engine in wl.backends()}
    if present["cuda"]:
        found = wl.certify(machine, points, labels, backend="cuda:0", method="interval")
        assert np.allclose(found.radius, wl.certify(machine, points, labels, method="interval").radius, rtol=1.1e-3)
    else:
        with pytest.raises(wl.InputError, match="cuda:0 is absent"):
            wl.certify(machine, points, labels, backend="cuda:0")
