"""Random networks: available limit kernels agree with sampled finite networks, all others are rejected."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from campaign import Attack, require
from finite_numpy import sample_kernels

import widelimit as wl

PLAIN = (
    *("relu", "relu", "relu", "leaky_relu(slope=0.3)", "leaky_relu(slope=-0.5)", "abs", "erf", "gelu", "sin", "cos"),
    *("sign", "gaussian", "rbf(gamma=0.4)", "rectified_monomial(degree=0)", "rectified_monomial(degree=1)"),
    *("identity", "tanh", "sigmoid", "swish", "softplus", "polynomial(coef=[0.1, 0.6, 0.1])"),
)
# Fast-growing activations follow layers with small weights, so that means over random networks converge.
STEEP = (
    *("dense(w_std=0.4) exp", "dense(w_std=0.5) monomial(degree=2)", "dense(w_std=0.5) monomial(degree=3)"),
    *("dense(w_std=0.5) rectified_monomial(degree=2)", "dense layer_norm hermite(degree=2)"),
)


class Drawn:
    """Draws series-parallel networks over all layers and activations; about half have a limit formula."""

    def __init__(self, rng: np.random.Generator, image: bool):
        self.rng = rng
        self.positions = image
        parts = [self.begin(), *(self.block(2) for _ in range(rng.integers(1, 5)))]
        if image:
            parts.append(self.pick("flatten", "global_avg_pool", "global_sum_pool"))
            if rng.uniform() < 0.2:
                parts.append(self.activation())
        self.positions = False
        if rng.uniform() < 0.4:
            parts += [self.weights(), self.activation()]
        self.text = " ".join([*parts, "dense"])

    def pick(self, *choices: str) -> str:
        return choices[self.rng.integers(len(choices))]

    def activation(self) -> str:
        return self.pick(*PLAIN)

    def weights(self) -> str:
        arguments = f"w_std={self.pick('1', '1.4', '0.7')}, b_std={self.pick('0', '0', '0.3')}"
        if not self.positions or self.rng.uniform() < 0.2:
            return f"dense({arguments})"
        window = f"kernel={self.pick('3x3', '1x1', '2x1')}, padding={self.pick('SAME', 'CIRCULAR')}"
        return f"conv({window}, {arguments})"

    def begin(self) -> str:
        first = self.pick("", "", "", "", "", "scale(by=0.7)", "dropout(rate=0.8)", "relu", "layer_norm")
        if self.positions:
            first = self.pick(first, first, "avg_pool(window=2x2, strides=1x1)", "attention")
        elif self.rng.uniform() < 0.1:
            first = "residual{ dense }"
        return f"{first} {self.weights()}"

    def signed(self) -> str:
        """Returns an activation unlike cos: a rectifier of nearly nonnegative values is rarely active."""
        phi = self.activation()
        return self.signed() if phi.startswith(("cos", "rbf", "gaussian")) else phi

    def block(self, nesting: int) -> str:
        phi, weights = self.activation, self.weights
        inner = (lambda: self.block(nesting - 1)) if nesting > 0 else weights
        forms = [
            lambda: f"{phi()} {weights()}",
            lambda: f"{phi()} {weights()}",
            lambda: f"{phi()} {phi()} {weights()}",
            lambda: f"{self.signed()} scale(by=-0.8) {phi()} {weights()}",
            lambda: f"layer_norm {phi()} {weights()}",
            lambda: f"{phi()} layer_norm {weights()}",
            lambda: f"{phi()} dropout(rate=0.7) {weights()}",
            lambda: f"{self.pick(*STEEP)} {weights()}",
            lambda: f"residual{{ {phi()} {inner()} }}",
            lambda: f"residual{{ {phi()} {weights()} }}",
            lambda: f"residual{{ {inner()} {weights()} | {inner()} }}",
            lambda: f"residual{{ {phi()} {weights()} | {phi()} }}",
            lambda: f"{phi()} {phi()}",
            phi,
        ]
        if self.positions:
            pool = f"{self.pick('avg_pool', 'sum_pool')}(window=2x2, strides=1x1, padding=SAME)"
            forms += [lambda: f"{phi()} {pool} {weights()}", lambda: f"{pool} {phi()} {weights()}", lambda: "attention"]
        return forms[self.rng.integers(len(forms))]()


def sampled(net: wl.Network, x: np.ndarray, width: int, draws: int, rng: np.random.Generator):
    if x.ndim == 2:
        return sample_kernels(net.to_json(), x, width, draws, rng)
    found = wl.monte_carlo_kernel(net, x, width=width, draws=draws, seed=int(rng.integers(2**31)))
    return (found.nngp, found.nngp_error), (found.ntk, found.ntk_error)


def most_deviations(net: wl.Network, x: np.ndarray, exact, draws: int, rng: np.random.Generator) -> float:
    """Returns the deviation in standard errors, extrapolated in 1/width, less a tolerance of (layers/width)²."""
    width = 64
    most = 0.0
    pairs = zip(sampled(net, x, width, draws, rng), sampled(net, x, 2 * width, draws, rng), exact, strict=True)
    layers = str(net.to_json()).count("[") / 2
    for (narrow, narrow_error), (wide, wide_error), k in pairs:
        own = np.sqrt(np.outer(np.diag(k), np.diag(k)))
        apart = np.abs(2 * wide - narrow - k) - (layers / width) ** 2 * own
        error = np.hypot(2 * wide_error, narrow_error) + 1e-12 * own + 1e-300
        most = max(most, float(np.max(apart / error)))
    return most


def trial(rng: np.random.Generator) -> Mapping[str, int]:
    image = rng.uniform() < 0.3
    text = Drawn(rng, image).text
    net = wl.Network(text)
    x = rng.normal(size=(2, 2, 3, 2) if image else (2, 5))
    x[1] = 0.6 * x[0] + 0.8 * x[1]
    if net.exactness == "monte carlo":
        try:
            wl.kernel(net, x)
        except wl.InputError as error:
            require("layer" in str(error) and "Monte Carlo" in str(error), f"'{text}' is rejected with: {error}")
            return {"refused": 1}
        require(False, f"'{text}' is reported to have no formula, but has a kernel")
    exact = wl.kernel(net, x, kind=("nngp", "ntk"))
    oracle = wl.kernel(net, x, kind=("nngp", "ntk"), backend="reference")
    for ours, theirs in zip(exact, oracle, strict=True):
        own = np.sqrt(np.outer(np.diag(theirs), np.diag(theirs)))
        alike = bool(np.all(np.abs(ours - theirs) <= 1e-7 * own + 1e-300))
        require(alike, f"'{text}': back ends differ: {ours} {theirs}")
    # A suspicious deviation is checked again with sixteen times as many draws, to exclude chance.
    if most_deviations(net, x, exact, 60, rng) > 4:
        again = most_deviations(net, x, exact, 960, rng)
        require(again <= 5, f"'{text}' is {again:.1f} standard errors from its sampled networks")
    return {"with a formula": 1, net.exactness: 1}


ATTACK = Attack("networks", "a network with a limit formula is the limit of its finite networks", trial)
