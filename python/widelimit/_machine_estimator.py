"""Base class of the scikit-learn estimators. Only this module and _estimators require scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import _check_y, check_consistent_length, check_is_fitted, validate_data

from widelimit import _core
from widelimit._arguments.arrays import refuse_masked
from widelimit._arguments.device import fetched, on_host
from widelimit._arguments.options import whole_numbers
from widelimit._arguments.samples import as_matrix, as_samples, channels_last, is_sparse, laid_out
from widelimit._arguments.threads import usable
from widelimit._core import InputError
from widelimit._data import Data
from widelimit._fit import Fit
from widelimit._graphs import Graphs
from widelimit._kernels import as_network
from widelimit._kernels import kernel as limit_kernel
from widelimit._label_aware import named_features
from widelimit._models import load as load_estimator
from widelimit._models import save as save_estimator
from widelimit._named_machines import fit_samples, train_aware_kernel, train_classes, train_values


class MachineEstimator(BaseEstimator):
    """Handling of samples, kernels and coefficients common to both estimators."""

    def _read(self, X: Any, **options: Any) -> Any:
        """Validates X, or (X, y); images keep their dimensions, sparse matrices stay sparse."""
        if self.kernel not in ("network", "precomputed"):
            raise InputError(f"kernel is {self.kernel!r}; choose 'network' or 'precomputed'")
        refuse_masked(X, "X")
        network = self.kernel == "network"
        # Machines of a network compute on its device; a precomputed kernel is read on the host.
        X = on_host(X, "X", self.backend) if network else fetched(X, "X")
        if network and (isinstance(X, Graphs) or as_network(self.network).reads_graphs):
            return self._read_graphs(X, **options)
        return validate_data(
            self,
            X,
            dtype=[np.float64, np.float32],
            allow_nd=network,
            accept_sparse="csr" if network else False,
            **options,
        )

    def _read_graphs(self, X: Any, y: Any = None, reset: bool = True, **options: Any) -> Any:
        """Validates Graphs or a list of graphs, alone or with y."""
        graphs = X if isinstance(X, Graphs) else Graphs(X)
        if reset:
            self.n_features_in_ = max(1, graphs.width)
        if y is None:
            return graphs
        y = _check_y(y, estimator=self, **options)
        check_consistent_length(graphs, y)
        return graphs, y

    def _shaped(self, X: Any) -> Any:
        """Returns X in the input shape of the network, channels last."""
        if isinstance(X, Graphs):
            return X
        if self.input_shape is not None:
            if is_sparse(X):
                raise InputError("input_shape: a network on images does not take sparse samples; give X.toarray()")
            shape = tuple(whole_numbers(self.input_shape, "input_shape"))
            if min(shape, default=0) < 1 or int(np.prod(shape)) != int(np.prod(X.shape[1:])):
                raise InputError(f"input_shape {shape} does not have the {int(np.prod(X.shape[1:]))} features of X")
            X = X.reshape(len(X), *shape)
        return channels_last(X, "X") if self.channels_first else X

    def _layout_of_shaped(self) -> bool | None:
        """Returns channels_first for the result of _shaped: None if the layout of images is still unchecked."""
        return None if self.channels_first is None else False

    def _gram(self, X: Any, Z: Any) -> Any:
        """Returns K(X, Z), including the label-aware part if there is one."""
        aware = getattr(self, "label_aware_", None)
        features = None if aware is None else self._pair_features(Z)
        _core.require_pair_features(aware, features)
        k = limit_kernel(
            getattr(self, "network_", self.network),
            self._shaped(X),
            self._shaped(Z),
            kind=self.kind,
            precision=self.precision,
            backend=self.backend,
            threads=self.threads,
            channels_first=self._layout_of_shaped(),
        )
        if aware is None:
            return k
        samples = (as_samples(self._shaped(Z), "support_vectors_"), as_samples(self._shaped(X), "X"))
        return _core.add_label_aware(aware, k, *samples, features, self.backend, usable(self.threads))

    def _pair_features(self, X: Any) -> Any:
        """Returns pair_features for the core library; the functions are given samples in the layout of X."""
        shape = () if isinstance(X, Graphs) else X.shape[1:]
        planes = self._shaped(X[:1]).shape[1:] if self.channels_first else None
        return named_features(self.pair_features, lambda rows: laid_out(rows, shape, planes))

    @staticmethod
    def _train_gram(X: Any) -> Any:
        if X.shape[0] != X.shape[1]:
            raise InputError(f"a precomputed kernel must be square; X is {X.shape[0]} by {X.shape[1]}")
        # float32 values stored as float64 would fail the definiteness check, whose tolerance is that of the dtype.
        with np.errstate(over="ignore"):
            single = X.astype(np.float32, copy=False)
        return single if np.array_equal(single, X) else X

    def _store_fit(self, X: Any, fit: Fit, all_samples: bool = False) -> None:
        """Stores coefficients and samples for prediction: those with nonzero coefficients, or all for a posterior."""
        self.support_ = np.arange(len(fit.alpha)) if all_samples else fit.support
        self.keeps_all_ = all_samples
        self.alpha_ = fit.alpha[self.support_]
        self.bias_ = fit.bias
        self.summary_ = fit.summary
        self.scheme_ = fit.scheme
        self.calibration_ = fit.calibration
        self.label_aware_ = fit.label_aware
        if self.kernel == "network":
            self.support_vectors_ = X[self.support_]

    def _fitted(self, X: Any) -> tuple[Fit, Any]:
        """Returns the machine and K(X, support vectors)."""
        check_is_fitted(self, "support_")
        X = self._read(X, reset=False)
        classes = getattr(self, "classes_", None)
        alpha = self.alpha_
        if self.kernel == "precomputed":
            # The other columns of X have zero coefficients.
            alpha = np.zeros((self.n_features_in_, *self.alpha_.shape[1:]))
            alpha[self.support_] = self.alpha_
            k = X
            if self.label_aware_ is not None:
                nothing = (None, None, None)  # kernel regression reads no samples
                k = _core.add_label_aware(self.label_aware_, as_matrix(X, "X"), *nothing, "cpu", usable(self.threads))
        elif len(self.support_):
            k = self._gram(X, self.support_vectors_)
        else:
            k = np.zeros((len(X) if isinstance(X, Graphs) else X.shape[0], 0))
        parts = (alpha, self.bias_, classes, self.summary_, self.calibration_)
        return Fit(self.machine, self.scheme_, *parts), k

    def _fit(self, X: Any, y: Any, sample_weight: Any, classify: bool, **options: Any) -> Fit:
        lam = getattr(self, "lam_", self.lam)
        common = dict(lam=lam, bias=self.bias, sample_weight=sample_weight, tolerance=self.tolerance)
        if self.kernel == "network":
            return fit_samples(
                getattr(self, "network_", self.network),
                self._shaped(X),
                y,
                classify,
                machine=self.machine,
                solver=self.solver,
                kind=self.kind,
                precision=self.precision,
                backend=self.backend,
                threads=self.threads,
                channels_first=self._layout_of_shaped(),
                stacklevel=4,
                **common,
                **options,
            )
        if options.pop("pair_features", None) is not None:
            raise InputError("pair_features compare samples, which a precomputed kernel does not contain")
        if self.solver not in ("auto", "dense"):
            raise InputError(f"solver is {self.solver!r}; a precomputed kernel takes 'auto' or 'dense'")
        k = self._train_gram(X)
        common.update(threads=self.threads, stacklevel=4)
        if (aware := options.pop("label_aware", None)) is not None:
            return train_aware_kernel(self.machine, k, y, aware, **common, **options)
        train = train_classes if classify else train_values
        return train(self.machine, k, y, check_definite=True, **common, **options)

    def save(self, path: Any, data: Data | None = None, posterior: bool = False) -> None:
        """Writes the fitted machine to a model file for load, load_model and `widelimit predict`.

        data: the training set of the fit, as returned by load_train_test, unscaled; the file then stores its columns
        and its split for load_data(spec, model=…, part='test') and `widelimit predict --part test`. Classes that are
        indices into its class names are written as names.
        posterior: True stores the posterior of a ridge NTKRegressor, for standard deviations of predictions.

        Raises InputError if kernel='precomputed', or if classes are neither numbers nor text.
        """
        check_is_fitted(self, "support_")
        if posterior:
            require_posterior(self)
        save_estimator(self, path, data, posterior)

    @classmethod
    def load(cls, path: Any, **options: Any) -> Any:
        """Reads an estimator written by save, or by `widelimit fit` without scaling; options: threads, backend, …

        pair_features: the functions of the fit, if any, with the same names, since a file stores only the names.
        Without them the estimator loads but cannot predict.
        """
        return load_estimator(cls, path, **options)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel == "network"
        return tags

def posterior_obstacle(estimator: Any) -> str | None:
    """Returns why the machine is not the mean of a Gaussian process, or None if it is."""
    if estimator.machine != "ridge":
        return f"with machine {estimator.machine!r}"
    if estimator.bias:
        return "with a bias"
    return "with kernel='precomputed'" if estimator.kernel != "network" else None


def require_posterior(estimator: Any) -> None:
    obstacle = posterior_obstacle(estimator)
    if obstacle is None and not estimator.keeps_all_:
        obstacle = "fitted with sample_weight, or read from a file without all samples,"
    if obstacle is not None or not isinstance(estimator, RegressorMixin):
        raise InputError(
            f"an estimator {obstacle or 'of classes'} has no posterior; use NTKRegressor(machine='ridge') without a "
            "bias, or gaussian_process for a Gram matrix"
        )
