"""The table of gradient rules, and the node with its cotangents that a rule is given.

A rule takes the cotangent of a result, which is what the loss gains for each unit that an element of it gains, and
gives those of the operands. Complex numbers follow JAX's convention: rules are those of holomorphic functions, nothing
is conjugated, and the gradient of a real loss is the conjugate of the direction in which it rises.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.errors import NxTypeError, message
from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr, at_line
from nxkernel.graph.intervals import Interval
from nxkernel.library_functions import ElementFunction, HostFunction
from nxkernel.ops.machinery.dispatch import apply, convert, filled
from nxkernel.primitives import Primitive, Spec
from nxkernel.scoped_settings import ScopedSetting, kept
from nxkernel.shapes import unnamed
from nxkernel.types import Type


@dataclass(frozen=True)
class BlockCotangent:
    """The cotangent of an array that is zero except for a block at start indices known when the program runs.

    Parameters
    ----------
    block : Expr
    starts : tuple of Expr
    """

    block: Expr
    starts: tuple[Expr, ...]

    def onto(self, array: Expr, empty: bool) -> Expr:
        """Add the block to a whole array, in place if possible; an empty array need not be read."""
        block = self.block
        if self._is_cleared(array):
            array = array.operands[0]
        elif not empty:
            strides = (1,) * len(block.shape)
            block = block + apply(p.dynamic_slice, array, *self.starts, lengths=block.shape, strides=strides)
        return apply(p.put_slice, array, block, *self.starts)

    def _is_cleared(self, array: Expr) -> bool:
        """Whether the array was set to zero where the block goes, so that the block replaces what is there."""
        if array.primitive is not p.put_slice or array.operands[1].shape != self.block.shape:
            return False
        pairs = zip(array.operands[2:], self.starts, strict=True)
        same = all(a is b or (b.primitive is p.constant and is_number(a, b.params["value"])) for a, b in pairs)
        return same and is_number(array.operands[1], 0)


@dataclass(frozen=True)
class IndexedCotangent:
    """The cotangent of an array that is zero except for elements at indices; repeated indices add up.

    Parameters
    ----------
    updates : Expr
    indices : tuple of Expr
    axes : tuple of int
    """

    updates: Expr
    indices: tuple[Expr, ...]
    axes: tuple[int, ...]

    def onto(self, array: Expr, empty: bool) -> Expr:
        """Add the elements to a whole array."""
        return apply(p.scatter, array, self.updates, *self.indices, axes=self.axes, combine="add")


#: What an operand gains: a whole array, a piece of one, or None for nothing.
Gain = Expr | BlockCotangent | IndexedCotangent | None


class AdjointSite:
    """A node whose gradient rule is applied, with the cotangents of its results.

    Parameters
    ----------
    node : Expr
    cotangents : sequence of (Expr or None)
        One for each result, without names.
    wanted : sequence of bool
        Which operands' gains are asked for.
    results : sequence of Expr
        The node itself, or the values of its results.
    replacing : dict
        Where a rule says which values are computed by something else as well, which is then to be run alone.
    known : mapping
        Between which values parameters of the graphs around lie that are whole numbers.
    """

    def __init__(
        self,
        node: Expr,
        cotangents: Sequence[Expr | None],
        wanted: Sequence[bool],
        results: Sequence[Expr | None],
        replacing: dict[Expr, Expr],
        ranges: Mapping[Expr, Interval],
    ) -> None:
        self.node, self.cotangents, self.wanted, self.ranges = node, cotangents, wanted, ranges
        self._results, self._replacing = results, replacing

    @property
    def g(self) -> Expr:
        """The cotangent of the result."""
        return self.cotangents[0]

    @property
    def params(self) -> dict[str, Any]:
        """The static parameters of the primitive."""
        return self.node.params

    def x(self, position: int) -> Expr:
        """Operand `position` without axis names, in the type that gradients are computed in."""
        return plain(self.node.operands[position])

    def bare(self, position: int) -> Expr:
        """Operand `position` without axis names, in its own type."""
        return bare(self.node.operands[position])

    def refusal(self, *because: str) -> NxTypeError:
        """The error that says that no gradient goes through the node, and why."""
        return refusal(self.node, *because)

    @property
    def y(self) -> Expr:
        """The result of the node, as :meth:`x` gives operands."""
        return plain(self._results[0])

    def part(self, position: int) -> Expr:
        """Result `position` of a multi-result node, recorded on demand."""
        result = self._results[position]
        if result is None:
            result = tracing.current().result(self.node, position)
        return result

    def result(self, position: int) -> Expr:
        """Result `position` of a multi-result node, as :meth:`x` gives operands."""
        return plain(self.part(position))

    def replace(self, results: Sequence[Expr]) -> None:
        """Declare other values equal to the results of the node, to be used in their place."""
        for old, new in zip(self._results, results, strict=True):
            if old is not None:
                self._replacing[old] = new

    def zeros(self, position: int) -> Expr:
        """A zero cotangent for operand `position`."""
        return zeros(self.node.operands[position].spec)


#: Gives what each operand gains.
Rule = Callable[[AdjointSite], Sequence[Gain]]
RULES: dict[Primitive, Rule] = {}
#: Primitives that are constant between jumps: their gradient is zero, as that of a mask.
CONSTANT: set[Primitive] = set()
#: Primitives that no gradient goes through, with the reason.
REFUSED: dict[Primitive, str] = {}


def rule(*primitives: Primitive) -> Callable[[Rule], Rule]:
    """Register a function as the gradient rule of primitives."""

    def add(function: Rule) -> Rule:
        for primitive in primitives:
            RULES[primitive] = function
        return function

    return add


def refusal(node: Expr, *because: str) -> NxTypeError:
    """The error for a node without a gradient, with explanations beyond those of the table."""
    where = at_line(node.source)
    operands = ", ".join(str(operand.spec) for operand in node.operands)
    reason = REFUSED.get(node.primitive)
    function = node.params.get("function")
    name = function.name if isinstance(function, ElementFunction | HostFunction) else node.primitive.name
    return NxTypeError(
        message(
            f"{name} of {operands} has no gradient{where}, and the loss depends on it.",
            *([reason] if reason else []),
            *because,
            "nx.stop_grad(t) says that nothing is to flow through it, nx.custom_grad gives a gradient of your own.",
        )
    )


class _Rules(threading.local):
    #: Whether gradients are those of a NumPy program, whatever rules of types they are recorded by.
    numpy = False


_rules = kept(_Rules())


def of_the_program() -> ScopedSetting:
    """A context in which gradients have the types of the program that they are of."""
    return ScopedSetting(_rules, "numpy", _rules.numpy or types.follows_numpy())


def tangent_type(type_: Type) -> Type:
    """The type of the gradients of values of a type: the type itself; for integers f32, by NumPy's rules f64."""
    if type_.is_float or type_.is_complex:
        return type_
    return types.f64 if _rules.numpy or types.follows_numpy() else types.f32


def tangent_spec(spec: Spec) -> Spec:
    """The spec of a cotangent: without axis names."""
    return Spec(tangent_type(spec.type), spec.shape, unnamed(spec.shape))


def zeros(spec: Spec) -> Expr:
    """A zero cotangent."""
    return filled(0, tangent_type(spec.type), spec.shape)


def bare(node: Expr) -> Expr:
    """A value without axis names."""
    if any(name is not None for name in node.names):
        return apply(p.reshape, node, shape=node.shape, names=unnamed(node.shape))
    return node


def plain(node: Expr) -> Expr:
    """A value without axis names, integers converted to floats."""
    return convert(bare(node), tangent_type(node.type))


def shaped(node: Expr, shape: tuple[int, ...]) -> Expr:
    """A value reshaped."""
    return node if node.shape == shape else apply(p.reshape, node, shape=shape, names=unnamed(shape))


def spread(node: Expr, shape: tuple[int, ...], axes: Sequence[int]) -> Expr:
    """A value broadcast: its axis ``i`` becomes axis ``axes[i]``."""
    if node.shape == shape:
        return node
    return apply(p.broadcast, node, shape=shape, axes=tuple(axes), names=unnamed(shape))


def total(node: Expr, axes: Sequence[int]) -> Expr:
    """A value summed over axes."""
    return apply(p.sum_, node, axes=tuple(axes), keep_axes=False) if axes else node


def is_number(node: Expr, value: Any) -> bool:
    """Whether a node is a constant with this number in every element."""
    return node.primitive is p.constant and node.params["value"] == value


def index(value: int) -> Expr:
    """A Python int as a constant of the graph."""
    return filled(value, types.s64, ())
