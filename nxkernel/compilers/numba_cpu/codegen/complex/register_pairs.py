"""Complex numbers in registers, a pair of real values each, and their way to and from memory, where parts alternate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nxkernel.compilers.numba_cpu.codegen.llvm_ir import Builder, Value
from nxkernel.compilers.numba_cpu.target.element_types import MEMORY, REGISTER
from nxkernel.types import Type


@dataclass(frozen=True, slots=True)
class Pair:
    """A complex value: its real and its imaginary part, of one element type and as many lanes."""

    re: Value
    im: Value

    @property
    def element(self) -> str:
        """The element type of a part."""
        return self.re.element

    @property
    def lanes(self) -> int:
        """How many complex numbers there are."""
        return self.re.lanes


#: What an instruction gives.
Register = Value | Pair


def parts(value: Register) -> list[Value]:
    """The real values that a value is made of: one, or two of a complex one."""
    return [value.re, value.im] if isinstance(value, Pair) else [value]


def whole(values: Sequence[Value]) -> Register:
    """The value that is made of such parts."""
    return Pair(*values) if len(values) == 2 else values[0]


def each(function: Callable[..., Value], *values: Register) -> Register:
    """A function applied to the parts of values, all real or all complex."""
    return whole([function(*group) for group in zip(*map(parts, values), strict=True)])


def elements(type_: Type) -> list[str]:
    """The element types of the parts of a value of a type."""
    return [REGISTER[type_]] * (2 if type_.is_complex else 1)


def _apart(b: Builder, both: Value) -> Pair:
    """Every other lane, from the first and from the second on."""
    return Pair(*(b.shuffle(both, list(range(first, both.lanes, 2))) for first in (0, 1)))


def load_one(b: Builder, type_: Type, address: Value, note: str = "") -> Pair:
    """One complex number."""
    element = REGISTER[type_]
    second = b.offset(address, element, b.constant("i64", 1))
    return Pair(b.load(element, address, note=note), b.load(element, second, note=note))


def load(b: Builder, type_: Type, address: Value, lanes: int, mask: Value | None) -> Pair:
    """Consecutive complex numbers; lanes outside the mask are zero and are not read."""
    if mask is None:
        return _apart(b, b.load(REGISTER[type_], address, lanes=2 * lanes))
    return _apart(b, b.masked_load(REGISTER[type_], address, b.interleave(mask, mask)))


def store(b: Builder, value: Pair, address: Value, mask: Value | None) -> None:
    """Write consecutive complex numbers: those lanes alone that the mask has, all without one."""
    both = b.interleave(value.re, value.im)
    b.masked_store(both, address, None if mask is None else b.interleave(mask, mask))


def gather(b: Builder, type_: Type, base: Value, index: Value, mask: Value) -> Pair:
    """Complex numbers at `index` from `base`; lanes outside the mask are zero and are not read."""
    element, unit = REGISTER[type_], MEMORY[type_]
    if element == "float":
        # Both parts come at once, as the halves of a wider element.
        return _apart(b, b.recut(b.gather("i64", base, index, mask, unit, align=4), element))
    second = b.offset(base, element, b.constant("i64", 1))
    return Pair(*(b.gather(element, place, index, mask, unit) for place in (base, second)))


def scatter(b: Builder, type_: Type, value: Pair, base: Value, index: Value, mask: Value) -> None:
    """Write the lanes of the mask to `index` from `base`."""
    element, unit = REGISTER[type_], MEMORY[type_]
    if element == "float":
        b.scatter(b.recut(b.interleave(value.re, value.im), "i64"), base, index, mask, unit, align=4)
        return
    second = b.offset(base, element, b.constant("i64", 1))
    for part, place in ((value.re, base), (value.im, second)):
        b.scatter(part, place, index, mask, unit)
