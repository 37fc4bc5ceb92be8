"""Comparison of kernels against cross-validation of scikit-learn and tests of SciPy."""

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict
from sklearn.svm import SVC

import widelimit as wl

RNG = np.random.default_rng(2)
X = RNG.normal(size=(90, 2))
RADIUS = np.hypot(*X.T) + 0.15 * RNG.normal(size=90)
Y = np.array(["near", "far"])[(RADIUS > 1.1).astype(int)]
LAMS = [0.01, 0.1, 1.0]


def test_held_out_predictions_are_those_of_scikit_learn():
    outer = list(StratifiedKFold(4, shuffle=True, random_state=0).split(X, Y))
    peer = cross_val_predict(SVC(kernel="rbf", gamma=0.7, C=1.0), X, Y, cv=outer)
    # SVC always has a bias.
    found = wl.compare(X, Y, kernels=["rbf(gamma=0.7)"], machine="svm", lams=[1.0], folds=outer, bias=True)
    assert found.best.error == pytest.approx(np.mean(peer != Y))
    for fold, (_, test) in zip(found.best.folds, outer, strict=True):
        assert (fold.predicted == peer[test]).all()


def test_choice_of_all_samples_is_that_of_a_grid_search():
    cv = list(StratifiedKFold(4, shuffle=True, random_state=0).split(X, Y))
    found = wl.compare(X, Y, kernels=["rbf(gamma=0.7)"], machine="svm", lams=LAMS, folds=cv, bias=True)
    peer = GridSearchCV(SVC(gamma=0.7), {"C": [1 / lam for lam in LAMS]}, cv=cv).fit(X, Y)
    assert found.best.tuned_error == pytest.approx(1 - peer.best_score_)


def test_p_is_that_of_the_binomial_with_holms_correction():
    found = wl.compare(X, Y, networks=["fc:2(b_std=1)"], kernels=["linear", "rbf"])
    truth = Y[np.concatenate([rows for _, rows in found.folds])]
    right = {row.kernel: np.concatenate([fold.predicted for fold in row.folds]) == truth for row in found}
    names = [row.kernel for row in found]
    pairs = [(a, b) for i, a in enumerate(names) for b in names[:i]]
    raw = []
    for a, b in pairs:
        only = int((right[a] & ~right[b]).sum()), int((right[b] & ~right[a]).sum())
        raw.append(stats.binomtest(only[0], sum(only)).pvalue if sum(only) else 1.0)
    adjusted = np.empty(len(raw))
    largest = 0.0
    for place, i in enumerate(np.argsort(raw, kind="stable")):
        largest = max(largest, min(1.0, (len(raw) - place) * raw[i]))
        adjusted[i] = largest
    for (a, b), p in zip(pairs, adjusted, strict=True):
        if found.best.kernel in (a, b):
            other = b if a == found.best.kernel else a
            assert found[other].p == pytest.approx(p, rel=1e-12)
            assert found[other].verdict == ("tied" if p >= 0.05 else "worse")
    assert found["linear"].verdict == "worse"
    assert found.test == "exact McNemar test"
    assert found.best.p is None


def test_numbers_are_compared_by_squared_errors():
    found = wl.compare(X, RADIUS, networks=["fc:2(b_std=1)"], kernels=["linear"], folds=6)
    best, other = found
    assert found.test == "paired t-test" and found.classes is None
    rows = np.concatenate([test for _, test in found.folds])
    losses = [(RADIUS[rows] - np.concatenate([fold.predicted for fold in row.folds])) ** 2 for row in found]
    assert other.p == pytest.approx(stats.ttest_rel(*losses).pvalue, rel=1e-9)
    low, high = stats.t.interval(0.95, 89, losses[0].mean(), stats.sem(losses[0]))
    assert best.interval == pytest.approx((low, high))
    assert best.error == pytest.approx(losses[0].mean())


def test_folds_that_overlap_are_compared_by_their_errors():
    halves = [(np.arange(0, 60), np.arange(60, 90)), (np.arange(0, 50), np.arange(50, 90))]
    halves.append((np.arange(45, 90), np.arange(0, 45)))
    found = wl.compare(X, Y, kernels=["linear", "rbf"], folds=halves)
    assert found.test == "corrected resampled t-test"
    d = np.array([a.error - b.error for a, b in zip(found[0].folds, found[1].folds, strict=True)])
    ratio = np.mean([30 / 60, 40 / 50, 45 / 45])
    t = d.mean() / np.sqrt((1 / 3 + ratio) * d.var(ddof=1))
    assert found[1].p == pytest.approx(2 * stats.t.sf(abs(t), 2), rel=1e-9)


def test_all_kernels_have_the_same_folds_and_each_sample_is_tested_once():
    found = wl.compare(X, Y, kernels=["linear", "rbf"], folds=3, seed=4)
    again = wl.compare(X, Y, kernels=["rbf"], folds=3, seed=4)
    assert sorted(np.concatenate([test for _, test in found.folds])) == list(range(90))
    for (_, a), (_, b) in zip(found.folds, again.folds, strict=True):
        assert (a == b).all()
    assert found["rbf"].error == again.best.error


def test_the_usual_kernels_and_their_table():
    pandas = pytest.importorskip("pandas")
    found = wl.compare(pandas.DataFrame(X, columns=["a", "b"]), pandas.Series(Y), folds=3)
    assert {row.kernel for row in found} == {"linear", "rbf", "laplace", "fc:1", "fc:3", "fc:5"}
    table = found.to_pandas()
    assert list(table["kernel"]) == [row.kernel for row in found]
    assert table["error"].is_monotonic_increasing
    assert "verdict" in str(found) and "best" in repr(found)


def test_sparse_samples_are_the_same_samples():
    holed = np.where(abs(X) < 0.2, 0.0, X)
    dense = wl.compare(holed, Y, networks=["fc:1(b_std=1)"], kernels=["rbf"], lams=LAMS)
    thin = wl.compare(sparse.csr_array(holed), Y, networks=["fc:1(b_std=1)"], kernels=["rbf"], lams=LAMS)
    for row in dense:
        assert thin[row.kernel].error == row.error and thin[row.kernel].lam == row.lam


def test_graphs_and_what_cannot_read_them():
    def ring(n):
        return [(i, (i + 1) % n) for i in range(n)]

    def path(n):
        return [(i, i + 1) for i in range(n - 1)]

    graphs = wl.Graphs.from_edges([(shape(n), np.ones((n, 1))) for n in range(4, 12) for shape in (ring, path)])
    found = wl.compare(graphs, [0, 1] * 8, networks=["gntk:2"], kernels=["rbf"], folds=2)
    assert found.best.kernel == "gntk:2"
    assert found["rbf"].verdict == "failed" and "graph" in found["rbf"].failure
    assert wl.compare(graphs, [0, 1] * 8, folds=2).best.kernel.startswith("gntk:")


def test_images_and_a_failing_network():
    images, y, _ = wl.load_data("digits", classes=[3, 8], limit=40, scale="unit")
    images = images.reshape(40, 8, 8, 1)
    found = wl.compare(images, y, networks=["cntk:1", "gntk:2", "fc:1"], folds=2, lams=[0.01])
    assert found["gntk:2"].failure is not None
    assert found["cntk:1"].failure is None
    first = wl.compare(np.moveaxis(images, -1, 1), y, networks=["cntk:1"], folds=2, lams=[0.01], channels_first=True)
    assert first.best.error == found["cntk:1"].error
    with pytest.raises(wl.InputError, match="no kernel has a result"):
        wl.compare(X, Y, networks=["cntk:1"], folds=2)


def test_test_samples_and_the_estimator_of_the_best():
    found = wl.compare(
        X[:60], Y[:60], networks=["fc:2(b_std=1)", "fc:1"], kernels=["linear"], x_test=X[60:], y_test=Y[60:]
    )
    for row in found:
        if row.kind is None:
            with pytest.raises(wl.InputError, match="classical_kernel"):
                found.estimator(row.kernel)
            continue
        estimator = found.estimator(row.kernel).fit(X[:60], Y[:60])
        assert row.test_error == pytest.approx(1 - estimator.score(X[60:], Y[60:]))
    # A class unknown in training counts as an error.
    odd = wl.compare(X[:60], Y[:60], kernels=["rbf"], x_test=X[60:62], y_test=["else", "else"])
    assert odd.best.test_error == 1


def test_kinds_sweeps_and_weights():
    found = wl.compare(X, Y, networks=["fc:1(b_std=1)"], kind=("ntk", "nngp"), lams=[0.1])
    assert {row.kind for row in found} == {"ntk", "nngp"}
    swept = wl.compare(X, Y, networks=["fc:1(b_std=1)"], sweep=True, lams=[0.1])
    assert swept.best.kernel == "fc:1(b_std=1) sweep"
    balanced = wl.compare(X, Y, kernels=["rbf(gamma=1)"], machine="svm", lams=[0.1], class_weight="balanced")
    predicted = np.concatenate([fold.predicted for fold in balanced.best.folds])
    truth = Y[np.concatenate([test for _, test in balanced.folds])]
    each = [np.mean(predicted[truth == name] != name) for name in ("near", "far")]
    assert balanced.best.error == pytest.approx(np.mean(each))
    assert balanced.test == "paired t-test"
    named = wl.compare(X, Y, kernels=["rbf(gamma=1)"], machine="svm", lams=[0.1], class_weight={"near": 3.0})
    assert named.best.error is not None


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"networks": "fc:1"}, "give a list"),
        ({"networks": "fc:1; fc:3"}, r"give a list: \['fc:1', 'fc:3'\]"),
        ({"kernels": "rbf(gamma=1),laplace"}, r"give a list: \['rbf\(gamma=1\)', 'laplace'\]"),
        ({"kernels": ["rfb"]}, "unknown"),
        ({"kernels": ["rbf", "rbf"]}, "twice"),
        ({"kernels": ["rbf"], "folds": 1}, "folds"),
        ({"kernels": ["rbf"], "folds": [(0, 1)]}, "rows of a fold"),
        ({"kernels": ["rbf"], "folds": "five"}, "folds is"),
        ({"kernels": ["rbf"], "lams": [-1.0]}, "positive"),
        ({"kernels": ["rbf"], "x_test": X}, "go together"),
        ({"kernels": ["rbf"], "kind": "what"}, "unknown"),
        ({"kernels": ["rbf"], "class_weight": {"no": 1.0}}, "class_weight"),
    ],
)
def test_what_means_nothing_is_refused(options, match):
    with pytest.raises(wl.InputError, match=match):
        wl.compare(X, Y, **options)
