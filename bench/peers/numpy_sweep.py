"""NumPy as a peer: every depth and every frozen prefix of a fully-connected ReLU network, x against itself.

With w_std = √2 and Σ⁰ = ⟨x,x'⟩/d, layer by layer                                     [docs/theory/kernels.md]

    ρ = Σ/√(Σ₁₁Σ₂₂),   Σ ← 2·½√(Σ₁₁Σ₂₂) κ₁(ρ),   Θ ← Θ·2·½κ₀(ρ) + Σ,

where a frozen layer adds no Σ to Θ. Two orders: `prefix` repeats the recursion for each number of frozen layers, like
the program of Arora et al. for the UCI sets; `shared` uses one Σ for all of them, which is 3 times as fast.

A request is the ORDER; the result consists of the matrices [depth, frozen], frozen ≤ depth, in order.
"""

import numpy as np
from peer_protocol import parser, read_input, serve


def step(sigma):
    """Returns Σ after ReLU and the factor w² = 2, and the factor of Θ."""
    norm = np.sqrt(np.diag(sigma))
    scale = np.outer(norm, norm)
    rho = np.clip(sigma / np.maximum(scale, 1e-9), -1, 1)
    kappa0 = (np.pi - np.arccos(rho)) / np.pi
    return scale * (rho * kappa0 + np.sqrt(1 - rho * rho) / np.pi), kappa0


def sweep_by_prefix(x, hidden):
    n, d = x.shape
    out = np.zeros((hidden + 1, hidden + 1, n, n), dtype=x.dtype)
    for frozen in range(hidden + 1):
        sigma = x @ x.T * (2 / d)
        theta = np.zeros_like(sigma)
        for depth in range(hidden + 1):
            if frozen <= depth:
                theta = theta + sigma
                out[depth, frozen] = theta
            if depth < hidden:
                sigma, slope = step(sigma)
                theta = theta * slope
    return out


def sweep_shared(x, hidden):
    n, d = x.shape
    out = np.zeros((hidden + 1, hidden + 1, n, n), dtype=x.dtype)
    sigma = x @ x.T * (2 / d)
    out[0, 0] = sigma
    for depth in range(1, hidden + 1):
        sigma, slope = step(sigma)
        out[depth, :depth] = out[depth - 1, :depth] * slope + sigma
        out[depth, depth] = sigma
    return out


ORDERS = {"prefix": sweep_by_prefix, "shared": sweep_shared}


def main():
    options = parser(__doc__)
    options.add_argument("--cols", type=int, required=True)
    options.add_argument("--hidden", type=int, default=4)
    arguments = options.parse_args()
    x = read_input(arguments, arguments.cols)
    lower = np.tril_indices(arguments.hidden + 1)
    serve(lambda order: ORDERS[order](x, arguments.hidden), lambda grams: grams[lower])


if __name__ == "__main__":
    main()
