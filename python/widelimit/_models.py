"""Estimators as model files, which `widelimit predict` reads too."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widelimit import _core
from widelimit._core import InputError
from widelimit._fit import Summary
from widelimit._kernels import as_network

_UNKNOWN = Summary("converged", "", "loaded from a file", *[None] * 5, 0, 0.0, 0)


def _names(classes: NDArray[Any]) -> list[str]:
    """Classes as a file writes them: whole numbers as such, text as it is."""
    if classes.dtype.kind in "iuf":
        return [str(int(c)) for c in classes]
    if classes.dtype.kind == "b" or all(isinstance(c, str) for c in classes):
        return [str(c) for c in classes]
    raise InputError(f"classes of type {type(classes[0]).__name__} cannot be written; name them by text or numbers")


def _classes(names: list[str], dtype: str | None) -> NDArray[Any]:
    """The classes again; of a file that does not say their type numbers where all are, else text."""
    if dtype is None:
        whole = all(name.lstrip("-").isdigit() and str(int(name)) == name for name in names)
        return np.array([int(name) for name in names]) if whole else np.array(names)
    found = np.dtype(dtype)
    if found.kind == "b":
        return np.array([name == "True" for name in names])
    if found.kind in "iuf":
        return np.array([int(name) for name in names]).astype(found)
    return np.array(names, dtype=object if found.kind == "O" else None)


def save(model: Any, path: str | os.PathLike[str]) -> None:
    if model.kernel != "network":
        raise InputError(
            "kernel='precomputed': a model file holds the network and the samples, which a Gram matrix does not tell; "
            "pickle it instead"
        )
    classes = getattr(model, "classes_", None)
    flat = model.alpha_.ndim == 1
    support = np.ascontiguousarray(model.support_vectors_)
    record = {
        "estimator": type(model).__name__,
        "dtype": None if classes is None else classes.dtype.str,
        "single": flat,
        "sample_shape": list(support.shape[1:]),
        "input_shape": None if model.input_shape is None else list(model.input_shape),
        "scheme": getattr(model, "scheme", None),
    }
    _core.save_model(
        os.fspath(path),
        as_network(model.network),
        model.kind,
        model.precision,
        model._shaped(support),
        model.machine,
        model.scheme_,
        [] if classes is None else _names(classes),
        float(model.lam),
        float(getattr(model, "epsilon", 0.0)),
        bool(model.bias),
        np.ascontiguousarray(model.alpha_[:, None] if flat else model.alpha_),
        np.atleast_1d(np.asarray(model.bias_, dtype=np.float64)),
        model.calibration_,
        json.dumps(record),
    )


def _record_of(found: dict[str, Any]) -> dict[str, Any]:
    try:
        record = json.loads(found["record"])
    except json.JSONDecodeError:
        record = None
    if isinstance(record, dict) and "estimator" in record:
        return record
    height, width, channels = found["shape"]
    image = height * width > 1
    return {
        "single": len(found["offsets"]) == 1,
        "sample_shape": [height * width * channels],
        "input_shape": [height, width, channels] if image else None,
    }


def load(kind: type, path: str | os.PathLike[str], **options: Any) -> Any:
    """An estimator of type `kind` as it was saved, or as `widelimit fit` wrote it."""
    found = _core.load_model(os.fspath(path))
    if "network" not in found:
        raise InputError(f"{path} is a model of the kernel {found['classical']}, not of a network")
    if "scaling" in found:
        raise InputError(
            f"{path} scales its samples ({found['scaling']}), which an estimator leaves to a pipeline; "
            "`widelimit predict` reads it, or fit it with --scale none"
        )
    numbers = found["scheme"] == "values"
    if numbers != (kind.__name__ == "NTKRegressor"):
        raise InputError(f"{path} predicts {'numbers' if numbers else 'classes'}; load it by the other estimator")
    record = _record_of(found)
    settings: dict[str, Any] = {
        "network": found["network"],
        "machine": found["machine"],
        "lam": found["lam"],
        "kind": found["kind"],
        "bias": found["bias"],
        "precision": found["precision"],
        "input_shape": None if record["input_shape"] is None else tuple(record["input_shape"]),
    }
    if numbers:
        settings["epsilon"] = found["epsilon"]
    else:
        settings["scheme"] = record.get("scheme")
        settings["probability"] = found["sigmoids"] is not None
    model = kind(**{**settings, **options})
    model.support_vectors_ = found["support"].reshape(len(found["support"]), *record["sample_shape"])
    model.support_ = np.arange(len(model.support_vectors_))
    model.alpha_ = found["alpha"][:, 0] if record["single"] else found["alpha"]
    model.bias_ = float(found["offsets"][0]) if record["single"] else found["offsets"]
    model.scheme_ = found["scheme"]
    model.calibration_ = found["sigmoids"]
    model.summary_ = _UNKNOWN
    model.n_features_in_ = model.support_vectors_.shape[1]
    if not numbers:
        model.classes_ = _classes(found["classes"], record.get("dtype"))
    return model
