"""scikit-learn's SVC (LIBSVM) as a peer on the protocol of Arora et al. (2020): the choice among kernels and C on two
halves of a set, then four tests of what was chosen, on precomputed Gram matrices.

A question is the tolerance TOL; the answer are the accuracies [kernel, C] of the choice, then those of the tests.
"""

import argparse

import numpy as np
from conversation import converse
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
    converse(lambda tol: protocol(grams, labels, folds, costs, float(tol)))


if __name__ == "__main__":
    main()
