"""A builder of LLVM IR text for scalars and vectors of a fixed number of lanes.

llvmlite's own builder costs 10 to 25 µs an instruction, which is more than LLVM needs to compile it. Here
an instruction is one formatted line. A value is scalar (``lanes == 1``) or a vector; every method takes and
returns values of equal lanes unless it says otherwise.
"""

from __future__ import annotations

import math
import re
import struct
from collections import Counter
from dataclasses import dataclass, field

#: Element types by the name that LLVM gives them, with their width in bits.
WIDTH = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "half": 16, "bfloat": 16, "float": 32, "double": 64}
_INTEGER_TWIN = {"half": "i16", "bfloat": "i16", "float": "i32", "double": "i64"}
_SUFFIX = {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64", "ptr": "p0"}


#: Places in a module up to which a kernel that it took in is inlined.
_PLACES = 4
#: The metadata of loops that LLVM is to leave as they are; its number is far from those that programs count up.
_AS_IT_IS = "!1000000"
_LEFT = f"""{_AS_IT_IS} = distinct !{{{_AS_IT_IS}, \
!{{!"llvm.loop.unroll.disable"}}, !{{!"llvm.loop.vectorize.enable", i1 false}}}}"""


@dataclass(frozen=True, slots=True)
class IRValue:
    """An SSA value or constant: its element type, number of lanes, and spelling in the text."""

    element: str
    lanes: int
    text: str

    @property
    def type(self) -> str:
        """The LLVM type, for example ``<16 x float>``."""
        return vector(self.element, self.lanes)

    def __str__(self) -> str:
        return f"{self.type} {self.text}"


def vector(element: str, lanes: int) -> str:
    """The LLVM type of `lanes` elements; one lane is the scalar type itself."""
    return element if lanes == 1 else f"<{lanes} x {element}>"


def suffix(element: str, lanes: int) -> str:
    """How LLVM spells a type inside the name of an intrinsic, for example ``v16f32``."""
    name = _SUFFIX.get(element, element)
    return name if lanes == 1 else f"v{lanes}{name}"


def literal(element: str, number: float | int) -> str:
    """A scalar constant in LLVM's spelling; floats are hexadecimal, so that they are exact."""
    if element == "i1":
        return "true" if number else "false"
    if element in ("float", "double"):
        number = float(number)
        if element == "float" and math.isfinite(number):
            number = struct.unpack("<f", struct.pack("<f", number))[0]
        return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"
    if element in _INTEGER_TWIN:
        raise TypeError(f"constants of the type {element} are converted from float")
    return str(int(number))


@dataclass
class IRModule:
    """An LLVM module under construction: functions and declarations."""

    functions: list[str] = field(default_factory=list)
    declarations: dict[str, str] = field(default_factory=dict)
    defined: set[str] = field(default_factory=set)
    taken: Counter[str] = field(default_factory=Counter)

    def declare(self, name: str, result: str, parameters: list[str], attributes: str = "") -> None:
        """Declare an external function or intrinsic once."""
        if name not in self.declarations:
            self.declarations[name] = f"declare {result} @{name}({', '.join(parameters)}) {attributes}".rstrip()

    def take_in(self, other: IRModule, symbol: str) -> str:
        """Merge another module into this one; its function `symbol` is marked to be inlined where it is called.

        What it reads of its table may then be written by its caller. Its loops stay as they are: their steps are
        vectors already, and few. Where it is called in many places, it is called there: LLVM's time would grow faster
        than their number. Gives the name that it has here.
        """
        own = f"{symbol}_inline"
        self.taken[own] += 1
        if own in self.defined:
            return own
        for function in other.functions:
            head = function[: function.index("{")]
            name = head[head.index("@") + 1 : head.index("(")]
            if name in self.defined:
                continue
            if name == symbol:
                head = head.replace("define void", "define internal void").replace("ptr noalias %table", "ptr %table")
                head = head.replace("nounwind", f"nounwind #{len(self.taken) - 1}").replace(f"@{name}(", f"@{own}(")
                name = own
                function = head + function[function.index("{") :].replace(", !invariant.load !0", "")
                function = re.sub(r"(br label %head\.\d+)\n", rf"\1, !llvm.loop {_AS_IT_IS}\n", function)
            self.functions.append(function)
            self.defined.add(name)
        self.declarations |= {n: d for n, d in other.declarations.items() if n not in self.defined}
        return own

    def __str__(self) -> str:
        metadata = ["!0 = !{}"]
        if any(_AS_IT_IS in function for function in self.functions):
            metadata.append(_LEFT)
        for number, call_sites in enumerate(self.taken.values()):
            metadata.append(f"attributes #{number} = {{ {'alwaysinline' if call_sites <= _PLACES else 'noinline'} }}")
        return "\n".join([*self.functions, *self.declarations.values(), *metadata, ""])


class FunctionBuilder:
    """Builds the body of one function; ``finish`` adds it to its module."""

    def __init__(
        self,
        module: IRModule,
        name: str,
        result: str,
        parameters: list[tuple[str, str]],
        *,
        linkage: str = "",
        attributes: str = "",
    ) -> None:
        self.module, self.name = module, name
        signature = ", ".join(f"{kind} %{parameter}" for parameter, kind in parameters)
        self._head = f"define {linkage + ' ' if linkage else ''}{result} @{name}({signature}) {attributes}".rstrip()
        self._lines: list[str] = []
        self._stack_slots: list[str] = []
        self._count = 0
        self.block = "entry"

    # Text ------------------------------------------------------------------------------------------------------

    def emit(self, text: str, element: str, lanes: int) -> IRValue:
        """Append ``%n = text`` and return the value that it defines."""
        self._count += 1
        name = f"%v{self._count}"
        self._lines.append(f"  {name} = {text}")
        return IRValue(element, lanes, name)

    def do(self, text: str) -> None:
        """Append an instruction that has no result."""
        self._lines.append("  " + text)

    def label(self, hint: str) -> str:
        """A new block name."""
        self._count += 1
        return f"{hint}.{self._count}"

    def start(self, block: str) -> None:
        """Start a block; the previous one must have ended in a branch."""
        self._lines.append(f"{block}:")
        self.block = block

    def branch(self, block: str) -> None:
        """Jump to a block."""
        self.do(f"br label %{block}")

    def branch_if(self, condition: IRValue, then: str, otherwise: str) -> None:
        """Branch on a scalar i1."""
        self.do(f"br i1 {condition.text}, label %{then}, label %{otherwise}")

    def finish(self) -> None:
        """End the function and add its text to the module."""
        self.module.functions.append("\n".join([self._head + " {", "entry:", *self._stack_slots, *self._lines, "}"]))
        self.module.defined.add(self.name)

    # Constants and lanes ---------------------------------------------------------------------------------------

    def constant(self, element: str, number: float | int, lanes: int = 1) -> IRValue:
        """A constant, repeated in every lane."""
        text = literal(element, number)
        if lanes > 1:
            text = f"splat ({element} {text})"
        return IRValue(element, lanes, text)

    def steps(self, element: str, lanes: int) -> IRValue:
        """The constant vector 0, 1, 2, …"""
        if lanes == 1:
            return self.constant(element, 0)
        return IRValue(element, lanes, "<" + ", ".join(f"{element} {lane}" for lane in range(lanes)) + ">")

    def splat(self, value: IRValue, lanes: int) -> IRValue:
        """A scalar broadcast to every lane."""
        if lanes == value.lanes:
            return value
        kind = vector(value.element, lanes)
        first = self.emit(f"insertelement {kind} poison, {value}, i64 0", value.element, lanes)
        return self.emit(f"shufflevector {first}, {kind} poison, <{lanes} x i32> zeroinitializer", value.element, lanes)

    def extract(self, value: IRValue, lane: int | IRValue) -> IRValue:
        """One lane as a scalar."""
        index = f"i64 {lane}" if isinstance(lane, int) else str(lane)
        return value if value.lanes == 1 else self.emit(f"extractelement {value}, {index}", value.element, 1)

    def insert(self, value: IRValue, scalar: IRValue, lane: int | IRValue) -> IRValue:
        """The vector with one lane replaced."""
        index = f"i64 {lane}" if isinstance(lane, int) else str(lane)
        return self.emit(f"insertelement {value}, {scalar}, {index}", value.element, value.lanes)

    def shuffle(self, value: IRValue, lanes: list[int]) -> IRValue:
        """The lanes of a vector in another order or number."""
        if len(lanes) == 1:
            return self.extract(value, lanes[0])
        mask = ", ".join(f"i32 {lane}" for lane in lanes)
        return self.emit(
            f"shufflevector {value}, {value.type} poison, <{len(lanes)} x i32> <{mask}>", value.element, len(lanes)
        )

    def interleave(self, left: IRValue, right: IRValue) -> IRValue:
        """The lanes of two vectors interleaved: the first of both, then the second of both, and so on."""
        lanes = left.lanes
        if lanes == 1:
            first = self.emit(f"insertelement {vector(left.element, 2)} poison, {left}, i64 0", left.element, 2)
            return self.insert(first, right, 1)
        mask = ", ".join(f"i32 {lane}, i32 {lane + lanes}" for lane in range(lanes))
        return self.emit(f"shufflevector {left}, {right}, <{2 * lanes} x i32> <{mask}>", left.element, 2 * lanes)

    def recut(self, value: IRValue, element: str) -> IRValue:
        """A vector bitcast to lanes of another width, and thus another number of lanes."""
        lanes = value.lanes * WIDTH[value.element] // WIDTH[element]
        return self.emit(f"bitcast {value} to {vector(element, lanes)}", element, lanes)

    # Arithmetic ------------------------------------------------------------------------------------------------

    def _two(self, name: str, left: IRValue, right: IRValue) -> IRValue:
        return self.emit(f"{name} {left}, {right.text}", left.element, left.lanes)

    def fadd(self, left: IRValue, right: IRValue, flags: str = "contract") -> IRValue:
        """Float addition; ``contract`` lets it fuse with a product into one rounding."""
        return self._two(f"fadd {flags}".rstrip(), left, right)

    def fsub(self, left: IRValue, right: IRValue, flags: str = "contract") -> IRValue:
        """Float subtraction."""
        return self._two(f"fsub {flags}".rstrip(), left, right)

    def fmul(self, left: IRValue, right: IRValue, flags: str = "contract") -> IRValue:
        """Float multiplication."""
        return self._two(f"fmul {flags}".rstrip(), left, right)

    def fdiv(self, left: IRValue, right: IRValue) -> IRValue:
        """Float division, correctly rounded."""
        return self._two("fdiv", left, right)

    def fneg(self, value: IRValue) -> IRValue:
        """The sign flipped, of NaN and zero too."""
        return self.emit(f"fneg {value}", value.element, value.lanes)

    def fma(self, left: IRValue, right: IRValue, third: IRValue) -> IRValue:
        """``left * right + third`` with one rounding."""
        return self.intrinsic("fma", left, right, third)

    def integer(self, name: str, left: IRValue, right: IRValue) -> IRValue:
        """An integer instruction by its LLVM name: add sub mul sdiv udiv srem urem and or xor shl lshr ashr."""
        return self._two(name, left, right)

    def fcmp(self, predicate: str, left: IRValue, right: IRValue) -> IRValue:
        """Compare floats: oeq one olt ole ogt oge ord, or the u… forms that are true for NaN."""
        return self.emit(f"fcmp {predicate} {left}, {right.text}", "i1", left.lanes)

    def icmp(self, predicate: str, left: IRValue, right: IRValue) -> IRValue:
        """Compare integers: eq ne slt sle sgt sge ult ule ugt uge."""
        return self.emit(f"icmp {predicate} {left}, {right.text}", "i1", left.lanes)

    def select(self, condition: IRValue, then: IRValue, otherwise: IRValue) -> IRValue:
        """Lane by lane, one of two values."""
        return self.emit(f"select {condition}, {then}, {otherwise}", then.element, then.lanes)

    def convert(self, name: str, value: IRValue, element: str) -> IRValue:
        """A cast by name: sitofp uitofp fptosi fptoui fptrunc fpext trunc zext sext bitcast inttoptr ptrtoint."""
        if value.element == element and name not in ("bitcast",):
            return value
        return self.emit(f"{name} {value} to {vector(element, value.lanes)}", element, value.lanes)

    def bitcast(self, value: IRValue, element: str) -> IRValue:
        """The same bits as another type of the same width."""
        return value if value.element == element else self.convert("bitcast", value, element)

    def intrinsic(self, name: str, *values: IRValue, extra: str = "") -> IRValue:
        """Call ``llvm.name`` overloaded on its operands' common type, for example fabs sqrt floor copysign ctpop smax.

        `extra` is the text of a trailing operand that is no value, such as ``i1 false`` for ctlz.
        """
        first = values[0]
        full = f"llvm.{name}.{suffix(first.element, first.lanes)}"
        operands = [str(value) for value in values] + ([extra] if extra else [])
        parameters = [value.type for value in values] + ([extra.split()[0]] if extra else [])
        self.module.declare(full, first.type, parameters)
        return self.emit(f"call {first.type} @{full}({', '.join(operands)})", first.element, first.lanes)

    def any(self, mask: IRValue) -> IRValue:
        """Whether any lane of a mask is set, as one bit."""
        if mask.lanes == 1:
            return mask
        name = f"llvm.vector.reduce.or.{suffix('i1', mask.lanes)}"
        self.module.declare(name, "i1", [mask.type])
        return self.emit(f"call i1 @{name}({mask})", "i1", 1)

    def call(self, name: str, result: str, lanes: int, *values: IRValue) -> IRValue:
        """Call a function of this module (or one that was declared), of element type `result`."""
        operands = ", ".join(str(value) for value in values)
        return self.emit(f"call {vector(result, lanes)} @{name}({operands})", result, lanes)

    # Memory ----------------------------------------------------------------------------------------------------

    def offset(self, base: IRValue, element: str, index: IRValue) -> IRValue:
        """The address of element `index` of the array at `base`."""
        return self.emit(f"getelementptr {element}, {base}, {index}", "ptr", 1)

    def load(
        self, element: str, address: IRValue, *, lanes: int = 1, invariant: bool = False, note: str = ""
    ) -> IRValue:
        """Load consecutive elements; `invariant` promises that the memory does not change while the function runs."""
        note = f", align {max(WIDTH.get(element, 64) // 8, 1)}" + (", !invariant.load !0" if invariant else note)
        return self.emit(f"load {vector(element, lanes)}, {address}{note}", element, lanes)

    def store(self, value: IRValue, address: IRValue, note: str = "") -> None:
        """Store consecutive elements."""
        self.do(f"store {value}, {address}, align {max(WIDTH.get(value.element, 64) // 8, 1)}{note}")

    def alloca(self, element: str, count: IRValue | int) -> IRValue:
        """Allocate stack memory for `count` elements, aligned for vectors, here."""
        count = count if isinstance(count, IRValue) else self.constant("i64", count)
        return self.emit(f"alloca {element}, {count}, align 64", "ptr", 1)

    def stack_slot(self, element: str, count: int, *, zero: bool = False) -> IRValue:
        """Allocate stack memory in the entry block, once, wherever this is called."""
        self._count += 1
        name = f"%v{self._count}"
        self._stack_slots.append(f"  {name} = alloca {element}, i64 {count}, align 64")
        if zero:
            self._stack_slots.append(f"  store {element} 0, ptr {name}")
        return IRValue("ptr", 1, name)

    def masked_load(self, element: str, address: IRValue, mask: IRValue) -> IRValue:
        """Load consecutive elements, one a lane; lanes outside the mask are zero and are not read."""
        lanes = mask.lanes
        if lanes == 1:
            return self.load(element, address)
        kind, name = vector(element, lanes), f"llvm.masked.load.{suffix(element, lanes)}.p0"
        self.module.declare(name, kind, ["ptr", "i32", mask.type, kind])
        size = WIDTH[element] // 8
        return self.emit(f"call {kind} @{name}({address}, i32 {size}, {mask}, {kind} zeroinitializer)", element, lanes)

    def masked_store(self, value: IRValue, address: IRValue, mask: IRValue | None) -> None:
        """Store consecutive elements: the lanes of the mask, or all without one."""
        if value.lanes == 1 or mask is None:
            return self.store(value, address)
        name = f"llvm.masked.store.{suffix(value.element, value.lanes)}.p0"
        self.module.declare(name, "void", [value.type, "ptr", "i32", mask.type])
        return self.do(f"call void @{name}({value}, {address}, i32 {WIDTH[value.element] // 8}, {mask})")

    def gather(
        self, element: str, base: IRValue, index: IRValue, mask: IRValue, unit: str = "", align: int = 0
    ) -> IRValue:
        """Load elements at integer indices from `base`; lanes outside the mask are zero and are not read.

        The index counts elements, or what `unit` says; `align` is what addresses are multiples of, if not the element.
        """
        lanes = mask.lanes
        if lanes == 1:
            return self.load(element, self.offset(base, unit or element, index))
        kind, name = vector(element, lanes), f"llvm.masked.gather.{suffix(element, lanes)}.v{lanes}p0"
        self.module.declare(name, kind, [f"<{lanes} x ptr>", "i32", mask.type, kind])
        addresses = self.emit(f"getelementptr {unit or element}, {base}, {index}", "ptr", lanes)
        size = align or WIDTH[element] // 8
        return self.emit(
            f"call {kind} @{name}({addresses}, i32 {size}, {mask}, {kind} zeroinitializer)", element, lanes
        )

    def scatter(
        self, value: IRValue, base: IRValue, index: IRValue, mask: IRValue, unit: str = "", align: int = 0
    ) -> None:
        """Store the lanes of the mask at i64 indices from `base`; as in `gather`."""
        unit = unit or value.element
        if value.lanes == 1:
            return self.store(value, self.offset(base, unit, index))
        lanes = value.lanes
        name = f"llvm.masked.scatter.{suffix(value.element, lanes)}.v{lanes}p0"
        self.module.declare(name, "void", [value.type, f"<{lanes} x ptr>", "i32", mask.type])
        addresses = self.emit(f"getelementptr {unit}, {base}, {index}", "ptr", lanes)
        return self.do(f"call void @{name}({value}, {addresses}, i32 {align or WIDTH[value.element] // 8}, {mask})")

    # Loops -----------------------------------------------------------------------------------------------------

    def phi(self, element: str, lanes: int = 1) -> Phi:
        """A phi node: a value that depends on the preceding block; give its sources with ``add``."""
        value = self.emit("", element, lanes)
        line = len(self._lines) - 1
        return Phi(self, line, value)


@dataclass
class Phi:
    """A phi node under construction."""

    builder: FunctionBuilder
    line: int
    value: IRValue
    sources: list[str] = field(default_factory=list)

    def add(self, value: IRValue, block: str) -> None:
        """Add the value that comes from a block."""
        self.sources.append(f"[ {value.text}, %{block} ]")
        self.builder._lines[self.line] = f"  {self.value.text} = phi {self.value.type} {', '.join(self.sources)}"


class RangeLoop:
    """``for index in range(start, stop, step)`` with values carried from one iteration to the next.

    The body is written between construction and ``end``, which takes the carried values of the next iteration;
    ``values`` are those of this iteration, and after ``end`` those of the last.
    """

    def __init__(
        self,
        b: FunctionBuilder,
        start: IRValue,
        stop: IRValue,
        step: IRValue,
        carried: list[IRValue] | tuple[IRValue, ...] = (),
    ) -> None:
        self.b, entry = b, b.block
        self._step, head = step, b.label("head")
        body, self._done = b.label("body"), b.label("done")
        b.branch(head)
        b.start(head)
        self._head = head
        self._index = b.phi(start.element)
        self._index.add(start, entry)
        self._phis = [b.phi(value.element, value.lanes) for value in carried]
        for phi, value in zip(self._phis, carried, strict=True):
            phi.add(value, entry)
        self.index = self._index.value
        self.values = [phi.value for phi in self._phis]
        b.branch_if(b.icmp("slt", self.index, stop), body, self._done)
        b.start(body)

    def end(self, *carried: IRValue) -> list[IRValue]:
        """End the body, with the next carried values; the final carried values."""
        b = self.b
        self._index.add(b.integer("add", self.index, self._step), b.block)
        for phi, value in zip(self._phis, carried, strict=True):
            phi.add(value, b.block)
        b.branch(self._head)
        b.start(self._done)
        return self.values
