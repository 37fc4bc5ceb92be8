"""Limit kernels of networks."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from widelimit import _core
from widelimit._arguments.samples import as_images
from widelimit._arguments.threads import usable
from widelimit._core import DeviceArray, InputError, Network
from widelimit._stored import StoredGram

Array = NDArray[np.float32] | NDArray[np.float64]


class NngpNtk(NamedTuple):
    nngp: Array
    ntk: Array


class NtkNngp(NamedTuple):
    ntk: Array
    nngp: Array


class Nngp(NamedTuple):
    nngp: Array


class Ntk(NamedTuple):
    ntk: Array


_RESULTS = {result._fields: result for result in (NngpNtk, NtkNngp, Nngp, Ntk)}


class AccuracyWarning(UserWarning):
    """The quadrature error exceeds the guarantee of the precision."""


class Gram(NamedTuple):
    """Kernels with information on their computation."""

    nngp: Array | DeviceArray | None
    """None unless requested."""
    ntk: Array | DeviceArray | None
    """None unless requested."""
    symmetric: bool
    """Whether the kernel is that of one set of samples with itself."""
    route: str
    """Description of the computation."""
    quadrature_error: float
    """Bound of the quadrature error of an entry k(x, x'), relative to √(k(x, x)·k(x', x')); 0 for closed forms."""
    seconds: float


class LayerContributions(NamedTuple):
    layers: list[str]
    """Path and text of each weight layer, in order of evaluation."""
    ntk: list[Array]
    """NTK of training that layer alone; the matrices sum to the NTK."""


def as_network(net: Network | str | list) -> Network:
    return net if isinstance(net, Network) else Network(net)


def _requested(kind: str | Sequence[str] | None) -> tuple[str | None, type | None]:
    """Returns the kind for the core library, and the named tuple type of the result; None for a single array."""
    if kind is None or (isinstance(kind, str) and "," not in kind):
        return kind, None
    names = tuple(part.strip() for part in kind.split(",")) if isinstance(kind, str) else kind
    names = tuple(names) if isinstance(names, Iterable) else ()
    if names not in _RESULTS:
        raise InputError(f"kernel kind {kind!r} is unknown; choose 'ntk', 'nngp' or a tuple of these, each once")
    return ",".join(names), _RESULTS[names]


def _named(found: dict[str, Any], kind: str | None, result: type | None) -> Any:
    """Returns the requested arrays: a single array, or a named tuple."""
    if result is not None:
        return result(*(found[name] for name in result._fields))
    return found[kind] if kind is not None else next(array for array in found.values() if array is not None)


@overload
def kernel(
    net: Network | str | list,
    x1: ArrayLike,
    x2: ArrayLike | None = None,
    *,
    kind: str | None = None,
    precision: str | None = None,
    backend: str = "cpu",
    threads: int | None = None,
    channels_first: bool | None = None,
    out: None = None,
) -> Array: ...
@overload
def kernel(
    net: Network | str | list,
    x1: ArrayLike,
    x2: ArrayLike | None = None,
    *,
    kind: str | None = None,
    precision: str | None = None,
    backend: str = "cpu",
    threads: int | None = None,
    channels_first: bool | None = None,
    out: Literal["device"],
) -> DeviceArray: ...
@overload
def kernel(
    net: Network | str | list,
    x1: ArrayLike,
    x2: ArrayLike | None = None,
    *,
    kind: tuple[str, ...] | list[str],
    precision: str | None = None,
    backend: str = "cpu",
    threads: int | None = None,
    channels_first: bool | None = None,
    out: None = None,
) -> Any: ...
@overload
def kernel(
    net: Network | str | list | tuple,
    x1: ArrayLike,
    x2: ArrayLike | None = None,
    *,
    kind: str | tuple[str, ...] | list[str] | None = None,
    precision: str | None = None,
    backend: str = "cpu",
    threads: int | None = None,
    channels_first: bool | None = None,
    out: str | os.PathLike[str],
    memory: str | int | None = None,
    resume: bool | None = None,
) -> Any: ...
def kernel(
    net,
    x1,
    x2=None,
    *,
    kind=None,
    precision=None,
    backend="cpu",
    threads=None,
    channels_first=None,
    out=None,
    memory=None,
    resume=None,
):
    """Returns the kernel matrix K(x1, x2), or K(x1, x1) without x2, of an infinitely wide network.

    net: a Network, its text, or its JSON list.
    x1, x2: N×D vectors, or images N×H×W×C (N×H×W: one channel); Graphs for networks such as 'gntk:4'. float32 and
        float64 arrays with contiguous samples are not copied; others are converted.
    kind: 'ntk' (default) or 'nngp' for an array; a tuple of them for a named tuple of arrays in that order.
    precision: 'f64' (default) or 'f32', of the arithmetic and of the result.
    backend: 'cpu', 'reference', 'cuda:0', …: see backends(). CUDA tensors on that device are copied to the host for
        preprocessing.
    threads: None for all cores; the result does not depend on it.
    channels_first: True if images are N×C×H×W, which are copied to N×H×W×C. By default, a convolution of images that
        look like N×C×H×W raises InputError; False asserts that they are N×H×W×C.
    out: 'device' returns a DeviceArray, which stays in the memory of a back end cuda:N for use by machines and other
        libraries. Or the path of an HDF5 file to which the matrices, which may be larger than memory, are written
        tile by tile; the result then consists of StoredGram, and `net` may be a tuple of networks, for a tuple of
        results.
    memory: with out, the memory limit, e.g. '1GiB'; default: half of the available memory.
    resume: with out, for the file of an interrupted run: True resumes it, False starts again, None raises InputError
        rather than discard finished tiles.

    Without x2 the result is exactly symmetric and costs half. Ctrl-C interrupts the computation.

    >>> import numpy as np, widelimit as wl
    >>> x = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 0.5]])
    >>> wl.kernel("dense relu dense", x).round(4)
    array([[2.5   , 0.8296, 0.713 ],
           [0.8296, 5.    , 0.4829],
           [0.713 , 0.4829, 0.25  ]])
    >>> both = wl.kernel(wl.Network("fc:3"), x[:2], x, kind=("nngp", "ntk"))
    >>> both.nngp.shape, both.ntk.shape
    ((2, 3), (2, 3))
    """
    requested, result = _requested(kind)
    on_device = isinstance(out, str) and out == "device"
    if out is not None and not on_device:
        where = (requested or "ntk", result, precision, backend, threads, channels_first, out, memory, resume)
        return _store(net, x1, x2, *where)
    if memory is not None or resume is not None:
        raise InputError("memory and resume need out, the file to write to")
    compute = _core.device_gram if on_device else _core.gram
    found = _gram(net, x1, x2, requested, precision, backend, threads, channels_first, compute)
    return _named({"nngp": found.nngp, "ntk": found.ntk}, requested, result)


def gram(
    net: Network | str | list,
    x1: ArrayLike,
    x2: ArrayLike | None = None,
    *,
    kind: str | Sequence[str] | None = None,
    precision: str | None = None,
    backend: str = "cpu",
    threads: int | None = None,
    channels_first: bool | None = None,
    out: Literal["device"] | None = None,
) -> Gram:
    """Like kernel, but also returns the route, the quadrature error and the time of the computation.

    out: None for arrays, 'device' for DeviceArray. Other arguments as in kernel.

    >>> import numpy as np, widelimit as wl
    >>> found = wl.gram("dense tanh dense", np.eye(2))
    >>> found.ntk.shape, found.nngp, found.symmetric
    ((2, 2), None, True)
    >>> 0 < found.quadrature_error < 1e-12
    True
    """
    if not (out is None or (isinstance(out, str) and out == "device")):
        raise InputError(f"out = {out!r}; leave it out, or give 'device'")
    compute = _core.gram if out is None else _core.device_gram
    return _gram(net, x1, x2, _requested(kind)[0], precision, backend, threads, channels_first, compute)


def _gram(net, x1, x2, kind, precision, backend, threads, channels_first, compute) -> Gram:
    network = as_network(net)
    first = as_images(network, x1, "x1", channels_first, backend)
    second = None if x2 is None else as_images(network, x2, "x2", channels_first, backend)
    warn_of_zero_kernel(network, kind)
    options = dict(kind=kind, precision=precision, backend=backend, threads=usable(threads))
    found = Gram(*compute(network, first, second, options))
    warn_of_quadrature(found.quadrature_error, precision)
    return found


def _store(net, x1, x2, kind, result, precision, backend, threads, channels_first, out, memory, resume) -> Any:
    """Computes the kernels of one network, or of each of a tuple, into a file."""
    networks = [as_network(one) for one in (net if isinstance(net, tuple) else (net,))]
    first = as_images(networks[0], x1, "x1", channels_first, backend)
    second = None if x2 is None else as_images(networks[0], x2, "x2", channels_first, backend)
    for network in networks:
        warn_of_zero_kernel(network, kind)
    path = os.fspath(out)
    limit = None if memory is None else str(memory)
    names, error = _core.store_gram(
        path, networks, first, second, kind, precision, backend, usable(threads), limit, resume
    )
    warn_of_quadrature(error, precision)
    each = len(names) // len(networks)
    results = []
    for start in range(0, len(names), each):
        found = {name.split("/")[-1]: StoredGram(path, name) for name in names[start : start + each]}
        results.append(_named(found, kind, result))
    return tuple(results) if isinstance(net, tuple) else results[0]


def warn_of_quadrature(quadrature_error: float, precision: str | None, stacklevel: int = 4) -> None:
    if message := _core.quadrature_warning(quadrature_error, precision):
        warnings.warn(message, AccuracyWarning, stacklevel=stacklevel)


def warn_of_zero_kernel(network: Network, kind: str | None, stacklevel: int = 4) -> None:
    if message := _core.zero_kernel_warning(network, kind):
        warnings.warn(message, UserWarning, stacklevel=stacklevel)


def diagonal(
    net: Network | str | list,
    x: ArrayLike,
    *,
    kind: str | Sequence[str] | None = None,
    precision: str | None = None,
    backend: str = "cpu",
    threads: int | None = None,
    channels_first: bool | None = None,
) -> Any:
    """Returns the diagonal of kernel(net, x) at a fraction of its cost.

    kind: 'ntk' (default), 'nngp', or a tuple of them for a named tuple. Always float64. Other arguments as in kernel.

    >>> import widelimit as wl
    >>> wl.diagonal("fc:3", [[1.0, 0.0], [2.0, 0.0]])
    array([0.25, 1.  ])
    """
    requested, result = _requested("ntk" if kind is None else kind)
    if result is None and (requested,) not in _RESULTS:
        raise InputError(f"kernel kind {kind!r} is unknown; choose 'ntk', 'nngp' or a tuple of these, each once")
    network = as_network(net)
    samples = as_images(network, x, "x", channels_first, backend)
    warn_of_zero_kernel(network, requested, stacklevel=3)
    options = dict(precision=precision, backend=backend, threads=usable(threads))
    (nngp, ntk), error = _core.diagonal(network, samples, options)
    warn_of_quadrature(error, precision, stacklevel=3)
    return _named({"nngp": nngp, "ntk": ntk}, requested, result)


def layer_contributions(
    net: Network | str | list,
    x: ArrayLike,
    *,
    precision: str | None = None,
    backend: str = "cpu",
    threads: int | None = None,
    channels_first: bool | None = None,
) -> LayerContributions:
    """Returns the contribution of each weight layer to the NTK of x; zeros for a frozen layer.

    Arguments as in kernel.

    >>> import numpy as np, widelimit as wl
    >>> x = np.array([[1.0, 2.0], [3.0, -1.0]])
    >>> parts = wl.layer_contributions("fc:2", x)
    >>> parts.layers
    ['1 dense', '3 dense', '5 dense']
    >>> np.allclose(sum(parts.ntk), wl.kernel("fc:2", x))
    True
    """
    network = as_network(net)
    samples = as_images(network, x, "x", channels_first, backend)
    options = dict(precision=precision, backend=backend, threads=usable(threads))
    layers, ntk, error = _core.layer_contributions(network, samples, options)
    warn_of_quadrature(error, precision, stacklevel=3)
    return LayerContributions(layers, ntk)


def sweep(
    net: Network | str | list,
    x: ArrayLike,
    *,
    precision: str | None = None,
    backend: str = "cpu",
    threads: int | None = None,
    channels_first: bool | None = None,
) -> Array:
    """Returns the NTK of x for all depths and numbers of frozen layers in one pass: an array [i, j, n, n].

    Entry [i, j] is the NTK of the network truncated to i hidden layers (0: linear), with its first j weight layers
    frozen in addition to those frozen in the network; zero if j > i. The network must consist of dense layers with
    activations between them. Arguments as in kernel.

    >>> import numpy as np, widelimit as wl
    >>> x = np.array([[1.0, 2.0], [3.0, -1.0]])
    >>> all_depths = wl.sweep("fc:3", x)
    >>> all_depths.shape
    (4, 4, 2, 2)
    >>> np.allclose(all_depths[3, 0], wl.kernel("fc:3", x))
    True
    >>> np.array_equal(all_depths[2, 1], wl.kernel("fc:2(frozen=1)", x))
    True
    """
    network = as_network(net)
    samples = as_images(network, x, "x", channels_first, backend)
    options = dict(precision=precision, backend=backend, threads=usable(threads))
    values, error = _core.sweep(network, samples, options)
    warn_of_quadrature(error, precision, stacklevel=3)
    return values
