"""The base of arrays, scalars and parts of arrays: what can be told of each, and conversions to Python's numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from nxkernel.errors import NxTypeError, TracedValueError, message
from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr, TracedValue
from nxkernel.numpy.base import array_display
from nxkernel.operand import Proxy
from nxkernel.primitives import constant
from nxkernel.shapes import text
from nxkernel.types import Type

if TYPE_CHECKING:
    from nxkernel.numpy.installed_methods import ArrayMethods  # pyright: ignore[reportMissingModuleSource]
else:
    ArrayMethods = object


class ArrayValue(Proxy, ArrayMethods):
    """The base of traced arrays, scalars and parts of arrays; NumPy's functions become its methods on import."""

    __slots__ = ()
    __array_priority__ = 2000

    shape: Any
    type: Type
    #: Whether it stands for a scalar of NumPy's: without axes, and not assigned into.
    is_scalar: Any = False

    @property
    def __pandas_priority__(self) -> int:
        # A traced array computes with columns itself: pandas would ask for its elements.
        return 0 if tracing.current() is None else 5000

    @property
    def dtype(self) -> np.dtype:
        """The type of the elements, as NumPy's."""
        return self.type.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> Any:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        """The size of an element in bytes."""
        return self.type.size

    @property
    def nbytes(self) -> Any:
        """The size of all elements in bytes."""
        return self.size * self.itemsize

    def __len__(self) -> int:
        if not self.shape:
            error = NxTypeError("len() of a scalar: it has no axes")
            error.of_python = True
            raise error
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        # What asks whether a scalar can be iterated over is told at once.
        return (self[index] for index in range(len(self)))

    def __hash__(self) -> int:
        if tracing.current() is None:
            if self.is_scalar:
                return hash(self.tolist())
            raise NxTypeError(
                message(
                    f"an array is no member of a set and no key of a dict: its elements may change, {self.type}"
                    f"{text(self.shape)}.",
                    "x.item() is the number of an array with one element, tuple(x.tolist()) holds those of several.",
                )
            )
        # By its identity, equal numbers would be apart in sets and dicts.
        raise NxTypeError(
            message(
                f"a set or a dict is to go by a value that only the running program knows: {self.type}"
                f"{text(self.shape) if self.shape else ''}.",
                "Keep what was seen, or counted, in an array: count[v] += 1.",
            )
        ) from TracedValueError("its elements are known when the program runs")

    def __repr__(self) -> str:
        return array_display.representation(self)

    def __str__(self) -> str:
        return array_display.text(self)

    def __bool__(self) -> bool:
        return bool(self.__nx_operand__())

    def __int__(self) -> int:
        return int(self.__nx_operand__())

    def __float__(self) -> float:
        return float(self.__nx_operand__())

    def __complex__(self) -> complex:
        return complex(self.__nx_operand__())

    def __index__(self) -> int:
        node = self.__nx_operand__()
        is_known = type(node) is Expr and node.primitive is constant and node.type.is_integer and not node.shape
        return node.params["value"] if is_known else node.__index__()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = self.__nx_operand__().__array__()
        return np.array(array, dtype=dtype, copy=copy)

    def __format__(self, form: str) -> str:
        return format(self.__nx_operand__().to_number() if form and not self.shape else str(self), form)

    @property
    def _numba_type_(self) -> Any:
        # Numba asks for it when one of its functions is called.
        return self.__nx_operand__()._numba_type_

    def tobytes(self, order: str | None = "C") -> bytes:
        """The elements as bytes in C order, or in Fortran order for ``"F"``; a traced array has none yet."""
        value = self.__nx_operand__()
        return value.tobytes() if order != "F" else np.asarray(value).tobytes("F")

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers; of a traced array, of values that stand for such."""
        node = self.__nx_operand__()
        if isinstance(node, TracedValue):
            return [part.tolist() for part in self] if self.shape else self.item()
        return node.to_list() if node.shape else node.to_number()
