"""Kernels of nearly parallel and nearly opposite inputs to 50 digits: writes tests/golden/near_parallel.json.

Evaluates the recursion of covariances by its closed forms with 100 digits: for 1 - rho = 1e-33, two layers lose 40 of
them and more than 50 remain. tanh, sigmoid, swish and softplus are mixtures as in quadrature_values.py, with all terms:
the result is the kernel of a function within 1e-31 of them.

    .venv/bin/python tools/near_parallel_values.py tests/golden/near_parallel.json
"""

from __future__ import annotations

import json
import math
import sys

import quadrature_values
from mpmath import acos, asin, binomial, cosh, erf, exp, fac, fac2, mp, mpf, nstr, pi, quad, sinh, sqrt

mp.dps = 100

PARTS = {
    "leaky_relu": "leaky_relu(slope=0.3)",
    "rbf": "rbf(gamma=0.3)",
    "monomial": "monomial(degree=3)",
    "rectified_monomial": "rectified_monomial(degree=2)",
    "step": "rectified_monomial(degree=0)",
    "hermite": "hermite(degree=2)",
    "polynomial": "polynomial(coef=[0.1,0.5,-0.2,0.05])",
}
CLOSED = (
    *("relu", "leaky_relu", "abs", "erf", "gelu", "sin", "cos", "sign", "exp", "gaussian", "rbf", "monomial"),
    *("rectified_monomial", "step", "hermite", "polynomial", "identity"),
)
MIXTURES = ("tanh", "sigmoid", "swish", "softplus")


def angle(q1, q2, c):
    """arccos of the correlation, clamped because of rounding."""
    return acos(max(mpf(-1), min(mpf(1), c / sqrt(q1 * q2))))


def rectifier(slope, q1, q2, c):
    opening = pi - angle(q1, q2, c)
    half = (1 - slope) ** 2 / (2 * pi)
    root = sqrt(max(mpf(0), q1 * q2 - c * c))
    return slope * c + half * (root + opening * c), slope + half * opening


def gelu(q1, q2, c):
    s1, s2 = 1 + q1, 1 + q2
    d = s1 * s2 - c * c
    both = mpf(1) / 4 + asin(c / sqrt(s1 * s2)) / (2 * pi)
    density = 1 / (2 * pi * sqrt(d))
    value = c * both + (q1 * q2 - c * c + c * c / s1 + c * c / s2) * density
    return value, both + c * (1 / s1 + 1 / s2 + 1 / d) * density


def moment(i, j, q1, q2, c):
    """E[u^i v^j], a sum over the number k of factors c."""
    total = mpf(0)
    for k in range(min(i, j) + 1):
        if (i - k) % 2 == 0 and (j - k) % 2 == 0:
            pairs = binomial(i, k) * binomial(j, k) * fac(k) * fac2(i - k - 1) * fac2(j - k - 1)
            total += pairs * c**k * q1 ** ((i - k) // 2) * q2 ** ((j - k) // 2)
    return total


def polynomial(coef, q1, q2, c):
    def mean(a):
        return sum(u * v * moment(i, j, q1, q2, c) for i, u in enumerate(a) for j, v in enumerate(a))

    coef = [mpf(v) for v in coef]
    return mean(coef), mean([k * v for k, v in enumerate(coef)][1:])


def dual(phi, q1, q2, c):
    """E[phi phi], E[phi' phi']."""
    if phi in MIXTURES:
        return quadrature_values.dual(phi, q1, q2, c, "0")
    d = (1 + 2 * q1) * (1 + 2 * q2) - 4 * c * c
    decay = exp(-(q1 + q2) / 2)
    gamma = mpf(0.3)
    forms = {
        "relu": lambda: rectifier(mpf(0), q1, q2, c),
        "leaky_relu": lambda: rectifier(mpf(0.3), q1, q2, c),
        "abs": lambda: rectifier(mpf(-1), q1, q2, c),
        "erf": lambda: (2 / pi * asin(2 * c / sqrt((1 + 2 * q1) * (1 + 2 * q2))), 4 / (pi * sqrt(d))),
        "gelu": lambda: gelu(q1, q2, c),
        "sin": lambda: (decay * sinh(c), decay * cosh(c)),
        "cos": lambda: (decay * cosh(c), decay * sinh(c)),
        "sign": lambda: (1 - 2 / pi * angle(q1, q2, c), mpf(0)),
        "exp": lambda: (exp((q1 + q2) / 2 + c),) * 2,
        "gaussian": lambda: (1 / sqrt(d), 4 * c / d ** (mpf(3) / 2)),
        "rbf": lambda: (exp(-gamma * (q1 + q2 - 2 * c)), 2 * gamma * exp(-gamma * (q1 + q2 - 2 * c))),
        "monomial": lambda: polynomial([0, 0, 0, 1], q1, q2, c),
        "rectified_monomial": lambda: (rectified_square(q1, q2, c), 4 * rectifier(mpf(0), q1, q2, c)[0]),
        "step": lambda: (1 / mpf(2) - angle(q1, q2, c) / (2 * pi), mpf(0)),
        "hermite": lambda: (c**2, 2 * c),
        "polynomial": lambda: polynomial([0.1, 0.5, -0.2, 0.05], q1, q2, c),
        "identity": lambda: (c, mpf(1)),
    }
    return forms[phi]()


def rectified_square(q1, q2, c):
    """E[relu(u)^2 relu(v)^2] by Cho and Saul's J_2 = 3 sin cos + (pi - angle)(1 + 2 cos^2)."""
    root = sqrt(max(mpf(0), q1 * q2 - c * c))
    return (3 * root * c + (pi - angle(q1, q2, c)) * (q1 * q2 + 2 * c * c)) / (2 * pi)


class State:
    """Covariances and tangents of the pairs 11, 12, 22."""

    def __init__(self, sigma, theta):
        self.sigma, self.theta = sigma, theta

    def dense(self, b_std=0.0):
        sigma = [s + mpf(b_std) ** 2 for s in self.sigma]
        return State(sigma, [s + t for s, t in zip(sigma, self.theta, strict=True)])

    def activation(self, phi):
        q1, c, q2 = self.sigma
        pairs = [dual(phi, q1, q1, q1), dual(phi, q1, q2, c), dual(phi, q2, q2, q2)]
        return State([v for v, _ in pairs], [t * s for t, (_, s) in zip(self.theta, pairs, strict=True)])

    def plus(self, other):
        return State(
            [a + b for a, b in zip(self.sigma, other.sigma, strict=True)],
            [a + b for a, b in zip(self.theta, other.theta, strict=True)],
        )

    def scale(self, by):
        return State([mpf(by) ** 2 * s for s in self.sigma], [mpf(by) ** 2 * t for t in self.theta])

    def layer_norm(self):
        q1, _, q2 = self.sigma
        scale = (q1, sqrt(q1 * q2), q2)
        return State(
            [s / r for s, r in zip(self.sigma, scale, strict=True)],
            [t / r for t, r in zip(self.theta, scale, strict=True)],
        )

    def dropout(self, rate):
        keep = (mpf(rate), 1, mpf(rate))
        return State(
            [s / r for s, r in zip(self.sigma, keep, strict=True)],
            [t / r for t, r in zip(self.theta, keep, strict=True)],
        )


def networks(phi):
    """Yields text and recursion of the networks of an activation."""
    name = PARTS.get(phi, phi)
    yield f"dense {name} dense", lambda s: s.dense().activation(phi).dense()
    yield (
        f"dense(b_std=0.3) {name} dense(b_std=0.5) {name} dense",
        lambda s: s.dense(0.3).activation(phi).dense(0.5).activation(phi).dense(),
    )
    yield (  # the output depends on the fourth root of 1 - rho after phi
        f"dense(b_std=0.3) {name} dense sign dense sign dense",
        lambda s: s.dense(0.3).activation(phi).dense().activation("sign").dense().activation("sign").dense(),
    )

    def residual(s):
        s = s.dense()
        return s.activation(phi).dense(0.2).plus(s).activation("relu").dense().activation("sign").dense()

    yield f"dense residual{{ {name} dense(b_std=0.2) }} relu dense sign dense", residual


def steps():
    """Yields networks that test the steps between activations."""
    yield (
        "dense sign dense sign dense",
        lambda s: s.dense().activation("sign").dense().activation("sign").dense(),
    )
    yield (
        "dense(b_std=0.3) relu dense layer_norm erf scale(by=0.5) dense sign dense sign dense",
        lambda s: s.dense(0.3).activation("relu").dense().layer_norm().activation("erf").scale(0.5).dense()
        .activation("sign").dense().activation("sign").dense(),
    )  # fmt: skip
    yield (
        "dense(b_std=0.3) relu dropout(rate=0.75) dense sign dense relu dense",
        lambda s: s.dense(0.3).activation("relu").dropout(0.75).dense().activation("sign").dense()
        .activation("relu").dense(),
    )  # fmt: skip


class ImageState:
    """Covariances and tangents of all pairs of positions for the image pairs 11, 12, 22, as {(p, q): value}."""

    def __init__(self, sigma, theta):
        self.sigma, self.theta = sigma, theta

    @staticmethod
    def start(x1, x2):
        def covariances(a, b):
            return {(p, q): (a[2 * p] * b[2 * q] + a[2 * p + 1] * b[2 * q + 1]) / 2 for p in CELLS for q in CELLS}

        a, b = [mpf(v) for v in x1], [mpf(v) for v in x2]
        sigma = [covariances(a, a), covariances(a, b), covariances(b, b)]
        return ImageState(sigma, [dict.fromkeys(s, mpf(0)) for s in sigma])

    def conv(self, b_std=0.0):
        """3 x 3 with zero padding."""

        def moved(p, row, col):
            row, col = row + p // GRID[1], col + p % GRID[1]
            return row * GRID[1] + col if 0 <= row < GRID[0] and 0 <= col < GRID[1] else None

        def mean(values):
            shifts = [(row, col) for row in (-1, 0, 1) for col in (-1, 0, 1)]
            return {(p, q): sum(values.get((moved(p, *s), moved(q, *s)), 0) for s in shifts) / 9 for p, q in values}

        sigma = [{k: v + mpf(b_std) ** 2 for k, v in mean(s).items()} for s in self.sigma]
        theta = [mean(t) for t in self.theta]
        return ImageState(sigma, [{k: s[k] + t[k] for k in s} for s, t in zip(sigma, theta, strict=True)])

    def activation(self, phi):
        of_11, _, of_22 = self.sigma
        sides = ((of_11, of_11), (of_11, of_22), (of_22, of_22))
        sigma, theta = [], []
        for (one, two), s, t in zip(sides, self.sigma, self.theta, strict=True):
            found = {(p, q): dual(phi, one[p, p], two[q, q], s[p, q]) for p, q in s}
            sigma.append({k: v for k, (v, _) in found.items()})
            theta.append({k: t[k] * slope for k, (_, slope) in found.items()})
        return ImageState(sigma, theta)

    def flatten(self):
        def mean(values):
            return sum(values[p, p] for p in CELLS) / len(CELLS)

        return State([mean(s) for s in self.sigma], [mean(t) for t in self.theta])

    def pool(self):
        def mean(values):
            return sum(values.values()) / len(values)

        return State([mean(s) for s in self.sigma], [mean(t) for t in self.theta])


GRID = (3, 2)
CELLS = range(6)


def image_networks():
    yield "conv relu flatten dense", lambda s: s.conv().activation("relu").flatten().dense()
    for phi in ("relu", "erf", "gaussian"):
        yield (
            f"conv(b_std=0.3) {phi} conv {phi} flatten dense sign dense sign dense",
            lambda s, phi=phi: s.conv(0.3).activation(phi).conv().activation(phi).flatten().dense()
            .activation("sign").dense().activation("sign").dense(),
        )  # fmt: skip
    yield (
        "conv(b_std=0.3) relu conv gelu global_avg_pool dense",
        lambda s: s.conv(0.3).activation("relu").conv().activation("gelu").pool().dense(),
    )
    yield (
        "conv(b_std=0.3) erf global_avg_pool dense sign dense",
        lambda s: s.conv(0.3).activation("erf").pool().dense().activation("sign").dense(),
    )


def image_pairs():
    """Images of 3 x 2 positions and 2 channels, equal or opposite except for one ulp, 1e-10 or 1e-4 at one position."""
    x = [0.5 + 0.37 * ((7 * k) % 12) * (-1) ** k for k in range(12)]
    near = [[math.nextafter(v, 9) if k == 5 else v for k, v in enumerate(x)]]
    near += [[v * (1 + d) if k == 4 else v for k, v in enumerate(x)] for d in (1e-10, 1e-4)]
    for y in near:
        yield x, y
        yield x, [-v for v in y]


def pairs():
    """Inputs that are equal or opposite except for one ulp, 1e-12, 1e-10, 1e-8 or 4e-4; and a rounded multiple."""
    x = [0.625, -1.1, 0.83]
    near = [[x[0], math.nextafter(x[1], 2), x[2]]]
    near += [[x[0] * (1 + d), x[1], x[2] * (1 - 0.3 * d)] for d in (1e-12, 1e-10, 1e-8, 4e-4)]
    near.append([2.5 * v / 1.7 for v in x])
    for y in near:
        yield x, y
    for y in near[:3] + near[5:]:
        yield x, [-v for v in y]


SIZED = ("erf", "gelu", "sin", "cos", "gaussian", "tanh", "sigmoid", "softplus")


def sized_networks():
    """The first and the third network for functions that saturate for large inputs and hardly vary for small ones."""
    for phi in SIZED:
        one, _, three, _ = networks(phi)
        yield from (one, three)


def sized_pairs():
    for size in (0.01, 30.0):
        for x, y in list(pairs())[:3:2] + list(pairs())[7:8]:
            yield [size * v for v in x], [size * v for v in y]


def start(x1, x2):
    a, b = [mpf(v) for v in x1], [mpf(v) for v in x2]
    dots = [sum(u * v for u, v in zip(s, t, strict=True)) / len(a) for s, t in ((a, a), (a, b), (b, b))]
    return State(dots, [mpf(0)] * 3)


def check_definition():
    """Checks one dual of each kind of closed form against its integral."""
    functions = {
        "erf": erf,
        "gelu": lambda x: x * (1 + erf(x / sqrt(mpf(2)))) / 2,
        "cos": mp.cos,
        "polynomial": lambda x: mpf(0.1) + mpf(0.5) * x - mpf(0.2) * x**2 + mpf(0.05) * x**3,
        "gaussian": lambda x: exp(-x * x),
    }
    q1, q2, c = mpf(1.5), mpf(0.75), mpf(0.6)
    with mp.workdps(20):
        rho = c / sqrt(q1 * q2)
        for name, f in functions.items():

            def integrand(z, f=f):
                inner = quad(lambda w: f(sqrt(q2) * (rho * z + sqrt(1 - rho**2) * w)) * exp(-w * w / 2), [-9, 0, 9])
                return f(sqrt(q1) * z) * exp(-z * z / 2) * inner

            found = quad(integrand, [-9, 0, 9]) / (2 * pi)
            assert abs(found - dual(name, q1, q2, c)[0]) < mpf("1e-12"), (name, nstr(found, 15))


def table(recursions, inputs, begin):
    """Returns the kernels of every network on every pair as the text of a JSON object."""
    lines = []
    for text, recursion in recursions:
        rows = []
        for x1, x2 in inputs:
            state = recursion(begin(x1, x2))
            rows.append([float(v) for v in (*state.sigma, *state.theta)])
        lines.append(f" {json.dumps(text)}: {json.dumps(rows)}")
        print(text, flush=True)
    return f'{{"pairs": {json.dumps(inputs)},\n"kernels": {{\n' + ",\n".join(lines) + "\n}}"


def main():
    check_definition()
    images = table(image_networks(), list(image_pairs()), ImageState.start)
    recursions = [case for phi in (*CLOSED, *MIXTURES) for case in networks(phi)] + list(steps())
    vectors = table(recursions, list(pairs()), start)
    sizes = table(sized_networks(), list(sized_pairs()), start)
    with open(sys.argv[1], "w") as file:
        file.write(f'{{"vectors": {vectors},\n"sizes": {sizes},\n"images": {images}}}\n')


if __name__ == "__main__":
    main()
