"""Convolution over spatial axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nxkernel import primitives as p
from nxkernel import shapes, types
from nxkernel.errors import NxValueError, message
from nxkernel.graph.expr import Expr
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import apply, convert, operand
from nxkernel.ops.machinery.window_options import along_axes, check_window, padding_of
from nxkernel.ops.shapes.shaping import transpose
from nxkernel.tensor.tensor import Tensor

__all__ = ["conv"]

Permutation = Sequence[int | str] | None


def conv(
    tensor: Any,
    kernel: Any,
    *,
    padding: str | Sequence[tuple[int, int]] = "valid",
    strides: int | Sequence[int] = 1,
    input_dilation: int | Sequence[int] = 1,
    kernel_dilation: int | Sequence[int] = 1,
    feature_group_size: int = 1,
    batch_group_size: int = 1,
    input_permutation: Permutation = None,
    kernel_permutation: Permutation = None,
    output_permutation: Permutation = None,
) -> Tensor | Expr:
    """Convolution over the spatial axes of a batch (cross-correlation: the kernel is not flipped).

    The kernel is not flipped, as in all libraries for neural networks: this is a cross-correlation.

    Parameters
    ----------
    tensor : tensor
        ``[batch, channels, spatial...]``.
    kernel : tensor
        ``[features, channels, spatial...]``, the channels of one group.
    padding : {"valid", "same"} or list of (low, high), optional
        How many zeros go before and after each spatial axis. ``"valid"``: none; ``"same"``: so many that space keeps
        its size, unless strides make it smaller.
    strides : int or list of int, optional
        From one place of the kernel to the next along each spatial axis.
    input_dilation : int or list of int, optional
        From one element of the tensor to the next along each spatial axis; there are zeros between them.
    kernel_dilation : int or list of int, optional
        From one element of the kernel to the next along each spatial axis.
    feature_group_size : int, optional
        Into how many groups channels and features are divided: features of a group see its channels only.
    batch_group_size : int, optional
        Into how many groups batch and features are divided: features of a group see its part of the batch only.
    input_permutation, kernel_permutation : list of int or str, optional
        Which axes of `tensor` are batch, channels and space, and which of `kernel` features, channels and space:
        ``[0, 3, 1, 2]`` for images whose channels come last.
    output_permutation : list of int, optional
        Which axes of the result are batch, features and space.

    Returns
    -------
    Tensor
        ``[batch, features, spatial...]``, with the names of `tensor`. The two types merged; integers become f32.

    Raises
    ------
    NxValueError
        When the ranks differ, channels, features or batch do not divide into the groups, or the kernel does not fit.

    Examples
    --------
    >>> nx.conv([[[1, 2, 3, 4]]], [[[1, 10]]]).to_list()
    [[[21.0, 32.0, 43.0]]]
    >>> nx.conv([[[1, 2, 3, 4]]], [[[1, 0, 1]]], padding="same", strides=2).shape
    (1, 1, 2)
    """
    tensor, kernel = operand(tensor, "tensor"), operand(kernel, "kernel")
    if tensor.rank != kernel.rank or tensor.rank < 3:
        raise NxValueError(
            message(
                f"conv takes [batch, channels, spatial...] and [features, channels, spatial...], got {tensor.spec} and "
                f"{kernel.spec}.",
                "Both have the same number of axes, at least 3; nx.new_axis(t, axis) adds one.",
            )
        )
    original, order = tensor, _permutation(input_permutation, tensor, "input_permutation")
    type_ = types.to_floating(types.merge(tensor.type, kernel.type))
    tensor = _permuted(convert(tensor, type_), input_permutation, "input_permutation")
    kernel = _permuted(convert(kernel, type_), kernel_permutation, "kernel_permutation")
    count = tensor.rank - 2
    feature_groups = _groups(feature_group_size, "feature_group_size")
    batch_groups = _groups(batch_group_size, "batch_group_size")
    _check_groups(tensor, kernel, feature_groups, batch_groups)
    kernel_dilation = along_axes(kernel_dilation, count, "kernel_dilation")
    around = padding_of(padding, kernel.shape[2:], kernel_dilation)
    input_dilation = along_axes(input_dilation, count, "input_dilation")
    config = [(low, high, gap - 1) for (low, high), gap in zip(around, input_dilation, strict=True)]
    check_window(original, order[2:], shapes.pad(tensor.shape[2:], config), kernel.shape[2:], kernel_dilation)
    result = apply(
        p.conv,
        tensor,
        kernel,
        padding=around,
        strides=along_axes(strides, count, "strides"),
        input_dilation=input_dilation,
        kernel_dilation=kernel_dilation,
        feature_groups=feature_groups,
        batch_groups=batch_groups,
    )
    if output_permutation is None:
        return result
    output_order = _permutation(output_permutation, result, "output_permutation")
    return transpose(result, axes=sorted(range(result.rank), key=output_order.__getitem__))


def _permutation(permutation: Permutation, tensor: Operand, argument: str) -> tuple[int, ...]:
    positions = shapes.normalize_axes(permutation, tensor.shape, tensor.names)
    if len(positions) != tensor.rank:
        raise NxValueError(f"{argument} has every axis of {tensor.spec} once, got {permutation!r}")
    return positions


def _permuted(tensor: Operand, permutation: Permutation, argument: str) -> Operand:
    return tensor if permutation is None else transpose(tensor, axes=_permutation(permutation, tensor, argument))


def _groups(size: Any, argument: str) -> int:
    if shapes.static_int(size, argument) < 1:
        raise NxValueError(f"{argument} is at least 1, got {size}")
    return shapes.static_int(size, argument)


def _check_groups(tensor: Operand, kernel: Operand, feature_groups: int, batch_groups: int) -> None:
    (batch, channels), (features, of_kernel) = tensor.shape[:2], kernel.shape[:2]
    if feature_groups > 1 and batch_groups > 1:
        raise NxValueError(
            f"conv divides into groups either by features or by batch, got feature_group_size={feature_groups} and "
            f"batch_group_size={batch_groups}"
        )
    for what, size, groups, argument in (
        ("channels", channels, feature_groups, "feature_group_size"),
        ("features", features, feature_groups, "feature_group_size"),
        ("elements in the batch", batch, batch_groups, "batch_group_size"),
        ("features", features, batch_groups, "batch_group_size"),
    ):
        if size % groups:
            raise NxValueError(f"conv cannot divide {size} {what} into {groups} equal groups ({argument}={groups})")
    if channels != of_kernel * feature_groups:
        grouped = f" in {feature_groups} groups" if feature_groups > 1 else ""
        raise NxValueError(
            message(
                f"conv of {tensor.spec} with the kernel {kernel.spec}: there are {channels} channels{grouped}, the "
                f"kernel takes {of_kernel}.",
                "The axes are [batch, channels, spatial...] and [features, channels, spatial...].",
                "For channels in the last axis, give input_permutation and kernel_permutation.",
            )
        )
