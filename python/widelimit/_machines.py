"""Kernel machines: minimisers of λ/2‖β‖² + Σ wᵢ l(g(xᵢ), yᵢ) over g(x) = ⟨β,Φ(x)⟩ + b, from a Gram matrix."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from widelimit._arguments.targets import names_classes, number_weights
from widelimit._fit import Fit
from widelimit._named_machines import train_classes, train_values


def _fit_linear(
    machine, k, y, lam, bias, sample_weight, classify, backend, threads, indefinite, class_weight=None
) -> Fit:
    where = dict(backend=backend, threads=threads, indefinite=bool(indefinite))
    if names_classes(y, classify):
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
    indefinite: bool = False,
    backend: str | None = None,
    threads: int | None = None,
) -> Fit:
    """Fits kernel regression, i.e. ridge with λ = 0: α = K⁻¹y, the minimum-norm interpolant.

    Arguments as in fit_ridge. If K is not positive definite, the summary suggests a λ; indefinite=True solves with an
    indefinite K, such as that of label_aware_kernel.

    >>> import numpy as np, widelimit as wl
    >>> x, y = np.array([[1.0, 2.0], [3.0, -1.0]]), [1.0, 2.0]
    >>> k = wl.kernel("fc:2", x)
    >>> wl.fit_regression(k, y).predict(k).round(6)
    array([1., 2.])
    """
    return _fit_linear("regression", k, y, None, bias, sample_weight, classify, backend, threads, indefinite)


def fit_ridge(
    k: ArrayLike,
    y: ArrayLike,
    lam: float | None = None,
    *,
    bias: bool | None = None,
    sample_weight: ArrayLike | None = None,
    class_weight: Any = None,
    classify: bool | None = None,
    indefinite: bool = False,
    backend: str | None = None,
    threads: int | None = None,
) -> Fit:
    """Fits kernel ridge regression: minimises λ/2‖β‖² + Σ wᵢ (yᵢ − g(xᵢ))², α = (K + λ/2·I)⁻¹ y.

    k: the symmetric Gram matrix of the samples; float32 and float64 are not copied, on the host or on a device: NumPy
        arrays, DeviceArray, CUDA tensors of PyTorch, CuPy and JAX.
    y: one number per sample, or one row for several targets; or class labels: two classes become ±1, more are one-hot
        encoded.
    lam: λ, default 1. Equivalent to KernelRidge(alpha=λ/2) of scikit-learn.
    bias: True for an unregularised bias; the default is none.
    sample_weight: wᵢ ≥ 0, default 1. class_weight: class weights, as in fit_svm.
    classify: True if numbers in y are class labels; implied by text, booleans and objects.
    indefinite: True also solves if K + λ/2·I is indefinite but nonsingular, by LDLᵀ: α then need not minimise the
        objective, and summary.message gives the numbers of positive and negative eigenvalues. Otherwise the fit ends as
        'not positive definite'.
    backend: None for the device of k, or the CPU. 'cuda:0' uploads a host k; raises InputError if k is on another
        device. threads: None for all cores; the result does not depend on it.

    >>> import numpy as np, widelimit as wl
    >>> fit = wl.fit_ridge(np.diag([1.0, 3.0]), [1.0, 7.0], lam=1.0)
    >>> fit.alpha
    array([0.66666667, 2.        ])
    >>> fit.predict([[0.0, 1.0]])
    array([2.])
    >>> fit.summary.converged
    True
    """
    return _fit_linear("ridge", k, y, lam, bias, sample_weight, classify, backend, threads, indefinite, class_weight)


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
    """Fits a hard-margin support vector machine: minimises ‖β‖²/2 subject to yᵢg(xᵢ) ≥ 1 for all samples.

    Arguments as in fit_svm. Inseparable data end as 'not separable', with a ConvergenceWarning.

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
    """Fits a support vector machine: minimises λ/2‖β‖² + Σ wᵢ max(0, 1 − yᵢg(xᵢ)).

    k: the symmetric Gram matrix of the samples; float32 and float64 are not copied.
    y: the class of each sample: ±1, or integers, text, … The second class in sorted order is the positive one.
    lam: λ, default 1; C = 1/λ in SVC of scikit-learn, which always has a bias.
    bias: True for an unregularised bias; the default is none.
    sample_weight: wᵢ ≥ 0, default 1.
    class_weight: factors of the sample weights by class, {class: weight}, or 'balanced': n/(k·n_c) for the n_c samples
        of a class, so that all k classes have the same total weight.
    scheme: for three or more classes, 'one-vs-one' (default; the larger sum of decisions breaks ties),
        'one-vs-one-first' (ties go to the first class, as in LIBSVM and SVC of scikit-learn) or 'one-vs-rest'.
    tolerance: of the relative duality gap, default 1e-6.
    probability: True for predict_proba by Platt scaling: a sigmoid fitted to the held-out decisions of five-fold
        cross-validation.
    check_definite: False if k is known to be positive semi-definite, like the result of kernel(). Otherwise it is
        tested by a Cholesky factorisation, O(n³/3), once per matrix; an indefinite matrix ends as 'not positive
        definite', with a ConvergenceWarning that suggests a shift of the diagonal.
    backend, threads: as in fit_ridge.

    The gap of the summary bounds the suboptimality of the objective, including rounding errors.

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
    """Fits an L2-loss support vector machine: minimises λ/2‖β‖² + Σ wᵢ max(0, 1 − yᵢg(xᵢ))².

    Arguments as in fit_svm.

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
    """Fits support vector regression: minimises λ/2‖β‖² + Σ wᵢ max(0, |yᵢ − g(xᵢ)| − ε).

    y: one number per sample, or one row; each column is fitted separately. epsilon: ε, default 0.1.
    lam: λ, default 1; C = 1/λ in SVR of scikit-learn, which always has a bias. Other arguments as in fit_svm.

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
    """Fits logistic regression: minimises λ/2‖β‖² + Σ wᵢ log(1 + exp(−yᵢg(xᵢ))); softmax for three or more classes.

    Arguments as in fit_svm; tolerance defaults to 1e-8. The fit has predict_proba.

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
