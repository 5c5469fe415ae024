"""The table of primitives: each has a name, a family, and the rule that gives the result's type, shape and names.

Primitives are homogeneous: the functions people call (:mod:`nxkernel.ops`) convert types and broadcast first, so that
an element-wise primitive sees operands of one shape, and of one type where it needs one. That keeps meanings, lowerings
and gradients one line each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from nxkernel import shapes, types
from nxkernel.errors import NxTypeError, message
from nxkernel.types import Type

Names = tuple[str | None, ...]


class Spec(NamedTuple):
    """What is known of a value before it exists: type, shape and axis names."""

    type: Type
    shape: tuple[int, ...]
    names: Names

    def __str__(self) -> str:
        return self.type + "".join(
            f"[{size}]" if name is None else f"[{name}: {size}]"
            for size, name in zip(self.shape, self.names, strict=True)
        )


Rule = Callable[..., Spec]


@dataclass(frozen=True, eq=False, slots=True)
class Primitive:
    """A row of the table.

    Parameters
    ----------
    name : str
        How graphs print it.
    family : str
        ``elementwise``, ``reduction``, ``shape``, ``creation``, ``contraction`` or ``leaf``; compilers go by it.
    rule : callable
        ``rule(*specs, **params)`` gives the :class:`Spec` of the result.
    """

    name: str
    family: str
    rule: Rule

    def __repr__(self) -> str:
        return self.name


#: Every primitive by name.
TABLE: dict[str, Primitive] = {}


def primitive(name: str, family: str, rule: Rule) -> Primitive:
    """Add a row to the table."""
    if name in TABLE:
        raise ValueError(f"there is a primitive {name} already")
    TABLE[name] = Primitive(name, family, rule)
    return TABLE[name]


# Rules of element-wise primitives --------------------------------------------------------------------------------


def _same(first: Spec, *others: Spec) -> Spec:
    """Like the first operand, with the names of all."""
    if not others:
        return first
    names = first.names
    for other in others:
        if other.names != names:
            names = shapes.merge_names(names, other.names)
    return first if names is first.names else Spec(first.type, first.shape, names)


def _predicate(*operands: Spec) -> Spec:
    return _same(*operands)._replace(type=types.u8)


def _real(operand: Spec) -> Spec:
    return operand._replace(type=types.to_real(operand.type)) if operand.type.is_complex else operand


def _select(mask: Spec, then: Spec, otherwise: Spec) -> Spec:
    return _same(then, otherwise, mask._replace(type=then.type))


def _as_type(operand: Spec, *, type: Type) -> Spec:
    return operand._replace(type=type)


def _complex(real: Spec, imag: Spec) -> Spec:
    return _same(real, imag)._replace(type=types.to_complex(real.type))


def _elementwise(rule: Rule, names: str) -> list[Primitive]:
    return [primitive(name, "elementwise", rule) for name in names.split()]


add, subtract, multiply, divide, power, remainder, quotient, atan2, maximum, minimum = _elementwise(
    _same, "add subtract multiply divide pow remainder quotient atan2 max min"
)
bitwise_and, bitwise_or, bitwise_xor, left_shift, right_shift = _elementwise(
    _same, "bitwise_and bitwise_or bitwise_xor left_shift right_shift"
)
equal, not_equal, greater, less, greater_equal, less_equal = _elementwise(
    _predicate, "equal not_equal greater less greater_equal less_equal"
)
logical_and, logical_or, logical_xor, logical_not = _elementwise(
    _predicate, "logical_and logical_or logical_xor logical_not"
)
is_nan, is_infinity = _elementwise(_predicate, "is_nan is_infinity")
negate, sign, floor, ceil, round_half_away, round_half_even, truncate, conjugate = _elementwise(
    _same, "negate sign floor ceil round round_half_even truncate conjugate"
)
bitwise_not, population_count, count_leading_zeros = _elementwise(
    _same, "bitwise_not population_count count_leading_zeros"
)
(absolute, real, imag, phase) = _elementwise(_real, "abs real imag phase")
exp, expm1, log, log1p, log2, log10, sigmoid = _elementwise(_same, "exp expm1 log log1p log2 log10 sigmoid")
sin, cos, tan, asin, acos, atan = _elementwise(_same, "sin cos tan asin acos atan")
sinh, cosh, tanh, asinh, acosh, atanh = _elementwise(_same, "sinh cosh tanh asinh acosh atanh")
sqrt, rsqrt, cbrt, erf, erfc, erf_inv = _elementwise(_same, "sqrt rsqrt cbrt erf erfc erf_inv")
select = primitive("select", "elementwise", _select)
as_type = primitive("as_type", "elementwise", _as_type)
bitcast = primitive("bitcast", "elementwise", _as_type)
make_complex = primitive("complex", "elementwise", _complex)


# Leaves and creation ---------------------------------------------------------------------------------------------


def _leaf(*, spec: Spec, **_: Any) -> Spec:
    return spec


parameter = primitive("parameter", "leaf", _leaf)
"""An input of a graph. ``index``: its place; ``name``: how the person called it; ``captured``: an implicit argument."""

constant = primitive("constant", "leaf", _leaf)
"""One Python number (``value``) in every element."""

iota = primitive("iota", "creation", lambda *, type, shape, names, axis: Spec(type, shape, names))
"""The index along ``axis``."""


# Shape -----------------------------------------------------------------------------------------------------------


def _reshape(operand: Spec, *, shape: tuple[int, ...], names: Names) -> Spec:
    return Spec(operand.type, shape, names)


def _broadcast(operand: Spec, *, shape: tuple[int, ...], axes: tuple[int, ...], names: Names) -> Spec:
    for position, axis in enumerate(axes):
        if operand.shape[position] not in (1, shape[axis]):
            raise NxTypeError(
                message(
                    f"cannot broadcast {operand} to {shapes.text(shape)}: axis {position} has size "
                    f"{operand.shape[position]}, the axis {axis} that it goes to has size {shape[axis]}.",
                    "Sizes must be equal, or 1 on the left.",
                )
            )
    return Spec(operand.type, shape, names)


def _transpose(operand: Spec, *, axes: tuple[int, ...]) -> Spec:
    return Spec(operand.type, tuple(operand.shape[a] for a in axes), tuple(operand.names[a] for a in axes))


def _slice(operand: Spec, *, starts: tuple[int, ...], lengths: tuple[int, ...], strides: tuple[int, ...]) -> Spec:
    return operand._replace(shape=tuple(shapes.ceil_div(n, abs(s)) for n, s in zip(lengths, strides, strict=True)))


def _dynamic_slice(operand: Spec, *starts: Spec, lengths: tuple[int, ...], strides: tuple[int, ...]) -> Spec:
    return _slice(operand, starts=(), lengths=lengths, strides=strides)


def _reverse(operand: Spec, *, axes: tuple[int, ...]) -> Spec:
    return operand


def _concatenate(*operands: Spec, axis: int) -> Spec:
    shape = list(operands[0].shape)
    shape[axis] = sum(operand.shape[axis] for operand in operands)
    names = operands[0].names
    for operand in operands[1:]:
        names = shapes.merge_names(names, operand.names)
    return Spec(operands[0].type, tuple(shape), names)


def _pad(operand: Spec, value: Spec, *, config: tuple[tuple[int, int, int], ...]) -> Spec:
    return operand._replace(shape=shapes.pad(operand.shape, config))


reshape = primitive("reshape", "shape", _reshape)
broadcast = primitive("broadcast", "shape", _broadcast)
"""Axis i of the operand becomes axis ``axes[i]`` of the result; the rest repeat."""
transpose = primitive("transpose", "shape", _transpose)
slice_ = primitive("slice", "shape", _slice)
"""``lengths[i]`` elements from ``starts[i]``, every ``strides[i]``-th; a negative stride walks backwards."""
dynamic_slice = primitive("dynamic_slice", "shape", _dynamic_slice)
"""A slice whose starts are scalar operands, clamped so that it fits."""
reverse = primitive("reverse", "shape", _reverse)
concatenate = primitive("concatenate", "shape", _concatenate)
pad = primitive("pad", "shape", _pad)
"""``(low, high, interior)`` an axis; negative low and high crop."""


# Reductions ------------------------------------------------------------------------------------------------------


def _reduce(operand: Spec, *, axes: tuple[int, ...], keep_axes: bool) -> Spec:
    shape, names = shapes.reduce(operand.shape, operand.names, axes, keep_axes)
    return Spec(operand.type, shape, names)


def _reduce_predicate(operand: Spec, *, axes: tuple[int, ...], keep_axes: bool) -> Spec:
    return _reduce(operand, axes=axes, keep_axes=keep_axes)._replace(type=types.u8)


def _arg_reduce(operand: Spec, *, axis: int, keep_axis: bool, tie_break: str, type: Type) -> Spec:
    return _reduce(operand, axes=(axis,), keep_axes=keep_axis)._replace(type=type)


sum_, product, reduce_max, reduce_min = (
    primitive(name, "reduction", _reduce) for name in ("sum", "product", "reduce_max", "reduce_min")
)
all_, any_ = (primitive(name, "reduction", _reduce_predicate) for name in ("all", "any"))
argmax, argmin = (primitive(name, "reduction", _arg_reduce) for name in ("argmax", "argmin"))


# Contraction -----------------------------------------------------------------------------------------------------


def _dot(left: Spec, right: Spec, *, contract: tuple, batch: tuple) -> Spec:
    shape, names = shapes.dot(left, right, contract, batch)
    return Spec(left.type, shape, names)


dot = primitive("dot", "contraction", _dot)
"""``contract`` and ``batch`` are pairs of axis tuples; the result has batch, free left and free right axes."""
