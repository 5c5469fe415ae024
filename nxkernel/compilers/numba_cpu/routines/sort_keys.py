"""Sort keys: elements mapped to unsigned integers of the same order, and back.

Both zeros have one key, as have all NaN, which is that of a plain NaN; so the key of an element may be that of another
one. Wherever that matters the elements themselves are put in place afterwards, see :func:`restore`.
"""

from __future__ import annotations

from dataclasses import dataclass

from nxkernel.compilers.numba_cpu.codegen.llvm_ir import FunctionBuilder, IRValue, RangeLoop
from nxkernel.element_types import FORMATS
from nxkernel.types import Type


@dataclass(frozen=True)
class Keys:
    """The mapping between elements of a type and sort keys.

    Parameters
    ----------
    type : Type
    descending : bool
        Whether the greatest element has the least key.
    """

    type: Type
    descending: bool

    @property
    def element(self) -> str:
        """The LLVM type of keys and of the elements' bits."""
        return f"i{self.type.bits}"

    def of(self, b: FunctionBuilder, bits: IRValue) -> IRValue:
        """The keys of elements given as bits."""
        kind, lanes, width = bits.element, bits.lanes, self.type.bits
        sign = b.constant(kind, -1 << (width - 1), lanes)
        key = bits
        if self.type.is_float:
            filled = b.integer("ashr", bits, b.constant(kind, width - 1, lanes))
            key = b.integer("xor", bits, b.integer("or", filled, sign))
            size = b.integer("and", bits, b.constant(kind, (1 << (width - 1)) - 1, lanes))
            zero = b.icmp("eq", size, b.constant(kind, 0, lanes))
            nan = b.icmp("ugt", size, b.constant(kind, FORMATS[self.type].infinity, lanes))
            key = b.select(zero, sign, b.select(nan, b.integer("xor", self._nan(b, lanes), sign), key))
        elif self.type.kind == "s":
            key = b.integer("xor", bits, sign)
        return self._directed(b, key)

    def bits(self, b: FunctionBuilder, key: IRValue) -> IRValue:
        """The bits of the elements that have such keys."""
        kind, lanes, width = key.element, key.lanes, self.type.bits
        key = self._directed(b, key)
        sign = b.constant(kind, -1 << (width - 1), lanes)
        if self.type.is_float:
            clear = b.integer("xor", key, b.constant(kind, -1, lanes))
            filled = b.integer("ashr", clear, b.constant(kind, width - 1, lanes))
            return b.integer("xor", key, b.integer("or", filled, sign))
        return b.integer("xor", key, sign) if self.type.kind == "s" else key

    def altered(self, b: FunctionBuilder, bits: IRValue, key: IRValue) -> IRValue:
        """Whether elements change when they are recovered from their keys, as NaN payloads and signs of zero do."""
        return b.icmp("ne", self.bits(b, key), bits)

    def _nan(self, b: FunctionBuilder, lanes: int) -> IRValue:
        return b.constant(self.element, FORMATS[self.type].nan, lanes)

    def _directed(self, b: FunctionBuilder, key: IRValue) -> IRValue:
        if not self.descending:
            return key
        return b.integer("xor", key, b.constant(key.element, -1, key.lanes))

    def shared(self, b: FunctionBuilder) -> list[IRValue]:
        """The keys that several different elements share: those of zeros and of NaN."""
        return [self.of(b, b.constant(self.element, 0)), self.of(b, self._nan(b, 1))]


def restore(keys: Keys, caller: FunctionBuilder) -> str:
    """The function that writes the zeros and NaN of a sorted row as they were, in their original order.

    Returns
    -------
    str
        The name of ``void f(ptr source, ptr target, i64 length, i64 step)``, which counts in elements.
    """
    name = f"nx.restore.{keys.type}.{'desc' if keys.descending else 'asc'}"
    if name in caller.module.defined:
        return name
    parameters = [("source", "ptr"), ("target", "ptr"), ("length", "i64"), ("step", "i64")]
    b = FunctionBuilder(caller.module, name, "void", parameters, linkage="internal", attributes="noinline nounwind")
    source, target = IRValue("ptr", 1, "%source"), IRValue("ptr", 1, "%target")
    length, step = IRValue("i64", 1, "%length"), IRValue("i64", 1, "%step")
    zero, one = b.constant("i64", 0), b.constant("i64", 1)
    shared = keys.shared(b)

    def element(index: IRValue) -> IRValue:
        return b.load(keys.element, b.offset(source, keys.element, b.integer("mul", index, step)))

    counts = RangeLoop(b, zero, length, one, [zero, zero])
    key = keys.of(b, element(counts.index))
    less = [b.convert("zext", b.icmp("ult", key, one_key), "i64") for one_key in shared]
    first = counts.end(*[b.integer("add", count, more) for count, more in zip(counts.values, less, strict=True)])
    elements_loop = RangeLoop(b, zero, length, one, first)
    bits = element(elements_loop.index)
    key = keys.of(b, bits)
    following = []
    for target_index, one_key in zip(elements_loop.values, shared, strict=True):
        equal, then, done = b.icmp("eq", key, one_key), b.label("then"), b.label("done")
        b.branch_if(equal, then, done)
        b.start(then)
        b.store(bits, b.offset(target, keys.element, b.integer("mul", target_index, step)))
        b.branch(done)
        b.start(done)
        following.append(b.integer("add", target_index, b.convert("zext", equal, "i64")))
    elements_loop.end(*following)
    b.do("ret void")
    b.finish()
    return name
