"""Neural networks at the limit of infinite width: exact NNGP and NTK kernels.

>>> import widelimit as wl
>>> net = wl.Network("fc:3")
>>> print(wl.kernel(net, [[1.0, 0.0], [0.0, 1.0]]).round(6))
[[0.25     0.066274]
 [0.066274 0.25    ]]
"""

from widelimit import _core
from widelimit._activations import register_activation
from widelimit._comparison import classical_kernel, monte_carlo_kernel
from widelimit._core import (
    BackendPresence,
    InputError,
    LayerShape,
    Network,
    NumericalError,
    ResourceError,
    backends,
    presets,
)
from widelimit._data import Data, load_data, load_train_test
from widelimit._kernels import AccuracyWarning, Gram, diagonal, gram, kernel, layer_contributions, sweep
from widelimit._stored import StoredGram, open_gram

__version__ = _core.version()

__all__ = [
    "AccuracyWarning",
    "BackendPresence",
    "Data",
    "Gram",
    "InputError",
    "LayerShape",
    "Network",
    "NumericalError",
    "ResourceError",
    "StoredGram",
    "__version__",
    "backends",
    "classical_kernel",
    "diagonal",
    "gram",
    "kernel",
    "layer_contributions",
    "load_data",
    "load_train_test",
    "monte_carlo_kernel",
    "open_gram",
    "presets",
    "register_activation",
    "sweep",
]

# Tracebacks, pickles and help name these as users do.
_TYPES = (AccuracyWarning, BackendPresence, InputError, LayerShape, Network, NumericalError, ResourceError, StoredGram)
for _type in _TYPES:
    _type.__module__ = "widelimit"
