"""What arguments may be called: the names of NumPy, JAX and PyTorch for parameters that mean the same here.

The documented name of a parameter is that of the signature. A call that Python cannot bind is read again with the other
names, and with arguments by position where NumPy has them; what fits then is called. Calls by the documented names
never come here.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from numbers import Integral
from typing import Any

#: By the name that is written, which parameter it is: the first of these that the function has.
SAME: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("axis", "axes", "dim", "dims"), ("axes", "axis")),
    **dict.fromkeys(("keepdims", "keepdim", "keep_dims", "keep_axis"), ("keep_axes",)),
    "dtype": ("type",), "fun": ("function",), "epsilon": ("eps",), "correction": ("ddof",),
    "n": ("length",), "num": ("n",), "N": ("n",), "M": ("m",), "s": ("lengths",), "k": ("offset",), "offset": ("k",),
    "a": ("tensor", "left"), "x": ("on_true", "tensor", "left"), "y": ("on_false", "right"), "b": ("right",),
    "condition": ("pred",), "a_min": ("min",), "a_max": ("max",), "newshape": ("new_shape",),
    "shape": ("new_shape",), "reps": ("repetitions",), "size": ("shape", "samples"), "num_samples": ("samples",),
    "low": ("min_val",), "high": ("max_val",), "minval": ("min_val",), "maxval": ("max_val",), "loc": ("mean",),
    "scale": ("standard_deviation",), "cov": ("covariance",), "descending": ("direction",),
}  # fmt: skip
#: Parameters that NumPy takes by position, too, and that are keywords here.
_BY_POSITION = frozenset({"axes", "axis", "k", "length", "n", "offset"})
#: Functions whose next parameter by position is not the first of their keywords: by name, which it is.
_NEXT = {**dict.fromkeys(("fft", "ifft", "rfft", "irfft"), "length"), "iota": "type"}
#: By a parameter, what it is called by most besides.
_COMMON = {"axes": ("axis",), "axis": ("axes",), "keep_axes": ("keepdims",), "type": ("dtype",)}
#: Functions of which several whole numbers are one argument, as in `t.reshape(2, 3)`, and after how many others.
_SPREAD = {"reshape": ("new_shape", 1), "transpose": ("axes", 1), "squeeze": ("axes", 1), "eye": ("n", 0)}

#: Arguments that have no effect here, where elements are in C order and nobody writes: by name, of which functions.
_WITHOUT_EFFECT = {
    "copy": {"array", "as_type", "reshape"},
    "order": {"array", "as_type", "empty", "flatten", "full", "ones", "reshape", "zeros"},
}

#: A call: what is passed by position and by name.
Arguments = tuple[tuple[Any, ...], dict[str, Any]]


@functools.cache
def _signature(function: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(function)


def meant(name: str, parameters: Mapping[str, Any]) -> str | None:
    """The parameter that a name stands for; None if there is no such parameter.

    Examples
    --------
    >>> meant("axis", {"tensor": 0, "axes": 0}), meant("out", {"tensor": 0})
    ('axes', None)
    """
    return name if name in parameters else next((other for other in SAME.get(name, ()) if other in parameters), None)


def documented(function: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> Arguments | None:
    """The same call by the names of the signature.

    Parameters
    ----------
    function : callable
    args, named : tuple, dict
        The arguments of a call that Python could not bind.

    Returns
    -------
    tuple of (tuple, dict), or None
        None where nothing is known by which it could be bound.

    Examples
    --------
    >>> documented(lambda tensor, *, axes=None, keep_axes=False: ..., (1,), {"axis": 0, "keepdims": True})
    ((1,), {'axes': 0, 'keep_axes': True})
    >>> documented(lambda tensor, *, axes=None: ..., (1, 0), {})
    ((1,), {'axes': 0})
    """
    signature = _signature(function)
    parameters = signature.parameters
    found: dict[str, Any] = {}
    for name, value in named.items():
        if function.__name__ in _WITHOUT_EFFECT.get(name, ()) and name not in parameters and value != "F":
            continue
        other = meant(name, parameters)
        if other is None or other in found:
            return None
        found[other] = _value(other, value)
    places = [each.name for each in parameters.values() if each.kind is each.POSITIONAL_OR_KEYWORD]
    several, before = _SPREAD.get(function.__name__, ("", 0))
    if several and len(args) > before + 1 and all(map(_is_whole, args[before:])):
        args, found = args[:before], {several: args[before:], **found}
    elif places and len(args) == len(places) + 1:
        free = next((each.name for each in parameters.values() if each.kind is each.KEYWORD_ONLY), None)
        free = _NEXT.get(function.__name__, free)
        if free not in _BY_POSITION or free in found or not _is_static(args[-1]):
            return None
        *args, found[free] = args
    try:
        signature.bind(*args, **found)
    except TypeError:
        return None
    return tuple(args), found


def accepted(function: Callable[..., Any]) -> inspect.Signature:
    """The signature of a function with what it is called by most besides, for tools that read no text.

    Parameters
    ----------
    function : callable
        One that takes other spellings.

    Returns
    -------
    inspect.Signature
        An axis that may come by position, several whole numbers in place of a tuple, and NumPy's names of parameters
        that have a default.

    Examples
    --------
    >>> print(accepted(lambda tensor, *, axes=None, keep_axes=False: ...))
    (tensor, axes=None, *, axis=None, keep_axes=False, keepdims=False)
    """
    signature = inspect.signature(function)
    parameters = signature.parameters
    free = _NEXT.get(function.__name__, next((p.name for p in parameters.values() if p.kind is p.KEYWORD_ONLY), ""))
    found = []
    for each in parameters.values():
        if each.name == free and free in _BY_POSITION and found:
            each = each.replace(kind=each.POSITIONAL_OR_KEYWORD)
        others = _COMMON.get(each.name, ()) if each.default is not each.empty else ()
        found += [each, *(each.replace(name=name, kind=each.KEYWORD_ONLY) for name in others if name not in parameters)]
    if function.__name__ in _SPREAD:
        found.append(inspect.Parameter("more", inspect.Parameter.VAR_POSITIONAL, annotation=int))
    return signature.replace(parameters=sorted(found, key=lambda each: each.kind))


def _value(parameter: str, value: Any) -> Any:
    """A value as the parameter has it; only those of one parameter differ."""
    return ("desc" if value else "asc") if parameter == "direction" and isinstance(value, bool) else value


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_static(value: Any) -> bool:
    """Whether a value is an axis, a number or several of them, and no tensor."""
    return (
        _is_whole(value)
        or isinstance(value, str | None)
        or (isinstance(value, list | tuple) and all(map(_is_static, value)))
    )
