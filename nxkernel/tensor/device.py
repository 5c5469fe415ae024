"""Tensors in device memory, which are copied to the host only when their elements are asked for."""

from __future__ import annotations

import contextlib
import sys
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nxkernel.backends.cuda.arrays import DeviceArray
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.operand import VectorizedSpec
from nxkernel.primitives import Spec
from nxkernel.shapes import describe, unnamed
from nxkernel.tensor import dlpack, html
from nxkernel.tensor.tensor import Tensor
from nxkernel.types import normalize

if TYPE_CHECKING:
    from nxkernel.backends.cuda.device_interface import Device

#: What the main memory is called where a device could be.
HOST = "cpu"
#: Where the elements are kept that were brought to the host: the place that other tensors have theirs in.
_HOST = Tensor.data
_new = object.__new__


class DeviceTensor(Tensor):
    """A tensor whose elements are in device memory.

    Functions of tensors compute on the device and leave what they give there. What asks for the elements themselves,
    such as printing, NumPy or ``to_list``, brings them to the host: once, since tensors do not change.

    Attributes
    ----------
    array : DeviceArray
        The elements; vectorized axes are the first ones.
    """

    __slots__ = ("array",)

    array: DeviceArray

    @classmethod
    def wrap(cls, array: DeviceArray, spec: Spec | VectorizedSpec) -> DeviceTensor:
        """A tensor over a device array that nobody writes to, of the type and shape of `spec`."""
        self = _new(cls)
        _set_array(self, array)
        _set_spec(self, spec)
        return self

    @property
    def data(self) -> np.ndarray:
        """The elements as a read-only NumPy array; waits until they are computed.

        Raises
        ------
        NxValueError
            When the tensor was given away, by a transfer or as an argument that is donated.
        """
        self.array.pointer  # noqa: B018 - an array that was given away has none, and says so
        try:
            return _HOST.__get__(self)
        except AttributeError:
            host = self.array.host()
            host.flags.writeable = False
            _HOST.__set__(self, host)
            return host

    @property
    def device(self) -> str:
        """The device of the elements, such as ``"cuda:0"``."""
        return self.array.device.name

    @property
    def released(self) -> bool:
        """Whether the memory was released, so that the tensor cannot be used any more."""
        return self.array.released

    def release(self) -> None:
        """Release the memory, also for other tensors that share it."""
        self.array.release()
        with contextlib.suppress(AttributeError):
            _HOST.__delete__(self)

    def with_spec(self, spec: Spec | VectorizedSpec) -> DeviceTensor:
        """The same elements under another spec; see the base."""
        return DeviceTensor.wrap(self.array, spec)

    def rows(self, start: int, stop: int) -> DeviceTensor:
        """A part of the first axis, in the same memory; see the base."""
        type_, shape, names = self.spec
        step = self.array.nbytes // shape[0] if shape[0] else 0
        part = self.array.part(start * step, (stop - start, *shape[1:]), self.array.dtype)
        return DeviceTensor.wrap(part, Spec(type_, part.shape, names))

    def _repr_html_(self) -> str:
        if not self.released:
            return super()._repr_html_()

        return html.framed(self, "")

    def __copy__(self) -> DeviceTensor:
        return self

    def __deepcopy__(self, _: dict) -> DeviceTensor:
        return DeviceTensor.wrap(self.array.device.bring(self.array), self.spec)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        # An array over this memory would outlive it where the tensor is given away.
        raise AttributeError("a tensor on a device has no NumPy array of its own; __array__ gives the elements")

    # Other libraries -------------------------------------------------------------------------------------------

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The CUDA array interface; writing to the memory changes the tensor."""
        if self.array.device.simulated:
            raise AttributeError("a simulated device has no memory that CUDA knows")
        return dlpack.cuda_interface(self.array)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        if self.array.device.simulated or (dl_device is not None and dl_device[0] == dlpack.CPU):
            if copy is False and not self.array.device.simulated:
                raise BufferError(f"the elements are on {self.device}: they come to the main memory only by a copy")
            return super().__dlpack__(stream=None, max_version=max_version, dl_device=dl_device, copy=copy)
        return dlpack.export_from_device(
            self.array, stream=stream, max_version=max_version, dl_device=dl_device, copy=copy
        )

    def __dlpack_device__(self) -> tuple[int, int]:
        if self.array.device.simulated:
            return super().__dlpack_device__()
        return (dlpack.CUDA, self.array.device.index)


#: As slots are set: the class itself refuses that to everybody.
_set_array, _set_spec = DeviceTensor.__dict__["array"].__set__, Tensor.__dict__["spec"].__set__


class BorrowedMemory:
    """Memory that another library allocated and may still use.

    Parameters
    ----------
    array : object
        That library's array.
    """

    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        self.array = array


def is_shared(array: DeviceArray) -> bool:
    """Whether the memory of an array is referenced elsewhere, so that a program must not overwrite it."""
    # One for the array, and one for the call.
    return isinstance(array.owner, BorrowedMemory) or sys.getrefcount(array.owner) > 2


def tensor_of(array: Any, spec: Spec | VectorizedSpec) -> Tensor:
    """A tensor over a program's result, on the host or a device."""
    return DeviceTensor.wrap(array, spec) if type(array) is DeviceArray else Tensor.wrap(array, spec)


def from_dlpack(value: Any) -> Tensor:
    """A tensor that shares another library's array, on its GPU if that can be used, else on the host."""
    parts = dlpack.import_to_device(value)
    if parts is None:
        return Tensor.from_numpy(dlpack.import_array(value))
    device, pointer, shape, dtype, owner = parts
    array = DeviceArray(device, pointer, shape, dtype, BorrowedMemory(owner))
    return DeviceTensor.wrap(array, Spec(normalize(dtype), array.shape, unnamed(array.shape)))


# Places --------------------------------------------------------------------------------------------------------


def device_of(backend: str) -> Device | None:
    """The device of a name; None for the host.

    Parameters
    ----------
    backend : str
        ``"cpu"``, ``"cuda"``, ``"cuda:1"`` and so on.

    Raises
    ------
    NxTypeError
        For what is no text.
    NxValueError
        For a name that there is no device of.
    CudaUnavailableError
        Where GPUs cannot be used.
    """
    if not isinstance(backend, str):
        raise NxTypeError(message(f"a backend is a str, got {describe(backend)}.", 'Write "cpu" or "cuda:0".'))
    return None if backend == HOST else _devices().device(backend)


def available() -> list[str]:
    """The names of the main memory and of the GPUs that can be used."""
    return [HOST, *(f"cuda:{number}" for number in range(_devices().count()))]


def _devices() -> Any:
    from nxkernel.backends.cuda import devices

    return devices


def placed(tensor: Tensor, backend: str) -> Tensor:
    """A tensor on a device, copied only if it is elsewhere."""
    device = device_of(backend)
    return tensor if _place_of(tensor) is device else _copied(tensor, device)


def copied(tensor: Tensor, backend: str) -> Tensor:
    """A copy of a tensor on a device; a tensor on the host, which is immutable, is itself."""
    device = device_of(backend)
    return tensor if device is None and _place_of(tensor) is None else _copied(tensor, device)


def transferred(tensor: Tensor, backend: str) -> Tensor:
    """A tensor moved to a device; the source on another device is released."""
    moved = placed(tensor, backend)
    if moved is not tensor:
        deallocate(tensor)
    return moved


def deallocate(tensor: Tensor) -> int:
    """Release the device memory of a tensor; returns the number of bytes, 0 for tensors on the host."""
    if not isinstance(tensor, DeviceTensor) or tensor.released:
        return 0
    tensor.release()
    return tensor.array.nbytes


def _place_of(tensor: Tensor) -> Device | None:
    return tensor.array.device if isinstance(tensor, DeviceTensor) else None


def _copied(tensor: Tensor, device: Device | None) -> Tensor:
    if device is None:
        return Tensor.wrap(tensor.data, tensor.spec)
    copy = device.bring(tensor.array) if isinstance(tensor, DeviceTensor) else device.upload(tensor.data)
    return DeviceTensor.wrap(copy, tensor.spec)


def check_together(named: Sequence[tuple[str, DeviceArray]], function: str, example: str = "") -> None:
    """Raise an error for arguments on two different devices.

    Parameters
    ----------
    named : sequence of (str, DeviceArray)
        Each with what errors call it.
    function : str
        What they were passed to.
    example : str, optional
        What to write for one of them, where that is not what it is called.

    Raises
    ------
    NxValueError
        Which says what is where.
    """
    first, here = named[0][0], named[0][1].device
    for name, array in named[1:]:
        there = array.device
        if there is not here:
            raise NxValueError(
                message(
                    f"{function} got tensors on two devices: {first} is on {here.name}, {name} on {there.name}.",
                    f'Bring them together first: nx.backend_transfer({example or name}, "{here.name}").',
                )
            )


# Uploads -------------------------------------------------------------------------------------------------------

_uploads: dict[tuple[int, Any], tuple[weakref.ref, DeviceArray]] = {}


def uploaded(array: np.ndarray, device: Device) -> DeviceArray:
    """A host array copied to a device; copies of read-only arrays are cached as long as the array lives."""
    if not _is_settled(array):
        return device.upload(array)
    key = id(array), device
    kept = _uploads.get(key)
    if kept is None or kept[0]() is not array:
        gone = weakref.ref(array, lambda _: _uploads.pop(key, None))
        kept = _uploads[key] = gone, device.upload(array)
    return kept[1]


def _is_settled(array: np.ndarray) -> bool:
    """Whether the memory of an array is read-only, through it and through the bases of its view."""
    if array.flags.writeable:
        return False
    base = array.base
    while isinstance(base, np.ndarray):
        # Held by this name, by the view and by the call: nobody else can reach it.
        if base.flags.writeable and sys.getrefcount(base) > 3:
            return False
        base = base.base
    return base is None or isinstance(base, bytes)
