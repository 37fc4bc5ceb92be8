"""Kernel machines in exact arithmetic: objectives and optima of small problems, by rationals or in 60 digits.

The optimum of a box problem solves a linear complementarity problem, which Lemke's method solves in finitely many
exact pivots (Cottle, Pang and Stone 1992, §4.4); logistic machines are solved by Newton's method in mpmath,
with a duality gap as proof.
"""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import numpy as np

DIGITS = 60


def rational(array) -> list:
    """Converts to Fractions, in nested lists of the same shape."""
    array = np.asarray(array, dtype=np.float64)
    return [rational(row) for row in array] if array.ndim > 1 else [Fraction(float(x)) for x in array]


def gram_of(k) -> list:
    """Returns the symmetric part of a Gram matrix whose triangles may be rounded differently."""
    rows = rational(k)
    return [[(rows[i][j] + rows[j][i]) / 2 for j in range(len(rows))] for i in range(len(rows))]


def times(k: list, v: list) -> list:
    return [sum((a * b for a, b in zip(row, v, strict=True) if a and b), Fraction(0)) for row in k]


def dot(u: list, v: list) -> Fraction:
    return sum((a * b for a, b in zip(u, v, strict=True) if a and b), Fraction(0))


def is_semidefinite(k: list) -> bool:
    """Tests by elimination: every pivot is positive, or 0 with a zero row."""
    rows = [list(row) for row in k]
    n = len(rows)
    for i in range(n):
        pivot = rows[i][i]
        if pivot < 0 or (pivot == 0 and any(rows[i][j] for j in range(i + 1, n))):
            return False
        for j in range(i + 1, n):
            if pivot and rows[j][i]:
                factor = rows[j][i] / pivot
                rows[j] = [a - factor * b for a, b in zip(rows[j], rows[i], strict=True)]
    return True


def solve(matrix: list, right: list) -> list | None:
    """Solves a square system; returns None if it is singular."""
    n = len(matrix)
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for i in range(n):
        pivot = next((j for j in range(i, n) if rows[j][i]), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        own = rows[i][i]
        rows[i] = [a / own for a in rows[i]]
        for j in range(n):
            if j != i and rows[j][i]:
                factor = rows[j][i]
                rows[j] = [a - factor * b for a, b in zip(rows[j], rows[i], strict=True)]
    return [row[n] for row in rows]


def complementary(m: list, q: list) -> list | None:
    """Finds z ≥ 0 with w = Mz + q ≥ 0 and zᵀw = 0, M positive semi-definite; None if there is none."""
    n = len(q)
    if all(x >= 0 for x in q):
        return [Fraction(0)] * n
    # Rows: w − Mz − z₀ = q, columns w, z, z₀, right-hand side; the identity columns serve for tie-breaking.
    rows = [
        [Fraction(int(i == j)) for j in range(n)] + [-x for x in m[i]] + [Fraction(-1), q[i]] for i in range(n)
    ]
    basis = list(range(n))
    extra = 2 * n

    def pivot(row: int, column: int) -> None:
        own = rows[row][column]
        rows[row] = [x / own for x in rows[row]]
        for i in range(n):
            if i != row and rows[i][column]:
                factor = rows[i][column]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[row], strict=True)]
        basis[row] = column

    leaving = min(range(n), key=lambda i: (q[i], i))
    entering = basis[leaving] + n
    pivot(leaving, extra)
    while True:
        candidates = [i for i in range(n) if rows[i][entering] > 0]
        if not candidates:
            return None

        def ratio(i: int, column: int = entering) -> tuple:
            own = rows[i][column]
            return (rows[i][-1] / own, *(x / own for x in rows[i][:n]))

        best = min(ratio(i)[0] for i in candidates)
        ties = [i for i in candidates if rows[i][-1] / rows[i][entering] == best]
        leaving = next((i for i in ties if basis[i] == extra), None)
        if leaving is None:
            leaving = min(ties, key=ratio)
        left = basis[leaving]
        pivot(leaving, entering)
        if left == extra:
            break
        entering = left + n if left < n else left - n
    z = [Fraction(0)] * n
    for i, column in enumerate(basis):
        if n <= column < 2 * n:
            z[column - n] = rows[i][-1]
    return z


def least_box(q: list, p: list, upper: list, signs: list | None) -> tuple | None:
    """Minimises ½aᵀQa + pᵀa subject to 0 ≤ aᵢ ≤ upperᵢ (None for unbounded) and Σ signsᵢaᵢ = 0.

    Returns (value, a), or None if the minimum does not exist.
    """
    n = len(p)
    bounded = [i for i in range(n) if upper[i] is not None]
    size = n + len(bounded) + (2 if signs else 0)
    m = [[Fraction(0)] * size for _ in range(size)]
    right = list(p) + [upper[i] for i in bounded] + [Fraction(0)] * (2 if signs else 0)
    for i in range(n):
        m[i][:n] = q[i]
    for place, i in enumerate(bounded):
        m[i][n + place] = Fraction(1)
        m[n + place][i] = Fraction(-1)
    if signs:
        for i in range(n):
            m[i][-2], m[i][-1] = signs[i], -signs[i]
            m[-2][i], m[-1][i] = -signs[i], signs[i]
    z = complementary(m, right)
    if z is None:
        return None
    a = z[:n]
    return dot(a, times(q, a)) / 2 + dot(p, a), a


def hinge_value(k: list, y: list, alpha: list, b: Fraction, lam: Fraction, w: list, square: bool) -> Fraction:
    g = times(k, alpha)
    slack = [max(Fraction(0), 1 - s * (v + b)) for s, v in zip(y, g, strict=True)]
    losses = [x * x for x in slack] if square else slack
    return lam / 2 * dot(alpha, g) + dot(w, losses)


def tube_value(k: list, y: list, alpha: list, b: Fraction, lam: Fraction, w: list, eps: Fraction) -> Fraction:
    g = times(k, alpha)
    losses = [max(Fraction(0), abs(t - v - b) - eps) for t, v in zip(y, g, strict=True)]
    return lam / 2 * dot(alpha, g) + dot(w, losses)


def square_value(k: list, y: list, alpha: list, b: Fraction, lam: Fraction, w: list) -> Fraction:
    g = times(k, alpha)
    return lam / 2 * dot(alpha, g) + sum(x * (t - v - b) ** 2 for x, t, v in zip(w, y, g, strict=True))


def signed(k: list, y: list) -> list:
    return [[a * s * t for a, t in zip(row, y, strict=True)] for row, s in zip(k, y, strict=True)]


def least_hinge(k: list, y: list, lam: Fraction, w: list, bias: bool, square: bool) -> Fraction:
    """Returns the minimum of svm, or of svm2 if `square`, as −λ times the minimum of its dual."""
    q = signed(k, y)
    kept = [i for i in range(len(y)) if w[i] > 0]
    q = [[q[i][j] for j in kept] for i in kept]
    if square:
        for place, i in enumerate(kept):
            q[place][place] += lam / (2 * w[i])
    upper = [None if square else w[i] / lam for i in kept]
    value, _ = least_box(q, [Fraction(-1)] * len(kept), upper, [y[i] for i in kept] if bias else None)
    return -lam * value


def least_norm(k: list, y: list, w: list, bias: bool) -> Fraction | None:
    """Returns half the squared norm of the hard margin; None if the samples are not separable."""
    kept = [i for i in range(len(y)) if w[i] > 0]
    q = signed(k, y)
    q = [[q[i][j] for j in kept] for i in kept]
    found = least_box(q, [Fraction(-1)] * len(kept), [None] * len(kept), [y[i] for i in kept] if bias else None)
    return None if found is None else -found[0]


def least_tube(k: list, y: list, lam: Fraction, w: list, eps: Fraction, bias: bool) -> Fraction:
    n = len(y)
    q = [[k[i % n][j % n] * (1 if (i < n) == (j < n) else -1) for j in range(2 * n)] for i in range(2 * n)]
    p = [eps - t for t in y] + [eps + t for t in y]
    signs = [Fraction(1)] * n + [Fraction(-1)] * n
    value, _ = least_box(q, p, [w[i % n] / lam for i in range(2 * n)], signs if bias else None)
    return -lam * value


def least_square(k: list, y: list, lam: Fraction, w: list, bias: bool) -> Fraction:
    kept = [i for i in range(len(y)) if w[i] > 0]
    n = len(kept)
    a = [[k[i][j] + (lam / (2 * w[i]) if i == j else 0) for j in kept] for i in kept]
    right = [y[i] for i in kept]
    if bias:
        a = [[*row, Fraction(1)] for row in a] + [[Fraction(1)] * n + [Fraction(0)]]
        right = [*right, Fraction(0)]
    x = solve(a, right)
    alpha = [Fraction(0)] * len(y)
    for place, i in enumerate(kept):
        alpha[i] = x[place]
    return square_value(k, y, alpha, x[n] if bias else Fraction(0), lam, w)


def high(fraction: Fraction) -> mp.mpf:
    """Converts to the precision of mpmath's context."""
    return mp.mpf(fraction.numerator) / mp.mpf(fraction.denominator)


def softmax_value(k: list, y: np.ndarray, alpha: list, b: list, lam: Fraction, w: list) -> mp.mpf:
    """Objective for alpha, samples × classes as Fractions; a single output g means two classes with outputs (0, g)."""
    with mp.workdps(DIGITS):
        columns = [[row[c] for row in alpha] for c in range(len(b))]
        products = [times(k, column) for column in columns]
        value = high(lam / 2 * sum((dot(c, g) for c, g in zip(columns, products, strict=True)), Fraction(0)))
        for i, label in enumerate(y):
            h = [high(products[c][i] + b[c]) for c in range(len(b))]
            h = [mp.mpf(0), *h] if len(b) == 1 else h
            top = max(h)
            value += high(w[i]) * (top + mp.log(sum(mp.exp(x - top) for x in h)) - h[label])
        return value


class _Softmax:
    """λ/2 Σ_c α_cᵀKα_c + Σ wᵢ[log Σ_c e^{g_ic} − g_{i,yᵢ}] in the multipliers m = λα, with its derivatives."""

    def __init__(self, k: list, y: np.ndarray, classes: int, lam: Fraction, w: list, bias: bool):
        self.n, self.classes, self.bias, self.y = len(y), classes, bias, y
        self.gram = mp.matrix([[high(x / lam) for x in row] for row in k])
        self.w = [high(x) for x in w]

    def look(self, m: list, b: list) -> tuple:
        """Returns the objective, the probabilities and r = w(1{y} − π)."""
        h = [self.gram * column for column in m]
        value = sum((column.T * g)[0] for column, g in zip(m, h, strict=True)) / 2
        pi, r = [], []
        for i in range(self.n):
            g = [h[c][i] + b[c] for c in range(self.classes)]
            top = max(g)
            e = [mp.exp(x - top) for x in g]
            total = sum(e)
            pi.append([x / total for x in e])
            value += self.w[i] * (top + mp.log(total) - g[self.y[i]])
            r.append([self.w[i] * ((c == self.y[i]) - pi[i][c]) for c in range(self.classes)])
        return value, pi, r

    def step(self, m: list, pi: list, r: list) -> mp.matrix:
        """Newton step: Δm + W(K/λ Δm + Δb) = r − m; with a bias Σᵢ(m + Δm) = 0 and Σ_c Δb_c = 0."""
        n, k = self.n, self.classes
        size = n * k + (k if self.bias else 0)
        a, right = mp.matrix(size, size), mp.matrix(size, 1)
        for c in range(k):
            for i in range(n):
                right[c * n + i] = r[i][c] - m[c][i]
                a[c * n + i, c * n + i] = 1
                for d in range(k):
                    curve = self.w[i] * pi[i][c] * ((c == d) - pi[i][d])
                    for j in range(n):
                        a[c * n + i, d * n + j] += curve * self.gram[i, j]
                    if self.bias:
                        a[c * n + i, n * k + d] = curve
            if self.bias:
                for i in range(n):
                    a[n * k + c, c * n + i] = 1
                right[n * k + c] = -sum(m[c])
                for d in range(k):
                    a[n * k + c, n * k + d] = 1
        return mp.lu_solve(a, right)

    def dual(self, pi: list, r: list) -> mp.mpf:
        """Dual lower bound at the probabilities, which are made feasible (Σᵢ r_ic = 0) if there is a bias."""
        n, k = self.n, self.classes
        if self.bias:
            excess = [sum(r[i][c] for i in range(n)) for c in range(k)]
            weight = [sum(self.w[i] for i in range(n) if self.y[i] == c) for c in range(k)]
            theta = max([mp.mpf(0), *(-excess[c] / (weight[c] - excess[c]) for c in range(k))])
            add = [(excess[c] + theta * (weight[c] - excess[c])) / sum(weight) for c in range(k)]
            pi = [[(1 - theta) * row[c] + max(add[c], 0) for c in range(k)] for row in pi]
            r = [[self.w[i] * ((c == self.y[i]) - pi[i][c]) for c in range(k)] for i in range(n)]
        value = mp.mpf(0)
        for i in range(n):
            value -= self.w[i] * sum(p * mp.log(p) for p in pi[i] if p > 0)
        for c in range(k):
            column = mp.matrix([r[i][c] for i in range(n)])
            value -= (column.T * self.gram * column)[0] / 2
        return value


def least_softmax(k: list, y: np.ndarray, classes: int, lam: Fraction, w: list, bias: bool) -> mp.mpf | None:
    """Returns a lower bound of the minimum, accurate to 20 digits; None if Newton's method does not converge.

    Softmax with two classes at λ is equivalent to logistic regression at λ/2.
    """
    with mp.workdps(DIGITS):
        machine = _Softmax(k, y, classes, lam, w, bias)
        m = [mp.matrix(len(y), 1) for _ in range(classes)]
        b = [mp.mpf(0)] * classes
        value, pi, r = machine.look(m, b)
        for _ in range(200):
            try:
                step = machine.step(m, pi, r)
            except ZeroDivisionError:
                return None
            n, length = len(y), mp.mpf(1)
            while length > mp.mpf(2) ** -60:
                to = [m[c] + length * step[c * n : (c + 1) * n, 0] for c in range(classes)]
                b_to = [b[c] + (length * step[n * classes + c] if bias else 0) for c in range(classes)]
                lower, pi_to, r_to = machine.look(to, b_to)
                if lower < value:
                    break
                length /= 2
            else:
                break
            m, b, pi, r, change, value = to, b_to, pi_to, r_to, value - lower, lower
            if change < value * mp.mpf(10) ** -40:
                break
        dual = machine.dual(pi, r)
        return dual if value - dual <= value * mp.mpf(10) ** -20 else None
