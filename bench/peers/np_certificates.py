"""NumPy as a peer: the published certificates of EQ Theorem 4.2, by binary search over the radius.

For x in the ℓ∞ ball of radius δ around a test point, with p = ⟨x,xᵢ⟩, N = ‖x‖, M = ‖xᵢ‖ and u = p/(NM),

    Θ = N·M·h(u)/(2πd),  h(u) = 2u(π − arccos u) + √(1 − u²),  p within √d·δ·M,  N within √d·δ,

so that g ≥ Σ α⁺ᵢ Θᴸᵢ − Σ α⁻ᵢ Θᵁᵢ. Arrays run over the training points; depending on the sign of its coefficient, each
needs only one of the two bounds.

A REQUEST is the number of test points, taken from the beginning of the file; the result is the radius of each.
"""

import argparse

import numpy as np
from peer_protocol import serve

LOWEST_PLACE = -0.794098
LOWEST = -0.4297378


def h(u):
    return 2 * u * (np.pi - np.arccos(u)) + np.sqrt(1 - u * u)


class Half:
    """Training points whose coefficients have one sign."""

    def __init__(self, train, alpha):
        self.train = train
        self.norms = np.linalg.norm(train, axis=1)
        self.weights = np.abs(alpha) * self.norms / (2 * np.pi * train.shape[1])

    def angles(self, p, low, high, change):
        """Returns the bounds of u; `p` is p/M."""
        p_low, p_high = p - change, p + change
        with np.errstate(divide="ignore", invalid="ignore"):
            u_low = p_low / np.where(p_low > 0, high, low)
            u_high = p_high / np.where(p_high > 0, low, high)
        return np.clip(u_low, -1, 1), np.clip(u_high, -1, 1)

    def least(self, p, low, high, change):
        u_low, u_high = self.angles(p, low, high, change)
        value = np.where(u_high < LOWEST_PLACE, u_high, u_low)
        value = np.where((u_low <= LOWEST_PLACE) & (u_high >= LOWEST_PLACE), LOWEST, h(value))
        return self.weights @ np.where(value > 0, low * value, high * value)

    def most(self, p, low, high, change):
        u_low, u_high = self.angles(p, low, high, change)
        value = h(u_high)
        if (u_low < 0).any():
            value = np.maximum(value, h(u_low))
        return self.weights @ np.where(value > 0, high * value, low * value)


def radius(x, plus, minus, tolerance):
    """Returns the radius of a point whose g must stay positive; 0 if it is not positive."""
    norm = np.linalg.norm(x)
    p_plus, p_minus = plus.train @ x / plus.norms, minus.train @ x / minus.norms

    def holds(delta):
        change = np.sqrt(len(x)) * delta
        low, high = max(norm - change, 0.0), norm + change
        return plus.least(p_plus, low, high, change) > minus.most(p_minus, low, high, change)

    if not holds(0.0):
        return 0.0
    lower, upper = 0.0, 1.0
    while upper - lower > tolerance * upper and upper > 1e-12:
        middle = (lower + upper) / 2
        if holds(middle):
            lower = middle
        else:
            upper = middle
    return lower


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("train", "test", "alpha", "signs"):
        parser.add_argument(f"--{name}", required=True, help="raw little-endian float64, row by row")
    parser.add_argument("--cols", type=int, required=True)
    parser.add_argument("--tolerance", type=float, required=True, help="relative tolerance of a radius")
    arguments = parser.parse_args()
    train = np.fromfile(arguments.train, dtype="<f8").reshape(-1, arguments.cols)
    test = np.fromfile(arguments.test, dtype="<f8").reshape(-1, arguments.cols)
    alpha = np.fromfile(arguments.alpha, dtype="<f8")
    signs = np.fromfile(arguments.signs, dtype="<f8")
    halves = [Half(train[alpha > 0], alpha[alpha > 0]), Half(train[alpha < 0], alpha[alpha < 0])]

    def evaluate(count):
        return np.array(
            [
                radius(x, *(halves if sign > 0 else halves[::-1]), arguments.tolerance)
                for x, sign in zip(test[: int(count)], signs, strict=False)
            ]
        )

    serve(evaluate)


if __name__ == "__main__":
    main()
