"""pandas Series and DataFrames as NumPy arrays; non-numeric columns are refused with a hint."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from nxkernel.errors import NxTypeError, message
from nxkernel.messages.grammar import a
from nxkernel.tensor.foreign_arrays import is_numeric, named


def is_frame(value: Any) -> bool:
    """Whether a value is a Series, DataFrame, Index or array of pandas; pandas need not be installed."""
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return False
    return isinstance(value, pandas.Series | pandas.DataFrame | pandas.Index | pandas.api.extensions.ExtensionArray)


def array_of_frame(value: Any, argument: str = "") -> np.ndarray:
    """A Series as a vector, a DataFrame as a matrix with the same columns.

    Columns of different numeric types meet in the type that NumPy gives them together.

    Parameters
    ----------
    value : pandas.Series, pandas.DataFrame, pandas.Index or pandas' extension array
    argument : str, optional
        How a person would write it, for errors.

    Raises
    ------
    NxTypeError
        For text, dates, categories and missing values, naming the columns.
    """
    if getattr(value, "ndim", 1) == 1:
        made = _column(value)
        if made is None:
            raise _refusal(value, argument)
        return made
    columns = [value.iloc[:, index] for index in range(value.shape[1])]
    arrays = [_column(column) for column in columns]
    refused = [column for column, array in zip(columns, arrays, strict=True) if array is None]
    if refused:
        raise _refusal_of_table(refused, argument)
    if len({array.dtype for array in arrays}) == 1 and all(isinstance(c.dtype, np.dtype) for c in columns):
        return np.asarray(value)
    return np.stack(arrays, axis=1) if arrays else np.zeros(value.shape, np.float64)


def _plain(value: Any) -> np.dtype | None:
    """The NumPy dtype of a numeric column, which may have missing values; None for other columns."""
    dtype = value.dtype
    if str(dtype).startswith("Sparse"):
        dtype = dtype.subtype
    plain = getattr(dtype, "numpy_dtype", dtype)
    return plain if isinstance(plain, np.dtype) and is_numeric(plain) else None


def _column(value: Any) -> np.ndarray | None:
    """The numbers of a column; None if it is not numeric or has missing values."""
    plain = _plain(value)
    if plain is None:
        return None
    if not hasattr(value.dtype, "numpy_dtype"):
        return np.asarray(value)
    return None if value.isna().any() else value.to_numpy(dtype=plain)


def _reason(value: Any) -> tuple[str, str]:
    """Why a column is not numeric, and the code that makes it so, with ``{0}`` for the column."""
    if _plain(value) is not None:
        return f"misses {int(value.isna().sum())} of its {len(value)} values", "{0}.fillna(0), or {0}.dropna()"
    name, is_series = str(value.dtype), hasattr(value, "iloc")
    # What a Series has behind an accessor, an index and an array have themselves.
    dates = ".dt" if is_series else ""
    if name == "category":
        return "holds categories", "{0}.cat.codes" if is_series else "{0}.codes"
    if name.startswith(("datetime64", "timestamp")):
        return "holds dates", f"({{0}} - {{0}}.min()){dates}.total_seconds()"
    if name.startswith(("timedelta64", "duration")):
        return "holds lengths of time", f"{{0}}{dates}.total_seconds()"
    if name.startswith("period"):
        return "holds periods", '{0}.astype("int64"), which counts them'
    if name.startswith("interval"):
        return "holds intervals", "{0}.array.mid" if is_series else "{0}.mid"
    if name.startswith(("object", "str", "large_string")):
        return "holds text or objects", "pandas.to_numeric({0}), or pandas.factorize({0})[0] for labels"
    return "holds no numbers", "{0} as numbers, for example with .map(function)"


def _told(value: Any) -> tuple[str, str]:
    """The reason, with the code for this column."""
    what, code = _reason(value)
    name = getattr(value, "name", None)
    return what, code.format("x" if name is None else f"df[{name!r}]")


def _refusal(value: Any, argument: str) -> NxTypeError:
    what, code = _told(value)
    name = getattr(value, "name", None)
    which = a(type(value).__name__) if name is None else f"the column {name!r}"
    text = f"{which} of dtype {value.dtype} {what}, a tensor holds numbers{named(argument)}."
    return NxTypeError(message(text, f"Write {code}."))


def _refusal_of_table(columns: list[Any], argument: str) -> NxTypeError:
    hints = []
    for column in columns[:4]:
        what, code = _told(column)
        hints.append(f"{column.name!r} (dtype {column.dtype}) {what}: write {code}.")
    if len(columns) > 4:
        hints.append(f"… and {len(columns) - 4} more.")
    count = "one column has" if len(columns) == 1 else f"{len(columns)} columns have"
    text = f"a tensor holds numbers, and {count} something else{named(argument)}."
    return NxTypeError(message(text, *hints, 'df.select_dtypes("number") keeps the columns of numbers.'))
