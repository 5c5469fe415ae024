"""An allocator of executable memory: machine code of many programs shares a few large mappings.

The system counts mappings, and LLVM ends the process that asks for more than it allows; two for each program would be
65,530 after a day. Code is never moved. What is free in a slab is a list outside of it: code may be read and run, and
is written to only while something is placed there. A child process has copies of its parent's slabs.
"""

from __future__ import annotations

import bisect
import ctypes
import errno
import functools
import mmap
import os
from collections import deque
from pathlib import Path

from nxkernel import fork_safety
from nxkernel.errors import CompilationError, message

#: Bytes of a slab, unless something needs more.
SLAB = 1 << 20
#: What blocks begin at multiples of: lines of the cache, and vectors.
ALIGNMENT = 64
#: Mappings that have to be free before LLVM is asked for something.
SPARE = 16

_READ, _WRITE, _RUN = mmap.PROT_READ, mmap.PROT_WRITE, mmap.PROT_EXEC
_FAILED = ctypes.c_void_p(-1).value

_lock = fork_safety.lock()
_slabs: list[_Slab] = []
#: Blocks that nobody holds any more: the collector finds them at any moment, in any thread.
_released: deque[CodeBlock] = deque()


class CodeBlock:
    """A block of memory for machine code.

    Attributes
    ----------
    address, size : int
    """

    __slots__ = ("_slab", "address", "size")

    def __init__(self, slab: _Slab, address: int, size: int) -> None:
        self._slab, self.address, self.size = slab, address, size

    def write(self, contents: bytes | bytearray) -> None:
        """Write machine code, before it runs; other code in the same mapping may run meanwhile."""
        with _lock:
            _protect(self._slab, _READ | _WRITE | _RUN)
            ctypes.memmove(self.address, bytes(contents), len(contents))
            _protect(self._slab, _READ | _RUN)

    def release(self) -> None:
        """Free the block, effective with the next allocation; its code must not run any more.

        The collector calls this at any moment, in any thread; there it can wait for nothing.
        """
        _released.append(self)


class _Slab:
    """A mapping and its free ranges, in order.

    Each change is one assignment, which an interrupt cannot cut in two.
    """

    __slots__ = ("address", "free", "size")

    def __init__(self, address: int, size: int) -> None:
        self.address, self.size = address, size
        self.free = [(address, address + size)]

    def take(self, size: int) -> int | None:
        """Allocate so many bytes; the address, or None if there is no free range that large."""
        for index, (start, end) in enumerate(self.free):
            if end - start >= size:
                self.free[index : index + 1] = [(start + size, end)] if end - start > size else []
                return start
        return None

    def put(self, start: int, end: int) -> None:
        """Free a range, merged with free neighbours."""
        first = last = bisect.bisect(self.free, (start, end))
        if first and self.free[first - 1][1] == start:
            first -= 1
            start = self.free[first][0]
        if last < len(self.free) and self.free[last][0] == end:
            end = self.free[last][1]
            last += 1
        self.free[first:last] = [(start, end)]

    @property
    def is_empty(self) -> bool:
        """Whether all of the mapping is free."""
        return self.free == [(self.address, self.address + self.size)]


def take(size: int) -> CodeBlock:
    """Allocate memory for so many bytes of machine code.

    Parameters
    ----------
    size : int

    Returns
    -------
    CodeBlock
        It begins at a multiple of :data:`ALIGNMENT`, and is its owner's until it is released.

    Raises
    ------
    MemoryError
        Where the system has no more of it, or of mappings.
    """
    size = max(-(-size // ALIGNMENT), 1) * ALIGNMENT
    with _lock:
        _put_back()
        for slab in _slabs:
            address = slab.take(size)
            if address is not None:
                return CodeBlock(slab, address, size)
        slab = _new(size)
        _slabs.append(slab)
        return CodeBlock(slab, slab.take(size), size)


def taken() -> tuple[int, int]:
    """The number of mappings, and of allocated bytes in them."""
    give_back()
    with _lock:
        free = sum(end - start for slab in _slabs for start, end in slab.free)
        return len(_slabs), sum(slab.size for slab in _slabs) - free


def give_back() -> None:
    """Free the blocks that were released since the last allocation."""
    with _lock:
        _put_back()


def _put_back() -> None:
    """Free released blocks; of empty mappings one is kept for the next program."""
    while _released:
        block = _released.popleft()
        slab = block._slab
        if slab not in _slabs:
            # The parent's of this process.
            continue
        slab.put(block.address, block.address + block.size)
        if slab.is_empty and sum(other.is_empty for other in _slabs) > 1:
            _slabs.remove(slab)
            _system().munmap(slab.address, slab.size)


@fork_safety.in_child
def _begin_own_slabs() -> None:
    """After a fork, have the child allocate from mappings of its own."""
    # Another thread of the parent may have been about to change one of them.
    for slab in _slabs:
        _protect(slab, _READ | _RUN)
    _slabs.clear()
    _released.clear()


# The system ----------------------------------------------------------------------------------------------------------


@functools.cache
def _system() -> ctypes.CDLL:
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    library.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    library.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return library


def _map(size: int, protection: int) -> int:
    address = _system().mmap(None, size, protection, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    if address == _FAILED:
        raise _refused(ctypes.get_errno())
    return address


def _new(size: int) -> _Slab:
    fork_safety.watch()
    size = max(-(-size // mmap.PAGESIZE) * mmap.PAGESIZE, SLAB)
    return _Slab(_map(size, _READ | _RUN), size)


def _protect(slab: _Slab, protection: int) -> None:
    if _system().mprotect(slab.address, slab.size, protection):
        raise _refused(ctypes.get_errno())


def check_mappings() -> None:
    """Check, in some 10 microseconds, that the system allows this process a few more mappings.

    Raises
    ------
    MemoryError
        Where it has not: LLVM would end the process.
    """
    size = SPARE * mmap.PAGESIZE
    address = _map(size, 0)
    try:
        # Pages of another protection than those between them are a mapping each, and so are those.
        for far in range(0, size, 2 * mmap.PAGESIZE):
            if _system().mprotect(address + far, mmap.PAGESIZE, _READ):
                raise _refused(ctypes.get_errno())
    finally:
        _system().munmap(address, size)


def _refused(number: int) -> Exception:
    if number in (errno.EACCES, errno.EPERM):
        return CompilationError(
            message(
                f"this system does not let the process make machine code: {os.strerror(number)}.",
                'Run the definition with compiler="evaluator", which makes none.',
            )
        )
    return MemoryError(
        message(
            f"there is no room for more machine code: {_shortage()}.",
            "Clear what is not needed: definitions by their clear_cache(), arrays over files (np.memmap) by del; "
            "or start the kernel anew.",
        )
    )


def _shortage() -> str:
    """The reason why no memory can be mapped."""
    try:
        limit = int(Path("/proc/sys/vm/max_map_count").read_text())
        with open("/proc/self/maps", "rb") as file:
            count = sum(1 for _ in file)
    except (OSError, ValueError):
        count, limit = 0, 0
    if limit and count > limit - 2 * SPARE:
        return f"this process has {count:,} mappings of memory, and the system allows {limit:,} (vm.max_map_count)"
    return "the system gives this process no more memory"
