"""Complex numbers in registers, a pair of real values each, and their way to and from memory, where parts alternate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nxkernel.compilers.numba_cpu.codegen.llvm_ir import FunctionBuilder, IRValue
from nxkernel.compilers.numba_cpu.target.element_types import MEMORY, REGISTER
from nxkernel.types import Type


@dataclass(frozen=True, slots=True)
class ComplexRegisters:
    """A complex value: its real and its imaginary part, of one element type and as many lanes."""

    re: IRValue
    im: IRValue

    @property
    def element(self) -> str:
        """The element type of a part."""
        return self.re.element

    @property
    def lanes(self) -> int:
        """How many complex numbers there are."""
        return self.re.lanes


#: What an instruction gives.
Register = IRValue | ComplexRegisters


def parts(value: Register) -> list[IRValue]:
    """The real values that a value is made of: one, or two of a complex one."""
    return [value.re, value.im] if isinstance(value, ComplexRegisters) else [value]


def from_parts(values: Sequence[IRValue]) -> Register:
    """The value that is made of such parts."""
    return ComplexRegisters(*values) if len(values) == 2 else values[0]


def each(function: Callable[..., IRValue], *values: Register) -> Register:
    """A function applied to the parts of values, all real or all complex."""
    return from_parts([function(*group) for group in zip(*map(parts, values), strict=True)])


def elements(type_: Type) -> list[str]:
    """The element types of the parts of a value of a type."""
    return [REGISTER[type_]] * (2 if type_.is_complex else 1)


def _deinterleaved(b: FunctionBuilder, both: IRValue) -> ComplexRegisters:
    """Every other lane, from the first and from the second on."""
    return ComplexRegisters(*(b.shuffle(both, list(range(first, both.lanes, 2))) for first in (0, 1)))


def load_one(b: FunctionBuilder, type_: Type, address: IRValue, note: str = "") -> ComplexRegisters:
    """One complex number."""
    element = REGISTER[type_]
    second = b.offset(address, element, b.constant("i64", 1))
    return ComplexRegisters(b.load(element, address, note=note), b.load(element, second, note=note))


def load(b: FunctionBuilder, type_: Type, address: IRValue, lanes: int, mask: IRValue | None) -> ComplexRegisters:
    """Consecutive complex numbers; lanes outside the mask are zero and are not read."""
    if mask is None:
        return _deinterleaved(b, b.load(REGISTER[type_], address, lanes=2 * lanes))
    return _deinterleaved(b, b.masked_load(REGISTER[type_], address, b.interleave(mask, mask)))


def store(b: FunctionBuilder, value: ComplexRegisters, address: IRValue, mask: IRValue | None) -> None:
    """Write consecutive complex numbers: those lanes alone that the mask has, all without one."""
    both = b.interleave(value.re, value.im)
    b.masked_store(both, address, None if mask is None else b.interleave(mask, mask))


def gather(b: FunctionBuilder, type_: Type, base: IRValue, index: IRValue, mask: IRValue) -> ComplexRegisters:
    """Complex numbers at `index` from `base`; lanes outside the mask are zero and are not read."""
    element, unit = REGISTER[type_], MEMORY[type_]
    if element == "float":
        # Both parts come at once, as the halves of a wider element.
        return _deinterleaved(b, b.recut(b.gather("i64", base, index, mask, unit, align=4), element))
    second = b.offset(base, element, b.constant("i64", 1))
    return ComplexRegisters(*(b.gather(element, address, index, mask, unit) for address in (base, second)))


def scatter(
    b: FunctionBuilder, type_: Type, value: ComplexRegisters, base: IRValue, index: IRValue, mask: IRValue
) -> None:
    """Write the lanes of the mask to `index` from `base`."""
    element, unit = REGISTER[type_], MEMORY[type_]
    if element == "float":
        b.scatter(b.recut(b.interleave(value.re, value.im), "i64"), base, index, mask, unit, align=4)
        return
    second = b.offset(base, element, b.constant("i64", 1))
    for part, address in ((value.re, base), (value.im, second)):
        b.scatter(part, address, index, mask, unit)
