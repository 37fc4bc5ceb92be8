"""Generalisation bounds against their formulas."""

import numpy as np
import pytest

import widelimit as wl

RNG = np.random.default_rng(5)
SIGNS = RNG.choice([-1.0, 1.0], size=80)
X = RNG.normal(size=(80, 3)) + 2 * SIGNS[:, None]
K = wl.kernel("fc:1", X)


def test_textbook_by_the_formula():
    fit = wl.fit_svm(K, SIGNS, lam=0.5)
    bound = wl.rademacher_bound(K, fit, SIGNS, delta=0.1)
    margins = SIGNS * (K @ fit.alpha)
    norm = np.sqrt(fit.alpha @ K @ fit.alpha)
    empirical = np.clip(1 - margins, 0, 1).mean()
    confidence = 3 * np.sqrt(np.log(20) / 160)
    expected = empirical + 2 * norm * np.sqrt(np.trace(K)) / 80 + confidence
    assert bound.textbook.value == pytest.approx(expected)
    assert bound.norm == pytest.approx(norm)
    assert (bound.lipschitz, bound.range, bound.loss, bound.samples) == (1, 1, "hinge", 80)
    best = min(
        np.clip(1 - margins * 2.0**k / norm, 0, 1).mean()
        + 2 * 2.0**k * np.sqrt(np.trace(K)) / 80
        + 3 * np.sqrt(np.log(20 * 1.5 * (abs(k) + 1) * (abs(k) + 2)) / 160)
        for k in range(-40, 40)
    )
    assert bound.uniform.value == pytest.approx(best)


def test_losses_and_names_of_classes():
    names = np.where(SIGNS > 0, "yes", "no")
    fit = wl.fit_svm(K, names, lam=0.5)
    assert wl.rademacher_bound(K, fit, names) == wl.rademacher_bound(K, wl.fit_svm(K, SIGNS, lam=0.5), SIGNS)
    constants = {"squared": 2, "squared-hinge": 2, "logistic": 0.5 / np.log(2), "insensitive": 1 / 0.9}
    for loss, lipschitz in constants.items():
        assert wl.rademacher_bound(K, fit, names, loss=loss).lipschitz == pytest.approx(lipschitz)


def test_numbers():
    y = X[:, 0]
    fit = wl.fit_ridge(K, y, lam=1.0)
    bound = wl.rademacher_bound(K, fit, y, clip=4.0)
    assert bound.loss == "squared"
    assert (bound.lipschitz, bound.range) == (4, 4)
    assert bound.textbook.empirical == pytest.approx(np.minimum((y - K @ fit.alpha) ** 2, 4).mean())
    svr = wl.rademacher_bound(K, wl.fit_svr(K, y, lam=1.0, epsilon=0.2), y, epsilon=0.2)
    assert (svr.loss, svr.lipschitz) == ("insensitive", 1)


def test_several_classes():
    labels = np.arange(80) % 3
    for fit in (wl.fit_svm(K, labels, lam=1.0), wl.fit_ridge(K, np.eye(3)[labels], lam=1.0)):
        if fit.classes_ is None:
            with pytest.raises(wl.InputError, match="one number"):
                wl.rademacher_bound(K, fit, np.eye(3)[labels])
        else:
            assert wl.rademacher_bound(K, fit, labels).vacuous


def test_label_bound_by_the_formula():
    bound = wl.label_bound(K, SIGNS, delta=0.1)
    square = SIGNS @ np.linalg.solve(K, SIGNS)
    assert bound.norm_square == pytest.approx(square)
    assert bound.a_priori == pytest.approx(np.sqrt(2 * square / 80))
    assert bound.scaled == pytest.approx(2 * np.sqrt(square * np.trace(K)) / 80)
    assert bound.absolute == pytest.approx(bound.scaled + np.sqrt(np.log(10) / 80))
    assert wl.label_bound(K, np.where(SIGNS > 0, "b", "a"), delta=0.1) == bound
    assert wl.label_bound(K, RNG.permutation(SIGNS)).a_priori > bound.a_priori


def test_infinite_is_said():
    twice = np.vstack([X, X[:1]])
    bound = wl.label_bound(wl.kernel("fc:1", twice), np.append(SIGNS, -SIGNS[0]))
    assert bound.norm_square is None
    assert bound.uniform is None
    assert "singular" in bound.message


def test_bad_input():
    fit = wl.fit_svm(K, SIGNS)
    for delta in (0.0, 1.0, -1.0, float("nan")):
        with pytest.raises(wl.InputError, match="delta"):
            wl.rademacher_bound(K, fit, SIGNS, delta=delta)
        with pytest.raises(wl.InputError, match="delta"):
            wl.label_bound(K, SIGNS, delta=delta)
    with pytest.raises(wl.InputError, match="delta is 'a'; give a number"):
        wl.rademacher_bound(K, fit, SIGNS, delta="a")
    with pytest.raises(wl.InputError, match="delta is 'a'; give a number"):
        wl.label_bound(K, SIGNS, delta="a")
    with pytest.raises(wl.InputError, match="must be equal"):
        wl.rademacher_bound(K, fit, SIGNS[:9])
    with pytest.raises(wl.InputError, match="none of the classes"):
        wl.rademacher_bound(K, fit, np.arange(80.0))
    with pytest.raises(wl.InputError):
        wl.rademacher_bound(K, fit, SIGNS, loss="softmax")
    with pytest.raises(wl.InputError, match="classes"):
        wl.label_bound(K, ["a", "b", "c", "d"] * 20)
    with pytest.raises(wl.InputError, match="flip"):
        wl.clean_error_bound(0.3, flip=0.5)


def test_what_is_no_fit():
    with pytest.raises(wl.InputError, match="fit is of type NoneType; give the Fit of fit_svm"):
        wl.rademacher_bound(K, None, SIGNS)
