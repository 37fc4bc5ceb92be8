"""Extraction of the final estimator and the feature scaling from scikit-learn pipelines and searches."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from widelimit._core import InputError

_SCALERS = "StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler"


class ScaledMachine(NamedTuple):
    """A fitted estimator whose input is (x − shift)/scale."""

    estimator: Any
    shift: NDArray[np.float64] | None
    """None without scaling."""
    scale: NDArray[np.float64] | None


def machine_of(model: Any) -> ScaledMachine:
    """Returns the fitted estimator inside searches (GridSearchCV, …) and pipelines of scalers, or the model itself.

    Raises InputError if a search or pipeline is not fitted, or if a step is not an affine scaler.
    """
    shift = scale = None
    while True:
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif hasattr(model, "estimator") and hasattr(model, "scoring"):
            raise InputError(f"this {type(model).__name__} has no best_estimator_; fit it first, with refit=True")
        elif hasattr(model, "steps") and hasattr(model, "named_steps"):
            for name, step in model.steps[:-1]:
                own = _affine(name, step)
                if own is None:
                    continue
                if shift is None or scale is None:
                    shift, scale = own
                else:  # ((x − a)/s − b)/t = (x − a − b·s)/(s·t)
                    shift, scale = shift + own[0] * scale, scale * own[1]
            model = model.steps[-1][1]
        else:
            return ScaledMachine(model, shift, scale)


def _affine(name: str, step: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Returns shift and scale of a scaler; None for the identity."""
    kind = type(step).__name__
    if step is None or step == "passthrough" or (kind == "FunctionTransformer" and step.func is None):
        return None
    refused = InputError(
        f"step {name!r} of the pipeline is {kind}, for which certify has no certificate; supported steps are {_SCALERS}"
    )
    if not type(step).__module__.startswith("sklearn.preprocessing") or kind not in _SCALERS.split(", "):
        raise refused
    if not hasattr(step, "n_features_in_"):
        raise InputError(f"step {name!r} of the pipeline is not fitted yet; call fit first")
    if getattr(step, "clip", False):
        raise InputError(f"step {name!r} of the pipeline clips its features; certify needs clip=False")
    features = step.n_features_in_
    shift, scale = np.zeros(features), np.ones(features)
    if kind == "MinMaxScaler":  # z = x·scale_ + min_
        return -step.min_ / step.scale_, 1 / step.scale_
    centre = step.mean_ if kind == "StandardScaler" and step.with_mean else getattr(step, "center_", None)
    if centre is not None:
        shift = np.asarray(centre, dtype=np.float64)
    if step.scale_ is not None:
        scale = np.asarray(step.scale_, dtype=np.float64)
    return shift, scale
