"""The notation in which rewrites of a graph are written: operators on nodes, so that a formula reads as the maths."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.element_types import FORMATS, FloatFormat
from nxkernel.graph.expr import Expr, SourceLocation, constant
from nxkernel.primitives import Primitive
from nxkernel.types import Type

#: ln 2 as the sum of two numbers, of which the first has so few digits that its product with an exponent is exact.
_LN2 = {
    types.f32: (11357 / 2**14, math.log(2) - 11357 / 2**14),
    types.f64: (762123384786 / 2**40, (math.log(2) - 762123384786 / 2**40) + 2.3190468138462996e-17),
}
#: The bits of the square root of one half.
_SQRT_HALF = {types.f32: 0x3F3504F3, types.f64: 0x3FE6A09E667F3BCD}


class NodeWriter:
    """Makes graph nodes; equal nodes are made once.

    Attributes
    ----------
    source : SourceLocation or None
        The user's line, for which nodes are made.
    made : list of Expr
        The nodes, in the order in which they were made.
    """

    def __init__(self) -> None:
        self.source: SourceLocation | None = None
        self.nodes: list[Expr] = []
        self._cache: dict[tuple, Expr] = {}

    def node(self, primitive: Primitive, *operands: Expr, **params: Any) -> Expr:
        """A node of a primitive, with the type and shape that the primitive's rule gives."""
        key = (primitive, *map(id, operands), *params.items())
        if key not in self._cache:
            spec = primitive.rule(*[operand.spec for operand in operands], **params)
            self._add(key, Expr(primitive, operands, params, spec, self.source))
        return self._cache[key]

    def number(self, value: float, like: Expr) -> Expr:
        """A constant of the type and shape of a node."""
        key = (repr(value), like.spec)
        return self._cache[key] if key in self._cache else self._add(key, constant(value, *like.spec))

    def _add(self, key: tuple, node: Expr) -> Expr:
        # What a key names by its address must live as long as the key does: so it does as the operand of its node.
        self._cache[key] = node
        self.nodes.append(node)
        return node


@dataclass(frozen=True, eq=False, slots=True)
class Number:
    """A node of floats or unsigned integers with Python's operators; Python numbers are constants beside it.

    Comparisons of floats are false for NaN, and ``!=`` is the negation of ``==``. ``>>`` shifts zeros in.
    """

    writer: NodeWriter
    node: Expr

    @property
    def type(self) -> Type:
        """The element type."""
        return self.node.type

    @property
    def format(self) -> FloatFormat:
        """The floating-point format: sizes of exponent and mantissa."""
        return FORMATS[self.node.type]

    def constant(self, number: float) -> Number:
        """A constant of this node's type and shape."""
        return Number(self.writer, self.writer.number(number, self.node))

    def lifted(self, other: Number | float) -> Number:
        """A Python number or node as a :class:`Number` of this type."""
        return other if isinstance(other, Number) else self.constant(other)

    def call(self, primitive: Primitive, *others: Number | float, **params: Any) -> Number:
        """A primitive applied to this node and others of its type."""
        nodes = [self.lifted(other).node for other in others]
        return Number(self.writer, self.writer.node(primitive, self.node, *nodes, **params))

    def _compare(self, primitive: Primitive, other: Number | float) -> Truth:
        return Truth(self.writer, self.call(primitive, other).node)

    def __add__(self, other: Number | float) -> Number:
        return self.call(p.add, other)

    def __sub__(self, other: Number | float) -> Number:
        return self.call(p.subtract, other)

    def __rsub__(self, other: float) -> Number:
        return self.constant(other) - self

    def __mul__(self, other: Number | float) -> Number:
        return self.call(p.multiply, other)

    def __truediv__(self, other: Number | float) -> Number:
        return self.call(p.divide, other)

    def __rtruediv__(self, other: float) -> Number:
        return self.constant(other) / self

    def __neg__(self) -> Number:
        return self.call(p.negate)

    def __abs__(self) -> Number:
        return self.call(p.absolute)

    def __and__(self, other: Number | int) -> Number:
        return self.call(p.bitwise_and, other)

    def __or__(self, other: Number | int) -> Number:
        return self.call(p.bitwise_or, other)

    def __xor__(self, other: Number | int) -> Number:
        return self.call(p.bitwise_xor, other)

    def __lshift__(self, other: int) -> Number:
        return self.call(p.left_shift, other)

    def __rshift__(self, other: int) -> Number:
        return self.call(p.right_shift, other)

    def __lt__(self, other: Number | float) -> Truth:
        return self._compare(p.less, other)

    def __gt__(self, other: Number | float) -> Truth:
        return self._compare(p.greater, other)

    def __ge__(self, other: Number | float) -> Truth:
        return self._compare(p.greater_equal, other)

    def __eq__(self, other: Number | float) -> Truth:  # type: ignore[override]
        return self._compare(p.equal, other)

    def __ne__(self, other: Number | float) -> Truth:  # type: ignore[override]
        return self._compare(p.not_equal, other)

    def to(self, type_: Type) -> Number:
        """The numbers converted to another type."""
        return self.call(p.as_type, type=type_)

    def bits(self) -> Number:
        """The bits of floats, as integers of equal width."""
        return self.call(p.bitcast, type=types.normalize(f"u{self.type.bits}"))

    def floats(self) -> Number:
        """The floats that have these bits."""
        return self.call(p.bitcast, type=types.f32 if self.type is types.u32 else types.f64)

    def copysign(self, other: Number) -> Number:
        """The magnitude of this and the sign of another."""
        sign = self.format.sign
        return ((self.bits() & (sign - 1)) | (other.bits() & sign)).floats()

    def fma(self, factor: Number | float, term: Number | float) -> Number:
        """The product with one value, and another one added."""
        return self * factor + term

    def fms(self, factor: Number | float, term: Number | float) -> Number:
        """The product with one value, and another one subtracted."""
        return self * factor - term

    @property
    def ln2(self) -> tuple[float, float]:
        """The logarithm of 2 as a sum of two floats, of which the first times any exponent is exact."""
        return _LN2[self.type]

    def split(self) -> tuple[Number, Number]:
        """``n, f`` of a positive finite number ``2^n (1 + f)`` with ``sqrt(1/2) <= 1 + f < sqrt(2)``."""
        form, root = self.format, _SQRT_HALF[self.type]
        tiny = self < form.smallest_normal
        x = where(tiny, self * 2.0**form.digits, self)
        shifted = x.bits() + ((form.bias << form.digits) - root)
        fraction = ((shifted & ((1 << form.digits) - 1)) + root).floats()
        n = (shifted >> form.digits).to(x.type) - where(tiny, x.constant(form.bias + form.digits), form.bias)
        return n, fraction - 1.0

    def inverse_power(self) -> Number:
        """Two to the power of minus this number, which is an integer."""
        return ((self.format.bias - self).to(types.normalize(f"u{self.type.bits}")) << self.format.digits).floats()

    def at_most(self, limit: float) -> Number:
        """The minimum of this and a bound; NaN stays NaN."""
        return where(self > limit, limit, self)


@dataclass(frozen=True, eq=False, slots=True)
class Truth:
    """A node of truth values with Python's operators."""

    writer: NodeWriter
    node: Expr

    def _join(self, primitive: Primitive, *others: Truth) -> Truth:
        return Truth(self.writer, self.writer.node(primitive, self.node, *[other.node for other in others]))

    def __and__(self, other: Truth) -> Truth:
        return self._join(p.logical_and, other)

    def __or__(self, other: Truth) -> Truth:
        return self._join(p.logical_or, other)

    def __invert__(self) -> Truth:
        return self._join(p.logical_not)

    def choose(self, then: Number | float, otherwise: Number | float) -> Number:
        """Element by element, `then` where this is true and `otherwise` elsewhere."""
        like = then if isinstance(then, Number) else otherwise
        one, other = like.lifted(then), like.lifted(otherwise)
        return Number(self.writer, self.writer.node(p.select, self.node, one.node, other.node))


def where(condition: Truth, then: Number | float, otherwise: Number | float) -> Number:
    """Element by element, one of two values; at least one of them is a `Number`."""
    return condition.choose(then, otherwise)
