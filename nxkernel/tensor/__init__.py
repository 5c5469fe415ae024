"""Tensors: immutable values with a type, a shape and axis names."""

from nxkernel.tensor.tensor import Template, Tensor

__all__ = ["Template", "Tensor"]
