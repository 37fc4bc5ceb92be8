"""Kernels by quadrature: errors are below the stated bound, at any norm, correlation and depth."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from campaign import Attack, require

import widelimit as wl

sys.path.append(str(Path(__file__).resolve().parents[2] / "tools"))
import quadrature_values

ROUNDING = 3e-14


def pair(rng: np.random.Generator) -> tuple[np.ndarray, float]:
    """Draws two inputs with norms from 1e-3 to 1e3 per coordinate, and correlations up to 1 - |rho| = 1e-16."""
    norm = 10 ** rng.uniform(-3, 3)
    ratio = 1.0 if rng.uniform() < 0.3 else 10 ** (rng.normal() * (0.02 if rng.uniform() < 0.5 else 0.7))
    other = float(np.clip(norm * ratio, 1e-3, 1e3))
    apart = rng.choice([0.0, 10 ** rng.uniform(-16, 0), rng.uniform()])
    x1, x2 = quadrature_values.pair(norm, other, apart, rng.uniform() < 0.7)
    return np.array([x1, x2]), max(norm, other)


def errors(found: np.ndarray, exact: list[float]) -> float:
    """Error relative to the roots of the products of diagonal entries."""
    first, cross, second = exact
    return max(
        abs(found[0, 0] / first - 1), abs(found[0, 1] - cross) / np.sqrt(first * second), abs(found[1, 1] / second - 1)
    )


def built_in(rng: np.random.Generator) -> Mapping[str, int]:
    phi = rng.choice(list(quadrature_values.FUNCTIONS))
    depth = int(rng.choice([1, 1, 1, 2, 3]))
    w_std, b_std = round(rng.uniform(0.5, 1.6), 3), float(rng.choice([0.0, 0.2]))
    x, norm = pair(rng)
    exact = [[float(v) for v in kernel] for kernel in quadrature_values.kernels(phi, depth, w_std, b_std, x[0], x[1])]
    quadrature_values.dual.cache_clear()
    text = f"fc:{depth}(activation={phi}, w_std={w_std}, b_std={b_std})"
    for backend in ("cpu", "reference"):
        found = wl.gram(text, x, kind=("nngp", "ntk"), backend=backend)
        # An ulp of rho changes the next layer by up to `deviation` ulps, through a kink of width 1/deviation.
        rounding = ROUNDING + (depth - 1) * (5e-14 + 3e-16 * w_std * norm)
        worst = max(errors(found.nngp, exact[0]), errors(found.ntk, exact[1]))
        require(
            worst <= found.quadrature_error + rounding,
            f"{text} on {x.tolist()}, {backend}: error {worst:.2e}, stated bound {found.quadrature_error:.2e}",
        )
        require(found.quadrature_error < 1e-11, f"{text} on {x.tolist()}, {backend}: states {found.quadrature_error}")
    return {"pairs to 30 digits": 1, "layers": depth}


def gaussian_mean(f, deviation: float, knots: np.ndarray) -> float:
    """Computes E[f(u)] by Gauss-Legendre panels between the knots, which the program must detect itself."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    ends = np.unique(np.concatenate([np.linspace(-9, 9, 37), np.clip(knots / deviation, -9, 9)]))
    middles, halves = (ends[1:] + ends[:-1]) / 2, (ends[1:] - ends[:-1]) / 2
    z = middles[:, None] + halves[:, None] * nodes
    return float(np.sum(f(deviation * z) * np.exp(-z * z / 2) * weights * halves[:, None]) / np.sqrt(2 * np.pi))


def own_function(rng: np.random.Generator) -> Mapping[str, int]:
    """Random functions with kinks and jumps: reference integrals and both back ends agree within the stated bounds."""
    knots = np.sort(rng.normal(size=rng.integers(1, 5)) * 1.5)
    slopes, jumps = rng.normal(size=len(knots) + 1), rng.normal(size=len(knots)) * (rng.uniform() < 0.3)

    def piecewise(x: np.ndarray) -> np.ndarray:
        y = slopes[0] * x + np.tanh(x)
        for knot, before, after, jump in zip(knots, slopes[:-1], slopes[1:], jumps, strict=True):
            y = y + np.where(x > knot, (after - before) * (x - knot) + jump, 0.0)
        return y

    def slope(x: np.ndarray) -> np.ndarray:
        return slopes[np.searchsorted(knots, x)] + 1 / np.cosh(np.clip(x, -300, 300)) ** 2

    wl.register_activation("attacked", piecewise)
    x = rng.normal(size=(4, 3)) * 10 ** rng.uniform(-1, 1)
    x[1] = x[0] * (1 + 10 ** rng.uniform(-4, -1) * rng.normal(size=3))
    net = "dense(b_std=0.1) custom(name=attacked) dense"
    drawn = f"knots {knots}, slopes {slopes}, jumps {jumps}"
    fast = wl.gram(net, x, kind=("nngp", "ntk"))
    slow = wl.gram(net, x, kind=("nngp", "ntk"), backend="reference")
    for ours, theirs in zip((fast.nngp, fast.ntk), (slow.nngp, slow.ntk), strict=True):
        own = np.sqrt(np.outer(np.diag(theirs), np.diag(theirs)))
        limit = fast.quadrature_error + slow.quadrature_error + 1e-11
        worst = float(np.max(np.abs(ours - theirs) / own))
        require(worst <= limit, f"{drawn}: routes differ by {worst:.2e} > {limit:.2e}")
    for i, row in enumerate(x):
        variance = row @ row / 3 + 0.01
        square = gaussian_mean(lambda u: piecewise(u) ** 2, np.sqrt(variance), knots)
        tangent = square + variance * gaussian_mean(lambda u: slope(u) ** 2, np.sqrt(variance), knots)
        worst = max(abs(fast.nngp[i, i] / square - 1), abs(fast.ntk[i, i] / tangent - 1))
        require(worst <= fast.quadrature_error + 1e-13, f"{drawn}: off by {worst:.2e}")
    return {"functions with kinks": 1}


def trial(rng: np.random.Generator) -> Mapping[str, int]:
    return built_in(rng) if rng.uniform() < 0.6 else own_function(rng)


ATTACK = Attack("quadrature", "kernels by quadrature are within their stated error", trial)
