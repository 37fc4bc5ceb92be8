"""NumPy as a peer: the label-aware kernel by its definition, storing the features of all n² pairs.

Θ + λZ, where Z is the least-squares fit of y·y' on ten features of a pair, x with a constant 1 appended;
ΣΣ|λZ| = RATIO·ΣΣ|Θ|.
                                                                                    [docs/theory/label_aware.md]
y = ±1 by the sign of the first coordinate.

A request is RATIO L1: sums of absolute differences by `numpy`, one row of pairs at a time, or by `scipy`, whose cdist
needs no temporary array. The result is the kernel of the training samples.
"""

import numpy as np
from peer_protocol import parser, read_input, serve
from scipy.spatial.distance import cdist


def absolute_distances(x, by):
    if by == "scipy":
        return cdist(x, x, "cityblock")
    return np.stack([np.abs(x - row).sum(axis=1) for row in x])


def features(theta, x, by):
    """Returns n² × 10, one column per feature."""
    count = len(x)
    inner = x @ x.T
    norm = np.sqrt(np.diag(inner))
    norms = np.outer(norm, norm)
    cosine = np.clip(inner / norms, -1, 1)
    square = np.maximum(0, norm[:, None] ** 2 + norm[None, :] ** 2 - 2 * inner)
    np.fill_diagonal(cosine, 1)
    np.fill_diagonal(square, 0)
    columns = np.empty((10, count, count))
    columns[0] = theta
    columns[1] = inner
    columns[2] = cosine
    columns[3] = square
    columns[4] = norms
    columns[5] = np.sqrt((1 - cosine) * (1 + cosine))
    columns[6] = np.arccos(cosine)
    columns[7] = np.exp(-square / square.mean())
    columns[8] = np.corrcoef(x)
    columns[9] = absolute_distances(x, by)
    return columns.reshape(10, -1).T


def main():
    options = parser(__doc__)
    options.add_argument("--kernel", required=True, help="Θ, raw little-endian float64")
    arguments = options.parse_args()
    x = read_input(arguments, -1)
    theta = np.fromfile(arguments.kernel, dtype="<f8").reshape(len(x), len(x))
    y = np.where(x[:, 0] > 0, 1.0, -1.0)
    x = np.hstack([x, np.ones((len(x), 1))])

    def evaluate(ratio, by):
        phi = features(theta, x, by)
        normal = phi.T @ phi
        scale = 1 / np.sqrt(np.diag(normal))
        right = phi.T @ np.outer(y, y).reshape(-1)
        # Directions below 1e-12 of the largest contain only rounding error.
        scaled = normal * np.outer(scale, scale)
        coefficients = scale * (np.linalg.pinv(scaled, rcond=1e-12, hermitian=True) @ (scale * right))
        z = (phi @ coefficients).reshape(theta.shape)
        return theta + float(ratio) * np.abs(theta).sum() / np.abs(z).sum() * z

    serve(evaluate)


if __name__ == "__main__":
    main()
