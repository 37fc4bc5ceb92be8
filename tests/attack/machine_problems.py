"""Random problems for every machine.

Gram matrices have integer entries (exactly semi-definite, often singular, with equal or zero rows) or given eigenvalues
(condition numbers from 1 to 1e16, or one eigenvalue below 0), scaled globally and per row by powers of 2.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

import widelimit as wl

CLASSIFIERS = ("svm", "svm2", "hard-svm", "logistic")


@dataclass
class Problem:
    """A machine and its training problem; numbers are float64, so that their conversion to fractions is exact."""

    machine: str
    k: np.ndarray
    y: np.ndarray
    lam: float
    bias: bool
    weights: np.ndarray | None
    epsilon: float = 0.0
    scheme: str | None = None
    seen: Counter = field(default_factory=Counter)

    def __str__(self) -> str:
        parts = [f"{self.machine} of {len(self.y)} samples", f"λ = {self.lam!r}", f"bias = {self.bias}"]
        if self.scheme:
            parts.append(self.scheme)
        if self.epsilon:
            parts.append(f"ε = {self.epsilon!r}")
        return f"{', '.join(parts)}, {self.k.dtype}, K = {self.k.tolist()}, y = {self.y.tolist()}, w = {self.weights}"

    def fit(self) -> wl._fit.Fit:
        options = {"bias": self.bias, "sample_weight": self.weights}
        if self.machine == "regression":
            return wl.fit_regression(self.k, self.y, **options)
        if self.machine == "hard-svm":
            return wl.fit_hard_svm(self.k, self.y, scheme=self.scheme, **options)
        if self.machine in ("svm", "svm2"):
            fit = wl.fit_svm if self.machine == "svm" else wl.fit_svm2
            return fit(self.k, self.y, self.lam, scheme=self.scheme, **options)
        if self.machine == "svr":
            return wl.fit_svr(self.k, self.y, self.lam, self.epsilon, **options)
        fit = wl.fit_logistic if self.machine == "logistic" else wl.fit_ridge
        return fit(self.k, self.y, self.lam, **options)


def integer_gram(rng: np.random.Generator, n: int) -> np.ndarray:
    x = rng.integers(-4, 5, size=(n, int(rng.integers(1, n + 2)))).astype(np.float64)
    if rng.random() < 0.3:
        x[rng.integers(n)] = x[rng.integers(n)]
    if rng.random() < 0.15:
        x[rng.integers(n)] = 0
    return x @ x.T


def spectral_gram(rng: np.random.Generator, n: int, negative: float | None) -> np.ndarray:
    q, _ = np.linalg.qr(rng.normal(size=(n, n)))
    values = 10.0 ** -rng.uniform(0, rng.choice([1, 6, 12, 16]), size=n)
    values[0] = 1.0
    if negative is not None:
        values[rng.integers(1, n)] = -negative
    k = (q * values) @ q.T
    return (k + k.T) / 2


def draw_gram(rng: np.random.Generator, n: int, negative: float | None) -> np.ndarray:
    k = integer_gram(rng, n) if negative is None and rng.random() < 0.5 else spectral_gram(rng, n, negative)
    if rng.random() < 0.3:
        rows = 2.0 ** rng.integers(-8, 9, size=n)
        k = k * rows[:, None] * rows
    if rng.random() < 0.1:
        # The two triangles are rounded differently, by a few ulps.
        k = k * (1 + np.triu(rng.integers(-4, 5, size=(n, n)), 1) * 2.0**-52)
    if rng.random() < 0.25:
        single = k.astype(np.float32)
        if np.isfinite(single).all():
            return single
    return k * 2.0 ** (rng.integers(-500, 501) if rng.random() < 0.3 else rng.integers(-6, 7))


def draw_problem(rng: np.random.Generator, negative: float | None = None) -> Problem:
    machine = str(rng.choice(["svm", "svm", "svm2", "hard-svm", "svr", "logistic", "logistic", "ridge", "regression"]))
    if negative is not None and machine in ("ridge", "regression"):
        machine = "svm"
    most = {"svr": 5, "logistic": 5, "ridge": 9, "regression": 9}.get(machine, 7)
    n = int(rng.integers(3, most + 1))
    k = draw_gram(rng, n, negative)
    size = float(np.abs(np.diag(k)).max()) or 1.0
    lam = float(size * 10.0 ** rng.uniform(-10, 5))
    weights = None
    if rng.random() < 0.3:
        weights = 10.0 ** rng.uniform(-2, 2, size=n)
        weights[rng.random(n) < 0.15] = 0.0
    epsilon, scheme = 0.0, None
    if machine in CLASSIFIERS:
        classes = 3 if rng.random() < 0.2 else 2
        y = np.concatenate([np.arange(classes), rng.integers(0, classes, size=n - classes)])
        rng.shuffle(y)
        if weights is not None:
            for c in range(classes):
                weights[np.flatnonzero(y == c)[0]] = 1.0
        if classes == 3 and machine != "logistic":
            scheme = str(rng.choice(["one-vs-one", "one-vs-rest"]))
    else:
        y = rng.normal(size=n) if rng.random() < 0.7 else rng.integers(-3, 4, size=n).astype(np.float64)
        y = y * 10.0 ** (rng.uniform(-100, 100) if rng.random() < 0.1 else 0)
        if weights is not None:
            weights[0] = 1.0
        epsilon = float(np.abs(y).max() * rng.choice([0.0, 0.05, 0.5]))
    return Problem(machine, k, y, lam, bool(rng.random() < 0.5), weights, epsilon, scheme)
