"""Arguments that are static values though they are passed by position: ``static_argnames`` and ``static_argnums``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from nxkernel.definitions.keys import callables, options
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph.expr import TracedValue
from nxkernel.messages.grammar import a, counted
from nxkernel.numpy.forwarding import LEFT_OUT
from nxkernel.operand import Operand, Proxy
from nxkernel.shapes import describe

Names = str | Iterable[str] | None
Numbers = int | Iterable[int] | None


#: The options that name parameters which are static values, and those whose tensors are given away.
STATIC, DONATED = ("static_argnames", "static_argnums"), ("donate_argnames", "donate_argnums")


def named(
    function: str, signature: inspect.Signature, names: Names, numbers: Numbers, options_: tuple[str, str] = STATIC
) -> frozenset[str]:
    """The names of the parameters that ``static_argnames`` or ``donate_argnames`` and their numbers select.

    Parameters
    ----------
    function : str
        Its name, for errors.
    signature : inspect.Signature
    names : str or iterable of str, optional
        Parameters by name.
    numbers : int or iterable of int, optional
        Parameters by position, from 0; negative ones count from the end.
    options_ : (str, str), optional
        The names of these two options.

    Raises
    ------
    NxTypeError
        For a name that no parameter has, and for parameters that cannot be given by name.
    NxValueError
        For a position without a parameter.

    Examples
    --------
    >>> signature = inspect.signature(lambda x, n, mode: x)
    >>> sorted(named("f", signature, "n", 2))
    ['mode', 'n']
    """
    parameters = signature.parameters
    placed = [p for p in parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    open_ended = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    shown = options.call(function, signature)
    selected = set()
    by_name, by_place = options_
    for name in _listed(by_name, names, str, "names"):
        if name not in parameters and not open_ended:
            known = ", ".join(map(repr, parameters)) or "none"
            raise NxTypeError(
                message(f"{shown} has no parameter {name!r}, which {by_name} names.", f"Its parameters: {known}.")
            )
        selected.add(name)
    rest = options_ is DONATED and any(p.kind is p.VAR_POSITIONAL for p in parameters.values())
    for number in _listed(by_place, numbers, int, "places"):
        if rest and number >= len(placed):
            selected.add(callables.rest(signature, number - len(placed) + 1)[-1])
            continue
        if not -len(placed) <= number < len(placed):
            raise NxValueError(
                message(
                    f"{shown} has {counted(len(placed), 'positional parameter')}, and {by_place} has {number}.",
                    "Places count from 0.",
                )
            )
        selected.add(placed[number].name)
    for name in selected & parameters.keys() if options_ is STATIC else ():
        kind = parameters[name].kind
        if kind in (kind.POSITIONAL_ONLY, kind.VAR_POSITIONAL, kind.VAR_KEYWORD):
            raise NxTypeError(
                message(
                    f"{name!r} of {shown} cannot be a static argument: it has no name that a call could use.",
                    "Declare it after `*`, where every argument is static.",
                )
            )
    return frozenset(selected)


def _listed(what: str, values: Any, kind: type, plural: str) -> list[Any]:
    if values is None:
        return []
    listed = [values] if isinstance(values, kind) else values
    if not isinstance(listed, list | tuple | set | frozenset | range) or any(type(each) is not kind for each in listed):
        raise NxTypeError(f"{what} takes {plural}, such as {'(1, 2)' if kind is int else repr(('n', 'mode'))}, "
                          f"got {describe(values)}")  # fmt: skip
    return list(listed)


def check(function: str, name: str, value: Any) -> None:
    """Refuse a static argument that cannot be part of a key.

    Raises
    ------
    NxTypeError
        For arrays, tensors and other values that cannot be hashed.
    """
    if isinstance(value, Operand) or hasattr(value, "__array__"):
        error = NxTypeError(
            message(
                f"{function} got {describe(value)} for {name!r}, which is a static argument.",
                f"Static arguments are Python values. Take {name!r} out of static_argnames to pass arrays.",
            )
        )
        asked = value.__nx_operand__() if isinstance(value, Proxy) else value
        if isinstance(asked, TracedValue):
            # A number of the call around it may become static, too.
            error.value = asked
        raise error
    try:
        hash(value)
    except TypeError:
        instead = {list: "tuple", set: "frozenset", bytearray: "bytes"}.get(type(value))
        raise NxTypeError(
            message(
                f"{function} got {a(type(value).__name__)} for {name!r}, which is a static argument and part of the "
                "key: it must be hashable.",
                f"Pass a {instead}." if instead else "Pass a tuple, or a frozen dataclass.",
            )
        ) from None


def split_static(
    args: tuple, names: list[str], is_static: Callable[[str, Any], bool]
) -> tuple[tuple, list[str], list[str], dict[str, Any]]:
    """Split off the static arguments: returns the others, their names, which go by keyword, and the static ones.

    Those that are left to the function's own defaults are dropped.

    Parameters
    ----------
    args : tuple
    names : list of str
        The names of the arguments.
    is_static : callable
        Whether an argument is static, from its name and value.
    """
    __tracebackhide__ = True
    pairs = list(zip(names, args, strict=True))
    left_out = [name for name, value in pairs if value is LEFT_OUT]
    static = {name: value for name, value in pairs if value is not LEFT_OUT and is_static(name, value)}
    if not static and not left_out:
        return args, names, [], {}
    first = min(map(names.index, [*static, *left_out]))
    others = [(name, value) for name, value in pairs if name not in static and name not in left_out]
    keywords = [name for name, _ in others if names.index(name) > first]
    return tuple(value for _, value in others), [name for name, _ in others], keywords, static
