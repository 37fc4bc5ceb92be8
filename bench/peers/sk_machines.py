"""scikit-learn's SVC (LIBSVM) and KernelRidge as peers: classifiers on a precomputed Gram matrix.

A REQUEST is "svm LAMBDA" or "ridge LAMBDA", with λ as defined by widelimit: C = 1/λ, and alpha = λ/2. The result is
the class of every test sample, as float64; only the fit is timed. SVC breaks ties between classes with equal votes by
the larger sum of decisions, as we do. Ridge uses targets ±1 for two classes, else one column per class.
"""

import argparse

import numpy as np
from peer_protocol import serve
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC


def targets_of(labels):
    classes = int(labels.max()) + 1
    return 2.0 * labels - 1 if classes == 2 else np.eye(classes)[labels]


def predictions(machine, test):
    predicted = machine.predict(test)
    if isinstance(machine, KernelRidge):
        predicted = predicted > 0 if predicted.ndim == 1 else predicted.argmax(axis=1)
    return predicted.astype("<f8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gram", required=True, help="raw little-endian float64, row by row")
    parser.add_argument("--test", required=True, help="the same for test × training samples")
    parser.add_argument("--labels", required=True, help="raw little-endian float64")
    arguments = parser.parse_args()
    labels = np.fromfile(arguments.labels, dtype="<f8").astype(np.int64)
    gram = np.fromfile(arguments.gram, dtype="<f8").reshape(len(labels), len(labels))
    test = np.fromfile(arguments.test, dtype="<f8").reshape(-1, len(labels))
    targets = targets_of(labels)
    many = targets.ndim > 1

    def evaluate(name, lam):
        if name == "svm":
            return SVC(kernel="precomputed", C=1 / float(lam), cache_size=1000, break_ties=many).fit(gram, labels)
        return KernelRidge(kernel="precomputed", alpha=float(lam) / 2).fit(gram, targets)

    serve(evaluate, lambda machine: predictions(machine, test))


if __name__ == "__main__":
    main()
