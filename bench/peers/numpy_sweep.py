"""NumPy as a peer: every depth and every frozen prefix of a fully-connected ReLU network, x against itself.

With w_std = √2 and Σ⁰ = ⟨x,x'⟩/d, layer by layer                                     [mathematics §1]

    ρ = Σ/√(Σ₁₁Σ₂₂),   Σ ← 2·½√(Σ₁₁Σ₂₂) κ₁(ρ),   Θ ← Θ·2·½κ₀(ρ) + Σ,

where a frozen layer adds no Σ to Θ. Two orders: `prefix` repeats the recursion for each number of frozen layers, as
the program of Arora et al. for the UCI sets does; `shared` carries one Σ for all of them, which is 3 times as fast.

Speaks one line at a time with the benchmark that starts it, so that its timings can be taken in turn with ours:

    compute ORDER FILE   writes the matrices [depth, frozen], frozen ≤ depth, to FILE (raw, in order); answers "ok"
    time ORDER           answers the seconds of one evaluation
    quit
"""

import argparse
import sys
import time

import numpy as np


def step(sigma):
    """Σ after ReLU and the factor w² = 2, and what Θ is multiplied by."""
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--precision", choices=["f32", "f64"], required=True)
    parser.add_argument("--input", required=True, help="raw little-endian float64, row by row")
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--cols", type=int, required=True)
    parser.add_argument("--hidden", type=int, default=4)
    arguments = parser.parse_args()

    dtype = np.float64 if arguments.precision == "f64" else np.float32
    x = np.fromfile(arguments.input, dtype="<f8").reshape(arguments.rows, arguments.cols).astype(dtype)
    print("ready", flush=True)

    for line in sys.stdin:
        verb, *rest = line.split()
        if verb == "quit":
            break
        order = ORDERS[rest[0]]
        if verb == "compute":
            order(x, arguments.hidden)[np.tril_indices(arguments.hidden + 1)].tofile(rest[1])
            print("ok", flush=True)
        elif verb == "time":
            start = time.perf_counter()
            order(x, arguments.hidden)
            print(time.perf_counter() - start, flush=True)


if __name__ == "__main__":
    main()
