"""Reference kernels: classical kernels, and kernels of random finite networks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from widelimit import _core
from widelimit._arguments.samples import as_images, as_samples
from widelimit._arguments.threads import usable
from widelimit._core import Network
from widelimit._kernels import Array, as_network


class MonteCarlo(NamedTuple):
    """Mean over random networks and its standard error, for each entry."""

    nngp: NDArray[np.float64]
    nngp_error: NDArray[np.float64]
    ntk: NDArray[np.float64] | None
    ntk_error: NDArray[np.float64] | None


def classical_kernel(
    kernel: str,
    x1: ArrayLike,
    x2: ArrayLike | None = None,
    *,
    precision: str | None = None,
    backend: str = "cpu",
    threads: int | None = None,
) -> Array:
    """Returns the Gram matrix of a classical kernel: 'linear', 'polynomial', 'rbf', 'laplace' or 'arccosine'.

    Kernels take arguments, e.g. 'rbf(gamma=0.5)', 'polynomial(degree=2, offset=1)', 'arccosine(degree=1)'; gamma
    defaults to 1/D. Other arguments as in the function kernel.

    >>> import numpy as np, widelimit as wl
    >>> wl.classical_kernel("rbf(gamma=0.5)", np.eye(2)).round(6)
    array([[1.      , 0.367879],
           [0.367879, 1.      ]])
    """
    first = as_samples(x1, "x1", backend)
    second = None if x2 is None else as_samples(x2, "x2", backend)
    options = dict(precision=precision, backend=backend, threads=usable(threads))
    return _core.classical_kernel(kernel, first, second, options)


def monte_carlo_kernel(
    net: Network | str | list,
    x1: ArrayLike,
    x2: ArrayLike | None = None,
    *,
    width: int | None = None,
    draws: int | None = None,
    seed: int | None = None,
    ntk: bool | None = None,
    backend: str = "cpu",
    threads: int | None = None,
    channels_first: bool | None = None,
) -> MonteCarlo:
    """Estimates kernels by random finite networks, with standard errors.

    An independent check of the limit kernel, and the only method for networks whose limit has no closed form
    (max_pool).
    width: hidden units or channels; draws: independent networks, drawn by seed; ntk=False omits the more expensive NTK.
    Other arguments as in kernel. backend: 'cpu', or an NVIDIA device such as 'cuda:0', with the same random numbers.
    The finite width also biases the mean by O(1/width), which the standard error does not include.

    >>> import numpy as np, widelimit as wl
    >>> net, x = wl.Network("fc:1"), np.eye(2)
    >>> sampled = wl.monte_carlo_kernel(net, x, width=64, draws=200, seed=1)
    >>> bool(np.all(abs(sampled.ntk - wl.kernel(net, x)) < 5 * sampled.ntk_error + 1 / 64))
    True
    """
    network = as_network(net)
    first = as_images(network, x1, "x1", channels_first, backend)
    second = None if x2 is None else as_images(network, x2, "x2", channels_first, backend)
    options = dict(width=width, draws=draws, seed=seed, ntk=ntk, backend=backend, threads=usable(threads))
    return MonteCarlo(*_core.monte_carlo_kernel(network, first, second, options))
