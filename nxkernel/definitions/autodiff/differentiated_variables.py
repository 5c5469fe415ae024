"""The variables that a function is differentiated by: traced as parameters; their gradients as containers."""

from __future__ import annotations

import copy
import functools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.container_classes.declarations import hint as class_hint
from nxkernel.definitions.calls.definition import Definition
from nxkernel.definitions.captures.snapshot import take_snapshot
from nxkernel.definitions.flow.operators.call_dispatch import seen
from nxkernel.definitions.flow.values.mutable_arguments import MutableArgument
from nxkernel.definitions.keys import callables, containers
from nxkernel.definitions.keys.argument_identity import WITHOUT_IDENTITY, captured, remember_written, written
from nxkernel.definitions.keys.leaves import is_leaf
from nxkernel.definitions.keys.static_values import contents_of, definition_of
from nxkernel.errors import NxError, NxTypeError, NxValueError, message
from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr, TracedValue, VectorizedExpr, node_with
from nxkernel.messages.grammar import a, counted
from nxkernel.numpy import forwarding
from nxkernel.numpy.arrays.array import Array, ArrayValue, wrap
from nxkernel.operand import Proxy
from nxkernel.ops.machinery.dispatch import apply, operand
from nxkernel.shapes import describe


def as_variables(arguments: Sequence[Any], name: str) -> tuple[list[Any], list[Any], list[Any]]:
    """Copy arguments into new variables: returns each one's structure, the leaves, and arguments made of them."""
    leaves: list[tuple[str, Any]] = []
    structures = [containers.flatten(argument, "an argument", leaves, no_variable(name)) for argument in arguments]
    values = [own_value(leaf) for _, leaf in leaves]
    supply = iter(values)
    return structures, values, separate_copies([containers.rebuild(structure, supply) for structure in structures])


def guard_shared_arrays(
    function: Any, name: str, own: Sequence[Any], options: Mapping[str, Any] | None = None
) -> Callable[..., Any]:
    """A function in which an array that has two names among its inputs must not be assigned into.

    Parameters
    ----------
    function : callable
    name : str
        The transformation, for messages.
    own : sequence
        The arguments of which it gets copies.
    options : mapping, optional
        Its keyword arguments.

    Raises
    ------
    NxValueError
        If an argument is also another one, or a captured array, and the function compares identities.
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

    def called(*arguments: Any, **options: Any) -> Any:
        pairs = [
            pair
            for leaves, argument in zip(parts, arguments, strict=False)
            # A default takes the place of an argument that was left out.
            for pair in zip(leaves, _leaves_in(argument), strict=False)
            if all(isinstance(leaf, Array | MutableArgument) for leaf in pair)
        ]
        roots = {one.root: one.root.doubt for pair in pairs if _memory_of(pair[0]) in shared for one in pair}
        for root in roots:
            root.doubt = functools.partial(_in_two_places, name)
        for value, argument in pairs:
            # It is a copy of an array that an outer transformation passed twice.
            if argument.root not in roots and value.root.doubt is not None:
                roots[argument.root], argument.root.doubt = argument.root.doubt, value.root.doubt
        try:
            return seen(function)(*arguments, **options)
        finally:
            for root, doubt in roots.items():
                root.doubt = doubt
            run = tracing.current().outermost
            remember_written(run, [(a, b) for a, b in pairs if b.root.writes or b.root in written(run)])

    return called


def _twice(key: Callable[[Any], Any], parts: list[list[Any]], beside: list[Any]) -> set[Any]:
    """The keys that leaves of several arguments have in common, or that one shares with what is `beside` them."""
    seen, others = Counter(key(leaf) for leaves in parts for leaf in leaves), set(map(key, beside))
    return {each for each, count in seen.items() if count > 1 or each in others}


def _memory_of(leaf: Any) -> Any:
    """The identity of the memory that a leaf lies in."""
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
    """The tensors in a container, and its numbers whose identity counts."""
    opened = containers.inside(value)
    if opened is not None:
        return [leaf for _, part in opened[2] for leaf in _leaves_in(part)]
    return [value] if is_leaf(value) and type(value) not in WITHOUT_IDENTITY else []


def _held_by(function: Any) -> list[Any]:
    """The traced values in a function's closure, in containers and inner functions there, too."""
    values, waiting, met = [], [function], {}
    while waiting:
        value = waiting.pop()
        if id(value) in met:
            continue
        met[id(value)] = value
        opened = containers.inside(value)
        if isinstance(value, TracedValue | Proxy):
            values.append(value)
        elif opened is not None:
            waiting += [part for _, part in opened[2]]
        elif isinstance(value, functools.partial):
            waiting += [value.func, *value.args, *value.keywords.values()]
        elif value is function or isinstance(value, FunctionType | Definition):
            plain = callables.plain(definition_of(value) or value)
            waiting += map(contents_of, getattr(plain, "__closure__", None) or ())
    return values


def own_value(leaf: Any) -> Any:
    """A copy of a leaf as a node of its own, so that gradients by it ignore other uses of the original."""
    value = operand(leaf)
    source = node(value)
    copy_ = node_with(apply(p.reshape, source, shape=source.shape, names=source.names), value.spec)
    return wrap(copy_) if isinstance(leaf, ArrayValue) else copy_


def node(leaf: Any) -> Expr:
    """The graph node of a leaf; with vectorized axes, the node of all entries."""
    value = operand(leaf)
    return value.node if type(value) is VectorizedExpr else tracing.current().node(value)


def like(leaf: Any, result: Expr, tangent: bool = False) -> Any:
    """A graph node in the form that the user gave a leaf in: with vectorized axes, and as a NumPy array if it was one.

    Parameters
    ----------
    leaf : Any
    result : Expr
    tangent : bool
        Whether the node has the type of a gradient, and not the leaf's.
    """
    spec = operand(leaf).spec
    if tangent and spec.type is not result.type:
        spec = spec._replace(type=result.type)
    return in_dialect(node_with(result, spec), leaf)


def in_dialect(value: Any, leaf: Any = None) -> Any:
    """A traced value, wrapped as a NumPy array or scalar if `leaf` is one or NumPy's rules hold."""
    return (
        wrap(value) if isinstance(leaf, ArrayValue) or (types.follows_numpy() and not isinstance(leaf, Expr)) else value
    )


def selected(name: str, args: tuple, argnums: Sequence[int]) -> list[int]:
    """The positions in `argnums`, counted from the first argument.

    Raises
    ------
    NxValueError
        If there is no such argument, or one is named twice.
    """
    positions = [position(name, args, position_) for position_ in argnums]
    twice = next((position_ for position_ in positions if positions.count(position_) > 1), None)
    if twice is not None:
        raise NxValueError(message(f"{name}: argnums has argument {twice} twice: {tuple(argnums)}.", "Name each once."))
    return positions


def position(name: str, args: tuple, number: int) -> int:
    """The position of one argument, counted from the first.

    Raises
    ------
    NxValueError
        If there is no such argument.
    """
    count = len(args)
    if not -count <= number < count:
        hint = (
            f"Places are 0 to {count - 1}." if count > 1 else "Its place is 0." if count else "Options have no place."
        )
        there = f"there {'is' if count == 1 else 'are'} {counted(count, 'positional argument')}"
        raise NxValueError(message(f"{name}: argnums has {number}, and {there}.", hint))
    return number % count


def argument_positions(argnums: Any) -> tuple[int, ...]:
    """``argnums`` as a tuple of ints, checked.

    Raises
    ------
    NxTypeError
        For anything but integers.
    """
    positions = (argnums,) if isinstance(argnums, int) else tuple(argnums) if hasattr(argnums, "__iter__") else ()
    if not positions or any(isinstance(position_, bool) or not isinstance(position_, int) for position_ in positions):
        raise NxTypeError(f"argnums is the place of an argument, or a tuple of places, got {argnums!r}")
    return positions


def checked(function: Any, name: str) -> Any:
    """`function` as it can be called with traced values: NumPy's pass on what they get.

    Raises
    ------
    NxTypeError
        For what is no function.
    """
    if not callable(function):
        raise NxTypeError(message(f"nx.{name} takes a function, got {describe(function)}.", HOW[name]))
    return forwarding.traceable(function)


#: How each transformation is written.
HOW = {
    "vmap": "Write nx.vmap(lambda entry: …)(entries).",
    "vjp": "Write value, pull = nx.vjp(lambda x: …, x).",
    "custom_jvp": "Write @nx.custom_jvp above the function, and @f.defjvp above its rule.",
    "linearize": "Write value, push = nx.linearize(lambda x: …, x).",
    "jacfwd": "Write nx.jacfwd(lambda x: …)(x).",
    "jacrev": "Write nx.jacrev(lambda x: …)(x).",
    "jvp": "Write nx.jvp(lambda x: …, (x,), (v,)).",
    "jacobian": "Write nx.jacobian(lambda x: …)(x).",
    "hessian": "Write nx.hessian(lambda x: …)(x).",
    "checkpoint": "Write nx.checkpoint(lambda x: …)(x).",
}


def inlined(function: Any) -> Any:
    """A copy of a definition that is inlined into the trace around it, whatever its ``on_conflict`` says."""
    if not isinstance(function, Definition) or function.on_conflict == "reuse":
        return function
    copy_ = copy.copy(function)
    copy_.on_conflict = "reuse"
    return copy_


def of(function: Any, transformed: Callable[..., Any], promotion: str | None = None) -> Definition:
    """Make a definition of a transformed function, in the dialect of the function that was transformed."""
    if isinstance(function, Definition):
        return Definition(transformed, promotion=promotion or function.promotion, ruled_by=function.ruled_by)
    return Definition(transformed, promotion=promotion, ruled_by=function)


def separate_copies(arguments: Sequence[Any]) -> list[Any]:
    """Copies of arguments, so that what a function assigns into them is not seen by the caller."""
    return list(map(_copied, arguments))


def _copied(argument: Any) -> Any:
    leaves: list[tuple[str, Any]] = []
    try:
        structure = containers.flatten(argument, "", leaves, lambda path, value: _NoTensorError())
    except _NoTensorError:
        return argument
    supply = iter([wrap(operand(leaf)) if isinstance(leaf, ArrayValue) else leaf for _, leaf in leaves])
    return containers.rebuild(structure, supply)


class _NoTensorError(Exception):
    pass


def by_position(
    function: Callable[..., Any], args: Sequence[Any], options: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Move arguments that came by name to their positions; returns those, and the other options."""
    args, options = list(args), dict(options)
    for name, parameter in list(callables.signature(function).parameters.items())[len(args) :]:
        if parameter.kind is not parameter.POSITIONAL_OR_KEYWORD or name not in options:
            break
        args.append(options.pop(name))
    return args, options


def transform(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that names a transformed function, and marks it: its identity is its code and what it captures."""

    def mark(function: Callable[..., Any]) -> Callable[..., Any]:
        function.__name__ = function.__qualname__ = name
        function.__nx_transform__ = True
        return function

    return mark


def no_variable(
    name: str, hint: str = "argnums says which arguments they are for; others can be anything."
) -> Callable[[str, Any], Exception]:
    """Make the function that makes the error for an argument that has no gradient."""

    def refuse(path: str, value: Any) -> Exception:
        got = "None" if value is None else a(type(value).__name__)
        what = f"{name}: gradients are for tensors, numbers and containers of them, got {got}."
        return NxTypeError(message(what, *class_hint(value), hint))

    return refuse


def no_tensor(name: str) -> Callable[[str, Any], Exception]:
    """Make the function that makes the error for an argument that is no tensor."""

    def refuse(path: str, value: Any) -> Exception:
        got = "None" if value is None else a(type(value).__name__)
        return NxTypeError(f"{name} takes tensors, numbers and containers of them, got {got} for {path}")

    return refuse


def no_value(name: str) -> Callable[[str, Any], Exception]:
    """Make the function that makes the error for a result that is no tensor."""

    def refuse(path: str, value: Any) -> Exception:
        got = "None" if value is None else a(type(value).__name__)
        hint = "A `return` may be missing." if value is None else "Return tensors and numbers."
        return NxTypeError(message(f"{name}: the function gives no tensor: {path} is {got}.", hint))

    return refuse
