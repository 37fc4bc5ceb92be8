"""The empirical NTK of finite networks."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from widelimit import _core
from widelimit._arguments.targets import as_columns
from widelimit._arguments.threads import usable
from widelimit._train import TrainedNetwork


def empirical_ntk(
    trained: TrainedNetwork,
    x1: ArrayLike,
    x2: ArrayLike | None = None,
    *,
    outputs: str = "trace",
    start: bool = False,
    backend: str = "cpu",
    threads: int | None = None,
) -> NDArray[np.floating]:
    """Returns Θ̂(x, x') = ⟨∇f(x), ∇f(x')⟩ of a network at its trained or, with start=True, initial weights.

    Gradients are taken with respect to the weights of layers that are not frozen.

    outputs: 'trace', the mean of ⟨∇f_k, ∇f_k⟩ over the outputs, or 'full', where row i·K + k belongs to output k of
    sample i. x2: default x1, at half the cost. backend: 'cpu', or an NVIDIA device such as 'cuda:0'.

    >>> import numpy as np, widelimit as wl
    >>> x = np.array([[1.0, 0.0], [0.6, 0.8]])
    >>> t = wl.train("fc:1", x, [1.0, -1.0], width=4096, steps=0)
    >>> bool(abs(wl.empirical_ntk(t, x) - wl.kernel("fc:1", x)).max() < 0.05)
    True
    """
    first = trained._samples(x1, "x1", backend)
    second = None if x2 is None else trained._samples(x2, "x2", backend)
    return _core.empirical_ntk(trained._core, first, second, outputs, start, backend, usable(threads))


def empirical_ntk_product(
    trained: TrainedNetwork,
    x1: ArrayLike,
    x2: ArrayLike,
    v: ArrayLike,
    *,
    start: bool = False,
    backend: str = "cpu",
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Returns Θ̂(x1, x2)·v without forming the matrix; v has one number per sample of x2, or one row of outputs.

    Other arguments as in empirical_ntk.

    >>> import numpy as np, widelimit as wl
    >>> x = np.array([[1.0, 0.0], [0.6, 0.8]])
    >>> t = wl.train("fc:1", x, [1.0, -1.0], width=64, steps=0)
    >>> bool(np.allclose(wl.empirical_ntk_product(t, x, x, [1.0, 2.0]), wl.empirical_ntk(t, x) @ [1.0, 2.0]))
    True
    """
    vectors, single = as_columns(v, "v")
    first, second = trained._samples(x1, "x1", backend), trained._samples(x2, "x2", backend)
    product = _core.ntk_product(trained._core, first, second, vectors, start, backend, usable(threads))
    return product[:, 0] if single else product
