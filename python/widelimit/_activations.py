"""User-defined activations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from widelimit import _core
from widelimit._core import InputError, NumericalError


def register_activation(name: str, function: Callable[[NDArray[np.float64]], ArrayLike]) -> None:
    """Registers a function as the activation `custom(name=…)` of networks, for the lifetime of the process.

    The function maps a float64 vector elementwise, as NumPy ufuncs do. It is evaluated at the nodes of quadrature
    rules, from several threads in turn, so it must be pure. It may have kinks and jumps, but must be differentiable
    between jumps. Kernels propagate its exceptions. Registering a name again replaces the function for kernels
    computed later.

    >>> import numpy as np, widelimit as wl
    >>> wl.register_activation("arctan", np.arctan)
    >>> net = wl.Network("dense custom(name=arctan) dense")
    >>> net.exactness
    'quadrature'
    >>> wl.kernel(net, np.eye(2)).round(6)
    array([[0.604788, 0.      ],
           [0.      , 0.604788]])
    """
    if not callable(function):
        raise InputError(f"activation '{name}' needs a function of a vector; got {type(function).__name__}")

    def evaluate(x: NDArray[np.float64]) -> NDArray[np.float64]:
        points = x.copy()
        y = np.asarray(function(x))
        if y.shape != points.shape:
            raise InputError(
                f"activation '{name}' returned shape {y.shape} for {points.shape} points; it must be elementwise"
            )
        if y.dtype.kind not in "fiub":
            raise InputError(f"activation '{name}' returned dtype {y.dtype}; it must return real numbers")
        y = np.ascontiguousarray(y, dtype=np.float64)
        if not np.isfinite(y).all():
            worst = int(np.flatnonzero(~np.isfinite(y))[0])
            raise NumericalError(
                f"activation '{name}' is {y[worst]} at {points[worst]}; it must be finite everywhere, "
                "or the data must be scaled accordingly"
            )
        return y

    _core.register_activation(name, evaluate)
