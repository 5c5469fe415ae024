"""Interoperability of tensors: NumPy's array protocols, DLPack, the buffer protocol."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nxkernel.backends.numpy_primitives import widened
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.tensor.dlpack import export_array

if TYPE_CHECKING:
    from nxkernel.operand_methods import TensorMethods  # pyright: ignore[reportMissingModuleSource]
else:
    TensorMethods = object


def arrays(value: Any) -> Any:
    """A value with every tensor in it, also in tuples and lists, converted to a NumPy array."""
    if isinstance(value, ArrayProtocols):
        return value.data
    return type(value)(map(arrays, value)) if type(value) in (tuple, list) else value


#: Libraries that give arrays which can be written whatever the capsule says of its memory.
_UNAWARE = ("torch", "paddle", "tensorflow")


def _writes_into_what_is_read_only(frame: Any) -> bool:
    """Whether a frame is of a library that ignores the read-only flag, so that it must get a copy."""
    return str(frame.f_globals.get("__name__")).partition(".")[0] in _UNAWARE


class ArrayProtocols(TensorMethods):
    """The array protocols of tensors; no copy is made where the receiver cannot write."""

    __slots__ = ()

    data: np.ndarray

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if dtype is None or np.dtype(dtype) == self.data.dtype:
            return self.data.copy() if copy else self.data
        if copy is False:
            raise NxValueError(f"a tensor of {self.data.dtype} becomes an array of {np.dtype(dtype)} only by a copy")
        return self.data.astype(dtype)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        if self.data.dtype.kind == "V":
            raise AttributeError("NumPy's array interface has no name for bf16; __array__ gives the elements")
        # With strides, what takes bytes, such as Pillow, asks for those of the elements.
        return self.data.__array_interface__ | {"strides": self.data.strides}

    @property
    def _typ(self) -> str:
        # The mark of what pandas takes for its wrapper of an array of NumPy's, so that a mask is one in df[mask].
        return "npy_extension" if self.data.ndim == 1 else ""

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        if copy is None and _writes_into_what_is_read_only(sys._getframe(1)):
            return export_array(self.data.copy(), stream=stream, max_version=max_version, dl_device=dl_device)
        if max_version is not None and max_version[0] >= 1:
            return export_array(self.data, stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)
        if copy is False:
            raise BufferError("a tensor is read-only, which DLPack can tell from version 1.0 on; allow a copy")
        if dl_device not in (None, self.__dlpack_device__()):
            raise BufferError(f"a tensor is in the main memory {self.__dlpack_device__()}, asked for is {dl_device}")
        return export_array(self.data.copy(), stream=stream)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def to_numpy(self) -> np.ndarray:
        """The elements as a NumPy array: read-only, without a copy. ``.copy()`` gives one to write into."""
        return self.data

    def numpy(self) -> np.ndarray:
        """The elements as a NumPy array, as :meth:`to_numpy`, under the name that other libraries use."""
        return self.data

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers, as NumPy names it."""
        return widened(self.data).tolist()

    def tobytes(self) -> bytes:
        """The elements as bytes in native byte order, as :func:`nxkernel.to_binary` gives them."""
        return self.data.tobytes()

    def tofile(self, fid: Any, sep: str = "", format: str = "%s") -> None:
        """Write the elements into a file, by its path or open: as bytes in native byte order, or as text by `sep`."""
        self.data.tofile(fid, sep, format)

    def dumps(self) -> bytes:
        """The tensor as pickled bytes, which :func:`pickle.loads` reads."""
        return pickle.dumps(self)

    def dump(self, file: Any) -> None:
        """Pickle the tensor into a file, by its path or open."""
        if hasattr(file, "write"):
            file.write(self.dumps())
        else:
            Path(file).write_bytes(self.dumps())

    @property
    def flags(self) -> Any:
        """What NumPy tells of the memory: it is in C order and cannot be written into."""
        return self.data.flags

    @property
    def ctypes(self) -> Any:
        """The memory as C functions take it, as NumPy's arrays have it: ``t.ctypes.data`` is its address."""
        return self.data.ctypes

    def item(self, *index: Any) -> int | float | complex:
        """An element as a Python number: the only one, or that at an index, which counts all elements or has axes."""
        if index:
            return widened(self.data).item(*index)
        if self.data.size != 1:
            raise NxTypeError(
                message(f"item() needs a tensor with one element, this one has {self.data.size}.", "t[0, 1] takes one.")
            )
        return widened(self.data).reshape(()).item()
