"""nxkernel: numerical definitions for Jupyter, traced, fused, compiled to native code, and explained."""

from __future__ import annotations

from nxkernel import constants, types
from nxkernel.ops import *  # noqa: F403
from nxkernel.tensor import Template, Tensor

__version__ = "0.1.0"

__all__ = ["Template", "Tensor", "constants", "types"]
