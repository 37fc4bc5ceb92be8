"""Matrix-free ridge regression on the kernel of a network, for Gram matrices that do not fit into memory."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from widelimit import _core
from widelimit._arguments.samples import as_images
from widelimit._arguments.targets import ridge_targets
from widelimit._arguments.threads import usable
from widelimit._fit import Fit, make_fit, warn_of
from widelimit._kernels import as_network


def fit_ridge_network(
    network: Any,
    x: ArrayLike,
    y: ArrayLike,
    lam: float | None = None,
    *,
    bias: bool | None = None,
    sample_weight: ArrayLike | None = None,
    class_weight: Any = None,
    classify: bool | None = None,
    kind: str | None = None,
    precision: str | None = None,
    tolerance: float | None = None,
    rank: int | None = None,
    memory: str | None = None,
    backend: str = "cpu",
    threads: int | None = None,
    channels_first: bool | None = None,
    stacklevel: int = 2,
) -> Fit:
    """Fits ridge on kernel(network, x) by conjugate gradients, computing tiles of the matrix on the fly.

    y, lam, bias, sample_weight, class_weight, classify: as in fit_ridge.
    precision: of the kernel, default 'f32'. tolerance: of the residual relative to y, default 1e-6.
    rank: rank of the preconditioner; default: chosen adaptively within `memory` (default '2GiB').
    kind, backend, threads, channels_first: as in kernel.
    Predict with kernel(network, x_test, x).

    >>> import numpy as np, widelimit as wl
    >>> x = np.random.default_rng(0).normal(size=(300, 5))
    >>> y = np.sin(x[:, 0])
    >>> fit = wl.fit_ridge_network("fc:1", x, y, lam=0.1, precision="f64")
    >>> np.allclose(fit.alpha, wl.fit_ridge(wl.kernel("fc:1", x), y, lam=0.1).alpha, atol=1e-4)
    True
    """
    targets = ridge_targets(y, classify, class_weight, sample_weight)
    net = as_network(network)
    samples = as_images(net, x, "x", channels_first, backend)
    options = dict(
        lam=lam, bias=bias, tolerance=tolerance, rank=rank, memory=memory, kind=kind, precision=precision,
        backend=backend, threads=usable(threads),
    )  # fmt: skip
    parts, _, _ = _core.ridge_network(net, samples, targets.columns, targets.weights, options)
    return warn_of(make_fit("ridge", targets.scheme, parts, targets.classes, targets.single), stacklevel)
