"""No point of a certified ball of a finite network has another sign: small networks at every scale, in 60 digits."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import mpmath
import numpy as np
from balls import exactly_inside, lowest_place
from campaign import Attack, require

import widelimit as wl

_PHI = {
    "relu": (lambda a: np.maximum(a, 0), lambda a: max(a, mpmath.mpf(0))),
    "abs": (np.abs, abs),
    "leaky_relu(slope=0.25)": (lambda a: np.where(a > 0, a, a / 4), lambda a: a if a > 0 else a / 4),
    "tanh": (np.tanh, mpmath.tanh),
    "sin": (np.sin, mpmath.sin),
}


def _forward(layers: list, phi, a: np.ndarray) -> np.ndarray:
    """Returns outputs in long double; layers are (scale of the product, W, scaled bias)."""
    for k, (scale, w, b) in enumerate(layers):
        a = (phi(a) if k else a) @ w * scale + b
    return a[:, 0]


def _exact_forward(layers: list, phi, a: list) -> mpmath.mpf:
    for k, (scale, w, b) in enumerate(layers):
        values = [phi(v) for v in a] if k else a
        a = [
            mpmath.fsum(v * mpmath.mpf(float(w[i, j])) for i, v in enumerate(values)) * scale + b[j]
            for j in range(w.shape[1])
        ]
    return a[0]


def trial(rng: np.random.Generator) -> Mapping[str, int]:
    features, depth, name = int(rng.integers(1, 5)), int(rng.integers(1, 4)), str(rng.choice(list(_PHI)))
    rectifier = name not in ("tanh", "sin")
    w_std = float(np.ldexp(1.0, int(rng.uniform(-100, 100)))) if rectifier and rng.random() < 0.4 else 1.5
    b_std = float(w_std * rng.choice([0.0, 0.5, 2.0**-40]))
    network = f"repeat({depth}){{ dense(w_std={w_std!r}, b_std={b_std!r}) {name} }} dense(w_std={w_std!r})"
    points = rng.normal(size=(4, features))
    if rectifier:
        points = np.ldexp(points, int(rng.uniform(-1000, 800)))
    centred = rectifier is False and rng.random() < 0.3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            trained = wl.train(
                network,
                points,
                np.ones(4),
                width=int(rng.integers(2, 9)),
                steps=2 if centred else 0,
                rate=0.01,
                centred=centred,
                seed=int(rng.integers(1 << 30)),
                precision=str(rng.choice(["f32", "f64"])) if w_std == 1.5 and not rectifier else "f64",
                threads=1,
            )
        except (wl.InputError, wl.NumericalError):
            return {"networks": 1, "refused": 1}

    def layers_of(parameters: list, exact: bool) -> list:
        layers = []
        for w, b in parameters:
            bias = np.zeros(w.shape[1]) if b is None else b
            if exact:
                scaled = [mpmath.mpf(float(value)) * mpmath.mpf(b_std) for value in bias]
                layers.append((mpmath.mpf(w_std) / mpmath.sqrt(w.shape[0]), w, scaled))
            else:
                real = np.longdouble
                scale = real(w_std) / np.sqrt(real(w.shape[0]))
                layers.append((scale, w.astype(real), bias.astype(real) * real(b_std)))
        return layers

    phi, exact_phi = _PHI[name]
    rough = [layers_of(trained.parameters, False)] + ([layers_of(trained.start, False)] if centred else [])
    exact = [layers_of(trained.parameters, True)] + ([layers_of(trained.start, True)] if centred else [])

    def output(places: np.ndarray) -> np.ndarray:
        values = [_forward(layers, phi, places) for layers in rough]
        return values[0] - values[1] if centred else values[0]

    signs = np.where(output(points.astype(np.longdouble)) > 0, 1.0, -1.0)
    norm = str(rng.choice(["linf", "l2"]))
    tolerance = float(10 ** rng.uniform(-9, -1))
    try:
        found = wl.certify(trained, points, signs, norm=norm, tolerance=tolerance, threads=1)
    except (wl.InputError, wl.NumericalError):
        return {"networks": 1, "refused": 1}
    balls = 0
    for k, radius in enumerate(found.radius):
        require(np.isfinite(radius) and radius >= 0, f"radius {radius} of point {k}, {network}")
        if radius == 0:
            continue
        balls += 1
        worst = lowest_place(lambda places, s=signs[k]: s * output(places), points[k], radius, norm, None, rng)
        place = exactly_inside(worst, points[k], radius, norm, None)
        values = [_exact_forward(layers, exact_phi, place) for layers in exact]
        value = (values[0] - values[1] if centred else values[0]) * int(signs[k])
        require(
            value > 0,
            f"the {norm} ball of radius {radius!r} around point {k} contains another sign: {network}, "
            f"tolerance {tolerance:.1e}, centred {centred}, output {mpmath.nstr(value, 5)}",
        )
    return {"networks": 1, "balls": balls}


ATTACK = Attack("trained-networks", "no point of a certified ball of a finite network has another sign", trial)
