"""Derivatives as linear functions and as matrices: vjp, jvp, jacobian, hessian."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.definitions.autodiff import differentiated_variables
from nxkernel.definitions.calls.definition import Definition, Parameters
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
    """A function that was called in the trace that is active, and how its variables gain with its results.

    Attributes
    ----------
    structures : list
        Of the arguments.
    inputs, outputs : list
        The leaves of the arguments, and those of the value.
    unit : list of Expr
        Stand for the cotangents of the outputs.
    gains : list of Expr
        Of the inputs, for those.
    """

    def __init__(self, function: Callable[..., Any], arguments: Sequence[Any], name: str) -> None:
        function = differentiated_variables.sharing(function, name, arguments)
        self.structures, self.inputs, given = differentiated_variables.begun(arguments, name)
        outputs: list[tuple[str, Any]] = []
        value = function(*given)
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
        """What the gains are computed from besides, by what came before the cotangents."""
        return _known_before(self.gains, self.unit, self.nodes)

    @property
    def value(self) -> Any:
        """What the function gave."""
        return containers.rebuild(self.structure, iter(self.outputs))

    def at(self, cotangents: Sequence[Expr], kept: Sequence[Expr] = ()) -> list[Expr]:
        """The gains of the inputs for cotangents of the outputs, from what another run has kept where it is given."""
        given = dict(zip(self.unit, cotangents, strict=True))
        if [node.spec[:2] for node in kept] == [node.spec[:2] for node in self.kept]:
            given |= zip(self.kept, kept, strict=True)
        return replayed(self.gains, given)

    def pulled(self, cotangent: Any, name: str, kept: Sequence[Expr] = ()) -> tuple:
        """What each argument is worth, for what the value is."""
        leaves = _alike(cotangent, self.structure, self.outputs, f"{name}: the cotangent", "the value")
        made = self.at(leaves, kept)
        slopes = [
            differentiated_variables.like(leaf, node, tangent=True)
            for leaf, node in zip(self.inputs, made, strict=True)
        ]
        supply = iter(slopes)
        return tuple([containers.rebuild(structure, supply) for structure in self.structures])


#: What costs less to do again than to keep.
_SEEN_ANEW = (p.reshape, p.broadcast, p.transpose)


def _known_before(gains: Sequence[Expr], unit: Sequence[Expr], inputs: Sequence[Expr]) -> list[Expr]:
    """The values at the border of what depends on the cotangents, which need not be computed again."""
    # The arguments are at hand. What the function captures is kept: it may change before somebody pulls.
    after, ends, given, kept = set(unit), set(gains), set(post_order(inputs)), {}
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
        elif node in varying and node not in given:
            kept[node] = None
    return list(kept)


def _placeholder(spec: Spec) -> Expr:
    """A node that something else is put in the place of."""
    return apply(p.reshape, filled(0, spec.type, spec.shape), shape=spec.shape, names=spec.names)


def vjp(fun: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[[Any], tuple]]:
    """The vector-Jacobian product (reverse mode): a value, and the function from its cotangent to the arguments'.

    Parameters
    ----------
    fun : callable
    *primals : tensors or containers
        The arguments.

    Returns
    -------
    value : tensor or container
    pull : callable
        Takes what is built like the value: what a unit of each element is worth; gives a tuple with what each argument
        is worth then. Outside of definitions it has what it needs of the run that gave the value, as long as it lives.

    Examples
    --------
    >>> value, pull = nx.vjp(lambda x, y: x * y, nx.tensor([1.0, 2.0]), nx.tensor([3.0, 4.0]))
    >>> value.to_list(), [t.to_list() for t in pull(nx.tensor([1.0, 10.0]))]
    ([3.0, 8.0], [[3.0, 40.0], [1.0, 20.0]])
    """
    differentiated_variables.checked(fun, "vjp")
    name, fun = f"vjp of {callables.name(fun)}", differentiated_variables.inlined(fun)
    _check_arguments(primals, name)
    if tracing.current() is None:

        @differentiated_variables.transform(callables.name(fun))
        def value(*values: Any) -> Any:
            found = _Pullback(fun, values, name)
            return found.value, tuple(found.kept)

        @differentiated_variables.transform(name)
        def gains(cotangent: Any, kept: tuple, *values: Any) -> Any:
            return _Pullback(fun, values, name).pulled(cotangent, name, list(map(differentiated_variables.node, kept)))

        made, back = differentiated_variables.of(fun, value), differentiated_variables.of(fun, gains)
        result, kept = made(*primals)
        return result, lambda cotangent: back(cotangent, kept, *primals)
    found = _Pullback(fun, primals, name)
    return found.value, lambda cotangent: found.pulled(cotangent, name)


def _check_arguments(values: Sequence[Any], name: str) -> None:
    refuse = differentiated_variables.no_variable(
        name, "Write a lambda that has everything else in it: lambda x: f(x, other)."
    )
    for value in values:
        containers.flatten(value, "an argument", [], refuse)


def jvp(fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """The Jacobian-vector product (forward mode): a function's value, and its change for a change of the arguments.

    Parameters
    ----------
    fun : callable
    primals : sequence of tensors or containers
        The arguments.
    tangents : sequence of tensors or containers
        The direction in which they change, built like them.

    Returns
    -------
    value, tangent : tensor or container
        The tangent is built like the value.

    Notes
    -----
    The gradient of a gradient that is weighted with `u`, by `u`, is the derivative along the tangents: the function is
    gone through backwards twice.

    Examples
    --------
    >>> value, tangent = nx.jvp(lambda x: x**2, (3.0,), (0.5,))
    >>> float(value), float(tangent)
    (9.0, 3.0)
    """
    differentiated_variables.checked(fun, "jvp")
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
    name, fun = f"jvp of {callables.name(fun)}", differentiated_variables.inlined(fun)
    _check_arguments((*primals, *tangents), name)
    if tracing.current() is None:

        @differentiated_variables.transform(name)
        def both(values: Any, directions: Any) -> Any:
            return jvp(fun, values, directions)

        return differentiated_variables.of(fun, both)(tuple(primals), tuple(tangents))
    found = _Pullback(fun, primals, name)
    structure = ("tuple", None, tuple(found.structures))
    leaves = _alike(tuple(tangents), structure, found.inputs, f"{name}: the tangent", "the argument")
    results = [differentiated_variables.node(leaf) for leaf in found.outputs]
    along, together = gradients(found.gains, leaves, found.unit, results)
    outputs = [differentiated_variables.like(leaf, node) for leaf, node in zip(found.outputs, together, strict=True)]
    changes = [
        differentiated_variables.like(leaf, node, tangent=True) for leaf, node in zip(found.outputs, along, strict=True)
    ]
    return tuple([containers.rebuild(found.structure, iter(values)) for values in (outputs, changes)])


def jacobian(fun: Callable[Parameters, Any], argnums: int | Sequence[int] = 0) -> Definition[Parameters, Any]:
    """The Jacobian: the derivative of each element of a function's value by each element of an argument.

    Parameters
    ----------
    fun : callable
    argnums : int or sequence of int
        Which positional arguments.

    Returns
    -------
    callable
        Of the same arguments. Gives for each leaf of the value, in containers like it, for each leaf of the argument,
        in containers like that, a tensor with the axes of the first and then those of the second; with several
        `argnums` a tuple of such in the place of each leaf of the value.

    Examples
    --------
    >>> nx.jacobian(lambda x: x**2 + x[0])(nx.tensor([1.0, 2.0])).to_list()
    [[3.0, 0.0], [1.0, 4.0]]
    """
    differentiated_variables.checked(fun, "jacobian")
    return _jacobian(fun, argnums, f"jacobian of {callables.name(fun)}")


def hessian(fun: Callable[Parameters, Any], argnums: int | Sequence[int] = 0) -> Definition[Parameters, Any]:
    """The Hessian: the second derivatives of a function's value by the elements of an argument.

    Parameters
    ----------
    fun, argnums
        As :func:`jacobian` takes them.

    Returns
    -------
    callable
        Gives for each leaf of the value, and for each pair of leaves of the argument, a tensor with the axes of all
        three.

    Examples
    --------
    >>> nx.hessian(lambda x: nx.product(x))(nx.tensor([2.0, 3.0, 5.0])).to_list()
    [[0.0, 5.0, 3.0], [5.0, 0.0, 2.0], [3.0, 2.0, 0.0]]
    """
    differentiated_variables.checked(fun, "hessian")
    name = f"hessian of {callables.name(fun)}"
    return _jacobian(_jacobian(fun, argnums, name), argnums, name)


def _jacobian(fun: Callable[..., Any], argnums: int | Sequence[int], name: str) -> Definition:
    several, places = not isinstance(argnums, int), differentiated_variables.places(argnums)
    fun = differentiated_variables.inlined(fun)

    @differentiated_variables.transform(name)
    @functools.wraps(fun, updated=())
    def differentiated(*args: Any, **options: Any) -> Any:
        given, options = differentiated_variables.by_place(fun, args, options)
        picked = differentiated_variables.selected(name, given, places)
        chosen = [given[place] for place in picked]
        call = differentiated_variables.sharing(fun, name, given, options)

        def of(*values: Any) -> Any:
            for place, value in zip(picked, values, strict=True):
                given[place] = value
            return call(*differentiated_variables.apart(given), **options)

        return _matrices(of, chosen, several, name)

    return differentiated_variables.of(fun, differentiated)


def _matrices(function: Callable[..., Any], arguments: Sequence[Any], several: bool, name: str) -> Any:
    """The derivatives of every entry of vectorized axes."""
    leaves: list[tuple[str, Any]] = []
    refuse = differentiated_variables.no_variable(name)
    structures = [containers.flatten(argument, "an argument", leaves, refuse) for argument in arguments]
    values = [operand(leaf) for _, leaf in leaves]
    specs = [("x", entry_spec(value.spec)) for value in values]

    def one(*nodes: Expr) -> Any:
        supply = iter(
            [differentiated_variables.faced(node, leaf) for (_, leaf), node in zip(leaves, nodes, strict=True)]
        )
        found = _Pullback(function, [containers.rebuild(structure, supply) for structure in structures], name)
        blocks = []
        for place in range(len(found.outputs)):
            parts = iter(_rows(found, place))
            inner = [containers.rebuild(structure, parts) for structure in structures]
            blocks.append(tuple(inner) if several else inner[0])
        return containers.rebuild(found.structure, iter(blocks))

    graph, outside, structure = subgraphs.traced(name, one, specs, differentiated_variables.no_value(name))
    made = subgraphs.placed(graph, [*values, *outside])
    return containers.rebuild(structure, iter([differentiated_variables.faced(value) for value in made]))


def _rows(found: _Pullback, place: int) -> list[Expr]:
    """How one output changes with each input."""
    output = differentiated_variables.node(found.outputs[place])
    unit = found.unit[place]
    zeros = [filled(0, other.type, other.shape) for other in found.unit]
    count = size(output.shape)
    if not output.shape:
        zeros[place] = filled(1, unit.type, ())
        return found.at(zeros)

    def pull(node: Expr) -> list[Expr]:
        return found.at([*zeros[:place], node, *zeros[place + 1 :]])

    graph, outside, _ = subgraphs.traced("pull", pull, [("u", unit.spec)], differentiated_variables.no_value("pull"))
    whole = Graph("pull", graph.parameters, graph.outputs, list)
    if count:
        flags = [True, *[False] * len(outside)]
        whole = vectorize(whole, count, flags, [True] * len(graph.outputs)).graph
        basis = _basis(count, unit)
        made = subgraphs.placed(whole, [basis, *outside])
    else:
        made = [filled(0, gain.type, (0, *gain.shape)) for gain in found.gains]
    shaped = []
    for node, value in zip(made, found.nodes, strict=True):
        shape, names = (*output.shape, *value.shape), (*output.names, *value.names)
        known = [one for one in names if one is not None]
        names = names if len(set(known)) == len(known) else unnamed(shape)
        shaped.append(apply(p.reshape, node, shape=shape, names=names))
    return shaped


def _basis(count: int, unit: Expr) -> Expr:
    """A one for each element of what a node stands for, along one more axis in front."""
    sides = [apply(p.iota, type=types.s64, shape=(count, count), names=(None, None), axis=axis) for axis in (0, 1)]
    eye = convert(apply(p.equal, *sides), unit.type)
    shape = (count, *unit.shape)
    return apply(p.reshape, eye, shape=shape, names=unnamed(shape))


def _alike(value: Any, structure: Any, outputs: Sequence[Any], what: str, like: str) -> list[Expr]:
    """The leaves of a cotangent or tangent, in the types and with the vectorized axes of what they belong to."""
    leaves: list[tuple[str, Any]] = []
    found = containers.flatten(value, what.rpartition("the ")[2], leaves, differentiated_variables.no_value(what))
    leaves = containers.leaves_like(structure, found, leaves)
    if leaves is None:
        raise NxTypeError(
            f"{what} is built like {like}, {containers.describe(structure)}, got {containers.describe(found)}."
        )
    made = []
    for (path, leaf), output in zip(leaves, outputs, strict=True):
        given, spec = operand(leaf), operand(output).spec
        if given.shape != spec.shape:
            raise NxValueError(f"{what} has the shape of {like}, {spec}, got {given.spec} in {path}")
        if type(spec) is VectorizedSpec:
            given = axis_alignment.broadcast(given, spec.vectorized_axes)
        if given.type.is_complex and not tangent_type(spec.type).is_complex:
            raise NxTypeError(f"{what} is real where {like} is: {spec}, got {given.spec} in {path}")
        made.append(convert(plain(differentiated_variables.node(given)), tangent_type(spec.type)))
    return made
