"""pandas' columns and tables."""

import math

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError
from nxkernel.tensor import dataframes

pd = pytest.importorskip("pandas", reason="pandas is not installed")


def refusal(value):
    with pytest.raises(NxTypeError) as error:
        dataframes.array_of_frame(value, "x")
    return str(error.value)


@pytest.mark.parametrize(
    ("values", "dtype", "type_"),
    [
        ([1, 2], "int64", "s64"),
        ([1.5, np.nan], "float32", "f32"),
        ([True, False], "bool", "bool"),
        ([1, 2], "Int16", "s16"),
        ([1.5, 2], "Float64", "f64"),
        ([True, False], "boolean", "bool"),
        ([0.0, 1.0], "Sparse[float64]", "f64"),
    ],
)
def test_columns(values, dtype, type_):
    column = pd.Series(values, dtype=dtype, name="a")
    tensor = nx.tensor(column)
    assert (tensor.type, tensor.shape, tensor.names) == (type_, (2,), (None,))
    np.testing.assert_array_equal(tensor.to_numpy(), np.array(values, tensor.dtype))


def test_indices_and_arrays():
    assert nx.tensor(pd.Index([3, 4])).to_list() == [3, 4]
    assert nx.tensor(pd.array([3, 4], dtype="Int8")).type == "s8"


def test_a_tensor_does_not_see_later_changes():
    column = pd.Series([1, 2])
    tensor = nx.tensor(column)
    column.iloc[0] = 100
    assert tensor.to_list() == [1, 2]


def test_tables():
    table = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
    assert nx.tensor(table).to_list() == [[1, 3], [2, 4]]
    table["c"] = [0.5, 1.5]
    table["d"] = pd.array([True, False], dtype="boolean")
    assert nx.tensor(table).type == "f64"
    assert nx.tensor(table).to_list() == [[1.0, 3.0, 0.5, 1.0], [2.0, 4.0, 1.5, 0.0]]
    assert nx.tensor(table[["a", "a"]]).to_list() == [[1, 1], [2, 2]]
    assert nx.tensor(table[[]]).shape == (2, 0)


@pytest.mark.parametrize(
    ("column", "text"),
    [
        (
            pd.Series([1, None], dtype="Int64", name="age"),
            "the column 'age' of dtype Int64 misses 1 of its 2 values, a tensor holds numbers (argument x).\n"
            "  Write df['age'].fillna(0), or df['age'].dropna().",
        ),
        (
            pd.Series(["a", 1], dtype=object, name="city"),
            "the column 'city' of dtype object holds text or objects, a tensor holds numbers (argument x).\n"
            "  Write pandas.to_numeric(df['city']), or pandas.factorize(df['city'])[0] for labels.",
        ),
        (
            pd.Series(["a", "b"], dtype="category"),
            "a Series of dtype category holds categories, a tensor holds numbers (argument x).\n  Write x.cat.codes.",
        ),
        (
            pd.Series(np.array(["2020"], "M8[s]"), name="day"),
            "the column 'day' of dtype datetime64[s] holds dates, a tensor holds numbers (argument x).\n"
            "  Write (df['day'] - df['day'].min()).dt.total_seconds().",
        ),
        (
            pd.Series(np.array([1], "m8[s]"), name="wait"),
            "the column 'wait' of dtype timedelta64[s] holds lengths of time, a tensor holds numbers (argument x).\n"
            "  Write df['wait'].dt.total_seconds().",
        ),
        (
            pd.Series(pd.interval_range(0, 2), name="bin"),
            "the column 'bin' of dtype interval[int64, right] holds intervals, a tensor holds numbers (argument x).\n"
            "  Write df['bin'].array.mid.",
        ),
        (
            pd.interval_range(0, 2),
            "an IntervalIndex of dtype interval[int64, right] holds intervals, a tensor holds numbers (argument x).\n"
            "  Write x.mid.",
        ),
        (
            pd.Series(pd.period_range("2020", periods=2), name="day"),
            "the column 'day' of dtype period[D] holds periods, a tensor holds numbers (argument x).\n"
            "  Write df['day'].astype(\"int64\"), which counts them.",
        ),
        (
            pd.date_range("2020", periods=2, unit="s"),
            "a DatetimeIndex of dtype datetime64[s] holds dates, a tensor holds numbers (argument x).\n"
            "  Write (x - x.min()).total_seconds().",
        ),
        (
            pd.Categorical(["a"]),
            "a Categorical of dtype category holds categories, a tensor holds numbers (argument x).\n  Write x.codes.",
        ),
    ],
)
def test_what_is_no_number_is_refused(column, text):
    assert refusal(column) == text


def test_what_is_suggested_gives_tensors():
    day = pd.Series(np.array(["2020-01-01", "2020-01-02"], "M8[s]"))
    assert nx.tensor((day - day.min()).dt.total_seconds()).to_list() == [0.0, 86400.0]
    assert nx.tensor(pd.Series(["u", "v", "u"], dtype="category").cat.codes).to_list() == [0, 1, 0]
    assert nx.tensor(pd.factorize(pd.Series(["u", "v", "u"]))[0]).to_list() == [0, 1, 0]
    assert nx.tensor(pd.to_numeric(pd.Series(["1", "2"]))).to_list() == [1, 2]
    assert nx.tensor(pd.Series([1, None], dtype="Int64").fillna(0)).to_list() == [1, 0]


def test_a_table_names_the_columns_in_the_way():
    table = pd.DataFrame({"a": [1, 2], "c": pd.Categorical(["u", "v"]), "n": pd.array([1, None], dtype="Int64")})
    assert refusal(table) == (
        "a tensor holds numbers, and 2 columns have something else (argument x).\n"
        "  'c' (dtype category) holds categories: write df['c'].cat.codes.\n"
        "  'n' (dtype Int64) misses 1 of its 2 values: write df['n'].fillna(0), or df['n'].dropna().\n"
        '  df.select_dtypes("number") keeps the columns of numbers.'
    )
    wide = pd.DataFrame({name: pd.Categorical(["u", "v"]) for name in "abcdef"})
    assert "  … and 2 more.\n" in refusal(wide)


def test_definitions_and_functions_take_columns():
    @nx.jit
    def double(x):
        return nx.multiply(x, 2)

    table = pd.DataFrame({"a": [1, 2], "b": ["u", "v"]})
    assert double(table["a"]).to_list() == [2, 4]
    assert double(table["a"].astype("Int64")).to_list() == [2, 4]
    assert nx.sum(table["a"]).to_number() == 3
    with pytest.raises(NxTypeError, match=r"the column 'b' of dtype \w+ holds text or objects.*\(argument x\)"):
        double(table["b"])


def test_tensors_become_columns():
    tensor = nx.tensor([[1, 2], [3, 4]])
    assert pd.Series(tensor[0]).tolist() == [1, 2]
    assert pd.DataFrame(tensor, columns=["a", "b"])["b"].tolist() == [2, 4]


def test_masks_pick_rows():
    series, table, mask = pd.Series([1, 2, 3]), pd.DataFrame({"a": [1, 2, 3]}), nx.tensor([True, False, True])
    assert series[mask].tolist() == series.loc[mask].tolist() == series.iloc[mask].tolist() == [1, 3]
    assert table[mask]["a"].tolist() == table.loc[mask, "a"].tolist() == table.iloc[mask]["a"].tolist() == [1, 3]
    table.loc[mask, "a"] = 0
    assert table["a"].tolist() == [0, 2, 0]
    assert series[nx.tensor([2, 0])].tolist() == [3, 1]
    assert pd.unique(nx.tensor([2, 2, 1])).tolist() == [2, 1]
    assert (series + nx.tensor([1, 2, 3])).tolist() == [2, 4, 6]


def test_a_column_is_an_array_by_the_rules_of_numpy():
    table = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
    root = nx.defn(lambda x: np.sqrt(x))(table["a"])
    assert (type(root), root.dtype, root.tolist()) == (np.ndarray, np.float64, [1.0, math.sqrt(2)])
    assert nx.jit(lambda x: x / 2)(table["a"]).tolist() == [0.5, 1.0]
    assert nx.jit(lambda x: x.sum(axis=0))(table).tolist() == [3, 7]


def test_arrays_of_xarray_are_arguments():
    xarray = pytest.importorskip("xarray", reason="xarray is not installed")
    data = xarray.DataArray(np.arange(6.0).reshape(2, 3), dims=["y", "x"])
    doubled = nx.jit(lambda x: x * 2)(data.T)
    assert (type(doubled), doubled.tolist()) == (np.ndarray, [[0.0, 6.0], [2.0, 8.0], [4.0, 10.0]])
    assert nx.sum(data[0]).to_number() == 3
    assert data.isel(x=nx.tensor([0, 2])).shape == (2, 2)
    with pytest.raises(NxTypeError, match=r"^an array of dtype datetime64.*\(argument x\)"):
        nx.jit(lambda x: x * 2)(xarray.DataArray(np.array(["2020-01-01"], "M8[s]")))


T = nx.tensor([1.0, 2.0, 3.0])
COLUMN = pd.Series([1.0, 2.0, 3.0])
MASK = COLUMN > 1.5


def test_columns_between_brackets():
    assert T[MASK].to_list() == [2.0, 3.0]
    assert T[pd.Series([0, 2])].to_list() == [1.0, 3.0]
    assert T[pd.Index([2, -1])].to_list() == [3.0, 3.0]
    assert nx.tensor([[1, 2, 3]])[:, MASK].to_list() == [[2, 3]]
    assert nx.tensor([1, 2, 3], names=["x"])[{"x": MASK}].to_list() == [2, 3]
    assert np.asarray(nx.numpy.asarray(T)[MASK]).tolist() == [2.0, 3.0]
    for wrap in (nx.jit, nx.defn):
        assert wrap(lambda x: np.sum(x[MASK]))(np.arange(3.0)) == 3.0
    with pytest.raises(NxTypeError, match="a Series of dtype str holds text or objects"):
        T[pd.Series(["a"])]


def assigned(x):
    x[MASK] = 0
    return x


def test_assignments_where_a_column_says():
    assert nx.defn(assigned)(np.arange(3.0)).tolist() == [0.0, 0.0, 0.0]
    assert nx.defn(assigned)(np.ones(3)).tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize("use", [
    lambda x: COLUMN * x, lambda x: COLUMN - x[0], lambda x: COLUMN > x, lambda x: COLUMN**x,  # noqa: SIM300
    lambda x: pd.DataFrame({"a": COLUMN, "b": COLUMN}) / (x[:2] + 1),
])  # fmt: skip
def test_columns_on_the_left_of_what_is_traced(use):
    x = np.arange(3.0)
    for wrap in (nx.jit, nx.defn):
        result = wrap(use)(x)
        assert isinstance(result, np.ndarray)
        assert result.tolist() == use(x).to_numpy().tolist()
    assert isinstance(use(nx.numpy.asarray(x)), pd.Series | pd.DataFrame)
