"""Machines on limit kernels as scikit-learn's estimators. This module needs scikit-learn; the package does not."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, column_or_1d

from widelimit._core import InputError
from widelimit._likelihood import optimise_marginal_likelihood
from widelimit._machine_estimator import MachineEstimator, posterior_obstacle, require_posterior
from widelimit._models import KeptPosterior, posterior, shared_by_outputs
from widelimit._threads import usable


def _has_probabilities(estimator: Any) -> bool:
    if estimator.machine == "logistic" or (estimator.probability and estimator.machine.endswith(("svm", "svm2"))):
        return True
    raise AttributeError(
        f"machine {estimator.machine!r} with probability={estimator.probability!r} has no probabilities; "
        "'logistic' has, and a support vector machine with probability=True"
    )


class NTKClassifier(ClassifierMixin, MachineEstimator):
    """A kernel machine for classes on the limit kernel of a network, as scikit-learn's classifiers are.

    network: a Network, its text, or its JSON list.
    machine: 'svm', 'svm2', 'hard-svm', 'logistic', 'ridge' or 'regression'; see fit_svm and the others.
    lam: λ of λ/2‖β‖²; C = 1/λ.
    kind: 'ntk' or 'nngp'.
    bias: True for an offset that is not regularised.
    scheme: of three or more classes, for the support vector machines: 'one-vs-one' (the default), 'one-vs-one-first'
        (of equal votes the first class, as LIBSVM and SVC), 'one-vs-rest'.
    precision: of the kernel, 'f64' (the default) or 'f32'.
    threads: None for all processors.
    kernel: 'network', or 'precomputed' where X is the Gram matrix: K(train, train) in fit, K(test, train) after.
    backend: of the kernel and the machine, as in kernel().
    input_shape: (H, W, C) of the images that the rows of X are, in a pipeline that knows vectors only.
    tolerance: of the relative duality gap; so small that samples weighted and samples repeated give the same digits.
    probability: True for the predict_proba of a support vector machine, by Platt, at the price of five more fits.
    solver: of ridge, 'dense', 'cg' for conjugate gradients without the Gram matrix, as fit_ridge_network, or 'auto'
        (the default) for 'cg' where the Gram matrix and its factor do not fit into memory.
    class_weight: None, a dictionary {class: weight}, or 'balanced', as in fit_svm; not of 'hard-svm' and 'regression',
        whose solutions no weight changes.
    channels_first: True where images, or input_shape, are (C, H, W); as in kernel().
    label_aware: None, or the method of a kernel that knows the labels: 'linear1', …, as in label_aware_kernel. It is
        made anew by each fit, so that cross-validation leaks nothing.
    ratio, pair_target, psd: of the label-aware kernel, as ratio, target and psd of label_aware_kernel; psd is 'clip' by
        default, since machines need kernels without negative eigenvalues.
    pair_features: of the label-aware kernels 'linear…' and 'fjlt…', functions as the features of label_aware_kernel;
        they read blocks of rows of X, and are called in fit and in predictions. A pickle holds them, a model file their
        names: load takes them again.

    Fitted: classes_, support_ (the samples with coefficients that are not 0), support_vectors_ (these samples, and
    no others, are kept), alpha_, bias_, scheme_, summary_.

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
        """Fits classes y of any type that can be put in order."""
        X, y = self._read(X, y=y)
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        _require_two_classes(y, sample_weight)
        options = dict(scheme=self.scheme, probability=self.probability, class_weight=self.class_weight)
        if self.label_aware is not None:
            asked = dict(method=self.label_aware, ratio=self.ratio, target=self.pair_target, psd=self.psd)
            options["label_aware"] = asked
        if self.pair_features is not None:
            options["pair_features"] = self._pair_features(X)
        fit = self._fit(X, y, sample_weight, True, **options)
        self.classes_ = fit.classes_
        self._keep(X, fit)
        return self

    def decision_function(self, X):
        """One column, positive for classes_[1], where there are two classes; else a column for each.

        One-vs-one counts votes; within one vote the sum of the decisions of a class decides, unless the scheme is
        'one-vs-one-first'.
        """
        fit, k = self._fitted(X)
        outputs = fit.decision_function(k)
        if self.scheme_ not in ("one-vs-one", "one-vs-one-first"):
            return outputs
        return _votes(outputs, len(self.classes_), by_sums=self.scheme_ == "one-vs-one")

    def predict(self, X):
        """Classes of the rows of X."""
        fit, k = self._fitted(X)
        return fit.predict(k)

    @available_if(_has_probabilities)
    def predict_proba(self, X):
        """Probability of each of classes_, of 'logistic' and of support vector machines with probability=True."""
        fit, k = self._fitted(X)
        return fit.predict_proba(k)

    @available_if(_has_probabilities)
    def predict_log_proba(self, X):
        """Logarithm of predict_proba."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


class NTKRegressor(RegressorMixin, MachineEstimator):
    """A kernel machine for numbers on the limit kernel of a network, as scikit-learn's regressors are.

    machine: 'ridge', 'regression' or 'svr'; epsilon: ε of 'svr'. The others as those of NTKClassifier. y may have
    several columns.
    optimise: 'marginal_likelihood', of ridge, for the w_std and b_std of all layers of the network, and the λ, that
        maximise the marginal likelihood of the Gaussian process of noise variance λ/2 whose mean the machine is, as
        optimise_marginal_likelihood; network and lam are its first start.

    Fitted: as NTKClassifier, and network_, lam_: those of the machine; log_marginal_likelihood_ where it was optimised.

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
        """Fits a number for each row of X, or several."""
        X, y = self._read(X, y=y, multi_output=True, y_numeric=True)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        self._choose(X, y, sample_weight)
        fit = self._fit(X, y, sample_weight, False, epsilon=self.epsilon)
        self._keep(X, fit, sample_weight is None and posterior_obstacle(self) is None)
        return self

    def _choose(self, X: Any, y: Any, sample_weight: Any) -> None:
        """The network and the λ of the machine: those given, or the most likely."""
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
        """Numbers for the rows of X, in the shape of the y of fit.

        return_std, return_cov: also the standard deviation, or the covariance between rows, of the Gaussian process
        of covariance K and noise variance λ/2 given the data, whose mean the numbers are; without the noise. Where y
        has columns, with a last axis for them. Of ridge without a bias and without weights of samples; InputError
        otherwise. The first such call factors the Gram matrix of the n training samples, and the estimator keeps the
        factor, 8·n² bytes, until it is fitted again; copies and pickles are without it.
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
    """Samples without weight do not count."""
    counted = y if weights is None else y[weights != 0]
    if len(counted) and np.all(counted == counted[0]):
        raise InputError(f"all samples are of one class, {counted[:1].tolist()[0]!r}; a classifier needs two")


def _votes(outputs: np.ndarray, classes: int, by_sums: bool) -> np.ndarray:
    """Votes of each class, plus, by sums, that of decisions in its favour pressed into less than half a vote."""
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
