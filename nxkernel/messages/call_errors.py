"""Calls of public functions that Python cannot bind: by the names of other libraries, or with an error that helps.

The functions that people call are wrapped where they are exported; inside the package they are called as they are. A
wrapper does nothing but to catch the error of a call that Python could not even begin. Where
:mod:`nxkernel.messages.spellings` knows what is meant, the function is called with that; otherwise Python's TypeError
is rewritten with the signature and a hint.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from nxkernel import types
from nxkernel.errors import NxError, NxTypeError, message
from nxkernel.messages import other_libraries, spellings
from nxkernel.operand import Operand
from nxkernel.shapes import UnknownNameError

#: What other libraries call a parameter that takes other values, or has no other name of its own, and what is written
#: here; the first that a function has is meant. What means the same is accepted: :mod:`nxkernel.messages.spellings`.
SYNONYMS: dict[str, tuple[str, ...]] = {
    "length": ("lengths",), "n": ("order", "samples"), "num": ("parts",), "reverse": ("direction",),
    "kind": ("stable",), "std": ("standard_deviation",), "name": ("names",), "names": ("name",),
    "weight": ("weights", "kernel"), "shape": ("samples",),
    "stride": ("strides",), "dilation": ("kernel_dilation", "window_dilations"), "groups": ("feature_group_size",),
    "window": ("window_dimensions",), "kernel_size": ("window_dimensions", "window"), "pads": ("padding",),
    "pad_width": ("padding_config",), "constant_values": ("pad_value",), "mode": ("pad_value_or_type",),
    "probabilities": ("p",), "weights": ("p",),
    "lr": ("learning_rate",), "beta1": ("b1",), "beta2": ("b2",),
    "use_bias": ("bias",), "use_scale": ("scale",), "filters": ("features",), "out_channels": ("features",),
    "out_features": ("units",), "num_heads": ("heads",), "num_groups": ("groups",), "num_embeddings": ("size",),
    "pool_size": ("window",), "p": ("rate",), "bias_initializer": ("bias_init",),
    "kernel_initializer": ("kernel_init",), "data_format": ("channels",),
    "rcond": ("eps",), "tol": ("eps",), "index": ("indices",),
    "backend": ("compiler",), "device": ("compiler",),
}  # fmt: skip

#: Parameters that stand for another value than the one that was given under the other name.
_VALUES = {"channels": '"last"', "direction": '"desc"', "stable": "True", "compiler": '"auto"'}
#: Keywords that no function has, and what there is instead.
_NOWHERE = {
    "out": "Tensors are immutable: a call returns a new one.",
    "where": "Choose elements first: nx.select(mask, t, 0).",
    "initial": "Combine afterwards: nx.max(nx.reduce_max(t), initial), or nx.sum(t) + initial.",
    "dtype": 'Convert what it gives: nx.as_type(result, "f32").',
    "copy": "Tensors are immutable, so nobody needs a copy.",
    "activation": "An activation is a layer of its own: nn.serial(nn.dense(16), nn.relu).",
    "in_features": "The size of the input is found when init traces the network.",
    "in_channels": "The size of the input is found when init traces the network.",
    "input_shape": "The shape of the input is found when init traces the network.",
    "device": 'Tensors are made in the main memory; nx.backend_transfer(t, "cuda:0") brings them to a GPU.',
    "order": "Elements are in C order.",
}
#: Keywords that no layer has.
_NO_LAYER_HAS = {"name": "A layer that is called in another one is called by its variable: first = nn.dense(4)."}
#: What positional arguments beyond those that a function takes probably stand for.
_BEYOND = dict.fromkeys(("fft", "ifft", "rfft", "irfft"), ("length", "axis")) | {"iota": ("type",)}
#: Calls of which more is known than their parameters tell.
_INSTEAD: dict[str, tuple[str, ...]] = {
    "nn.flatten": ("Write nn.flatten(axes=1): so many axes stay in front.",),
    "nx.pad": ("Write nx.pad(t, 0, [(1, 1, 0)]): a value, and (low, high, interior) for each axis.",),
    "nx.concatenate": ("The tensors are one list: nx.concatenate([a, b], axis=0).",),
    "nx.stack": ("The tensors are one list: nx.stack([a, b], axis=0).",),
    "nx.eye": ("A shape is one argument: nx.eye((3, 4)), or nx.eye(3) for a square.",),
    "nx.select": ("Write nx.select(mask, a, b): where mask is not 0 elements are of a, elsewhere of b.",),
}
_COUNTING = "It counts from 0 and takes a shape: nx.iota((10,)), or start + nx.iota((stop - start,))."
#: The modules of functions that work element by element; those made from rows are in the first.
_ELEMENTWISE = (
    "nxkernel.ops",
    "nxkernel.ops.arithmetic.elementwise",
    "nxkernel.ops.arithmetic.elementary",
    "nxkernel.ops.arithmetic.comparison",
)


def explained(function: Callable[..., Any], owner: str) -> Callable[..., Any]:
    """A function that takes the names of other libraries, and whose errors for wrong arguments tell its signature.

    Parameters
    ----------
    function : callable
    owner : str
        What people write before its name: ``"nx"``.

    Returns
    -------
    callable
        With the documentation and the signature of the function; what is no Python function comes back as it is.

    Examples
    --------
    >>> explained(lambda tensor, *, axes=None: axes, "nx")(1, axis=0)
    0
    >>> explained(lambda tensor, *, axes=None: axes, "nx")(1, flavour=0)
    Traceback (most recent call last):
    nxkernel.errors.NxTypeError: <lambda> takes no flavour=.
      It is called as nx.<lambda>(tensor, *, axes=None).
    """
    if not isinstance(function, FunctionType):
        return function

    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        try:
            return function(*args, **named)
        except TypeError as error:
            # Whatever went wrong inside has a second frame.
            if error.__traceback__.tb_next is not None:
                raise
            other = spellings.documented(function, args, named)
            explanation = None if other else _told(function, owner, args, named) or error
        except UnknownNameError as error:
            if not _is_vectorized(error.name, args, named):
                raise
            explanation = error.vectorized()
        if explanation is not None:
            raise explanation from None
        # Outside of the handler, so that an error of this call is not told as one while that of the other was handled.
        return call(*other[0], **other[1])

    return call


def explain(namespace: dict[str, Any], names: Iterable[str], owner: str) -> None:
    """Replace the exported functions of a module by explained ones."""
    for name in names:
        function = namespace[name]
        if isinstance(function, FunctionType) and not hasattr(function, "__wrapped__"):
            namespace[name] = explained(function, owner)
            # What is pickled is found by this name, where it must be the same object.
            namespace[name].__module__ = namespace["__name__"]


def exported(function: Callable[..., Any]) -> Callable[..., Any]:
    """The public form of a function: itself, or the decorated one.

    What is pickled is found by its name, so that only this can be.

    Examples
    --------
    >>> exported(len) is len
    True
    """
    value: Any = sys.modules.get(getattr(function, "__module__", None) or "")
    for name in getattr(function, "__qualname__", "").split("."):
        value = getattr(value, name, None)
    return value if getattr(value, "__wrapped__", None) is function else function


def _is_vectorized(name: str, args: tuple, named: dict[str, Any]) -> bool:
    operands = [value for value in (*args, *named.values()) if isinstance(value, Operand)]
    return any(name == axis for operand in operands for axis, _ in operand.vectorized_axes)


def _told(function: FunctionType, owner: str, args: tuple, named: dict[str, Any]) -> NxError | None:
    """The rewritten error for a call that Python could not bind; None if there is nothing to add to Python's."""
    name = function.__name__
    parameters = inspect.signature(function).parameters
    kinds = {parameter.kind for parameter in parameters.values()}
    positional = [p.name for p in parameters.values() if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    form = f"It is called as {owner}.{name}{_signature(parameters)}."
    hints = _INSTEAD.get(f"{owner}.{name}", ())
    for key in named:
        other = spellings.meant(key, parameters)
        if other != key and other in named:
            return NxTypeError(message(f"{name} got {key}= and {other}=, which are one argument.", form))
    unknown = [key for key in named if spellings.meant(key, parameters) is None]
    if unknown and inspect.Parameter.VAR_KEYWORD not in kinds:
        what, *more = _unknown_keyword(function, unknown[0], named[unknown[0]], parameters, args)
        return NxTypeError(message(what, *(hints or more), form))
    if len(args) > len(positional) and inspect.Parameter.VAR_POSITIONAL not in kinds:
        what = f"{name} takes {_count(len(positional))} by position, got {len(args)}."
        if name == "iota" and isinstance(args[1], int):
            hints = (_COUNTING,)
        if f"{owner}.{name}" == "nx.jit":
            hints = ("Write nx.jit(f)(t), or nx.jit_apply(f, [t]) to call it at once.",)
        if name == "reshape" and not any(isinstance(size, Operand) for size in args[1:]):
            hints = (f"The shape is one tuple: nx.reshape(t, {args[1:]}), or t.reshape({args[1:]}).",)
        return NxTypeError(message(what, *(hints or _written(function, owner, args, parameters)), form))
    missing = [key for key in positional[len(args) :] if key not in named and _is_required(parameters[key])]
    missing += [p.name for p in parameters.values() if p.kind is p.KEYWORD_ONLY and _is_required(p)
                and p.name not in named]  # fmt: skip
    if missing:
        return NxTypeError(message(f"{name} misses {' and '.join(map(repr, missing))}.", *hints, form))
    return None


def _is_required(parameter: inspect.Parameter) -> bool:
    return parameter.default is inspect.Parameter.empty


def _count(number: int) -> str:
    return "no argument" if not number else "1 argument" if number == 1 else f"{number} arguments"


def _signature(parameters: Any) -> str:
    """The parameters as text, without types."""
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters.values()]
    return str(inspect.Signature(bare))


def _unknown_keyword(function: FunctionType, key: str, value: Any, parameters: Any, args: tuple) -> list[str]:
    name, text = function.__name__, _shown(value, key)
    free = list(parameters)[len(args) :]
    meant = next((other for other in SYNONYMS.get(key, ()) if other in free and other != key), None)
    if meant is None:
        what = f"{name} takes no {key}=."
        if key in ("axis", "axes", "dim") and not {"axis", "axes"} & set(parameters):
            if function.__module__ in _ELEMENTWISE:
                return [what, "It is element-wise, so no axis is special."]
            return [what, "It works on whole tensors or on their last axes: nx.transpose puts others there."]
        known = _NOWHERE | _NO_LAYER_HAS if function.__module__.startswith("nxkernel.nn.") else _NOWHERE
        near = other_libraries.near(key, free)
        return [what, known[key]] if key in known else [what, *(f"Did you mean {other}=?" for other in near)]
    return [f"{name} takes {meant}={_converted(meant, value, text)}, not {key}={text}."]


def _converted(meant: str, value: Any, text: str) -> str:
    """A value rewritten for the parameter that was meant."""
    if meant in _VALUES:
        return _VALUES[meant]
    if meant in ("axes", "names") and isinstance(value, int | str):
        return f"[{text}]"
    if meant in ("axes", "names") and isinstance(value, tuple):
        return repr(list(value))
    if meant == "axis" and isinstance(value, list | tuple) and len(value) == 1:
        return repr(value[0])
    if meant == "shape" and isinstance(value, int):
        return f"({text},)"
    if meant == "type":
        try:
            return f'"{types.normalize(value)}"'
        except NxError:
            return '"f32"'
    return text


def _shown(value: Any, name: str) -> str:
    """A value if its text is short, else the name of its parameter."""
    if isinstance(value, bool | int | float | complex | str | None) or (
        isinstance(value, list | tuple) and all(isinstance(entry, int | float | str | None) for entry in value)
    ):
        text = repr(value)
        if len(text) <= 40:
            return text
    return getattr(value, "__name__", name)


def _written(function: FunctionType, owner: str, args: tuple, parameters: Any) -> list[str]:
    """The call with positional arguments rewritten as keywords."""
    by_position = [p.name for p in parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    by_keyword = [p.name for p in parameters.values() if p.kind is p.KEYWORD_ONLY]
    order = _BEYOND.get(function.__name__, by_keyword)
    beyond = args[len(by_position) :]
    if order[:1] == ["axes"] and len(beyond) > 1 and all(type(value) is int for value in beyond):
        beyond = (beyond,)
    if len(beyond) > len(order):
        return []
    first = [_shown(value, name) for value, name in zip(args, by_position, strict=False)]
    rest = [
        f"{name}={_converted(name, value, _shown(value, name))}" for name, value in zip(order, beyond, strict=False)
    ]
    return [f"Write {owner}.{function.__name__}({', '.join([*first, *rest])})."]
