"""Kernel sources, and launches of them with everything but addresses."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from nxkernel.fork_safety import cached_property
from nxkernel.graph.expr import Expr


class MemoryArgument(NamedTuple):
    """The memory that a pointer gets: a value's, or for None that of the step itself, from a byte offset on."""

    value: Expr | None
    offset: int = 0


@dataclass(frozen=True)
class KernelSource:
    """A kernel as Python source for ``numba.cuda``; sizes are parameters.

    Parameters
    ----------
    name : str
        What the function is called in the text.
    text : str
        The function, undecorated, in the names of :mod:`nxkernel.compilers.numba_cuda.language.intrinsics`.
    parameters : tuple of str
        Of each argument its type: ``"f32*"`` for memory of that type, ``"s64"`` and so on for numbers. Half-width
        floats and truth values in memory are ``"u16*"`` and ``"u8*"``.
    """

    name: str
    text: str
    parameters: tuple[str, ...]

    @cached_property
    def symbol(self) -> str:
        """The kernel's name: a hash of everything that decides its code."""
        return "nxc_" + hashlib.sha256(repr((self.text, self.parameters)).encode()).hexdigest()[:40]


@dataclass(frozen=True)
class KernelLaunch:
    """One launch of a kernel: grid, block, memory and scalar parameters.

    Parameters
    ----------
    source : KernelSource
    memory : sequence of MemoryArgument
        What the pointers point to; they are the first arguments.
    scalars : sequence of number
        The arguments after them: Python numbers, in the types that the source says.
    grid, block : tuple of int
        Up to three numbers each.
    shared : int
        Bytes of dynamic shared memory.
    scratch : int
        Bytes of the memory that `memory` calls None.
    fill : int or None
        The byte that all of that memory is set to before; None where it may hold anything.
    title : str
        What it does, for people.
    """

    source: KernelSource
    memory: Sequence[MemoryArgument]
    scalars: Sequence[int | float | bool]
    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared: int = 0
    scratch: int = 0
    fill: int | None = None
    title: str = ""
