"""Graphs as samples."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widelimit import _core
from widelimit._core import GraphSamples, InputError

_FORMS = (
    "wl.Graphs, or a list of pairs (edges, features), NetworkX graphs, PyTorch Geometric data or adjacency matrices"
)


class Graphs:
    """Undirected graphs with a tag or a feature vector at each node; samples for networks such as 'gntk:4'.

    The neighbourhood of a node includes the node itself, so self-loops are not allowed. A tag stands for a one-hot
    vector. Without features, tags are node degrees. Supports len and indexing by integers, slices and index arrays,
    which returns Graphs.

    >>> import numpy as np, widelimit as wl
    >>> triangle = ([(0, 1), (1, 2), (2, 0)], [1, 1, 2])
    >>> path = ([(0, 1), (1, 2)], [1, 2, 1])
    >>> graphs = wl.Graphs.from_edges([triangle, path])
    >>> graphs, len(graphs[:1]), graphs.node_counts.tolist()
    (<Graphs: 2 graphs, 6 nodes, tags>, 1, [3, 3])
    >>> wl.kernel("gntk:2(mlp=1)", graphs).shape
    (2, 2)
    """

    def __init__(self, graphs: Any) -> None:
        """graphs: Graphs, or a list of graphs in any form accepted by the other constructors."""
        self._samples: GraphSamples = as_graphs(graphs, "graphs")

    @classmethod
    def _of(cls, samples: GraphSamples) -> Graphs:
        graphs = cls.__new__(cls)
        graphs._samples = samples
        return graphs

    @classmethod
    def from_edges(cls, graphs: Iterable[tuple[Any, Any]]) -> Graphs:
        """Builds graphs from pairs (edges, features).

        edges: E×2 node indices from 0, each edge once or once in each direction. features: N integer tags, or N×D
        numbers; or the number of nodes, with node degrees as tags.
        """
        return cls._of(_core.make_graphs([_of_edges(graph, g) for g, graph in enumerate(graphs)], False))

    @classmethod
    def from_networkx(cls, graphs: Iterable[Any], features: str | None = None) -> Graphs:
        """Builds graphs from undirected NetworkX graphs. features: the node attribute with an integer or text tag, or
        a list of numbers; default: node degrees as tags.
        """
        return cls._of(_core.make_graphs([_of_networkx(graph, features, g) for g, graph in enumerate(graphs)], False))

    @classmethod
    def from_scipy(cls, matrices: Iterable[Any], features: Sequence[Any] | None = None) -> Graphs:
        """Builds graphs from symmetric 0/1 adjacency matrices, sparse or dense, and the features of each graph, as in
        from_edges.
        """
        matrices = list(matrices)
        given = [None] * len(matrices) if features is None else list(features)
        if len(given) != len(matrices):
            raise InputError(f"{len(matrices)} graphs, but features of {len(given)}")
        parts = [_of_matrix(matrix, more, g) for g, (matrix, more) in enumerate(zip(matrices, given, strict=True))]
        return cls._of(_core.make_graphs(parts, True))

    @classmethod
    def from_pyg(cls, graphs: Iterable[Any]) -> Graphs:
        """Builds graphs from PyTorch Geometric data, or any objects with a 2×E edge_index, with both directions of each
        edge, and an N×D x or None. Tensors may be on any device and require gradients. Labels and edge attributes are
        ignored.

        >>> import numpy as np, widelimit as wl
        >>> from types import SimpleNamespace
        >>> data = SimpleNamespace(edge_index=np.array([[0, 1, 1, 2], [1, 0, 2, 1]]), x=np.eye(3))
        >>> wl.Graphs.from_pyg([data])
        <Graphs: 1 graphs, 3 nodes, 3 features>
        """
        return cls._of(_core.make_graphs([_of_pyg(graph, g) for g, graph in enumerate(graphs)], True))

    @property
    def node_counts(self) -> NDArray[np.int64]:
        """Number of nodes of each graph."""
        return np.diff(self._samples.arrays()[0])

    @property
    def nodes(self) -> GraphSamples:
        """The nodes of all graphs as samples, for node kernels of networks without global pooling.

        >>> import widelimit as wl
        >>> graphs = wl.Graphs.from_edges([([(0, 1), (1, 2)], [1, 2, 1]), ([(0, 1)], [1, 1])])
        >>> wl.kernel("aggregate dense relu dense", graphs.nodes).shape
        (5, 5)
        """
        return self._samples.nodes

    @property
    def width(self) -> int:
        """Number of features per node; 0 if nodes have tags."""
        return self._samples.width

    def __len__(self) -> int:
        return len(self._samples)

    def __getitem__(self, chosen: Any) -> Graphs:
        places = np.arange(len(self))[chosen]
        return Graphs._of(self._samples.take(np.atleast_1d(places).tolist()))

    def __eq__(self, other: object) -> bool:
        return self._samples == other._samples if isinstance(other, Graphs) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, self._samples.arrays()

    def __repr__(self) -> str:
        what = f"{self.width} features" if self.width else "tags"
        return f"<Graphs: {len(self)} graphs, {int(self.node_counts.sum())} nodes, {what}>"


def _restored(nodes, edges, neighbours, tags, features, width) -> Graphs:
    lists = [part.tolist() for part in (nodes, edges, neighbours, tags, features)]
    return Graphs._of(_core.graphs_of_arrays(*lists, width))


def as_graphs(x: Any, name: str) -> GraphSamples:
    """Converts x to graph samples of the core library."""
    if isinstance(x, Graphs):
        return x._samples
    if isinstance(x, GraphSamples):
        return x
    if isinstance(x, np.ndarray) and x.dtype == object:
        x = x.tolist()
    if not isinstance(x, (list, tuple)):
        raise InputError(f"{name}: the network reads graphs; give {_FORMS}")
    return _core.join_graphs([_one(graph, g, name) for g, graph in enumerate(x)])


def _one(graph: Any, g: int, name: str) -> GraphSamples:
    if isinstance(graph, Graphs):
        return graph._samples
    if hasattr(graph, "edge_index"):
        return _core.make_graphs([_of_pyg(graph, g)], True)
    if hasattr(graph, "tocsr"):
        return _core.make_graphs([_of_matrix(graph, None, g)], True)
    if hasattr(graph, "adjacency") and hasattr(graph, "nodes"):
        return _core.make_graphs([_of_networkx(graph, None, g)], False)
    if isinstance(graph, (list, tuple)) and len(graph) == 2:
        return _core.make_graphs([_of_edges(graph, g)], False)
    raise InputError(f"{name}[{g}] is not a graph; give {_FORMS}")


def _edges(edges: Any, g: int) -> NDArray[np.int64]:
    pairs = np.asarray(edges)
    if pairs.size == 0:
        return np.zeros((0, 2), np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise InputError(f"graph {g}: edges have shape {pairs.shape} and dtype {pairs.dtype}; give E×2 integers")
    return np.ascontiguousarray(pairs, dtype=np.int64)


def _features(features: Any, g: int) -> tuple[int | None, Any, Any]:
    """Returns (nodes, tags, features) of the features argument of a graph; nodes is None if it is not determined."""
    if features is None:
        return None, None, None
    given = np.asarray(features)
    if given.ndim == 0 and given.dtype.kind in "iu":
        return int(given), None, None
    if given.shape == (0,):
        return 0, None, None
    if given.ndim == 1 and given.dtype.kind in "iub":
        return len(given), np.ascontiguousarray(given, dtype=np.int64), None
    if given.ndim == 1 and given.dtype.kind in "US":
        return len(given), np.array([_tag(text) for text in given.tolist()], dtype=np.int64), None
    if given.ndim == 2 and given.dtype.kind in "fiub":
        return len(given), None, np.ascontiguousarray(given, dtype=np.float64)
    raise InputError(
        f"graph {g}: features have shape {given.shape} and dtype {given.dtype}; "
        "give one integer or text tag for each node, or N×D numbers"
    )


def _tag(value: Any) -> int:
    """Returns an integer unchanged, or a hash of a text that is the same in every process."""
    if isinstance(value, (int, np.integer)):
        return int(value)
    return int.from_bytes(hashlib.blake2b(str(value).encode(), digest_size=6).digest(), "big")


def _of_edges(graph: Any, g: int) -> tuple[Any, ...]:
    try:
        edges, features = graph
    except (TypeError, ValueError) as error:
        raise InputError(f"graph {g} is not a pair (edges, features)") from error
    pairs = _edges(edges, g)
    nodes, tags, rows = _features(features, g)
    if nodes is None:
        nodes = int(pairs.max()) + 1 if len(pairs) else 0
    return nodes, pairs, tags, rows


def _of_networkx(graph: Any, features: str | None, g: int) -> tuple[Any, ...]:
    if graph.is_directed():
        raise InputError(f"graph {g} is directed; give graph.to_undirected()")
    places = {node: place for place, node in enumerate(graph.nodes)}
    edges = _edges([(places[edge[0]], places[edge[1]]) for edge in graph.edges()], g)
    if features is None:
        return len(places), edges, None, None
    missing = [node for node, held in graph.nodes(data=True) if features not in held]
    if missing:
        raise InputError(f"graph {g}, node {missing[0]!r} has no {features!r}")
    _, tags, rows = _features([held[features] for _, held in graph.nodes(data=True)], g)
    return len(places), edges, tags, rows


def _of_matrix(matrix: Any, features: Any, g: int) -> tuple[Any, ...]:
    if hasattr(matrix, "tocoo"):
        entries = matrix.tocoo()
        rows, cols, weights, shape = entries.row, entries.col, entries.data, matrix.shape
    else:
        dense = np.asarray(matrix)
        rows, cols = np.nonzero(dense)
        weights, shape = dense[rows, cols], dense.shape
    if len(shape) != 2 or shape[0] != shape[1]:
        raise InputError(f"graph {g}: the adjacency matrix has shape {shape}; it must be square")
    kept = weights != 0
    if not np.all(weights[kept] == 1):
        raise InputError(f"graph {g}: edges have no weights; its adjacency matrix has entries other than 0 and 1")
    edges = np.ascontiguousarray(np.stack([rows[kept], cols[kept]], axis=1), dtype=np.int64)
    nodes, tags, more = _features(features, g)
    if nodes is not None and nodes != shape[0]:
        raise InputError(f"graph {g} has {shape[0]} nodes, but features of {nodes}")
    return shape[0], edges, tags, more


def _of_tensor(values: Any) -> NDArray[Any]:
    """Converts to a NumPy array; a tensor is detached and copied to the host."""
    return np.asarray(values.detach().cpu() if hasattr(values, "detach") else values)


def _of_pyg(graph: Any, g: int) -> tuple[Any, ...]:
    index = _of_tensor(graph.edge_index)
    if index.ndim != 2 or index.shape[0] != 2:
        raise InputError(f"graph {g}: edge_index is 2×E, but has shape {index.shape}")
    x = getattr(graph, "x", None)
    nodes, tags, rows = _features(None if x is None else _of_tensor(x), g)
    if nodes is None:
        counted = getattr(graph, "num_nodes", None)
        nodes = int(counted) if counted is not None else (int(index.max()) + 1 if index.size else 0)
    return nodes, _edges(index.T, g), tags, rows
