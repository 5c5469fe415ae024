"""Complex numbers in registers, as pairs of real values; loads and stores of the interleaved parts in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nxkernel.compilers.numba_cpu.codegen.llvm_ir import FunctionBuilder, IRValue
from nxkernel.compilers.numba_cpu.target.element_types import MEMORY, REGISTER
from nxkernel.types import Type


@dataclass(frozen=True, slots=True)
class ComplexRegisters:
    """A complex IR value: real and imaginary part, with the same element type and number of lanes."""

    re: IRValue
    im: IRValue

    @property
    def element(self) -> str:
        """The element type of the parts."""
        return self.re.element

    @property
    def lanes(self) -> int:
        """The number of lanes."""
        return self.re.lanes


#: What an instruction gives.
Register = IRValue | ComplexRegisters


def parts(value: Register) -> list[IRValue]:
    """The real IR values of a value: one, or two for a complex one."""
    return [value.re, value.im] if isinstance(value, ComplexRegisters) else [value]


def from_parts(values: Sequence[IRValue]) -> Register:
    """The value of one real part or two parts."""
    return ComplexRegisters(*values) if len(values) == 2 else values[0]


def each(function: Callable[..., IRValue], *values: Register) -> Register:
    """A function of real values, made one that is applied part by part."""
    return from_parts([function(*group) for group in zip(*map(parts, values), strict=True)])


def elements(type_: Type) -> list[str]:
    """The element types of the parts of a type: one, or two for a complex one."""
    return [REGISTER[type_]] * (2 if type_.is_complex else 1)


def _deinterleaved(b: FunctionBuilder, both: IRValue) -> ComplexRegisters:
    """The even lanes and the odd lanes of a vector."""
    return ComplexRegisters(*(b.shuffle(both, list(range(first, both.lanes, 2))) for first in (0, 1)))


def load_one(b: FunctionBuilder, type_: Type, address: IRValue, note: str = "") -> ComplexRegisters:
    """Load a single complex number."""
    element = REGISTER[type_]
    second = b.offset(address, element, b.constant("i64", 1))
    return ComplexRegisters(b.load(element, address, note=note), b.load(element, second, note=note))


def load(b: FunctionBuilder, type_: Type, address: IRValue, lanes: int, mask: IRValue | None) -> ComplexRegisters:
    """Load consecutive complex numbers; lanes outside the mask are zero and are not read."""
    if mask is None:
        return _deinterleaved(b, b.load(REGISTER[type_], address, lanes=2 * lanes))
    return _deinterleaved(b, b.masked_load(REGISTER[type_], address, b.interleave(mask, mask)))


def store(b: FunctionBuilder, value: ComplexRegisters, address: IRValue, mask: IRValue | None) -> None:
    """Store consecutive complex numbers: the lanes of the mask, or all."""
    both = b.interleave(value.re, value.im)
    b.masked_store(both, address, None if mask is None else b.interleave(mask, mask))


def gather(b: FunctionBuilder, type_: Type, base: IRValue, index: IRValue, mask: IRValue) -> ComplexRegisters:
    """Load complex numbers at indices from `base`; lanes outside the mask are zero and are not read."""
    element, unit = REGISTER[type_], MEMORY[type_]
    if element == "float":
        # Both parts come at once, as the halves of a wider element.
        return _deinterleaved(b, b.recut(b.gather("i64", base, index, mask, unit, align=4), element))
    second = b.offset(base, element, b.constant("i64", 1))
    return ComplexRegisters(*(b.gather(element, address, index, mask, unit) for address in (base, second)))


def scatter(
    b: FunctionBuilder, type_: Type, value: ComplexRegisters, base: IRValue, index: IRValue, mask: IRValue
) -> None:
    """Store the lanes of the mask at indices from `base`."""
    element, unit = REGISTER[type_], MEMORY[type_]
    if element == "float":
        b.scatter(b.recut(b.interleave(value.re, value.im), "i64"), base, index, mask, unit, align=4)
        return
    second = b.offset(base, element, b.constant("i64", 1))
    for part, address in ((value.re, base), (value.im, second)):
        b.scatter(part, address, index, mask, unit)
