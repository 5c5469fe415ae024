"""A builder for kernels of routines: argument table, loop over steps, masks."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from nxkernel.compilers.numba_cpu.codegen.llvm_ir import FunctionBuilder, IRModule, IRValue, RangeLoop


def name_of(*parts: object) -> str:
    """The name of a kernel: a hash of everything that decides its code."""
    return "nxk_" + hashlib.sha256(repr(parts).encode()).hexdigest()[:40]


class KernelBuilder:
    """A kernel under construction.

    Parameters
    ----------
    symbol : str

    Attributes
    ----------
    b : FunctionBuilder
    begin, end : IRValue
        The steps that a call runs.
    """

    def __init__(self, symbol: str) -> None:
        pointers = [("args", "ptr"), ("dims", "ptr"), ("steps", "ptr"), ("table", "ptr noalias")]
        self.module = IRModule()
        self.b = FunctionBuilder(self.module, symbol, "void", pointers, attributes="nounwind")
        self.begin = self.b.load("i64", IRValue("ptr", 1, "%args"))
        self.end = self.plus(self.begin, self.b.load("i64", IRValue("ptr", 1, "%dims")))

    def table(self, pointers: int, scalars: int) -> tuple[list[IRValue], list[IRValue]]:
        """Load the pointers and the scalar parameters of a call from its table."""
        at = [self.b.offset(IRValue("ptr", 1, "%table"), "i64", self.integer(i)) for i in range(pointers + scalars)]
        loaded = [
            self.b.load("ptr" if index < pointers else "i64", address, invariant=True)
            for index, address in enumerate(at)
        ]
        return loaded[:pointers], loaded[pointers:]

    def finish(self) -> str:
        """End the kernel; its LLVM IR."""
        self.b.do("ret void")
        self.b.finish()
        return str(self.module)

    # Whole numbers of 64 bits ----------------------------------------------------------------------------------

    def integer(self, number: int) -> IRValue:
        """A constant i64."""
        return self.b.constant("i64", number)

    def plus(self, left: IRValue, right: IRValue | int) -> IRValue:
        """An i64 sum."""
        return self._two("add", left, right)

    def minus(self, left: IRValue, right: IRValue | int) -> IRValue:
        """An i64 difference."""
        return self._two("sub", left, right)

    def times(self, left: IRValue, right: IRValue | int) -> IRValue:
        """An i64 product."""
        return self._two("mul", left, right)

    def split(self, number: IRValue, size: IRValue) -> tuple[IRValue, IRValue]:
        """Quotient and remainder of non-negative numbers."""
        quotient = self.b.integer("udiv", number, size)
        return quotient, self.minus(number, self.times(quotient, size))

    def least(self, left: IRValue, right: IRValue | int) -> IRValue:
        """The smaller of two i64."""
        right = self.integer(right) if isinstance(right, int) else right
        return self.b.intrinsic("smin", left, right)

    def _two(self, name: str, left: IRValue, right: IRValue | int) -> IRValue:
        return self.b.integer(name, left, self.integer(right) if isinstance(right, int) else right)

    # Loops and lanes -------------------------------------------------------------------------------------------

    def loop(
        self,
        start: IRValue | int,
        stop: IRValue | int,
        step: IRValue | int = 1,
        carried: list[IRValue] | tuple[IRValue, ...] = (),
    ) -> RangeLoop:
        """``for index in range(start, stop, step)``."""
        bounds = [self.integer(bound) if isinstance(bound, int) else bound for bound in (start, stop, step)]
        return RangeLoop(self.b, *bounds, carried)

    @contextmanager
    def when(self, condition: IRValue) -> Iterator[None]:
        """A context whose code runs only if a condition holds; it yields no values."""
        then, done = self.b.label("then"), self.b.label("done")
        self.b.branch_if(condition, then, done)
        self.b.start(then)
        yield
        self.b.branch(done)
        self.b.start(done)

    def mask(self, left: IRValue, lanes: int) -> IRValue:
        """A mask of the first `left` lanes; empty for negative numbers."""
        b = self.b
        left = b.intrinsic("smax", self.least(left, lanes), self.integer(0))
        narrow = b.convert("trunc", left, "i32")
        return b.icmp("ult", b.steps("i32", lanes), b.splat(narrow, lanes))
