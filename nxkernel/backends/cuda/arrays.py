"""Arrays in the memory of a device."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from nxkernel.errors import NxTypeError, NxValueError, message

if TYPE_CHECKING:
    from nxkernel.backends.cuda.device_interface import Device


class DeviceArray:
    """An array in the memory of a device, in C order.

    Parameters
    ----------
    device : Device
        Whose memory it is.
    pointer : int
        The address of the first element, there.
    shape : sequence of int
    dtype : numpy.dtype
        bf16 is the one of ``ml_dtypes``.
    owner : object
        What keeps the memory: it is free when nobody holds the owner any more.
    """

    __slots__ = ("__weakref__", "device", "dtype", "nbytes", "owner", "pointer", "shape")

    device: Device
    pointer: int
    shape: tuple[int, ...]
    dtype: np.dtype
    nbytes: int
    owner: Any

    def __init__(self, device: Device, pointer: int, shape: Sequence[int], dtype: Any, owner: Any):
        self.device, self.pointer, self.owner = device, pointer, owner
        self.shape, self.dtype = tuple(shape), np.dtype(dtype)
        self.nbytes = math.prod(self.shape) * self.dtype.itemsize

    # Released arrays have no `pointer` and no `owner`: so using one is an error, and using others costs nothing.
    def __getattr__(self, name: str) -> NoReturn:
        if name in ("pointer", "owner"):
            raise NxValueError(
                message(
                    f"this array on {self.device.name} was given away, and its memory is used for something else.",
                    "A transfer to another device and a donated argument of a call give arrays away.",
                    "nx.backend_copy keeps the original; a call without donate_argnums keeps its arguments.",
                )
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def released(self) -> bool:
        """Whether the memory was given away."""
        try:
            object.__getattribute__(self, "pointer")
        except AttributeError:
            return True
        return False

    def release(self) -> None:
        """Give the memory away: it is freed when nothing else holds it; using this array afterwards is an error."""
        if not self.released:
            del self.pointer, self.owner

    def host(self) -> np.ndarray:
        """The elements as a new NumPy array; waits until they are computed."""
        return self.device.download(self)

    def reshape(self, shape: Sequence[int]) -> DeviceArray:
        """The same memory with another shape of the same size."""
        return self.part(0, shape, self.dtype, whole=True)

    def part(self, offset: int, shape: Sequence[int], dtype: Any, *, whole: bool = False) -> DeviceArray:
        """A view of a part of the memory.

        Parameters
        ----------
        offset : int
            Where it begins, in bytes from the beginning of this array.
        shape : sequence of int
        dtype : numpy.dtype
        whole : bool, optional
            Whether it must be all of it.

        Returns
        -------
        DeviceArray

        Raises
        ------
        NxValueError
            When the part is not within this array.
        """
        part = DeviceArray(self.device, self.pointer + offset, shape, dtype, self.owner)
        if offset < 0 or offset + part.nbytes > self.nbytes or (whole and part.nbytes != self.nbytes):
            what = f"{part.dtype.name}{list(part.shape)}"
            raise NxValueError(
                f"{what} at byte {offset} does not fit an array of {self.nbytes} bytes on {self.device.name}"
            )
        return part

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise NxTypeError(message("an array on a device is no NumPy array.", "Its method host() brings it here."))

    def __repr__(self) -> str:
        state = ", given away" if self.released else ""
        return f"DeviceArray({self.dtype.name}{list(self.shape)} on {self.device.name}{state})"
