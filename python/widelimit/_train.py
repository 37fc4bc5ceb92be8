"""Training of finite networks by gradient descent."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from widelimit import _core
from widelimit._arguments.samples import as_images, as_samples, channels_last
from widelimit._arguments.targets import class_names, columns
from widelimit._arguments.threads import usable
from widelimit._arguments.training import held_out, training_options, training_targets
from widelimit._core import InputError, Network, SparseSamples
from widelimit._fit import ConvergenceWarning
from widelimit._kernels import as_network

if TYPE_CHECKING:
    from widelimit._data import Data

class TrainSummary(NamedTuple):
    """Outcome of a training."""

    ending: str
    """'finished', 'diverged', 'dead' (constant outputs with zero gradient) or 'step limit'."""
    message: str
    """What happened and what to do; may be empty."""
    steps: int
    time: float
    """Sum of the step sizes."""
    weights: int
    """Number of trained parameters."""
    seconds: float
    rate: float
    """The learning rate; for a flow its first step size."""

    @property
    def finished(self) -> bool:
        return self.ending == "finished"


class Weights(NamedTuple):
    """Weight matrix of one layer, fan_in × fan_out, and its bias, or None without bias."""

    w: NDArray[np.floating]
    b: NDArray[np.floating] | None


class TrainedNetwork:
    """A trained finite network, with its training record.

    >>> import numpy as np, widelimit as wl
    >>> x, y, _ = wl.load_data("digits", classes=[3, 8], limit=40, scale="unit")
    >>> t = wl.train("fc:1", x, y, width=64, loss="hinge", lam=0.01, rate=0.05, steps=50)
    >>> t.outputs.shape, t.loss.shape, [layer.w.shape for layer in t.parameters]
    ((51, 40), (51,), [(64, 64), (64, 1)])
    >>> bool(t.loss[-1] < t.loss[0]), t.predict(x[:2]).shape
    (True, (2,))
    """

    def __init__(
        self,
        core: _core.TrainedNetwork,
        classes: NDArray[Any] | None,
        single: bool,
        channels_first: bool | None = None,
        loss: str | None = None,
        origin: str | None = None,
    ) -> None:
        self._core = core
        self._loss = loss
        self._origin = origin
        self.channels_first: bool | None = channels_first
        """Whether images are N×C×H×W."""
        self._single = single
        record = _core.trained_record(core)
        self.classes_: NDArray[Any] | None = classes
        """The sorted classes, in the dtype of y; None for regression."""
        self.summary = TrainSummary(*_core.trained_summary(core))
        self.steps: NDArray[np.int64] = record["steps"]
        """The recorded steps; the following arrays have one entry per recorded step."""
        self.times: NDArray[np.float64] = record["times"]
        """Sum of the step sizes up to each step."""
        self.loss: NDArray[np.float64] = record["loss"]
        """Sum of the losses over all training samples."""
        self.objective: NDArray[np.float64] = record["objective"]
        """Objective: losses plus regulariser."""
        self.distance: NDArray[np.float64] = record["distance"]
        """‖w − w₀‖."""
        self.accuracy: NDArray[np.float64] | None = record["accuracy"]
        """Accuracy on the training samples; None for regression targets."""
        self.test_loss: NDArray[np.float64] | None = record["test_loss"]
        self.test_accuracy: NDArray[np.float64] | None = record["test_accuracy"]
        self.outputs: NDArray[np.float64] = self._shaped(record["outputs"])
        """f on the training samples (f − f₀ if centred): steps × samples (× outputs if several)."""
        self.test_outputs: NDArray[np.float64] | None = self._shaped(record["test_outputs"])

    network = property(lambda self: self._core.network, doc="The network architecture.")
    width = property(lambda self: self._core.width)
    seed = property(lambda self: self._core.seed)
    centred = property(lambda self: self._core.centred)
    linearised = property(lambda self: self._core.linearised)
    regulariser = property(lambda self: self._core.regulariser)
    precision = property(lambda self: self._core.precision)

    @property
    def parameters(self) -> list[Weights]:
        """The trained weights by layer, in the order of evaluation; read-only views."""
        return [Weights(*pair) for pair in _core.trained_weights(self._core, False)]

    @property
    def start(self) -> list[Weights]:
        """The initial weights."""
        return [Weights(*pair) for pair in _core.trained_weights(self._core, True)]

    def predict(self, x: ArrayLike, *, backend: str = "cpu", threads: int | None = None) -> NDArray[np.float64]:
        """Returns f (f − f₀ if centred): one number per sample, or one row if there are several outputs."""
        outputs = _core.predict_outputs(self._core, self._samples(x, "x", backend), backend, usable(threads))
        return outputs[:, 0] if self._single else outputs

    def predict_classes(self, x: ArrayLike, *, backend: str = "cpu", threads: int | None = None) -> NDArray[Any]:
        """Returns predicted classes; raises InputError if the training targets were numbers other than −1 and 1."""
        if self.classes_ is None:
            raise InputError("this network was trained on numbers; use predict")
        outputs = self.predict(x, backend=backend, threads=threads)
        predicted = np.argmax(outputs, axis=1) if outputs.ndim == 2 else (outputs > 0).astype(np.intp)
        return self.classes_[predicted]

    def predict_proba(self, x: ArrayLike, *, backend: str = "cpu", threads: int | None = None) -> NDArray[np.float64]:
        """Returns class probabilities, one row per sample.

        Raises InputError unless the network was trained with the softmax loss, or with the logistic loss for two
        classes.
        """
        outputs = _core.predict_outputs(self._core, self._samples(x, "x", backend), backend, usable(threads))
        known = self.classes_ is not None and self._loss is not None
        found = _core.network_probabilities(self._loss, outputs) if known else np.empty((0, 0))
        if found.shape[1] == 0:
            raise InputError(
                f"a network {f'trained with the {self._loss} loss' if known else 'of this training'} has no "
                "probabilities; train with loss='softmax', or two classes with loss='logistic'"
            )
        return found

    @property
    def origin(self) -> dict[str, Any]:
        """Metadata of its samples: samples and checksum of the source, table, classes, split, limit; may be {}."""
        found = {} if self._origin is None else json.loads(self._origin)
        return found if found.get("samples") else {}

    def save(self, path: str | os.PathLike[str], data: Data | None = None) -> None:
        """Writes an HDF5 file for load_network and `widelimit predict`; classes are stored as text.

        data: the unscaled training set returned by load_train_test; the file then stores its columns and its split for
        load_data(spec, model=…, part='test') and `widelimit predict --part test`. Classes that are indices into its
        class names are written as names.
        """
        origin = self._origin
        if data is not None:
            if data._origin is None:
                raise InputError("data= must be the unscaled training set returned by load_data or load_train_test")
            origin = data._origin
        names = self._class_names(None if data is None else data.class_names)
        _core.save_network(self._core, os.fspath(path), names, bool(self.channels_first), self._loss, origin)

    def _class_names(self, names: list[str] | None = None) -> list[str]:
        """Returns the classes as text; indices are replaced by `names`, if given."""
        if self.classes_ is None:
            return []
        if names and self.classes_.dtype.kind in "iu" and self.classes_.min() >= 0:
            return [names[c] for c in self.classes_]
        return class_names(self.classes_)

    def _origin_and_classes(self) -> tuple[str | None, list[str]]:
        """Returns the origin as JSON and the class names, by which load_data reads new samples."""
        return self._origin, self._class_names()

    def _samples(self, x: ArrayLike, name: str, backend: str = "cpu") -> NDArray[np.floating]:
        """Returns x in the layout of the training samples."""
        samples = as_samples(x, name, backend)
        height, width, channels = self._core.shape
        if not self.channels_first or isinstance(samples, SparseSamples):
            return samples
        if samples.shape[1:] == (channels * height * width,):
            samples = samples.reshape(len(samples), channels, height, width)
        return channels_last(samples, name) if samples.shape[1:] == (channels, height, width) else samples

    def _shaped(self, outputs: NDArray[np.float64] | None) -> Any:
        return outputs[:, :, 0] if outputs is not None and self._single else outputs

    def __repr__(self) -> str:
        return f"<TrainedNetwork: {self.network}, width {self.width}, {self.summary.ending}>"


def train(
    network: Network | str,
    x: ArrayLike,
    y: ArrayLike,
    *,
    width: int | Sequence[int] | None = None,
    loss: str = "squared",
    lam: float | None = None,
    regulariser: str | None = None,
    rate: float | None = None,
    steps: int | None = None,
    epochs: int | None = None,
    batch: int | None = None,
    optimiser: str | None = None,
    momentum: float | None = None,
    beta1: float | None = None,
    beta2: float | None = None,
    adam_epsilon: float | None = None,
    weight_decay: float | None = None,
    schedule: str | None = None,
    warmup: float | None = None,
    milestones: Sequence[float] | None = None,
    rate_drop: float | None = None,
    last_rate: float | None = None,
    seed: int | None = None,
    test: ArrayLike | tuple[ArrayLike, ArrayLike] | None = None,
    epsilon: float | None = None,
    centred: bool | None = None,
    linearised: bool | None = None,
    flow: float | None = None,
    tolerance: float | None = None,
    parameterisation: str | None = None,
    initialisation: str | None = None,
    flip: bool | None = None,
    crop: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: int | None = None,
    resume: TrainedNetwork | None = None,
    precision: str | None = None,
    records: int | None = None,
    record_steps: Sequence[int] | None = None,
    backend: str = "cpu",
    threads: int | None = None,
    channels_first: bool | None = None,
) -> TrainedNetwork:
    """Trains a network of finite width by gradient descent on λ·penalty + Σ l(f(xᵢ), yᵢ).

    Each step is w ← w − rate·(λ·∇penalty + (n/|B|)·Σ_B l'(fᵢ)·∇fᵢ); the batch B defaults to all samples.

    width: channels of every hidden layer, or a sequence, one for each dense, conv and attention layer before the last.
    rate: the learning rate; default: a stable one, 1/(λ + c·λ_max) with the curvature c of the loss and λ_max of the
        empirical NTK at initialisation; for Adam, by the layer widths. See summary.rate.
    epochs: passes over all samples, instead of `steps`; samples are reshuffled in each.
    optimiser: 'sgd', plain or with `momentum`; 'nesterov'; 'adam', with `beta1`, `beta2` and `adam_epsilon`; 'adamw'.
    weight_decay: δ of δ/2·‖w‖² over all trained weights, in addition to the regulariser; for 'adamw' decoupled: weights
        shrink by rate·δ per step. The loss is a sum over samples: a mean loss, as in PyTorch, corresponds to learning
        rate rate·n and decay δ/n, but for Adam to the same rate and for 'adamw' to the same decay.
    schedule: 'constant'; 'step', rate times `rate_drop` at each of `milestones`; 'cosine', down to `last_rate`.
        `warmup`: initial linear increase. Positions are fractions of all steps, `last_rate` is a fraction of the rate.
    y: numbers; −1 and 1 for margin losses; or classes: two become −1 and 1 of one output, more have one output each.
    loss: 'squared', 'hinge', 'squared-hinge', 'insensitive' (with `epsilon`), 'logistic' or 'softmax'.
    regulariser: 'init', the distance of all trained weights to initialisation, whose infinite-width limit is the
        kernel machine; 'output', the norm of the output layer, trained in its scaled weights; 'weights', the same,
        trained in its unscaled weights; 'aux', an auxiliary output √λ·b at each sample; 'none'. Frozen layers keep
        their initial weights.
    channels_first: True if images are N×C×H×W, as in kernel.
    centred: train f − f₀. linearised: train f₀ + J(w − w₀). flow: integrate the gradient flow up to this time with
        adaptive steps, whose error in an output is `tolerance`.
    parameterisation: 'ntk' or 'standard'. initialisation: 'normal'; 'uniform', with the same variance; 'pytorch', the
        default of its layers (with 'standard'). flip, crop: random mirroring, and random shifts by up to `crop` pixels.
    checkpoint: a file of the network and its training state, written every `checkpoint_every` steps (default: a tenth
        of all) and at the end. resume: continue the training of such a file, read by load_network, with the same
        samples and options; the result is bitwise identical to an uninterrupted run. For a network without training
        state: start a new training from its weights; network, seed, centred and linearised stay the same.
    test: samples, or (samples, y), to evaluate too. records: number of recorded steps; record_steps: record these steps
        instead, and the first and the last. backend: 'cpu', or an NVIDIA device such as 'cuda:0'.

    A diverging training or dead network gives a ConvergenceWarning and is reported in `summary.ending`.

    >>> import numpy as np, widelimit as wl
    >>> x = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.2]])
    >>> t = wl.train("fc:1", x, [1, -1, 1], width=256, loss="hinge", lam=0.01, regulariser="init", steps=200, rate=0.1)
    >>> np.sign(t.predict(x))
    array([ 1., -1.,  1.])
    """
    if steps is not None and epochs is not None:
        raise InputError("both steps and epochs are given; give one of them")
    net = as_network(network)
    targets, classes = training_targets(y, loss)
    samples, test_targets = held_out(net, test, loss, classes, targets, channels_first, backend)
    options = training_options(
        threads,
        width=width,
        initialisation=initialisation,
        flip=flip,
        crop=crop,
        checkpoint_every=checkpoint_every,
        loss=loss,
        lam=lam,
        regulariser=regulariser,
        rate=rate,
        steps=steps,
        batch=batch,
        epochs=epochs,
        optimiser=optimiser,
        momentum=momentum,
        beta1=beta1,
        beta2=beta2,
        adam_epsilon=adam_epsilon,
        weight_decay=weight_decay,
        schedule=schedule,
        warmup=warmup,
        milestones=milestones,
        rate_drop=rate_drop,
        last_rate=last_rate,
        seed=seed,
        epsilon=epsilon,
        centred=centred,
        linearised=linearised,
        flow=flow,
        tolerance=tolerance,
        parameterisation=parameterisation,
        precision=precision,
        records=records,
        record_steps=record_steps,
        backend=backend,
    )
    images = as_images(net, x, "x", channels_first, backend)
    file = None
    if checkpoint is not None:
        names = [] if classes is None else class_names(classes)
        file = (os.fspath(checkpoint), names, bool(channels_first), loss)
    if not isinstance(resume, TrainedNetwork | None):
        raise InputError(f"resume is of type {type(resume).__name__}; give the network that load_network returns")
    begun = None if resume is None else resume._core
    core = _core.train(net, images, columns(targets), samples, test_targets, options, file, begun)
    single = targets.ndim == 1 or targets.shape[1] == 1
    trained = TrainedNetwork(core, classes, single, channels_first, loss)
    if not trained.summary.finished:
        warnings.warn(f"train: {trained.summary.message}", ConvergenceWarning, stacklevel=2)
    return trained


def load_network(path: str | os.PathLike[str]) -> TrainedNetwork:
    """Reads a network written by save or `widelimit train --out`, without its training record.

    >>> import os, tempfile, widelimit as wl
    >>> x = [[1.0, 0.0], [0.0, 1.0]]
    >>> t = wl.train("fc:1", x, [1.0, -1.0], width=16, steps=10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     t.save(os.path.join(folder, "net.h5"))
    ...     again = wl.load_network(os.path.join(folder, "net.h5"))
    >>> bool((again.predict(x) == t.predict(x)).all())
    True
    """
    core, classes, scaling, channels_first, loss, origin = _core.load_network(os.fspath(path))
    if scaling is not None:
        warnings.warn(f"the network was trained on samples scaled by {scaling!r}; scale new ones too", stacklevel=2)
    names = np.array(classes) if classes else None
    trained = TrainedNetwork(core, names, core.outputs == 1, channels_first or None, loss, origin)
    if not trained.summary.finished:
        warnings.warn(f"{path}: {trained.summary.ending}: {trained.summary.message}", ConvergenceWarning, stacklevel=2)
    return trained
