"""Certified radii: lower bounds of the perturbation that changes the predicted class of an input."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from widelimit import _core
from widelimit._arguments.arrays import as_array
from widelimit._arguments.samples import as_samples
from widelimit._arguments.targets import as_numbers
from widelimit._arguments.threads import usable
from widelimit._core import InputError
from widelimit._models import Model, core_of
from widelimit._pipelines import machine_of
from widelimit._train import TrainedNetwork

_ATTACK = ("steps", "restarts", "seed")


class Certificates(NamedTuple):
    """Result of certify, with one entry per sample."""

    radius: NDArray[np.float64]
    """No input in the ball of this radius (and in the box) has another class; 0 if the sample is misclassified.
    An ℓ∞ ball of radius ε moves feature j by at most ε·widths[j]."""
    correct: NDArray[np.bool_]
    """Whether the prediction is the given class."""
    margin: NDArray[np.float64]
    """The smallest output, or difference of outputs, that must stay positive."""
    method: list[str]
    """The method that gave the radius; 'convex' and 'interval' take the best of themselves and weaker methods."""
    attack: NDArray[np.float64] | None
    """Distance of the nearest adversarial input found, inf if none was found; None without an attack."""
    attacked: NDArray[np.float64] | None
    """The adversarial inputs, in the shape and the units of X."""
    widths: NDArray[np.float64] | None
    """Half-widths of the ball of radius 1 by feature, in the units of X; None if samples are scaled by their norms."""
    units: str
    """Units of the radii: 'input' or 'scaled'."""
    remark: str
    """Why another method than the requested one was used; may be empty."""
    seconds: float
    attack_seconds: float

    @property
    def feature_radius(self) -> NDArray[np.float64]:
        """Certified simultaneous perturbation of each feature, in the units of X: samples × features."""
        if self.widths is None:
            raise InputError("the model divides each sample by its own norm, so radii in the units of X do not exist")
        return self.radius[:, None] * self.widths[None, :]


def certify(
    model: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    norm: str | None = None,
    method: str | None = None,
    units: str | None = None,
    widths: ArrayLike | None = None,
    box: tuple[ArrayLike, ArrayLike] | None = None,
    radius: float | None = None,
    attack: bool | Mapping[str, int] = False,
    tolerance: float | None = None,
    backend: str | None = None,
    threads: int | None = None,
) -> Certificates:
    """Returns, for each sample, a radius within which its predicted class provably does not change.

    model: a fitted NTKClassifier or NTKRegressor, a Pipeline of scalers that ends in one, a search such as GridSearchCV
        over one of these, a Model of load_model, or a TrainedNetwork.
    y: the class of each sample; for a regressor, numbers whose sign is certified.
    norm: 'linf' (the default) or 'l2'.
    method: 'convex' (default), 'interval', or 'paper', the published method; trained networks support intervals only.
    units: units of radii and box: 'input' (default), those of X; 'scaled', those of the features after the scaling of
        the model or the scalers of the pipeline, where a ball of radius 1 moves each feature by its scale.
    widths: half-widths of the ℓ∞ ball of radius 1, one per feature, in the units of X; 0 for a fixed feature. With
        radius=1 they are the perturbation box itself.
    box: lower and upper bound of every feature, e.g. (0, 1), or two arrays; the ball is intersected with it. X must
        lie inside.
    radius: only test whether this radius is certified, which is cheaper: the result is this radius or 0.
    attack: True to search for adversarial inputs, or {'steps': …, 'restarts': …, 'seed': …}.
    tolerance: relative tolerance of the search, by which a radius may be below the best provable one; default 1e-3.
    backend: 'cpu' (default), or an NVIDIA device such as 'cuda:0'.

    A Model that divides each sample by its own norm has radii in scaled units only.

    >>> import widelimit as wl
    >>> x, y, _ = wl.load_data("digits", classes=[3, 8], limit=120)
    >>> x = x.reshape(120, 64) / 16
    >>> model = wl.NTKClassifier("fc:1", machine="ridge", lam=1.0).fit(x[:100], y[:100])
    >>> r = wl.certify(model, x[100:], y[100:], norm="linf", method="convex", box=(0, 1), attack=True)
    >>> r.radius.shape, bool((r.radius[r.correct] > 0).all()), bool((r.radius[r.correct] <= r.attack[r.correct]).all())
    ((20,), True, True)

    For a pipeline, radii are in the units of its input; here every pixel may change by half a grey level of 16:

    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MaxAbsScaler
    >>> pipeline = make_pipeline(MaxAbsScaler(), wl.NTKClassifier("fc:1", machine="ridge", lam=1.0))
    >>> pipeline = pipeline.fit(16 * x[:100], y[:100])
    >>> wl.certify(pipeline, 16 * x[100:], y[100:], radius=0.5).radius.max()
    np.float64(0.5)
    """
    options = {
        "norm": norm,
        "method": method,
        "units": units,
        "widths": None if widths is None else _as_widths(widths),
        "box": None if box is None else _as_box(box),
        "radius": radius,
        "tolerance": tolerance,
        "backend": backend,
        "threads": usable(threads),
        **_as_attack(attack),
    }
    samples = as_samples(X, "X", backend)
    if isinstance(model, TrainedNetwork):
        labels = _as_labels(y, model.classes_)
        shaped = model._samples(samples, "X")
        found = _core.certify_network(model._core, shaped, labels, options)
    elif isinstance(model, Model):
        shaped = model._shaped(samples, backend)
        found = _core.certify(model._core, shaped, _as_labels(y, model.classes_), options)
    else:
        machine = machine_of(model)
        model = machine.estimator
        core = _as_core(model)
        if machine.shift is not None:
            _core.set_scaling(core, machine.shift, machine.scale)
        shaped = model._shaped(samples)
        found = _core.certify(core, shaped, _as_labels(y, getattr(model, "classes_", None)), options)
    found["correct"] = np.array(found["correct"], dtype=bool)
    if found["attacked"] is not None:
        attacked = found["attacked"].reshape(shaped.shape)
        found["attacked"] = (np.moveaxis(attacked, -1, 1) if model.channels_first else attacked).reshape(samples.shape)
    return Certificates(**found)


def _as_core(model: Any) -> _core.Model:
    """Converts a fitted estimator to a core model."""
    if not (hasattr(model, "machine") and hasattr(model, "network") and hasattr(model, "kernel")):
        if isinstance(model, (str, os.PathLike)):
            raise InputError(f"the model is a file name; give load_model({os.fspath(model)!r}) or load_network(…)")
        raise InputError(
            f"certify has no certificate for {type(model).__name__}; give a fitted NTKClassifier or NTKRegressor, "
            "a pipeline or search that ends in one, a Model of load_model, or a TrainedNetwork"
        )
    if not hasattr(model, "support_"):
        raise InputError(f"this {type(model).__name__} is not fitted yet; call fit first")
    if model.kernel != "network":
        raise InputError("kernel='precomputed': a certificate needs the network and the samples, not a Gram matrix")
    return core_of(model)


def _as_widths(widths: ArrayLike) -> list[float]:
    try:
        return [float(width) for width in np.asarray(widths, dtype=np.float64).reshape(-1)]
    except (TypeError, ValueError):
        raise InputError(f"widths is {widths!r}; give one number for each feature") from None


def _as_box(box: Any) -> tuple[list[float], list[float]]:
    try:
        low, high = (np.atleast_1d(np.asarray(end, dtype=np.float64)).reshape(-1) for end in box)
        low, high = np.broadcast_arrays(low, high)
        return low.tolist(), high.tolist()
    except (TypeError, ValueError):
        raise InputError(
            f"box is {box!r}; give the lower and upper bound of all features, e.g. (0, 1), or of each feature"
        ) from None


def _as_attack(attack: bool | Mapping[str, int]) -> dict[str, Any]:
    if isinstance(attack, Mapping):
        unknown = [name for name in attack if name not in _ATTACK]
        if unknown:
            raise InputError(f"attack has no option {unknown[0]!r}; its options are {', '.join(_ATTACK)}")
        return {"attack": True, **attack}
    if not isinstance(attack, (bool, np.bool_)):
        raise InputError(f"attack is {attack!r}; give True, False or a dictionary with {', '.join(_ATTACK)}")
    return {"attack": bool(attack)}


def _as_labels(y: ArrayLike, classes: NDArray[Any] | None) -> NDArray[np.int64]:
    """Returns class indices, matching classes also by their text; for a regressor 0 and 1 by sign."""
    if classes is None:
        numbers = as_numbers(y)
        if numbers.ndim != 1 or (numbers == 0).any():
            raise InputError("a regressor has a certificate of the sign; give one nonzero number for each sample")
        return (numbers > 0).astype(np.int64)
    given = as_array(y, "y")
    if given.ndim != 1:
        raise InputError(f"y has {given.ndim} dimensions; give one class for each sample")
    place = {value: k for k, value in enumerate(classes.tolist())}
    text = {str(value): k for value, k in place.items()}
    labels = [place.get(value, text.get(str(value), -1)) for value in given.tolist()]
    if -1 in labels:
        at = labels.index(-1)
        raise InputError(f"y[{at}] is {given[at].item()!r}, which is none of the classes {', '.join(text)}")
    return np.array(labels, dtype=np.int64)
