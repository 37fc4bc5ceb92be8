"""Comparison of tuned kernels on the same folds, with paired tests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from widelimit import _core
from widelimit._arguments.arrays import as_array
from widelimit._arguments.device import on_host
from widelimit._arguments.samples import as_images, as_samples, channels_last
from widelimit._arguments.targets import as_classes, as_numbers, as_weights, class_weight_list
from widelimit._arguments.threads import usable
from widelimit._core import InputError, Network
from widelimit._graphs import Graphs
from widelimit._kernels import as_network, warn_of_quadrature


class FoldChoice(NamedTuple):
    """The choice of a kernel on the training part of a fold, and its predictions on the test part."""

    chosen: str
    """The chosen kernel of the family."""
    lam: float
    error: float
    predicted: NDArray[Any]
    """Predicted labels or numbers of the test rows of the fold."""


@dataclass(frozen=True, eq=False)
class ComparedKernel:
    """One kernel of a comparison. Errors are misclassification rates, or mean squared errors."""

    kernel: str
    verdict: str
    """'best', 'tied' (with the best), 'worse', 'failed', or 'no test' if no test applies."""
    chosen: str | None = None
    """Text of the kernel chosen on all training samples."""
    kind: str | None = None
    """Kernel kind of a network: 'ntk' or 'nngp'."""
    lam: float | None = None
    """The λ chosen on all training samples."""
    error: float | None = None
    """Held-out error of nested cross-validation: no choice uses the samples it is evaluated on."""
    interval: tuple[float, float] | None = None
    """95 % confidence interval."""
    tuned_error: float | None = None
    """The minimal validation error of the choice; optimistically biased by the selection."""
    test_error: float | None = None
    """Error on x_test of the choice fitted to all of x."""
    test_interval: tuple[float, float] | None = None
    p: float | None = None
    """p-value of equal error with the best kernel, adjusted by Holm's method for all pairs."""
    kernel_seconds: float = 0.0
    fit_seconds: float = 0.0
    folds: list[FoldChoice] = field(default_factory=list, repr=False)
    failure: str | None = None
    """Why there is no result."""


_COLUMNS = ("kernel", "chosen", "lam", "error", "test_error", "p", "verdict", "kernel_seconds", "fit_seconds")


class Comparison:
    """Result of compare: a sequence of ComparedKernel, best first."""

    def __init__(
        self,
        kernels: list[ComparedKernel],
        folds: list[tuple[NDArray[np.int64], NDArray[np.int64]]],
        test: str,
        notes: list[str],
        machine: str,
        options: dict[str, Any],
        classes: NDArray[Any] | None,
    ) -> None:
        self.kernels = kernels
        """The kernels by increasing held-out error, followed by those that failed."""
        self.folds = folds
        """(training rows, test rows) of each fold."""
        self.test = test
        """The paired test: 'exact McNemar test', 'paired t-test', 'corrected resampled t-test' or 'none'."""
        self.notes = notes
        """Remarks on the interpretation of the results."""
        self.machine = machine
        self.classes = classes
        """The sorted classes; None for regression."""
        self._options = options

    @property
    def best(self) -> ComparedKernel:
        return self.kernels[0]

    @property
    def tied(self) -> list[str]:
        """Names of the kernels, without the best, that do not differ significantly from the best."""
        return [row.kernel for row in self.kernels if row.verdict == "tied"]

    def estimator(self, kernel: str | None = None) -> Any:
        """Returns an unfitted NTKClassifier or NTKRegressor with the choice of a kernel (default: the best).

        Raises InputError for a classical kernel, which has no estimator; use classical_kernel and fit_ridge.
        """
        row = self.best if kernel is None else self[kernel]
        if row.failure is not None:
            raise InputError(f"{row.kernel} has no result: {row.failure}")
        if row.kind is None:
            raise InputError(
                f"{row.chosen} is not the kernel of a network, so it has no estimator: use "
                f"classical_kernel({row.chosen!r}, x) and the machines fit_…, or name another kernel"
            )
        from widelimit import _estimators

        made = _estimators.NTKRegressor if self.classes is None else _estimators.NTKClassifier
        options = {name: value for name, value in self._options.items() if value is not None}
        return made(network=row.chosen, machine=self.machine, lam=row.lam, kind=row.kind, **options)

    def to_pandas(self) -> Any:
        """Returns a pandas DataFrame with one row per kernel, best first."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(f"to_pandas needs pandas ({error}); pip install pandas") from error
        rows = []
        for row in self.kernels:
            low, high = row.interval or (None, None)
            cells = {name: getattr(row, name) for name in _COLUMNS}
            rows.append({**cells, "low": low, "high": high, "tuned_error": row.tuned_error, "failure": row.failure})
        return pd.DataFrame(rows)

    def __getitem__(self, kernel: str | int) -> ComparedKernel:
        if isinstance(kernel, int):
            return self.kernels[kernel]
        for row in self.kernels:
            if row.kernel == kernel:
                return row
        raise KeyError(f"{kernel!r} is none of {[row.kernel for row in self.kernels]}")

    def __iter__(self) -> Iterator[ComparedKernel]:
        return iter(self.kernels)

    def __len__(self) -> int:
        return len(self.kernels)

    def __repr__(self) -> str:
        return f"<Comparison of {len(self)} kernels: best {self.best.kernel}, error {self.best.error:.4g}>"

    def __str__(self) -> str:
        rows = [["kernel", "chosen", "λ", "error", "p", "verdict", "kernel s", "fit s"]]
        for row in self.kernels:
            numbers = [("3g", row.lam), ("4g", row.error), ("2g", row.p)]
            texts = ["" if number is None else format(number, f".{digits}") for digits, number in numbers]
            chosen = row.chosen if row.chosen is not None and row.kind is None else ""
            seconds = [format(row.kernel_seconds, ".3f"), format(row.fit_seconds, ".3f")]
            rows.append([row.kernel, chosen, *texts, row.verdict, *seconds])
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows)


def compare(
    x: ArrayLike,
    y: ArrayLike,
    *,
    networks: Iterable[Network | str | list] | None = None,
    kernels: Iterable[str] | None = None,
    kind: str | Sequence[str] | None = None,
    sweep: bool | None = None,
    machine: str = "ridge",
    lams: ArrayLike | None = None,
    folds: int | Iterable[tuple[ArrayLike, ArrayLike]] | None = None,
    inner_folds: int | None = None,
    x_test: ArrayLike | None = None,
    y_test: ArrayLike | None = None,
    classify: bool | None = None,
    bias: bool | None = None,
    epsilon: float | None = None,
    scheme: str | None = None,
    sample_weight: ArrayLike | None = None,
    class_weight: Any = None,
    seed: int | None = None,
    precision: str | None = None,
    memory: str | None = None,
    backend: str = "cpu",
    threads: int | None = None,
    channels_first: bool | None = None,
) -> Comparison:
    """Compares kernels on the same folds, each tuned by nested cross-validation.

    networks: for each network its NTK, with kind='nngp' its NNGP kernel, with kind=('ntk', 'nngp') both. sweep=True
        also tunes the depth and the number of frozen layers of each network.
    kernels: classical kernels. A name ('rbf', 'laplace', 'polynomial', 'arccosine', 'linear') also tunes its
        parameters, relative to the scale of x; with arguments, e.g. 'rbf(gamma=0.5)', they are fixed.
        If neither is given: linear, rbf, laplace, fc:1, fc:3 and fc:5; for images also cntk:3; for graphs gntk:2,
        gntk:3 and gntk:5.
    machine: 'ridge' (λ by exact leave-one-out), or 'svm', 'svm2', 'svr', 'logistic', 'regression', 'hard-svm' (λ by
        inner_folds, default 5, within the training part of a fold).
    lams: candidate λ; default: powers of ten times the scale of each kernel.
    folds: number of stratified folds, drawn by seed, default 5; or (training rows, test rows) of each fold, as
        returned by read_folds and by the split method of scikit-learn's splitters.
    x_test, y_test: additional test set, evaluated with the choice of each kernel fitted to all of x.
    classify: whether y holds classes. Default: text, booleans and integers do, floating-point numbers do not.
    sample_weight, class_weight: as in fit_svm; errors are weighted too. bias, epsilon, scheme: of the machine.
    memory: the memory limit, e.g. '1GiB'. Other arguments as in kernel.

    The held-out error is that of the whole procedure: each fold chooses kernel and λ on its training part alone.
    Kernels are compared in pairs on the held-out samples: classes by the exact McNemar test, numbers and weighted
    classes by the paired t-test of their losses, overlapping folds by the corrected resampled t-test of Nadeau and
    Bengio; with Holm's correction for all pairs at 5 %. If a kernel fails, `failure` gives the reason, and the other
    kernels are still compared.

    >>> import widelimit as wl
    >>> x, y, _ = wl.load_data("digits", classes=[3, 8, 9], limit=120, scale="unit")
    >>> found = wl.compare(x, y, networks=["fc:1"], kernels=["linear", "rbf"], folds=4)
    >>> len(found), found.test, found["linear"].verdict in ("best", "tied", "worse")
    (3, 'exact McNemar test', True)
    >>> [fold.predicted.shape == rows.shape for fold, (_, rows) in zip(found.best.folds, found.folds)]
    [True, True, True, True]
    """
    named = [] if networks is None else [(_name(net), as_network(net)) for net in _listed(networks, "networks")]
    classical = [] if kernels is None else list(_listed(kernels, "kernels"))
    samples = _samples(named, classical, x, "x", channels_first, backend)
    test = None if x_test is None else _samples(named, classical, x_test, "x_test", channels_first, backend)
    if (x_test is None) != (y_test is None):
        raise InputError("x_test and y_test go together")
    classify = _holds_classes(y) and machine != "svr" if classify is None else classify
    classes, labels, values = _targets(y, classify, "y")
    test_labels = test_values = None
    if y_test is not None:
        if classes is None:
            _, _, test_values = _targets(y_test, False, "y_test")
        else:
            test_labels = _places(y_test, classes)
    options = {
        "kind": kind if kind is None or isinstance(kind, str) else ",".join(map(str, kind)),
        "sweep": sweep,
        "machine": machine,
        "lams": None if lams is None else as_numbers(lams, "lams").ravel().tolist(),
        "inner_folds": inner_folds,
        "bias": bias,
        "epsilon": epsilon,
        "scheme": scheme,
        "seed": seed,
        "precision": precision,
        "memory": memory,
        "backend": backend,
        "threads": usable(threads),
        **_folds(folds),
        **_class_weights(class_weight, classes),
    }
    rows, paired, used, notes, quadrature_error = _core.compare(
        classical,
        named,
        samples,
        labels,
        0 if classes is None else len(classes),
        values,
        test,
        test_labels,
        test_values,
        as_weights(sample_weight),
        options,
    )
    warn_of_quadrature(quadrature_error, precision, stacklevel=3)
    kept = {"bias": bias, "class_weight": class_weight if classify else None, "epsilon": None if classify else epsilon}
    return Comparison(
        [_row(found, classes, paired) for found in rows],
        [(train.view(np.int64), rest.view(np.int64)) for train, rest in used],
        paired,
        notes,
        machine,
        {**kept, "precision": precision, "threads": threads},
        classes,
    )


def _listed(names: Any, what: str) -> Iterable[Any]:
    if isinstance(names, (str, Network)):
        parts = [part.strip() for part in re.split(r"[;,](?![^(]*\))" if what == "kernels" else ";", str(names))]
        raise InputError(f"{what} is {str(names)!r}; give a list: {[part for part in parts if part]!r}")
    return names


def _name(net: Network | str | list) -> str:
    return net if isinstance(net, str) else str(as_network(net))


def _samples(named: list, classical: list, x: Any, name: str, channels_first: bool | None, backend: str) -> Any:
    """Converts x to samples for all kernels, channels last."""
    x = on_host(x, name, backend)
    readers = [network for _, network in named if not network.reads_graphs]
    if isinstance(x, Graphs) or (not readers and classical):
        return channels_last(as_samples(x, name), name) if channels_first else as_samples(x, name)
    samples = as_samples(x, name)
    for network in readers or [Network("cntk:3")]:
        samples = as_images(network, x, name, channels_first)
    return samples


def _holds_classes(y: ArrayLike) -> bool:
    return as_array(y, "y").dtype.kind != "f"


def _targets(y: ArrayLike, classify: bool, name: str) -> tuple[Any, Any, Any]:
    """Returns (classes, class indices, None) or (None, None, numbers)."""
    if classify:
        classes, labels = as_classes(y)
        if len(classes) < 2:
            raise InputError("all samples are of one class; a classifier needs two")
        return classes, labels, None
    numbers = as_numbers(y, name)
    if numbers.ndim == 2 and numbers.shape[1] == 1:
        numbers = numbers.ravel()
    if numbers.ndim != 1:
        raise InputError(f"{name} has {numbers.shape[1]} columns; compare needs one number for each sample")
    return None, None, numbers


def _places(y: ArrayLike, classes: NDArray[Any]) -> NDArray[np.int64]:
    """Returns the index of each label among the classes; −1, which is never predicted, for an unknown label."""
    own, labels = as_classes(y)
    known = {label: place for place, label in enumerate(classes.tolist())}
    return np.array([known.get(label, -1) for label in own.tolist()], dtype=np.int64)[labels]


def _folds(folds: Any) -> dict[str, Any]:
    if folds is None or isinstance(folds, (int, np.integer)):
        return {"folds": None if folds is None else int(folds)}
    try:
        given = [(np.asarray(train), np.asarray(test)) for train, test in folds]
    except (TypeError, ValueError) as error:
        raise InputError(f"folds is {folds!r}; give a number, or (training rows, test rows) of each") from error
    for part in (part for pair in given for part in pair):
        if part.ndim != 1 or part.dtype.kind not in "iu":
            raise InputError("the rows of a fold must be lists of integers from 0")
    if not given:
        raise InputError("folds is empty; give at least one fold")
    return {"given_folds": [(train.tolist(), test.tolist()) for train, test in given]}


def _class_weights(class_weight: Any, classes: NDArray[Any] | None) -> dict[str, Any]:
    if class_weight is None:
        return {}
    if classes is None:
        raise InputError("class_weight needs classes, but y holds numbers; give classify=True if they are class labels")
    if isinstance(class_weight, str) and class_weight == "balanced":
        return {"balanced": True}
    return {"class_weights": class_weight_list(class_weight, classes).tolist()}


def _row(found: dict[str, Any], classes: NDArray[Any] | None, paired: str) -> ComparedKernel:
    if "failure" in found:
        return ComparedKernel(found["kernel"], "failed", failure=found["failure"])
    verdict = "best" if found.pop("best") else "no test" if paired == "none" else "tied" if found["tied"] else "worse"
    del found["tied"]
    folds = [
        FoldChoice(chosen, lam, error, told if classes is None else classes[told])
        for chosen, lam, error, told in found.pop("folds")
    ]
    return ComparedKernel(verdict=verdict, folds=folds, **found)
