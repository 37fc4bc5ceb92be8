"""scikit-learn's SVC (LIBSVM) as a peer: one against one on a precomputed Gram matrix, for each C of a grid.

A request is the tolerance TOL; the result consists of the dual objectives [C, pair] of all fits. LIBSVM's dual
objective of a pair is Σ|α| − ½αᵀKα, to be maximised; its samples are those of the two classes.
"""

import argparse
import itertools

import numpy as np
from peer_protocol import serve
from sklearn.svm import SVC


def machine(c, tol):
    return SVC(kernel="precomputed", C=c, tol=tol, cache_size=1000)


def pair_objectives(gram, labels, fitted):
    classes = len(fitted.classes_)
    support = fitted.support_
    of_support = labels[support]
    objectives = []
    for first, second in itertools.combinations(range(classes), 2):
        # Row k of dual_coef_ holds, for a support vector of class c, the machine against the k-th other class.
        alpha = np.where(of_support == first, fitted.dual_coef_[second - 1], 0.0)
        alpha = np.where(of_support == second, fitted.dual_coef_[first], alpha)
        used = np.flatnonzero(alpha)
        a = alpha[used]
        objectives.append(np.abs(a).sum() - 0.5 * a @ gram[np.ix_(support[used], support[used])] @ a)
    return objectives


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gram", required=True, help="raw little-endian float64, row by row")
    parser.add_argument("--labels", required=True, help="raw little-endian float64")
    parser.add_argument("--costs", required=True, help="values of C, separated by commas")
    arguments = parser.parse_args()

    labels = np.fromfile(arguments.labels, dtype="<f8").astype(np.int64)
    gram = np.fromfile(arguments.gram, dtype="<f8").reshape(len(labels), len(labels))
    costs = [float(c) for c in arguments.costs.split(",")]

    def fits(tol):
        return [machine(c, float(tol)).fit(gram, labels) for c in costs]

    serve(fits, lambda fitted: np.array([pair_objectives(gram, labels, one) for one in fitted]))


if __name__ == "__main__":
    main()
