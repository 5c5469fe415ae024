"""Custom gradients: `stop_grad`, `custom_grad`, and gradient checkpointing (`checkpoint`)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from nxkernel import primitives as p
from nxkernel.definitions.autodiff import differentiated_variables
from nxkernel.definitions.calls.definition import Definition, Parameters, Result
from nxkernel.definitions.flow.control.checks import InnerChecks
from nxkernel.definitions.keys import callables, containers
from nxkernel.definitions.tracing import subgraphs
from nxkernel.errors import NxTypeError, message
from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr, Graph
from nxkernel.graph.traverse import replayed
from nxkernel.messages.grammar import counted
from nxkernel.numpy.arrays.array import ArrayValue
from nxkernel.operand import Operand, entry_spec
from nxkernel.ops.machinery.dispatch import apply, convert, is_number, lasting, operand, spread
from nxkernel.primitives import Primitive, Spec
from nxkernel.shapes import describe, size, unnamed
from nxkernel.transforms.adjoints.backward_pass import pullback
from nxkernel.transforms.adjoints.rule_table import plain, tangent_spec


def stop_grad(tensor: Any) -> Any:
    """A value through which no gradient flows.

    Parameters
    ----------
    tensor : tensor or container of tensors

    Returns
    -------
    tensor or container of tensors
        The same numbers.

    Examples
    --------
    >>> float(nx.grad(lambda x: x * nx.stop_grad(x))(3.0))
    3.0
    """
    leaves, structure = _leaves(tensor, differentiated_variables.no_tensor("stop_grad"))
    if tracing.current() is None:
        return containers.rebuild(structure, iter([_as_tensor(leaf) for leaf in leaves]))
    return containers.rebuild(structure, iter([_as(leaf, apply(p.stop_grad, operand(leaf))) for leaf in leaves]))


def custom_grad(expr: Any, inputs: Sequence[Any], function: Callable[[Any], Sequence[Any]]) -> Any:
    """A value whose gradient you define yourself.

    Parameters
    ----------
    expr : tensor or container of tensors
        The value, computed as any.
    inputs : sequence of tensors or containers
        The values that get gradients; through `expr` no gradient flows to anything else.
    function : callable
        Takes the cotangent of `expr` (the derivative of the loss by it), which has its structure; returns a list with
        the cotangent of each input, of the input's shape.

    Returns
    -------
    tensor or container of tensors
        `expr`.

    Raises
    ------
    NxTypeError
        If `function` does not return a cotangent of the right shape for each input.

    Examples
    --------
    >>> @nx.defn
    ... def clipped(x):
    ...     return nx.custom_grad(x**3, [x], lambda g: [nx.clip(g * 3 * x**2, -1.0, 1.0)])
    >>> float(clipped(2.0)), float(nx.grad(clipped)(2.0))
    (8.0, 1.0)
    """
    if not isinstance(inputs, list | tuple):
        raise NxTypeError(
            message(
                f"custom_grad takes a list of inputs, got {describe(inputs)}.",
                "Write nx.custom_grad(expr, [x], lambda g: [...]).",
            )
        )
    if not callable(function):
        raise NxTypeError(f"custom_grad takes a function of the cotangent, got {describe(function)}")
    _check_takes_one(function)
    leaves, structure = _leaves(expr, differentiated_variables.no_tensor("custom_grad"))
    sources, wanted = _leaves(list(inputs), differentiated_variables.no_tensor("custom_grad"))
    if tracing.current() is None:
        return containers.rebuild(structure, iter([_as_tensor(leaf) for leaf in leaves]))
    results, input_values = [operand(leaf) for leaf in leaves], [operand(leaf) for leaf in sources]

    def backward(*cotangents: Expr) -> list[Expr]:
        seen = [_as(leaf, g) for leaf, g in zip(leaves, cotangents, strict=True)]
        return _gains(function(containers.rebuild(structure, iter(seen))), input_values, wanted)

    outputs = _with_gradient(results, input_values, backward, declared=True)
    return containers.rebuild(structure, iter([_as(leaf, value) for leaf, value in zip(leaves, outputs, strict=True)]))


def _check_takes_one(function: Callable[..., Any]) -> None:
    signature = callables.signature(function)
    try:
        signature.bind(None)
    except TypeError:
        raise NxTypeError(
            message(
                f"custom_grad calls its function with the cotangent alone, got a function of {signature}.",
                "For several values the cotangent is a container like them: lambda g: [g[0] * 2, g[1]].",
            )
        ) from None


def checkpoint(
    function: Callable[Parameters, Result], *, promotion: str | None = None
) -> Definition[Parameters, Result]:
    """Gradient checkpointing: recompute intermediate values in the backward pass instead of keeping them.

    Parameters
    ----------
    function : callable
    promotion : {"nx", "numpy"}, optional
        Whose rules hold, as :func:`nxkernel.defn` takes it.

    Returns
    -------
    callable
        The same function. In a loop, each iteration keeps its arguments, and no intermediate values.

    Examples
    --------
    >>> block = nx.checkpoint(lambda x: nx.sin(nx.exp(nx.sin(x))))
    >>> bool(nx.grad(block)(1.0) == nx.grad(lambda x: nx.sin(nx.exp(nx.sin(x))))(1.0))
    True
    """
    function = differentiated_variables.checked(function, "checkpoint")
    name, function = f"checkpoint({callables.name(function)})", differentiated_variables.inlined(function)

    @differentiated_variables.transform(name)
    @functools.wraps(function, updated=())
    def checkpointed(*args: Any, **options: Any) -> Any:
        args, options = differentiated_variables.by_position(function, args, options)
        call = differentiated_variables.guard_shared_arrays(function, name, args, options)
        parts = [_taken_apart(value) for value in args]
        leaves = [leaf for _, own in parts for leaf in own]

        def of(*nodes: Expr) -> Any:
            supply = iter([_as(leaf, node) for leaf, node in zip(leaves, nodes, strict=True)])
            seen = [
                value if structure is None else containers.rebuild(structure, supply)
                for value, (structure, _) in zip(args, parts, strict=True)
            ]
            with checks:
                result = call(*seen, **options)
            return result, checks.leaves

        checks = InnerChecks()
        values = [operand(leaf) for leaf in leaves]
        specs = [(f"x{number}", entry_spec(value.spec)) for number, value in enumerate(values)]
        graph, outside, structure = subgraphs.traced(name, of, specs, differentiated_variables.no_value(name))
        structure, count = structure[2][0], len(graph.outputs) - len(checks.leaves)
        outputs, leaves = _recomputed(graph, count, [*values, *outside])
        checks.keep(leaves, many=False)
        return containers.rebuild(structure, iter([differentiated_variables.in_dialect(value) for value in outputs]))

    return differentiated_variables.of(function, checkpointed, promotion)


def _recomputed(graph: Graph, count: int, values: list[Any]) -> tuple[list[Operand], list[Operand]]:
    """The results of a graph; those of the first outputs its backward pass computes again from the inputs."""
    values = [operand(value) for value in values]
    results = subgraphs.placed(graph, values)

    def backward(*cotangents: Expr) -> list[Expr]:
        # These nodes differ from those of the forward pass, so that they are recomputed, and wait for the cotangents.
        began = _token(cotangents)
        nodes = [_behind(tracing.current().node(value), began) for value in values]
        outputs = replayed(graph.outputs[:count], dict(zip(graph.parameters, nodes, strict=True)))
        gains, replacing = pullback(outputs, cotangents, nodes)
        gains = replayed(gains, {}, replacing)
        # The backward pass goes on only when all of these are computed, and the memory for them is free.
        done = _token(gains) if len(gains) > 1 else None
        return [_behind(gain, done) for gain in gains]

    return _with_gradient(results[:count], values, backward, declared=False), results[count:]


def _token(nodes: Sequence[Expr]) -> Expr | None:
    """A number that the program computes after all of these nodes."""
    token: Expr | None = None
    for node in nodes:
        if size(node.shape):
            ones = (1,) * len(node.shape)
            first = apply(p.slice_, node, starts=(0,) * len(ones), lengths=ones, strides=ones) if ones else node
            first = apply(p.reshape, first, shape=(), names=())
            token = first if token is None else apply(p.after, token, first)
    return token


def _behind(node: Expr, token: Expr | None) -> Expr:
    """The same value, computed after a token."""
    if token is None:
        return node
    wide = apply(p.broadcast, token, shape=node.shape, axes=(), names=unnamed(node.shape))
    return apply(p.after, node, wide)


def _with_gradient(
    results: Sequence[Operand], inputs_: Sequence[Operand], backward: Callable[..., list[Expr]], declared: bool
) -> list[Operand]:
    """The results as a ``custom_grad`` node: `backward` takes their cotangents to those of the inputs."""
    inside = [entry_spec(value.spec) for value in results], [entry_spec(value.spec) for value in inputs_]
    specs = [("g", tangent_spec(spec)) for spec in inside[0]]
    graph, outside, _ = subgraphs.traced("gradient", backward, specs, differentiated_variables.no_value("the gradient"))
    count, inputs = len(results), len(inputs_)
    if not count:
        return []
    params = {"results": count, "inputs": inputs, "backward": graph, "declared": declared}
    return with_derivatives(p.custom_grad, [*results, *inputs_, *outside], params)


def with_derivatives(primitive: Primitive, values: Sequence[Any], params: dict[str, Any]) -> list[Operand]:
    """The results of a primitive with derivatives of its own, entry by entry along vectorized axes."""
    every = [operand(value) for value in values]

    def recorded(*nodes: Expr) -> list[Expr]:
        return list(apply(primitive, *nodes, **params))

    if not any(value.vectorized_axes for value in every):
        return recorded(*every)
    pairs = [("value", entry_spec(value.spec)) for value in every]
    refuse = differentiated_variables.no_value(primitive.name)
    wide, more, _ = subgraphs.traced(primitive.name, recorded, pairs, refuse)
    return subgraphs.placed(wide, [*every, *more])


def _gains(gradient: Any, inputs: Sequence[Operand], wanted: Any) -> list[Expr]:
    """The cotangents of the inputs, checked, from what the user's function returned."""
    leaves: list[tuple[str, Any]] = []
    form = list(gradient) if isinstance(gradient, tuple) else gradient
    structure = containers.flatten(form, "the gradient", leaves, differentiated_variables.no_value("custom_grad"))
    if structure == containers.LEAF and len(inputs) == 1:
        structure = wanted
    leaves = containers.leaves_like(wanted, structure, leaves)
    if leaves is None:
        raise NxTypeError(
            message(
                f"custom_grad: the function gives a list with a gain for each of {counted(len(inputs), 'input')}, "
                f"{containers.describe(wanted)}, got {containers.describe(structure)}.",
            )
        )
    return [_gain(position, leaf, tangent_spec(entry_spec(value.spec))) for position, ((_, leaf), value) in enumerate(
        zip(leaves, inputs, strict=True)
    )]  # fmt: skip


def _gain(position: int, leaf: Any, spec: Spec) -> Expr:
    value = operand(leaf)
    if is_number(leaf) or not value.shape:
        value = spread(value, spec.shape)
    if value.shape != spec.shape:
        raise NxTypeError(
            f"custom_grad: what input {position} gains has its shape, {spec}, and the function gives {value.spec}"
        )
    return convert(plain(tracing.current().node(value)), spec.type)


def _leaves(value: Any, refuse: Callable[[str, Any], Exception]) -> tuple[list[Any], Any]:
    leaves: list[tuple[str, Any]] = []
    structure = containers.flatten(value, "the value", leaves, refuse)
    return [leaf for _, leaf in leaves], structure


def _taken_apart(value: Any) -> tuple[Any, list[Any]]:
    """The structure and leaves of a container; None and no leaves if it holds anything but tensors."""
    try:
        leaves, structure = _leaves(value, differentiated_variables.no_tensor(""))
    except NxTypeError:
        return None, []
    return structure, leaves


def _as(leaf: Any, value: Operand) -> Any:
    return differentiated_variables.in_dialect(value, leaf)


def _as_tensor(leaf: Any) -> Any:
    return leaf if isinstance(leaf, ArrayValue) else lasting(leaf)
