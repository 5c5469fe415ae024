"""Options: static values by keyword. They are part of the key, so each new value is a new program."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nxkernel.definitions.keys.leaves import is_leaf
from nxkernel.errors import NxTypeError, message
from nxkernel.messages.grammar import counted
from nxkernel.numpy.forwarding import LEFT_OUT
from nxkernel.operand import Operand
from nxkernel.shapes import describe


def keyword(options: Mapping[str, Any], *required: Any, **defaults: Any) -> dict[str, Any]:
    """Check options that came as ``**opts``: required ones are there, others have defaults, none is unknown.

    Parameters
    ----------
    options : mapping
        What the caller gave.
    *required : str, or one list
        Names without a default; or a list of all that there are, as Nx takes it: names of options that may be given,
        and pairs of a name and its default.
    **defaults
        Names with their defaults.

    Returns
    -------
    dict
        Every option with its value; of a list only those without a default that were given.

    Raises
    ------
    NxTypeError
        For a missing or unknown option.

    Examples
    --------
    >>> keyword({"shape": (2, 2)}, "shape", type="f32")
    {'shape': (2, 2), 'type': 'f32'}
    >>> keyword({"shape": (2, 2)}, ["shape", "names", ("type", "f32")])
    {'shape': (2, 2), 'type': 'f32'}
    """
    if not isinstance(options, Mapping):
        raise NxTypeError(message(f"keyword checks options in a dict, got {describe(options)}.", "Give it **opts."))
    listed = len(required) == 1 and isinstance(required[0], list)
    allowed = _allowed(required[0] if listed else required)
    values = {name: pair[0] for name, pair in allowed.items() if pair} | defaults
    known = [*dict.fromkeys([*allowed, *defaults])]
    for name in options:
        if name not in known:
            raise NxTypeError(message(f"unknown option {name!r}.", _options(known)))
    for name in known:
        if name not in options and name not in values and not listed:
            raise NxTypeError(message(f"the option {name!r} is missing.", f"Give it by keyword: {name}=…"))
    return {name: (options if name in options else values)[name] for name in known if name in options or name in values}


def _allowed(names: Sequence[Any]) -> dict[str, tuple]:
    """The names of options, each with a tuple of its default, or an empty one."""
    allowed: dict[str, tuple] = {}
    for each in names:
        name, *default = each if isinstance(each, tuple) else (each,)
        if not isinstance(name, str) or len(default) > 1:
            raise NxTypeError(
                message(
                    f"keyword takes names of options, got {describe(each)}.",
                    'Write nx.keyword(opts, "shape", type="f32"), names that must be there and others with defaults,',
                    'or nx.keyword(opts, ["shape", ("type", "f32")]), a list of all that there are.',
                )
            )
        allowed[name] = tuple(default)
    return allowed


def placed(
    function: str,
    signature: inspect.Signature,
    positional: Sequence[inspect.Parameter],
    open_ended: bool,
    args: tuple,
    opts: dict[str, Any],
) -> tuple[tuple, dict[str, Any]]:
    """Move arguments that came by name, or have a default, to their positions; returns arguments and other options.

    Defaults that a function of NumPy's has itself are :data:`LEFT_OUT` before other arguments, and nothing at the end.

    Parameters
    ----------
    function : str
        The definition's name.
    signature : inspect.Signature
    positional : sequence of inspect.Parameter
        The positional parameters.
    open_ended : bool
        Whether the function has ``*args``.
    args, opts : tuple, dict
        What the caller gave.
    """
    __tracebackhide__ = True
    if len(args) > len(positional) and not open_ended:
        raise NxTypeError(
            message(
                f"{call(function, signature)} takes {counted(len(positional), 'positional argument')}, "
                f"got {len(args)}.",
                *(["Options go by keyword."] if _has_options(signature) else []),
            )
        )
    if len(args) >= len(positional):
        return args, opts
    arguments, rest = list(args), dict(opts)
    for parameter in positional[len(args) :]:
        if parameter.name in rest:
            arguments.append(rest.pop(parameter.name))
        elif parameter.default is not parameter.empty:
            arguments.append(parameter.default)
        else:
            raise NxTypeError(
                message(
                    f"{call(function, signature)} needs the argument {parameter.name!r}.",
                    f"It was given {counted(len(args), 'positional argument')}.",
                )
            )
    while arguments and arguments[-1] is LEFT_OUT:
        arguments.pop()
    return tuple(arguments), rest


def check(function: str, signature: inspect.Signature, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a call with defaults filled in, checked against the keyword-only parameters of a definition."""
    parameters = signature.parameters.values()
    known = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
    open_ended = any(p.kind is p.VAR_KEYWORD for p in parameters)
    for name in options:
        if name not in known and not open_ended:
            positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
            hint = _options(list(known))
            if name in positional:
                hint = f"{name!r} is a positional argument, and one was given in its place already."
            raise NxTypeError(message(f"{call(function, signature)} has no option {name!r}.", hint))
    for name, default in known.items():
        if default is inspect.Parameter.empty and name not in options:
            raise NxTypeError(
                message(
                    f"{call(function, signature)} needs the option {name!r}.",
                    f"Call it with {name}=…, or declare a default.",
                )
            )
    values = {name: options.get(name, default) for name, default in known.items()}
    values |= {name: value for name, value in options.items() if name not in known}
    for name, value in values.items():
        tensor_path = _tensor_in(value, name)
        if tensor_path:
            positional = "Make it a positional argument: declare it before `*`."
            if name not in known:
                positional = "A container of tensors alone is data: give the rest as another option."
            raise NxTypeError(
                message(
                    f"{call(function, signature)} got a tensor for the option {tensor_path!r}.",
                    f"Options are static values. {positional}",
                )
            )
    return values


def by_name(signature: inspect.Signature, options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split ``**options`` into data arguments and static options.

    Examples
    --------
    >>> by_name(inspect.signature(lambda t, *, by=1, **options: t), {"key": np.zeros(2), "by": 2, "training": True})
    ({'key': array([0., 0.])}, {'by': 2, 'training': True})
    """
    parameters = signature.parameters
    if not options or all(p.kind is not p.VAR_KEYWORD for p in parameters.values()):
        return {}, options
    names = [name for name in options if name not in parameters and is_data(options[name])]
    # Numbers of NumPy are as static as Python's: sizes are often such.
    data = {name: options[name] for name in names if not isinstance(options[name], np.generic)}
    return data, {name: value for name, value in options.items() if name not in data}


def further(signature: inspect.Signature, options: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of options that go into ``**options``, in their order.

    Examples
    --------
    >>> further(inspect.signature(lambda t, *, by=1, **options: t), {"key": 1, "by": 2, "also": 3})
    ('key', 'also')
    """
    return tuple([name for name in options if name not in signature.parameters])


def is_data(value: Any) -> bool:
    """Whether an option is a tensor or a container of tensors; numbers are static."""
    if isinstance(value, dict):
        return bool(value) and all(map(is_data, value.values()))
    if isinstance(value, tuple | list):
        return bool(value) and all(map(is_data, value))
    return is_leaf(value) and not isinstance(value, bool | int | float | complex)


def call(function: str, signature: inspect.Signature) -> str:
    """A function's name and signature, as its ``def`` line has them."""
    return f"{function}{signature.replace(return_annotation=inspect.Signature.empty)}"


def _options(known: list[str]) -> str:
    if not known:
        return "It has no options."
    return f"The option is {known[0]!r}." if len(known) == 1 else f"The options are {', '.join(map(repr, known))}."


def _tensor_in(value: Any, path: str) -> str:
    """The path of the first tensor in a value; empty when there is none."""
    if isinstance(value, Operand | np.ndarray):
        return path
    if isinstance(value, dict):
        inner = ((f"{path}[{key!r}]", item) for key, item in value.items())
    elif isinstance(value, list | tuple):
        inner = ((f"{path}[{index}]", item) for index, item in enumerate(value))
    else:
        return ""
    return next((tensor_path for name, item in inner if (tensor_path := _tensor_in(item, name))), "")


def _has_options(signature: inspect.Signature) -> bool:
    kinds = {parameter.kind for parameter in signature.parameters.values()}
    return bool(kinds & {inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD})
