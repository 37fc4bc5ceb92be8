"""Machines by their name, for the functions fit_* and the estimators."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from widelimit import _core
from widelimit._arguments.samples import as_images, as_kernel, as_matrix
from widelimit._arguments.targets import as_classes, as_columns, as_weights, class_weighted, number_weights
from widelimit._arguments.threads import usable
from widelimit._fit import Fit, Summary, make_fit, warn_of
from widelimit._kernels import as_network, warn_of_quadrature

_INDEFINITE = (
    "; if it is indefinite by construction, as a label-aware kernel is, indefinite=True solves the system by LDLᵀ"
)


def _with_indefinite_hint(parts: tuple, indefinite: bool | None) -> tuple:
    """Adds the option `indefinite` to the message of a fit that ended without it; None: the caller has no such option.

    parts: (alpha, bias, summary) of the core library.
    """
    alpha, bias, fields = parts
    summary = Summary(*fields)
    if indefinite is not False or summary.ending != "not positive definite":
        return parts
    return alpha, bias, summary._replace(message=summary.message + _INDEFINITE)


def train_classes(
    machine: str,
    k: ArrayLike,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    class_weight: Any = None,
    backend: str | None = None,
    threads: int | None = None,
    stacklevel: int = 2,
    **options: Any,
) -> Fit:
    """Fits a classifier by name; `stacklevel` is that of its warning, 2 for the caller.

    options: lam, bias, scheme, tolerance, probability, check_definite and indefinite of the core library.
    """
    classes, labels = as_classes(y)
    weights = class_weighted(class_weight, machine, classes, labels, sample_weight)
    gram = as_kernel(k, "K", backend, usable(threads))
    options.update(machine=machine, threads=usable(threads))
    scheme, parts, sigmoids = _core.train_classes(gram, labels, len(classes), weights, options)
    parts = _with_indefinite_hint(parts, options.get("indefinite"))
    return warn_of(make_fit(machine, scheme, parts, classes, single=True, calibration=sigmoids), stacklevel)


def train_values(
    machine: str,
    k: ArrayLike,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    backend: str | None = None,
    threads: int | None = None,
    stacklevel: int = 2,
    **options: Any,
) -> Fit:
    """Fits a regressor by name; `stacklevel` is that of its warning, 2 for the caller.

    options: lam, epsilon, bias, tolerance, check_definite and indefinite of the core library.
    """
    targets, single = as_columns(y)
    weights = as_weights(sample_weight)
    gram = as_kernel(k, "K", backend, usable(threads))
    options.update(machine=machine, threads=usable(threads))
    scheme, parts, _ = _core.train_values(gram, targets, weights, options)
    parts = _with_indefinite_hint(parts, options.get("indefinite"))
    return warn_of(make_fit(machine, scheme, parts, None, single), stacklevel)


def train_aware_kernel(
    machine: str,
    k: ArrayLike,
    y: ArrayLike,
    label_aware: dict[str, Any],
    *,
    sample_weight: ArrayLike | None = None,
    class_weight: Any = None,
    threads: int | None = None,
    stacklevel: int = 2,
    **options: Any,
) -> Fit:
    """Fits a classifier on a label-aware kernel made from the Gram matrix k; k stays unchanged.

    options: lam, bias, scheme, tolerance and probability of the core library.
    """
    classes, labels = as_classes(y)
    weights = class_weighted(class_weight, machine, classes, labels, sample_weight)
    gram = as_matrix(k, "K")
    options.update(machine=machine, threads=usable(threads))
    (scheme, parts, sigmoids), aware = _core.fit_aware_kernel(
        gram, labels, len(classes), weights, label_aware, options
    )
    fit = make_fit(machine, scheme, parts, classes, single=True, calibration=sigmoids)
    return warn_of(replace(fit, label_aware=aware), stacklevel)


def fit_samples(
    network: Any,
    x: ArrayLike,
    y: ArrayLike,
    classify: bool,
    *,
    machine: str,
    sample_weight: ArrayLike | None = None,
    class_weight: Any = None,
    precision: str | None = None,
    backend: str = "cpu",
    threads: int | None = None,
    channels_first: bool | None = None,
    label_aware: dict[str, Any] | None = None,
    pair_features: Any = None,
    stacklevel: int = 2,
    **options: Any,
) -> Fit:
    """Fits a machine on the kernel of a network; the core library chooses the solver, as for `widelimit fit`.

    options: lam, epsilon, bias, scheme, tolerance, probability, solver and kind of the core library.
    """
    classes, labels, targets, single = None, None, None, True
    if classify:
        classes, labels = as_classes(y)
        weights = class_weighted(class_weight, machine, classes, labels, sample_weight)
    else:
        weights = number_weights(class_weight, sample_weight)
        targets, single = as_columns(y)
    net = as_network(network)
    options.update(machine=machine, precision=precision, backend=backend, threads=usable(threads))
    (scheme, parts, sigmoids), error, aware = _core.fit_samples(
        net,
        as_images(net, x, "x", channels_first, backend),
        labels,
        0 if classes is None else len(classes),
        targets,
        weights,
        label_aware,
        pair_features,
        options,
    )
    warn_of_quadrature(error, precision, stacklevel + 1)
    fit = make_fit(machine, scheme, parts, classes, single, sigmoids)
    return warn_of(fit if aware is None else replace(fit, label_aware=aware), stacklevel)
