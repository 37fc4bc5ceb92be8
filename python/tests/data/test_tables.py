"""DataFrames, Arrow tables and columnar files follow the rules of CSV files."""

import datetime
import subprocess
import sys

import numpy as np
import pytest

import widelimit as wl

pandas = pytest.importorskip("pandas", reason="pandas is not installed")


def frame(rows=40):
    rng = np.random.default_rng(0)
    size = rng.standard_normal(rows)
    size[3] = np.nan
    return pandas.DataFrame(
        {
            "id": range(rows),
            "size": size,
            "colour": ["red" if i % 3 else "blue" for i in range(rows)],
            "shape": pandas.Categorical([i % 2 + 1 for i in range(rows)]),
            "new": [i % 5 == 0 for i in range(rows)],
            "kind": ["ab"[i % 4 // 2] for i in range(rows)],
        }
    )


def as_kind(table, kind):
    if kind == "pandas":
        return table
    if kind == "polars":
        polars = pytest.importorskip("polars", reason="polars is not installed")
        texts = polars.col("shape").cast(polars.String)  # categories are text
        return polars.from_pandas(table).with_columns(texts.cast(polars.Categorical))
    return pytest.importorskip("pyarrow", reason="pyarrow is not installed").Table.from_pandas(table)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_a_table_is_read_as_its_csv_file(kind, tmp_path):
    table = frame()
    path = tmp_path / "t.csv"
    table.assign(new=table["new"].astype(int)).to_csv(path, index=False)
    options = {"drop": ["id"], "missing": "mean", "split": 0.75, "seed": 1}
    train, test = wl.load_train_test(as_kind(table, kind), **options)
    filed, filed_test = wl.load_train_test(path, categorical=["shape"], **options)
    assert train.feature_names == ["size", "colour=blue", "colour=red", "shape=1", "shape=2", "new"]
    assert train.feature_names == filed.feature_names
    assert np.array_equal(train.x, filed.x)  # bitwise
    assert np.array_equal(test.x, filed_test.x)
    assert np.array_equal(train.y, filed.y)
    assert train.class_names == ["a", "b"]


def test_numbers_come_back_bit_for_bit():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((50, 3)) * 10.0 ** rng.integers(-300, 300, (50, 3))
    found = wl.load_data(pandas.DataFrame(x), label="none")
    assert np.array_equal(found.x, x)
    assert found.feature_names == ["column 0", "column 1", "column 2"]
    single = pandas.DataFrame({"a": np.float32([0.1, 0.2])})
    assert np.array_equal(wl.load_data(single, label="none").x[:, 0], np.float32([0.1, 0.2]).astype(float))


def test_models_check_the_columns_of_new_tables(tmp_path):
    table = frame()
    train = wl.load_data(table, drop=["id"], missing="median")
    wl.NTKClassifier("fc:1", machine="ridge", lam=0.1).fit(train.x, train.y).save(tmp_path / "m.h5", data=train)
    model = wl.load_model(tmp_path / "m.h5")
    shuffled = table[["new", "shape", "colour", "size"]]
    with pytest.warns(wl.DataWarning, match="trained on all"):
        again = wl.load_data(shuffled, model=model)
    assert np.array_equal(again.x, train.x)
    assert again.y is None
    with pytest.raises(wl.InputError, match="colour"):
        wl.load_data(shuffled.drop(columns="colour"), model=model)
    with pytest.raises(wl.InputError, match="drop=: the model determines"):
        wl.load_data(shuffled, model=model, drop=["new"])


def test_missing_values_dates_and_objects_are_named():
    table = frame()
    with pytest.raises(wl.InputError, match=r"column 2 \('size'\)"):
        wl.load_data(table)
    table["day"] = datetime.datetime(2020, 1, 1)
    with pytest.raises(wl.InputError, match="column 'day' holds dates"):
        wl.load_data(table, label="kind", missing="mean")
    assert wl.load_data(table, label="kind", missing="mean", drop=["day"]).x.shape[0] == 40
    assert wl.load_data(table, label="kind", columns=["new"]).feature_names == ["new"]
    table["day"] = [[1]] * 40
    with pytest.raises(wl.InputError, match="column 'day' holds list"):
        wl.load_data(table, label="kind", missing="mean")
    with pytest.raises(wl.InputError, match="no rows"):
        wl.load_data(frame().iloc[:0])
    with pytest.raises(wl.InputError, match="called '7'"):
        wl.load_data(pandas.DataFrame({"7": [1.0], "b": [2.0]}))


def test_texts_with_commas_quotes_and_lines():
    table = pandas.DataFrame({"t": ['a,"b"', "c\nd", 'a,"b"'], "n": [1, 2, 3], "y": ["u", "v", "u"]})
    found = wl.load_data(table)
    assert found.x[:, :2].sum(axis=0).tolist() in ([2, 1], [1, 2])
    assert found.x[:, 2].tolist() == [1, 2, 3]


def test_texts_stay_texts():
    table = pandas.DataFrame({"a": ["a", "b", "a"], "code": ["007", "7", "007"], "y": ["u", "v", "u"]})
    found = wl.load_data(table)  # the first row looks like a header, and its codes like numbers
    assert found.feature_names == ["a=a", "a=b", "code=007", "code=7"]
    assert found.x.tolist() == [[1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]]
    assert wl.load_data(table[["a", "y"]], label="none").x.shape == (3, 4)


@pytest.mark.parametrize("ending", ["parquet", "feather", "arrow"])
def test_column_files(ending, tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    table = frame()
    path = tmp_path / f"t.{ending}"
    if ending == "parquet":
        table = table.iloc[::-1].rename_axis("number")
        table.to_parquet(path)  # includes the index, which is not a column
    else:
        table.to_feather(path)
    found = wl.load_data(path, missing="mean")
    direct = wl.load_data(table, missing="mean")
    assert np.array_equal(found.x, direct.x)
    assert found.feature_names == direct.feature_names
    path.write_bytes(b"damaged")
    with pytest.raises(wl.InputError, match="cannot read"):
        wl.load_data(path)


def test_a_missing_package_is_named(tmp_path):
    script = (
        "import sys\n"
        "sys.modules['pyarrow'] = sys.modules['polars'] = None\n"
        "import widelimit as wl\n"
        "try:\n    wl.load_data('t.parquet')\n"
        "except wl.InputError as error:\n    print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert "pip install pyarrow" in run.stdout


def test_estimators_check_names_as_scikit_learn_does():
    table = frame()[["id", "new"]].astype(float)
    table["wave"] = np.sin(table["id"])
    y = frame()["kind"]
    machine = wl.NTKClassifier("fc:1", machine="ridge", lam=0.1).fit(table, y)
    assert machine.feature_names_in_.tolist() == ["id", "new", "wave"]
    assert np.array_equal(machine.predict(table), machine.fit(table.to_numpy(), y).predict(table.to_numpy()))
    machine.fit(table, y)
    with pytest.raises(ValueError, match="same order"):
        machine.predict(table[["new", "id", "wave"]])
    with pytest.raises(ValueError, match="unseen at fit time"):
        machine.predict(table.rename(columns={"wave": "other"}))
