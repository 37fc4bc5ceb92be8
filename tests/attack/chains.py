"""Kernels of dense chains from their formulas, in long double for the search and in 60 digits for verification.

Neither overflows for products of float64 numbers in a chain: long double reaches 2^16384, mpmath is unlimited.
"""

from __future__ import annotations

from dataclasses import dataclass

import mpmath
import numpy as np

mpmath.mp.dps = 60


@dataclass(frozen=True)
class Layer:
    """Dense layer with standard deviations w and b, or (leaky) rectifier with the given negative slope."""

    w: float | None = None
    b: float = 0.0
    slope: float = 0.0

    def text(self) -> str:
        if self.w is not None:
            return f"dense(w_std={self.w!r}, b_std={self.b!r})" if self.b else f"dense(w_std={self.w!r})"
        return "relu" if self.slope == 0 else f"leaky_relu(slope={self.slope!r})"


def text_of(chain: list[Layer]) -> str:
    return " ".join(layer.text() for layer in chain)


def ntk(chain: list[Layer], x: np.ndarray, y: np.ndarray, tangent: bool = True) -> np.ndarray:
    """Returns the kernel of all rows of x with all rows of y, in long double."""
    real = np.longdouble
    x, y = x.astype(real), y.astype(real)
    d = real(x.shape[1])
    first, second, sigma = (x * x).sum(1)[:, None] / d, (y * y).sum(1)[None, :] / d, x @ y.T / d
    theta = np.zeros_like(sigma)
    pi = real(2) * np.arcsin(real(1))
    for layer in chain:
        if layer.w is not None:
            w, b = real(layer.w) ** 2, real(layer.b) ** 2
            first, second, sigma = w * first + b, w * second + b, w * sigma + b
            theta = w * theta + sigma
            continue
        s = real(layer.slope)
        half, deviation = (1 - s) ** 2 / 2, np.sqrt(first) * np.sqrt(second)
        safe = np.where(deviation > 0, deviation, 1)
        rho = np.clip(sigma / safe, -1, 1)
        angle = pi - np.arccos(rho)
        sigma = s * sigma + half * deviation * (np.sqrt((1 - rho) * (1 + rho)) + angle * rho) / pi
        theta = theta * (s + half * angle / pi)
        first, second = first * (1 + s * s) / 2, second * (1 + s * s) / 2
    return theta if tangent else sigma


def exact_entry(chain: list[Layer], x: list, y: list, tangent: bool = True) -> mpmath.mpf:
    """Returns one entry in 60 digits; x and y are lists of mpf."""
    d = len(x)
    first = mpmath.fsum(a * a for a in x) / d
    second = mpmath.fsum(a * a for a in y) / d
    sigma = mpmath.fsum(a * b for a, b in zip(x, y, strict=True)) / d
    theta = mpmath.mpf(0)
    for layer in chain:
        if layer.w is not None:
            w, b = mpmath.mpf(layer.w) ** 2, mpmath.mpf(layer.b) ** 2
            first, second, sigma = w * first + b, w * second + b, w * sigma + b
            theta = w * theta + sigma
            continue
        s = mpmath.mpf(layer.slope)
        half, deviation = (1 - s) ** 2 / 2, mpmath.sqrt(first * second)
        rho = min(max(sigma / deviation, mpmath.mpf(-1)), mpmath.mpf(1)) if deviation else mpmath.mpf(0)
        angle = mpmath.pi - mpmath.acos(rho)
        sigma = s * sigma + half * deviation * (mpmath.sqrt((1 - rho) * (1 + rho)) + angle * rho) / mpmath.pi
        theta *= s + half * angle / mpmath.pi
        first, second = first * (1 + s * s) / 2, second * (1 + s * s) / 2
    return theta if tangent else sigma
