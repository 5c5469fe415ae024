"""A captured array or tensor: its type and shape for the cache key, and whether another value matches them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from nxkernel.primitives import Spec

#: Marks the spec of a tensor on a device, so that it differs from every spec on the host.
ON_DEVICE = object()


@dataclass(frozen=True, slots=True)
class CapturedArray:
    """An array or tensor that a function reads from outside: a hidden argument of its program.

    Parameters
    ----------
    name : str
        As the person wrote it: ``weights``, ``config.rate`` or ``params['w']``.
    spec : Spec
    read : callable
        Reads the current value.
    on_device : bool
        Whether it is in the memory of a device.
    dtype : numpy.dtype
        NumPy's dtype with its byte order; by default that of the spec's type.
    """

    name: str
    spec: Spec
    read: Callable[[], Any]
    on_device: bool = False
    dtype: Any = None

    @property
    def expected(self) -> tuple[Any, Any, Any]:
        """The spec, shape and dtype that another value must have to match; impossible ones for an array on a device."""
        if self.on_device:
            return (ON_DEVICE, self.spec), None, None
        return self.spec, self.spec.shape, self.dtype or self.spec.type.dtype
