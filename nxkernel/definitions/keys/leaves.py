"""Leaves of containers: tensors, arrays and numbers, their specs, and their arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from nxkernel import types
from nxkernel.backends.numpy_primitives import cast_number
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph.expr import TracedValue
from nxkernel.operand import Operand, VectorizedSpec
from nxkernel.ops.machinery.dispatch import is_number
from nxkernel.primitives import Spec
from nxkernel.tensor.foreign_arrays import array_of_numbers, is_numeric
from nxkernel.tensor.tensor import StoredTensor, Tensor


@dataclass(frozen=True)
class Leaf:
    """A leaf of the arguments, as the function is traced with it.

    Parameters
    ----------
    path : str
        The path for messages.
    spec : Spec or VectorizedSpec
    number : bool
        Whether it is a Python number.
    fixed : tuple
        Empty, or the number itself if it is static.
    array : bool
        Whether it is a NumPy array.
    assigned : bool
        Whether it is traced as a mutable argument, in Nx's dialect.
    """

    path: str
    spec: Spec | VectorizedSpec
    number: bool = False
    fixed: tuple[Any, ...] = ()
    array: bool = False
    assigned: bool = False


def is_leaf(value: Any) -> bool:
    """Whether a value is a tensor, an array or a number."""
    if isinstance(value, Operand | np.ndarray | np.generic | bool | int | float | complex):
        return True
    # Dicts of which items are attributes, too, may raise a KeyError when they are asked.
    if isinstance(value, type | dict) or hasattr(type(value), "__nx_parts__"):
        return False
    return hasattr(value, "__array__")


def is_array(value: Any) -> bool:
    """Whether a captured value becomes a hidden argument: a tensor, or a plain array of numbers."""
    kind = type(value)
    return issubclass(kind, Tensor) or ((kind is np.ndarray or kind is np.memmap) and is_numeric(value.dtype))


def kind_of(value: Any, of_numpy: bool) -> str:
    """``"number"`` for a Python number that is weakly typed, for NumPy programs also ``"array"``, else ``""``.

    By NumPy's rules all numbers are weak, by Nx's those with digits after the point. Arrays
    without axes can be assigned into in NumPy programs, unlike NumPy's numbers.
    """
    if is_number(value):
        return "number" if of_numpy or isinstance(value, float | complex) else ""
    return "array" if of_numpy and isinstance(value, np.ndarray) and not value.ndim else ""


def spec_of(value: Any, path: str = "") -> Spec | VectorizedSpec:
    """Type, shape, names and vectorized axes of an array, tensor, template or number.

    Raises
    ------
    NxTypeError
        For an array of something else than numbers, under the name that `path` gives it.
    NxValueError
        For an integer of more than 64 bits.
    """
    if isinstance(value, Operand):
        return value.spec
    if is_number(value):
        type_ = types.infer(value)
        if type_ is types.s64 and not -(2**63) <= value < 2**63:
            raise NxValueError(
                message(f"the integer {value} does not fit into 64 bits{_named(path)}.", "Write it as a float.")
            )
        return Spec(type_, (), ())
    array = array_of_numbers(value, path)
    return Spec(types.normalize(array.dtype), array.shape, (None,) * array.ndim)


def _named(path: str) -> str:
    return f" (argument {path})" if path else ""


def array_of(value: Any, spec: Spec) -> np.ndarray:
    """A leaf as an array of its type, C-ordered, aligned and in native byte order; a copy only where it must be.

    Raises
    ------
    NxTypeError
        For what has no data: a template or a traced value.
    """
    if isinstance(value, StoredTensor):
        return value.data
    if is_number(value):
        return cast_number(value, spec.type)
    if isinstance(value, Operand):
        what = "a traced value" if isinstance(value, TracedValue) else "a template"
        raise NxTypeError(message(f"{what} of type {spec} has no data.", "Templates are for nx.compile and f.why."))
    return np.require(array_of_numbers(value), dtype=spec.type.dtype, requirements=["C", "A"]).reshape(spec.shape)
