"""Functions that inspect types and memory: dtype promotion, shared memory, masks, iterability."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from nxkernel import types
from nxkernel.errors import TracedValueError, message
from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr
from nxkernel.numpy.arrays import memory_order, storage
from nxkernel.numpy.arrays.array import Array, ArrayValue, as_value, holds_traced
from nxkernel.numpy.arrays.casting import type_of
from nxkernel.operand import Operand, Proxy
from nxkernel.ops.machinery.dispatch import is_number, operand
from nxkernel.primitives import parameter
from nxkernel.tensor.tensor import StoredTensor

__all__ = [
    "can_cast",
    "common_type",
    "isfortran",
    "iterable",
    "may_share_memory",
    "min_scalar_type",
    "result_type",
    "shares_memory",
]


#: Kinds of dtypes of Python objects and of text.
_NO_NUMBERS = "OUS"


def result_type(*arrays_and_dtypes: Any) -> np.dtype:
    """The type that arrays, types and numbers merge to, as :func:`numpy.result_type`."""
    result: types.Type | None = None
    numbers = []
    for one in arrays_and_dtypes:
        if is_number(one):
            numbers.append(one)
            continue
        is_array = isinstance(one, Operand | Proxy | np.ndarray | list)
        type_ = as_value(one).type if is_array else type_of(one, types.f64)
        result = type_ if result is None else types.merge(result, type_)
    if result is None:
        return functools.reduce(types.merge, map(types.infer, numbers)).dtype
    return functools.reduce(types.merge_number, numbers, result).dtype


def can_cast(from_: Any, to: Any, casting: str = "safe") -> bool:
    """Whether a type, or that of an array, converts to another one, as :func:`numpy.can_cast`."""
    if isinstance(from_, Operand | Proxy):
        from_ = as_value(from_).type.dtype
    return np.can_cast(from_, np.dtype(to), casting)


def min_scalar_type(a: Any, /) -> np.dtype:
    """The smallest type that holds a number, and the type of an array, as :func:`numpy.min_scalar_type`."""
    if not isinstance(a, Operand | Proxy):
        return np.min_scalar_type(a)
    value = operand(as_value(a))
    return np.min_scalar_type(value.data) if isinstance(value, StoredTensor) else value.type.dtype


def common_type(*arrays: Any) -> type:
    """The floating type that holds all arrays, as :func:`numpy.common_type`."""
    values = [operand(as_value(array)) for array in arrays]
    if not values:
        return np.float16
    result = types.to_floating(values[0].type)
    for value in values[1:]:
        result = types.merge(result, types.to_floating(value.type))
    return result.dtype.type


def shares_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    """Whether two arrays overlap in memory, as :func:`numpy.shares_memory`.

    Raises
    ------
    TracedValueError
        For two parts of one array, and by the rules of Nx for what is computed, which may be any memory.
    """
    if a is b:
        return math.prod(np.shape(a)) > 0
    if tracing.current() is None:
        return np.shares_memory(np.asarray(a), np.asarray(b), max_work)
    if isinstance(a, Array) and isinstance(b, Array):
        storage.before_compared(a.root, b.root)
        if a.root is not b.root or not math.prod(a.shape) or not math.prod(b.shape):
            return False
        if _is_whole(a) or _is_whole(b) or a.shows_same(b):
            return True
    elif isinstance(a, ArrayValue) or isinstance(b, ArrayValue) or (_is_given(a) and _is_given(b)):
        return False
    raise TracedValueError(
        message(
            "whether two parts of an array share memory, or what is computed does, is not known while tracing.",
            "Ask before the call and pass the answer as an option.",
        )
    )


def _is_whole(array: Array) -> bool:
    """Whether a view shows all elements of its base."""
    return not array.steps or (array.writeable and math.prod(array.shape) == math.prod(array.root.shape))


def _is_given(value: Any) -> bool:
    """Whether a value is an argument or captured array, not computed in the definition."""
    if isinstance(value, Expr):
        return value.primitive is parameter
    return not isinstance(value, Operand | Proxy)


may_share_memory = shares_memory


def iterable(y: Any) -> bool:
    """Whether a value can be iterated over, as :func:`numpy.iterable`."""
    return y.ndim > 0 if isinstance(y, ArrayValue | Operand) else np.iterable(y)


def isfortran(a: Any) -> bool:
    """Whether the array is in Fortran order and not in C order, as :func:`numpy.isfortran`."""
    value = as_value(a)
    if not isinstance(value, Array):
        return False
    value.record_order_dependence()
    return memory_order.is_fortran(value.shape, "A", value.strides_in_memory)


def is_of_no_numbers(value: Any, dtype: Any = None) -> bool:
    """Whether NumPy's array of a value that a trace knows has Python objects or text in it.

    Such an array stays NumPy's: it is no part of the program, as long as nothing is computed from it there.
    """
    if tracing.current() is None or holds_traced(value):
        return False
    if value is None or (dtype is not None and np.dtype(dtype).kind in _NO_NUMBERS):
        return True
    return isinstance(value, np.ndarray | list | tuple | str) and np.asarray(value).dtype.kind in _NO_NUMBERS
