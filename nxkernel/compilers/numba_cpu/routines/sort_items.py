"""Sort items: keys for comparison, and for argsort the original indices with them."""

from __future__ import annotations

from nxkernel.compilers.numba_cpu.codegen.elementwise import Emitter
from nxkernel.compilers.numba_cpu.codegen.llvm_ir import FunctionBuilder, IRValue
from nxkernel.compilers.numba_cpu.routines.sort_keys import Keys
from nxkernel.compilers.numba_cpu.routines.sort_plan import SortOrder
from nxkernel.compilers.numba_cpu.target.element_types import MEMORY
from nxkernel.types import s64


class Items:
    """How sort items are formed from keys and indices, and turned into results.

    Parameters
    ----------
    b : FunctionBuilder
    order : SortOrder
    low : int
        Bits below the key that hold the place, half of the item; 0 for a key alone or with its place beside it.

    Attributes
    ----------
    keys : Keys
    parts : list of str
        The elements of an item: one, or key and place.
    memory : str
        The element that is written.
    """

    def __init__(self, b: FunctionBuilder, order: SortOrder, low: int) -> None:
        self.b, self.order, self.low = b, order, low
        self.keys = Keys(order.type, order.descending)
        self.memory = MEMORY[order.index] if order.index else self.keys.element
        self.parts = [self.keys.element]
        if order.index:
            self.parts = [f"i{2 * low}"] if low else ["i64", "i64"]

    def of(self, key: IRValue, index: IRValue) -> list[IRValue]:
        """The items of keys; `index` is one number for all lanes, or one a lane."""
        b, lanes = self.b, key.lanes
        if not self.order.index:
            return [key]
        wide = self.parts[0]
        key, index = b.convert("zext", key, wide), b.splat(b.convert("trunc", index, wide), lanes)
        if not self.low:
            return [key, index]
        return [b.integer("or", b.integer("shl", key, b.constant(wide, self.low, lanes)), index)]

    def result(self, parts: list[IRValue]) -> IRValue:
        """The results of items: elements, or original indices."""
        b, lanes = self.b, parts[0].lanes
        if not self.order.index:
            return self.keys.bits(b, parts[0])
        index = parts[-1]
        if self.low:
            mask = b.constant(index.element, (1 << self.low) - 1, lanes)
            index = b.convert("zext", b.integer("and", index, mask), "i64")
        e = Emitter(b, inline=True)
        return e.to_memory(e.apply("as_type", self.order.index, [index], s64), self.order.index)
