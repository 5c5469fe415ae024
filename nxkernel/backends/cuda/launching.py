"""Loading kernels on a GPU, and packing their arguments for a launch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

_KINDS = {"s": "int", "u": "uint", "f": "float"}
#: How each argument that is no pointer is laid out; every one of them takes eight bytes.
SCALAR_DTYPES = {
    f"{kind}{bits}": np.dtype(f"{_KINDS[kind]}{bits}")
    for kind, widths in [("s", (8, 16, 32, 64)), ("u", (8, 16, 32, 64)), ("f", (32, 64))]
    for bits in widths
}


class SourceLike(Protocol):
    """The protocol of a kernel's source, as far as devices use it.

    See :class:`nxkernel.compilers.numba_cuda.language.kernel_launches.KernelSource`.
    """

    name: str
    text: str
    parameters: tuple[str, ...]
    symbol: str


@dataclass(frozen=True, slots=True, eq=False)
class DeviceKernel:
    """A kernel loaded on a device.

    Parameters
    ----------
    source : SourceLike
    handle : object
        The device's own: a function of the driver, or of Python in the simulator.
    owner : object
        What must live as long as the handle is used.
    pointers : int
        How many of the arguments, at the beginning, are pointers.
    """

    source: SourceLike
    handle: object
    owner: object
    pointers: int

    @property
    def title(self) -> str:
        """The kernel's name in error messages."""
        return f"{self.source.name} ({self.source.symbol[:12]})"


class Prepared:
    """A launch with its arguments laid out in memory; pointers may be changed between launches.

    Parameters
    ----------
    kernel : DeviceKernel
    grid, block : tuple of int
        Three numbers each.
    shared : int
        Bytes of dynamic shared memory.
    scalars : sequence of number
        The arguments after the pointers.

    Attributes
    ----------
    arguments : numpy.ndarray of uint64
        All arguments, eight bytes each, the pointers first: ``arguments[0] = array.pointer``.
    addresses : int
        The address of the addresses of all arguments, as the driver wants them.
    title : str
        What errors call it: the kernel's title, unless somebody who knows more of it has written more.
    """

    __slots__ = ("_list", "addresses", "arguments", "block", "grid", "kernel", "shared", "title")

    def __init__(
        self, kernel: DeviceKernel, grid: Sequence[int], block: Sequence[int], shared: int, scalars: Sequence[float]
    ):
        self.kernel, self.shared, self.title = kernel, shared, kernel.title
        self.grid, self.block = _three(grid), _three(block)
        parameters, count = kernel.source.parameters, kernel.pointers
        if len(parameters) - count != len(scalars):
            raise ValueError(f"{kernel.title} takes {len(parameters) - count} scalar parameters, got {len(scalars)}")
        self.arguments = np.zeros(max(1, len(parameters)), np.uint64)
        for position, (kind, scalar) in enumerate(zip(parameters[count:], scalars, strict=True), count):
            dtype = SCALAR_DTYPES[kind]
            self.arguments[position : position + 1].view(dtype)[0] = dtype.type(scalar)
        # The driver asks for a pointer to each argument.
        self._list = self.arguments.ctypes.data + 8 * np.arange(len(self.arguments), dtype=np.uint64)
        self.addresses = self._list.ctypes.data

    def point(self, pointers: Sequence[int]) -> None:
        """Set the pointers for the next launch."""
        self.arguments[: self.kernel.pointers] = pointers


def _three(numbers: Sequence[int]) -> tuple[int, int, int]:
    one, two, three = (*map(int, numbers), 1, 1)[:3]
    return one, two, three


def pointers(parameters: Sequence[str]) -> int:
    """The number of parameters, at the beginning, that are pointers.

    Examples
    --------
    >>> pointers(("f32*", "u8*", "s64"))
    2
    """
    count = sum(parameter.endswith("*") for parameter in parameters)
    if any(parameter.endswith("*") for parameter in parameters[count:]):
        raise ValueError(f"pointers come first, got {parameters}")
    return count
