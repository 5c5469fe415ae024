"""Memory of interpreted programs: blocks of bytes, and who is told of each element that is read or written."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from nxkernel.compilers.plan.buffer_assignment import bytes_of
from nxkernel.graph.expr import Expr
from nxkernel.primitives import Spec

#: What is in bytes that nobody has written.
POISON = 0xA7
_serial = itertools.count()


class Block:
    """Bytes that belong together.

    Parameters
    ----------
    size : int
    name : str
        What messages call it.
    data : numpy.ndarray, optional
        What is in it at first.
    """

    def __init__(self, size: int, name: str, data: np.ndarray | None = None) -> None:
        self.name, self.serial = name, next(_serial)
        #: Longer than asked for, so that it can be seen as elements of any type.
        self.bytes = np.full(-(-max(size, 1) // 16) * 16, POISON, dtype=np.uint8)
        self.written = np.zeros(len(self.bytes), dtype=bool)
        if data is not None:
            self.bytes[:size] = np.ascontiguousarray(data).reshape(-1).view(np.uint8)
            self.written[:size] = True

    def elements(self, dtype: np.dtype) -> np.ndarray:
        """All of it as elements of a type."""
        return self.bytes.view(dtype)


class Address(NamedTuple):
    """A byte of a block, and from which one to before which one all belongs to the value that it is in."""

    block: Block
    offset: int
    low: int
    high: int

    def further(self, offset: int) -> Address:
        """So many bytes on in the same value."""
        return self._replace(offset=self.offset + offset)

    def part(self, offset: int, size: int) -> Address:
        """A value of its own, so many bytes on."""
        return whole(self.block, size, self.offset + offset)


def whole(block: Block, size: int, offset: int = 0) -> Address:
    """The address of a value of so many bytes."""
    return Address(block, offset, offset, offset + size)


class OutOfBoundsError(AssertionError):
    """Something is read or written outside of the value that it belongs to."""


class UnwrittenError(AssertionError):
    """Something is read that nobody has written."""


class Memory:
    """Reads and writes blocks, and tells watchers of it.

    Attributes
    ----------
    watchers : list
        Have ``read`` and ``write``, which take a block, the first byte of each element, how
        many bytes each has, and the step that touches them.
    """

    def __init__(self) -> None:
        self.watchers: list = []

    def read(self, address: Address, dtype: np.dtype, indices: np.ndarray, what: object) -> np.ndarray:
        """The elements at some indices from an address on."""
        places = self._places(address, dtype, indices, what, "reads")
        if not address.block.written[places].all():
            raise UnwrittenError(f"{what} reads elements of {address.block.name} that nobody has written")
        for watcher in self.watchers:
            watcher.read(address.block, places, dtype.itemsize, what)
        return address.block.elements(dtype)[places // dtype.itemsize]

    def write(self, address: Address, indices: np.ndarray, values: np.ndarray, what: object) -> None:
        """Put elements at some indices from an address on; of several at one place the last one stays."""
        dtype = values.dtype
        places = self._places(address, dtype, indices, what, "writes")
        for watcher in self.watchers:
            watcher.write(address.block, places, dtype.itemsize, what)
        address.block.elements(dtype)[places // dtype.itemsize] = values
        for byte in range(dtype.itemsize):
            address.block.written[places + byte] = True

    def copy(self, target: Address, source: Address, like: Expr | Spec, what: object) -> None:
        """Copy a value of a type and a shape."""
        indices = np.arange(bytes_of(like) // like.type.size)
        self.write(target, indices, self.read(source, like.type.dtype, indices, what), what)

    @staticmethod
    def _places(address: Address, dtype: np.dtype, indices: np.ndarray, what: object, does: str) -> np.ndarray:
        places = address.offset + np.asarray(indices, dtype=np.int64) * dtype.itemsize
        if places.size and (places.min() < address.low or places.max() > address.high - dtype.itemsize):
            far = int(places.min() if places.min() < address.low else places.max())
            element, count = (far - address.low) // dtype.itemsize, (address.high - address.low) // dtype.itemsize
            raise OutOfBoundsError(f"{what} {does} element {element} of a value of {count} in {address.block.name}")
        return places
