"""Random finite networks on vectors in NumPy, implemented from the formulas: NNGP and tangent kernels.

Only the network's JSON list comes from the program. A layer returns its values and a function that maps a gradient at
its output back to its input; weights add their contribution to the tangent kernel in the backward pass.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import erf, expit, ndtr

Array = np.ndarray


def _hermite(degree: int, x: Array) -> Array:
    previous, current = np.zeros_like(x), np.ones_like(x)
    for n in range(degree):
        previous, current = current, (x * current - np.sqrt(n) * previous) / np.sqrt(n + 1)
    return current


def _density(x: Array) -> Array:
    return np.exp(-x * x / 2) / np.sqrt(2 * np.pi)


def activation(name: str, arguments: dict) -> tuple[Callable[[Array], Array], Callable[[Array], Array]]:
    """Returns φ and φ'."""
    slope = arguments.get("slope", 0.01)
    gamma = arguments.get("gamma", 1.0)
    degree = arguments.get("degree", 2)
    coef = arguments.get("coef", [])
    root = np.sqrt(2 * gamma)
    polynomial = np.polynomial.Polynomial(coef or [0.0])
    table: dict[str, tuple[Callable[[Array], Array], Callable[[Array], Array]]] = {
        "relu": (lambda x: np.maximum(x, 0), lambda x: (x > 0) * 1.0),
        "leaky_relu": (lambda x: np.where(x > 0, x, slope * x), lambda x: np.where(x > 0, 1.0, slope)),
        "abs": (np.abs, np.sign),
        "erf": (erf, lambda x: 2 / np.sqrt(np.pi) * np.exp(-x * x)),
        "gelu": (lambda x: x * ndtr(x), lambda x: ndtr(x) + x * _density(x)),
        "sin": (np.sin, np.cos),
        "cos": (np.cos, lambda x: -np.sin(x)),
        "sign": (np.sign, np.zeros_like),
        "exp": (np.exp, np.exp),
        "gaussian": (lambda x: np.exp(-x * x), lambda x: -2 * x * np.exp(-x * x)),
        "rbf": (
            lambda x: np.sqrt(2) * np.sin(root * x + np.pi / 4),
            lambda x: np.sqrt(2) * root * np.cos(root * x + np.pi / 4),
        ),
        "monomial": (lambda x: x**degree, lambda x: degree * x ** max(degree - 1, 0) * (degree > 0)),
        "rectified_monomial": (
            lambda x: x**degree * (x >= 0),
            lambda x: degree * x ** max(degree - 1, 0) * (x >= 0) * (degree > 0),
        ),
        "hermite": (
            lambda x: _hermite(degree, x),
            lambda x: np.sqrt(degree) * _hermite(max(degree - 1, 0), x) * (degree > 0),
        ),
        "polynomial": (polynomial, polynomial.deriv()),
        "identity": (lambda x: x, np.ones_like),
        "tanh": (np.tanh, lambda x: 1 / np.cosh(np.clip(x, -300, 300)) ** 2),
        "sigmoid": (expit, lambda x: expit(x) * expit(-x)),
        "swish": (lambda x: x * expit(x), lambda x: expit(x) + x * expit(x) * expit(-x)),
        "softplus": (lambda x: np.logaddexp(0, x), expit),
    }
    return table[name]


def _chooses(layers: list) -> bool:
    """Returns whether the output width of a chain is defined inside it."""
    return any(name == "dense" or (name == "residual" and _chooses_sum(rest)) for name, *rest in layers)


def _chooses_sum(rest: list) -> bool:
    arguments = rest[0]
    return _chooses(arguments["branch"]) and _chooses(arguments.get("shortcut") or [])


class FiniteNetwork:
    """A random network of given width on a few samples; the last layer must be dense."""

    def __init__(self, layers: list, width: int, rng: np.random.Generator):
        self.width = width
        self.rng = rng
        self.layers = layers

    def kernels(self, x: Array) -> tuple[Array, Array]:
        """Returns the NNGP kernel, averaged over the readout, and the tangent kernel of one output, n × n each."""
        self.ntk = np.zeros((len(x), len(x)))
        self.nngp = np.zeros_like(self.ntk)
        _, back = self._chain(self.layers, x, 1, last=True)
        back(np.ones((len(x), 1)))
        return self.nngp, self.ntk

    def _chain(self, layers: list, a: Array, out: int, last: bool = False):
        backs = []
        decider = max((k for k, layer in enumerate(layers) if _chooses([layer])), default=-1)
        for k, (name, *rest) in enumerate(layers):
            arguments = rest[0] if rest else {}
            width = out if k == decider else self.width
            a, back = self._layer(name, arguments, a, width, last and k == len(layers) - 1)
            backs.append(back)

        def through(signal: Array) -> Array:
            for back in reversed(backs):
                signal = back(signal)
            return signal

        return a, through

    def _layer(self, name: str, arguments: dict, a: Array, width: int, readout: bool):
        if name == "dense":
            return self._dense(arguments, a, width, readout)
        if name == "scale":
            by = arguments.get("by", 1.0)
            return by * a, lambda signal: by * signal
        if name == "dropout":
            rate = arguments.get("rate", 0.5)
            mask = (self.rng.uniform(size=a.shape) < rate) / rate
            return a * mask, lambda signal: signal * mask
        if name == "layer_norm":
            return self._layer_norm(a)
        if name == "residual":
            return self._residual(arguments, a, width)
        phi, slope = activation(name, arguments)
        derivative = slope(a)
        return phi(a), lambda signal: signal * derivative

    def _dense(self, arguments: dict, a: Array, width: int, readout: bool):
        scale = arguments.get("w_std", 1.0) / np.sqrt(a.shape[1])
        bias = arguments.get("b_std", 0.0)
        weights = self.rng.normal(size=(a.shape[1], width))
        z = scale * a @ weights + bias * self.rng.normal(size=width)
        covariance = scale**2 * a @ a.T + bias**2
        if readout:
            self.nngp = covariance

        def back(signal: Array) -> Array:
            self.ntk += (signal @ signal.T) * covariance
            return scale * signal @ weights.T

        return z, back

    def _layer_norm(self, a: Array):
        centred = a - a.mean(axis=1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(axis=1, keepdims=True))
        y = centred / deviation

        def back(signal: Array) -> Array:
            along = (signal * y).mean(axis=1, keepdims=True)
            return (signal - signal.mean(axis=1, keepdims=True) - y * along) / deviation

        return y, back

    def _residual(self, arguments: dict, a: Array, width: int):
        branch, shortcut = arguments["branch"], arguments.get("shortcut") or []
        free = _chooses(branch) and _chooses(shortcut)
        common = width if free else a.shape[1]
        first, back_first = self._chain(branch, a, common)
        second, back_second = self._chain(shortcut, a, common)
        return first + second, lambda signal: back_first(signal) + back_second(signal)


def sample_kernels(layers: list, x: Array, width: int, draws: int, rng: np.random.Generator):
    """Returns means over `draws` networks and their standard errors: (nngp, error), (ntk, error)."""
    found = np.array([FiniteNetwork(layers, width, rng).kernels(x) for _ in range(draws)])
    means = found.mean(axis=0)
    errors = found.std(axis=0, ddof=1) / np.sqrt(draws)
    return (means[0], errors[0]), (means[1], errors[1])
