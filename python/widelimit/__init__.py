"""Neural networks at the limit of infinite width: exact NNGP and NTK kernels.

>>> import widelimit as wl
>>> net = wl.Network("fc:3")
>>> print(wl.kernel(net, [[1.0, 0.0], [0.0, 1.0]]).round(6))
[[0.25     0.066274]
 [0.066274 0.25    ]]
"""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

from widelimit import _core
from widelimit._activations import register_activation
from widelimit._bounds import (
    BoundTerms,
    LabelBound,
    RademacherBound,
    clean_error_bound,
    label_bound,
    noisy_label_shape,
    rademacher_bound,
)
from widelimit._certify import Certificates, certify
from widelimit._compare import ComparedKernel, Comparison, FoldChoice, compare
from widelimit._comparison import classical_kernel, monte_carlo_kernel
from widelimit._core import (
    BackendPresence,
    DeviceArray,
    InputError,
    InputTypeError,
    LayerShape,
    Network,
    NumericalError,
    ResourceError,
    backends,
    presets,
)
from widelimit._data import Data, DataWarning, load_data, load_train_test, read_folds
from widelimit._dynamics import FlowEvent, RateCheck, Trajectory, descend, flow
from widelimit._elasticity import LocalElasticity, local_elasticity
from widelimit._empirical_ntk import empirical_ntk, empirical_ntk_product
from widelimit._ensemble import Ensemble, ensemble
from widelimit._equivalence import Equivalence, EquivalencePath, EquivalenceRun, WidthSlope, equivalence
from widelimit._evolution import Evolution, evolution
from widelimit._fetch import FetchedFile, fetch_data
from widelimit._fit import ConvergenceWarning, Fit, Summary
from widelimit._gaussian_process import GaussianProcess, Posterior, gaussian_process
from widelimit._graphs import Graphs
from widelimit._hierarchy import KernelAtTime, NthKernel, kernel_at_time, nth_kernel
from widelimit._kernels import AccuracyWarning, Gram, diagonal, gram, kernel, layer_contributions, sweep
from widelimit._label_aware import Inertia, LabelAwareKernel, label_aware_kernel
from widelimit._likelihood import (
    LikelihoodOptimum,
    LikelihoodStart,
    MarginalLikelihood,
    ProcessParameters,
    marginal_likelihood,
    optimise_marginal_likelihood,
    with_std,
)
from widelimit._machines import (
    fit_hard_svm,
    fit_logistic,
    fit_regression,
    fit_ridge,
    fit_svm,
    fit_svm2,
    fit_svr,
)
from widelimit._models import Model, load_model
from widelimit._paths import Path, RidgePath, ridge_path, svm_path
from widelimit._ridge_network import fit_ridge_network
from widelimit._scores import ClassScore, ClassScores, ReliabilityBin, ValueScores, scores
from widelimit._spectrum import ModeDynamics, ModeRate, Spectrum, spectrum
from widelimit._stored import StoredGram, open_gram
from widelimit._train import TrainedNetwork, TrainSummary, Weights, load_network, train

if TYPE_CHECKING:
    from widelimit._estimators import NTKClassifier as NTKClassifier
    from widelimit._estimators import NTKRegressor as NTKRegressor

__version__ = _core.version()

__all__ = [
    "AccuracyWarning",
    "BackendPresence",
    "BoundTerms",
    "Certificates",
    "ClassScore",
    "ClassScores",
    "ComparedKernel",
    "Comparison",
    "ConvergenceWarning",
    "Data",
    "DataWarning",
    "DeviceArray",
    "Ensemble",
    "Equivalence",
    "EquivalencePath",
    "EquivalenceRun",
    "Evolution",
    "FetchedFile",
    "Fit",
    "FlowEvent",
    "FoldChoice",
    "GaussianProcess",
    "Gram",
    "Graphs",
    "Inertia",
    "InputError",
    "InputTypeError",
    "KernelAtTime",
    "LabelAwareKernel",
    "LabelBound",
    "LayerShape",
    "LikelihoodOptimum",
    "LikelihoodStart",
    "LocalElasticity",
    "MarginalLikelihood",
    "ModeDynamics",
    "ModeRate",
    "Model",
    "Network",
    "NthKernel",
    "NumericalError",
    "Path",
    "Posterior",
    "ProcessParameters",
    "RademacherBound",
    "RateCheck",
    "ReliabilityBin",
    "ResourceError",
    "RidgePath",
    "Spectrum",
    "StoredGram",
    "Summary",
    "TrainSummary",
    "TrainedNetwork",
    "Trajectory",
    "ValueScores",
    "Weights",
    "WidthSlope",
    "__version__",
    "backends",
    "certify",
    "classical_kernel",
    "clean_error_bound",
    "compare",
    "descend",
    "diagonal",
    "empirical_ntk",
    "empirical_ntk_product",
    "ensemble",
    "equivalence",
    "evolution",
    "fetch_data",
    "fit_hard_svm",
    "fit_logistic",
    "fit_regression",
    "fit_ridge",
    "fit_ridge_network",
    "fit_svm",
    "fit_svm2",
    "fit_svr",
    "flow",
    "gaussian_process",
    "gram",
    "kernel",
    "kernel_at_time",
    "label_aware_kernel",
    "label_bound",
    "layer_contributions",
    "load_data",
    "load_model",
    "load_network",
    "load_train_test",
    "local_elasticity",
    "marginal_likelihood",
    "monte_carlo_kernel",
    "noisy_label_shape",
    "nth_kernel",
    "open_gram",
    "optimise_marginal_likelihood",
    "presets",
    "rademacher_bound",
    "read_folds",
    "register_activation",
    "ridge_path",
    "scores",
    "spectrum",
    "svm_path",
    "sweep",
    "train",
    "with_std",
]

# Tracebacks, pickles and help show the public names.
for _name in __all__:
    if isinstance(globals()[_name], type):
        globals()[_name].__module__ = "widelimit"

_ESTIMATORS = ("NTKClassifier", "NTKRegressor")
if importlib.util.find_spec("sklearn") is not None:
    __all__ += _ESTIMATORS


def __getattr__(name: str) -> Any:
    """Imports the estimators on first use, so that the package neither requires nor imports scikit-learn."""
    if name not in _ESTIMATORS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from widelimit import _estimators
    except ImportError as error:
        raise ImportError(
            f"widelimit.{name} needs scikit-learn 1.6 or later ({error}); pip install 'widelimit[sklearn]'"
        ) from error
    return getattr(_estimators, name)
