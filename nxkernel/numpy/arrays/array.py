"""Arrays that are assigned into while a function is traced, with NumPy's reference semantics, and its scalars.

An :class:`Array` shows a part of a place in memory (a :class:`~nxkernel.graph.tracing.MutableCell` of the trace): views
read what is there now and write through. A :class:`Scalar` is what NumPy gives for one element: it does not change.
Outside of a trace that is an :class:`Array` without axes which is not assigned into, so that there is one class.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from nxkernel import compile_thread, primitives, types
from nxkernel.errors import NxError, NxTypeError, NxValueError, message
from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr, at_line, constant
from nxkernel.numpy.arrays import casting, memory_order, subscripts
from nxkernel.numpy.arrays.storage import ArrayStorage
from nxkernel.numpy.arrays.views import Broadcast, ComplexPart, Diagonal, Index, Reshape, Transpose, ViewStep, reshaped
from nxkernel.numpy.base.array_value import ArrayValue
from nxkernel.operand import Operand, Proxy
from nxkernel.ops.machinery.dispatch import apply, filled, is_number, operand, spread
from nxkernel.shapes import spreads, text
from nxkernel.types import Type, bool_

Shape = tuple[int, ...]


class Scalar(ArrayValue):
    """One traced number, immutable as NumPy's scalars are.

    Parameters
    ----------
    node : tensor or traced value
        Without axes.
    """

    __slots__ = ("node",)

    def __init__(self, node: Operand) -> None:
        self.node = node

    shape = ()
    is_scalar = True

    @property
    def type(self) -> Type:
        """The type, such as ``"f64"``."""
        return self.node.type

    def __nx_operand__(self) -> Operand:
        return self.node

    def _number(self) -> Any:
        """The number as a Python value if it is known while tracing, else None."""
        node = self.node
        known = type(node) is Expr and node.primitive is primitives.constant
        return node.params["value"] if known else node

    def __bool__(self) -> bool:
        return bool(self._number())

    def __int__(self) -> int:
        return int(self._number())

    def __float__(self) -> float:
        return float(self._number())

    def __complex__(self) -> complex:
        return complex(self._number())

    def __index__(self) -> int:
        return operator.index(self._number())

    def __nx_like__(self, value: Operand) -> ArrayValue:
        return wrap(value)

    def __getitem__(self, key: Any) -> ArrayValue:
        if tracing.weak(self.node):
            raise _of_number(f"'{self._kind()}' object is not subscriptable")
        return self if isinstance(key, tuple) and not key else Array.of(self.node)[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        if not is_for_standard():
            raise _of_number(f"'{self._kind()}' object does not support item assignment")
        whole = Array.of(self.node)
        whole[key] = value
        self.node = whole.content()

    def _kind(self) -> str:
        """The class that it stands for: one of Python's numbers, or of NumPy's."""
        type_ = self.node.type
        if tracing.weak(self.node):
            return "complex" if type_.is_complex else "float" if type_.is_float else "int"
        return f"numpy.{type_.dtype.name}"


def _of_number(text: str) -> NxTypeError:
    error = NxTypeError(message(f"{text}, as in Python.", "np.array(x) is an array, which has elements."))
    error.of_python = True
    return error


#: Under which key a trace remembers what is as it is since the caller's arrays were taken to be in C order.
BY_LAYOUT = "by layout"
#: And what is so since arrays were taken to be in an order that only the running program knows; how often it was asked.
UNORDERED, ORDER_DEPENDENCES = "arrays without a known order", "how often an order was asked for"


class Array(ArrayValue):
    """A traced array that can be assigned into, or a view of one.

    Parameters
    ----------
    root : ArrayStorage
        Where its elements are.
    steps : tuple of ViewStep
        What it shows of them.
    writeable : bool
        Whether it may be assigned into.
    """

    __slots__ = ("_shape", "root", "steps", "type", "writeable")

    def __init__(self, root: ArrayStorage, steps: tuple[ViewStep, ...] = (), writeable: bool = True) -> None:
        self.root, self.steps = root, steps
        self._shape = steps[-1].shape if steps else root.shape
        self.type = root.type
        for step in steps:
            self.type = step.type(self.type)
        self.writeable = writeable and all(step.writeable for step in steps)

    @property
    def shape(self) -> Shape:
        """The size of each axis; assigning another shape of the same size reshapes in place."""
        return self._shape

    @shape.setter
    def shape(self, shape: Any) -> None:
        result = self.reshape(shape)
        if result.root is not self.root:
            raise NxValueError(
                message(
                    f"elements of a view cannot be seen in the shape {text(result.shape)} where they are.",
                    "x = x.reshape(shape) copies them.",
                )
            )
        self.steps, self._shape = result.steps, result.shape

    @property
    def strides_in_memory(self) -> Shape:
        """The strides that NumPy would give the array, counted in elements."""
        strides = self.root.strides or memory_order.c_order(self.root.shape)
        for step in self.steps:
            strides = step.strides(strides) or memory_order.c_order(step.shape)
        return strides

    def laid_out_as(self, inputs: Iterable[Any], strides: Shape | None) -> Array:
        """Set the strides of a new array to those that follow from the strides of `inputs`; None stands for C order."""
        if len(self.shape) < 2:
            return self
        self.root.strides = strides
        self._follow([one for one in inputs if isinstance(one, Array) and one.ndim > 1])
        return self

    def laid_out_as_one_of(self, arrays: Sequence[Array]) -> None:
        """Take over the memory order of `arrays`, of which this new array is one at run time."""
        arrays = [one for one in arrays if one.shape == self.shape]
        if len(self.shape) < 2 or not arrays:
            return
        if not self.steps:
            strides = [one.strides_in_memory for one in arrays]
            self.root.strides = None if memory_order.is_contiguous(self.shape, strides[0]) else strides[0]
            self.root.unordered = len({memory_order.between_elements(self.shape, each) for each in strides}) > 1
        self._follow(arrays)

    def _follow(self, arrays: Sequence[Array]) -> None:
        """Record the arrays from whose memory order that of this array follows."""
        for root in [one.root for one in arrays]:
            self.root.unordered = self.root.unordered or root.unordered
            if root.cell.shared or root.follows:
                self.root.follows |= {root} if root.cell.shared else root.follows

    def is_ordered_as(self, other: Array) -> bool:
        """Whether all that is known of this array's memory order is known of the other array's as well."""
        if self.shape != other.shape or len(self.shape) < 2 or other.root.unordered:
            return True
        own, others = (memory_order.between_elements(one.shape, one.strides_in_memory) for one in (self, other))
        follows = {self.root} if self.root.cell.shared else self.root.follows
        beside = {other.root} if other.root.cell.shared else other.root.follows
        return own == others and not self.root.unordered and follows <= beside

    @property
    def is_scalar(self) -> bool:
        """Whether it stands for a scalar of NumPy's: without axes, and not assigned into."""
        return not self._shape and not self.writeable

    @classmethod
    def of(cls, value: Operand, name: str = "", strides: Shape | None = None) -> Array:
        """A new array with the elements of a value, in C order or with the strides given."""
        if tracing.weak(value) and type(value) is Expr and value.primitive is primitives.constant:
            # A number that is known is so as an array, too.
            value = constant(value.params["value"], value.type, value.shape)
        elif any(value.names) or tracing.weak(value):  # an array of a Python number has a type like any other
            value = apply(primitives.reshape, value, shape=value.shape, names=(None,) * len(value.shape))
        return cls(ArrayStorage(tracing.strengthen(value), name, strides))

    def __nx_operand__(self) -> Operand:
        return self._shown(self.root.read())

    def content(self) -> Operand:
        """The elements as last written, without the check that they are up to date."""
        return self._shown(self.root.content())

    def _shown(self, value: Operand) -> Operand:
        for step in self.steps:
            value = step.read(value)
        return value

    def __nx_like__(self, value: Operand) -> Array:
        """Another array that holds `value`."""
        return Array.of(value)

    def through(self, step: ViewStep) -> Array:
        """The view of this array that a view step shows."""
        if self.steps:
            joined = self.steps[-1].then(step) if isinstance(self.steps[-1], Index) else None
            if joined is not None:
                return Array(self.root, (*self.steps[:-1], joined), self.writeable)
        return Array(self.root, (*self.steps, step), self.writeable)

    def assign(self, value: Any) -> None:
        """Assign to all elements: the value is broadcast to the shape and converted to the type of this array."""
        self.check_writeable()
        value = fitted(value, self.shape, self.type)
        whole = self.root.read()
        seen = []
        for step in self.steps:
            seen.append(whole)
            whole = step.read(whole) if step is not self.steps[-1] else whole
        for step, before in zip(reversed(self.steps), reversed(seen), strict=True):
            value = step.put(before, value)
        self.root.write(value)

    def check_writeable(self) -> None:
        """Refuse what is not assigned into: numbers, where not by the standard, and views that share elements."""
        if self.is_scalar and not is_for_standard():
            raise _of_number(f"'numpy.{self.type.dtype.name}' object does not support item assignment")
        if not self.writeable and not self.is_scalar:
            raise NxValueError(
                message(
                    "this array is read-only: a diagonal, repeated elements, or said to be so.",
                    "Assign into a copy of it.",
                )
            )

    def shows_same(self, other: Any) -> bool:
        """Whether another view shows the same elements."""
        return (
            isinstance(other, Array)
            and self.root is other.root
            and len(self.steps) == len(other.steps)
            and all(subscripts.same_step(one, two) for one, two in zip(self.steps, other.steps, strict=True))
        )

    @property
    def T(self) -> Array:  # noqa: N802 - NumPy's name
        """The array with its axes in reverse order, a view."""
        return self.transposed(tuple(reversed(range(self.ndim))))

    @property
    def mT(self) -> Array:  # noqa: N802 - NumPy's name
        """The transposed matrices of the last two axes, a view."""
        if self.ndim < 2:
            raise NxValueError(f".mT transposes matrices, got {self.ndim} axes")
        return self.transposed((*range(self.ndim - 2), self.ndim - 1, self.ndim - 2))

    def transposed(self, axes: Shape) -> Array:
        """A view with axes in another order."""
        return self.through(Transpose(self.shape, axes)) if axes != tuple(range(self.ndim)) else self.view_all()

    def view_all(self) -> Array:
        """A view of all elements."""
        return Array(self.root, self.steps, self.writeable)

    def with_shape(self, shape: Shape) -> Array:
        """The elements in another shape: a view where NumPy gives one, otherwise a new array."""
        if memory_order.reshaped(self.shape, self.strides_in_memory, shape) is not None:
            result = self.through(Reshape(self.shape, shape)) if shape != self.shape else self.view_all()
        else:
            result = Array.of(reshaped(self.__nx_operand__(), shape))
        if [n for n in shape if n != 1] != [n for n in self.shape if n != 1]:
            self.record_order_dependence(result)
        return result

    def contiguous(self, order: str = "C") -> Array:
        """The array itself where NumPy has its elements in an order, ``"C"`` or ``"F"``, without gaps, else a copy."""
        if memory_order.is_contiguous(self.shape, self.strides_in_memory, order):
            result = self
        else:
            result = Array.of(self.__nx_operand__(), strides=memory_order.of_order(self.shape, order, None))
        self.record_order_dependence(result)
        return result

    def record_order_dependence(self, result: Array | None = None) -> None:
        """Note that a result depends on this array's memory order: it is a view of it, a copy, or another value."""
        trace = tracing.current()
        sources = [self.root] if self.root.cell.shared else self.root.follows
        if trace is None:
            return
        memory = trace.outermost.memory
        memory[ORDER_DEPENDENCES] = memory.get(ORDER_DEPENDENCES, 0) + 1
        storages = [] if result is None else {self.root, result.root}
        seen = [(root, root.writes) for root in storages]
        if sources:
            memory.setdefault(BY_LAYOUT, []).append((sources, seen))
        if self.root.unordered:
            what = f"an array {self.type}{text(self.shape)}{at_line(tracing.user_line())}"
            memory.setdefault(UNORDERED, []).append((what, seen))

    def spread_to(self, shape: Shape) -> Array:
        """A read-only view that repeats elements."""
        return self.through(Broadcast(self.shape, shape))

    def diagonal_of(self, offset: int, axes: tuple[int, int], writeable: bool = False) -> Array:
        """A view of a diagonal."""
        return self.through(Diagonal(self.shape, offset, axes, writeable))

    @property
    def real(self) -> Array:
        """The real parts, a view; of real numbers the array itself."""
        return self.through(ComplexPart(self.shape, False)) if self.type.is_complex else self

    @real.setter
    def real(self, value: Any) -> None:
        self.real.assign(value)

    @property
    def imag(self) -> Array:
        """The imaginary parts, a view; zeros that are read-only where numbers are real."""
        if self.type.is_complex:
            return self.through(ComplexPart(self.shape, True))
        return Array(ArrayStorage(filled(0, self.type, self.shape)), writeable=False)

    @imag.setter
    def imag(self, value: Any) -> None:
        self.imag.assign(value)


def order_dependences() -> int:
    """How many times the active trace has depended on the memory order of an array."""
    trace = tracing.current()
    return 0 if trace is None else trace.outermost.memory.get(ORDER_DEPENDENCES, 0)


def is_for_standard() -> bool:
    """Whether who assigns is array-api-extra: in the standard, what has no axes is an array as any other."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("nxkernel."):
        frame = frame.f_back
    return frame is not None and "array_api_extra" in frame.f_globals.get("__name__", "")


def scalar(value: Operand) -> ArrayValue:
    """A value without axes as NumPy's functions return it: a scalar of the trace, or else an array that is a number."""
    if tracing.current() is not None:
        return Scalar(value)
    return Array(ArrayStorage(value), writeable=False)


def wrap(value: Operand, *inputs: Any) -> ArrayValue:
    """A tensor or traced value as NumPy's functions return it: a scalar if it has no axes, else a new array.

    Parameters
    ----------
    value : tensor or traced value
    *inputs : array or number
        What it was computed of element by element: the order of its elements in memory is that of these.
    """
    if not value.shape:
        return scalar(tracing.strengthen(value))
    array = Array.of(value)
    if len(value.shape) < 2:
        return array
    arrays = [one for one in inputs if isinstance(one, Array) and len(one.shape) > 1]
    if all(one.root.strides is None and not one.steps for one in arrays):
        return array.laid_out_as(arrays, None)
    strides = [(one.shape, one.strides_in_memory) for one in inputs if isinstance(one, Array)]
    return array.laid_out_as(arrays, memory_order.of_result(value.shape, strides))


def in_order_of(result: Any, value: Any = None) -> Any:
    """A new array with the elements of a value, in Fortran order if the array it was computed from is in that order."""
    if not isinstance(result, Array):
        return result
    is_fortran = isinstance(value, Array) and memory_order.is_fortran(value.shape, "A", value.strides_in_memory)
    strides = memory_order.of_order(result.shape, "F" if is_fortran else "C", None)
    return Array.of(operand(result)).laid_out_as([value], strides)


def as_value(value: Any) -> ArrayValue:
    """An argument as an array or scalar: lists and numbers are converted by NumPy's rules."""
    if isinstance(value, ArrayValue):
        return value
    if isinstance(value, list | tuple | range):
        return Array.of(stacked(list(value) if isinstance(value, range) else value))
    if has_mask(value):
        compile_thread.load("nxkernel.numpy.masked.masked_array")
        from nxkernel.numpy.masked.masked_array import as_masked

        return as_masked(value)
    if type(value) is not np.ndarray or not value.shape or tracing.current() is None:
        return wrap(operand(value))
    array = of_numpy(value)
    # It may be what a view shows.
    array.root.doubt = not_own
    return array


def has_mask(value: Any) -> bool:
    """Whether a value is a masked array of NumPy's, which knows its elements."""
    return isinstance(value, np.ndarray) and type(value) is not np.ndarray and hasattr(value, "mask")


def of_numpy(value: np.ndarray) -> Array:
    """A NumPy array as a traced one with the same memory order."""
    if value.flags.c_contiguous or any(not step or step % value.itemsize for step in value.strides):
        return Array.of(operand(value))
    return Array.of(operand(value), strides=tuple([step // value.itemsize for step in value.strides]))


def not_own() -> NxError:
    """The error for an assignment into a NumPy array from outside: its other references would not see the change."""
    return NxTypeError(
        message(
            "an array that NumPy computed while the program was made is assigned into: others who have it would not "
            "see that.",
            "Begin with an array of the program's own, x = np.array(x): it is computed of what a class has, or of "
            "what a function beside the definition gives.",
        )
    )


#: Rows from which nested lists are put together column by column.
MANY = 32


def stacked(value: Any) -> Operand:
    """Nested lists, which may contain traced values, as one tensor of the type that NumPy gives them."""
    if not isinstance(value, list | tuple):
        return operand(value)
    if not any(map(holds_traced, value)):
        return operand(np.array(value))
    from nxkernel.numpy.functions.joining import join_new

    width = len(value[0]) if isinstance(value[0], list | tuple) else 0
    if len(value) > max(width, MANY) and width and all(isinstance(r, list | tuple) and len(r) == width for r in value):
        # There are fewer columns than rows, and a column of what a loop gathered is one array.
        columns = [stacked([row[place] for row in value]) for place in range(width)]
        return join_new([Array.of(column) for column in columns], 1)
    return join_new([stacked(part) if isinstance(part, list | tuple) else Array.of(operand(part)) for part in value], 0)


def holds_traced(value: Any) -> bool:
    """Whether nested lists contain a traced value."""
    if isinstance(value, list | tuple):
        return any(map(holds_traced, value))
    return isinstance(value, Operand | Proxy)


def fitted(value: Any, shape: Shape, type_: Type) -> Operand:
    """A value broadcast to a shape and converted to a type, ready to be assigned."""
    if is_number(value):
        if type(value) is int and type_.is_integer and type_ is not bool_:
            types.refuse_outside(type_, value, "NumPy refuses it, too: convert the array first, x = x.astype(int).")
        return tracing.strengthen(casting.filled_as(value, type_, shape))
    value = operand(as_value(value))
    while len(value.shape) > len(shape) and value.shape[0] == 1:
        value = reshaped(value, value.shape[1:])
    if not spreads(value.shape, shape):
        raise NxValueError(
            message(
                f"cannot assign {text(value.shape) or 'a scalar'} to a part of the shape {text(shape) or '()'}.",
                "Axes are aligned from the last one; sizes must be equal, or 1 in what is assigned.",
            )
        )
    return spread(casting.cast(value, type_), shape)
