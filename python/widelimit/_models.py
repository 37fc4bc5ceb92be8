"""Model files of fitted machines, shared with `widelimit predict`."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from widelimit import _core
from widelimit._arguments.samples import as_samples, channels_last, is_sparse, laid_out
from widelimit._arguments.targets import class_names
from widelimit._arguments.threads import usable
from widelimit._core import GraphSamples, InputError, SparseSamples
from widelimit._data import Data
from widelimit._fit import Summary
from widelimit._graphs import Graphs, as_graphs
from widelimit._kernels import as_network
from widelimit._label_aware import PairFeature, named_features

_UNKNOWN = Summary("converged", "", "loaded from a file", *[None] * 5, 0, 0.0, 0)


def _names(classes: NDArray[Any]) -> list[str]:
    """Returns the classes as text for a file."""
    if classes.dtype.kind in "iufb" or all(isinstance(c, str) for c in classes):
        return class_names(classes)
    raise InputError(f"classes of type {type(classes[0]).__name__} cannot be written; use text or numbers")


def _classes(names: list[str], dtype: str | None) -> NDArray[Any]:
    """Inverse of _names; without a dtype, integers if all names are integers, else text."""
    if dtype is None:
        whole = all(name.lstrip("-").isdigit() and str(int(name)) == name for name in names)
        return np.array([int(name) for name in names]) if whole else np.array(names)
    found = np.dtype(dtype)
    if found.kind == "b":
        return np.array([name == "True" for name in names])
    if found.kind in "iuf":
        return np.array([int(name) for name in names]).astype(found)
    return np.array(names, dtype=object if found.kind == "O" else None)


def save(model: Any, path: str | os.PathLike[str], data: Data | None = None, posterior: bool = False) -> None:
    if model.kernel != "network":
        raise InputError(
            "kernel='precomputed': a model file needs the network and the samples, not a Gram matrix; "
            "pickle the estimator instead"
        )
    core = core_of(model, None if data is None else data.class_names, posterior)
    if data is not None:
        if data._origin is None:
            raise InputError(
                "data= must be the unscaled training set returned by load_data or load_train_test: a model file of an "
                "estimator stores no scaling"
            )
        core.origin = data._origin
    _core.save_model(os.fspath(path), core)


def _weights_text(model: Any) -> Any:
    """Returns class_weight in a JSON-serialisable form: weights in the order of the classes."""
    found = getattr(model, "class_weight", None)
    if found is None or isinstance(found, str):
        return found
    return [float(found.get(name, 1.0)) for name in model.classes_.tolist()]


def core_of(model: Any, names: list[str] | None = None, posterior: bool = False) -> _core.Model:
    """Converts a fitted estimator to a core model, with or without its posterior; copies the samples.

    names: names of the classes, if the classes are indices.
    """
    classes = getattr(model, "classes_", None)
    indexed = bool(names) and classes is not None and classes.dtype.kind in "iu"
    flat = model.alpha_.ndim == 1
    support = model.support_vectors_
    if not is_sparse(support) and not isinstance(support, Graphs):
        support = np.ascontiguousarray(support)
    record = {
        "estimator": type(model).__name__,
        "dtype": None if classes is None or indexed else classes.dtype.str,
        "single": flat,
        "sample_shape": [] if isinstance(support, Graphs) else list(support.shape[1:]),
        "input_shape": None if model.input_shape is None else list(model.input_shape),
        "channels_first": model.channels_first,
        "scheme": getattr(model, "scheme", None),
        "class_weight": _weights_text(model),
        "all_samples": getattr(model, "keeps_all_", False),
    }
    core = _core.make_model(
        as_network(getattr(model, "network_", model.network)),
        model.kind,
        model.precision,
        as_samples(model._shaped(support), "support_vectors_"),
        model.machine,
        model.scheme_,
        [] if classes is None else ([names[c] for c in classes] if indexed else _names(classes)),
        float(getattr(model, "lam_", model.lam)),
        float(getattr(model, "epsilon", 0.0)),
        bool(model.bias),
        np.ascontiguousarray(model.alpha_[:, None] if flat else model.alpha_),
        np.atleast_1d(np.asarray(model.bias_, dtype=np.float64)),
        model.calibration_,
        json.dumps(record),
        posterior,
        bool(model.channels_first),
    )
    if getattr(model, "label_aware_", None) is not None:
        _core.set_label_aware(core, model.label_aware_)
    return core


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
        "all_samples": found["posterior"],
    }


def _layout(found: dict[str, Any], record: dict[str, Any]) -> tuple[Sequence[int], Sequence[int] | None]:
    """Returns the layout of the training samples as arguments of laid_out."""
    return record["sample_shape"], found["shape"] if record.get("channels_first") else None


def _named_features(features: Any, found: dict[str, Any], record: dict[str, Any]) -> Any:
    """Returns the pair features for the machine of a model file; raises InputError if they differ from the fit."""
    layout = _layout(found, record)
    named = named_features(features, lambda rows: laid_out(rows, *layout))
    if named is not None:
        _core.require_pair_features(found.get("label_aware"), named)
    return named


def load(kind: type, path: str | os.PathLike[str], **options: Any) -> Any:
    """Reads an estimator of type `kind`, written by save or `widelimit fit`."""
    found = _core.load_model(os.fspath(path))
    if "network" not in found:
        raise InputError(f"{path} is a model of the kernel {found['classical']}, not of a network")
    if "scaling" in found:
        raise InputError(
            f"{path} scales its samples ({found['scaling']}), which estimators do not support; use load_model, or "
            "fit it without scaling"
        )
    numbers = found["scheme"] == "values"
    if numbers != (kind.__name__ == "NTKRegressor"):
        raise InputError(f"{path} predicts {'numbers' if numbers else 'classes'}; load it with the other estimator")
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
        if "label_aware" in found:
            settings["label_aware"] = found["label_aware"].method
            settings["ratio"] = found["label_aware"].ratio
    model = kind(**{**settings, **options})
    model.label_aware_ = found.get("label_aware")
    _named_features(options.get("pair_features"), found, record)
    support = found["support"]
    graphs = isinstance(support, GraphSamples)
    support = Graphs._of(support) if graphs else laid_out(support, *_layout(found, record))
    model.support_vectors_ = support
    model.support_ = np.arange(len(found["alpha"]))
    model.alpha_ = found["alpha"][:, 0] if record["single"] else found["alpha"]
    model.bias_ = float(found["offsets"][0]) if record["single"] else found["offsets"]
    model.scheme_ = found["scheme"]
    model.calibration_ = found["sigmoids"]
    model.summary_ = _UNKNOWN
    model.n_features_in_ = max(1, support.width) if isinstance(support, Graphs) else support.shape[1]
    model.keeps_all_ = bool(record.get("all_samples", False))
    if not numbers:
        model.classes_ = _classes(found["classes"], record.get("dtype"))
        weights = record.get("class_weight")
        if isinstance(weights, list):
            weights = dict(zip(model.classes_.tolist(), weights, strict=True))
        model.class_weight = options.get("class_weight", weights)
    return model


class KeptPosterior:
    """Cache of the model of an estimator and its posterior factorisation, valid until the estimator changes.

    Copies and pickles start with an empty cache.
    """

    def __init__(self) -> None:
        self._kept: tuple[tuple[Any, ...], tuple[Any, ...], _core.Model, _core.PosteriorFactor] | None = None

    def of(self, estimator: Any) -> tuple[_core.Model, _core.PosteriorFactor]:
        arrays = (estimator.support_vectors_, estimator.alpha_, estimator.bias_)
        settings = (
            str(as_network(getattr(estimator, "network_", estimator.network))),
            getattr(estimator, "lam_", estimator.lam),
            *(getattr(estimator, name) for name in ("kind", "precision", "input_shape", "channels_first")),
        )
        kept = self._kept
        if kept is None or kept[1] != settings or any(a is not b for a, b in zip(kept[0], arrays, strict=True)):
            kept = self._kept = (arrays, settings, core_of(estimator, posterior=True), _core.PosteriorFactor())
        return kept[2], kept[3]

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return KeptPosterior, ()


def posterior(
    core: _core.Model,
    factor: _core.PosteriorFactor,
    x: Any,
    return_std: bool,
    return_cov: bool,
    backend: str,
    threads: int | None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns the mean of the outputs and their standard deviation or covariance, which is shared by all outputs."""
    if return_std and return_cov:
        raise InputError("give either return_std or return_cov; the diagonal of the covariance holds the variances")
    mean, variance, covariance = _core.model_posterior(core, factor, as_samples(x, "x"), return_cov, backend, threads)
    return mean[:, 0] if mean.shape[1] == 1 else mean, covariance if return_cov else np.sqrt(variance)


def shared_by_outputs(spread: NDArray[np.float64], mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """Repeats a standard deviation or covariance for each output along a last axis, as in scikit-learn."""
    return spread if mean.ndim == 1 else np.repeat(spread[..., None], mean.shape[1], axis=-1)


class Model:
    """A fitted machine of a model file, including its scaling.

    >>> import os, tempfile, widelimit as wl
    >>> x, y, _ = wl.load_data("digits", classes=[3, 8], limit=60)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.h5")
    ...     wl.NTKClassifier("fc:1", lam=0.01).fit(x.reshape(60, 64), y).save(path)
    ...     model = wl.load_model(path)
    >>> model, model.predict(x[:3]), model.decision_function(x).shape
    (<Model: svm, 2 classes, dense relu dense>, array([0, 1, 0]), (60,))
    """

    def __init__(self, core: _core.Model, classes: NDArray[Any] | None, pair_features: Any = None) -> None:
        self._core = core
        self._pair_features = pair_features
        self._factor = _core.PosteriorFactor()
        self.classes_: NDArray[Any] | None = classes
        """The sorted classes; None for a regressor."""

    machine = property(lambda self: self._core.machine)
    scheme = property(lambda self: self._core.scheme)
    lam = property(lambda self: self._core.lam)
    kernel = property(lambda self: self._core.kernel, doc="Text of the network, or of the classical kernel.")
    shape = property(lambda self: self._core.shape, doc="Height, width and channels of a sample.")
    channels_first = property(
        lambda self: self._core.channels_first, doc="Whether images are N×C×H×W."
    )
    scaling = property(lambda self: self._core.scaling, doc="Name of the scaling, or None.")

    @property
    def origin(self) -> dict[str, Any]:
        """Metadata of its samples: samples and checksum of the source, table, classes, split, limit."""
        return json.loads(self._core.origin)

    def _origin_and_classes(self) -> tuple[str | None, list[str]]:
        """Returns the origin as JSON and the class names, by which load_data reads new samples."""
        return self._core.origin, self._core.classes

    def decision_function(
        self, x: ArrayLike, *, backend: str = "cpu", threads: int | None = None
    ) -> NDArray[np.float64]:
        """Returns the outputs: one number per sample, or one row if there are several."""
        outputs = self._outputs(x, backend, threads)
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs

    def _outputs(self, x: Any, backend: str, threads: int | None) -> NDArray[np.float64]:
        samples = self._shaped(x, backend)
        return _core.model_decisions(self._core, samples, self._pair_features, backend, usable(threads))

    def predict(
        self,
        x: ArrayLike,
        *,
        return_std: bool = False,
        return_cov: bool = False,
        backend: str = "cpu",
        threads: int | None = None,
    ) -> Any:
        """Returns predicted classes, or numbers for a regressor.

        return_std, return_cov: also return the noise-free posterior standard deviation, or covariance between samples;
        raises InputError unless the model was written with its posterior. The first such call factorises the Gram
        matrix of the n support samples and caches the factor, 8·n² bytes.
        """
        if return_std or return_cov:
            if not self._core.posterior:
                raise InputError(
                    "the model has no posterior; `widelimit fit --machine ridge --posterior` and "
                    "NTKRegressor.save(…, posterior=True) write one"
                )
            samples = self._shaped(x, backend)
            how = (return_std, return_cov, backend, usable(threads))
            mean, spread = posterior(self._core, self._factor, samples, *how)
            return self._predicted(mean), shared_by_outputs(spread, mean) if self.classes_ is None else spread
        return self._predicted(self.decision_function(x, backend=backend, threads=threads))

    def _predicted(self, outputs: NDArray[np.float64]) -> NDArray[Any]:
        if self.classes_ is None:
            return outputs
        return self.classes_[_core.model_classes(self._core, outputs[:, None] if outputs.ndim == 1 else outputs)]

    def predict_proba(
        self, x: ArrayLike, *, backend: str = "cpu", threads: int | None = None
    ) -> NDArray[np.float64]:
        """Returns class probabilities, one row per sample.

        Raises InputError unless the machine is logistic, or a support vector machine fitted with probabilities.
        """
        if self.classes_ is None or not self._core.has_probabilities:
            raise InputError(
                f"this {self.machine} has no probabilities; fit 'logistic', or a support vector machine with "
                "probability=True (widelimit fit --probability)"
            )
        return _core.model_probabilities(self._core, self._outputs(x, backend, threads))

    def _shaped(self, x: Any, backend: str) -> NDArray[np.floating] | SparseSamples | GraphSamples:
        """Returns x in the sample shape of the fit; x may be flattened."""
        samples = as_graphs(x, "x") if self._core.nodes else as_samples(x, "x", backend)
        if isinstance(samples, (SparseSamples, GraphSamples)):
            return samples
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


def load_model(
    path: str | os.PathLike[str], *, pair_features: PairFeature | Sequence[PairFeature] | None = None
) -> Model:
    """Reads a machine written by `widelimit fit` or by save of an estimator, including its scaling.

    pair_features: the functions of the fit, if any, with the same names, since a file stores only the names. Without
    them the model loads but cannot predict.

    >>> import os, tempfile, widelimit as wl
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.h5")
    ...     wl.NTKRegressor("fc:1", lam=0.01).fit([[1.0, 0.0], [0.0, 1.0]], [1.0, -1.0]).save(path)
    ...     wl.load_model(path).predict([[1.0, 0.0]]).round(1)
    array([1.])
    """
    core = _core.read_model(os.fspath(path))
    found = _core.load_model(os.fspath(path))
    record = _record_of(found)
    classes = _classes(core.classes, record.get("dtype")) if core.classes else None
    return Model(core, classes, _named_features(pair_features, found, record))
