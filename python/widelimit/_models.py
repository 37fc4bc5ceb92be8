"""Fitted machines as model files, which `widelimit predict` reads too."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from widelimit import _core
from widelimit._core import InputError
from widelimit._fit import Summary
from widelimit._kernels import as_network
from widelimit._samples import as_samples, channels_last
from widelimit._threads import usable

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
    _core.save_model(os.fspath(path), core_of(model))


def core_of(model: Any) -> _core.Model:
    """A fitted estimator as the library's own model; copies its samples."""
    classes = getattr(model, "classes_", None)
    flat = model.alpha_.ndim == 1
    support = np.ascontiguousarray(model.support_vectors_)
    record = {
        "estimator": type(model).__name__,
        "dtype": None if classes is None else classes.dtype.str,
        "single": flat,
        "sample_shape": list(support.shape[1:]),
        "input_shape": None if model.input_shape is None else list(model.input_shape),
        "channels_first": model.channels_first,
        "scheme": getattr(model, "scheme", None),
    }
    return _core.make_model(
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
        bool(model.channels_first),
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
    first = found["channels_first"]
    return {
        "single": len(found["offsets"]) == 1,
        "sample_shape": [height * width * channels],
        "input_shape": ([channels, height, width] if first else [height, width, channels]) if image else None,
        "channels_first": True if first else None,
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
        "channels_first": record.get("channels_first"),
    }
    if numbers:
        settings["epsilon"] = found["epsilon"]
    else:
        settings["scheme"] = record.get("scheme")
        settings["probability"] = found["sigmoids"] is not None
    model = kind(**{**settings, **options})
    support = found["support"]
    if settings["channels_first"]:
        support = np.moveaxis(support.reshape(len(support), *found["shape"]), -1, 1)
    model.support_vectors_ = support.reshape(len(support), *record["sample_shape"])
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


class Model:
    """A fitted machine of a model file, which scales samples as it was taught.

    >>> import os, tempfile, widelimit as wl
    >>> x, y, _ = wl.load_data("digits", classes=[3, 8], limit=60)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.h5")
    ...     wl.NTKClassifier("fc:1", lam=0.01).fit(x.reshape(60, 64), y).save(path)
    ...     model = wl.load_model(path)
    >>> model, model.predict(x[:3]), model.decision_function(x).shape
    (<Model: svm, 2 classes, dense relu dense>, array([0, 1, 0]), (60,))
    """

    def __init__(self, core: _core.Model, classes: NDArray[Any] | None) -> None:
        self._core = core
        self.classes_: NDArray[Any] | None = classes
        """The classes in order; None where outputs are numbers."""

    machine = property(lambda self: self._core.machine)
    scheme = property(lambda self: self._core.scheme)
    lam = property(lambda self: self._core.lam)
    kernel = property(lambda self: self._core.kernel, doc="Text of the network, or of the classical kernel.")
    shape = property(lambda self: self._core.shape, doc="Height, width and channels of a sample.")
    channels_first = property(
        lambda self: self._core.channels_first, doc="Whether images come as N×C×H×W, to predict as to fit."
    )
    scaling = property(lambda self: self._core.scaling, doc="What samples go through first, or None.")

    def decision_function(self, x: ArrayLike, *, threads: int | None = None) -> NDArray[np.float64]:
        """Outputs on samples: a number for each, or a row where there are several."""
        outputs = _core.model_decisions(self._core, self._shaped(x), usable(threads))
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs

    def predict(self, x: ArrayLike, *, threads: int | None = None) -> NDArray[Any]:
        """Classes, or numbers where the machine is one for numbers."""
        outputs = self.decision_function(x, threads=threads)
        if self.classes_ is None:
            return outputs
        return self.classes_[_core.model_classes(self._core, outputs[:, None] if outputs.ndim == 1 else outputs)]

    def _shaped(self, x: ArrayLike) -> NDArray[np.floating]:
        """Samples in the shape that the machine was fitted to, flattened or not."""
        samples = as_samples(x, "x")
        height, width, channels = self.shape
        fits = int(np.prod(samples.shape[1:])) == height * width * channels
        planes = samples.ndim == 2 or samples.shape[1:] == (channels, height, width)
        if self.channels_first and fits and planes:
            return channels_last(samples.reshape(len(samples), channels, height, width), "x")
        if fits and (samples.ndim < 4 or height * width == 1):
            samples = samples.reshape(len(samples), *self.shape)
        return samples

    def __repr__(self) -> str:
        of = "numbers" if self.classes_ is None else f"{len(self.classes_)} classes"
        return f"<Model: {self.machine}, {of}, {self.kernel}>"


def load_model(path: str | os.PathLike[str]) -> Model:
    """The machine that `widelimit fit` or an estimator's save wrote, with its scaling.

    >>> import os, tempfile, widelimit as wl
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.h5")
    ...     wl.NTKRegressor("fc:1", lam=0.01).fit([[1.0, 0.0], [0.0, 1.0]], [1.0, -1.0]).save(path)
    ...     wl.load_model(path).predict([[1.0, 0.0]]).round(1)
    array([1.])
    """
    core = _core.read_model(os.fspath(path))
    dtype = _record_of(_core.load_model(os.fspath(path))).get("dtype")
    return Model(core, _classes(core.classes, dtype) if core.classes else None)
