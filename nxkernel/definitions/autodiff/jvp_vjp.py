"""Derivatives as linear functions and as matrices: vjp, jvp, jacobian, hessian."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.definitions.autodiff import differentiated_variables
from nxkernel.definitions.calls.definition import Definition, Parameters
from nxkernel.definitions.flow.control.checks import InnerChecks
from nxkernel.definitions.keys import callables, containers
from nxkernel.definitions.tracing import subgraphs
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.fork_safety import cached_property
from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr, Graph
from nxkernel.graph.traverse import post_order, replayed
from nxkernel.messages.grammar import counted
from nxkernel.operand import VectorizedSpec, entry_spec
from nxkernel.ops.machinery import axis_alignment
from nxkernel.ops.machinery.dispatch import apply, convert, filled, operand
from nxkernel.primitives import Spec
from nxkernel.shapes import describe, size, unnamed
from nxkernel.transforms.adjoints.rule_table import plain, tangent_spec, tangent_type
from nxkernel.transforms.gradient import gradients
from nxkernel.transforms.vectorize import vectorize


class _Pullback:
    """A function called in the active trace, and the cotangents of its arguments as a graph of those of its value.

    Attributes
    ----------
    structures : list
        The structures of the arguments.
    inputs, outputs : list
        The leaves of the arguments, and those of the value.
    unit : list of Expr
        Placeholders for the cotangents of the outputs.
    gains : list of Expr
        The cotangents of the inputs, computed from them.
    """

    def __init__(self, function: Callable[..., Any], arguments: Sequence[Any], name: str) -> None:
        function = differentiated_variables.guard_shared_arrays(function, name, arguments)
        self.structures, self.inputs, copies = differentiated_variables.as_variables(arguments, name)
        outputs: list[tuple[str, Any]] = []
        value = function(*copies)
        self.structure = containers.flatten(value, "the value", outputs, differentiated_variables.no_value(name))
        nodes = [differentiated_variables.node(leaf) for _, leaf in outputs]
        self.unit = [_placeholder(tangent_spec(node.spec)) for node in nodes]
        self.nodes = [differentiated_variables.node(one) for one in self.inputs]
        self.gains, together = gradients(nodes, self.unit, self.nodes, nodes)
        self.outputs = [
            differentiated_variables.like(leaf, node) for (_, leaf), node in zip(outputs, together, strict=True)
        ]

    @cached_property
    def kept(self) -> list[Expr]:
        """The intermediate values that the backward pass reads and that do not depend on the cotangents."""
        return _known_before(self.gains, self.unit, self.nodes)

    @property
    def value(self) -> Any:
        """The function's result."""
        return containers.rebuild(self.structure, iter(self.outputs))

    def at(self, cotangents: Sequence[Expr], kept: Sequence[Expr] = ()) -> list[Expr]:
        """Cotangents of the inputs for cotangents of the outputs; `kept` are intermediate values of an earlier run."""
        replacements = dict(zip(self.unit, cotangents, strict=True))
        if [node.spec[:2] for node in kept] == [node.spec[:2] for node in self.kept]:
            replacements |= zip(self.kept, kept, strict=True)
        return replayed(self.gains, replacements)

    def pulled(self, cotangent: Any, name: str, kept: Sequence[Expr] = ()) -> tuple:
        """The cotangent of each argument, for a cotangent of the value."""
        leaves = _alike(cotangent, self.structure, self.outputs, f"{name}: the cotangent", "the value")
        cotangents = self.at(leaves, kept)
        slopes = [
            differentiated_variables.like(leaf, node, tangent=True)
            for leaf, node in zip(self.inputs, cotangents, strict=True)
        ]
        supply = iter(slopes)
        return tuple([containers.rebuild(structure, supply) for structure in self.structures])


#: Primitives that cost less to recompute than to keep.
_SEEN_ANEW = (p.reshape, p.broadcast, p.transpose)


def _known_before(gains: Sequence[Expr], unit: Sequence[Expr], inputs: Sequence[Expr]) -> list[Expr]:
    """The last nodes before those that depend on the cotangents: with them, nothing is computed twice."""
    # The arguments are at hand. What the function captures is kept: it may change before somebody pulls.
    after, ends, at_hand, kept = set(unit), set(gains), set(post_order(inputs)), {}
    # What no parameter is in is a constant, such as a mask of a triangle.
    varying: set[Expr] = set()
    waiting: list[Expr] = []
    for node in post_order(gains):
        if node.primitive is p.parameter or any(operand in varying for operand in node.operands):
            varying.add(node)
        if node in after or any(operand in after for operand in node.operands):
            after.add(node)
            waiting += node.operands
        elif node in ends:
            waiting.append(node)
    seen = set(after)
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        if type(node.spec) is tuple or node.primitive in _SEEN_ANEW:
            waiting += node.operands
        elif node in varying and node not in at_hand:
            kept[node] = None
    return list(kept)


def _placeholder(spec: Spec) -> Expr:
    """A node to be replaced by another one."""
    return apply(p.reshape, filled(0, spec.type, spec.shape), shape=spec.shape, names=spec.names)


def vjp(
    function: Callable[..., Any], *primals: Any, promotion: str | None = None
) -> tuple[Any, Callable[[Any], tuple]]:
    """The vector-Jacobian product (reverse mode): a value, and the function from its cotangent to the arguments'.

    Parameters
    ----------
    function : callable
    *primals : tensors or containers
        The arguments.
    promotion : {"nx", "numpy"}, optional
        Whose rules hold, as :func:`nxkernel.defn` takes it.

    Returns
    -------
    value : tensor or container
    pull : callable
        Takes the cotangent of the value, which has its structure; returns a tuple with the cotangent of each argument.
        Outside of definitions it keeps the intermediate values that it needs.

    Examples
    --------
    >>> value, pull = nx.vjp(lambda x, y: x * y, nx.tensor([1.0, 2.0]), nx.tensor([3.0, 4.0]))
    >>> value.to_list(), [t.to_list() for t in pull(nx.tensor([1.0, 10.0]))]
    ([3.0, 8.0], [[3.0, 40.0], [1.0, 20.0]])
    """
    function = differentiated_variables.checked(function, "vjp")
    name, function = f"vjp of {callables.name(function)}", differentiated_variables.inlined(function)
    _check_arguments(primals, name)
    if tracing.current() is None:

        @differentiated_variables.transform(callables.name(function))
        def value(*values: Any) -> Any:
            pullback = _Pullback(function, values, name)
            return pullback.value, tuple(pullback.kept)

        @differentiated_variables.transform(name)
        def gains(cotangent: Any, kept: tuple, *values: Any) -> Any:
            return _Pullback(function, values, name).pulled(
                cotangent, name, list(map(differentiated_variables.node, kept))
            )

        forward, back = (
            differentiated_variables.of(function, value, promotion),
            differentiated_variables.of(function, gains, promotion),
        )
        result, kept = forward(*primals)
        return result, lambda cotangent: back(cotangent, kept, *primals)
    pullback = _Pullback(function, primals, name)
    return pullback.value, lambda cotangent: pullback.pulled(cotangent, name)


def _check_arguments(values: Sequence[Any], name: str) -> None:
    refuse = differentiated_variables.no_variable(
        name, "Write a lambda that has everything else in it: lambda x: f(x, other)."
    )
    for value in values:
        containers.flatten(value, "an argument", [], refuse)


def jvp(
    function: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], *, promotion: str | None = None
) -> tuple[Any, Any]:
    """The Jacobian-vector product (forward mode): a function's value, and its change for a change of the arguments.

    Parameters
    ----------
    function : callable
    primals : sequence of tensors or containers
        The arguments.
    tangents : sequence of tensors or containers
        The direction in which they change, of the same structure.
    promotion : {"nx", "numpy"}, optional
        Whose rules hold, as :func:`nxkernel.defn` takes it.

    Returns
    -------
    value, tangent : tensor or container
        The tangent has the structure of the value.

    Notes
    -----
    Computed by reverse mode twice: the vector-Jacobian product is linear in its cotangent `u`, and its own
    vector-Jacobian product by `u` is the derivative along the tangents.

    Examples
    --------
    >>> value, tangent = nx.jvp(lambda x: x**2, (3.0,), (0.5,))
    >>> float(value), float(tangent)
    (9.0, 3.0)
    """
    function = differentiated_variables.checked(function, "jvp")
    for what, values in (("primals", primals), ("tangents", tangents)):
        if not isinstance(values, list | tuple):
            raise NxTypeError(
                message(
                    f"jvp takes a tuple of {what}, one for each argument, got {describe(values)}.",
                    "Write nx.jvp(fun, (x,), (v,)).",
                )
            )
    if len(primals) != len(tangents):
        raise NxValueError(
            message(
                f"jvp: there {'is' if len(primals) == 1 else 'are'} {counted(len(primals), 'primal')} and "
                f"{counted(len(tangents), 'tangent')}.",
                "Each argument has one; that of one which does not change is zero.",
            )
        )
    name, function = f"jvp of {callables.name(function)}", differentiated_variables.inlined(function)
    _check_arguments((*primals, *tangents), name)
    if tracing.current() is None:

        @differentiated_variables.transform(name)
        def both(values: Any, directions: Any) -> Any:
            return jvp(function, values, directions)

        return differentiated_variables.of(function, both, promotion)(tuple(primals), tuple(tangents))
    pullback = _Pullback(function, primals, name)
    structure = ("tuple", None, tuple(pullback.structures))
    leaves = _alike(tuple(tangents), structure, pullback.inputs, f"{name}: the tangent", "the argument")
    results = [differentiated_variables.node(leaf) for leaf in pullback.outputs]
    along, together = gradients(pullback.gains, leaves, pullback.unit, results)
    outputs = [differentiated_variables.like(leaf, node) for leaf, node in zip(pullback.outputs, together, strict=True)]
    changes = [
        differentiated_variables.like(leaf, node, tangent=True)
        for leaf, node in zip(pullback.outputs, along, strict=True)
    ]
    return tuple([containers.rebuild(pullback.structure, iter(values)) for values in (outputs, changes)])


def jacobian(
    function: Callable[Parameters, Any], argnums: int | Sequence[int] = 0, *, promotion: str | None = None
) -> Definition[Parameters, Any]:
    """The Jacobian: the derivative of each element of a function's value by each element of an argument.

    Parameters
    ----------
    function : callable
    argnums : int or sequence of int
        Which positional arguments.
    promotion : {"nx", "numpy"}, optional
        Whose rules hold, as :func:`nxkernel.defn` takes it.

    Returns
    -------
    callable
        Takes the same arguments. Returns the structure of the value, with the structure of the argument in place of
        each leaf, and in that a tensor for each pair of leaves, with the axes of the value's leaf and then those of the
        argument's; with several `argnums`, a tuple of argument structures.

    Examples
    --------
    >>> nx.jacobian(lambda x: x**2 + x[0])(nx.tensor([1.0, 2.0])).to_list()
    [[3.0, 0.0], [1.0, 4.0]]
    """
    function = differentiated_variables.checked(function, "jacobian")
    return _jacobian(function, argnums, f"jacobian of {callables.name(function)}", promotion)


def hessian(
    function: Callable[Parameters, Any], argnums: int | Sequence[int] = 0, *, promotion: str | None = None
) -> Definition[Parameters, Any]:
    """The Hessian: the second derivatives of a function's value by the elements of an argument.

    Parameters
    ----------
    function, argnums, promotion
        As :func:`jacobian` takes them.

    Returns
    -------
    callable
        Returns, for each leaf of the value and each pair of leaves of the argument, a tensor with the axes of all
        three.

    Examples
    --------
    >>> nx.hessian(lambda x: nx.product(x))(nx.tensor([2.0, 3.0, 5.0])).to_list()
    [[0.0, 5.0, 3.0], [5.0, 0.0, 2.0], [3.0, 2.0, 0.0]]
    """
    function = differentiated_variables.checked(function, "hessian")
    name = f"hessian of {callables.name(function)}"
    return _jacobian(_jacobian(function, argnums, name, promotion), argnums, name, promotion)


def _jacobian(
    function: Callable[..., Any], argnums: int | Sequence[int], name: str, promotion: str | None
) -> Definition:
    several, positions = not isinstance(argnums, int), differentiated_variables.argument_positions(argnums)
    function = differentiated_variables.inlined(function)

    @differentiated_variables.transform(name)
    @functools.wraps(function, updated=())
    def differentiated(*args: Any, **options: Any) -> Any:
        arguments, options = differentiated_variables.by_position(function, args, options)
        picked = differentiated_variables.selected(name, arguments, positions)
        chosen = [arguments[position] for position in picked]
        call = differentiated_variables.guard_shared_arrays(function, name, arguments, options)

        def of(*values: Any) -> Any:
            for position, value in zip(picked, values, strict=True):
                arguments[position] = value
            return call(*differentiated_variables.separate_copies(arguments), **options)

        return _matrices(of, chosen, several, name)

    return differentiated_variables.of(function, differentiated, promotion)


def _matrices(function: Callable[..., Any], arguments: Sequence[Any], several: bool, name: str) -> Any:
    """The Jacobian blocks of a function at some arguments; entry by entry along vectorized axes."""
    leaves: list[tuple[str, Any]] = []
    refuse = differentiated_variables.no_variable(name)
    structures = [containers.flatten(argument, "an argument", leaves, refuse) for argument in arguments]
    values = [operand(leaf) for _, leaf in leaves]
    specs = [("x", entry_spec(value.spec)) for value in values]

    def one(*nodes: Expr) -> Any:
        supply = iter(
            [differentiated_variables.in_dialect(node, leaf) for (_, leaf), node in zip(leaves, nodes, strict=True)]
        )
        with checks:
            pull_ = _Pullback(function, [containers.rebuild(structure, supply) for structure in structures], name)
        blocks = []
        for number in range(len(pull_.outputs)):
            parts = iter(_rows(pull_, number))
            inner = [containers.rebuild(structure, parts) for structure in structures]
            blocks.append(tuple(inner) if several else inner[0])
        return containers.rebuild(pull_.structure, iter(blocks)), checks.leaves

    checks = InnerChecks()
    graph, outside, structure = subgraphs.traced(name, one, specs, differentiated_variables.no_value(name))
    blocks_ = subgraphs.placed(graph, [*values, *outside])
    structure, count = structure[2][0], len(blocks_) - len(checks.leaves)
    checks.keep(blocks_[count:], many=False)
    return containers.rebuild(
        structure, iter([differentiated_variables.in_dialect(value) for value in blocks_[:count]])
    )


def _rows(function: _Pullback, number: int) -> list[Expr]:
    """The derivatives of one output leaf by each input leaf."""
    output = differentiated_variables.node(function.outputs[number])
    unit = function.unit[number]
    zeros = [filled(0, other.type, other.shape) for other in function.unit]
    count = size(output.shape)
    if not output.shape:
        zeros[number] = filled(1, unit.type, ())
        return function.at(zeros)

    def pull(node: Expr) -> list[Expr]:
        return function.at([*zeros[:number], node, *zeros[number + 1 :]])

    graph, outside, _ = subgraphs.traced("pull", pull, [("u", unit.spec)], differentiated_variables.no_value("pull"))
    pull_all = Graph("pull", graph.parameters, graph.outputs, list)
    if count:
        flags = [True, *[False] * len(outside)]
        pull_all = vectorize(pull_all, count, flags, [True] * len(graph.outputs)).graph
        basis = _basis(count, unit)
        rows = subgraphs.placed(pull_all, [basis, *outside])
    else:
        rows = [filled(0, gain.type, (0, *gain.shape)) for gain in function.gains]
    shaped = []
    for node, value in zip(rows, function.nodes, strict=True):
        shape, names = (*output.shape, *value.shape), (*output.names, *value.names)
        known = [one for one in names if one is not None]
        names = names if len(set(known)) == len(known) else unnamed(shape)
        shaped.append(apply(p.reshape, node, shape=shape, names=names))
    return shaped


def _basis(count: int, unit: Expr) -> Expr:
    """The unit vectors of a node's elements, along a new first axis."""
    sides = [apply(p.iota, type=types.s64, shape=(count, count), names=(None, None), axis=axis) for axis in (0, 1)]
    eye = convert(apply(p.equal, *sides), unit.type)
    shape = (count, *unit.shape)
    return apply(p.reshape, eye, shape=shape, names=unnamed(shape))


def _alike(value: Any, structure: Any, outputs: Sequence[Any], what: str, like: str) -> list[Expr]:
    """The leaves of a cotangent or tangent, checked against the value, in its types and with its vectorized axes."""
    leaves: list[tuple[str, Any]] = []
    own = containers.flatten(value, what.rpartition("the ")[2], leaves, differentiated_variables.no_value(what))
    leaves = containers.leaves_like(structure, own, leaves)
    if leaves is None:
        raise NxTypeError(
            f"{what} is built like {like}, {containers.describe(structure)}, got {containers.describe(own)}."
        )
    nodes = []
    for (path, leaf), output in zip(leaves, outputs, strict=True):
        operand_, spec = operand(leaf), operand(output).spec
        if operand_.shape != spec.shape:
            raise NxValueError(f"{what} has the shape of {like}, {spec}, got {operand_.spec} in {path}")
        if type(spec) is VectorizedSpec:
            operand_ = axis_alignment.broadcast(operand_, spec.vectorized_axes)
        if operand_.type.is_complex and not tangent_type(spec.type).is_complex:
            raise NxTypeError(f"{what} is real where {like} is: {spec}, got {operand_.spec} in {path}")
        nodes.append(convert(plain(differentiated_variables.node(operand_)), tangent_type(spec.type)))
    return nodes
