"""Platt scaling of support vector machines."""

import numpy as np
import pytest

import widelimit as wl

X, Y, _ = wl.load_data("digits", limit=260, scale="unit")
X = X.reshape(len(X), 64)
K = wl.kernel("fc:2", X[:200])
NEW = wl.kernel("fc:2", X[200:], X[:200])


@pytest.mark.parametrize("scheme", ["one-vs-one", "one-vs-rest"])
@pytest.mark.parametrize("fit", [wl.fit_svm, wl.fit_svm2])
def test_of_several_classes(fit, scheme):
    found = fit(K, Y[:200], lam=0.01, probability=True, scheme=scheme)
    p = found.predict_proba(NEW)
    assert p.shape == (60, 10)
    assert np.allclose(p.sum(axis=1), 1)
    assert (p >= 0).all()
    assert np.mean(found.classes_[p.argmax(axis=1)] == Y[200:]) > 0.8
    # Independent check: the likelihood of the true class exceeds that of guessing.
    right = p[np.arange(60), np.searchsorted(found.classes_, Y[200:])]
    assert -np.log(right).mean() < np.log(10) / 2


def test_of_two_classes_is_the_sigmoid_of_the_decision():
    two = np.flatnonzero((Y[:200] == 3) | (Y[:200] == 8))
    found = wl.fit_svm(K[np.ix_(two, two)], Y[two], lam=0.1, probability=True)
    k = NEW[:, two]
    slope, offset = found.calibration[0]
    expected = 1 / (1 + np.exp(slope * found.decision_function(k) + offset))
    assert np.allclose(found.predict_proba(k), np.column_stack([1 - expected, expected]))
    assert slope < 0


def test_without_it_says_how_to_get_it():
    found = wl.fit_svm(K, Y[:200])
    with pytest.raises(wl.InputError, match="probability=True"):
        found.predict_proba(NEW)
    with pytest.raises(wl.InputError, match="two samples"):
        wl.fit_svm(np.eye(3), [0, 1, 1], probability=True)


def test_estimator():
    model = wl.NTKClassifier("fc:2", lam=0.01, probability=True).fit(X[:200], Y[:200])
    p = model.predict_proba(X[200:])
    assert np.allclose(p, wl.fit_svm(K, Y[:200], 0.01, probability=True, tolerance=1e-8).predict_proba(NEW))
    assert np.allclose(np.exp(model.predict_log_proba(X[200:])), p)
    assert not hasattr(wl.NTKClassifier("fc:2"), "predict_proba")
    assert not hasattr(wl.NTKClassifier("fc:2", machine="ridge", probability=True), "predict_proba")
