#!/usr/bin/env python3
"""Bounds the error of the double polynomials of widelimit/engine/cpu/vector/arccos_polynomials.hpp.

With t = 1 - rho on [0, 1], P(t) = arccos(rho)/sqrt(t) and Q(t) = (sqrt(1 - rho^2) - rho*arccos(rho))/t^1.5 have power
series with coefficients sqrt(2)*C(2k,k)/(8^k (2k+1)) and that/(k + 3/2), all positive and decreasing by more than a
factor of 2. The difference of a polynomial and a truncated series is expanded in Chebyshev polynomials of [0, 1], which
are bounded by 1: the sum of the absolute values of its coefficients, in exact fractions, plus the truncation error,
bounds the error everywhere. Certificates rely on this number (docs/theory/certificates-proof.md).

usage: arccos_bound.py        (fails if a bound exceeds 1e-15)
"""
import pathlib
import re
import sys
from fractions import Fraction
from math import comb, isqrt

HEADER = pathlib.Path(__file__).parent.parent / "widelimit/engine/cpu/vector/arccos_polynomials.hpp"
TERMS = 90  # 2^-90 is far below rounding
ROOT_TWO = Fraction(isqrt(2 * 10**100), 10**50)
PROMISED = 1e-15


def coefficients(name):
    text = HEADER.read_text()
    text = text[text.index("struct ArccosPolynomials<double>") :]
    body = re.search(rf" {name}\[\] = \{{(.*?)\}};", text, re.S).group(1)
    return [Fraction(float(number)) for number in body.split(",")]


def chebyshev_sum(powers):
    """Sum of |coefficients| in the basis T_k(2t - 1): t^n = 2/4^n * sum' C(2n, n - k) T_k(2t - 1)."""
    result = [Fraction(0)] * len(powers)
    for n, c in enumerate(powers):
        for k in range(n + 1):
            result[k] += c * Fraction(2 * comb(2 * n, n - k), 4**n) / (2 if k == 0 else 1)
    return sum(abs(c) for c in result)


def main():
    p = [ROOT_TWO * Fraction(comb(2 * k, k), 8**k * (2 * k + 1)) for k in range(TERMS)]
    q = [c / Fraction(2 * k + 3, 2) for k, c in enumerate(p)]
    good = True
    for name, series in (("p", p), ("q", q)):
        ours = coefficients(name)
        difference = [(ours[k] if k < len(ours) else 0) - c for k, c in enumerate(series)]
        least = series[0]  # minimum of the function, at t = 0
        error = float((chebyshev_sum(difference) + series[-1] + Fraction(1, 10**40)) / least)
        rounding = float(sum((2 * k + 1) * abs(c) for k, c in enumerate(ours)) / least)
        print(f"{name}: relative error at most {error:.2e}; Horner's rule adds at most {rounding:.2f} units")
        good = good and error < PROMISED
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
