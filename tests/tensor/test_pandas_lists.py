"""pandas takes lists of scalar tensors for numbers."""

import subprocess
import sys

import numpy as np
import pytest

import nxkernel as nx
import nxkernel.numpy as nnp

pd = pytest.importorskip("pandas", reason="pandas is not installed")
LOSSES = [nx.tensor(1.5), nx.tensor(0.5)]


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (LOSSES, "float32"),
        ([nx.f64(1.5), 2.0], "float64"),
        ([None, *LOSSES], "float64"),
        ([nx.tensor(1), nx.tensor(2)], "int64"),
        ([nx.tensor(True)], "bool"),
        ([nx.tensor(1j)], "complex64"),
        ([nx.bf16(1.5)], "float32"),
        ([nnp.array(1.5), nnp.sum(nnp.array([1.0]))], "float64"),
        ([nx.tensor([1, 2]), nx.tensor([3, 4])], "object"),
        (["a", "b"], "str"),
        ([object()], "object"),
    ],
)
def test_the_type_of_a_list(values, dtype):
    assert pd.Series(values).dtype == dtype


def test_tables_and_what_is_done_with_them():
    assert pd.Series(LOSSES).tolist() == [1.5, 0.5]
    assert pd.Series({"a": LOSSES[0]}).dtype == np.float32
    assert pd.DataFrame({"loss": LOSSES}).dtypes.tolist() == [np.float32]
    rows = pd.DataFrame([{"epoch": epoch, "loss": loss} for epoch, loss in enumerate(LOSSES)])
    assert rows.dtypes.tolist() == [np.int64, np.float32]
    assert rows.loss.mean() == 1.0
    assert pd.to_numeric(pd.Series(LOSSES)).sum() == 2.0


@pytest.mark.parametrize("values", [
    nx.tensor([1, 3]), nx.f64([1, 3]), nx.u8([1, 3]), [nx.tensor(1), 3], (nx.tensor(3.0), nx.tensor(1.0)),
    nnp.array([1, 3]), [nnp.array(1), nnp.array(3.0)],
])  # fmt: skip
def test_values_that_are_looked_for(values):
    for column in (pd.Series([1, 2, 3]), pd.Series([1.0, 2.0, 3.0]), pd.Series([1, 2, 3], dtype="Int64")):
        assert column.isin(values).tolist() == [True, False, True]
        assert pd.Index(column).isin(values).tolist() == [True, False, True]
        assert pd.DataFrame({"a": column}).isin(values).to_numpy().ravel().tolist() == [True, False, True]
    assert pd.Series(["a", "b"]).isin(["b", nx.tensor(1)]).tolist() == [False, True]


def test_a_series_of_losses_is_plotted():
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    matplotlib.use("Agg")
    (line,) = pd.Series(LOSSES).plot().lines
    assert line.get_ydata().tolist() == [1.5, 0.5]
    matplotlib.pyplot.close("all")


@pytest.mark.slow
@pytest.mark.parametrize("order", ["import pandas, nxkernel as nx", "import nxkernel as nx, pandas"])
def test_whichever_is_imported_first(order):
    code = (
        f"{order}; import sys; print(pandas.Series([nx.tensor(1.5)]).dtype)\n"
        "print(pandas.Series([1, 2]).isin(nx.tensor([2])).sum(), *[type(f).__name__ for f in sys.meta_path])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.startswith("float32\n1")
    assert "_WhenImported" not in out


def test_pandas_is_not_imported():
    code = "import nxkernel, sys; print('pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
