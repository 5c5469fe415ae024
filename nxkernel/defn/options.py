"""Options: static values by keyword. They are part of the key, so each new value is a new program."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from nxkernel.errors import NxTypeError, message
from nxkernel.operand import Operand


def keyword(options: Mapping[str, Any], *required: str, **defaults: Any) -> dict[str, Any]:
    """Check options given as ``**opts``: the required ones are there, the others have defaults, none is unknown.

    Parameters
    ----------
    options : mapping
        What the caller gave.
    *required : str
        Names without a default.
    **defaults
        Names with their defaults.

    Returns
    -------
    dict
        Every option with its value.

    Raises
    ------
    NxTypeError
        For a missing or unknown option.

    Examples
    --------
    >>> keyword({"shape": (2, 2)}, "shape", type="f32")
    {'shape': (2, 2), 'type': 'f32'}
    """
    known = [*required, *defaults]
    for name in options:
        if name not in known:
            raise NxTypeError(
                message(f"unknown option {name!r}.", f"The options are {', '.join(map(repr, known)) or 'none'}.")
            )
    for name in required:
        if name not in options:
            raise NxTypeError(message(f"the option {name!r} is missing.", f"Give it by keyword: {name}=…"))
    return {name: options.get(name, defaults.get(name)) for name in known}


def check(function: str, signature: inspect.Signature, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a call with defaults filled in, checked against the keyword-only parameters of a definition."""
    parameters = signature.parameters.values()
    known = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
    open_ended = any(p.kind is p.VAR_KEYWORD for p in parameters)
    call = f"{function}{_brief(signature)}"
    for name, value in options.items():
        if name not in known and not open_ended:
            hint = f"The options are {', '.join(map(repr, known))}." if known else "It has no options."
            positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
            if name in positional:
                hint = f"{name!r} is a positional argument: pass it without its name."
            raise NxTypeError(message(f"{call} has no option {name!r}.", hint))
        if isinstance(value, Operand | np.ndarray):
            raise NxTypeError(
                message(
                    f"{call} got a tensor for the option {name!r}.",
                    "Options are static values. Make it a positional argument: declare it before `*`.",
                )
            )
    missing = [name for name, default in known.items() if default is inspect.Parameter.empty and name not in options]
    if missing:
        raise NxTypeError(
            message(f"{call} needs the option {missing[0]!r}.", f"Call it with {missing[0]}=…, or declare a default.")
        )
    return {**{name: default for name, default in known.items() if name not in options}, **options}


def _brief(signature: inspect.Signature) -> str:
    return str(signature.replace(return_annotation=inspect.Signature.empty))


def freeze(value: Any) -> Any:
    """An option's value as part of a key: 1, 1.0 and True differ, lists and dicts count by their contents."""
    if isinstance(value, float):
        return ("float", value.hex())
    if isinstance(value, list | tuple):
        return (type(value).__name__, *(freeze(item) for item in value))
    if isinstance(value, dict):
        return ("dict", *((repr(key), freeze(item)) for key, item in value.items()))
    if isinstance(value, set | frozenset):
        return ("set", *sorted(map(repr, value)))
    try:
        hash(value)
    except TypeError:
        return (type(value).__name__, id(value))
    return (type(value).__name__, value)
