"""The program of a graph: one native function that runs its kernels and library calls in order.

``void program(ptr pointers, ptr params)`` takes the addresses of inputs, outputs and workspace, and a table of 64-bit
words: the state of the thread pool, then for each step its offsets, sizes, strides and constants. The text has no
number that depends on a shape, so that a new shape is a new table for the same program.
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass

import numpy as np

from nxkernel import shapes
from nxkernel.backends.numpy import cast_number
from nxkernel.compilers.canonical import Bound
from nxkernel.compilers.matmul import Product
from nxkernel.compilers.numba_cpu import host, libraries, runtime, threads
from nxkernel.compilers.numba_cpu.routines import HostCall
from nxkernel.compilers.plan import Plan, Whole
from nxkernel.graph.expr import Expr
from nxkernel.types import Type


@dataclass(frozen=True)
class Program:
    """A program's text and the words of one call of it.

    Parameters
    ----------
    symbol : str
    text : str
        LLVM IR.
    params : numpy.ndarray
        64-bit words.
    libraries : frozenset of Type
        The types of which it multiplies matrices.
    calls : tuple of host.Call
        What it asks Python for; they must live as long as the program may run.
    """

    symbol: str
    text: str
    params: np.ndarray
    libraries: frozenset[Type]
    calls: tuple[host.Call, ...]


class _Writer:
    def __init__(self, plan: Plan, inputs: int) -> None:
        self.plan = plan
        self.inputs, self.workspace = inputs, inputs + len(plan.arrays)
        self.lines: list[str] = []
        self.words: list[int] = [threads.STATE.ctypes.data]
        self.declared: dict[str, str] = {}
        self.libraries: set[Type] = set()
        self.calls: list[host.Call] = []
        self.count = 0

    def name(self) -> str:
        self.count += 1
        return f"%t{self.count}"

    def emit(self, text: str) -> str:
        name = self.name()
        self.lines.append(f"  {name} = {text}")
        return name

    def word(self, value: int, kind: str = "i64") -> str:
        """A word of the table, read where it is needed."""
        place = self.emit(f"getelementptr i64, ptr %params, i64 {len(self.words)}")
        self.words.append(value)
        return self.emit(f"load {kind}, ptr {place}")

    def pointer(self, node: Expr, offset: int) -> str:
        """The address of a value's memory, `offset` bytes on."""
        kind, where = self.plan.place[node]
        index = {"input": where, "output": self.inputs + where, "work": self.workspace}[kind]
        base = self.emit(f"load ptr, ptr {self.emit(f'getelementptr ptr, ptr %pointers, i64 {index}')}")
        moved = self.word(offset + (where if kind == "work" else 0))
        return self.emit(f"getelementptr i8, ptr {base}, i64 {moved}")

    def nest(self, bound: Bound) -> None:
        words = [word if isinstance(word, int) else _bits(*word) for word in bound.words]
        # Steps that must follow each other are no work worth sharing.
        self.run(bound.nest.key, bound.buffers, words, bound.count, 0 if bound.in_order else bound.work)
        self.declared[bound.nest.key] = f"declare void @{bound.nest.key}(ptr, ptr, ptr, ptr)"

    def run(self, kernel: str, buffers: list[tuple[Expr, int]], words: list[int], count: int, work: int) -> None:
        """Fill a table with the addresses of buffers and with words, and run a kernel on it; no work is not shared."""
        table = self.table(buffers, len(words))
        number, grain = self.word(count), self.word(max(1, runtime.WORTH_SHARING // work if work else count))
        first = self.emit(f"getelementptr i64, ptr %params, i64 {len(self.words)}")
        rest = self.emit(f"getelementptr i64, ptr {table}, i64 {len(buffers)}")
        self.words += words
        self.lines.append(
            f"  call void @llvm.memcpy.p0.p0.i64(ptr {rest}, ptr {first}, i64 {8 * len(words)}, i1 false)"
        )
        self.lines.append(f"  call void @nxk_run(ptr @{kernel}, i64 {number}, i64 {grain}, ptr {table}, ptr %state)")
        self.declared["nxk_run"] = "declare void @nxk_run(ptr, i64, i64, ptr, ptr)"
        self.declared["memcpy"] = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"

    def table(self, buffers: list[tuple[Expr, int]], words: int) -> str:
        """A table on the stack with the addresses of buffers, and room for words behind them."""
        table = self.name()
        self.lines.insert(0, f"  {table} = alloca [{len(buffers) + words} x i64], align 64")
        for place, (owner, offset) in enumerate(buffers):
            address = self.pointer(owner, offset)
            self.lines.append(f"  store ptr {address}, ptr {self.emit(f'getelementptr i64, ptr {table}, i64 {place}')}")
        return table

    def whole(self, whole: Whole) -> None:
        for launch in whole.routine.launches:
            if isinstance(launch, HostCall):
                self.host(launch, whole)
                continue
            memory = [self.memory(whole, *place) for place in launch.memory]
            self.run(launch.symbol, memory, list(launch.words), launch.count, launch.work)
            self.declared[launch.symbol] = f"declare void @{launch.symbol}(ptr, ptr, ptr, ptr)"

    @staticmethod
    def memory(whole: Whole, kind: str, number: int) -> tuple[Expr, int]:
        if kind == "scratch":
            return whole.scratch, number
        return (whole.node.operands[number] if kind == "operand" else whole.results[number]), 0

    def host(self, launch: HostCall, whole: Whole) -> None:
        results = [result for result in whole.results if result is not None]
        specs = [result.spec if result is not None else None for result in whole.results]
        call = host.Call(launch.run, [operand.spec for operand in whole.node.operands], specs)
        self.calls.append(call)
        table = self.table([(node, 0) for node in (*whole.node.operands, *results)], 0)
        self.lines.append(f"  call void @nxk_host(i64 {self.word(call.number)}, ptr {table})")
        self.declared["nxk_host"] = "declare void @nxk_host(i64, ptr)"

    def product(self, product: Product) -> None:
        self.libraries.add(product.type)
        rows, columns = libraries.tiles(product)
        down, across = shapes.ceil_div(product.rows, rows), shapes.ceil_div(product.columns, columns)
        words = [product.rows, product.columns, product.depth]
        words += [int(n) for side in (product.left, product.right) for n in (side.step, side.batch_step, side.turned)]
        words += [rows, columns, down, across]
        work = 2 * rows * columns * product.depth // 8
        memory = [(node, 0) for node in (product.left.base, product.right.base, product.node)]
        self.lines.append("  call void @nxk_blas_alone(ptr %state)")
        self.run(f"nxk_matmul_{product.type}", memory, words, product.batch * down * across, work)
        self.lines.append("  call void @nxk_blas_back(ptr %state)")

    def text(self, symbol: str) -> str:
        head = [
            f"define void @{symbol}(ptr %pointers, ptr %params) nounwind {{",
            "entry:",
            "  %state = load ptr, ptr %params",
        ]
        helpers = [libraries.matmul_text(type_) for type_ in sorted(self.libraries)]
        helpers += [libraries.control_text()] if self.libraries else []
        return "\n".join([*head, *self.lines, "  ret void", "}", *self.declared.values(), *helpers, ""])


def _bits(number: complex, type_: Type) -> int:
    """A constant of a kernel as the 64-bit word that it reads."""
    value = cast_number(number, type_)
    if type_.bits == 16 and type_.is_float:
        value = value.astype(np.float32)
    return struct.unpack("<q", value.tobytes().ljust(8, b"\0"))[0]


def write(plan: Plan, inputs: int) -> Program:
    """The program of a plan.

    Parameters
    ----------
    plan : Plan
    inputs : int
        How many arrays it takes before those that it writes.
    """
    writer = _Writer(plan, inputs)
    for step in plan.steps:
        if isinstance(step.work, Bound):
            writer.nest(step.work)
        elif isinstance(step.work, Whole):
            writer.whole(step.work)
        else:
            writer.product(step.work)
    digest = hashlib.sha256(writer.text("program").encode()).hexdigest()[:40]
    symbol = f"nxp_{digest}"
    words = np.array(writer.words, dtype=np.int64)
    return Program(symbol, writer.text(symbol), words, frozenset(writer.libraries), tuple(writer.calls))
