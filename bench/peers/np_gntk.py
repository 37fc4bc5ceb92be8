"""NumPy and SciPy as a peer: the graph NTK of Du et al. (2019), pair by pair, with Kronecker products.

With A the adjacency of a graph with unit diagonal, and Σ(u, v) = 1 if two nodes have equal tags, else 0,
                                                                                      [docs/theory/graphs.md]
    aggregate:  vec Σ ← (A₁ ⊗ A₂) vec Σ / (degrees of both), likewise T
    ReLU:       Σ ← r r' κ₁(ρ),  T ← T κ₀(ρ) + Σ,  ρ = Σ/(r r')

and the kernel is 2·Σ T over all pairs of nodes, for the input and after each block. ρ within a few ulps of 1 is
set to 1.

A request is BLOCKS LAYERS COUNT: the first COUNT graphs against each other; the result is their Gram matrix.
"""

import argparse
import gzip

import numpy as np
import scipy.sparse as sp
from peer_protocol import serve


def read_graphs(path):
    """Returns tags and adjacency of each graph; if all tags are equal, degrees serve as tags."""
    with gzip.open(path, "rt") as file:
        lines = iter(file.read().splitlines())
    graphs = []
    for _ in range(int(next(lines))):
        nodes = int(next(lines).split()[0])
        rows = [[int(word) for word in next(lines).split()] for _ in range(nodes)]
        ends = [(u, v) for u, row in enumerate(rows) for v in row[2:]]
        adjacency = sp.coo_matrix((np.ones(len(ends)), tuple(np.array(ends).T)), shape=(nodes, nodes))
        graphs.append([np.array([row[0] for row in rows]), (adjacency + sp.identity(nodes)).tocsr()])
    if len(np.unique(np.concatenate([tags for tags, _ in graphs]))) == 1:
        for graph in graphs:
            graph[0] = np.asarray(graph[1].sum(axis=1)).ravel().astype(int)
    return graphs


def relu(sigma, norm1, norm2):
    scale = np.outer(norm1, norm2)
    rho = sigma / scale
    rho[rho > 1 - 4e-15] = 1
    angle = np.pi - np.arccos(np.clip(rho, -1, 1))
    slope = angle / np.pi
    return scale * (rho * angle + np.sqrt(np.maximum(0, 1 - rho * rho))) / np.pi, slope


def one_pair(first, second, norms1, norms2, blocks, layers):
    """Returns the kernel of two graphs; with norms1 = norms2 = None, the norms of a graph with itself."""
    (tags1, a1), (tags2, a2) = first, second
    kronecker = sp.kron(a1, a2)
    degrees = np.outer(np.asarray(a1.sum(axis=1)).ravel(), np.asarray(a2.sum(axis=1)).ravel())

    def aggregate(values):
        return (kronecker @ values.reshape(-1)).reshape(values.shape) / degrees

    sigma = (tags1[:, None] == tags2[None, :]).astype(float)
    total = sigma.sum()
    theta = sigma = aggregate(sigma)
    norms = []
    step = 0
    for block in range(blocks):
        if block > 0:
            sigma, theta = aggregate(sigma), aggregate(theta)
        for _ in range(layers):
            norms.append(np.sqrt(np.diag(sigma)) if norms1 is None else None)
            norm1, norm2 = (norms[-1], norms[-1]) if norms1 is None else (norms1[step], norms2[step])
            sigma, slope = relu(sigma, norm1, norm2)
            theta = theta * slope + sigma
            step += 1
        total += theta.sum()
    return norms if norms1 is None else 2 * total


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--graphs", required=True, help="a file in the format of the GIN data sets")
    graphs = read_graphs(options.parse_args().graphs)

    def evaluate(blocks, layers, count):
        blocks, layers, count = int(blocks), int(layers), int(count)
        norms = [one_pair(g, g, None, None, blocks, layers) for g in graphs[:count]]
        gram = np.empty((count, count))
        for i in range(count):
            for j in range(i, count):
                gram[i, j] = gram[j, i] = one_pair(graphs[i], graphs[j], norms[i], norms[j], blocks, layers)
        return gram

    serve(evaluate)


if __name__ == "__main__":
    main()
