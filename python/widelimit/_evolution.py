"""Evolution of the empirical NTK of a network during training."""

from __future__ import annotations

import json
import operator
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from widelimit import _core
from widelimit._arguments.device import on_host
from widelimit._arguments.options import numbers_of, whole_numbers
from widelimit._arguments.samples import as_images, as_rows
from widelimit._arguments.targets import as_classes, columns
from widelimit._arguments.training import held_out, held_out_targets, training_options, training_targets
from widelimit._core import InputError, Network
from widelimit._fit import ConvergenceWarning
from widelimit._kernels import as_network
from widelimit._train import TrainedNetwork

_TRAINING = (
    "adam_epsilon", "batch", "beta1", "beta2", "centred", "crop", "epochs", "epsilon", "flip", "initialisation", "lam",
    "last_rate", "loss", "milestones", "momentum", "optimiser", "parameterisation", "precision", "rate", "rate_drop",
    "regulariser", "schedule", "seed", "steps", "warmup", "weight_decay", "width",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Evolution:
    """Measurements at the checkpoints of a training; arrays have one entry per checkpoint, NaN if missing."""

    steps: NDArray[np.int64]
    epochs: NDArray[np.float64]
    loss: NDArray[np.float64]
    accuracy: NDArray[np.float64] | None
    test_accuracy: NDArray[np.float64] | None
    distances: NDArray[np.float64]
    """S(t, s) = 1 − ⟨K_t, K_s⟩/(‖K_t‖‖K_s‖) of all pairs of checkpoints."""
    velocity: NDArray[np.float64]
    """S(s, t)/(t − s) per epoch, with s the previous checkpoint."""
    kernel_norm: NDArray[np.float64]
    alignment: NDArray[np.float64]
    """⟨K, YYᵀ⟩/(‖K‖‖YYᵀ‖)."""
    largest_eigenvalue: NDArray[np.float64]
    """λ_max of the kernel of all outputs on all training samples."""
    sharpness: NDArray[np.float64]
    """rate·l''·λ_max; gradient descent on the linearised network is stable below 2."""
    moved: NDArray[np.float64]
    """‖w − w₀‖."""
    moved_share: NDArray[np.float64]
    gates_changed: NDArray[np.float64]
    """Fraction of the gates (signs at kinks) of the probe samples that differ from initialisation."""
    same_class: NDArray[np.float64]
    """Mean over pairs of the same class, including self-pairs, relative to the mean diagonal."""
    other_class: NDArray[np.float64]
    elasticity: NDArray[np.float64]
    kernel_error: NDArray[np.float64]
    """Relative standard error of a sketched kernel; 0 for an exact kernel."""
    kernels: NDArray[np.float64] | None
    """Checkpoints × probe × probe; with outputs='class' checkpoints × outputs × probe × probe."""
    probe: NDArray[np.int64] | None
    """Rows of x that form the probe set; None if the probe set was given."""
    tangent: list[dict[str, Any]]
    """Tangent training from each checkpoint: step, samples, accuracy, test_accuracy, squared_error, unlearnt, …"""
    barriers: list[dict[str, Any]]
    """Error barriers of each checkpoint: step, apart, and 'train' and 'test' with barrier, alphas and errors."""
    remarks: list[str]
    trained: TrainedNetwork
    seconds: float

    @property
    def distance(self) -> NDArray[np.float64]:
        """S(0, t)."""
        return self.distances[0]

    def __repr__(self) -> str:
        return f"<Evolution: {len(self.steps)} checkpoints, S(0, T) = {self.distances[0, -1]:.3g}>"


def evolution(
    network: Network | str,
    x: ArrayLike,
    y: ArrayLike,
    *,
    probe: int | tuple[ArrayLike, ArrayLike] = 100,
    labels: ArrayLike | None = None,
    at: Sequence[int] | None = None,
    at_epochs: Sequence[float] | None = None,
    checkpoints: int | None = None,
    outputs: str | None = None,
    projections: int | None = None,
    keep_kernels: bool = True,
    tangent: bool = False,
    tangent_samples: int | None = None,
    tangent_time: float | None = None,
    tangent_kernel: str | None = None,
    linearised: bool = False,
    barriers: bool = False,
    barrier_points: int | None = None,
    branch_at: Sequence[int] | None = None,
    test: ArrayLike | tuple[ArrayLike, ArrayLike] | None = None,
    memory: str | None = None,
    backend: str = "cpu",
    threads: int | None = None,
    channels_first: bool | None = None,
    **training: Any,
) -> Evolution:
    """Trains a network and measures its empirical NTK on a probe set; other keyword arguments as in train.

    probe: number of probe samples, balanced over classes; or (samples, y).
    labels: the class of each sample of x (or of the given probe set) if y does not hold classes; used for the class
        structure and local elasticity.
    at, at_epochs: checkpoints in steps or epochs, in addition to the first and the last; default: `checkpoints` of
        them, denser at the beginning.
    outputs: for several outputs 'trace', the mean of their kernels, or 'class', one kernel each.
    projections: number of random directions of a gradient sketch; 0 (default) computes exact kernels.
    tangent: train the network linearised at each checkpoint by gradient flow on the squared loss, in closed form, on
        the first `tangent_samples` samples up to `tangent_time` (default: all samples, infinity); tangent_kernel:
        'full', over all pairs of outputs, or 'trace'. linearised: also train it by the remaining steps of the training.
    barriers: compute error barriers between two children of each checkpoint, trained on different batches, at
        barrier_points networks on the line between them. branch_at: the checkpoints of tangent training and barriers;
        default: all but the last.
    keep_kernels: False omits the kernels from the result. memory: the memory limit, e.g. '1GiB'. test: as in train.

    A training that diverges gives a ConvergenceWarning; the measurements before that are returned.

    >>> import numpy as np, widelimit as wl
    >>> x, y, _ = wl.load_data("digits", classes=[3, 8], limit=60, scale="unit")
    >>> e = wl.evolution("fc:1", x, np.where(y == 0, -1.0, 1.0), labels=y, probe=20, width=64, steps=60, at=[5, 20])
    >>> e.steps, e.kernels.shape, e.distances.shape
    (array([ 0,  5, 20, 60]), (4, 20, 20), (4, 4))
    >>> bool(e.distance[-1] > e.distance[1] > 0), bool(e.same_class[-1] > e.other_class[-1])
    (True, True)
    """
    if unknown := sorted(set(training).difference(_TRAINING)):
        raise InputError(f"evolution takes no {unknown[0]!r}; of train it takes {', '.join(_TRAINING)}")
    if training.get("steps") is not None and training.get("epochs") is not None:
        raise InputError("both steps and epochs are given; give one of them")
    net = as_network(network)
    loss = training.get("loss") or "squared"
    targets, classes = training_targets(y, loss)
    x = on_host(x, "x", backend)
    samples = as_images(net, x, "x", channels_first)
    test_samples, test_targets = held_out(net, test, loss, classes, targets, channels_first, backend)
    known = None if labels is None else as_classes(labels)[1]
    chosen = None
    if isinstance(probe, tuple):
        probe_samples = as_images(net, probe[0], "probe samples", channels_first, backend)
        probe_targets = held_out_targets(probe[1], loss, classes, targets)
        if known is None and classes is not None:
            known = as_classes(probe[1])[1]
    else:
        if known is None and classes is not None:
            known = as_classes(y)[1]
        if known is not None and len(known) != len(targets):
            raise InputError(f"{len(known)} labels for {len(targets)} samples")
        rows = as_rows(x, "x")
        if rows.shape[0] != len(targets):
            raise InputError(f"{rows.shape[0]} samples have {len(targets)} rows of targets; give one for each")
        chosen = np.array(_core.probe_samples(known, len(targets), _count(probe)), dtype=np.int64)
        probe_samples = as_images(net, rows[chosen], "x", channels_first)
        probe_targets = np.ascontiguousarray(columns(targets)[chosen])
        known = None if known is None else np.ascontiguousarray(known[chosen])
    if known is not None and len(np.unique(known)) < 2:
        known = None
    options = training_options(
        threads,
        **{**training, "loss": loss},
        at=whole_numbers(at, "at"),
        at_epochs=numbers_of(at_epochs, "at_epochs"),
        checkpoints=checkpoints,
        outputs=outputs,
        projections=projections,
        keep_kernels=keep_kernels,
        tangent=tangent,
        tangent_samples=tangent_samples,
        tangent_time=tangent_time,
        tangent_kernel=tangent_kernel,
        linearised_descent=linearised,
        barriers=barriers,
        barrier_points=barrier_points,
        branch_at=whole_numbers(branch_at, "branch_at"),
        memory=memory,
        backend=backend,
    )
    numbers, distances, kernels, core, seconds = _core.evolution(
        net, samples, columns(targets), test_samples, test_targets, probe_samples, probe_targets, known, options
    )
    found = json.loads(numbers)
    single = targets.ndim == 1 or targets.shape[1] == 1
    trained = TrainedNetwork(core, classes, single, channels_first, loss)
    if not trained.summary.finished:
        warnings.warn(f"evolution: {trained.summary.message}", ConvergenceWarning, stacklevel=2)
    points = found["checkpoints"]

    def column(name: str) -> NDArray[np.float64]:
        return np.array([point.get(name, np.nan) for point in points], dtype=np.float64)

    def optional(name: str) -> NDArray[np.float64] | None:
        return column(name) if any(name in point for point in points) else None

    return Evolution(
        steps=np.array([point["step"] for point in points], dtype=np.int64),
        epochs=column("epoch"),
        loss=column("loss"),
        accuracy=optional("accuracy"),
        test_accuracy=optional("test_accuracy"),
        distances=distances,
        velocity=column("velocity"),
        kernel_norm=column("kernel_norm"),
        alignment=column("alignment"),
        largest_eigenvalue=column("largest_eigenvalue"),
        sharpness=column("sharpness"),
        moved=column("moved"),
        moved_share=column("moved_share"),
        gates_changed=column("gates_changed"),
        same_class=column("same_class"),
        other_class=column("other_class"),
        elasticity=column("elasticity"),
        kernel_error=np.nan_to_num(column("kernel_error")),
        kernels=kernels,
        probe=chosen,
        tangent=found.get("tangent", []),
        barriers=found.get("barriers", []),
        remarks=found["remarks"],
        trained=trained,
        seconds=seconds,
    )


def _count(probe: Any) -> int:
    try:
        return operator.index(probe)
    except TypeError:
        raise InputError(f"probe is {probe!r}; give a number of samples, or (samples, y)") from None
