"""Functions of NumPy's and SciPy's that a program calls in the interpreter, on the arrays that it has computed.

What such a function gives is found when the program is made, by a call with an example: its shapes and types depend on
those of its arguments alone, and a call whose results have others is an error.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.errors import NxTypeError, message
from nxkernel.library_functions import HostFunction
from nxkernel.numpy.arrays.array import as_value, wrap
from nxkernel.operand import Operand, Proxy
from nxkernel.ops.machinery.dispatch import apply, operand
from nxkernel.ops.machinery.known_parts import Slot, filled, frozen, given_copies, taken_out
from nxkernel.primitives import Spec
from nxkernel.shapes import unnamed

#: Makes an array of a shape and a type that a function takes.
Example = Callable[[tuple[int, ...], np.dtype], np.ndarray]


def _holds_arrays(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_holds_arrays, value))
    return isinstance(value, Operand | Proxy)


def is_traced(args: Sequence[Any], options: dict[str, Any]) -> bool:
    """Whether some argument is an array of the program, or holds one."""
    return any(map(_holds_arrays, (*args, *options.values())))


def leaves(value: Any) -> Iterator[Any]:
    """The arrays and numbers of a result, in order."""
    if isinstance(value, list | tuple):
        for one in value:
            yield from leaves(one)
    else:
        yield value


def rebuilt(like: Any, leaves: Iterator[Any]) -> Any:
    """A container of other leaves, built as another one is."""
    if isinstance(like, list | tuple):
        parts = [rebuilt(one, leaves) for one in like]
        return type(like)(parts) if type(like) in (list, tuple) else type(like)(*parts)
    return next(leaves)


def _of_any_values(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    values = np.random.default_rng(0).uniform(0.5, 1.5, shape)
    return np.arange(values.size).reshape(shape).astype(dtype) if dtype.kind in "iub" else values.astype(dtype)


def hosted(
    theirs: Callable[..., Any],
    examples: dict[str, Example],
    name: str = "",
    underivable: str = HostFunction.underivable,
) -> Callable[..., Any]:
    """A function of NumPy's or SciPy's as a step of a program.

    Parameters
    ----------
    theirs : callable
        Of arrays and of what is known while a program is made.
    examples : dict
        By parameter, what makes an array that it takes; other parameters take any values.
    name : str, optional
        As people call it, where the function does not tell.
    underivable : str, optional
        For errors: why it has no gradient.
    """
    name = name or f"{theirs.__module__.split('._')[0]}.{theirs.__name__}"

    @functools.wraps(theirs)
    def called(*args: Any, **options: Any) -> Any:
        if not is_traced(args, options):
            return theirs(*args, **options)
        arrays: list[Any] = []
        known = (
            taken_out(tuple(args), arrays),
            {one: taken_out(value, arrays) for one, value in options.items()},
        )
        nodes = [operand(as_value(array)) for array in arrays]
        by_place = {slot.index: one for one, slot in _parameters(theirs, known).items() if isinstance(slot, Slot)}
        given = [
            array if isinstance(array, np.ndarray) else examples.get(by_place.get(place, ""), _of_any_values)(
                tuple(node.shape), node.type.dtype
            )
            for place, (array, node) in enumerate(zip(arrays, nodes, strict=True))
        ]  # fmt: skip

        def run(*values: Any) -> Any:
            own = given_copies(values)
            return theirs(
                *filled(known[0], own),
                **{one: filled(value, own) for one, value in known[1].items()},
            )

        return step(name, (name, frozen(known)), run, nodes, _of_example(run, given, name), underivable)

    return called


def step(
    name: str, identity: tuple, run: Callable[..., Any], arrays: Sequence[Any], example: Any,
    underivable: str = HostFunction.underivable,
) -> Any:  # fmt: skip
    """A call in the running program, for arrays and traced values, of what gives results like an example."""
    outputs = tuple([spec_like(one, name) for one in leaves(example)])
    single = len(outputs) == 1
    function = HostFunction(
        name, identity, lambda *values: list(leaves(run(*values))), outputs, single, underivable=underivable
    )
    found = apply(p.njit_call, *map(operand, arrays), function=function)
    return rebuilt(example, iter([wrap(one) for one in (found if type(found) is tuple else (found,))]))


def is_of_numbers(value: Any) -> bool:
    """Whether a result is an array or number, or a plain container of such."""
    if isinstance(value, list | tuple):
        # Results of statistics are tuples that cannot be made of their parts alone.
        plain = type(value) in (list, tuple) or hasattr(value, "_make")
        return plain and bool(value) and all(map(is_of_numbers, value))
    is_array = isinstance(value, np.ndarray | np.generic | bool | int | float | complex)
    return is_array and np.asarray(value).dtype.kind in "biufc"


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


def spec_like(value: Any, name: str) -> Spec:
    """What tells the shape and type of a result; `name` is that of the function which gave it, for errors."""
    array = np.asarray(value)
    if array.dtype.kind not in "biufc":
        raise NxTypeError(
            message(f"{name}() gives {type(value).__name__}, which is no array.", "Call it before the definition.")
        )
    return Spec(types.normalize(array.dtype), array.shape, unnamed(array.shape))
