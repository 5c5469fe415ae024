"""Interrupts: loops ask Python from time to time whether somebody wants them to stop."""

from __future__ import annotations

import platform

from nxkernel.compilers.numba_cpu.ir import Builder, Module, Value

#: Turns of a short loop between two looks at the clock.
TURNS = 1 << 12
#: What the clock counts in about a tenth of a second: cycles, or nanoseconds.
CYCLES, NANOSECONDS = 1 << 28, 100_000_000
_HAS_COUNTER = platform.machine().lower() in ("x86_64", "amd64")


class Poll:
    """What one loop does after each turn.

    Parameters
    ----------
    writer : Writer
    heavy : bool
        Whether a turn takes so long that a look at the clock is nothing beside it.
    """

    def __init__(self, writer, heavy: bool) -> None:
        self.w, self.b, self.heavy = writer, writer.b, heavy
        if not heavy:
            self.left = self.b.room("i64", 1)
            self.b.store(self.w.integer(TURNS), self.left)

    def write(self) -> None:
        """Look, and leave the program when it is to stop."""
        b, go_on = self.b, self.b.label("later")
        if not self.heavy:
            look = b.label("look")
            left = b.integer("sub", b.load("i64", self.left), self.w.integer(1))
            b.store(left, self.left)
            b.branch_if(b.icmp("sgt", left, self.w.integer(0)), go_on, look)
            b.start(look)
            b.store(self.w.integer(TURNS), self.left)
        self.w.leave_if(b.call(_define(self.w.module), "i1", 1, self.w.seen()))
        b.branch(go_on)
        b.start(go_on)


def _define(module: Module) -> str:
    """The function that looks at the clock, and asks Python when enough time has gone by."""
    name = "nxk_poll"
    if name in module.defined:
        return name
    b = Builder(module, name, "i1", [("seen", "ptr")], linkage="internal", attributes="nounwind noinline")
    seen, zero = Value("ptr", 1, "%seen"), b.constant("i64", 0)
    now = _clock(module, b)
    wait = b.constant("i64", CYCLES if _HAS_COUNTER else NANOSECONDS)
    soon = b.icmp("ult", b.integer("sub", now, b.load("i64", seen)), wait)
    early, ask = b.label("early"), b.label("ask")
    b.branch_if(soon, early, ask)
    b.start(ask)
    b.store(now, seen)
    module.declare("nxk_signals", "i64", [])
    b.do(f"ret i1 {b.icmp('ne', b.call('nxk_signals', 'i64', 1), zero).text}")
    b.start(early)
    b.do("ret i1 false")
    b.finish()
    return name


def _clock(module: Module, b: Builder) -> Value:
    if _HAS_COUNTER:
        module.declare("llvm.readcyclecounter", "i64", [])
        return b.call("llvm.readcyclecounter", "i64", 1)
    module.declare("clock_gettime", "i32", ["i32", "ptr"])
    time = b.room("i64", 2)
    b.call("clock_gettime", "i32", 1, b.constant("i32", 1), time)
    seconds, rest = b.load("i64", time), b.load("i64", b.offset(time, "i64", b.constant("i64", 1)))
    return b.integer("add", b.integer("mul", seconds, b.constant("i64", 1_000_000_000)), rest)
