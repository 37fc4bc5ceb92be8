"""scikit-learn estimators for machines on limit kernels. Only this module requires scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, column_or_1d

from widelimit import _core
from widelimit._arguments.threads import usable
from widelimit._core import InputError
from widelimit._likelihood import optimise_marginal_likelihood
from widelimit._machine_estimator import MachineEstimator, posterior_obstacle, require_posterior
from widelimit._models import KeptPosterior, posterior, shared_by_outputs


def _has_probabilities(estimator: Any) -> bool:
    if estimator.machine == "logistic" or (estimator.probability and estimator.machine.endswith(("svm", "svm2"))):
        return True
    raise AttributeError(
        f"machine {estimator.machine!r} with probability={estimator.probability!r} has no probabilities; "
        "use 'logistic', or a support vector machine with probability=True"
    )


class NTKClassifier(ClassifierMixin, MachineEstimator):
    """Kernel machine classifier on the limit kernel of a network, with the scikit-learn API.

    network: a Network, its text, or its JSON list.
    machine: 'svm', 'svm2', 'hard-svm', 'logistic', 'ridge' or 'regression'; see fit_svm etc.
    lam: λ of λ/2‖β‖²; C = 1/λ.
    kind: 'ntk' or 'nngp'.
    bias: True for an unregularised bias.
    scheme: for support vector machines with three or more classes: 'one-vs-one' (default), 'one-vs-one-first'
        (ties go to the first class, as in LIBSVM and SVC), 'one-vs-rest'.
    precision: of the kernel, 'f64' (default) or 'f32'.
    threads: None for all cores.
    kernel: 'network', or 'precomputed' if X is the Gram matrix: K(train, train) in fit, K(test, train) afterwards.
    backend: of the kernel and the machine, as in kernel().
    input_shape: (H, W, C) if the rows of X are flattened images, e.g. in a pipeline of vectors.
    tolerance: of the relative duality gap; small enough that weighting and repeating samples are equivalent.
    probability: True for Platt-scaled predict_proba of a support vector machine, at the cost of five more fits.
    solver: of ridge: 'dense', 'cg' for matrix-free conjugate gradients as in fit_ridge_network, or 'auto' (default):
        'cg' if the Gram matrix and its factorisation do not fit into memory.
    class_weight: None, a dictionary {class: weight}, or 'balanced', as in fit_svm; not supported by 'hard-svm' and
        'regression', whose solutions do not depend on weights.
    channels_first: True if images, or input_shape, are (C, H, W); as in kernel().
    label_aware: None, or the method of a label-aware kernel: 'linear1', …, as in label_aware_kernel. It is refitted by
        each fit, so that cross-validation does not leak labels. 'kr1' and 'kr2' also take a precomputed kernel.
    ratio, pair_target, psd: ratio, target and psd of label_aware_kernel; psd is 'clip' by default, since machines need
        positive semi-definite kernels.
    pair_features: functions for the label-aware methods 'linear…' and 'fjlt…', as features of label_aware_kernel; they
        take blocks of rows of X and are called in fit and prediction. A pickle stores them, a model file only their
        names: pass them to load again.

    Fitted attributes: classes_, support_ (indices of samples with nonzero coefficients), support_vectors_ (these
    samples; others are not stored), alpha_, bias_, scheme_, summary_.

    >>> import widelimit as wl
    >>> x, y, _ = wl.load_data("digits", limit=300, scale="unit")
    >>> x = x.reshape(300, 64)
    >>> model = wl.NTKClassifier("fc:2", machine="svm", lam=0.01).fit(x[:200], y[:200])
    >>> model.score(x[200:], y[200:]) > 0.8
    True
    """

    def __init__(
        self,
        network="fc:3",
        machine="svm",
        lam=1.0,
        kind="ntk",
        bias=False,
        scheme=None,
        precision=None,
        threads=None,
        kernel="network",
        backend="cpu",
        input_shape=None,
        tolerance=1e-8,
        probability=False,
        solver="auto",
        class_weight=None,
        channels_first=None,
        label_aware=None,
        ratio=0.1,
        pair_target=None,
        psd="clip",
        pair_features=None,
    ):
        self.network = network
        self.machine = machine
        self.lam = lam
        self.kind = kind
        self.bias = bias
        self.scheme = scheme
        self.precision = precision
        self.threads = threads
        self.kernel = kernel
        self.backend = backend
        self.input_shape = input_shape
        self.tolerance = tolerance
        self.probability = probability
        self.solver = solver
        self.class_weight = class_weight
        self.channels_first = channels_first
        self.label_aware = label_aware
        self.ratio = ratio
        self.pair_target = pair_target
        self.psd = psd
        self.pair_features = pair_features

    def fit(self, X, y, sample_weight=None):
        """Fits the classifier; classes y may be of any sortable type."""
        X, y = self._read(X, y=y)
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        _require_two_classes(y, sample_weight)
        options = dict(scheme=self.scheme, probability=self.probability, class_weight=self.class_weight)
        requested = dict(method=self.label_aware, ratio=self.ratio, target=self.pair_target, psd=self.psd)
        _core.check_label_aware(requested)  # an invalid value is an error even if it has no effect
        if self.label_aware is not None:
            options["label_aware"] = requested
        if self.pair_features is not None:
            options["pair_features"] = self._pair_features(X)
        fit = self._fit(X, y, sample_weight, True, **options)
        self.classes_ = fit.classes_
        self._store_fit(X, fit)
        return self

    def decision_function(self, X):
        """Returns one value per row, positive for classes_[1], for two classes; else one column per class.

        One-vs-one counts votes; the sum of the decisions of a class breaks ties, unless the scheme is
        'one-vs-one-first'.
        """
        fit, k = self._fitted(X)
        outputs = fit.decision_function(k)
        if self.scheme_ not in ("one-vs-one", "one-vs-one-first"):
            return outputs
        return _votes(outputs, len(self.classes_), by_sums=self.scheme_ == "one-vs-one")

    def predict(self, X):
        """Returns the predicted class of each row of X."""
        fit, k = self._fitted(X)
        return fit.predict(k)

    @available_if(_has_probabilities)
    def predict_proba(self, X):
        """Returns class probabilities; for 'logistic' and support vector machines with probability=True."""
        fit, k = self._fitted(X)
        return fit.predict_proba(k)

    @available_if(_has_probabilities)
    def predict_log_proba(self, X):
        """Returns the logarithm of predict_proba."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


class NTKRegressor(RegressorMixin, MachineEstimator):
    """Kernel machine regressor on the limit kernel of a network, with the scikit-learn API.

    machine: 'ridge', 'regression' or 'svr'; epsilon: ε of 'svr'. Other parameters as in NTKClassifier. y may have
    several columns.
    optimise: None, or for ridge 'marginal_likelihood': choose w_std and b_std of all layers and λ to maximise the
        marginal likelihood of the Gaussian process with noise variance λ/2, whose mean is the ridge solution, as in
        optimise_marginal_likelihood; network and lam are the first start.

    Fitted attributes: as NTKClassifier, and network_, lam_, and, with optimise, log_marginal_likelihood_.

    >>> import numpy as np, widelimit as wl
    >>> x = np.random.default_rng(0).normal(size=(80, 3))
    >>> y = np.abs(x[:, 0]) - x[:, 1]
    >>> model = wl.NTKRegressor("fc:2", lam=0.01).fit(x[:60], y[:60])
    >>> model.score(x[60:], y[60:]) > 0.8
    True
    """

    def __init__(
        self,
        network="fc:3",
        machine="ridge",
        lam=1.0,
        kind="ntk",
        bias=False,
        epsilon=0.1,
        precision=None,
        threads=None,
        kernel="network",
        backend="cpu",
        input_shape=None,
        tolerance=1e-8,
        solver="auto",
        optimise=None,
        channels_first=None,
    ):
        self.network = network
        self.machine = machine
        self.lam = lam
        self.kind = kind
        self.bias = bias
        self.optimise = optimise
        self.epsilon = epsilon
        self.precision = precision
        self.threads = threads
        self.kernel = kernel
        self.backend = backend
        self.input_shape = input_shape
        self.tolerance = tolerance
        self.solver = solver
        self.channels_first = channels_first

    def fit(self, X, y, sample_weight=None):
        """Fits the regressor to one or several targets per row of X."""
        X, y = self._read(X, y=y, multi_output=True, y_numeric=True)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        self._select_hyperparameters(X, y, sample_weight)
        fit = self._fit(X, y, sample_weight, False, epsilon=self.epsilon)
        self._store_fit(X, fit, sample_weight is None and posterior_obstacle(self) is None)
        return self

    def _select_hyperparameters(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Sets network_ and lam_ to the given values or those of maximal marginal likelihood."""
        self.network_, self.lam_ = self.network, self.lam
        if self.optimise is None:
            return
        if self.optimise != "marginal_likelihood":
            raise InputError(f"optimise is {self.optimise!r}; choose 'marginal_likelihood' or None")
        if (obstacle := posterior_obstacle(self)) is not None or sample_weight is not None:
            raise InputError(f"optimise: {obstacle or 'with sample_weight'} there is no marginal likelihood")
        found = optimise_marginal_likelihood(
            self.network,
            self._shaped(X),
            y,
            kind=self.kind,
            noise=self.lam / 2,
            backend=self.backend,
            threads=self.threads,
        )
        self.network_, self.lam_ = found.network, 2 * found.noise
        self.log_marginal_likelihood_ = found.value

    def predict(self, X, return_std=False, return_cov=False):
        """Returns predictions for the rows of X, in the shape of the y of fit.

        return_std, return_cov: also return the noise-free posterior standard deviation, or covariance between rows, of
        the Gaussian process with covariance K and noise variance λ/2, whose mean is the prediction. If y is
        two-dimensional, it has a last axis of outputs. Only for ridge without bias and sample weights; raises
        InputError otherwise. The first such call factorises the Gram matrix of the n training samples; the estimator
        caches the factor, 8·n² bytes, until the next fit, but copies and pickles do not contain it.
        """
        if return_std or return_cov:
            check_is_fitted(self, "support_")
            require_posterior(self)
            X = self._shaped(self._read(X, reset=False))
            core, factor = vars(self).setdefault("_kept_posterior", KeptPosterior()).of(self)
            mean, spread = posterior(core, factor, X, return_std, return_cov, self.backend, usable(self.threads))
            mean = mean[:, None] if self.alpha_.ndim == 2 and mean.ndim == 1 else mean
            return mean, shared_by_outputs(spread, mean)
        fit, k = self._fitted(X)
        return fit.predict(k)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _require_two_classes(y: np.ndarray, weights: np.ndarray | None) -> None:
    """Raises InputError unless the samples of nonzero weight have two classes."""
    counted = y if weights is None else y[weights != 0]
    if len(counted) and np.all(counted == counted[0]):
        raise InputError(f"all samples are of one class, {counted[:1].tolist()[0]!r}; a classifier needs two")


def _votes(outputs: np.ndarray, classes: int, by_sums: bool) -> np.ndarray:
    """Returns the votes of each class; with by_sums plus its sum of decisions mapped to less than half a vote."""
    votes = np.zeros((len(outputs), classes))
    sums = np.zeros_like(votes)
    pairs = ((c, d) for c in range(classes) for d in range(c + 1, classes))
    for g, (c, d) in zip(outputs.T, pairs, strict=True):
        votes[:, c] += g > 0
        votes[:, d] += g <= 0
        sums[:, c] += g
        sums[:, d] -= g
    return votes + sums / (3 * (np.abs(sums) + 1)) if by_sums else votes


for _type in (NTKClassifier, NTKRegressor):
    _type.__module__ = "widelimit"
