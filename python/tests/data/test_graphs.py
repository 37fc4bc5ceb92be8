"""Graphs as samples: construction, kernels, estimators."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest

import widelimit as wl


def random_graphs(count, seed=0, width=0):
    """Returns pairs (edges, features) of random trees with a few extra edges."""
    rng = np.random.default_rng(seed)
    graphs = []
    for _ in range(count):
        n = int(rng.integers(3, 12))
        edges = {(int(rng.integers(0, v)), v) for v in range(1, n)}
        edges |= {tuple(sorted(pair)) for pair in rng.integers(0, n, size=(n // 3, 2)).tolist() if pair[0] != pair[1]}
        features = rng.normal(size=(n, width)) if width else rng.integers(0, 3, size=n)
        graphs.append((sorted(edges), features))
    return graphs


def formula(first, second, blocks, layers):
    """Computes the graph NTK with degree scaling and jumping knowledge by dense matrices."""

    def parts(graph):
        edges, tags = graph
        a = np.eye(len(tags))
        for u, v in edges:
            a[u, v] = a[v, u] = 1
        return a / a.sum(axis=1, keepdims=True), np.asarray(tags)

    def run(a, b, tags1, tags2, norms1, norms2):
        sigma = (tags1[:, None] == tags2[None, :]).astype(float)
        total, norms, step = sigma.sum(), [], 0
        theta = sigma
        for _ in range(blocks):
            sigma, theta = a @ sigma @ b.T, a @ theta @ b.T
            for _ in range(layers):
                norms.append(np.sqrt(np.diag(sigma)) if norms1 is None else None)
                scale = np.outer(norms[-1], norms[-1]) if norms1 is None else np.outer(norms1[step], norms2[step])
                rho = sigma / scale
                rho[rho > 1 - 1e-14] = 1
                angle = np.pi - np.arccos(rho)
                sigma = scale * (rho * angle + np.sqrt(1 - rho * rho)) / np.pi
                theta = theta * angle / np.pi + sigma
                step += 1
            total += theta.sum()
        return norms if norms1 is None else 2 * total

    (a, s), (b, t) = parts(first), parts(second)
    return run(a, b, s, t, run(a, a, s, s, None, None), run(b, b, t, t, None, None))


def test_kernel_is_the_formula():
    graphs = random_graphs(6)
    k = wl.kernel("gntk:4(mlp=2)", wl.Graphs.from_edges(graphs))
    expected = [[formula(a, b, 3, 2) for b in graphs] for a in graphs]
    np.testing.assert_allclose(k, expected, rtol=1e-9)
    np.testing.assert_allclose(wl.kernel("gntk:4(mlp=2)", graphs, backend="reference"), k, rtol=1e-11)
    np.testing.assert_allclose(wl.kernel("gntk:4(mlp=2)", graphs[:2], graphs[2:]), k[:2, 2:], rtol=1e-13)


def test_all_sources_make_the_same_graphs():
    sp = pytest.importorskip("scipy.sparse")
    pairs = random_graphs(5, width=3)
    graphs = wl.Graphs.from_edges(pairs)
    matrices, data = [], []
    for edges, features in pairs:
        index = np.array(edges + [(v, u) for u, v in edges]).T
        matrices.append(sp.coo_array((np.ones(index.shape[1]), index), shape=(len(features),) * 2).tocsr())
        data.append(SimpleNamespace(edge_index=index, x=features))
    assert wl.Graphs.from_scipy(matrices, [features for _, features in pairs]) == graphs
    assert wl.Graphs.from_scipy([m.toarray() for m in matrices], [f for _, f in pairs]) == graphs
    assert wl.Graphs.from_pyg(data) == graphs
    assert wl.Graphs(data) == graphs
    assert wl.Graphs(pairs) == graphs
    assert wl.Graphs(matrices) == wl.Graphs.from_scipy(matrices)
    assert repr(graphs) == f"<Graphs: 5 graphs, {graphs.node_counts.sum()} nodes, 3 features>"


class Tensor:
    """Mock of a PyTorch tensor: convertible to NumPy only on the CPU and without gradient."""

    def __init__(self, values, device="cpu", requires_grad=False):
        self.values, self.device, self.requires_grad = np.asarray(values), device, requires_grad

    def detach(self):
        return Tensor(self.values, self.device)

    def cpu(self):
        return Tensor(self.values, "cpu", self.requires_grad)

    def __array__(self, dtype=None, copy=None):
        if self.device != "cpu" or self.requires_grad:
            raise TypeError("cannot be converted")
        return self.values if dtype is None else self.values.astype(dtype)


class Data:
    """Mock of torch_geometric.data.Data."""

    def __init__(self, edge_index, x=None, y=None, edge_attr=None, num_nodes=None):
        self.edge_index, self.x, self.y, self.edge_attr = edge_index, x, y, edge_attr
        self.num_nodes = num_nodes if x is None else len(x.values)


def both_ways(edges):
    return np.array([*edges, *((v, u) for u, v in edges)]).T


def test_pytorch_geometric():
    tagged = [([(0, 1), (1, 2), (2, 0)], [0, 1, 1]), ([(0, 1), (1, 2)], [1, 0, 1])]
    data = [
        Data(
            Tensor(both_ways(edges), device="cuda:0"),
            x=Tensor(np.eye(2, dtype=np.float32)[tags], requires_grad=True),
            y=Tensor([len(edges) == 3]),
            edge_attr=Tensor(np.ones((2 * len(edges), 4))),
        )
        for edges, tags in tagged
    ]
    graphs = wl.Graphs.from_pyg(graph for graph in data)
    assert graphs == wl.Graphs.from_edges([(edges, np.eye(2)[tags]) for edges, tags in tagged])
    # Tags are equivalent to one-hot vectors.
    np.testing.assert_allclose(wl.kernel("gntk:3", data), wl.kernel("gntk:3", wl.Graphs.from_edges(tagged)), rtol=1e-14)
    # Without features tags are degrees; isolated nodes are counted by num_nodes.
    alone = Data(Tensor(both_ways([(0, 1)])), num_nodes=3)
    assert wl.Graphs.from_pyg([alone]) == wl.Graphs.from_edges([([(0, 1)], 3)])
    with pytest.raises(wl.InputError, match="graph 1: the edge 0-1 is listed at node 0 only"):
        wl.Graphs.from_pyg([data[0], Data(Tensor([[0], [1]]), num_nodes=2)])
    with pytest.raises(wl.InputError, match="graph 0: edge_index is 2×E"):
        wl.Graphs.from_pyg([Data(Tensor(both_ways([(0, 1), (1, 2)]).T), num_nodes=3)])
    with pytest.raises(wl.InputError, match="graph 0: the edge 0-2 refers to node 2"):
        wl.Graphs.from_pyg([Data(Tensor(both_ways([(0, 2)])), x=Tensor(np.eye(2)))])


def test_networkx():
    nx = pytest.importorskip("networkx")
    graph = nx.cycle_graph(5)
    other = nx.Graph([("a", "b"), ("b", "c")])
    assert wl.Graphs.from_networkx([graph, other]) == wl.Graphs.from_edges(
        [(list(graph.edges), 5), ([(0, 1), (1, 2)], 3)]
    )
    nx.set_node_attributes(other, {"a": "C", "b": "N", "c": "C"}, "atom")
    tagged = wl.Graphs.from_networkx([other], features="atom")
    assert tagged == wl.Graphs.from_edges([([(0, 1), (1, 2)], ["C", "N", "C"])])
    with pytest.raises(wl.InputError, match="graph 1, node 0 has no 'atom'"):
        wl.Graphs.from_networkx([other, graph], features="atom")
    with pytest.raises(wl.InputError, match="graph 0 is directed"):
        wl.Graphs.from_networkx([nx.DiGraph([(0, 1)])])


def test_a_sequence_that_can_be_pickled():
    graphs = wl.Graphs.from_edges(random_graphs(7))
    assert len(graphs[2:5]) == 3
    assert graphs[3] == graphs[[3]]
    assert wl.Graphs([graphs[0], graphs[1:]]) == graphs
    assert pickle.loads(pickle.dumps(graphs)) == graphs
    with pytest.raises(IndexError):
        graphs[7]


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (([], []), "graph 1 has no nodes"),
        (([], [1, 2]), "graph 1 has no edges"),
        (([(0, 0), (0, 1)], [1, 2]), "graph 1: node 0 has an edge to itself"),
        (([(0, 5)], [1, 2]), "graph 1: the edge 0-5 refers to node 5"),
        (([(0, 1), (0, 1)], [1, 2]), "graph 1: the edge 0-1 is listed twice"),
        (([(0, 1)], [[1.0], [2.0]]), "graph 1 has 1 features per node, graph 0 has tags"),
        (([(0, 1), (1, 0), (1, 2)], 3), "graph 1: the edge 0-1 is listed in both directions, but 1-2 in one only"),
        (([(0, 1), (1,)], [1, 2]), r"graph 1: edge 1 is \(1,\), not a pair of nodes"),
        (([(0, 1)], [[1.0, 2.0], [3.0]]), "graph 1, node 1 has 1 feature, but node 0 has 2 features"),
        (([(0, 1)], [[1.0], 3.0]), "graph 1, node 1 has 3.0, but node 0 has 1 feature;"),
        (([(0, 1, 2)], [1, 2]), "give E×2 integers"),
        (([(0, 1)], [1.5, 2]), "integer or text tag"),
    ],
)
def test_bad_graphs_are_named(graph, message):
    with pytest.raises(wl.InputError, match=message):
        wl.Graphs.from_edges([([(0, 1)], [1, 2]), graph])
    with pytest.raises(wl.InputError, match=message):
        wl.Graphs([([(0, 1)], [1, 2]), graph])


def test_a_single_graph_is_not_a_list():
    sp = pytest.importorskip("scipy.sparse")
    a = np.array([[0, 1], [1, 0]])
    for matrix in (a, a.tolist(), sp.csr_array(a), sp.csr_matrix(a), sp.coo_array(a)):
        with pytest.raises(wl.InputError, match=r"from_scipy takes a list of graphs, not a single one; give \[graph\]"):
            wl.Graphs.from_scipy(matrix)
    with pytest.raises(wl.InputError, match=r"from_scipy: graph 1 is an array of shape \(3,\), not a square matrix"):
        wl.Graphs.from_scipy([a, np.ones(3)])
    with pytest.raises(wl.InputError, match="from_pyg takes a list of graphs, not a single one"):
        wl.Graphs.from_pyg(SimpleNamespace(edge_index=np.array([[0, 1], [1, 0]])))
    with pytest.raises(wl.InputError, match="from_pyg: graph 0 is object, not a graph with an edge_index"):
        wl.Graphs.from_pyg([object()])
    for make in (wl.Graphs.from_edges, wl.Graphs.from_networkx, wl.Graphs.from_scipy, wl.Graphs.from_pyg):
        with pytest.raises(wl.InputError, match="takes a list of graphs, not int"):
            make(3)
        assert len(make([])) == 0
    nx = pytest.importorskip("networkx")
    graph = nx.path_graph(["a", "b", "c"])
    with pytest.raises(wl.InputError, match="from_networkx takes a list of graphs, not a single one"):
        wl.Graphs.from_networkx(graph)
    nx.set_node_attributes(graph, {"a": [1.0, 2.0], "b": [1.0], "c": [0.0, 1.0]}, "feature")
    with pytest.raises(wl.InputError, match="graph 0, node 'b' has 1 feature, but node 'a' has 2 features"):
        wl.Graphs.from_networkx([graph], features="feature")


def test_label_aware_kernels_of_graphs():
    graphs, y = cycles_and_paths(20)
    k = wl.kernel("gntk:3", graphs)
    assert wl.label_aware_kernel(k, y, method="kr1").train.shape == (20, 20)
    with pytest.raises(wl.InputError, match=r"linear1 .* does not take graphs; choose kr1 or kr2"):
        wl.label_aware_kernel(k, y, x=wl.Graphs(graphs), method="linear1")
    with pytest.raises(wl.InputError, match="choose kr1 or kr2"):
        wl.NTKClassifier("gntk:3", label_aware="fjlt1").fit(graphs, y)


def test_one_sided_and_weighted_matrices():
    with pytest.raises(wl.InputError, match="graph 0: the edge 0-1 is listed at node 0 only"):
        wl.Graphs.from_scipy([np.array([[0, 1], [0, 0]])])
    with pytest.raises(wl.InputError, match="edges have no weights"):
        wl.Graphs.from_scipy([np.array([[0, 2], [2, 0]])])


def test_arrays_are_no_graphs():
    with pytest.raises(wl.InputError, match="reads graphs"):
        wl.kernel("gntk:2", np.ones((3, 4)))
    with pytest.raises(wl.InputError, match="global_sum_pool"):
        wl.kernel("fc:1", wl.Graphs.from_edges(random_graphs(2)))


def test_errors_of_what_takes_no_graphs_say_what_does():
    graphs = wl.Graphs.from_edges(random_graphs(4))
    y = np.array([1.0, -1.0, 1.0, -1.0])
    with pytest.raises(wl.InputError, match="tangent hierarchies do not take graphs; they belong to"):
        wl.nth_kernel(graphs, y)
    for network in ("gntk:2", "fc:2"):
        with pytest.raises(wl.InputError, match=r"finite width do not take graphs; graph networks, .* have kernels"):
            wl.train(network, graphs, y, width=8, steps=2)
    with pytest.raises(wl.InputError, match="graphs are not an array of numbers"):
        wl.evolution("gntk:2", graphs, y, width=8, steps=2)
    with pytest.raises(wl.InputError, match="graphs are not an array of numbers"):
        wl.fit_ridge(graphs, y)


def test_kernels_of_nodes_sum_to_those_of_graphs():
    graphs = wl.Graphs.from_edges(random_graphs(3))
    blocks = "aggregate dense relu aggregate dense relu"
    nodes = wl.kernel(f"{blocks} dense", graphs.nodes)
    owner = np.repeat(np.arange(3), graphs.node_counts)
    sums = np.array([[nodes[np.ix_(owner == a, owner == b)].sum() for b in range(3)] for a in range(3)])
    np.testing.assert_allclose(sums, wl.kernel(f"{blocks} global_sum_pool dense", graphs), rtol=1e-12)
    with pytest.raises(wl.InputError, match="pools over nodes"):
        wl.kernel("gntk:2", graphs.nodes)


def test_nodes_as_samples_differ_from_their_graphs():
    samples = wl.Graphs.from_edges(random_graphs(3))._samples
    assert samples.nodes == samples.nodes
    assert samples.nodes != samples
    with pytest.raises(wl.InputError, match="take graphs, then their nodes"):
        samples.nodes.take([0])


def cycles_and_paths(count):
    """Returns cycles and paths of the same sizes, distinguishable by the degrees of the end nodes."""
    graphs, y = [], []
    for k in range(count):
        n = 4 + k % 5
        path = [(u, u + 1) for u in range(n - 1)]
        graphs.append(([*path, (0, n - 1)] if k % 2 else path, n))
        y.append("cycle" if k % 2 else "path")
    return graphs, np.array(y)


def test_classifier_passes_through_scikit_learn(tmp_path):
    pytest.importorskip("sklearn")
    from sklearn.model_selection import GridSearchCV, cross_val_score

    graphs, y = cycles_and_paths(40)
    model = wl.NTKClassifier(network="gntk:3", machine="svm", lam=0.01)
    assert cross_val_score(model, graphs, y, cv=4).mean() == 1
    assert cross_val_score(model, wl.Graphs(graphs), y, cv=4).mean() == 1
    search = GridSearchCV(model, {"lam": [0.01, 1.0]}, cv=3).fit(graphs, y)
    assert search.best_score_ == 1
    fitted = model.fit(graphs, y)
    fitted.save(tmp_path / "m.h5")
    again = wl.NTKClassifier.load(tmp_path / "m.h5")
    np.testing.assert_array_equal(again.decision_function(graphs), fitted.decision_function(graphs))
    np.testing.assert_array_equal(wl.load_model(tmp_path / "m.h5").predict(graphs), y)
    regressor = wl.NTKRegressor(network="gntk:2").fit(graphs, np.arange(40.0))
    assert regressor.predict(graphs).shape == (40,)


def test_sets_of_the_catalogue(tmp_path):
    path = tmp_path / "two.txt"
    path.write_text("2\n3 1\n0 1 1\n2 2 0 2\n0 1 1\n2 -1\n0 1 1\n0 1 0\n")
    graphs, y, names = wl.load_data(str(path))
    assert len(graphs) == 2 and y.tolist() == [1, 0] and names == ["-1", "1"]
    train, _ = wl.load_train_test(str(path))
    assert isinstance(train.x, wl.Graphs)


def test_labels_of_a_file_can_be_left_out(tmp_path):
    path = tmp_path / "new.txt"
    path.write_text("2\n2 5\n0 1 1\n0 1 0\n2\n0 1 1\n0 1 0\n")
    with pytest.raises(wl.InputError, match=r"line 5: the label of graph 1 is missing .*label='none'"):
        wl.load_data(path)
    graphs, y, names = wl.load_data(path, label="none")
    assert len(graphs) == 2 and y is None and not names


def test_tags_beyond_signed_integers_do_not_wrap():
    tags = np.array([2**64 - 5, 1], dtype=np.uint64)
    with pytest.raises(wl.InputError, match="the tag 18446744073709551611 is beyond"):
        wl.Graphs.from_edges([([(0, 1)], tags)])
    assert wl.Graphs.from_edges([([(0, 1)], tags[1:].repeat(2))]) == wl.Graphs.from_edges([([(0, 1)], [1, 1])])
