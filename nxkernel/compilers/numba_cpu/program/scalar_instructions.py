"""Scalars of a program as LLVM IR: arithmetic, and single elements read from and written to arrays."""

from __future__ import annotations

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.compilers.analysis import scalars
from nxkernel.compilers.analysis.scalars import Offset, Term
from nxkernel.compilers.numba_cpu.codegen.complex import register_pairs
from nxkernel.compilers.numba_cpu.codegen.complex.register_pairs import ComplexRegisters, Register
from nxkernel.compilers.numba_cpu.codegen.constant_bits import bits
from nxkernel.compilers.numba_cpu.codegen.llvm_ir import IRValue
from nxkernel.compilers.numba_cpu.program.program_text import StrideKey
from nxkernel.compilers.numba_cpu.target.element_types import MEMORY, REGISTER
from nxkernel.compilers.schedule import piecewise_buffers
from nxkernel.compilers.schedule.build_nest import attribute_of
from nxkernel.compilers.schedule.loop_nest import StoreMode
from nxkernel.graph.expr import Expr
from nxkernel.types import Type

#: Integers up to this are written into the code: steps of loops, neighbours of elements. So are those by which
#: something is divided, since division by a known number is multiplication.
SMALL = 8

_DIVISIONS = frozenset([p.quotient, p.remainder])
_UNSIGNED = {types.s8: types.u8, types.s16: types.u16, types.s32: types.u32, types.s64: types.u64}


class Inline:
    """Emits the scalars that a program computes without kernels.

    Parameters
    ----------
    scope : Scope
        Where values are.
    """

    def __init__(self, scope) -> None:
        self.scope, self.w, self.b, self.e = scope, scope.w, scope.b, scope.w.e

    def scalar(self, node: Expr) -> None:
        """Emit a scalar node, and store its value."""
        low, high = self.scope.plan.ranges.get(node, (0, 1))
        if low == high:
            value = self.literal(low, node.type)
        elif node.primitive.family == "elementwise":
            values = [self.value(operand) for operand in node.operands]
            if node.primitive is p.njit:
                self.e.failure = self.b.stack_slot("i64", 1, zero=True)
            value = self.e.apply(node.primitive.name, self._computed_in(node), values, attribute_of(node))
            if node.primitive is p.njit:
                self.w.raise_if(self.e.failure, [node.params["function"].name])
        elif node.primitive in (p.iota, p.constant):
            value = self.literal(node.params.get("value", 0), node.type)
        else:
            value = self.element(node)
        self.keep(value, node.type, self.scope.address(node))

    def _computed_in(self, node: Expr) -> Type:
        """The integer type to compute a node in: unsigned for divisions of values that are never negative, as they are
        cheaper.
        """
        ranges = self.scope.plan.ranges
        if node.primitive not in _DIVISIONS or any(ranges.get(o, (-1, 0))[0] < 0 for o in node.operands):
            return node.type
        return _UNSIGNED.get(node.type, node.type)

    def element(self, node: Expr) -> Register:
        """Load one element of an array."""
        element = scalars.element_of(node)
        if element.base.primitive is p.constant:
            return self.literal(element.base.params["value"], node.type)
        address = self.element_address(
            self.scope.address(element.base), node.type, element.offset, self.scope.buffer(element.base)
        )
        return self.load(node.type, address, self.w.alias_metadata(self.scope.tag(element.base)))

    def store(self, node: Expr) -> None:
        """Store an element into the array that an in-place update changes."""
        (store,) = piecewise_buffers.stores(node, in_place=True)
        axes = node.params.get("axes", range(len(store.places)))
        terms = [Term(at.index, at.most, at.stride, axis) for at, axis in zip(store.places, axes, strict=True)]
        address = self.element_address(
            self.scope.address(node), node.type, Offset(store.offset, terms), self.scope.buffer(node)
        )
        value, note = self.value(store.value), self.w.alias_metadata(self.scope.tag(node))
        if store.mode is not StoreMode.PUT:
            value = self.e.apply(store.mode.value, node.type, [self.load(node.type, address, note), value], None)
        self.keep(value, node.type, address, note)

    # Values ----------------------------------------------------------------------------------------------------

    def value(self, node: Expr) -> Register:
        """The value of a scalar node: a constant, or loaded from its memory."""
        if node.primitive is p.constant:
            return self.literal(node.params["value"], node.type)
        return self.load(node.type, self.scope.address(node))

    def literal(self, number: complex, type_: Type) -> Register:
        """A constant: small integers are part of the code, others are scalar parameters."""
        if type_.is_complex:
            number, real = complex(number), types.to_real(type_)
            return ComplexRegisters(self._literal(number.real, real), self._literal(number.imag, real))
        return self._literal(number, type_)

    def _literal(self, number: float, type_: Type) -> IRValue:
        element = REGISTER[type_]
        if element.startswith("i") and (abs(number) <= SMALL or (number, type_) in self.scope.divisors):
            return self.b.constant(element, int(number))
        return self.w.scalar(bits(number, type_), element)

    def load(self, type_: Type, address: IRValue, note: str = "") -> Register:
        """Load an element; `note` is its alias metadata."""
        if type_.is_complex:
            return register_pairs.load_one(self.b, type_, address, note)
        return self.e.from_memory(self.b.load(MEMORY[type_], address, note=note), type_)

    def keep(self, value: Register, type_: Type, address: IRValue, note: str = "") -> None:
        """Store an element; `note` is its alias metadata."""
        value = self.e.to_memory(value, type_)
        if isinstance(value, ComplexRegisters):
            second = self.b.offset(address, value.element, self.w.integer(1))
            self.b.store(value.re, address, note)
            self.b.store(value.im, second, note)
        else:
            self.b.store(value, address, note)

    def truth(self, type_: Type, address: IRValue) -> IRValue:
        """Whether an element in memory is not zero, as an i1."""
        return self.e.truth(self.load(type_, address))

    # Places ----------------------------------------------------------------------------------------------------

    def element_address(self, base: IRValue, type_: Type, offset: Offset, strides: object) -> IRValue:
        """The address of an array's element; `strides` names the array whose strides are used."""
        total = self.w.scalar(offset.fixed) if offset.fixed else None
        for term in offset.terms:
            if term.most == 0 or term.stride == 0:
                continue
            index = self.clamped(term)
            if term.stride != 1:
                # What is in a buffer may have several shapes.
                key = None if term.axis is None else StrideKey(strides, term.stride)
                index = self.b.integer("mul", index, self.w.scalar(term.stride, key=key))
            total = index if total is None else self.b.integer("add", total, index)
        return base if total is None else self.b.offset(base, MEMORY[type_], total)

    def clamped(self, term: Term) -> IRValue:
        """An index as an i64, clamped to the elements that exist."""
        type_ = term.index.type
        low, high = self.scope.plan.ranges.get(term.index, types.limits(type_))
        index = self.e.number(self.value(term.index), type_)
        if type_ is types.u64:
            return self.b.intrinsic("umin", index, self.w.scalar(term.most)) if high > term.most else index
        if index.element != "i64":
            index = self.b.convert("sext" if type_.kind == "s" else "zext", index, "i64")
        if low < 0:
            index = self.b.intrinsic("smax", index, self.w.integer(0))
        return self.b.intrinsic("smin", index, self.w.scalar(term.most)) if high > term.most else index
