"""Graphs as samples."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
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

        edges: E×2 node indices from 0, all edges once, or all in both directions. features: N integer tags, or N×D
        numbers; or the number of nodes, with node degrees as tags.
        """
        given = _as_list(graphs, "from_edges", "pair (edges, features)", None)
        return cls._of(_core.make_graphs([_of_edges(graph, g) for g, graph in enumerate(given)], False))

    @classmethod
    def from_networkx(cls, graphs: Iterable[Any], features: str | None = None) -> Graphs:
        """Builds graphs from undirected NetworkX graphs. features: the node attribute with an integer or text tag, or
        a list of numbers; default: node degrees as tags.
        """
        given = _as_list(graphs, "from_networkx", "NetworkX graph", lambda one: hasattr(one, "is_directed"))
        return cls._of(_core.make_graphs([_of_networkx(graph, features, g) for g, graph in enumerate(given)], False))

    @classmethod
    def from_scipy(cls, matrices: Iterable[Any], features: Sequence[Any] | None = None) -> Graphs:
        """Builds graphs from symmetric 0/1 adjacency matrices, sparse or dense, and the features of each graph, as in
        from_edges.
        """
        matrices = _as_list(matrices, "from_scipy", "square matrix", _is_square)
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
        given = _as_list(graphs, "from_pyg", "graph with an edge_index", lambda one: hasattr(one, "edge_index"))
        return cls._of(_core.make_graphs([_of_pyg(graph, g) for g, graph in enumerate(given)], True))

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

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise InputError(
            "graphs are not an array of numbers; they are samples of kernels of graph networks, such as 'gntk:4'"
        )

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
    return _core.join_graphs([_as_graph(graph, g, name) for g, graph in enumerate(x)])


def _as_graph(graph: Any, g: int, name: str) -> GraphSamples:
    if isinstance(graph, Graphs):
        return graph._samples
    if hasattr(graph, "edge_index"):
        return _core.make_graphs([_of_pyg(graph, g)], True, g)
    if hasattr(graph, "tocsr"):
        return _core.make_graphs([_of_matrix(graph, None, g)], True, g)
    if hasattr(graph, "adjacency") and hasattr(graph, "nodes"):
        return _core.make_graphs([_of_networkx(graph, None, g)], False, g)
    if isinstance(graph, (list, tuple)) and len(graph) == 2:
        return _core.make_graphs([_of_edges(graph, g)], False, g)
    raise InputError(f"{name}[{g}] is not a graph; give {_FORMS}")


def _as_list(graphs: Any, constructor: str, kind: str, is_graph: Callable[[Any], bool] | None) -> list[Any]:
    """Returns the graphs as a list; a single graph, which may be iterable too, is refused.

    kind: what a graph is, in messages. is_graph: None leaves the test of each graph to the caller.
    """
    single = is_graph is not None and is_graph(graphs)
    try:
        items = list(graphs)
    except TypeError as error:
        given = "a single one; give [graph]" if single else type(graphs).__name__
        raise InputError(f"{constructor} takes a list of graphs, not {given}") from error
    wrong = None if is_graph is None else next((g for g, item in enumerate(items) if not is_graph(item)), None)
    if wrong is None and (items or not single):
        return items
    if single:
        raise InputError(f"{constructor} takes a list of graphs, not a single one; give [graph]")
    raise InputError(f"{constructor}: graph {wrong} is {_described(items[wrong])}, not a {kind}")


def _described(value: Any) -> str:
    shape = getattr(value, "shape", None)
    return type(value).__name__ if shape is None else f"an array of shape {shape}"


def _is_square(value: Any) -> bool:
    try:
        shape = value.shape if hasattr(value, "shape") else np.shape(value)
    except ValueError:  # rows of different lengths
        return False
    return len(shape) == 2 and shape[0] == shape[1]


def _edges(edges: Any, g: int) -> NDArray[np.int64]:
    try:
        pairs = np.asarray(edges)
    except ValueError as error:  # elements of different lengths
        wrong = next((e for e, edge in enumerate(edges) if np.size(edge) != 2), None)
        where = "edges are not pairs" if wrong is None else f"edge {wrong} is {edges[wrong]!r}, not a pair"
        raise InputError(f"graph {g}: {where} of nodes") from error
    if pairs.size == 0:
        return np.zeros((0, 2), np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise InputError(f"graph {g}: edges have shape {pairs.shape} and dtype {pairs.dtype}; give E×2 integers")
    return np.ascontiguousarray(pairs, dtype=np.int64)


def _features(features: Any, g: int, names: Sequence[Any] | None = None) -> tuple[int | None, Any, Any]:
    """Returns (nodes, tags, features) of the features argument of a graph; nodes is None if it is not determined.

    names: of the nodes in messages; default: their indices.
    """
    if features is None:
        return None, None, None
    try:
        given = np.asarray(features)
    except ValueError as error:
        raise InputError(_unequal_features(list(features), g, names)) from error
    if given.ndim == 0 and given.dtype.kind in "iu":
        return int(given), None, None
    if given.shape == (0,):
        return 0, None, None
    if given.ndim == 1 and given.dtype.kind == "u" and given.max() > np.iinfo(np.int64).max:
        raise InputError(
            f"graph {g}: the tag {given.max()} is beyond ±2⁵³, the range in which files store integers exactly"
        )
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


def _unequal_features(rows: list[Any], g: int, names: Sequence[Any] | None) -> str:
    """Describes the first node whose number of features is not that of the first node."""
    sizes = [
        repr(row) if isinstance(row, str) or not np.iterable(row) else f"{len(row)} feature{'s' * (len(row) != 1)}"
        for row in rows
    ]
    wrong = next((u for u, size in enumerate(sizes) if size != sizes[0]), None)
    if wrong is None:
        return f"graph {g}: features are not one row of numbers for each node"
    node, first = (wrong, 0) if names is None else (names[wrong], names[0])
    return (
        f"graph {g}, node {node!r} has {sizes[wrong]}, but node {first!r} has {sizes[0]}; give all nodes the same "
        "number of features"
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
    _, tags, rows = _features([held[features] for _, held in graph.nodes(data=True)], g, list(graph.nodes))
    return len(places), edges, tags, rows


def _of_matrix(matrix: Any, features: Any, g: int) -> tuple[Any, ...]:
    if not _is_square(matrix):
        raise InputError(f"graph {g} is {_described(matrix)}; an adjacency matrix is square")
    if hasattr(matrix, "tocoo"):
        entries = matrix.tocoo()
        rows, cols, weights, shape = entries.row, entries.col, entries.data, matrix.shape
    else:
        dense = np.asarray(matrix)
        rows, cols = np.nonzero(dense)
        weights, shape = dense[rows, cols], dense.shape
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
    try:
        index = _of_tensor(graph.edge_index)
    except ValueError as error:
        raise InputError(f"graph {g}: edge_index is not an array ({error}); give 2×E integers") from error
    if index.ndim != 2 or index.shape[0] != 2:
        raise InputError(f"graph {g}: edge_index is 2×E, but has shape {index.shape}")
    x = getattr(graph, "x", None)
    nodes, tags, rows = _features(x if x is None or isinstance(x, (list, tuple)) else _of_tensor(x), g)
    if nodes is None:
        counted = getattr(graph, "num_nodes", None)
        nodes = int(counted) if counted is not None else (int(index.max()) + 1 if index.size else 0)
    return nodes, _edges(index.T, g), tags, rows
