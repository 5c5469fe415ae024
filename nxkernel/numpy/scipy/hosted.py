"""Functions of SciPy's that a program calls in the interpreter, as one step, on the arrays that it has computed.

What such a function gives is found when the program is made, by a call with an example: its shapes and types depend on
those of its arguments alone, and a call whose results have others is an error.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.errors import NxTypeError, message
from nxkernel.library_functions import HostFunction
from nxkernel.numpy.arrays.array import as_value, wrap
from nxkernel.operand import Operand, Proxy
from nxkernel.ops.machinery.dispatch import apply, operand
from nxkernel.primitives import Spec
from nxkernel.shapes import unnamed

#: Makes an array of a shape and a type that a function takes.
Example = Callable[[tuple[int, ...], np.dtype], np.ndarray]


@dataclass(frozen=True)
class _Slot:
    """The place of an array among arguments that are known."""

    index: int


def _holds_arrays(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_holds_arrays, value))
    return isinstance(value, Operand | Proxy)


def is_traced(args: Sequence[Any], options: dict[str, Any]) -> bool:
    """Whether some argument is an array of the program, or holds one."""
    return any(map(_holds_arrays, (*args, *options.values())))


def _taken_out(value: Any, arrays: list[Any]) -> Any:
    """A structure with places instead of arrays, which are put into a list."""
    if isinstance(value, list | tuple) and any(isinstance(one, Operand | Proxy | np.ndarray) for one in value):
        parts = [_taken_out(one, arrays) for one in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, Operand | Proxy | np.ndarray):
        arrays.append(value)
        return _Slot(len(arrays) - 1)
    return value


def _filled(value: Any, arrays: Sequence[Any]) -> Any:
    if isinstance(value, _Slot):
        return arrays[value.index]
    if isinstance(value, list | tuple) and any(isinstance(one, _Slot) for one in value):
        parts = [_filled(one, arrays) for one in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        for one in value:
            yield from _leaves(one)
    else:
        yield value


def _rebuilt(like: Any, leaves: Iterator[Any]) -> Any:
    if isinstance(like, list | tuple):
        parts = [_rebuilt(one, leaves) for one in like]
        return type(like)(parts) if type(like) in (list, tuple) else type(like)(*parts)
    return next(leaves)


def _of_any_values(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    values = np.random.default_rng(0).uniform(0.5, 1.5, shape)
    return np.arange(values.size).reshape(shape).astype(dtype) if dtype.kind in "iub" else values.astype(dtype)


def hosted(theirs: Callable[..., Any], examples: dict[str, Example]) -> Callable[..., Any]:
    """A function of SciPy's as a step of a program.

    Parameters
    ----------
    theirs : callable
        Of arrays and of what is known while a program is made.
    examples : dict
        By parameter, what makes an array that it takes; other parameters take any values.
    """
    name = f"{theirs.__module__.split('._')[0]}.{theirs.__name__}"

    @functools.wraps(theirs)
    def called(*args: Any, **options: Any) -> Any:
        if not is_traced(args, options):
            return theirs(*args, **options)
        arrays: list[Any] = []
        known = _taken_out(tuple(args), arrays), {one: _taken_out(value, arrays) for one, value in options.items()}
        nodes = [operand(as_value(array)) for array in arrays]
        by_place = {slot.index: one for one, slot in _parameters(theirs, known).items() if isinstance(slot, _Slot)}
        given = [
            array if isinstance(array, np.ndarray) else examples.get(by_place.get(place, ""), _of_any_values)(
                tuple(node.shape), node.type.dtype
            )
            for place, (array, node) in enumerate(zip(arrays, nodes, strict=True))
        ]  # fmt: skip

        def run(*values: Any) -> Any:
            # Some write into what they are given, and compiled ones may refuse what is read-only.
            own = [np.array(value) if np.ndim(value) else np.asarray(value)[()] for value in values]
            return theirs(*_filled(known[0], own), **{one: _filled(value, own) for one, value in known[1].items()})

        result = _of_example(run, given, name)
        outputs = tuple([_spec(one, name) for one in _leaves(result)])
        function = HostFunction(
            name, (name, _frozen(known)), lambda *values: list(_leaves(run(*values))), outputs, len(outputs) == 1
        )
        found = apply(p.njit_call, *nodes, function=function)
        return _rebuilt(result, iter([wrap(one) for one in (found if type(found) is tuple else (found,))]))

    return called


def _of_example(run: Callable[..., Any], given: Sequence[Any], name: str) -> Any:
    try:
        with np.errstate(all="ignore"):
            return run(*given)
    except Exception as error:
        raise NxTypeError(
            message(
                f"{name}() gives no results for arrays of these shapes and types: {type(error).__name__}: {error}",
                "It was called with examples, to find the shapes of its results.",
            )
        ) from error


def _parameters(theirs: Callable[..., Any], known: tuple[tuple[Any, ...], dict[str, Any]]) -> dict[str, Any]:
    """Arguments by the names of parameters; none for functions that do not tell these."""
    try:
        return dict(inspect.signature(theirs).bind(*known[0], **known[1]).arguments)
    except (TypeError, ValueError):
        return {}


def _spec(value: Any, name: str) -> Spec:
    array = np.asarray(value)
    if array.dtype.kind not in "biufc":
        raise NxTypeError(
            message(f"{name}() gives {type(value).__name__}, which is no array.", "Call it before the definition.")
        )
    return Spec(types.normalize(array.dtype), array.shape, unnamed(array.shape))


def _frozen(known: Any) -> Any:
    """What is known of a call as what can be compared; something equal to nothing else where that cannot be told."""
    try:
        hash(_hashable(known))
    except TypeError:
        return object()
    return _hashable(known), repr(known)


def _hashable(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple([(one, _hashable(part)) for one, part in value.items()])
    return tuple(map(_hashable, value)) if isinstance(value, list | tuple) else value
