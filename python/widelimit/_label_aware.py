"""Label-aware kernels."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from widelimit import _core
from widelimit._arguments.samples import as_matrix, as_samples, laid_out
from widelimit._arguments.targets import as_classes, as_numbers
from widelimit._arguments.threads import usable
from widelimit._core import InputError
from widelimit._kernels import Array

PairFeature = Callable[[Any, Any], ArrayLike]


class Inertia(NamedTuple):
    """Numbers of eigenvalues by sign; eigenvalues within rounding error of 0 count as zero."""

    negative: int
    zero: int
    positive: int


class LabelAwareKernel:
    """K^HR = Θ + λ·Z, returned by label_aware_kernel."""

    train: Array
    """Kernel of the training samples."""
    test: Array | None
    """Kernel of test and training samples; None without K_test."""
    test_diagonal: NDArray[np.float64] | None
    """Θ(x, x) + λ·Z(x, x) of the test samples; None without test_diagonal."""
    theta_diagonal: NDArray[np.float64] | None
    """Θ(x, x) of the test samples, as given."""
    lam: float
    """λ, determined by the ratio."""
    method: str
    target: str
    """'same' or 'signed'."""
    coefficients: dict[str, float] | None
    """Coefficients of the pair features by name; None for kernel regression."""
    rank: int | None
    """Number of linearly independent pair features over the training pairs."""
    explained: float | None
    """1 − Σ(z − Z)²/Σz² over the training pairs: explained fraction of the targets."""
    beyond: int
    """Number of pairs that kernel regression clamped to the range of the training pairs."""
    shift: float
    """The shift of the diagonal of train by psd='shift'."""

    def __init__(
        self,
        train: Array,
        test: Array | None,
        theta_diagonal: NDArray[np.float64] | None,
        known: dict[str, Any],
        threads: int | None,
    ) -> None:
        self.train = train
        self.test = test
        self.theta_diagonal = theta_diagonal
        self.test_diagonal = np.array(known["test_diagonal"]) if "test_diagonal" in known else None
        self.lam = known["lam"]
        self.method = known["method"]
        self.target = known["target"]
        self.coefficients = known.get("coefficients")
        self.rank = known.get("rank")
        self.explained = known.get("explained")
        self.beyond = known["beyond"]
        self.shift = known["shift"]
        self._threads = threads
        self._inertia = Inertia(*known["inertia"]) if "inertia" in known else None

    @property
    def inertia(self) -> Inertia:
        """Inertia of Θ + λ·Z of the training samples before psd; computed in O(n³) on first access for psd='none',
        with a warning if an eigenvalue is near 0, where regression without a ridge term is erratic.
        """
        if self._inertia is None:
            *signs, warning = _core.inertia(self.train, self._threads)
            self._inertia = Inertia(*signs)
            if warning:
                warnings.warn(warning, stacklevel=2)
        return self._inertia

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise InputError(
            "a LabelAwareKernel is not a matrix: give its train to machines and its test to decisions. Both depend on "
            "the labels of the training samples, so leave-one-out, cross-validation and bounds on them leak labels"
        )

    def __repr__(self) -> str:
        return f"LabelAwareKernel(method={self.method!r}, lam={self.lam:.6g}, train={self.train.shape})"


def named_features(
    features: PairFeature | Sequence[PairFeature] | None, layout: Callable[[Any], Any]
) -> tuple[Callable[[Any, Any], NDArray[np.float64]], list[str]] | None:
    """Returns (callable that evaluates all pair features on a block of pairs, names), or None without functions.

    layout: converts rows of the core library to the samples passed to the functions.
    """
    single = callable(features) or not isinstance(features, Sequence)
    functions: list[Any] = [] if features is None else [features] if single else list(features)
    for function in functions:
        if not callable(function):
            raise InputError(f"a pair feature is a function of two blocks of samples, not {type(function).__name__}")
    if not functions:
        return None

    def block(left: Any, right: Any) -> NDArray[np.float64]:
        left, right = layout(left), layout(right)
        values = np.empty((len(functions), left.shape[0], right.shape[0]))
        for f, feature in enumerate(functions):
            found = np.asarray(feature(left, right))
            if found.shape != values.shape[1:] or found.dtype.kind not in "fiub":
                raise InputError(
                    f"pair feature {f + 1} returned dtype {found.dtype} and shape {found.shape} for a block of "
                    f"{values.shape[1]} × {values.shape[2]} pairs; return a real number for each pair"
                )
            values[f] = found
        return values

    return block, [getattr(function, "__name__", type(function).__name__) for function in functions]


def _writable(k: Any, name: str) -> Array:
    if not isinstance(k, np.ndarray) or as_matrix(k, name) is not k or not k.flags.writeable:
        raise InputError(f"overwrite=True: {name} must be a writable row-major array of float32 or float64")
    return k


def label_aware_kernel(
    K: ArrayLike,
    y: ArrayLike,
    K_test: ArrayLike | None = None,
    *,
    x: Any = None,
    x_test: Any = None,
    test_diagonal: ArrayLike | None = None,
    method: str = "linear1",
    ratio: float = 0.1,
    target: str | None = None,
    psd: str = "none",
    features: PairFeature | Sequence[PairFeature] | None = None,
    distortion: float | None = None,
    seed: int | None = None,
    overwrite: bool = False,
    threads: int | None = None,
) -> LabelAwareKernel:
    """Computes a label-aware kernel K^HR = Θ + λ·Z, where Z(x, x') estimates whether x and x' have the same class.

    Higher-order regression of Chen, He and Su (2020); see docs/theory/label_aware.md for the formulas. Z is learned
    from all n² pairs of training samples, in strips of K, so that memory is bounded by the kernels.

    K: Θ of the training samples, n × n. K_test: Θ of test and training samples, test × train.
    y: two or more classes of the training samples, of any sortable type.
    x, x_test: the samples, needed by 'linear' and 'fjlt'; graphs have no pair features and need 'kr1' or 'kr2'.
    test_diagonal: Θ(x, x) of the test samples, to compute Θ(x, x) + λ·Z(x, x) for local_elasticity.
    method: 'linear1', least squares on ten pair features; 'linear2', on these and the features of five principal
        components; 'kr1' and 'kr2', kernel regression on Θ(x, x'); 'fjlt1' and 'fjlt2', the linear methods with a
        random sketch, as published.
    ratio: ratio of mean |λ·Z| to mean |Θ| over the training pairs; determines λ.
    target: Z estimates 1 or 0 for 'same', 1 or −1 for 'signed'; default: 'signed' for two classes, 'same' for more.
    psd: treatment of the negative eigenvalues of K^HR, usually many: 'none' keeps them, for fit_ridge and
        fit_regression with indefinite=True; 'clip' sets them to 0 and
        projects K_test on the other eigenvectors; 'shift' subtracts the smallest from the diagonal; 'refuse' raises
        NumericalError.
    features: additional pair features for 'linear' and 'fjlt': a function of two blocks of samples, or a list of
        functions, that returns one number per pair (rows of the first × rows of the second). It must be symmetric and
        pure. Blocks are rows of x, as float32 or float64, or a csr_array of SciPy for sparse x. Functions are called
        from several threads. See also NTKClassifier(pair_features=…).
    distortion: ε of the sketch, default 0.01. seed: seed of the sketch.
    overwrite: True writes into K and K_test instead of copies.

    Z depends on all labels y: leave-one-out and cross-validation on a fixed K^HR leak them. Recompute it for each
    fold, as `widelimit tune` and an estimator inside cross_val_score do.

    >>> import widelimit as wl
    >>> x, y, _ = wl.load_data("digits", limit=300, scale="unit", classes=["3", "8"])
    >>> x = x.reshape(len(x), -1)
    >>> K = wl.kernel("fc:2", x)
    >>> h = wl.label_aware_kernel(K[:40, :40], y[:40], K[40:, :40], x=x[:40], x_test=x[40:])
    >>> h.test.shape, h.target, bool(abs(h.train - K[:40, :40]).mean() / abs(K[:40, :40]).mean() - 0.1 < 1e-9)
    ((260, 40), 'signed', True)
    """
    classes, labels = as_classes(y)
    train = _writable(K, "K") if overwrite else as_matrix(K, "K")
    test = None
    if K_test is not None:
        test = _writable(K_test, "K_test") if overwrite else as_matrix(K_test, "K_test")
    samples = None if x is None else as_samples(x, "x")
    functions = named_features(features, lambda rows: laid_out(rows, samples.shape[1:]))
    if functions is not None and (x is None or (test is not None and x_test is None)):
        raise InputError("features need samples; give x, and x_test with K_test")
    theta = None if test_diagonal is None else as_numbers(test_diagonal, "test_diagonal")
    if theta is not None and (test is None or theta.shape != (len(test),)):
        raise InputError("test_diagonal needs K_test and one Θ(x, x) for each of its rows")
    if theta is not None and psd == "clip":
        raise InputError("psd='clip' projects K_test, which leaves K(x, x) of test samples undefined; use psd='none'")
    options = dict(
        method=method, ratio=ratio, target=target, psd=psd, distortion=distortion, seed=seed, threads=usable(threads)
    )
    made, made_test, known = _core.label_aware_kernel(
        train,
        labels,
        len(classes),
        test,
        samples,
        None if x_test is None else as_samples(x_test, "x_test"),
        theta,
        functions,
        overwrite,
        options,
    )
    return LabelAwareKernel(
        train if made is None else made, test if made_test is None else made_test, theta, known, usable(threads)
    )
