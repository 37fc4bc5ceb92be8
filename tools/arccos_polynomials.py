#!/usr/bin/env python3
"""Coefficients of the two polynomials behind the vectorised ReLU dual (docs/theory/numerics.md, "ReLU").

With t = 1 - rho on [0, 1]:
    arccos(rho)                              = sqrt(t) * P(t)
    sqrt(1 - rho^2) - rho * arccos(rho)      = sqrt(t) * t * Q(t)
P and Q are analytic on [0, 2); each is interpolated at Chebyshev points in 60 digits and rewritten in powers of t.
Prints C++ arrays, highest power last, and the largest relative error of the exact polynomial on a fine grid.

usage: arccos_polynomials.py        (needs the Python package mpmath)
"""
from mpmath import acos, cos, lu_solve, matrix, mp, mpf, pi, sqrt

mp.dps = 60


def p(t):
    return sqrt(mpf(2)) if t == 0 else acos(1 - t) / sqrt(t)


def q(t):
    if t == 0:
        return 2 * sqrt(mpf(2)) / 3
    rho = 1 - t
    return (sqrt(1 - rho * rho) - rho * acos(rho)) / (sqrt(t) * t)


def interpolate(f, degree):
    points = [(1 - cos((2 * k + 1) * pi / (2 * degree + 2))) / 2 for k in range(degree + 1)]
    powers = matrix(degree + 1, degree + 1)
    values = matrix(degree + 1, 1)
    for row, t in enumerate(points):
        values[row] = f(t)
        for col in range(degree + 1):
            powers[row, col] = t**col
    return list(lu_solve(powers, values))


def worst(f, coefficients, samples=2000):
    error = mpf(0)
    for k in range(samples + 1):
        t = mpf(k) / samples
        value = sum(c * t**i for i, c in enumerate(coefficients))
        error = max(error, abs(value / f(t) - 1))
    return error


def main():
    for name, f, degrees in (
        ("p", p, (("float", 7), ("float, planes", 6), ("double", 16))),
        ("q", q, (("float", 6), ("float, planes", 5), ("double", 15))),
    ):
        for kind, degree in degrees:
            coefficients = interpolate(f, degree)
            suffix = "" if kind == "double" else "f"
            digits = 17 if kind == "double" else 9
            body = ", ".join(mp.nstr(c, digits) + suffix for c in coefficients)
            print(f"// {name}, {kind}, degree {degree}: relative error {mp.nstr(worst(f, coefficients), 3)}")
            print(f"{{{body}}};")


if __name__ == "__main__":
    main()
