"""Options of windows and convolutions: strides, dilations and padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nxkernel import shapes
from nxkernel.errors import NxValueError, message
from nxkernel.operand import Operand
from nxkernel.shapes import static_int

Pairs = tuple[tuple[int, int], ...]


def along_axes(value: Any, count: int, argument: str) -> tuple[int, ...]:
    """One integer of at least 1 for each of `count` axes, from such a sequence or a single integer."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = (value,) * count
    if not isinstance(value, list | tuple) or len(value) != count:
        raise NxValueError(
            message(
                f"{argument} has one entry for each of {count} axes, got {_given(value)}.",
                f"One number stands for all axes: {argument}=2.",
            )
        )
    numbers = tuple(static_int(number, f"an entry of {argument}") for number in value)
    if min(numbers, default=1) < 1:
        raise NxValueError(f"the entries of {argument} are at least 1, got {numbers}")
    return numbers


def padding_of(padding: Any, window: Sequence[int], dilations: Sequence[int]) -> Pairs:
    """The padding before and after each axis that a window moves along.

    With ``"same"`` there are as many places for a window as there are elements, when its stride is 1.
    """
    if isinstance(padding, str) and padding == "valid":
        return ((0, 0),) * len(window)
    if isinstance(padding, str) and padding == "same":
        beyond = [(size - 1) * dilation for size, dilation in zip(window, dilations, strict=True)]
        return tuple((extra // 2, extra - extra // 2) for extra in beyond)
    if not isinstance(padding, list | tuple) or len(padding) != len(window):
        raise NxValueError(
            message(
                f'padding is "valid", "same" or one (low, high) for each of {len(window)} axes, got {_given(padding)}.',
                f"{padding} on every side is written {[(padding, padding)] * len(window)!r}."
                if isinstance(padding, int)
                else f"No padding is written {[(0, 0)] * len(window)!r}.",
            )
        )
    return tuple(_pair(entry) for entry in padding)


def check_window(
    tensor: Operand, axes: Sequence[int], sizes: Sequence[int], window: Sequence[int], dilations: Sequence[int]
) -> None:
    """Raise an error for a window longer than its axis; `sizes` are those of `axes` after padding."""
    for axis, size, width, dilation in zip(axes, sizes, window, dilations, strict=True):
        reach = (width - 1) * dilation + 1
        if reach > size and (size or width > 1):
            spread = f", spread by {dilation} over {reach} elements," if dilation > 1 else ""
            padded = "" if size == tensor.shape[axis] else f", which has size {size} with its padding"
            raise NxValueError(
                message(
                    f"a window of size {width}{spread} does not fit axis {axis} of {tensor.spec}{padded}.",
                    'Pad the tensor, for example with padding="same", or take a smaller window.',
                )
            )


def _pair(entry: Any) -> tuple[int, int]:
    if not isinstance(entry, list | tuple) or len(entry) != 2:
        raise NxValueError(f"the padding of an axis is (low, high), got {_given(entry)}")
    low, high = (static_int(number, "padding") for number in entry)
    return low, high


def _given(value: Any) -> str:
    return repr(value) if isinstance(value, list | tuple) else shapes.describe(value)
