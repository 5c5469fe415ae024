"""The limits of types as the array API standard gives them: Python's numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from nxkernel.operand import Operand, Proxy

__all__ = ["finfo", "iinfo"]


def _type(type: Any) -> Any:
    return type.dtype if isinstance(type, Operand | Proxy | np.ndarray | np.generic) else type


class finfo:  # noqa: N801 - NumPy's name
    """The limits of a floating or complex type, as :class:`numpy.finfo`; its numbers are Python's.

    Parameters
    ----------
    type : dtype or array

    Examples
    --------
    >>> import numpy as np
    >>> finfo(np.float32).eps, finfo(np.complex128).bits
    (1.1920928955078125e-07, 64)
    """

    def __init__(self, type: Any) -> None:
        self._of_numpy = np.finfo(_type(type))

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._of_numpy, name)
        return float(found) if isinstance(found, np.floating) else found

    def __repr__(self) -> str:
        return repr(self._of_numpy)


def finfo_of_numpy(type: Any, /) -> np.finfo:
    """The limits of a floating or complex type as :class:`numpy.finfo` gives them: its numbers are of that type."""
    return np.finfo(_type(type))


def iinfo(type: Any) -> np.iinfo:
    """The limits of an integer type, as :class:`numpy.iinfo`.

    Examples
    --------
    >>> import numpy as np
    >>> iinfo(np.int8).max
    127
    """
    return np.iinfo(_type(type))
