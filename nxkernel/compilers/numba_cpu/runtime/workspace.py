"""Workspaces: memory for intermediate values, reused from one program to the next.

The system clears each new page when it is first written to, and the C library gives large memory back at once: for two
arrays of a megabyte that took 0.8 ms a call.
"""

from __future__ import annotations

import numpy as np

from nxkernel.compilers.plan.buffer_assignment import ALIGNMENT

#: Bytes up to which memory is kept.
MOST = 1 << 26

_kept: list[np.ndarray] = []


def take(size: int) -> np.ndarray:
    """Memory for one program, for its use only until it is given back.

    Parameters
    ----------
    size : int
        Bytes.

    Returns
    -------
    numpy.ndarray
        At least so many bytes, of any value, which begin at a multiple of :data:`ALIGNMENT`.

    Examples
    --------
    >>> memory = take(1000)
    >>> memory.size >= 1000, memory.ctypes.data % ALIGNMENT
    (True, 0)
    >>> give_back(memory)
    >>> take(500) is memory
    True
    """
    try:
        memory = _kept.pop()
    except IndexError:
        # The first program, or one that runs beside another.
        return _aligned(size)
    return memory if memory.size >= size else _aligned(size)


def _aligned(size: int) -> np.ndarray:
    memory = np.empty(size + ALIGNMENT, np.uint8)
    skip = -memory.ctypes.data % ALIGNMENT
    return memory[skip : skip + size]


def give_back(memory: np.ndarray) -> None:
    """Keep memory for the next program.

    Parameters
    ----------
    memory : numpy.ndarray
        What :func:`take` gave.
    """
    if memory.size <= MOST:
        _kept[:] = [memory]


def forget() -> None:
    """Free the memory that is kept."""
    _kept.clear()
