"""Conversion of other libraries' arrays to NumPy's, with errors for what a tensor cannot hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from nxkernel import compile_thread, types
from nxkernel.errors import NxTypeError, message
from nxkernel.operand import Operand, Proxy
from nxkernel.tensor.dlpack import import_array

_NATIVE = frozenset(type_.dtype for type_ in types.TYPES.values())


def is_numeric(dtype: np.dtype) -> bool:
    """Whether a NumPy dtype has a counterpart among tensor types."""
    try:
        types.normalize(dtype)
    except NxTypeError:
        return False
    return True


def array_of_numbers(value: Any, argument: str = "") -> np.ndarray:
    """The NumPy array that a value is or can be converted to.

    Parameters
    ----------
    value : array
        Of NumPy, pandas or another library that answers ``__array__`` or ``__dlpack__``.
    argument : str, optional
        How a person would write it, for errors.

    Raises
    ------
    NxTypeError
        For masked arrays, records, text, dates, objects and numbers of other widths.
    """
    if type(value) is np.ndarray and value.dtype in _NATIVE:
        return value
    if type(value) is not np.ndarray:
        value = _converted(value, argument)
    if not is_numeric(value.dtype):
        raise _refusal(value.dtype, argument)
    return value


def subscript(key: Any) -> Any:
    """What stands between brackets, with NumPy's arrays in the place of columns of pandas and such.

    Parameters
    ----------
    key : index, or tuple of indices
    """
    if isinstance(key, tuple):
        return tuple([subscript(entry) for entry in key])
    kind = type(key)
    if (
        kind in _SUBSCRIPTS
        or isinstance(key, Operand | Proxy | np.ndarray | np.generic)
        or not hasattr(kind, "__array__")
    ):
        return key
    return array_of_numbers(key, "an index")


_SUBSCRIPTS = frozenset({int, slice, list, type(None), type(...), dict, bool})


def _converted(value: Any, argument: str) -> np.ndarray:
    if isinstance(value, np.ma.MaskedArray):
        raise NxTypeError(
            message(
                f"a masked array is no tensor, which has no mask{named(argument)}.",
                "Fill it: x.filled(0) puts zeros where it is masked, x.filled(np.nan) NaN into floats.",
            )
        )
    if isinstance(value, np.matrix):
        raise NxTypeError(
            message(
                f"a NumPy matrix is no tensor: its `*` and `**` are products of matrices{named(argument)}.",
                "Make an array of it, np.asarray(m), and write a @ b for products.",
            )
        )
    if isinstance(value, np.ndarray | np.generic):
        return np.asarray(value)
    compile_thread.load("nxkernel.tensor.dataframes")
    from nxkernel.tensor import dataframes

    if dataframes.is_frame(value):
        return dataframes.array_of_frame(value, argument)
    try:
        return np.asarray(value)
    except (TypeError, RuntimeError):
        # PyTorch has no name for bf16 in NumPy's terms, but in DLPack's.
        # Values that JAX traces have the first name alone.
        if not (hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__")):
            raise

    return import_array(value)


def named(argument: str) -> str:
    """The part of an error message that names the argument."""
    return f" (argument {argument})" if argument else ""


def _refusal(dtype: np.dtype, argument: str) -> NxTypeError:
    what = f"an array of dtype {dtype}"
    hint = f"The types are {' '.join(types.TYPES)}; array.astype converts to one of them."
    if dtype.names:
        what = f"an array of records with the fields {', '.join(map(repr, dtype.names))}"
        hint = f"Take one field: x[{dtype.names[0]!r}]."
    elif dtype.kind == "O":
        what = "an array of Python objects"
        hint = 'x.astype("float64") converts it where each element is a number; lists of uneven lengths are none.'
    elif dtype.kind in "USTa":
        hint = 'x.astype("float64") reads numbers out of text.'
    elif dtype.kind in "mM":
        start = "(x - x.min())" if dtype.kind == "M" else "x"
        hint = f'{start} / np.timedelta64(1, "s") is seconds as numbers.'
    elif dtype.kind in "fc":
        hint = f'x.astype("{"float64" if dtype.kind == "f" else "complex128"}") is the widest that there is.'
    return NxTypeError(message(f"{what} is no tensor{named(argument)}.", hint))
