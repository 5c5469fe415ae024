"""How the elements of an array lie in NumPy's memory: ``x.strides`` and ``x.flags``."""

from __future__ import annotations

from typing import Any

from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.numpy.arrays import memory_order
from nxkernel.numpy.arrays.array import Array, ArrayValue

_NAMES = {
    "C": "c_contiguous", "C_CONTIGUOUS": "c_contiguous", "CONTIGUOUS": "c_contiguous", "F": "f_contiguous",
    "F_CONTIGUOUS": "f_contiguous", "FORTRAN": "f_contiguous", "O": "owndata", "OWNDATA": "owndata",
    "W": "writeable", "WRITEABLE": "writeable", "A": "aligned", "ALIGNED": "aligned", "X": "writebackifcopy",
    "WRITEBACKIFCOPY": "writebackifcopy", "B": "behaved", "BEHAVED": "behaved", "CA": "carray", "CARRAY": "carray",
    "FNC": "fnc", "FORC": "forc",
}  # fmt: skip


def strides(array: ArrayValue) -> tuple[int, ...]:
    """The bytes from one element to the next along each axis, as NumPy's array has them.

    Where that depends on the order of an array that a caller passes, the program is for arrays in C order.
    """
    if not isinstance(array, Array):
        return ()
    array.record_order_dependence()
    return tuple([step * array.type.dtype.itemsize for step in array.strides_in_memory])


class MemoryFlags:
    """The flags of an array, as :attr:`numpy.ndarray.flags`; of these ``writeable`` can be set.

    Parameters
    ----------
    array : ArrayValue
    """

    __slots__ = ("_array", "_steps", "aligned", "owndata", "writebackifcopy")

    def __init__(self, array: ArrayValue) -> None:
        is_array = isinstance(array, Array)
        if is_array:
            array.record_order_dependence()
        self._steps = (array.shape, array.strides_in_memory) if is_array else ((), ())
        self._array, self.owndata = array, not (is_array and array.steps)
        self.aligned, self.writebackifcopy = True, False

    @property
    def writeable(self) -> bool:
        """Whether the array may be assigned into."""
        return isinstance(self._array, Array) and self._array.writeable

    @writeable.setter
    def writeable(self, value: Any) -> None:
        setflags(self._array, write=value)

    @property
    def c_contiguous(self) -> bool:
        """Whether the elements lie one after the other, the last axis first."""
        return memory_order.is_contiguous(*self._steps)

    @property
    def f_contiguous(self) -> bool:
        """Whether the elements lie one after the other, the first axis first."""
        return memory_order.is_contiguous(*self._steps, "F")

    contiguous = c_contiguous
    fortran = f_contiguous

    @property
    def behaved(self) -> bool:
        """Whether it may be assigned into."""
        return self.writeable

    @property
    def carray(self) -> bool:
        """Whether it may be assigned into, and is in C order."""
        return self.writeable and self.c_contiguous

    @property
    def fnc(self) -> bool:
        """Whether it is in Fortran order and not in C order."""
        return self.f_contiguous and not self.c_contiguous

    @property
    def forc(self) -> bool:
        """Whether it is in one of both orders."""
        return self.f_contiguous or self.c_contiguous

    def __getitem__(self, name: Any) -> bool:
        if name not in _NAMES:
            raise KeyError("Unknown flag")
        return getattr(self, _NAMES[name])

    def __setitem__(self, name: Any, value: Any) -> None:
        if _NAMES.get(name) != "writeable":
            raise KeyError("Unknown flag")
        self.writeable = value


def setflags(array: ArrayValue, write: Any = None, align: Any = None, uic: Any = None) -> None:
    """Say whether an array that the program has made may be assigned into.

    Parameters
    ----------
    array : array
    write : bool, optional
    align, uic : bool, optional
        They change nothing.

    Raises
    ------
    NxTypeError
        For an array of the caller's, which would stay as it is.
    NxValueError
        For elements that several places share, which are not assigned into.
    """
    if write is None or not array.shape or bool(write) == array.writeable:
        return
    if array.root.cell.shared:
        raise NxTypeError(
            message(
                "an array of the caller's keeps its flags: a program does not set them.",
                "Set them where the function is called, or those of a copy: x = x.copy().",
            )
        )
    if write and not all(step.writeable for step in array.steps):
        raise NxValueError(
            message("this array cannot be made writeable: its elements are shared.", "Assign into a copy of it.")
        )
    array.writeable = bool(write)
