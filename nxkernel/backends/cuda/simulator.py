"""Running kernels on the host with the names of Numba's CUDA simulator; threads of a block are generators that take
turns.

Numba's own scheduler starts a system thread for each thread of each block, 0.1 ms each, and polls them. Here a kernel
without barriers is called for one thread after the other; one with barriers becomes a generator that gives way at
each of them. What is left is the price of Python: about a microsecond for an operation.
"""

from __future__ import annotations

import ast
import contextlib
import itertools
import linecache
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

import numpy as np
from numba.cuda.np import numpy_support  # pyright: ignore[reportMissingImports]  found by a hook of numba-cuda
from numba.cuda.simulator.kernelapi import Dim3, FakeCUDAModule
from numba.cuda.types import Type as NumbaType

from nxkernel import fork_safety

#: The calls at which a thread waits for others: all of its block, or of its warp.
BLOCK = frozenset({"syncthreads", "syncthreads_and", "syncthreads_count", "syncthreads_or"})
WARP = frozenset({"shfl_down_sync", "shfl_sync", "shfl_up_sync", "shfl_xor_sync", "syncwarp"})
WIDTH = 32

#: What memory holds that nobody has written: a large negative float, a large negative integer, no small number.
GARBAGE = 0xFB

_lock = fork_safety.rlock()


class SimulatedKernel:
    """A kernel as a Python function or generator.

    Parameters
    ----------
    name, text, symbol : str
        Of the source.
    names : mapping of str to object
        What the names in the text mean.
    """

    def __init__(self, name: str, text: str, symbol: str, names: Mapping[str, Any]):
        tree = ast.parse(text)
        waits = _Waits()
        tree = ast.fix_missing_locations(waits.visit(tree))
        # Tracebacks show lines of the text under this name.
        file = f"<{symbol}>"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        self.waits = waits.found
        self.cuda = Names()
        scope = {**names, "cuda": self.cuda}
        exec(compile(tree, file, "exec"), scope)
        self.function: Callable[..., Any] = scope[name]

    def run(self, grid: Sequence[int], block: Sequence[int], shared: int, arguments: Sequence[Any]) -> None:
        """Run all threads of all blocks, block after block."""
        cuda, function = self.cuda, self.function
        with _lock, np.errstate(all="ignore"):
            cuda.gridDim, cuda.blockDim = Dim3(*grid), Dim3(*block)
            places = [Dim3(x, y, z) for z, y, x in itertools.product(*map(range, reversed(block)))]
            for z, y, x in itertools.product(*map(range, reversed(grid))):
                cuda.blockIdx, cuda.shared = Dim3(x, y, z), _Shared(shared)
                if self.waits:
                    _take_turns(cuda, places, [function(*arguments) for _ in places])
                else:
                    for number, thread in enumerate(places):
                        cuda.threadIdx, cuda.laneid = thread, number % WIDTH
                        function(*arguments)


class Names(FakeCUDAModule):
    """The ``cuda`` module of a kernel: Numba's simulator, with thread indices and shared memory of ours."""

    # Properties of the base, which asks the system's thread.
    blockIdx = threadIdx = laneid = shared = None  # noqa: N815

    def __init__(self) -> None:
        super().__init__((1, 1, 1), (1, 1, 1), 0)


class _Shared:
    """The shared memory of a block: one array for each place in the text that allocates one."""

    def __init__(self, nbytes: int):
        self._arrays: dict[Any, np.ndarray] = {}
        self._dynamic = np.full(nbytes, GARBAGE, np.uint8)

    def array(self, shape: Any, dtype: Any, alignment: int | None = None) -> np.ndarray:
        dtype = numpy_support.as_dtype(dtype) if isinstance(dtype, NumbaType) else np.dtype(dtype)
        if shape == 0:
            return self._dynamic[: self._dynamic.size // dtype.itemsize * dtype.itemsize].view(dtype)
        frame = sys._getframe(1)
        key = frame.f_lineno, frame.f_lasti
        if key not in self._arrays:
            count = int(np.prod(shape)) * dtype.itemsize
            self._arrays[key] = np.full(count, GARBAGE, np.uint8).view(dtype).reshape(shape)
        return self._arrays[key]


class _Waits(ast.NodeTransformer):
    """Rewrites each call that waits for other threads as a ``yield``."""

    def __init__(self) -> None:
        self.found = False

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node.func:
            case ast.Attribute(ast.Name("cuda"), name) if name in BLOCK | WARP:
                self.found = True
                return ast.Yield(ast.Tuple([ast.Constant(name), *node.args], ast.Load()))
        return node


def _take_turns(cuda: Names, places: Sequence[Dim3], threads: Sequence[Generator[tuple, Any, Any]]) -> None:
    """Run the threads of a block: each until it waits, and on when all threads that it waits for have arrived."""
    answers: dict[int, Any] = dict.fromkeys(range(len(threads)))
    waiting: dict[int, tuple] = {}
    while answers:
        for number, answer in answers.items():
            cuda.threadIdx, cuda.laneid = places[number], number % WIDTH
            with contextlib.suppress(StopIteration):
                waiting[number] = threads[number].send(answer)
        answers = _released(waiting)
        for number in answers:
            del waiting[number]


def _released(waiting: Mapping[int, tuple]) -> dict[int, Any]:
    """The threads that can go on, with the answer that each gets."""
    warps: dict[int, list[int]] = {}
    for number in waiting:
        warps.setdefault(number // WIDTH, []).append(number)
    going: dict[int, Any] = {}
    for members in warps.values():
        names = {waiting[number][0] for number in members}
        if names & WARP:
            if len(names) > 1:
                raise RuntimeError(f"threads of one warp wait at different places: {', '.join(sorted(names))}")
            going |= _exchanged(names.pop(), {number: waiting[number] for number in members})
    if going or not waiting:
        return going
    names = {request[0] for request in waiting.values()}
    if len(names) > 1:
        raise RuntimeError(f"threads of one block wait at different places: {', '.join(sorted(names))}")
    return dict.fromkeys(waiting, _agreed(names.pop(), [request[1:] for request in waiting.values()]))


def _agreed(name: str, arguments: Sequence[tuple]) -> int | None:
    if name == "syncthreads":
        return None
    votes = [bool(vote) for (vote,) in arguments]
    return int({"syncthreads_and": all, "syncthreads_or": any, "syncthreads_count": sum}[name](votes))


def _exchanged(name: str, members: Mapping[int, tuple]) -> dict[int, Any]:
    """The answers to the lanes of a warp: None, or other lanes' values; its own for a lane that does not exist."""
    if name == "syncwarp":
        return dict.fromkeys(members)
    answers = {}
    for number, (_, _, value, lane) in members.items():
        other = {
            "shfl_sync": number // WIDTH * WIDTH + int(lane) % WIDTH,
            "shfl_up_sync": number - int(lane),
            "shfl_down_sync": number + int(lane),
            "shfl_xor_sync": number ^ int(lane),
        }[name]
        answers[number] = members[other][2] if other // WIDTH == number // WIDTH and other in members else value
    return answers
