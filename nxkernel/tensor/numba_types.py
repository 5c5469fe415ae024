"""Tensors as arguments of functions that Numba compiles: read-only arrays, without a copy.

Numba asks a value of a class that it does not know for its type, and gets it from :func:`type_of`. This module is
imported then: whoever has no Numba, or calls none of its functions, does without.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numba.core import types
from numba.extending import NativeValue, box, models, register_model, unbox
from numba.np.numpy_support import from_dtype

from nxkernel.errors import NxTypeError, message


class TensorArray(types.Array):
    """The type of a tensor: a read-only array in C order."""

    def __init__(self, dtype: Any, ndim: int) -> None:
        super().__init__(dtype, ndim, "C", readonly=True, name=f"tensor({dtype}, {ndim}d)")

    def copy(self, dtype: Any = None, ndim: Any = None, layout: Any = None, readonly: Any = None) -> types.Array:
        """An array's type: what is made of a tensor in Numba is an array."""
        return self.plain.copy(dtype, ndim, layout, readonly)

    @property
    def plain(self) -> types.Array:
        """The type of the tensor's array."""
        return types.Array(self.dtype, self.ndim, "C", readonly=True)


register_model(TensorArray)(models.ArrayModel)


@unbox(TensorArray)
def _unboxed(typ: TensorArray, tensor: Any, context: Any) -> NativeValue:
    """The tensor's own array, which the native value keeps alive."""
    array = context.pyapi.object_getattr_string(tensor, "data")
    native = context.unbox(typ.plain, array)
    context.pyapi.decref(array)
    return native


@box(TensorArray)
def _boxed(typ: TensorArray, value: Any, context: Any) -> Any:
    """An array: whoever gets it sees the elements of the tensor."""
    return context.box(typ.plain, value)


def type_of(data: np.ndarray) -> types.Type:
    """The type that Numba knows a tensor by: of one without axes that of its number.

    Parameters
    ----------
    data : numpy.ndarray
        The tensor's elements.

    Raises
    ------
    NxTypeError
        For elements that Numba has no numbers of on processors: those of half width.
    """
    return _type_of(data.dtype, data.ndim)


@functools.cache
def _type_of(dtype: np.dtype, ndim: int) -> types.Type:
    if dtype.kind == "V" or dtype.name in ("float16", "bfloat16"):
        what = f"Numba has no numbers of type {dtype.name} on processors."
        raise NxTypeError(message(what, 'nx.as_type(t, "f32") makes a tensor that its functions take.'))
    return TensorArray(from_dtype(dtype), ndim) if ndim else from_dtype(dtype)
