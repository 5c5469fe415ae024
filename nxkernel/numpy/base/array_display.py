"""Arrays as text: as NumPy shows its own, under the name of their class."""

from __future__ import annotations

from typing import Any

import numpy as np

from nxkernel.backends.numpy_primitives import widened
from nxkernel.graph.expr import TracedValue
from nxkernel.types import bool_, c128, f64, s64

#: Types that their elements tell, written as they are.
_TOLD = (bool_, s64, f64, c128)


def representation(array: Any) -> str:
    """What an array is, as ``Array([1, 2], dtype=int8)``; its type is left out where its elements tell it.

    Examples
    --------
    >>> import nxkernel.numpy as nnp
    >>> nnp.array([[0.5, 1], [2, 3]])
    Array([[0.5, 1. ],
           [2. , 3. ]])
    >>> nnp.zeros(2, nnp.int8), nnp.sum(nnp.arange(4))
    (Array([0, 0], dtype=int8), Array(6))
    """
    value = array.__nx_operand__()
    name = type(array).__name__
    if isinstance(value, TracedValue):
        return f"{name}({value!r})"
    data = _printed(value)
    text = np.array2string(data, separator=", ", prefix=f"{name}(")
    shape = f", shape={data.shape}" if not data.size and data.shape != (0,) else ""
    kind = "" if value.type in _TOLD and data.size else f", dtype={_name(value)}"
    place = "" if value.device == "cpu" else f", device={value.device!r}"
    return f"{name}({text}{shape}{kind}{place})"


def text(array: Any) -> str:
    """The elements of an array, as NumPy prints them."""
    value = array.__nx_operand__()
    return representation(array) if isinstance(value, TracedValue) else str(_printed(value))


def _printed(value: Any) -> np.ndarray:
    return widened(value.data) if value.type.kind == "bf" else value.data


def _name(value: Any) -> str:
    """NumPy's name of a type; that of bf16 is ours."""
    return str(value.type) if value.type.kind == "bf" else value.type.dtype.name
