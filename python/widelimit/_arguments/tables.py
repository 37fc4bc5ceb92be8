"""Conversion of tables in memory and columnar files to CSV text for the table reader of the core library.

Numbers round-trip exactly, so that all rules for tables (categories, missing values, columns by name, metadata of
models) are those of CSV files. Table packages are imported only if used.
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
    """Returns whether source is a pandas or polars DataFrame, or a PyArrow table."""
    kind = type(source)
    return kind.__module__.partition(".")[0] in _PACKAGES and kind.__name__ in ("DataFrame", "Table")


def as_spec(source: Any, name: str, options: dict[str, Any]) -> str:
    """Returns the SPEC of a source for a request with these options. A table or columnar file is added to
    options["texts"] under that name; its categorical and text columns are added to options["categorical"].
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
    """Returns the columns that the options exclude."""
    unread = {_column_index(key, names) for key in options["drop"] or ()}
    if options["columns"] is not None:
        selected = {_column_index(key, names) for key in options["columns"]}
        selected |= {_column_index(key, names) for key in _labels(names, options["label"])}
        unread |= set(range(len(names))) - selected
    return unread


def _labels(names: Sequence[str], label: str | None) -> set[str]:
    """Returns the label columns; the last column by default, as in files."""
    if label is None:
        return {names[-1]}
    places = [_column_index(key, names) for key in (label.split(",") if label not in names else [label])]
    return {names[place] for place in places if place is not None}


def _read(path: str) -> Any:
    """Reads a columnar file with the first installed package."""
    ending = os.path.splitext(path)[1].lower()
    for read in (_read_pyarrow, _read_polars):
        try:
            return read(path, ending)
        except ModuleNotFoundError:
            continue
        except Exception as error:  # each package has its own exceptions
            raise InputError(f"cannot read '{path}': {error}") from error
    raise InputError(f"'{path}': {ending} files need another package; pip install pyarrow (or polars)")


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
    """Whether its type is categorical."""
    values: list[Any]

    def of_texts(self) -> bool:
        """Returns whether all values are text, including numeric text."""
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
    # Metadata of pandas: which columns are its index, and which are categorical.
    written = table.schema.pandas_metadata or {}
    index = {name for name in written.get("index_columns", []) if isinstance(name, str)}
    categories = {one["name"] for one in written.get("columns", []) if one["pandas_type"] == "categorical"}
    return [
        _Column(name, name in categories or str(one.type).startswith("dictionary"), one.to_pylist())
        for name, one in zip(table.column_names, table.columns, strict=True)
        if name not in index
    ]


def _pandas_values(series: Any) -> list[Any]:
    return [None if missing else value for value, missing in zip(series.astype(object), series.isna(), strict=True)]


def _header(names: list[str], source: str) -> list[str]:
    """Returns column names that are not numbers; names 0, 1, … become 'column 0', 'column 1', …"""
    if names == [str(j) for j in range(len(names))]:
        return [f"column {name}" for name in names]
    for name in names:
        if not name.strip() or _is_number(name):
            raise InputError(f"{source}: a column is called '{name}'; rename it, or number all columns from 0")
    return names


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


def _column_index(key: str, names: Sequence[str]) -> int | None:
    """Returns the column of a name or, as in the core library, an index; None if there is none."""
    if key in names:
        return names.index(key)
    if re.fullmatch(r"-?\d+", key) and -len(names) <= int(key) < len(names):
        return int(key) % len(names)
    return None


def _cells(column: _Column, where: str | None) -> list[str]:
    """Returns the values as text; where: name in errors, None for an unread column, whose values are arbitrary."""
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
        raise InputError(f"{where} holds dates or times; convert them to numbers, or drop the column")
    raise InputError(f"{where} holds {type(value).__name__}; give numbers, texts or booleans, or drop the column")


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
