"""scikit-learn's SVC (LIBSVM) as a peer on the protocol of Arora et al. (2020): selection of kernel and C on two halves
of a set, then four tests of the selected pair, on precomputed Gram matrices.

A request is the tolerance TOL and the comma-separated values of C. The set is read again for each request: `grams`
and `labels`, raw little-endian float64, and `folds`, one line of row numbers for each part: train, test, train, …
The result consists of wall-clock seconds, CPU seconds, the accuracies [kernel, C] of the selection, and those of the
tests. If the protocol exceeds the limit of CPU time it is terminated and the accuracies are -1, since LIBSVM may not
converge at all.
"""

import argparse
import os
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
from peer_protocol import serve
from sk_svm import machine


def accuracy(gram, labels, fold, c, tol):
    train, test = fold
    fitted = machine(c, tol).fit(gram[np.ix_(train, train)], labels[train])
    return np.mean(fitted.predict(gram[np.ix_(test, train)]) == labels[test])


def protocol(grams, labels, folds, costs, tol):
    validation = np.array([[accuracy(gram, labels, folds[0], c, tol) for c in costs] for gram in grams])
    kernel, c = np.unravel_index(np.argmax(validation), validation.shape)  # the first of the best
    tests = [accuracy(grams[kernel], labels, fold, costs[c], tol) for fold in folds[1:]]
    return np.append(validation.ravel(), tests)


def limited(evaluate, limit, size):
    """Returns seconds and result of a function run in a child process, which is killed after `limit` CPU seconds."""
    with tempfile.NamedTemporaryFile() as file:
        wall = time.perf_counter()
        child = os.fork()
        if child == 0:
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
            start = time.process_time()
            result = evaluate()
            np.append([time.process_time() - start], result).tofile(file.name)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        wall = time.perf_counter() - wall
        if status == 0:
            return np.append([wall], np.fromfile(file.name))
        if not os.WIFSIGNALED(status):
            raise RuntimeError("the protocol failed")
        return np.append([wall, limit], np.full(size, -1.0))


def read_input(folder):
    labels = np.fromfile(folder / "labels", dtype="<f8").astype(np.int64)
    grams = np.fromfile(folder / "grams", dtype="<f8").reshape(-1, len(labels), len(labels))
    parts = [np.array(line.split(), dtype=np.int64) for line in (folder / "folds").read_text("ascii").splitlines()]
    return grams, labels, list(zip(parts[::2], parts[1::2], strict=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="folder of the files grams, labels and folds")
    parser.add_argument("--limit", type=int, required=True, help="limit of CPU seconds")
    arguments = parser.parse_args()

    def evaluate(tol, costs):
        grams, labels, folds = read_input(arguments.folder)
        costs = [float(c) for c in costs.split(",")]
        size = len(grams) * len(costs) + len(folds) - 1
        return limited(lambda: protocol(grams, labels, folds, costs, float(tol)), arguments.limit, size)

    serve(evaluate)


if __name__ == "__main__":
    main()
