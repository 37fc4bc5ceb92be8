"""Minimises a function over balls: random points, corners, and descent along the surface."""

from __future__ import annotations

from collections.abc import Callable

import mpmath
import numpy as np

Margins = Callable[[np.ndarray], np.ndarray]
"""Function that must be positive, for each row of points in long double."""


def _pushed(direction: np.ndarray, norm: str) -> np.ndarray:
    """Scales directions to the surface of the unit ball."""
    if norm == "linf":
        return np.sign(direction)
    length = np.sqrt((direction * direction).sum(1, keepdims=True))
    return direction / np.where(length > 0, length, 1)


def _clipped(places: np.ndarray, box: tuple[float, float] | None) -> np.ndarray:
    return places if box is None else np.clip(places, np.longdouble(box[0]), np.longdouble(box[1]))


def lowest_place(
    margin: Margins, x: np.ndarray, radius: float, norm: str, box: tuple[float, float] | None, rng: np.random.Generator
) -> np.ndarray:
    """Returns the point of the ball (and box) with the smallest margin found."""
    real, d = np.longdouble, len(x)
    x, radius = x.astype(real), real(radius)
    drawn = rng.normal(size=(24, d)).astype(real)
    corners = np.where(rng.random((24, 1)) < 0.5, np.sign(drawn), np.tanh(drawn))
    steps = _pushed(drawn, norm) if norm == "l2" else corners
    steps *= np.where(rng.random((24, 1)) < 0.3, rng.random((24, 1)), 1)
    places = _clipped(np.vstack([x[None, :], x + radius * steps]), box)
    values = margin(places)
    best = places[np.argmin(values)]
    low = values.min()
    here = x
    for step in (1e-6, 1e-4, 1e-3, 1e-2, 1e-6, 1e-3):
        shifts = radius * real(step) * np.eye(d, dtype=real)
        slope = margin(here + shifts) - margin(here - shifts)
        moved = _clipped(x[None, :] - radius * _pushed(slope[None, :], norm), box)
        value = margin(moved)[0]
        here = moved[0]
        if value < low:
            best, low = here, value
    return best


def exactly_inside(
    place: np.ndarray, x: np.ndarray, radius: float, norm: str, box: tuple[float, float] | None
) -> list[mpmath.mpf]:
    """Returns the point in 60 digits, moved towards x if needed so that it is provably in the ball."""
    centre = [mpmath.mpf(float(a)) for a in x]
    target = [_exact(a) for a in place]
    shift = [a - b for a, b in zip(target, centre, strict=True)]
    length = max(abs(s) for s in shift) if norm == "linf" else mpmath.sqrt(mpmath.fsum(s * s for s in shift))
    limit = mpmath.mpf(radius)
    factor = mpmath.mpf(1) if length <= limit else limit / length * (1 - mpmath.mpf(10) ** -50)
    inside = [c + factor * s for c, s in zip(centre, shift, strict=True)]
    if box is None:
        return inside
    low, high = mpmath.mpf(box[0]), mpmath.mpf(box[1])
    return [min(max(a, low), high) for a in inside]


def _exact(a: np.longdouble) -> mpmath.mpf:
    """Converts a long double exactly: two doubles hold its 64-bit mantissa."""
    mantissa, exponent = np.frexp(a)
    high = np.float64(mantissa)
    low = np.float64(mantissa - np.longdouble(high))
    return mpmath.ldexp(mpmath.mpf(float(high)) + mpmath.mpf(float(low)), int(exponent))
