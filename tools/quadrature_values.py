"""Kernels of tanh, sigmoid, swish and softplus to 30 digits: writes tests/golden/quadrature.json.

The logistic function is a mixture of normal distributions, 1/(1+e^-x) = sum_j w_j Phi(x/s_j), by the trapezoidal rule
in log s on the density of twice Kolmogorov's distribution (docs/theory/duals.md). 70 terms agree with it to 32 digits
for every x, which is checked first. Every term has a dual in closed form, so a dual is a double sum for all variances
and correlations. One dual of each function is also integrated by its definition.

    .venv/bin/python tools/quadrature_values.py tests/golden/quadrature.json
"""

from __future__ import annotations

import functools
import json
import sys

from mpmath import asin, diff, erfc, exp, log, mp, mpf, nstr, pi, quad, sqrt, tanh

mp.dps = 36


def kolmogorov_density(k):
    if k > 1:
        return 8 * k * sum((-1) ** (n + 1) * n * n * exp(-2 * n * n * k * k) for n in range(1, 12))
    total = mpf(0)
    for n in range(1, 12):
        a = ((2 * n - 1) * pi / k) ** 2
        total += (a / 4 - 1) / k**2 * exp(-a / 8)
    return sqrt(2 * pi) * total


def mixture():
    step = mpf("0.06")
    terms = [(2 * exp(j * step), step * exp(j * step) * kolmogorov_density(exp(j * step))) for j in range(-50, 45)]
    terms = [(s, w) for s, w in terms if w > mpf("1e-36")]
    whole = sum(w for _, w in terms)
    return [(s, w / whole) for s, w in terms]


TERMS = mixture()


def softplus(x):
    return max(x, mpf(0)) + log(1 + exp(-abs(x)))


FUNCTIONS = {
    "tanh": tanh,
    "sigmoid": lambda x: 1 / (1 + exp(-x)),
    "swish": lambda x: x / (1 + exp(-x)),
    "softplus": softplus,
}


def check_mixture():
    worst = max(
        abs(sum(w * erfc(-x / s / sqrt(2)) / 2 for s, w in TERMS) - 1 / (1 + exp(-x)))
        for x in [mpf(i) / 7 for i in range(0, 500)]
    )
    assert worst < mpf("1e-31"), nstr(worst, 3)
    print(f"{len(TERMS)} terms, mixture within {nstr(worst, 2)} of the logistic function")


@functools.cache
def dual(phi, q1, q2, c, negligible="1e-33"):
    """E[phi phi] and E[phi' phi'] for variances q1, q2 and covariance c, without terms of negligible weight."""
    scale = mpf(1) / 2 if phi == "tanh" else mpf(1)
    value = slope = mpf(0)
    for s1, w1 in TERMS:
        a1 = q1 + (scale * s1) ** 2
        for s2, w2 in TERMS:
            w = w1 * w2
            if w < mpf(negligible):
                continue
            a2 = q2 + (scale * s2) ** 2
            product = sqrt(a1 * a2)
            x = c / product
            root = sqrt((product - c) * (product + c)) / product
            if phi in ("tanh", "sigmoid"):
                value += w * asin(x)
                slope += w / (product * root)
            elif phi == "softplus":
                opening = pi / 2 + asin(x)  # pi - arccos x
                value += w * product * (root + opening * x)
                slope += w * opening
            else:
                both = mpf(1) / 4 + asin(x) / (2 * pi)
                density = 1 / (2 * pi * product * root) * s1 * s2
                t1, t2 = q1 / s1**2, q2 / s2**2
                ct = c / (s1 * s2)
                value += w * s1 * s2 * (
                    ct * both + (t1 * t2 - ct**2 + ct**2 / (1 + t1) + ct**2 / (1 + t2)) * density
                )
                determinant = (1 + t1) * (1 + t2) - ct**2
                slope += w * (both + ct * (1 / (1 + t1) + 1 / (1 + t2) + 1 / determinant) * density)
    if phi == "tanh":
        return 2 / pi * value, 2 / pi * slope
    if phi == "sigmoid":
        return mpf(1) / 4 + value / (2 * pi), slope / (2 * pi)
    if phi == "softplus":
        return value / (2 * pi), slope / (2 * pi)
    return value, slope


def check_definition():
    """Checks one dual of each function against its definition."""
    q1, q2, c = mpf(2), mpf(1), mpf(1)
    rho = c / sqrt(q1 * q2)
    ends = [-10, -3, 0, 3, 10]
    with mp.workdps(20):
        for name, phi in FUNCTIONS.items():
            for order in (0, 1):
                f = phi if order == 0 else lambda x, phi=phi: diff(phi, x)

                def integrand(z, f=f):
                    mean, deviation = rho * z, sqrt(1 - rho**2)
                    inner = quad(lambda w: f(sqrt(q2) * (mean + deviation * w)) * exp(-w * w / 2), ends)
                    return f(sqrt(q1) * z) * exp(-z * z / 2) * inner

                found = quad(integrand, ends) / (2 * pi)
                assert abs(found - dual(name, q1, q2, c)[order]) < mpf("1e-15"), (name, order)
            print(f"{name}: the double sum is the integral")


def kernels(phi, depth, w_std, b_std, x1, x2):
    """NNGP and NTK of fc:depth, entries 11, 12, 22."""
    w2, b2 = mpf(w_std) ** 2, mpf(b_std) ** 2
    a, b = [mpf(v) for v in x1], [mpf(v) for v in x2]
    dots = [sum(u * v for u, v in zip(s, t, strict=True)) / len(a) for s, t in ((a, a), (a, b), (b, b))]
    sigma = [w2 * d + b2 for d in dots]
    theta = list(sigma)
    for _ in range(depth):
        q1, c, q2 = sigma
        pairs = [dual(phi, q1, q1, q1), dual(phi, q1, q2, c), dual(phi, q2, q2, q2)]
        sigma = [w2 * value + b2 for value, _ in pairs]
        theta = [s + w2 * t * slope for s, t, (_, slope) in zip(sigma, theta, pairs, strict=True)]
    return sigma, theta


def pair(norm1, norm2, apart, positive):
    """Two inputs with these norms per coordinate and correlation near ±(1 - apart)."""
    angle = 2 * mp.asin(sqrt(mpf(apart) / 2))
    turned = (mp.cos(angle), mp.sin(angle))
    sign = 1 if positive else -1
    root = sqrt(mpf(2))
    return ([float(norm1 * root), 0.0], [float(sign * norm2 * root * v) for v in turned])


NORMS = (
    *((1e-3, 1e-3), (0.3, 1.0), (1.0, 1.0), (1.6, 1.5), (3.0, 2.0)),
    *((10.0, 10.1), (100.0, 30.0), (1e3, 1e3), (1e-3, 1e3)),
)
DEEP = ((3, 1.0, 0.0, 1.0), (3, 1.0, 0.0, 1e3), (10, 1.5, 0.1, 1.0), (30, 1.2, 0.0, 10.0))


def cases():
    for phi in FUNCTIONS:
        for norms in NORMS:
            for apart in (0.0, 1e-16, 1e-12, 1e-8, 1e-6, 1e-4, 0.01, 0.12, 0.3, 0.7, 1.0):
                for positive in (True, False):
                    if not positive and apart not in (0.0, 1e-12, 1e-6, 0.01, 0.3):
                        continue
                    yield phi, 1, 1.0, 0.0, *pair(*norms, apart, positive)
        for depth, w_std, b_std, norm in DEEP:
            for apart in (0.0, 1e-12, 1e-4, 0.3):
                yield phi, depth, w_std, b_std, *pair(norm, 1.1 * norm, apart, True)
            yield phi, depth, w_std, b_std, *pair(norm, norm, 1e-3, False)


def main():
    check_mixture()
    check_definition()
    values = []
    for phi, depth, w_std, b_std, x1, x2 in cases():
        nngp, ntk = kernels(phi, depth, w_std, b_std, x1, x2)
        values.append(
            {
                "network": f"fc:{depth}(activation={phi}, w_std={w_std}, b_std={b_std})",
                "x1": x1,
                "x2": x2,
                "nngp": [float(v) for v in nngp],
                "ntk": [float(v) for v in ntk],
            }
        )
        if len(values) % 50 == 0:
            print(len(values), flush=True)
    with open(sys.argv[1], "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(value) for value in values) + "\n]\n")
    print(f"{len(values)} pairs")


if __name__ == "__main__":
    main()
