"""Local elasticity: how much more a training step on a sample changes outputs of its class than of others."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from widelimit import _core
from widelimit._arguments.arrays import as_array
from widelimit._arguments.samples import as_matrix, as_rows
from widelimit._arguments.targets import as_classes, as_numbers
from widelimit._arguments.threads import usable
from widelimit._core import InputError
from widelimit._empirical_ntk import empirical_ntk
from widelimit._label_aware import LabelAwareKernel
from widelimit._train import TrainedNetwork


class LocalElasticity(NamedTuple):
    """Relative ratio of similarities within and between classes; test entries are None without test points."""

    train: float
    """same/(same + different) over pairs of training samples; 0.5 if the kernel ignores labels."""
    test: float | None
    """The same ratio over pairs of a test point and a training sample."""
    train_same: float
    train_different: float
    test_same: float | None
    test_different: float | None


def local_elasticity(
    K: ArrayLike | TrainedNetwork | LabelAwareKernel,
    labels: ArrayLike,
    K_test: ArrayLike | None = None,
    test_labels: ArrayLike | None = None,
    *,
    test_diagonal: ArrayLike | None = None,
    self_pairs: bool = False,
    published: bool = False,
    x: ArrayLike | None = None,
    x_test: ArrayLike | None = None,
    start: bool = False,
    step: float | None = None,
    threads: int | None = None,
) -> LocalElasticity:
    """Returns RR(K) = mean_same K̄ / (mean_same K̄ + mean_different K̄), K̄ = K/√(K(x,x)K(x',x')).

    K: a symmetric kernel matrix of the training samples; or the result of label_aware_kernel, which includes test
        samples; or a network from train, whose empirical NTK on x and x_test is used, with start=True at its initial
        weights.
    step: use the output changes of one gradient step of this size on each sample instead of the NTK (He and Su 2020);
        they converge to it for small steps.
    K_test: test × train. test_diagonal: K(x,x) of the test points; without it they are not normalised, which has no
        effect if K(x,x) is constant. For label_aware_kernel it is Θ(x,x) + λ·Z(x,x), its test_diagonal.
    published: True divides test points of label_aware_kernel by √Θ(x,x) of the label-agnostic kernel, as the code of
        Chen, He and Su (2020) does for its test row; K̄ is then not a cosine.
    self_pairs: True includes pairs of a sample with itself, which are 1 for every kernel.

    >>> import numpy as np, widelimit as wl
    >>> x, y, _ = wl.load_data("digits", classes=[3, 8], limit=60, scale="unit")
    >>> e = wl.local_elasticity(wl.kernel("fc:1", x[:40]), y[:40], wl.kernel("fc:1", x[40:], x[:40]), y[40:])
    >>> 0.5 < e.train < 0.6, 0.5 < e.test < 0.6
    (True, True)
    >>> t = wl.train("fc:1", x[:40], np.where(y[:40] == 0, -1.0, 1.0), width=256, steps=200)
    >>> before, after = (wl.local_elasticity(t, y[:40], x=x[:40], start=s).train for s in (True, False))
    >>> after > before
    True
    """
    test_kernel: Any = K_test
    if isinstance(K, LabelAwareKernel):
        if K_test is not None or test_diagonal is not None:
            raise InputError("a label-aware kernel includes K_test and test_diagonal; leave them out")
        if x is not None or x_test is not None or step is not None or start:
            raise InputError("x, x_test, start and step are for networks; K is a kernel")
        kernel = K.train
        if test_labels is not None:
            test_kernel, test_diagonal = K.test, K.theta_diagonal if published else K.test_diagonal
            if test_kernel is None or test_diagonal is None:
                raise InputError("test points of a label-aware kernel need its K_test and test_diagonal")
    elif published:
        raise InputError("published needs a K of label_aware_kernel: it omits Z(x,x) from the diagonal of test points")
    elif isinstance(K, TrainedNetwork):
        if x is None or K_test is not None:
            raise InputError("a network needs samples: give x, and x_test instead of K_test")
        if step is not None and not (np.isreal(step) and 0 < step < np.inf):
            raise InputError(f"step is {step!r}; it must be positive and finite")
        kernel, test_kernel, own = _of_network(K, x, x_test, start, step, threads)
        test_diagonal = own if test_diagonal is None else test_diagonal
    else:
        if x is not None or x_test is not None or step is not None or start:
            raise InputError("x, x_test, start and step are for networks; K is a kernel")
        kernel = K
    # Changes of outputs by steps on samples are not symmetric.
    symmetric = not isinstance(K, TrainedNetwork)
    matrix = as_matrix(kernel, "K")
    if (test_kernel is None) != (test_labels is None):
        raise InputError("test points need both a kernel and test_labels")
    known = _labels(labels, "labels")
    others = known[:0] if test_labels is None else _labels(test_labels, "test_labels")
    numbers = as_classes(np.concatenate([known, others]))[1]
    own_labels = numbers[: len(known)]
    train = _core.local_elasticity(matrix, own_labels, self_pairs, symmetric)
    if test_kernel is None:
        return LocalElasticity(train[0], None, train[1], train[2], None, None)
    diagonal = np.ascontiguousarray(np.diagonal(matrix), dtype=np.float64)
    scale = None if test_diagonal is None else as_numbers(test_diagonal, "test_diagonal")
    others_kernel = as_matrix(test_kernel, "K_test")
    test = _core.test_local_elasticity(others_kernel, numbers[len(known) :], scale, own_labels, diagonal)
    return LocalElasticity(train[0], test[0], train[1], train[2], test[1], test[2])


def _labels(labels: ArrayLike, name: str) -> NDArray[Any]:
    found = as_array(labels, name)
    if found.ndim != 1:
        raise InputError(f"{name} has {found.ndim} dimensions; give one label for each sample")
    return found


def _of_network(
    net: TrainedNetwork, x: Any, x_test: Any, start: bool, step: float | None, threads: int | None
) -> tuple[Any, Any, NDArray[np.float64] | None]:
    """Returns the kernel, the kernel of the test points, and the diagonal of the test points."""

    def between(points: Any, samples: Any) -> NDArray[Any]:
        if step is None:
            return empirical_ntk(net, points, samples, start=start, threads=threads)
        stepped = _core.step_kernel(
            net._core, start, net._samples(samples, "x"), net._samples(points, "x"), step, usable(threads)
        )
        return stepped.T

    kernel = between(x, x)
    if x_test is None:
        return kernel, None, None
    points = as_rows(x_test, "x_test")
    blocks = [points[i : i + 64] for i in range(0, points.shape[0], 64)]
    own = [np.diagonal(between(block, block)) for block in blocks]
    return kernel, between(points, x), np.concatenate(own).astype(np.float64)
