"""Tensors: immutable values with a type, a shape and axis names."""

from nxkernel.tensor.tensor import Tensor, Template

__all__ = ["Template", "Tensor"]
