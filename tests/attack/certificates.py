"""No point of a certified ball has another class: random machines at every scale, verified in 60 digits."""

from __future__ import annotations

from collections.abc import Mapping

import mpmath
import numpy as np
from balls import exactly_inside, lowest_place
from campaign import Attack, require
from chains import Layer, exact_entry, ntk, text_of

import widelimit as wl


def _power(rng: np.random.Generator, low: float, high: float) -> float:
    """Draws a log-uniform number."""
    return float(np.ldexp(rng.uniform(1, 2), int(rng.uniform(low, high))))


def _chain(rng: np.random.Generator) -> list[Layer]:
    """Draws one to four layers; a third of the chains have biases, half have weights of any scale."""
    any_scale, biased = rng.random() < 0.5, rng.random() < 0.35

    def dense() -> Layer:
        w = _power(rng, -120, 120) if any_scale else rng.uniform(0.5, 2)
        if not biased or rng.random() < 0.3:
            return Layer(w=w)
        return Layer(w=w, b=w * _power(rng, -60, 60) if any_scale else rng.uniform(0.05, 1))

    chain = [dense()]
    for _ in range(rng.integers(0, 4)):
        chain += [Layer(slope=0.0 if rng.random() < 0.7 else rng.uniform(0, 1)), dense()]
    return chain


def _machine(rng: np.random.Generator, chain: list[Layer], features: int) -> tuple[wl.NTKClassifier, np.ndarray]:
    """Returns a machine with coefficients of any scale, as fitted, and points."""
    supports, classes = int(rng.integers(1, 9)), int(rng.choice([2, 2, 3, 4]))
    scheme = "sign" if classes == 2 else str(rng.choice(["one-hot", "one-vs-one"]))
    outputs = {"sign": 1, "one-hot": classes, "one-vs-one": classes * (classes - 1) // 2}[scheme]
    support = rng.normal(size=(supports, features))
    points = rng.normal(size=(4, features))
    alpha = rng.normal(size=(supports, outputs))
    if rng.random() < 0.3:  # pairs of nearby samples with coefficients that nearly cancel
        support[1::2] = support[: len(support[1::2]) * 2 : 2] * (1 + 1e-4 * support[1::2])
        alpha[: len(alpha[1::2]) * 2 : 2] *= 1e6
        alpha[1::2] -= alpha[: len(alpha[1::2]) * 2 : 2]
    if rng.random() < 0.1:
        support[0] = 0
    if rng.random() < 0.1:
        points[0] = support[-1]
    scale = {name: int(rng.uniform(-1000, 900)) if rng.random() < 0.7 else 0 for name in ("points", "support")}
    support = np.ldexp(support, scale["support"])
    points = np.ldexp(points, scale["points"])
    # Coefficients are scaled such that outputs have any representable size, or nearly overflow.
    largest = np.abs(ntk(chain, points, support)).max()
    size = int(rng.uniform(-1060, 900)) if rng.random() < 0.7 else 0
    wanted = size - int(np.frexp(largest)[1]) if largest > 0 else 0
    alpha = np.ldexp(alpha, int(np.clip(wanted, -1050, 950)))

    model = wl.NTKClassifier(text_of(chain), threads=1)
    model.support_, model.support_vectors_ = np.arange(supports), support
    model.alpha_ = alpha[:, 0] if outputs == 1 else alpha
    offset = np.abs(alpha).max() * float(np.clip(largest, 0, 1e300)) * rng.normal(size=outputs)
    offset = offset if rng.random() < 0.3 and np.isfinite(offset).all() else np.zeros(outputs)
    model.bias_ = float(offset[0]) if outputs == 1 else offset
    model.scheme_, model.calibration_ = scheme, None
    model.classes_ = np.arange(classes)
    model.n_features_in_ = features
    return model, points


def _margins(scheme: str, outputs: np.ndarray, label: int, classes: int) -> np.ndarray:
    """Returns margins: positive if a row of outputs has the class `label` without a tie, negative if not."""
    if scheme == "sign":
        return outputs[:, 0] if label == 1 else -outputs[:, 0]
    if scheme == "one-hot":
        return (outputs[:, [label]] - np.delete(outputs, label, axis=1)).min(axis=1)
    pairs = [(a, b) for a in range(classes) for b in range(a + 1, classes)]
    own = [outputs[:, k] * (1 if a == label else -1) for k, (a, b) in enumerate(pairs) if label in (a, b)]
    return np.min(own, axis=0)


def _class_of(scheme: str, outputs: list[mpmath.mpf], classes: int) -> int | None:
    """Returns the predicted class; None if it depends on rounding of a tie."""
    if scheme == "sign":
        return None if outputs[0] == 0 else int(outputs[0] > 0)
    if scheme == "one-hot":
        best = max(outputs)
        return outputs.index(best) if outputs.count(best) == 1 else None
    votes = [0] * classes
    pairs = [(a, b) for a in range(classes) for b in range(a + 1, classes)]
    for value, (a, b) in zip(outputs, pairs, strict=True):
        votes[a if value > 0 else b] += 1
    return votes.index(max(votes)) if votes.count(max(votes)) == 1 else None


def trial(rng: np.random.Generator) -> Mapping[str, int]:
    features = int(rng.integers(1, 7))
    chain = _chain(rng)
    model, points = _machine(rng, chain, features)
    classes, scheme = len(model.classes_), model.scheme_
    alpha = np.atleast_2d(model.alpha_.T).T.astype(np.longdouble)
    bias = np.atleast_1d(model.bias_).astype(np.longdouble)

    def outputs(places: np.ndarray) -> np.ndarray:
        return ntk(chain, places, model.support_vectors_) @ alpha + bias

    at_points = outputs(points.astype(np.longdouble))
    by_class = np.stack([_margins(scheme, at_points, c, classes) for c in range(classes)])
    labels = by_class.argmax(axis=0)
    norm = str(rng.choice(["linf", "l2"]))
    box = None
    if rng.random() < 0.25:
        box = (float(points.min()), float(points.max()) * (1.0 if points.max() <= 0 else 1.5))
        box = box if box[0] < box[1] else None
    method = str(rng.choice(["convex", "convex", "interval"]))
    tolerance = float(10 ** rng.uniform(-9, -1))
    try:
        found = wl.certify(
            model, points, labels, norm=norm, method=method, box=box, tolerance=tolerance, attack=True, threads=1
        )
    except (wl.InputError, wl.NumericalError):
        return {"machines": 1, "refused": 1}

    support = [[mpmath.mpf(float(a)) for a in row] for row in model.support_vectors_]
    coefficients = [[mpmath.mpf(float(a)) for a in row] for row in np.atleast_2d(model.alpha_.T).T]
    balls = 0
    for k, radius in enumerate(found.radius):
        require(np.isfinite(radius) and radius >= 0, f"radius {radius} of point {k}, {text_of(chain)}")
        require(
            radius <= found.attack[k] or not found.correct[k],
            f"radius {radius!r} beyond the attack {found.attack[k]!r} of point {k}, {text_of(chain)}",
        )
        if radius == 0:
            continue
        balls += 1
        label = int(labels[k])
        worst = lowest_place(
            lambda places, c=label: _margins(scheme, outputs(places), c, classes), points[k], radius, norm, box, rng
        )
        place = exactly_inside(worst, points[k], radius, norm, box)
        entries = [exact_entry(chain, place, row) for row in support]
        exact = [
            mpmath.fsum(e * row[o] for e, row in zip(entries, coefficients, strict=True)) + mpmath.mpf(float(bias[o]))
            for o in range(len(bias))
        ]
        require(
            _class_of(scheme, exact, classes) == label,
            f"the {norm} ball of radius {radius!r} around point {k} contains another class: {text_of(chain)}, "
            f"{scheme}, {method}, tolerance {tolerance:.1e}, box {box}, outputs {[mpmath.nstr(v, 5) for v in exact]}",
        )
    return {"machines": 1, "balls": balls}


ATTACK = Attack("certificates", "no point of a certified ball has another class, at any scale", trial)
