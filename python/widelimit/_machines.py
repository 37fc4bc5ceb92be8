"""Kernel machines: the least λ/2‖β‖² + Σ wᵢ l(g(xᵢ), yᵢ) over g(x) = ⟨β,Φ(x)⟩ + b, of a Gram matrix."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from widelimit import _core
from widelimit._fit import Fit, make_fit, warn_of
from widelimit._kernels import as_network, warn_of_quadrature
from widelimit._samples import as_images, as_kernel
from widelimit._targets import as_classes, as_numbers, as_weights, class_weighted, holds_numbers, number_weights
from widelimit._threads import usable


def train_classes(
    machine: str,
    k: ArrayLike,
    y: ArrayLike,
    *,
    lam: float | None = None,
    bias: bool | None = None,
    sample_weight: ArrayLike | None = None,
    class_weight: Any = None,
    scheme: str | None = None,
    tolerance: float | None = None,
    backend: str | None = None,
    threads: int | None = None,
    probability: bool | None = None,
    check_definite: bool | None = None,
    stacklevel: int = 2,
) -> Fit:
    """A machine by name, for classes; `stacklevel` is that of its warning, 2 for the caller."""
    classes, labels = as_classes(y)
    scheme, parts, sigmoids = _core.train_classes(
        as_kernel(k, "K", backend, usable(threads)),
        labels,
        len(classes),
        machine,
        lam,
        bias,
        scheme,
        class_weighted(class_weight, machine, classes, labels, sample_weight),
        tolerance,
        usable(threads),
        probability,
        check_definite,
    )
    return warn_of(make_fit(machine, scheme, parts, classes, single=True, calibration=sigmoids), stacklevel)


def train_values(
    machine: str,
    k: ArrayLike,
    y: ArrayLike,
    *,
    lam: float | None = None,
    epsilon: float | None = None,
    bias: bool | None = None,
    sample_weight: ArrayLike | None = None,
    tolerance: float | None = None,
    backend: str | None = None,
    threads: int | None = None,
    check_definite: bool | None = None,
    stacklevel: int = 2,
) -> Fit:
    """A machine by name, for numbers; `stacklevel` is that of its warning, 2 for the caller."""
    numbers = as_numbers(y)
    single = numbers.ndim == 1
    targets = numbers[:, None] if single else numbers
    weights = as_weights(sample_weight)
    scheme, parts, _ = _core.train_values(
        as_kernel(k, "K", backend, usable(threads)),
        targets,
        machine,
        lam,
        epsilon,
        bias,
        weights,
        tolerance,
        usable(threads),
        check_definite,
    )
    return warn_of(make_fit(machine, scheme, parts, None, single), stacklevel)


def fit_samples(
    network: Any,
    x: ArrayLike,
    y: ArrayLike,
    classify: bool,
    *,
    machine: str,
    lam: float | None = None,
    epsilon: float | None = None,
    bias: bool | None = None,
    sample_weight: ArrayLike | None = None,
    class_weight: Any = None,
    scheme: str | None = None,
    tolerance: float | None = None,
    probability: bool | None = None,
    solver: str | None = None,
    kind: str | None = None,
    precision: str | None = None,
    backend: str = "cpu",
    threads: int | None = None,
    channels_first: bool | None = None,
    label_aware: dict[str, Any] | None = None,
    pair_features: Any = None,
    stacklevel: int = 2,
) -> Fit:
    """A machine on the kernel of a network: the library chooses how it is fitted, as it does for `widelimit fit`."""
    classes, labels, targets, single = None, None, None, True
    if classify:
        classes, labels = as_classes(y)
        weights = class_weighted(class_weight, machine, classes, labels, sample_weight)
    else:
        weights = number_weights(class_weight, sample_weight)
        numbers = as_numbers(y)
        single = numbers.ndim == 1
        targets = np.ascontiguousarray(numbers[:, None] if single else numbers)
    net = as_network(network)
    (scheme, parts, sigmoids), error, aware = _core.fit_samples(
        net,
        as_images(net, x, "x", channels_first, backend),
        labels,
        0 if classes is None else len(classes),
        targets,
        machine,
        lam,
        epsilon,
        bias,
        scheme,
        weights,
        tolerance,
        probability,
        solver,
        kind,
        precision,
        backend,
        usable(threads),
        label_aware,
        pair_features,
    )
    warn_of_quadrature(error, precision, stacklevel + 1)
    fit = make_fit(machine, scheme, parts, classes, single, sigmoids)
    return warn_of(fit if aware is None else replace(fit, label_aware=aware), stacklevel)


def _fit_linear(machine, k, y, lam, bias, sample_weight, classify, backend, threads, class_weight=None) -> Fit:
    where = dict(backend=backend, threads=threads)
    if not holds_numbers(y) if classify is None else classify:
        weights = dict(sample_weight=sample_weight, class_weight=class_weight)
        return train_classes(machine, k, y, lam=lam, bias=bias, **weights, **where, stacklevel=4)
    weights = number_weights(class_weight, sample_weight)
    return train_values(machine, k, y, lam=lam, bias=bias, sample_weight=weights, **where, stacklevel=4)


def fit_regression(
    k: ArrayLike,
    y: ArrayLike,
    *,
    bias: bool | None = None,
    sample_weight: ArrayLike | None = None,
    classify: bool | None = None,
    backend: str | None = None,
    threads: int | None = None,
) -> Fit:
    """Kernel regression, ridge at λ = 0: α = K⁻¹y, the interpolant of least norm.

    Arguments as those of fit_ridge. Where K is not positive definite, the summary says which λ would cure it.

    >>> import numpy as np, widelimit as wl
    >>> x, y = np.array([[1.0, 2.0], [3.0, -1.0]]), [1.0, 2.0]
    >>> k = wl.kernel("fc:2", x)
    >>> wl.fit_regression(k, y).predict(k).round(6)
    array([1., 2.])
    """
    return _fit_linear("regression", k, y, None, bias, sample_weight, classify, backend, threads)


def fit_ridge(
    k: ArrayLike,
    y: ArrayLike,
    lam: float | None = None,
    *,
    bias: bool | None = None,
    sample_weight: ArrayLike | None = None,
    class_weight: Any = None,
    classify: bool | None = None,
    backend: str | None = None,
    threads: int | None = None,
) -> Fit:
    """Kernel ridge regression, the least λ/2‖β‖² + Σ wᵢ (yᵢ − g(xᵢ))²: α = (K + λ/2·I)⁻¹ y.

    k: the Gram matrix of the samples, symmetric; float32 and float64 are read where they lie, on the host or on a
        device: arrays of NumPy, DeviceArray, CUDA tensors of PyTorch, CuPy and JAX.
    y: a number for each sample, or a row of them for several targets at once; or the names of classes: two become
        ±1, more a column of 0 and 1 each.
    lam: λ, 1 unless said. scikit-learn's KernelRidge(alpha=λ/2) is the same machine.
    bias: True for an offset that is not regularised; without it g is homogeneous.
    sample_weight: wᵢ ≥ 0, 1 unless said. class_weight: of classes, as in fit_svm.
    classify: True where numbers in y name classes, which is taken for granted of text, booleans and objects.
    backend: None for the device that k lies on, or the processor. 'cuda:0' uploads a k of the host; a k on another
        device is an InputError.

    >>> import numpy as np, widelimit as wl
    >>> fit = wl.fit_ridge(np.diag([1.0, 3.0]), [1.0, 7.0], lam=1.0)
    >>> fit.alpha
    array([0.66666667, 2.        ])
    >>> fit.predict([[0.0, 1.0]])
    array([2.])
    >>> fit.summary.converged
    True
    """
    return _fit_linear("ridge", k, y, lam, bias, sample_weight, classify, backend, threads, class_weight)


def fit_hard_svm(
    k: ArrayLike,
    y: ArrayLike,
    *,
    bias: bool | None = None,
    sample_weight: ArrayLike | None = None,
    scheme: str | None = None,
    tolerance: float | None = None,
    backend: str | None = None,
    threads: int | None = None,
    probability: bool | None = None,
    check_definite: bool | None = None,
) -> Fit:
    """Support vector machine with a hard margin: the least ‖β‖²/2 where yᵢg(xᵢ) ≥ 1 for all samples.

    Arguments as those of fit_svm. Data that cannot be separated end as 'not separable', with a ConvergenceWarning.

    >>> import numpy as np, widelimit as wl
    >>> fit = wl.fit_hard_svm(np.eye(2), [1, -1])
    >>> fit.alpha.round(6)
    array([ 1., -1.])
    """
    return train_classes(
        "hard-svm", k, y, bias=bias, sample_weight=sample_weight, scheme=scheme, tolerance=tolerance, backend=backend,
        threads=threads, probability=probability, check_definite=check_definite, stacklevel=3
    )


def fit_svm(
    k: ArrayLike,
    y: ArrayLike,
    lam: float | None = None,
    *,
    bias: bool | None = None,
    sample_weight: ArrayLike | None = None,
    class_weight: Any = None,
    scheme: str | None = None,
    tolerance: float | None = None,
    backend: str | None = None,
    threads: int | None = None,
    probability: bool | None = None,
    check_definite: bool | None = None,
) -> Fit:
    """Support vector machine, the least λ/2‖β‖² + Σ wᵢ max(0, 1 − yᵢg(xᵢ)).

    k: the Gram matrix of the samples, symmetric; float32 and float64 are read where they lie.
    y: the class of each sample: ±1, or whole numbers, text, … The second in order is the positive one.
    lam: λ, 1 unless said; C = 1/λ in scikit-learn's SVC, which always has a bias.
    bias: True for an offset that is not regularised; without it g is homogeneous.
    sample_weight: wᵢ ≥ 0, 1 unless said.
    class_weight: factors of these by class, {class: weight}, or 'balanced': n/(k·n_c) for the n_c samples of a class,
        so that all k classes count the same.
    scheme: of three or more classes, 'one-vs-one' (the default; of equal votes the larger sum of decisions),
        'one-vs-one-first' (of equal votes the first class, as LIBSVM and scikit-learn's SVC) or 'one-vs-rest'.
    tolerance: of the relative duality gap, 1e-6 unless said.
    probability: True for predict_proba, by Platt: a sigmoid of the decisions of five more machines, each fitted
        without a fifth of the samples, on that fifth.
    check_definite: False where k is known to be positive semi-definite, as kernel() makes it. Otherwise it is tested
        by a Cholesky factor, O(n³/3), once for each matrix; one that is not ends as 'not positive definite', with a
        ConvergenceWarning that says what to add to its diagonal.
    backend: as in fit_ridge.

    The gap of the summary bounds how far the objective is from the least, with all rounding counted.

    >>> import numpy as np, widelimit as wl
    >>> x, y = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 0.5]]), ["up", "down", "up"]
    >>> fit = wl.fit_svm(wl.kernel("fc:2", x), y, lam=0.1)
    >>> fit.predict(wl.kernel("fc:2", [[1.0, 3.0]], x))
    array(['up'], dtype='<U4')
    >>> fit.summary.gap < 1e-6
    True
    """
    return train_classes(
        "svm", k, y, lam=lam, bias=bias, sample_weight=sample_weight, class_weight=class_weight, scheme=scheme,
        tolerance=tolerance, backend=backend, threads=threads, probability=probability, check_definite=check_definite,
        stacklevel=3
    )


def fit_svm2(
    k: ArrayLike,
    y: ArrayLike,
    lam: float | None = None,
    *,
    bias: bool | None = None,
    sample_weight: ArrayLike | None = None,
    class_weight: Any = None,
    scheme: str | None = None,
    tolerance: float | None = None,
    backend: str | None = None,
    threads: int | None = None,
    probability: bool | None = None,
    check_definite: bool | None = None,
) -> Fit:
    """Support vector machine of the 2-norm, the least λ/2‖β‖² + Σ wᵢ max(0, 1 − yᵢg(xᵢ))².

    Arguments as those of fit_svm.

    >>> import numpy as np, widelimit as wl
    >>> wl.fit_svm2(np.eye(2), [1, -1], lam=1.0).alpha.round(6)
    array([ 0.666667, -0.666667])
    """
    return train_classes(
        "svm2", k, y, lam=lam, bias=bias, sample_weight=sample_weight, class_weight=class_weight, scheme=scheme,
        tolerance=tolerance, backend=backend, threads=threads, probability=probability, check_definite=check_definite,
        stacklevel=3
    )


def fit_svr(
    k: ArrayLike,
    y: ArrayLike,
    lam: float | None = None,
    epsilon: float | None = None,
    *,
    bias: bool | None = None,
    sample_weight: ArrayLike | None = None,
    tolerance: float | None = None,
    backend: str | None = None,
    threads: int | None = None,
    check_definite: bool | None = None,
) -> Fit:
    """Support vector regression, the least λ/2‖β‖² + Σ wᵢ max(0, |yᵢ − g(xᵢ)| − ε).

    y: a number for each sample, or a row of them, each column a machine of its own. epsilon: ε, 0.1 unless said.
    lam: λ, 1 unless said; C = 1/λ in scikit-learn's SVR, which always has a bias. The others as those of fit_svm.

    >>> import numpy as np, widelimit as wl
    >>> wl.fit_svr(np.eye(3), [0.05, 0.5, 3.0], epsilon=0.1).alpha.round(6)
    array([0. , 0.4, 1. ])
    """
    return train_values(
        "svr", k, y, lam=lam, epsilon=epsilon, bias=bias, sample_weight=sample_weight, tolerance=tolerance,
        backend=backend, threads=threads, check_definite=check_definite, stacklevel=3
    )


def fit_logistic(
    k: ArrayLike,
    y: ArrayLike,
    lam: float | None = None,
    *,
    bias: bool | None = None,
    sample_weight: ArrayLike | None = None,
    class_weight: Any = None,
    tolerance: float | None = None,
    backend: str | None = None,
    threads: int | None = None,
    check_definite: bool | None = None,
) -> Fit:
    """Logistic regression, the least λ/2‖β‖² + Σ wᵢ log(1 + exp(−yᵢg(xᵢ))); of three or more classes by softmax.

    Arguments as those of fit_svm; tolerance is 1e-8 unless said. The fit has predict_proba.

    >>> import numpy as np, widelimit as wl
    >>> fit = wl.fit_logistic(np.eye(2), ["a", "b"], lam=0.1)
    >>> fit.predict_proba(np.eye(2)).round(3)
    array([[0.837, 0.163],
           [0.163, 0.837]])
    """
    return train_classes(
        "logistic", k, y, lam=lam, bias=bias, sample_weight=sample_weight, class_weight=class_weight,
        tolerance=tolerance, backend=backend, threads=threads, check_definite=check_definite, stacklevel=3
    )
