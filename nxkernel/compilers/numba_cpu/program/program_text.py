"""The LLVM text of a program while it is written: its functions, lines and scalar parameters.

``void program(ptr pointers, ptr params)`` takes the addresses of inputs, outputs and workspace, and a table of 64-bit
scalars: the state of the thread pool, then for each step the address of its kernel, its offsets, sizes, strides and
constants. The text has no number that depends on a shape, so that a new shape is a new table for the same program, and
no name of a kernel, so that programs which differ by their kernels alone are one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from nxkernel.compilers.numba_cpu.codegen import user_functions
from nxkernel.compilers.numba_cpu.codegen.constant_bits import bits
from nxkernel.compilers.numba_cpu.codegen.elementwise import Emitter
from nxkernel.compilers.numba_cpu.codegen.llvm_ir import FunctionBuilder, IRModule, IRValue
from nxkernel.compilers.numba_cpu.program.executable import NativeProgram
from nxkernel.compilers.numba_cpu.runtime import host_calls, library_routines, threading_layer
from nxkernel.fork_safety import cached_property
from nxkernel.types import Type

POINTERS, PARAMS = IRValue("ptr", 1, "%pointers"), IRValue("ptr", 1, "%params")
_NOTHING = nullcontext()
#: The name of a program, and the size of its table, until they are known.
_NAME, _SIZE = "nxp_unnamed", "nxp_size"


#: Gives the address of something at the place in the program where it is called.
Address = Callable[[], IRValue]


@dataclass
class ProgramFunction:
    """One function of the program under construction.

    Parameters
    ----------
    b : FunctionBuilder
    stop : IRValue, optional
        For one that several threads run, where it is kept that all are to stop.
    at_end : str
        An instruction before every end of it.
    """

    b: FunctionBuilder
    stop: IRValue | None = None
    at_end: str = ""

    @cached_property
    def e(self) -> Emitter:
        """The emitter of the function's arithmetic."""
        return Emitter(self.b, inline=True)

    @cached_property
    def seen(self) -> IRValue:
        """The stack slot of when the function last read the clock for an interrupt."""
        return self.b.stack_slot("i64", 1, zero=True)

    @cached_property
    def left(self) -> IRValue:
        """The stack slot of the countdown to the next reading of the clock."""
        return self.b.stack_slot("i64", 1, zero=True)

    def end(self) -> None:
        """End the function here."""
        if self.at_end:
            self.b.do(self.at_end)
        self.b.do("ret void")


class KernelKey(NamedTuple):
    """What the address of a kernel, as a scalar parameter, is shared by: the kernel's name."""

    name: str


class StrideKey(NamedTuple):
    """What a stride, as a scalar parameter, is shared by: the buffer that it is of, and the number of elements."""

    buffer: object
    elements: int


class ProgramWriter:
    """The state shared by all writers of a program: text, scalar parameters, and the symbols it refers to.

    Attributes
    ----------
    b : FunctionBuilder
    e : Emitter
    pointers, params : IRValue
        What the program is given.
    function : ProgramFunction
        The one that is being written.
    scalars : list of int
    kernels : dict
        The kernels whose addresses are scalar parameters, by position.
    loops : bool
        Whether the program has loops of its own.
    libraries : set of Type
        Of which matrices are multiplied.
    blas : bool
        Whether BLAS has one thread anywhere in it.
    helpers : list of str
        Functions, as text, that it calls.
    readable : int or None
        How many scalar parameters LLVM may read in any case; None for all.
    """

    def __init__(self) -> None:
        self.module = IRModule()
        signature = [("pointers", "ptr"), ("params", f"ptr noalias readonly dereferenceable({_SIZE})")]
        self.function = ProgramFunction(FunctionBuilder(self.module, _NAME, "void", signature, attributes="nounwind"))
        self.scalars = [threading_layer.STATE.ctypes.data]
        self.kernels: dict[int, str] = {}
        self.libraries: set[Type] = set()
        self.blas = False
        self.calls: list[host_calls.HostRequest] = []
        self.loops = False
        self.helpers: list[str] = []
        self.readable: int | None = None
        self._keyed: dict[object, int] = {"state": 0}
        self._tags: dict[object, int] = {}
        self.pointers, self.params = POINTERS, PARAMS
        self._functions = 0

    @property
    def state(self) -> IRValue:
        """The address of the thread pool's state."""
        return self.scalar(self.scalars[0], "ptr", key="state")

    @property
    def b(self) -> FunctionBuilder:
        """The builder of the current function."""
        return self.function.b

    @property
    def e(self) -> Emitter:
        """The emitter of the current function."""
        return self.function.e

    @contextmanager
    def another(self) -> Iterator[str]:
        """A context in which another function of the program is written, to run on threads as kernels do; its name.

        Its table begins with what the program itself is given.
        """
        around, name = self.function, f"nxl_{self._functions}"
        self._functions += 1
        signature = [(parameter, "ptr") for parameter in ("first", "count", "step", "table")]
        self.function = ProgramFunction(
            FunctionBuilder(self.module, name, "void", signature, linkage="internal", attributes="nounwind")
        )
        self.b.do("%pointers = load ptr, ptr %table, align 8")
        self.b.do("%params_at = getelementptr i64, ptr %table, i64 1")
        # What can be read in any case may be read before a loop instead of in it.
        self.b.do(f"%params = load ptr, ptr %params_at, align 8, !dereferenceable !{_SIZE}")
        yield name
        self.b.finish()
        self.function = around

    def around(self, what: object) -> AbstractContextManager:
        """A context entered while a plan, a step or a kernel is written; clocks override it."""
        return _NOTHING

    def scalar(self, value: int, kind: str = "i64", key: object = None) -> IRValue:
        """Load a 64-bit scalar parameter of the program; equal keys share one."""
        index = self._keyed.get(key) if key is not None else None
        if index is None:
            index = len(self.scalars)
            self.scalars.append(value)
            if key is not None:
                self._keyed[key] = index
        return self.b.load(kind, self.b.offset(PARAMS, "i64", self.integer(index)), invariant=True)

    def kernel(self, name: str) -> IRValue:
        """The address of a kernel, a parameter that is set when the program is linked."""
        address = self.scalar(0, "ptr", key=KernelKey(name))
        self.kernels[self._keyed[KernelKey(name)]] = name
        return address

    def alias_metadata(self, tag: object) -> str:
        """LLVM alias metadata for a memory access with a tag: accesses with other tags do not alias it."""
        if tag is None:
            return ""
        number = self._tags.setdefault(tag, len(self._tags))
        return f", !alias.scope !own{number}, !noalias !others{number}"

    def _metadata(self, text: str) -> str:
        """The text with its alias scopes added as metadata."""
        count = len(self._tags)
        if not count:
            return text
        # 0 and 1 are taken; this is the domain, then come a scope and its two lists for each.
        lines = ["!2 = distinct !{!2}"]
        lines += [f"!{3 + k} = distinct !{{!{3 + k}, !2}}" for k in range(count)]
        for k in range(count):
            own, rest = 3 + count + 2 * k, 4 + count + 2 * k
            others = ", ".join(f"!{3 + other}" for other in range(count) if other != k)
            lines += [f"!{own} = !{{!{3 + k}}}", f"!{rest} = !{{{others}}}"]
            text = re.sub(rf"!own{k}\b", f"!{own}", text)
            text = re.sub(rf"!others{k}\b", f"!{rest}", text)
        return "\n".join([text, *lines])

    def constant(self, number: complex, type_: Type) -> IRValue:
        """Load a constant, in the form that memory holds, from the scalar parameters."""
        return self.scalar(bits(number, type_))

    def integer(self, number: int) -> IRValue:
        """A constant i64."""
        return self.b.constant("i64", number)

    def further(self, base: IRValue, offset: IRValue) -> IRValue:
        """An address plus an offset in bytes."""
        return self.b.offset(base, "i8", offset)

    def pointer(self, index: int) -> IRValue:
        """One of the array addresses that the program is called with."""
        return self.b.load("ptr", self.b.offset(POINTERS, "ptr", self.integer(index)), invariant=True)

    def leave_if(self, condition: IRValue) -> None:
        """Return from the program if a condition holds, since an error is to be raised."""
        stop, go_on = self.b.label("stop"), self.b.label("on")
        self.b.branch_if(condition, stop, go_on)
        self.b.start(stop)
        if self.function.stop is not None:
            self.b.do(f"store atomic i64 1, {self.function.stop} monotonic, align 8")
        self.function.end()
        self.b.start(go_on)

    def raise_if(self, failure: IRValue, names: Sequence[str]) -> None:
        """Return from the program if one of the named user functions has left an error at an address."""
        call = user_functions.Failure(names)
        self.calls.append(call)
        check = user_functions.define_check(self.module)
        self.leave_if(self.b.call(check, "i1", 1, self.scalar(call.number), failure))

    def share(self, kernel: IRValue, count: IRValue, least: IRValue, table: IRValue) -> None:
        """Run a kernel on the threads, each of which takes at least `least` steps at a time."""
        self.module.declare("nxk_run", "void", ["ptr", "i64", "i64", "ptr", "ptr"])
        self.b.do(f"call void @nxk_run({kernel}, {count}, {least}, {table}, {self.state})")

    def copy(self, target: IRValue, source: IRValue, size: int) -> None:
        """Emit a memcpy."""
        self.module.declare("llvm.memcpy.p0.p0.i64", "void", ["ptr", "ptr", "i64", "i1"])
        self.b.do(f"call void @llvm.memcpy.p0.p0.i64({target}, {source}, {self.scalar(size)}, i1 false)")

    def _sized(self, text: str) -> str:
        """The text with the size of the table of scalar parameters, which metadata says in a node of its own."""
        size = 8 * (self.readable or len(self.scalars))
        text = text.replace(f"!dereferenceable !{_SIZE}", "!dereferenceable !1")
        return "\n".join([text.replace(_SIZE, str(size)), f"!1 = !{{i64 {size}}}"])

    def finish(self) -> NativeProgram:
        """The finished program."""
        self.function.end()
        self.b.finish()
        helpers = [*self.helpers, *(library_routines.matmul_text(type_) for type_ in sorted(self.libraries))]
        helpers += [library_routines.control_text()] if self.blas else []
        text = "\n".join([self._metadata(self._sized(str(self.module))), *helpers, ""])
        symbol = f"nxp_{hashlib.sha256(text.encode()).hexdigest()[:40]}"
        scalars = np.array(
            [scalar - (1 << 64) if scalar >= 1 << 63 else scalar for scalar in self.scalars], dtype=np.int64
        )
        return NativeProgram(
            symbol,
            text.replace(_NAME, symbol),
            scalars,
            frozenset(self.libraries),
            self.blas,
            tuple(self.calls),
            self.loops,
            self.kernels,
        )
