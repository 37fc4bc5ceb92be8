"""Class weights against scikit-learn and against repeated samples."""

import numpy as np
import pytest

import widelimit as wl

RNG = np.random.default_rng(2)
X = RNG.normal(size=(90, 3))
Y = np.where(X[:, 0] + 0.8 * RNG.normal(size=90) > 1.2, "rare", "usual")
K = wl.kernel("fc:1(b_std=1)", X)
WEIGHTS = {"rare": 3.0, "usual": 1.0}


def test_the_classes_are_uneven():
    assert 5 < (Y == "rare").sum() < 30


@pytest.mark.parametrize("class_weight", ["balanced", WEIGHTS])
def test_svm_is_that_of_scikit_learn(class_weight):
    svm = pytest.importorskip("sklearn.svm")
    ours = wl.fit_svm(K, Y, lam=0.5, bias=True, class_weight=class_weight, tolerance=1e-10)
    theirs = svm.SVC(kernel="precomputed", C=2, class_weight=class_weight, tol=1e-8).fit(K, Y)
    # Both are optimal up to the gap, so decisions differ by at most its square root.
    assert np.allclose(ours.decision_function(K), theirs.decision_function(K), atol=1e-3)
    assert np.array_equal(ours.predict(K), theirs.predict(K))


@pytest.mark.parametrize("class_weight", ["balanced", WEIGHTS])
def test_ridge_is_that_of_scikit_learn(class_weight):
    pytest.importorskip("sklearn")
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.utils.class_weight import compute_sample_weight

    ours = wl.fit_ridge(K, Y, lam=0.6, class_weight=class_weight)
    weights = compute_sample_weight(class_weight, Y)
    theirs = KernelRidge(alpha=0.3, kernel="precomputed").fit(K, np.where(Y == "usual", 1.0, -1.0), weights)
    assert np.allclose(ours.decision_function(K), theirs.predict(K), atol=1e-8)


@pytest.mark.parametrize("class_weight", ["balanced", WEIGHTS])
def test_logistic_is_that_of_scikit_learn(class_weight):
    linear = pytest.importorskip("sklearn.linear_model")
    ours = wl.fit_logistic(X @ X.T, Y, lam=0.5, bias=True, class_weight=class_weight, tolerance=1e-12)
    theirs = linear.LogisticRegression(C=2, class_weight=class_weight, tol=1e-10, max_iter=1000).fit(X, Y)
    assert np.allclose(ours.decision_function(X @ X.T), theirs.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("machine", ["svm", "svm2", "logistic", "ridge"])
@pytest.mark.parametrize("names", [Y, np.where(X[:, 1] > 1, "third", Y)])
def test_weights_are_repeated_samples(machine, names):
    weights = {"rare": 3, "usual": 1, "third": 2}
    rows = np.repeat(np.arange(len(X)), [weights[name] for name in names])
    options = dict(machine=machine, lam=0.5, tolerance=1e-11)
    weighed = wl.NTKClassifier("fc:1", class_weight=weights, **options).fit(X, names)
    repeated = wl.NTKClassifier("fc:1", **options).fit(X[rows], names[rows])
    assert weighed.summary_.primal == pytest.approx(repeated.summary_.primal, rel=1e-9)
    assert np.array_equal(weighed.predict(X), repeated.predict(X))
    plain = wl.NTKClassifier("fc:1", **options).fit(X, names)
    assert plain.summary_.primal != pytest.approx(weighed.summary_.primal, rel=1e-3)


def test_balanced_helps_the_rare_class():
    plain = wl.NTKClassifier("fc:1(b_std=1)").fit(X, Y)
    balanced = wl.NTKClassifier("fc:1(b_std=1)", class_weight="balanced").fit(X, Y)
    recall = [wl.scores(Y, model.predict(X)).by_class[0].recall for model in (plain, balanced)]
    assert recall[1] > recall[0]


def test_paths():
    weights = np.where(Y == "rare", 3.0, 1.0)
    ridge = wl.ridge_path(K, Y, [0.1, 1.0], class_weight=WEIGHTS)
    expected = wl.ridge_path(K, Y, [0.1, 1.0], sample_weight=weights)
    assert np.array_equal(ridge.loo_misclassified, expected.loo_misclassified)
    svm = wl.svm_path(K, Y, [0.1, 1.0], class_weight=WEIGHTS)
    assert np.array_equal(svm.alpha(0), wl.svm_path(K, Y, [0.1, 1.0], sample_weight=weights).alpha(0))
    network = wl.fit_ridge_network("fc:1", X, Y, 0.1, class_weight=WEIGHTS, precision="f64", tolerance=1e-12)
    dense = wl.fit_ridge(wl.kernel("fc:1", X), Y, 0.1, sample_weight=weights)
    assert np.allclose(network.alpha, dense.alpha, atol=1e-6)


def test_refused_by_name():
    for machine in ("hard-svm", "regression"):
        with pytest.raises(wl.InputError, match=machine):
            wl.NTKClassifier(machine=machine, class_weight="balanced").fit(X, Y)
    with pytest.raises(wl.InputError, match="balanced"):
        wl.fit_svm(K, Y, class_weight="even")
    with pytest.raises(wl.InputError, match="none of the classes"):
        wl.fit_svm(K, Y, class_weight={"rar": 2.0})
    with pytest.raises(wl.InputError, match="positive"):
        wl.fit_svm(K, Y, class_weight={"rare": -2.0})
    with pytest.raises(wl.InputError, match="not a number"):
        wl.fit_svm(K, Y, class_weight={"rare": "much"})
    with pytest.raises(wl.InputError, match="needs classes"):
        wl.fit_ridge(K, X[:, 0], class_weight="balanced")


@pytest.mark.parametrize("class_weight", [None, "balanced", {"rare": 3.0, "usual": 1.0}])
def test_files_keep_it(tmp_path, class_weight):
    model = wl.NTKClassifier("fc:1", class_weight=class_weight).fit(X, Y)
    model.save(tmp_path / "m.h5")
    assert wl.NTKClassifier.load(tmp_path / "m.h5").class_weight == class_weight
