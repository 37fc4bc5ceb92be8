"""scikit-learn's SVC (LIBSVM) as a peer on the protocol of Arora et al. (2020): the choice among kernels and C on two
halves of a set, then four tests of what was chosen, on precomputed Gram matrices.

    compute TOL FILE   writes the accuracies [kernel, C] of the choice, then those of the tests (raw float64)
    time TOL           answers the seconds of the whole protocol, and those of the processor
    quit
"""

import argparse
import sys
import time

import numpy as np
from sklearn.svm import SVC


def accuracy(gram, labels, fold, c, tol):
    train, test = fold
    machine = SVC(kernel="precomputed", C=c, tol=tol, cache_size=1000)
    machine.fit(gram[np.ix_(train, train)], labels[train])
    return np.mean(machine.predict(gram[np.ix_(test, train)]) == labels[test])


def protocol(grams, labels, folds, costs, tol):
    validation = np.array([[accuracy(gram, labels, folds[0], c, tol) for c in costs] for gram in grams])
    kernel, c = np.unravel_index(np.argmax(validation), validation.shape)  # the first of the best
    tests = [accuracy(grams[kernel], labels, fold, costs[c], tol) for fold in folds[1:]]
    return np.append(validation.ravel(), tests)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--grams", required=True, help="raw little-endian float64, one after the other")
    parser.add_argument("--labels", required=True, help="raw little-endian float64")
    parser.add_argument("--folds", required=True, help="a line of row numbers for each part: train, test, train, …")
    parser.add_argument("--costs", required=True, help="values of C, separated by commas")
    arguments = parser.parse_args()

    labels = np.fromfile(arguments.labels, dtype="<f8").astype(np.int64)
    grams = np.fromfile(arguments.grams, dtype="<f8").reshape(-1, len(labels), len(labels))
    costs = [float(c) for c in arguments.costs.split(",")]
    with open(arguments.folds, encoding="ascii") as file:
        parts = [np.array(line.split(), dtype=np.int64) for line in file]
    folds = list(zip(parts[::2], parts[1::2], strict=True))
    print("ready", flush=True)

    for line in sys.stdin:
        verb, *rest = line.split()
        if verb == "quit":
            break
        tol = float(rest[0])
        if verb == "compute":
            protocol(grams, labels, folds, costs, tol).tofile(rest[1])
            print("ok", flush=True)
        elif verb == "time":
            wall, processor = time.perf_counter(), time.process_time()
            protocol(grams, labels, folds, costs, tol)
            print(time.perf_counter() - wall, time.process_time() - processor, flush=True)


if __name__ == "__main__":
    main()
