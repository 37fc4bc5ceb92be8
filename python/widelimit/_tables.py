"""Tables in memory and column files, as the text that the library's own table reader takes.

Numbers are written so that they are read back bit for bit, so that every rule for tables (categories, missing values,
columns by name, what models remember) is the one of CSV files. No package for tables is needed unless one is used.
"""

from __future__ import annotations

import datetime
import decimal
import math
import numbers
import os
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from widelimit._core import InputError

_PACKAGES = ("pandas", "polars", "pyarrow")
_ENDINGS = (".parquet", ".feather", ".arrow")


def is_table(source: Any) -> bool:
    """A pandas or polars DataFrame, or a PyArrow table."""
    kind = type(source)
    return kind.__module__.partition(".")[0] in _PACKAGES and kind.__name__ in ("DataFrame", "Table")


def as_spec(source: Any, name: str, options: dict[str, Any]) -> str:
    """The SPEC of a source, for a request with these options. A table, or a file of columns, is put into its texts
    under that name; columns that hold categories by their type, or texts, are added to categorical.
    """
    if is_table(source):
        table = source
    else:
        name = os.fspath(source)
        if not name.lower().endswith(_ENDINGS):
            return name
        table = _read(name)
    columns = _columns(table)
    if not columns:
        raise InputError(f"{name}: the table has no columns")
    names = _header([column.name for column in columns], name)
    unread = _unread(names, options)
    cells = [
        _cells(column, None if j in unread else f"{name}, column '{names[j]}'") for j, column in enumerate(columns)
    ]
    if not cells[0]:
        raise InputError(f"{name}: the table has no rows")
    lines = [",".join(map(_quoted, names)), *map(",".join, zip(*cells, strict=True))]
    options.setdefault("texts", {})[name] = "\n".join(lines) + "\n"
    labels = _labels(names, options["label"])
    categorical = list(options["categorical"] or [])
    for j, column in enumerate(columns):
        if j not in unread and names[j] not in labels and (column.category or column.of_texts()):
            categorical.append(names[j])
    options["categorical"] = categorical or None
    return name


def _unread(names: Sequence[str], options: dict[str, Any]) -> set[int | None]:
    """The columns that the options leave out."""
    unread = {_place(key, names) for key in options["drop"] or ()}
    if options["columns"] is not None:
        wanted = {_place(key, names) for key in options["columns"]}
        wanted |= {_place(key, names) for key in _labels(names, options["label"])}
        unread |= set(range(len(names))) - wanted
    return unread


def _labels(names: Sequence[str], label: str | None) -> set[str]:
    """The columns that are the label; the last one unless another is named, as in files."""
    if label is None:
        return {names[-1]}
    places = [_place(key, names) for key in (label.split(",") if label not in names else [label])]
    return {names[place] for place in places if place is not None}


def _read(path: str) -> Any:
    """A column file through the first package that is there."""
    ending = os.path.splitext(path)[1].lower()
    for read in (_read_pyarrow, _read_polars):
        try:
            return read(path, ending)
        except ModuleNotFoundError:
            continue
        except Exception as error:  # each package has errors of its own
            raise InputError(f"cannot read '{path}': {error}") from error
    raise InputError(f"'{path}': {ending} files are read through another package; pip install pyarrow (or polars)")


def _read_pyarrow(path: str, ending: str) -> Any:
    import pyarrow

    if ending == ".parquet":
        import pyarrow.parquet as parquet

        return parquet.ParquetFile(path).read()
    with pyarrow.OSFile(path) as file:
        try:
            return pyarrow.ipc.open_file(file).read_all()
        except pyarrow.ArrowInvalid:
            file.seek(0)
            return pyarrow.ipc.open_stream(file).read_all()


def _read_polars(path: str, ending: str) -> Any:
    import polars

    return polars.read_parquet(path) if ending == ".parquet" else polars.read_ipc(path, memory_map=False)


class _Column(NamedTuple):
    name: str
    category: bool
    """Its type says that it holds categories."""
    values: list[Any]

    def of_texts(self) -> bool:
        """Texts stay texts, even those that could be numbers."""
        held = [value for value in self.values if value is not None]
        return bool(held) and all(isinstance(value, str) for value in held)


def _columns(table: Any) -> list[_Column]:
    package = type(table).__module__.partition(".")[0]
    if package == "pandas":
        series = [table.iloc[:, j] for j in range(table.shape[1])]
        return [
            _Column(str(name), str(one.dtype) == "category", _pandas_values(one))
            for name, one in zip(table.columns, series, strict=True)
        ]
    if package == "polars":
        return [
            _Column(one.name, str(one.dtype).startswith(("Categorical", "Enum")), one.to_list())
            for one in table.get_columns()
        ]
    # What pandas wrote beside the columns: which of them are its index, and which hold categories.
    written = table.schema.pandas_metadata or {}
    index = {name for name in written.get("index_columns", []) if isinstance(name, str)}
    categories = {one["name"] for one in written.get("columns", []) if one["pandas_type"] == "categorical"}
    return [
        _Column(name, name in categories or str(one.type).startswith("dictionary"), one.to_pylist())
        for name, one in zip(table.column_names, table.columns, strict=True)
        if name not in index
    ]


def _pandas_values(series: Any) -> list[Any]:
    return [None if gone else value for value, gone in zip(series.astype(object), series.isna(), strict=True)]


def _header(names: list[str], source: str) -> list[str]:
    """Names that cannot be taken for numbers: columns that only have numbers, from 0, are called so."""
    if names == [str(j) for j in range(len(names))]:
        return [f"column {name}" for name in names]
    for name in names:
        if not name.strip() or _is_number(name):
            raise InputError(f"{source}: a column is called '{name}'; rename it, or number all of them from 0")
    return names


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


def _place(key: str, names: Sequence[str]) -> int | None:
    """The column that a name, or a number as of the library, means."""
    if key in names:
        return names.index(key)
    if re.fullmatch(r"-?\d+", key) and -len(names) <= int(key) < len(names):
        return int(key) % len(names)
    return None


def _cells(column: _Column, where: str | None) -> list[str]:
    """Texts of the values; where: for errors, None for a column that is not read, whose values may be anything."""
    if column.category:
        return ["NA" if value is None else _quoted(str(value)) for value in column.values]
    return [_cell(value, where) for value in column.values]


def _cell(value: Any, where: str | None) -> str:
    if value is None:
        return "NA"
    if isinstance(value, str):
        return _quoted(value)
    if hasattr(value, "dtype") and hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, float):
        return "NA" if math.isnan(value) else repr(value)
    if isinstance(value, decimal.Decimal):
        return "NA" if value.is_nan() else str(value)
    if where is None:
        return "NA"
    if isinstance(value, datetime.date | datetime.time | datetime.timedelta):
        raise InputError(f"{where} holds dates or times; turn them into numbers, or drop the column")
    raise InputError(f"{where} holds {type(value).__name__}; give numbers, texts or booleans, or drop the column")


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
