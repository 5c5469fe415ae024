"""Operators and methods of tensors and traced values, installed on their base class."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from nxkernel import types
from nxkernel.errors import NxTypeError, message
from nxkernel.graph import tracing
from nxkernel.graph.expr import TracedValue
from nxkernel.messages.call_errors import explained
from nxkernel.messages.other_libraries import ATTRIBUTES, Hint
from nxkernel.operand import Operand, Proxy
from nxkernel.ops.arithmetic import casting, comparison, elementary, elementwise
from nxkernel.ops.machinery.dispatch import arithmetic, convert, is_operand, operand, ordered, spread, together
from nxkernel.ops.numpy_names import attributes, axes, files, memory, placement, selection
from nxkernel.ops.numpy_names.aliases import ALIASES
from nxkernel.ops.reductions import (
    contraction,
    convolution,
    cumulative,
    extremes,
    fourier,
    reduction,
    statistics,
    user_reductions,
    windows,
)
from nxkernel.ops.shapes import diagonals, gathering, indexed_updates, indexing, padding, shaping, sorting
from nxkernel.ops.shapes.batching import to_batched, to_heatmap
from nxkernel.ops.tensors import inspection, python_conversion, vectorized_axes
from nxkernel.ops.tensors.creation import tril, triu
from nxkernel.shapes import broadcast_shapes
from nxkernel.tensor.tensor import Tensor


def floor_divide(left: Any, right: Any) -> Any:
    """``left // right`` as in Python and NumPy: rounded down, for integers and floats."""
    left, right = _pair(left, right, "//")
    if left.type.is_integer:
        # Of the operands' type: a value that stands for a Python number would take that of what is subtracted.
        return elementwise.subtract(elementwise.quotient(left, right), convert(_rounds_down(left, right), left.type))
    whole = elementwise.divide(elementwise.subtract(left, elementwise.remainder(left, right)), right)
    down = elementwise.subtract(elementwise.round(whole), _rounds_down(left, right))
    return comparison.select(comparison.equal(right, 0), elementwise.divide(left, right), down)


def floor_remainder(left: Any, right: Any) -> Any:
    """``left % right`` as in Python and NumPy: it has the sign of the divisor."""
    left, right = _pair(left, right, "%")
    rest = elementwise.remainder(left, right)
    return comparison.select(_rounds_down(left, right), elementwise.add(rest, right), rest)


def _pair(left: Any, right: Any, name: str) -> tuple[Operand, Operand]:
    left, right, type_ = together(left, right)
    type_ = ordered(name, arithmetic)(type_)
    return convert(left, type_), convert(right, type_)


def _rounds_down(left: Operand, right: Operand) -> Any:
    """Whether floor and truncated division differ: there is a remainder of the other sign than the divisor."""
    rest = elementwise.remainder(left, right)
    opposite = comparison.not_equal(comparison.less(rest, 0), comparison.less(right, 0))
    return comparison.logical_and(comparison.not_equal(rest, 0), opposite)


def matrix_multiply(left: Any, right: Any) -> Any:
    """``left @ right`` as in Python and NumPy: matrices in the last two axes, batch axes broadcast."""
    left, right = operand(left, "left"), operand(right, "right")
    if not left.rank or not right.rank:
        raise NxTypeError(
            message(f"@ multiplies matrices and vectors, got {left.spec} @ {right.spec}.", "Scalars multiply with *.")
        )
    if (left.rank <= 2 and right.rank <= 2) or right.rank == 1:
        return contraction.dot(left, right)
    if left.rank == 1:
        return contraction.dot(left, [0], right, [right.rank - 2])
    batch = broadcast_shapes(left.shape[:-2], right.shape[:-2])
    left, right = (spread(side, batch + side.shape[-2:]) for side in (left, right))
    shared = list(range(len(batch)))
    return contraction.dot(left, [left.rank - 1], shared, right, [right.rank - 2], shared)


def power(left: Any, right: Any) -> Any:
    """``left ** right``; by NumPy's rules a negative power of Python ints is a float."""
    if types.follows_numpy():
        from nxkernel.numpy.functions.integer_powers import of_numbers

        result = of_numbers(left, right)
        if result is not None:
            return result
    return elementwise.pow(left, right)


def invert(value: Operand) -> Any:
    """``~value``; by NumPy's rules a Python bool is an integer."""
    if types.follows_numpy() and value.type is types.bool_ and tracing.weak(value):
        value = convert(value, types.s64)
    return comparison.bitwise_not(value)


def _as_numpy(name: str, function: Callable, of_any: bool = True) -> Callable:
    """A method that calls the NumPy-compatible function where NumPy's rules hold, always or only for Python ints.

    That takes whole numbers which the type of the other side does not hold.
    """

    def method(left: Any, right: Any) -> Any:
        if types.follows_numpy() and (of_any or type(left) is int or type(right) is int):
            from nxkernel.numpy.functions import elementwise as of_numpy

            return getattr(of_numpy, name).on_operands(left, right)
        return function(left, right)

    return method


_beyond = functools.partial(_as_numpy, of_any=False)

_ARITHMETIC: dict[str, Callable] = {
    "add": elementwise.add,
    "sub": elementwise.subtract,
    "mul": elementwise.multiply,
    "truediv": _beyond("divide", elementwise.divide),
    "floordiv": _as_numpy("floor_divide", floor_divide),
    "mod": _as_numpy("remainder", floor_remainder),
    "divmod": lambda left, right: (left // right, left % right),
    "pow": power,
    "matmul": matrix_multiply,
    "and": comparison.bitwise_and,
    "or": comparison.bitwise_or,
    "xor": comparison.bitwise_xor,
    "lshift": comparison.left_shift,
    "rshift": comparison.right_shift,
}
_COMPARISON: dict[str, Callable] = {
    "eq": _beyond("equal", comparison.equal),
    "ne": _beyond("not_equal", comparison.not_equal),
    "lt": _beyond("less", comparison.less),
    "le": _beyond("less_equal", comparison.less_equal),
    "gt": _beyond("greater", comparison.greater),
    "ge": _beyond("greater_equal", comparison.greater_equal),
}
_UNARY: dict[str, Callable] = {
    "neg": elementwise.negate,
    "abs": elementwise.abs,
    "invert": invert,
    "pos": lambda tensor: tensor,
}


def _operator(function: Callable, swapped: bool = False, refuse: tuple = (str, bytes, type(None))) -> Callable:
    """A binary operator method, which returns NotImplemented for other classes and refuses text and None."""

    def method(self: Operand, other: Any) -> Any:
        # An array that is assigned into has operators of its own, which give such arrays.
        if isinstance(other, Proxy) or (not is_operand(other) and not isinstance(other, refuse)):
            return NotImplemented
        return function(other, self) if swapped else function(self, other)

    return method


def _install() -> None:
    for name, function in _ARITHMETIC.items():
        setattr(Operand, f"__{name}__", _operator(function))
        setattr(Operand, f"__r{name}__", _operator(function, swapped=True))
    for name, function in _COMPARISON.items():
        setattr(Operand, f"__{name}__", _operator(function, refuse=() if name in ("eq", "ne") else (str, bytes)))
    for name, function in _UNARY.items():
        setattr(Operand, f"__{name}__", function)
    Operand.__getitem__ = indexing.index
    for name, attribute in attributes.ATTRIBUTES.items():
        setattr(Operand, name, property(attribute))
    for module in (
        padding, comparison, contraction, convolution, cumulative, diagonals, elementary, elementwise, user_reductions,
        extremes, axes, selection, fourier, gathering, indexed_updates, indexing, inspection, reduction, shaping,
        sorting, statistics, casting, windows,
    ):  # fmt: skip
        for name in module.__all__:
            if not hasattr(Operand, name) and name not in ("complex", "where"):
                setattr(Operand, name, explained(getattr(module, name), "nx"))
    for of_methods in (selection.compress, memory.byteswap, memory.getfield, memory.setflags):
        setattr(Operand, of_methods.__name__, explained(of_methods, "nx"))
    for of_traced in (memory.item, memory.tolist, files.dump, files.tofile, placement.to_device):
        setattr(TracedValue, of_traced.__name__, explained(of_traced, "nx"))
    TracedValue.flags, TracedValue.device = property(memory.flags), property(placement.device)
    for name, documented in ALIASES.items():
        if hasattr(Operand, documented):
            setattr(Operand, name, getattr(Operand, documented))
    Operand.tril, Operand.triu = explained(tril, "nx"), explained(triu, "nx")
    for name in ("devectorize", "revectorize", "vectorize"):
        setattr(Operand, name, explained(getattr(vectorized_axes, name), "nx"))
    for name in ("to_binary", "to_flat_list", "to_list", "to_number", "to_template"):
        setattr(Tensor, name, explained(getattr(python_conversion, name), "nx"))
    Tensor.to_batched, Tensor.to_heatmap = explained(to_batched, "nx"), explained(to_heatmap, "nx")
    for name, entry in ATTRIBUTES.items():
        if not hasattr(Operand, name):
            setattr(Operand, name, Hint(name, entry))


_install()
