"""The arrays that a program assigns into: refused where it may not, copied where it cannot, and given new values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nxkernel.definitions.devices import device_programs
from nxkernel.definitions.keys import source_locations
from nxkernel.definitions.outputs.calling_convention import CallingConvention
from nxkernel.errors import NxTypeError, message
from nxkernel.messages.grammar import a
from nxkernel.tensor.tensor import Tensor

#: Arrays or tensors, each with what a person would call it.
Named = Sequence[tuple[str, Any]]

#: The most work that is done to find out whether the elements of two arrays overlap whose bounds do.
_MOST_WORK = 100_000


def refuse(function: str, convention: CallingConvention, leaves: Named, others: Named) -> None:
    """Refuse a call whose program may not write into the arrays that it assigns into.

    Parameters
    ----------
    function : str
        What errors call it.
    convention : CallingConvention
    leaves : sequence of (str, object)
        The leaves of the arguments as the caller passed them: it is in these that arrays share their memory.
    others : sequence of (str, array)
        The captured arrays that it reads.

    Raises
    ------
    NxTypeError
        For an array that is read-only, one whose memory is also that of another argument or captured array, and one
        whose elements do not lie in the order that the program goes by.
    """
    assigned = [*zip(convention.changes, convention.assigned_at, strict=True)]
    for place in convention.reshaped:
        path, value = leaves[place]
        if isinstance(value, np.ndarray) and not value.flags.c_contiguous:
            # NumPy's reshape copies what does not lie in order, and gives a view of a transposed one that does.
            lines = [source_locations.line_of(source) for k, source in assigned if k == place]
            raise NxTypeError(
                message(
                    f"{function} sees {path} in another shape and assigns into that: the elements of {path} do "
                    "not lie in order, so that NumPy would see a copy instead of a view, or the reverse.",
                    *(lines[0] if lines else ()),
                    f"Pass one whose elements do, np.ascontiguousarray({path}), or index {path} as it is.",
                )
            )
    for place, source in assigned:
        path, value = leaves[place]
        if isinstance(value, np.ndarray) and not value.flags.writeable:
            line = source_locations.line_of(source)
            raise NxTypeError(
                message(f"{function} assigns into {path}, which is read-only.", *line, f"Pass {path}.copy().")
            )
        if isinstance(value, np.ndarray) and _may_overlap_itself(value):
            raise NxTypeError(
                message(
                    f"{function} assigns into {path}, of which several elements may lie in one place of memory.",
                    *source_locations.line_of(source),
                    f"Pass {path}.copy().",
                )
            )
    passed = [*leaves, *others]
    for place, source in [*assigned, *convention.copied]:
        path, value = leaves[place]
        for number, (other, array) in enumerate(passed if isinstance(value, np.ndarray) else ()):
            if number != place and _overlap(value, array):
                raise NxTypeError(
                    message(
                        f"{function} assigns into {path}, whose memory {other} shares.",
                        *source_locations.line_of(source),
                        f"Pass a copy: {path}.copy().",
                    )
                )


def refuse_shared(function: str, arrays: Named) -> None:
    """Refuse arrays that share memory and are not one, for a function that asks for that.

    Raises
    ------
    NxTypeError
    """
    for place, (name, value) in enumerate(arrays):
        for other, array in arrays[:place]:
            if array is not value and _may_share(array, value):
                raise NxTypeError(
                    message(
                        f"{function} asks whether arrays share memory, and {name} shares some with {other}: of "
                        "views that were made outside it cannot tell.",
                        f"Ask before the call and pass the answer as an option, or pass a copy: {name}.copy().",
                    )
                )


def copy_kept(convention: CallingConvention, values: Sequence[Any], given: list[Any]) -> None:
    """Put copies in the places of tensors that a program assigns into, and of arrays that an error is to leave alone.

    Parameters
    ----------
    convention : CallingConvention
    values : sequence
        The leaves of the arguments as the caller passed them.
    given : list of array
        What the program takes: these first.
    """
    for place in convention.changes:
        if not isinstance(values[place], np.ndarray) or convention.holds_back:
            given[place] = device_programs.duplicate(given[place])


def give_back(
    function: str, convention: CallingConvention, leaves: Named, given: Sequence[Any], made: Sequence[Any]
) -> None:
    """Put into the caller's arrays what a program assigned into copies of them.

    Parameters
    ----------
    function : str
        What errors call it.
    convention : CallingConvention
    leaves : sequence of (str, object)
        The leaves of the arguments as the caller passed them.
    given, made : sequence of array
        What the program took, and what it returned.

    Raises
    ------
    NxTypeError
        For a tensor whose new value is not among the results.
    """
    results = made[: len(made) - len(convention.changes)]
    for place, source in zip(convention.changes, convention.assigned_at, strict=True):
        (path, value), new = leaves[place], given[place]
        if isinstance(value, np.ndarray):
            if not np.may_share_memory(new, value):
                np.copyto(value, new)
        elif place not in convention.returned and not _is_among(new, results):
            # Which of the results it is cannot always be seen from the graph: a `return` may be one of several.
            raise NxTypeError(
                message(
                    f"{function} assigns into {path}, which is {a(type(value).__name__)}: those never change.",
                    *source_locations.line_of(source),
                    f"Return the new value of {path} from {function}, or pass a NumPy array.",
                )
            )


def _may_share(one: Any, other: Any) -> bool:
    """Whether the memory ranges of two arrays or tensors overlap."""
    one, other = (value.data if type(value) is Tensor else value for value in (one, other))
    return isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and np.may_share_memory(one, other)


def _may_overlap_itself(array: np.ndarray) -> bool:
    """Whether elements may lie in one place: some axis goes on by less than the axes within it take up."""
    extent = array.itemsize
    steps = sorted((abs(step), size) for step, size in zip(array.strides, array.shape, strict=True) if size > 1)
    for step, size in steps:
        if step < extent:
            return array.size > 0
        extent += step * (size - 1)
    return False


def _overlap(one: Any, other: Any) -> bool:
    """Whether two arrays or tensors have elements in common, or may have for all that can be found out quickly."""
    if not _may_share(one, other):
        return False
    one, other = (value.data if type(value) is Tensor else value for value in (one, other))
    try:
        return np.shares_memory(one, other, max_work=_MOST_WORK)
    except np.exceptions.TooHardError:
        return True


def _is_among(new: Any, results: Sequence[Any]) -> bool:
    new, *results = device_programs.on_host([new, *results])
    return any(_alike(new, result) for result in results)


def _alike(one: np.ndarray, other: np.ndarray) -> bool:
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
