"""What the array API standard lets programs ask of a namespace: its devices, its types, what it can do."""

from __future__ import annotations

from typing import Any

import numpy as np

from nxkernel.errors import NxValueError, message
from nxkernel.numpy.standard import devices
from nxkernel.tensor import device as places

__all__ = ["__array_api_version__", "__array_namespace_info__"]

#: The version of the standard.
__array_api_version__ = "2024.12"

_INTEGERS = ("int8", "int16", "int32", "int64")
_UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
_REAL, _COMPLEX = ("float32", "float64"), ("complex64", "complex128")
_KINDS = {
    "bool": ("bool",), "signed integer": _INTEGERS, "unsigned integer": _UNSIGNED, "real floating": _REAL,
    "complex floating": _COMPLEX, "integral": _INTEGERS + _UNSIGNED,
    "numeric": _INTEGERS + _UNSIGNED + _REAL + _COMPLEX,
}  # fmt: skip
_ALL = _KINDS["bool"] + _KINDS["numeric"]


class NamespaceInfo:
    """What ``__array_namespace_info__()`` gives.

    Examples
    --------
    >>> info = NamespaceInfo()
    >>> info.default_device(), info.default_dtypes()["integral"], list(info.dtypes(kind="complex floating"))
    ('cpu', dtype('int64'), ['complex64', 'complex128'])
    """

    def capabilities(self) -> dict[str, Any]:
        """Masks index, and sizes that depend on values are given in calls that run at once; at most 64 axes."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        """The main memory."""
        return places.HOST

    def default_dtypes(self, *, device: Any = None) -> dict[str, np.dtype]:
        """The types of what is made of Python's numbers, as NumPy's."""
        devices.check(device)
        names = {
            "real floating": "float64", "complex floating": "complex128", "integral": "int64", "indexing": "int64",
        }  # fmt: skip
        return {kind: np.dtype(name) for kind, name in names.items()}

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, np.dtype]:
        """The standard's types, all or those of a kind or of several, by name."""
        devices.check(device)
        if kind is None:
            return {name: np.dtype(name) for name in _ALL}
        asked = kind if isinstance(kind, tuple) else (kind,)
        for one in asked:
            if one not in _KINDS:
                known = ", ".join(f'"{name}"' for name in _KINDS)
                raise NxValueError(message(f"dtypes: there is no kind {one!r}.", f"Kinds are {known}."))
        wanted = {name for one in asked for name in _KINDS[one]}
        return {name: np.dtype(name) for name in _ALL if name in wanted}

    def devices(self) -> list[str]:
        """The places of arrays."""
        return places.available()


def __array_namespace_info__() -> NamespaceInfo:  # noqa: N807 - the standard's name
    """What programs may ask of the namespace, as the array API standard has it."""
    return NamespaceInfo()
