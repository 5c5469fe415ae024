"""DLPack, the protocol for sharing arrays between libraries without a copy: NumPy's part of it, and bf16.

NumPy's exchange knows no bf16. So NumPy exchanges 16-bit integers, and the two bytes of the capsule that name the type
are changed on the way: a capsule belongs to whoever takes it. The layout is that of ``dlpack.h``, versions 0 and 1.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from nxkernel.errors import NxTypeError, message

if TYPE_CHECKING:
    from nxkernel.backends.cuda.arrays import DeviceArray
    from nxkernel.backends.cuda.device_interface import Device

_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
_UINT, _BFLOAT = 1, 4
#: Where a DLTensor starts in a capsule of each name, and where in it the type's code is.
_STARTS = {b"dltensor": 0, b"dltensor_versioned": 32}
_CODE = 20
#: The numbers of kinds of devices.
CPU, CUDA = 1, 2
#: Devices whose memory the processor reads: the main memory, and what CUDA and ROCm share with it.
_READABLE = (1, 3, 11, 13)

_name_of = ctypes.pythonapi.PyCapsule_GetName
_name_of.restype, _name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


class _DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


def _data_type(capsule: Any) -> _DataType | None:
    """A writeable view of the data type in a capsule; None for capsules of unknown layout."""
    name = _name_of(capsule)
    if name not in _STARTS:
        return None
    start = _pointer_of(capsule, name)
    if _STARTS[name] and ctypes.c_uint32.from_address(start).value != 1:
        return None
    return _DataType.from_address(start + _STARTS[name] + _CODE)


def export_array(array: np.ndarray, **options: Any) -> Any:
    """The DLPack capsule of a NumPy array; `options` are those of ``__dlpack__``."""
    if array.dtype != _BFLOAT16:
        return array.__dlpack__(**options)
    capsule = array.view(np.uint16).__dlpack__(**options)
    _data_type(capsule).code = _BFLOAT
    return capsule


class _Exporter:
    """Wraps another library's array so that NumPy sees its bf16 elements as integers."""

    def __init__(self, value: Any) -> None:
        self._value = value
        self.is_bfloat = False

    def __dlpack__(self, **options: Any) -> Any:
        try:
            capsule = self._value.__dlpack__(**options)
        except TypeError:
            # A library from before version 1.0 of the protocol knows none of the newer options.
            if not options.get("max_version") or options.get("dl_device") or options.get("copy") is False:
                raise
            stream = options.get("stream")
            capsule = self._value.__dlpack__() if stream is None else self._value.__dlpack__(stream=stream)
        type_ = _data_type(capsule)
        if type_ is not None and (type_.code, type_.bits, type_.lanes) == (_BFLOAT, 16, 1):
            type_.code, self.is_bfloat = _UINT, True
        return capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._value.__dlpack_device__()


def import_array(value: Any) -> np.ndarray:
    """A NumPy array over the memory of another library's array; GPU memory is copied to the host.

    Parameters
    ----------
    value : object
        What answers ``__dlpack__``.

    Raises
    ------
    NxTypeError
        With the library's reason, where it does not hand its array over, or not to the main memory.
    """
    exporter = _Exporter(value)
    device = tuple(map(int, value.__dlpack_device__()))
    try:
        array = np.from_dlpack(exporter, device=None if device[0] in _READABLE else "cpu")
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        hints = []
        if device[0] not in _READABLE:
            hints.append(
                f"It is on the device {device}: copy it to the main memory, x.cpu() in PyTorch, x.get() in CuPy."
            )
        what = f"an array of {type(value).__module__}.{type(value).__qualname__} does not come over by DLPack: {error}"
        raise NxTypeError(message(what, *hints)) from error
    return array.view(_BFLOAT16) if exporter.is_bfloat else array


# Memory of GPUs, by way of CuPy, which knows how streams wait for each other ------------------------------------


def _of_cupy(array: DeviceArray) -> Any:
    """A CuPy array over the same memory, which it keeps alive; bf16 as integers."""
    import cupy

    memory = cupy.cuda.UnownedMemory(array.pointer, array.nbytes, array.owner, array.device.index)
    dtype = np.dtype(np.uint16) if array.dtype == _BFLOAT16 else array.dtype
    return cupy.ndarray(array.shape, dtype, cupy.cuda.MemoryPointer(memory, 0))


def export_from_device(array: DeviceArray, **options: Any) -> Any:
    """The DLPack capsule of a device array; `options` are those of ``__dlpack__``."""
    with array.device.here():
        capsule = _of_cupy(array).__dlpack__(**options)
    if array.dtype == _BFLOAT16:
        _data_type(capsule).code = _BFLOAT
    return capsule


def import_to_device(value: Any) -> tuple[Device, int, tuple[int, ...], np.dtype, Any] | None:
    """The parts of a device array over another library's memory; None if that is on no GPU in use.

    Parameters
    ----------
    value : object
        What answers ``__dlpack__``.

    Returns
    -------
    tuple or None
        The device, the address, shape and dtype, and what keeps the memory.
    """
    kind, index = map(int, value.__dlpack_device__())
    if kind != CUDA:
        return None
    from nxkernel.backends.cuda import devices

    if devices.simulating() or index >= devices.count():
        return None
    import cupy

    device, exporter = devices.device(index), _Exporter(value)
    with device.here():
        try:
            array = cupy.from_dlpack(exporter)
        except (BufferError, RuntimeError, TypeError, ValueError) as error:
            what = f"{type(value).__module__}.{type(value).__qualname__}"
            raise NxTypeError(f"an array of {what} does not come over by DLPack: {error}") from error
        # Ours are in C order; what is in another one is copied, on the device.
        array = cupy.ascontiguousarray(array)
        if array.data.ptr % array.dtype.itemsize:
            # Kernels read an element at once, a complex one as well: it must begin at a multiple of its size.
            array = array.copy()
    dtype = _BFLOAT16 if exporter.is_bfloat else array.dtype
    return device, array.data.ptr, array.shape, dtype, array


def cuda_interface(array: DeviceArray) -> dict[str, Any]:
    """The ``__cuda_array_interface__`` of an array, version 3.

    Raises
    ------
    AttributeError
        For bf16, which the interface has no name for.
    """
    if array.dtype == _BFLOAT16:
        raise AttributeError("CUDA's array interface has no name for bf16; __dlpack__ has")
    import cupy

    with array.device.here():
        stream = cupy.cuda.get_current_stream().ptr
    # PyTorch refuses memory that is said to be read-only. A stream of 0 is not allowed; 1 is the default one.
    return {
        "shape": array.shape,
        "typestr": array.dtype.str,
        "data": (array.pointer, False),
        "strides": None,
        "stream": stream or 1,
        "version": 3,
    }
