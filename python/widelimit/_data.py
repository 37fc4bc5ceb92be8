"""Loading of data sets by name or file."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from widelimit import _core
from widelimit._arguments.tables import as_spec
from widelimit._core import GraphSamples, InputError
from widelimit._graphs import Graphs

if TYPE_CHECKING:
    from widelimit._models import Model
    from widelimit._train import TrainedNetwork


class DataWarning(UserWarning):
    """A remark on how data were read, e.g. a guessed task, or samples or classes that were dropped."""


class _Samples(NamedTuple):
    x: Any
    """N×D, or N×H×W×C for images; float32 if the source holds bytes; a scipy.sparse.csr_array for sparse data, and
    Graphs for graphs."""
    y: NDArray[np.int64] | NDArray[np.float64] | None
    """Class of each sample, an index into class_names; or real targets, N, or N×K for K labels; or None."""
    class_names: list[str]
    """Class names as written in the source; empty for targets."""


class Data(_Samples):
    """Samples with their metadata; unpacks to x, y, class_names.

    notes: remarks on how the data were read, each issued as a DataWarning.
    feature_names: for a table, COLUMN or COLUMN=CATEGORY for each column of x; else empty.
    """

    notes: list[str]
    feature_names: list[str]
    _origin: str | None


def _table_options(label: Any, task: Any, columns: Any, drop: Any, categorical: Any, missing: Any) -> dict[str, Any]:
    """Returns the options for labels and tables in the form of the core library."""
    return {
        "label": _text(label),
        "task": task,
        "columns": _texts(columns),
        "drop": _texts(drop),
        "categorical": _texts(categorical),
        "missing": missing,
    }


def load_data(
    spec: Any,
    *,
    model: Model | TrainedNetwork | None = None,
    part: str | None = None,
    classes: Sequence[Any] | None = None,
    limit: int | None = None,
    shuffle: int | None = None,
    scale: str | None = None,
    label: str | int | None = None,
    task: str | None = None,
    columns: Sequence[Any] | None = None,
    drop: Sequence[Any] | None = None,
    categorical: Sequence[Any] | None = None,
    missing: str | None = None,
    memory: str | int | None = None,
) -> Data:
    """Loads samples, labels and class names of a set of the catalogue ('digits', 'mnist:train', 'uci:iris'), a file, a
    folder of images with one subfolder per class, standard input ('-'), or a table in memory.

    classes: classes to keep; limit: maximal number of samples; shuffle: a seed, else the order of the source; scale:
    'none', 'unit', 'standard', 'channel', 'minmax', 'maxabs' or 'byte'; label: the column or array of a file that holds
    the label, or 'none'; task: 'classification' or 'regression' for integer labels, else guessed. The order is classes,
    shuffle, limit, scale. memory: memory limit of loading ("1GiB"); default: the available memory.

    Tables (CSV, TSV): columns, drop, categorical: columns to read, to omit, or to treat as categorical, by name or
    index; missing: 'refuse' missing values, 'drop' their rows, or impute the 'mean' or 'median'. Text columns are
    one-hot encoded. label: several columns, 'y,z', give one target column each.
    A pandas or polars DataFrame, a PyArrow table, and .parquet, .feather and .arrow files (through PyArrow or polars)
    are tables with a header: None and NaN are missing values, columns of a categorical type are categorical, booleans
    are 0 and 1, dates raise InputError.

    model: read the samples like those of a model (load_model, load_network): the same columns and imputation, y as
    indices into its classes_. part: 'test' or 'train' selects that part of the split used to make the model, from the
    same source; raises InputError if the source differs.

    >>> import widelimit as wl
    >>> x, y, names = wl.load_data("digits", classes=[3, 8], limit=100, scale="unit")
    >>> x.shape, y.shape, names
    ((100, 8, 8, 1), (100,), ['3', '8'])
    """
    options = {
        "classes": _texts(classes),
        "limit": limit,
        "shuffle": shuffle,
        "scale": scale,
        "memory": _text(memory),
        **_table_options(label, task, columns, drop, categorical, missing),
    }
    conflicting = [name for name in ("categorical", "columns", "drop", "scale", "task") if options[name] is not None]
    options["spec"] = as_spec(spec, "DataFrame", options)
    if model is None:
        if part is not None:
            raise InputError("part= refers to the split of a model; give model= too")
        train, _, notes, features, origin = _core.load(options)
        return _data(train, _warn(notes), features, None if _is_scaled(scale) else origin)
    if conflicting:
        raise InputError(f"{conflicting[0]}=: the model determines how samples are read and scaled; leave it out")
    if not hasattr(model, "_origin_and_classes"):
        raise InputError(f"model is of type {type(model).__name__}; give the result of load_model or load_network")
    options["categorical"] = None
    origin, names = model._origin_and_classes()
    found, notes, features = _core.load_new(options, origin, names, part or "all")
    return _data(found, _warn(notes), features, None)


def load_train_test(
    train: Any,
    test: Any = None,
    *,
    split: float | None = None,
    split_order: str | None = None,
    seed: int | None = None,
    classes: Sequence[Any] | None = None,
    limit: int | None = None,
    test_limit: int | None = None,
    shuffle: int | None = None,
    scale: str | None = None,
    label: str | int | None = None,
    task: str | None = None,
    columns: Sequence[Any] | None = None,
    drop: Sequence[Any] | None = None,
    categorical: Sequence[Any] | None = None,
    missing: str | None = None,
    memory: str | int | None = None,
) -> tuple[Data, Data | None]:
    """Loads a training and a test set: one set that is split, or two sets.

    split: fraction of training samples. split_order: 'stratified' draws them by seed, with equal class proportions;
    'file' holds out the last samples. Scaling, columns, categories and imputed values are learned on the training set.
    The labels of both are indices into the class names of the training set; a class without training samples is
    dropped, with a DataWarning. The test set is None without test and split. Other options as in load_data.

    >>> import widelimit as wl
    >>> train, test = wl.load_train_test("digits", split=0.8, seed=0, scale="standard")
    >>> len(train.x), len(test.x)
    (1438, 359)
    """
    options = {
        "split": split,
        "split_order": split_order,
        "seed": seed,
        "classes": _texts(classes),
        "limit": limit,
        "test_limit": test_limit,
        "shuffle": shuffle,
        "scale": scale,
        "memory": _text(memory),
        **_table_options(label, task, columns, drop, categorical, missing),
    }
    options["spec"] = as_spec(train, "DataFrame", options)
    if test is not None:
        options["test"] = as_spec(test, "test DataFrame", dict(options, texts=options.setdefault("texts", {})))
    first, second, notes, features, origin = _core.load(options)
    _warn(notes)
    held_out = None if second is None else _data(second, notes, features, None)
    return _data(first, notes, features, None if _is_scaled(scale) else origin), held_out


def read_folds(
    path: str | PathLike[str], y: ArrayLike | None = None
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Reads the folds of a published protocol: (training rows, test rows) of each, as for `cv=` of scikit-learn.

    path: lines of row numbers from 0, alternating training and test (e.g. conxuntos.dat of the UCI benchmark), or JSON
        [{"train": [...], "test": [...]}, ...].
    y: labels or targets, against which the rows are checked: raises InputError, a ValueError, for a row out of range or
        in both parts of a fold; warns of rows that are never tested and of classes missing from a training part.

    >>> import os, tempfile, widelimit as wl
    >>> path = os.path.join(tempfile.mkdtemp(), "folds.txt")
    >>> _ = open(path, "w").write("0 1 2\\n3\\n1 2 3\\n0\\n")
    >>> wl.read_folds(path)[1]
    (array([1, 2, 3]), array([0]))
    """
    samples = None if y is None else len(np.asarray(y))
    classes = y is not None and np.asarray(y).dtype.kind != "f"
    labels = np.unique(np.asarray(y), return_inverse=True)[1].tolist() if classes else []
    folds, notes = _core.folds(os.fspath(path), samples, labels)
    _warn(notes)
    return [(train.view(np.int64), test.view(np.int64)) for train, test in folds]


def _is_scaled(scale: str | None) -> bool:
    return scale not in (None, "none")


def _warn(notes: list[str]) -> list[str]:
    for note in notes:
        warnings.warn(note, DataWarning, stacklevel=3)
    return notes


def _data(found: tuple[Any, Any, list[str]], notes: list[str], features: list[str], origin: str | None) -> Data:
    x, y, class_names = found
    if isinstance(x, GraphSamples):
        x = Graphs._of(x)
    # The buffer protocol reports long long, while int64 of NumPy is long: same type, other name when printed.
    data = Data(x, y if y is None or y.dtype.kind == "f" else y.view(np.int64), class_names)
    data.notes = notes
    data.feature_names = features
    data._origin = origin
    return data


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _texts(values: Sequence[Any] | None) -> list[str] | None:
    if isinstance(values, str):
        return [part.strip() for part in values.split(",")]
    return None if values is None else [str(value) for value in values]
