"""SciPy as a peer: kernel ridge regression for many λ, each with its exact leave-one-out predictions.

With A = K + λ/2·I, α = A⁻¹y; the leave-one-out residuals are αᵢ/(A⁻¹)ᵢᵢ                  [docs/theory/machines.md]

Three methods. For each λ, `inverse` factors A and solves for the identity with SciPy's documented functions
(cho_factor, cho_solve: 7/3·n³ operations); `cholesky` calls LAPACK directly, whose potri exploits the symmetry of the
inverse (n³). `eigen` computes one eigendecomposition of K (syevd), after which each λ is cheap.

A request is the METHOD; the result consists of the predictions, samples × outputs, for each λ in turn.
"""

import argparse

import numpy as np
from peer_protocol import serve
from scipy.linalg import cho_factor, cho_solve, eigh
from scipy.linalg.lapack import dpotrf, dpotri


def by_inverse(k, y, lambdas):
    identity = np.eye(len(k))
    path = []
    for lam in lambdas:
        factor = cho_factor(k + lam / 2 * identity, lower=True, overwrite_a=True, check_finite=False)
        inverse = cho_solve(factor, identity, check_finite=False)
        path.append(y - (inverse @ y) / np.diag(inverse)[:, None])
    return path


def by_cholesky(k, y, lambdas):
    path = []
    for lam in lambdas:
        a = k.copy(order="F")
        a[np.diag_indices_from(a)] += lam / 2
        factor, info = dpotrf(a, lower=1, overwrite_a=1)
        assert info == 0, info
        alpha = cho_solve((factor, True), y, check_finite=False)
        inverse, info = dpotri(factor, lower=1, overwrite_c=1)
        assert info == 0, info
        path.append(y - alpha / np.diag(inverse)[:, None])
    return path


def by_eigenvectors(k, y, lambdas):
    values, vectors = eigh(k, driver="evd", check_finite=False)
    rotated = vectors.T @ y
    squares = vectors**2
    path = []
    for lam in lambdas:
        shrink = 1 / (values + lam / 2)
        alpha = vectors @ (rotated * shrink[:, None])
        path.append(y - alpha / (squares @ shrink)[:, None])
    return path


METHODS = {"inverse": by_inverse, "cholesky": by_cholesky, "eigen": by_eigenvectors}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gram", required=True, help="raw little-endian float64, row-major, as are the others")
    parser.add_argument("--targets", required=True)
    parser.add_argument("--lambdas", required=True)
    parser.add_argument("--rows", type=int, required=True)
    arguments = parser.parse_args()

    k = np.fromfile(arguments.gram, dtype="<f8").reshape(arguments.rows, arguments.rows)
    y = np.fromfile(arguments.targets, dtype="<f8").reshape(arguments.rows, -1)
    lambdas = np.fromfile(arguments.lambdas, dtype="<f8")
    serve(lambda method: METHODS[method](k, y, lambdas), np.stack)


if __name__ == "__main__":
    main()
