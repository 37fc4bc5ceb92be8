"""Estimators satisfy the scikit-learn API; the rest of the package does not require scikit-learn."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import widelimit as wl

WITHOUT = """
import sys
sys.modules["sklearn"] = None
import widelimit as wl
from widelimit import *
assert "NTKClassifier" not in wl.__all__
wl.fit_ridge([[1.0]], [1.0])
try:
    wl.NTKClassifier
except ImportError as error:
    assert "widelimit[sklearn]" in str(error), error
else:
    raise SystemExit("no ImportError")
"""


def test_the_package_does_not_need_sklearn():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_the_package_does_not_wait_for_sklearn():
    code = "import sys, widelimit as wl; assert 'sklearn' not in sys.modules; wl.NTKRegressor; sys.modules['sklearn']"
    pytest.importorskip("sklearn")
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="nosuch"):
        wl.nosuch  # noqa: B018


sklearn = pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

X, Y, _ = wl.load_data("digits", limit=300, shuffle=1, scale="unit")
FLAT = X.reshape(300, 64).astype(np.float64)
TRAIN, TEST = slice(0, 220), slice(220, 300)
NAMES = np.array([f"digit {c}" for c in range(10)])[Y]

# Weighted and repeated samples agree only up to the square root of the duality gap, and repeated samples cannot be
# interpolated.
EQUIVALENCE = [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")]
SQUARED = dict.fromkeys(EQUIVALENCE, "decisions are accurate to the square root of the gap")
SINGULAR = dict.fromkeys(EQUIVALENCE, "repeated samples make K singular")
UNWEIGHED = {"check_class_weight_classifiers": "weights do not change the solution, so class_weight raises InputError"}
# The test samples of this check are so far from all others that their kernel is 0: only a bias separates them.
DISTANT = {"check_class_weight_classifiers": "kernels of 0 do not separate classes without a bias"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("estimator", "expected"),
    [
        (wl.NTKClassifier(), {}),
        (wl.NTKClassifier(bias=True, scheme="one-vs-rest", threads=1), {}),
        (wl.NTKClassifier(machine="svm2", threads=1), SQUARED),
        (wl.NTKClassifier(machine="hard-svm", threads=1), UNWEIGHED),
        (wl.NTKClassifier(machine="logistic", threads=1), {}),
        (wl.NTKClassifier(machine="ridge", threads=1), {}),
        (wl.NTKClassifier(machine="regression", threads=1), SINGULAR | UNWEIGHED),
        (wl.NTKClassifier(kernel="precomputed", threads=1), DISTANT),
        (wl.NTKClassifier(kernel="precomputed", bias=True, threads=1), {}),
        (wl.NTKRegressor(), {}),
        (wl.NTKRegressor(bias=True, threads=1), {}),
        (wl.NTKRegressor(machine="svr", threads=1), {}),
        (wl.NTKRegressor(machine="regression", threads=1), SINGULAR),
        (wl.NTKRegressor(kernel="precomputed", threads=1), {}),
    ],
    ids=repr,
)
def test_check_estimator(estimator, expected):
    check_estimator(estimator, expected_failed_checks=expected, on_skip=None)


@pytest.mark.parametrize("machine", ["svm", "svm2", "hard-svm", "logistic", "ridge", "regression"])
def test_digits(machine):
    model = wl.NTKClassifier("fc:2", machine=machine, lam=1e-3).fit(FLAT[TRAIN], NAMES[TRAIN])
    assert model.score(FLAT[TEST], NAMES[TEST]) > 0.85
    assert set(model.classes_) == set(NAMES)
    decisions = model.decision_function(FLAT[TEST])
    assert decisions.shape == (80, 10)
    assert np.array_equal(model.classes_[decisions.argmax(axis=1)], model.predict(FLAT[TEST]))
    assert hasattr(model, "predict_proba") == (machine == "logistic")


def test_probabilities():
    model = wl.NTKClassifier("fc:2", machine="logistic", lam=1e-3).fit(FLAT[TRAIN], NAMES[TRAIN])
    p = model.predict_proba(FLAT[TEST])
    assert np.allclose(p.sum(axis=1), 1)
    assert np.allclose(np.exp(model.predict_log_proba(FLAT[TEST])), p)
    with pytest.raises(AttributeError):
        wl.NTKClassifier().predict_proba  # noqa: B018


def test_only_support_is_kept():
    two = Y < 2
    model = wl.NTKClassifier("fc:1", lam=1e-3).fit(FLAT[two], Y[two])
    assert len(model.support_) < two.sum()
    assert np.array_equal(model.support_vectors_, FLAT[two][model.support_])
    fit = wl.fit_svm(wl.kernel("fc:1", FLAT[two]), Y[two], 1e-3, tolerance=1e-8)
    assert np.allclose(model.decision_function(FLAT), fit.decision_function(wl.kernel("fc:1", FLAT, FLAT[two])))


@pytest.mark.parametrize("machine", ["svm", "ridge"])
def test_precomputed_is_the_same(machine):
    k = wl.kernel("fc:2", FLAT)
    ours = wl.NTKClassifier("fc:2", machine=machine, lam=0.01).fit(FLAT[TRAIN], Y[TRAIN])
    given = wl.NTKClassifier(machine=machine, lam=0.01, kernel="precomputed").fit(k[TRAIN, TRAIN], Y[TRAIN])
    assert not hasattr(given, "support_vectors_")
    assert np.allclose(given.decision_function(k[TEST, TRAIN]), ours.decision_function(FLAT[TEST]), atol=1e-6)
    search = GridSearchCV(wl.NTKClassifier(kernel="precomputed"), {"lam": [0.01, 1.0]}, cv=3).fit(k, Y)
    assert search.best_score_ > 0.8


def test_pipeline_and_search():
    pipeline = make_pipeline(StandardScaler(), wl.NTKClassifier("fc:1"))
    search = GridSearchCV(
        pipeline,
        {"ntkclassifier__network": ["fc:1", wl.Network("fc:2")], "ntkclassifier__lam": [0.01, 1.0]},
        cv=3,
    ).fit(FLAT, NAMES)
    assert search.best_score_ > 0.8
    assert search.predict(FLAT).dtype == NAMES.dtype


def test_search_in_other_processes():
    scores = cross_val_score(wl.NTKRegressor("fc:1", lam=1e-4), FLAT, FLAT[:, 20], cv=3, n_jobs=2)
    assert scores.min() > 0.6


@pytest.mark.parametrize("model", [wl.NTKClassifier("fc:2", lam=0.1), wl.NTKRegressor(wl.Network("fc:2"), lam=0.1)])
def test_clone_copy_and_pickle(model):
    model = clone(model).fit(FLAT[TRAIN], Y[TRAIN])
    for again in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(again.predict(FLAT[TEST]), model.predict(FLAT[TEST]))
        assert again.summary_ == model.summary_
    with pytest.raises(NotFittedError):
        clone(model).predict(FLAT)


def test_images():
    network = "conv relu avg_pool flatten dense"
    model = wl.NTKClassifier(network, lam=0.01).fit(X[:60], Y[:60])
    rows = wl.NTKClassifier(network, lam=0.01, input_shape=(8, 8, 1)).fit(FLAT[:60], Y[:60])
    assert np.allclose(model.decision_function(X[60:80]), rows.decision_function(FLAT[60:80]), atol=1e-5)
    with pytest.raises(wl.InputError, match="64 features"):
        wl.NTKClassifier(network, input_shape=(7, 7, 1)).fit(FLAT, Y)
    for shape in ((-8, -8, 1), (8.0, 8.0, 1.0), 64, "8x8x1", ()):
        with pytest.raises(wl.InputError, match="input_shape"):
            wl.NTKClassifier(network, input_shape=shape).fit(FLAT, Y)


def test_regressor():
    y = np.stack([FLAT[:, 20] - FLAT[:, 30], np.abs(FLAT[:, 40])], axis=1)
    model = wl.NTKRegressor("fc:2", lam=1e-3).fit(FLAT[TRAIN], y[TRAIN])
    assert model.predict(FLAT[TEST]).shape == (80, 2)
    assert model.score(FLAT[TEST], y[TEST]) > 0.6
    one = wl.NTKRegressor("fc:2", lam=1e-3).fit(FLAT[TRAIN], y[TRAIN, 0])
    assert np.allclose(one.predict(FLAT[TEST]), model.predict(FLAT[TEST])[:, 0])
    narrow = wl.NTKRegressor("fc:2", machine="svr", lam=1e-3, epsilon=0.01).fit(FLAT[TRAIN], y[TRAIN, 0])
    assert narrow.score(FLAT[TEST], y[TEST, 0]) > 0.6


def test_nothing_to_support():
    model = wl.NTKRegressor("fc:1", machine="svr").fit(FLAT, np.zeros(300))
    assert len(model.support_) == 0
    assert np.array_equal(model.predict(FLAT[:3]), np.zeros(3))


def test_kinds_and_precision():
    both = {
        kind: wl.NTKRegressor("fc:2", kind=kind, precision="f32").fit(FLAT[TRAIN], Y[TRAIN]).predict(FLAT[TEST])
        for kind in ("ntk", "nngp")
    }
    assert not np.allclose(both["ntk"], both["nngp"])


def test_endings():
    with pytest.warns(wl.ConvergenceWarning, match="not separable|separate") as caught:
        model = wl.NTKClassifier("fc:1", machine="hard-svm").fit(np.ones((4, 2)), [0, 1, 0, 1])
    assert caught[0].filename == __file__
    assert model.summary_.ending == "not separable"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"machine": "nosuch"}, "nosuch"),
        ({"machine": "svr"}, "svr"),
        ({"lam": -1.0}, "-1"),
        ({"kernel": "rbf"}, "precomputed"),
        ({"network": "dense rely"}, "rely"),
        ({"kind": "tnk"}, "tnk"),
        ({"scheme": "softmax"}, "scheme"),
        ({"kernel": "precomputed"}, "square"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(wl.InputError, match=message):
        wl.NTKClassifier(**options).fit(FLAT, Y)


def test_other_features():
    model = wl.NTKClassifier("fc:1").fit(FLAT, Y)
    with pytest.raises(ValueError, match="64 features"):
        model.predict(FLAT[:, :10])


def test_the_machine_runs_on_the_engine_that_was_asked_for():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(24, 4))
    y = np.where(x[:, 0] * x[:, 1] > 0, "in", "out")
    for machine in ("ridge", "svm", "logistic"):
        ours = wl.NTKClassifier("fc:1", machine=machine, lam=0.1).fit(x, y)
        oracle = wl.NTKClassifier("fc:1", machine=machine, lam=0.1, backend="reference").fit(x, y)
        assert oracle.summary_.converged
        np.testing.assert_allclose(ours.decision_function(x), oracle.decision_function(x), atol=1e-6)


def test_equal_votes_go_to_the_first_class(tmp_path):
    random = np.random.default_rng(5)
    angles = 2 * np.pi * np.arange(5) / 5
    y = np.repeat(np.arange(5), 12)
    x = np.stack([np.cos(angles), np.sin(angles)], axis=1)[y] + 0.8 * random.normal(size=(60, 2))
    new = 0.4 * random.normal(size=(200, 2))
    by_sums = wl.NTKClassifier("fc:1", bias=True).fit(x, y).predict(new)
    model = wl.NTKClassifier("fc:1", bias=True, scheme="one-vs-one-first").fit(x, y)
    told = model.predict(new)
    assert np.any(told != by_sums)
    assert np.array_equal(model.decision_function(new).argmax(axis=1), told)
    model.save(tmp_path / "m.h5")
    assert np.array_equal(wl.load_model(tmp_path / "m.h5").predict(new), told)
