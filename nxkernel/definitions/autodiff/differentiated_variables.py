"""The variables that a function is differentiated by: traced as parameters; their gradients as containers."""

from __future__ import annotations

import copy
import functools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.definitions.calls.definition import Definition
from nxkernel.definitions.captures.object_contents import contents_of
from nxkernel.definitions.captures.snapshot import take_snapshot
from nxkernel.definitions.flow.values.mutable_arguments import MutableArgument
from nxkernel.definitions.keys import callables, containers
from nxkernel.definitions.keys.argument_identity import UNTOLD, captured, remember_written, written
from nxkernel.definitions.keys.leaves import is_leaf
from nxkernel.definitions.keys.static_values import definition_of
from nxkernel.errors import NxError, NxTypeError, NxValueError, message
from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr, TracedValue, VectorizedExpr, node_with
from nxkernel.messages.grammar import a, counted
from nxkernel.numpy.arrays.array import Array, ArrayValue, wrap
from nxkernel.operand import Proxy
from nxkernel.ops.machinery.dispatch import apply, operand
from nxkernel.shapes import describe


def begun(arguments: Sequence[Any], name: str) -> tuple[list[Any], list[Any], list[Any]]:
    """Arguments as values of their own: the structure of each, their leaves, and the arguments made of those."""
    leaves: list[tuple[str, Any]] = []
    structures = [containers.flatten(argument, "an argument", leaves, no_variable(name)) for argument in arguments]
    values = [started(leaf) for _, leaf in leaves]
    supply = iter(values)
    return structures, values, apart([containers.rebuild(structure, supply) for structure in structures])


def sharing(
    function: Any, name: str, own: Sequence[Any], options: Mapping[str, Any] | None = None
) -> Callable[..., Any]:
    """A function to be called with values of their own for its arguments; what is there twice is not assigned into.

    Parameters
    ----------
    function : callable
    name : str
        What is done with it, for the message.
    own : sequence
        The arguments, in whose places it gets values of their own.
    options : mapping, optional
        What it gets by name, as it is.

    Raises
    ------
    NxValueError
        Where one is another argument as well, or an array that the function captures, and the function tells.
    """
    parts = list(map(_leaves_in, own))
    beside = [*_leaves_in(dict(options or {})), *_held_by(function), *captured(tracing.current().outermost)]
    if _twice(id, parts, beside) and _tells(function):
        raise NxValueError(
            message(
                f"{name}: an argument is another argument, too, or an array that the function captures, and the "
                "function asks which arrays are the same one, as `a is b` and id(a) do.",
                *_ELSE,
            )
        )

    shared = _twice(_memory_of, parts, beside)

    def called(*given: Any, **options: Any) -> Any:
        pairs = [
            pair
            for leaves, made in zip(parts, given, strict=False)
            # A default takes the place of an argument that was left out.
            for pair in zip(leaves, _leaves_in(made), strict=False)
            if all(isinstance(leaf, Array | MutableArgument) for leaf in pair)
        ]
        roots = {one.root: one.root.doubt for pair in pairs if _memory_of(pair[0]) in shared for one in pair}
        for root in roots:
            root.doubt = functools.partial(_in_two_places, name)
        for value, made in pairs:
            # It is a copy of what a function around has in two places.
            if made.root not in roots and value.root.doubt is not None:
                roots[made.root], made.root.doubt = made.root.doubt, value.root.doubt
        try:
            return function(*given, **options)
        finally:
            for root, doubt in roots.items():
                root.doubt = doubt
            run = tracing.current().outermost
            remember_written(run, [(a, b) for a, b in pairs if b.root.writes or b.root in written(run)])

    return called


def _twice(key: Callable[[Any], Any], parts: list[list[Any]], beside: list[Any]) -> set[Any]:
    """What several arguments have in common, or one with what is there beside them."""
    seen, others = Counter(key(leaf) for leaves in parts for leaf in leaves), set(map(key, beside))
    return {each for each, count in seen.items() if count > 1 or each in others}


def _memory_of(leaf: Any) -> Any:
    return leaf.root if isinstance(leaf, Array | MutableArgument) else id(leaf)


def _tells(function: Any) -> bool:
    snapshot = take_snapshot(function)[0]
    return snapshot.identifies or snapshot.compares_memory


_ELSE = (
    "For what changes in both places, write a function of one argument that hands it on:",
    "lambda x: f(x, x). For values apart, give a copy in one of the places: x + 0.",
)


def _in_two_places(name: str) -> NxError:
    what = f"{name}: an array is assigned into whose memory is also that of another argument or captured array."
    return NxTypeError(message(what, *_ELSE))


def _leaves_in(value: Any) -> list[Any]:
    """The tensors in containers, and numbers of which it matters which object they are."""
    opened = containers.inside(value)
    if opened is not None:
        return [leaf for _, part in opened[2] for leaf in _leaves_in(part)]
    return [value] if is_leaf(value) and type(value) not in UNTOLD else []


def _held_by(function: Any) -> list[Any]:
    """The traced values that a function captures, in containers too, and those that functions do which it captures."""
    found, waiting, met = [], [function], {}
    while waiting:
        value = waiting.pop()
        if id(value) in met:
            continue
        met[id(value)] = value
        opened = containers.inside(value)
        if isinstance(value, TracedValue | Proxy):
            found.append(value)
        elif opened is not None:
            waiting += [part for _, part in opened[2]]
        elif isinstance(value, functools.partial):
            waiting += [value.func, *value.args, *value.keywords.values()]
        elif value is function or isinstance(value, FunctionType | Definition):
            plain = callables.plain(definition_of(value) or value)
            waiting += map(contents_of, getattr(plain, "__closure__", None) or ())
    return found


def started(leaf: Any) -> Any:
    """A leaf as a value of its own, so that what else is computed from it does not count."""
    value = operand(leaf)
    found = node(value)
    made = node_with(apply(p.reshape, found, shape=found.shape, names=found.names), value.spec)
    return wrap(made) if isinstance(leaf, ArrayValue) else made


def node(leaf: Any) -> Expr:
    """The node that stands for a leaf, with all entries of vectorized axes."""
    value = operand(leaf)
    return value.node if type(value) is VectorizedExpr else tracing.current().node(value)


def like(leaf: Any, made: Expr, tangent: bool = False) -> Any:
    """A node as a person sees a leaf: with its vectorized axes, and as NumPy's arrays where it is one.

    Parameters
    ----------
    leaf : Any
    made : Expr
    tangent : bool
        Whether it has the type of gradients, which may be another one than the leaf's.
    """
    spec = operand(leaf).spec
    if tangent and spec.type is not made.type:
        spec = spec._replace(type=made.type)
    return faced(node_with(made, spec), leaf)


def faced(value: Any, leaf: Any = None) -> Any:
    """A traced value as NumPy's arrays and scalars, where `leaf` is one or the program is NumPy's."""
    return (
        wrap(value) if isinstance(leaf, ArrayValue) or (types.follows_numpy() and not isinstance(leaf, Expr)) else value
    )


def selected(name: str, args: tuple, places: Sequence[int]) -> list[int]:
    """The places of positional arguments, counted from the first.

    Raises
    ------
    NxValueError
        Where there is none, or one is named twice: its gradient would go to one of the two.
    """
    found = [picked(name, args, place) for place in places]
    twice = next((place for place in found if found.count(place) > 1), None)
    if twice is not None:
        raise NxValueError(message(f"{name}: argnums has argument {twice} twice: {tuple(places)}.", "Name each once."))
    return found


def picked(name: str, args: tuple, place: int) -> int:
    """The place of a positional argument.

    Raises
    ------
    NxValueError
        Where there is none.
    """
    count = len(args)
    if not -count <= place < count:
        hint = (
            f"Places are 0 to {count - 1}." if count > 1 else "Its place is 0." if count else "Options have no place."
        )
        there = f"there {'is' if count == 1 else 'are'} {counted(count, 'positional argument')}"
        raise NxValueError(message(f"{name}: argnums has {place}, and {there}.", hint))
    return place % count


def places(argnums: Any) -> tuple[int, ...]:
    """The places of arguments, of what a person gave.

    Raises
    ------
    NxTypeError
        For what are no whole numbers.
    """
    found = (argnums,) if isinstance(argnums, int) else tuple(argnums) if hasattr(argnums, "__iter__") else ()
    if not found or any(isinstance(place, bool) or not isinstance(place, int) for place in found):
        raise NxTypeError(f"argnums is the place of an argument, or a tuple of places, got {argnums!r}")
    return found


def checked(function: Any, name: str) -> None:
    """Refuse what is no function that traced values can be given to.

    Raises
    ------
    NxTypeError
    """
    if isinstance(function, np.ufunc):
        raise NxTypeError(
            message(
                f"nx.{name} takes a function of traced values, and np.{function.__name__} works on arrays.",
                f"Give the function of nxkernel, nx.{function.__name__}, or lambda x: np.{function.__name__}(x).",
            )
        )
    if not callable(function):
        raise NxTypeError(message(f"nx.{name} takes a function, got {describe(function)}.", HOW[name]))


#: How functions of functions are called.
HOW = {
    "vmap": "Write nx.vmap(lambda entry: …)(entries).",
    "vjp": "Write value, pull = nx.vjp(lambda x: …, x).",
    "jvp": "Write nx.jvp(lambda x: …, (x,), (v,)).",
    "jacobian": "Write nx.jacobian(lambda x: …)(x).",
    "hessian": "Write nx.hessian(lambda x: …)(x).",
    "checkpoint": "Write nx.checkpoint(lambda x: …)(x).",
}


def inlined(function: Any) -> Any:
    """A definition as one that becomes part of another when that asks for it, whatever it says of conflicts."""
    if not isinstance(function, Definition) or function.on_conflict == "reuse":
        return function
    made = copy.copy(function)
    made.on_conflict = "reuse"
    return made


def of(function: Any, made: Callable[..., Any]) -> Definition:
    """A definition made of one of the user's, with its rules: numbers of a NumPy program are NumPy's there, too."""
    return Definition(made, promotion=function.face if isinstance(function, Definition) else None)


def apart(arguments: Sequence[Any]) -> list[Any]:
    """Arguments whose arrays are copies: what a function assigns into them goes nowhere."""
    return list(map(_apart, arguments))


def _apart(argument: Any) -> Any:
    leaves: list[tuple[str, Any]] = []
    try:
        structure = containers.flatten(argument, "", leaves, lambda path, value: _NoTensorError())
    except _NoTensorError:
        return argument
    supply = iter([wrap(operand(leaf)) if isinstance(leaf, ArrayValue) else leaf for _, leaf in leaves])
    return containers.rebuild(structure, supply)


class _NoTensorError(Exception):
    pass


def by_place(
    function: Callable[..., Any], args: Sequence[Any], options: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Arguments that came by name, as those after a static one do, in their places; and the other options."""
    args, options = list(args), dict(options)
    for name, parameter in list(callables.signature(function).parameters.items())[len(args) :]:
        if parameter.kind is not parameter.POSITIONAL_OR_KEYWORD or name not in options:
            break
        args.append(options.pop(name))
    return args, options


def transform(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Name a function that is made of one of the user's, whose contents are then what it is known by."""

    def mark(function: Callable[..., Any]) -> Callable[..., Any]:
        function.__name__ = function.__qualname__ = name
        function.__nx_transform__ = True
        return function

    return mark


def no_variable(
    name: str, hint: str = "argnums says which arguments they are for; others can be anything."
) -> Callable[[str, Any], Exception]:
    """Makes the error for what nothing can be differentiated by."""

    def refuse(path: str, value: Any) -> Exception:
        got = "None" if value is None else a(type(value).__name__)
        told = f"{name}: gradients are for tensors, numbers and containers of them, got {got}."
        return NxTypeError(message(told, hint))

    return refuse


def no_tensor(name: str) -> Callable[[str, Any], Exception]:
    """Makes the error for a function of values that is given something else."""

    def refuse(path: str, value: Any) -> Exception:
        got = "None" if value is None else a(type(value).__name__)
        return NxTypeError(f"{name} takes tensors, numbers and containers of them, got {got} for {path}")

    return refuse


def no_value(name: str) -> Callable[[str, Any], Exception]:
    """Makes the error for a function that gives no tensors."""

    def refuse(path: str, value: Any) -> Exception:
        got = "None" if value is None else a(type(value).__name__)
        hint = "A `return` may be missing." if value is None else "Return tensors and numbers."
        return NxTypeError(message(f"{name}: the function gives no tensor: {path} is {got}.", hint))

    return refuse
