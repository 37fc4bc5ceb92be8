"""Small random problems for every machine, compared with the optimum in exact arithmetic."""

from __future__ import annotations

import warnings
from collections import Counter
from fractions import Fraction

import exact_machines as exact
import mpmath as mp
import numpy as np
from campaign import Attack, Broken, require
from machine_problems import CLASSIFIERS, Problem, draw_problem

import widelimit as wl

UNIT = 2.0**-53


def shown(x) -> str:
    """Formats a number that may exceed float64."""
    return mp.nstr(exact.high(x) if isinstance(x, Fraction) else x, 17)


ENDINGS = {"converged", "iteration limit", "not positive definite", "not separable"}


def allowance(k: np.ndarray) -> float:
    """c(n) of machine/gram/semidefinite.hpp: the test accepts K ⪰ −2cD."""
    n = len(k)
    return 1.1 * n * ((n + 16) * UNIT + 64 * float(np.finfo(k.dtype).eps))


def negative_beyond_rounding(k: np.ndarray) -> bool:
    """Returns whether some vᵀKv is below −2cvᵀDv, in rationals; v is an eigenvector in float64."""
    own = np.diag(k).astype(np.float64)
    if (own < 0).any():
        return True
    length = np.sqrt(np.where(own > 0, own, 1.0))
    _, vectors = np.linalg.eigh(k.astype(np.float64) / length[:, None] / length)
    gram = exact.gram_of(k)
    v = [Fraction(float(x)) / Fraction(float(s)) for x, s in zip(vectors[:, 0], length, strict=True)]
    weight = sum((x * x * gram[i][i] for i, x in enumerate(v)), Fraction(0))
    return exact.dot(v, exact.times(gram, v)) < -2 * Fraction(allowance(k)) * weight


def check_numbers(problem: Problem, fit) -> None:
    """Checks the guarantees of a fit that hold for every ending."""
    summary = fit.summary
    require(summary.ending in ENDINGS, f"ending {summary.ending!r}: {problem}")
    require(bool(np.isfinite(fit.alpha).all() and np.isfinite(fit.bias).all()), f"coefficients not finite: {problem}")
    for name in ("primal", "dual", "gap", "gradient", "condition"):
        value = getattr(summary, name)
        require(value is None or bool(np.isfinite(value)), f"{name} is {value}: {problem}")
    require(summary.ending == "converged" or bool(summary.message), f"ended without a message: {problem}")
    tolerance = 1e-8 if problem.machine == "logistic" else 1e-6
    if summary.ending == "converged" and problem.machine not in ("ridge", "regression"):
        require(summary.gap is not None and summary.gap <= tolerance, f"converged with gap {summary.gap}: {problem}")
    if problem.weights is not None:
        idle = np.asarray(fit.alpha)[problem.weights == 0]
        require(not idle.any(), f"a sample of weight 0 has a coefficient: {problem}")


def check_predictions(problem: Problem, fit) -> None:
    """Checks g = Kα + b up to rounding errors of the sums."""
    alpha = np.asarray(fit.alpha).reshape(len(problem.y), -1)
    told = np.asarray(fit.decision_function(problem.k)).reshape(len(problem.y), -1)
    gram = exact.rational(problem.k)
    for c in range(alpha.shape[1]):
        column = exact.rational(alpha[:, c])
        b = Fraction(float(np.atleast_1d(fit.bias)[c]))
        terms = exact.times([[abs(x) for x in row] for row in gram], [abs(a) for a in column])
        for i, g in enumerate(exact.times(gram, column)):
            off = abs(Fraction(float(told[i, c])) - g - b)
            room = Fraction(2 * (len(column) + 2) * UNIT) * (terms[i] + abs(b)) + Fraction(2.0**-1060)
            require(off <= room, f"decision {i} is off by {shown(off)}: {problem}")


def check_box(problem: Problem, alpha: np.ndarray, signs: np.ndarray, weights: np.ndarray) -> None:
    """Checks exactly that float64 coefficients are within their bounds."""
    a = alpha * signs
    if problem.machine == "svr":
        require(bool((np.abs(alpha) <= weights / problem.lam).all()), f"coefficients leave the box: {problem}")
        return
    require(bool((a >= 0).all()), f"a coefficient has the wrong sign: {problem}")
    if problem.machine == "svm":
        require(bool((a <= weights / problem.lam).all()), f"coefficients leave the box: {problem}")


def check_gap(problem: Problem, summary, value, least) -> None:
    """Compares the claims of a summary with the true objective and the true minimum, exact or in 60 digits."""
    number = (lambda x: exact.high(Fraction(x))) if isinstance(value, mp.mpf) else Fraction
    if summary.gap is None:
        return
    with mp.workdps(exact.DIGITS):
        slack = 0 if isinstance(value, Fraction) else value * mp.mpf(10) ** -18
        claimed = number(summary.gap) * max(value, abs(least))
        problem.seen["gaps"] += 1
        require(
            value - least <= claimed + slack,
            f"gap {summary.gap:.3e}, but the objective is {shown(value)} and the minimum {shown(least)}: {problem}",
        )
        if summary.dual is not None and abs(summary.dual) > 1e-290:
            low = number(summary.dual)
            require(low <= least + slack, f"dual {summary.dual!r} above the minimum {shown(least)}: {problem}")
        if summary.primal is not None and summary.dual is not None and abs(summary.primal) > 1e-290:
            off = abs(number(summary.primal) - value)
            room = number(summary.primal) - number(summary.dual) + number(8 * UNIT) * value
            require(off <= room, f"primal {summary.primal!r}, exact value {shown(value)}: {problem}")


def binary_problems(problem: Problem) -> list:
    """Returns (rows, signs) for each output of a support vector machine."""
    y = problem.y
    if problem.scheme is None:
        return [(np.arange(len(y)), np.where(y == 1, 1.0, -1.0))]
    if problem.scheme == "one-vs-rest":
        return [(np.arange(len(y)), np.where(y == c, 1.0, -1.0)) for c in range(3)]
    pairs = []
    for c in range(3):
        for d in range(c + 1, 3):
            rows = np.flatnonzero((y == c) | (y == d))
            pairs.append((rows, np.where(y[rows] == c, 1.0, -1.0)))
    return pairs


def check_svm(problem: Problem, fit, weights: np.ndarray) -> None:
    alpha = np.asarray(fit.alpha).reshape(len(problem.y), -1)
    total, least_total = Fraction(0), Fraction(0)
    for output, (rows, signs) in enumerate(binary_problems(problem)):
        own = alpha[rows, output]
        check_box(problem, own, signs, weights[rows])
        k = exact.gram_of(problem.k[np.ix_(rows, rows)])
        y, w = exact.rational(signs), exact.rational(weights[rows])
        a, b = exact.rational(own), Fraction(float(np.atleast_1d(fit.bias)[output]))
        if problem.machine == "hard-svm":
            least = exact.least_norm(k, y, w, problem.bias)
            if least is None:
                problem.seen["not separable"] += 1
                require(fit.summary.ending != "converged", f"nothing separates, but it converged: {problem}")
                return
            if fit.summary.ending != "converged":
                return
            g = exact.times(k, a)
            margin = min(s * (v + b) for s, v, x in zip(y, g, w, strict=True) if x > 0)
            require(margin >= 1, f"a margin of {shown(margin)} is below 1: {problem}")
            value = exact.dot(a, g) / 2
        else:
            lam = Fraction(problem.lam)
            square = problem.machine == "svm2"
            value = exact.hinge_value(k, y, a, b, lam, w, square)
            least = exact.least_hinge(k, y, lam, w, problem.bias, square)
        if fit.summary.gap is not None:
            off = value - least
            room = Fraction(fit.summary.gap) * max(value, least)
            require(off <= room, f"output {output}: gap {fit.summary.gap:.3e}, off {shown(off)}: {problem}")
        total += value
        least_total += least
    check_gap(problem, fit.summary, total, least_total)


def check_inseparable(problem: Problem) -> None:
    """Requires for 'not separable' that no margin exceeds the rounding of K."""
    weights = np.ones(len(problem.y)) if problem.weights is None else problem.weights
    gram = exact.gram_of(problem.k)
    own = max(gram[i][i] for i in range(len(gram)) if weights[i] > 0)
    for rows, signs in binary_problems(problem):
        k = [[gram[i][j] for j in rows] for i in rows]
        least = exact.least_norm(k, exact.rational(signs), exact.rational(weights[rows]), problem.bias)
        if least is None or 1 / (2 * least) <= Fraction(32 * float(np.finfo(problem.k.dtype).eps)) * own:
            return
    raise Broken(f"reported as not separable, but it is separable: {problem}")


def check_values(problem: Problem, fit, weights: np.ndarray) -> None:
    k, y, w = exact.gram_of(problem.k), exact.rational(problem.y), exact.rational(weights)
    a, b, lam = exact.rational(fit.alpha), Fraction(float(fit.bias)), Fraction(problem.lam)
    if problem.machine == "svr":
        check_box(problem, fit.alpha, np.ones(len(y)), weights)
        eps = Fraction(problem.epsilon)
        value = exact.tube_value(k, y, a, b, lam, w, eps)
        check_gap(problem, fit.summary, value, exact.least_tube(k, y, lam, w, eps, problem.bias))
        return
    if fit.summary.gradient is not None and any(y):
        lam = lam if problem.machine == "ridge" else Fraction(0)
        g = exact.times(k, a)
        missing = sum(
            x * (t - v - b - lam * c / (2 * x)) ** 2 for x, t, v, c in zip(w, y, g, a, strict=True) if x > 0
        )
        size = sum(x * t * t for x, t in zip(w, y, strict=True))
        problem.seen["residuals"] += 1
        if size:
            claimed = Fraction(fit.summary.gradient) ** 2 * size
            require(missing <= claimed, f"residual {fit.summary.gradient:.3e} is too optimistic: {problem}")
    if problem.machine == "ridge":
        value = exact.square_value(k, y, a, b, lam, w)
        check_gap(problem, fit.summary, value, exact.least_square(k, y, lam, w, problem.bias))


def check_logistic(problem: Problem, fit, weights: np.ndarray) -> None:
    k, w, lam = exact.gram_of(problem.k), exact.rational(weights), Fraction(problem.lam)
    classes = 3 if np.ndim(fit.alpha) == 2 else 2
    alpha = exact.rational(np.asarray(fit.alpha).reshape(len(problem.y), -1))
    value = exact.softmax_value(k, problem.y, alpha, exact.rational(np.atleast_1d(fit.bias)), lam, w)
    least = exact.least_softmax(k, problem.y, classes, lam if classes > 2 else 2 * lam, w, problem.bias)
    if least is None:
        problem.seen["optima not found"] += 1
        return
    check_gap(problem, fit.summary, value, least)


def asymmetric(k: np.ndarray) -> bool:
    """Returns whether K may exceed the asymmetry of kernel/gram_matrix.hpp, |K_ij − K_ji| ≤ 64ε·√|K_ii K_jj|.

    Entries of an indefinite K can be larger than √|K_ii K_jj|, and then exceed it by their own rounding.
    """
    scale = np.sqrt(np.abs(np.diag(k)).astype(np.float64))
    return bool((np.abs(k - k.T) > 63 * np.finfo(k.dtype).eps * np.outer(scale, scale)).any())


def solved(problem: Problem):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wl.ConvergenceWarning)
        try:
            return problem.fit()
        except (wl.InputError, wl.NumericalError):
            problem.seen["refused"] += 1
            return None


def definite_trial(rng: np.random.Generator) -> Counter:
    problem = draw_problem(rng)
    problem.seen["machines"] += 1
    fit = solved(problem)
    require(fit is not None, f"rejected: {problem}")
    check_numbers(problem, fit)
    check_predictions(problem, fit)
    definite = exact.is_semidefinite(exact.gram_of(problem.k))
    ending = fit.summary.ending
    if ending == "not positive definite":
        refusal = f"reported as not positive definite: {problem}"
        require(not definite or problem.machine in ("ridge", "regression"), refusal)
        return problem.seen
    problem.seen[ending] += 1
    if not definite:
        return problem.seen  # within rounding, there is no optimum to compare with
    weights = np.ones(len(problem.y)) if problem.weights is None else problem.weights
    if ending == "not separable":
        check_inseparable(problem)
    elif problem.machine == "logistic":
        check_logistic(problem, fit, weights)
    elif problem.machine in CLASSIFIERS:
        check_svm(problem, fit, weights)
    else:
        check_values(problem, fit, weights)
    return problem.seen


def indefinite_trial(rng: np.random.Generator) -> Counter:
    problem = draw_problem(rng, negative=float(10.0 ** -rng.uniform(0, 10)))
    problem.seen["indefinite Grams"] += 1
    if not negative_beyond_rounding(problem.k):
        problem.seen["within rounding"] += 1  # float32 hides small eigenvalues
        return problem.seen
    fit = solved(problem)
    if fit is None:
        require(asymmetric(problem.k), f"rejected: {problem}")
        return problem.seen
    check_numbers(problem, fit)
    require(fit.summary.ending == "not positive definite", f"{fit.summary.ending!r} of an indefinite Gram: {problem}")
    require("diagonal" in fit.summary.message, f"no remedy in {fit.summary.message!r}: {problem}")
    return problem.seen


def extreme_trial(rng: np.random.Generator) -> Counter:
    """Numbers near the limits of float64: the gap is correct, or the ending is clear."""
    problem = draw_problem(rng)
    problem.k = problem.k.astype(np.float64)
    size = float(np.abs(problem.k).max()) or 1.0
    problem.k = np.ldexp(problem.k, int(rng.integers(-996, 997)) - int(np.log2(size)))
    problem.lam = float(10.0 ** rng.uniform(-300, 300))
    if problem.machine not in CLASSIFIERS:
        scale = float(10.0 ** rng.uniform(-300, 300)) / (float(np.abs(problem.y).max()) or 1.0)
        problem.y, problem.epsilon = problem.y * scale, problem.epsilon * scale
    problem.seen["extremes"] += 1
    fit = solved(problem)
    if fit is None:
        return problem.seen
    check_numbers(problem, fit)
    problem.seen[fit.summary.ending] += 1
    if fit.summary.ending not in ("converged", "iteration limit"):
        return problem.seen
    if not exact.is_semidefinite(exact.gram_of(problem.k)):
        return problem.seen
    weights = np.ones(len(problem.y)) if problem.weights is None else problem.weights
    if problem.machine in ("svm", "svm2", "hard-svm"):
        check_svm(problem, fit, weights)
    elif problem.machine != "logistic":
        check_values(problem, fit, weights)
    return problem.seen


def trial(rng: np.random.Generator) -> Counter:
    kind = rng.random()
    if kind < 0.6:
        return definite_trial(rng)
    return indefinite_trial(rng) if kind < 0.8 else extreme_trial(rng)


ATTACK = Attack(
    "machines",
    "a machine's duality gap bounds its true distance from the optimum, and a Gram matrix that is not positive "
    "semi-definite is never fitted",
    trial,
)
