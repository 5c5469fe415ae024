"""Memory between pages that cannot be touched: a program that leaves one of its buffers ends its process.

Inputs, outputs, parameter tables, and every value in a program's workspace, in loops and branches too, get pages of
their own. A buffer ends where a page ends, or begins where one begins, so that the first byte beyond it is out of
reach.
"""

import contextlib
import ctypes
import dataclasses
import mmap

import numpy as np
import pytest

from nxkernel.compilers.numba_cpu import compiler
from nxkernel.compilers.numba_cpu.program import control_flow, executable
from nxkernel.compilers.numba_cpu.runtime import native_call, workspace
from nxkernel.compilers.plan import loop_buffers, planner, program_plan
from nxkernel.compilers.plan.buffer_assignment import bytes_of
from nxkernel.compilers.plan.locations import Location, MemoryKind

PAGE = mmap.PAGESIZE
_NONE, _READ, _WRITE = 0, 1, 3
_PRIVATE = 0x22

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


def pages(size):
    """Bytes of the pages that hold so many bytes: one page at least."""
    return max(-(-size // PAGE), 1) * PAGE


class Region:
    """Address space that cannot be touched but where it is opened; given back when nobody has it any more."""

    def __init__(self, size):
        self.size = pages(size)
        self.address = _libc.mmap(None, self.size, _NONE, _PRIVATE, -1, 0)
        assert self.address not in (None, ctypes.c_void_p(-1).value), "no address space"

    def __del__(self):
        _libc.munmap(self.address, self.size)

    def protect(self, first, size, how=_WRITE):
        assert not first % PAGE
        assert _libc.mprotect(self.address + first, pages(size), how) == 0

    def array(self, first, shape, dtype):
        size = max(int(np.prod(shape)) * dtype.itemsize, 1)
        held = (ctypes.c_char * size).from_address(self.address + first)
        held.region = self
        return np.frombuffer(held, np.uint8, size)[: size if np.prod(shape) else 0].view(dtype).reshape(shape)


def guarded(shape, dtype, at_end=True):
    """An array in pages of its own."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape)) * dtype.itemsize
    region = Region(pages(size) + 2 * PAGE)
    region.protect(PAGE, size)
    return region.array(PAGE + (pages(size) - size if at_end else 0), shape, dtype)


def guarded_copy(array, at_end=True, read_only=True):
    """A copy of an array in pages of its own, which may be read and not written."""
    made = guarded(array.shape, array.dtype, at_end)
    made[...] = array
    if read_only and made.nbytes:
        first = made.ctypes.data // PAGE * PAGE
        assert _libc.mprotect(first, pages(made.nbytes), _READ) == 0
    return made


class Layout:
    """Puts every value of a workspace between pages that cannot be touched, and opens what lies between them.

    Parameters
    ----------
    at_end : bool
        Whether values end where a page ends; they begin where one begins otherwise.
    """

    def __init__(self, at_end):
        self.at_end = at_end
        self._placed, self._loop_buffers_of = planner.placed, planner.loop_buffers_of
        #: By the identity of a plan's places: the offset and the size of each value; the dictionary is kept alive.
        self._values = {}

    def _spread(self, sizes):
        """Offsets of values, each in pages of its own, and the bytes of all."""
        offsets, total = [], PAGE
        for size in sizes:
            offsets.append(total + (pages(size) - size if self.at_end else 0))
            total += pages(size) + PAGE
        return offsets, total

    def placed(self, steps, results, root, numbers):
        """As `memory.placed`, where no two values share a page, and none borrows an output."""
        place, _ = self._placed(steps, results, root, numbers)
        nodes = [node for node, (kind, _) in place.items() if kind is not MemoryKind.SCALAR]
        offsets, total = self._spread([bytes_of(node) for node in nodes])
        place.update({node: Location.workspace(offset) for node, offset in zip(nodes, offsets, strict=True)})
        self._values[id(place)] = place, dict(zip(nodes, offsets, strict=True))
        return place, total if nodes else 0

    def loop_buffers_of(self, node, results, parts, shared):
        """As `loop_buffers.loop_buffers_of`, where no two buffers share a page."""
        made = self._loop_buffers_of(node, results, parts, shared)
        work = max(part.workspace for part in parts)
        sizes = {("results", k): bytes_of(node.spec[k]) for k in made.results}
        sizes |= {("fresh", k): bytes_of(parts[1].arrays[k]) for k in made.fresh}
        sizes |= {("copies", k): bytes_of(node.operands[1 + k]) for k in made.copies}
        sizes |= {("spare", k): bytes_of(node.operands[k]) for k in made.spare}
        offsets, total = self._spread([pages(work), *sizes.values()])
        groups = {"results": {}, "fresh": {}, "copies": {}, "spare": {}}
        for (group, k), offset in zip(sizes, offsets[1:], strict=True):
            groups[group][k] = offset
        return loop_buffers.LoopBuffers(offsets[0], **groups, size=total if sizes or work else 0)

    def open(self, part, region, base=0):
        """Open the memory of each value of a plan, and of the parts of its loops and branches."""
        _, values = self._values[id(part.place)]
        controls = {step.work.scratch: step.work for step in part.steps if isinstance(step.work, program_plan.Control)}
        for node, offset in values.items():
            if node not in controls:
                _open(region, base + offset, bytes_of(node))
                continue
            work = controls[node]
            inner = self.loop_buffers_of(work.node, work.results, work.parts, work.shared)
            start = base + offset
            for k, first in inner.results.items():
                _open(region, start + first, bytes_of(work.node.spec[k]))
            for k, first in inner.fresh.items():
                _open(region, start + first, bytes_of(work.parts[1].arrays[k]))
            for k, first in inner.copies.items():
                _open(region, start + first, bytes_of(work.node.operands[1 + k]))
            for k, first in inner.spare.items():
                _open(region, start + first, bytes_of(work.node.operands[k]))
            for each in work.parts:
                self.open(each, region, start + inner.work)


def _open(region, first, size):
    if size:
        page = first // PAGE * PAGE
        region.protect(page, first + size - page)


@dataclasses.dataclass
class Guards:
    """Where inputs and outputs of the next run lie, and what ran.

    Parameters
    ----------
    at_end : bool
        Whether they end where a page ends; a workspace stays as it was compiled.
    programs, steps : int
        Runs, and the steps of their plans.
    """

    at_end: bool
    programs: int = 0
    steps: int = 0


@contextlib.contextmanager
def guards(at_end=True):
    """What is compiled within runs in guarded memory.

    Parameters
    ----------
    at_end : bool
        Whether buffers end where a page ends; they begin where one begins otherwise.

    Yields
    ------
    Guards
    """
    layout, told = Layout(at_end), Guards(at_end)

    class Guarded(executable.CpuExecutable):
        def __init__(self, *given):
            super().__init__(*given)
            # Calls that allocate the one output by themselves take the long way.
            self.single = None

        def run(self, arrays):
            def take(size):
                region = Region(size + PAGE)
                layout.open(self.plan, region)
                return region.array(0, (size,), np.dtype(np.uint8))

            changed = {place for place, _ in self.graph.updates}
            given = [guarded_copy(x, told.at_end, k not in changed) for k, x in enumerate(arrays)]
            with pytest.MonkeyPatch.context() as inner:
                inner.setattr(workspace, "take", take)
                inner.setattr(workspace, "give_back", lambda memory: None)
                results = [result.copy() for result in super().run(given)]
            for place in changed:
                np.copyto(arrays[place], given[place])
            told.programs += 1
            told.steps += _steps(self.plan)
            return results

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planner, "placed", layout.placed)
        patch.setattr(planner, "loop_buffers_of", layout.loop_buffers_of)
        patch.setattr(control_flow, "loop_buffers_of", layout.loop_buffers_of)
        patch.setattr(executable, "_allocate", lambda shape, dtype: guarded(shape, dtype, told.at_end))
        call = native_call.callable_program
        patch.setattr(
            native_call,
            "callable_program",
            lambda at, words, used: call(at, guarded_copy(words, read_only=False), used),
        )
        patch.setattr(compiler, "CpuExecutable", Guarded)
        yield told


def _steps(part):
    inner = [each for step in part.steps if isinstance(step.work, program_plan.Control) for each in step.work.parts]
    return len(part.steps) + sum(map(_steps, inner))
