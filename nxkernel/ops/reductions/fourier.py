"""Discrete Fourier transforms over one or two axes, of complex and real signals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nxkernel import primitives, shapes, types
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph.expr import Expr
from nxkernel.operand import Operand
from nxkernel.ops.arithmetic import elementwise
from nxkernel.ops.arithmetic.comparison import less_equal, select
from nxkernel.ops.machinery.dispatch import apply, lasting, operand
from nxkernel.ops.shapes.indexing import slice_along_axis
from nxkernel.ops.shapes.shaping import concatenate, pad, reverse
from nxkernel.shapes import normalize_axes, normalize_axis
from nxkernel.tensor.tensor import Tensor

__all__ = ["fft", "fft2", "ifft", "ifft2", "irfft", "rfft"]


def fft(
    tensor: Any, *, axis: int | str = -1, length: int | str | None = None, eps: float | None = None
) -> Tensor | Expr:
    """The discrete Fourier transform along an axis.

    Parameters
    ----------
    tensor : tensor
    axis : int or str, optional
    length : int or "power_of_two", optional
        Cut the axis at this length, or fill it up with zeros, before; ``"power_of_two"`` fills up to the next one.
    eps : float, optional
        Real and imaginary parts of at most this size become 0 afterwards.

    Returns
    -------
    Tensor
        c64, or c128 for f64 and c128; with the names of `tensor`.

    Examples
    --------
    >>> nx.real(nx.fft([1, 1, 0, 0])).to_list()
    [2.0, 1.0, 0.0, 1.0]
    """
    return _transform(tensor, [axis], [length], eps, inverse=False, function="fft")


def ifft(
    tensor: Any, *, axis: int | str = -1, length: int | str | None = None, eps: float | None = None
) -> Tensor | Expr:
    """The inverse of the discrete Fourier transform along an axis, which divides by its length.

    Parameters
    ----------
    tensor : tensor
    axis : int or str, optional
    length : int or "power_of_two", optional
        Cut the axis at this length, or fill it up with zeros, before; ``"power_of_two"`` fills up to the next one.
    eps : float, optional
        Real and imaginary parts of at most this size become 0 afterwards.

    Returns
    -------
    Tensor
        c64, or c128 for f64 and c128; with the names of `tensor`.

    Examples
    --------
    >>> nx.real(nx.ifft(nx.fft([1, 2, 3, 4]))).to_list()
    [1.0, 2.0, 3.0, 4.0]
    """
    return _transform(tensor, [axis], [length], eps, inverse=True, function="ifft")


def fft2(
    tensor: Any,
    *,
    axes: Sequence[int | str] = (-2, -1),
    lengths: Sequence[int | str] | None = None,
    eps: float | None = None,
) -> Tensor | Expr:
    """The discrete Fourier transform along two axes.

    Parameters
    ----------
    tensor : tensor
    axes : two of int or str, optional
        The last two unless given.
    lengths : two of int or "power_of_two", optional
        Cut the axes at these lengths, or fill them up with zeros, before.
    eps : float, optional
        Real and imaginary parts of at most this size become 0 afterwards.

    Returns
    -------
    Tensor
        c64, or c128 for f64 and c128; with the names of `tensor`.

    Examples
    --------
    >>> nx.real(nx.fft2([[1, 0], [1, 0]])).to_list()
    [[2.0, 2.0], [0.0, 0.0]]
    """
    return _transform(tensor, *_two(axes, lengths, "fft2"), eps, inverse=False, function="fft2")


def ifft2(
    tensor: Any,
    *,
    axes: Sequence[int | str] = (-2, -1),
    lengths: Sequence[int | str] | None = None,
    eps: float | None = None,
) -> Tensor | Expr:
    """The inverse of the discrete Fourier transform along two axes, which divides by the product of their lengths.

    Parameters
    ----------
    tensor : tensor
    axes : two of int or str, optional
        The last two unless given.
    lengths : two of int or "power_of_two", optional
        Cut the axes at these lengths, or fill them up with zeros, before.
    eps : float, optional
        Real and imaginary parts of at most this size become 0 afterwards.

    Returns
    -------
    Tensor
        c64, or c128 for f64 and c128; with the names of `tensor`.

    Examples
    --------
    >>> nx.real(nx.ifft2([[2, 2], [0, 0]])).to_list()
    [[1.0, 0.0], [1.0, 0.0]]
    """
    return _transform(tensor, *_two(axes, lengths, "ifft2"), eps, inverse=True, function="ifft2")


def rfft(
    tensor: Any, *, axis: int | str = -1, length: int | str | None = None, eps: float | None = None
) -> Tensor | Expr:
    """The discrete Fourier transform of a real signal: its non-redundant half.

    Parameters
    ----------
    tensor : tensor
        Of real numbers.
    axis : int or str, optional
    length : int or "power_of_two", optional
        Cut the axis at this length, or fill it up with zeros, before; ``"power_of_two"`` fills up to the next one.
    eps : float, optional
        Real and imaginary parts of at most this size become 0 afterwards.

    Returns
    -------
    Tensor
        c64, or c128 for f64. An axis of `n` elements becomes one of ``n // 2 + 1``.

    Raises
    ------
    NxTypeError
        For complex numbers.

    Examples
    --------
    >>> nx.real(nx.rfft([1, 1, 0, 0])).to_list()
    [2.0, 1.0, 0.0]
    """
    tensor = operand(tensor, "tensor")
    if tensor.type.is_complex:
        raise NxTypeError(message(f"rfft takes real numbers, got {tensor.spec}.", "nx.fft takes complex ones."))
    whole = _transform(tensor, [axis], [length], eps, inverse=False, function="rfft")
    position = normalize_axis(axis, whole.shape, whole.names)
    return slice_along_axis(whole, 0, whole.shape[position] // 2 + 1, axis=position)


def irfft(
    tensor: Any, *, axis: int | str = -1, length: int | str | None = None, eps: float | None = None
) -> Tensor | Expr:
    """The inverse of :func:`rfft`: a real signal from the non-redundant half of its transform.

    Parameters
    ----------
    tensor : tensor
    axis : int or str, optional
    length : int or "power_of_two", optional
        The length of the signal: ``2 * (m - 1)`` for an axis of `m` elements unless given. That many are used of the
        transform, or zeros are added. ``"power_of_two"`` takes the next one.
    eps : float, optional
        Elements of at most this size become 0 afterwards.

    Returns
    -------
    Tensor
        f32, or f64 for f64 and c128.

    Examples
    --------
    >>> nx.irfft(nx.rfft([1, 2, 3, 5])).to_list()
    [1.0, 2.0, 3.0, 5.0]
    """
    tensor = operand(tensor, "tensor")
    position = normalize_axis(axis, tensor.shape, tensor.names)
    natural = 2 * (tensor.shape[position] - 1)
    size = _length(natural if length is None else length, natural, "irfft")
    half = _resized(tensor, position, size // 2 + 1)
    # The other half is the first backwards, conjugated, without what both share: 0 and, of even sizes, the middle.
    mirrored = (
        slice_along_axis(half, 1, size - half.shape[position], axis=position) if size > half.shape[position] else None
    )
    if mirrored is not None:
        other = reverse(elementwise.conjugate(mirrored), axes=[position])
        half = concatenate([half, other], axis=position)
    signal = elementwise.real(apply(primitives.fft, half, axes=(position,), inverse=True))
    return signal if eps is None else _cleaned_part(signal, eps)


def _two(axes: Any, lengths: Any, function: str) -> tuple[Sequence[Any], Sequence[Any]]:
    if not isinstance(axes, list | tuple) or len(axes) != 2:
        raise NxValueError(f"{function} takes two axes, got axes={axes!r}")
    if lengths is None:
        lengths = (None, None)
    if not isinstance(lengths, list | tuple) or len(lengths) != 2:
        raise NxValueError(f"{function} takes two lengths, one for each axis, got lengths={lengths!r}")
    return axes, lengths


def _transform(
    tensor: Any, axes: Sequence[Any], lengths: Sequence[Any], eps: float | None, *, inverse: bool, function: str
) -> Tensor | Expr:
    tensor = lasting(tensor, "tensor")
    positions = normalize_axes(axes, tensor.shape, tensor.names)
    for position, length in zip(positions, lengths, strict=True):
        size = tensor.shape[position]
        tensor = _resized(tensor, position, _length(size if length is None else length, size, function))
    result = apply(primitives.fft, tensor, axes=tuple(sorted(positions)), inverse=inverse)
    if eps is None:
        return result
    return elementwise.complex(
        *[_cleaned_part(part, eps) for part in (elementwise.real(result), elementwise.imag(result))]
    )


def _length(length: Any, size: int, function: str) -> int:
    """The length that an axis of `size` elements is cut or padded to."""
    if isinstance(length, str):
        if length != "power_of_two":
            raise NxValueError(f'{function}: a length is a whole number or "power_of_two", got {length!r}')
        return 1 << max(size - 1, 0).bit_length()
    length = shapes.static_int(length, "the length of a Fourier transform")
    if length < 1:
        raise NxValueError(f"{function}: a Fourier transform needs at least one element, got a length of {length}")
    return length


def _resized(tensor: Operand, axis: int, length: int) -> Tensor | Expr:
    size = tensor.shape[axis]
    if size >= length:
        return slice_along_axis(tensor, 0, length, axis=axis)
    config = [(0, length - size if position == axis else 0, 0) for position in range(tensor.rank)]
    return pad(tensor, 0, config)


def _cleaned_part(part: Operand, eps: float) -> Tensor | Expr:
    return select(less_equal(elementwise.abs(part), eps), types.to_real(part.type)(0), part)
