"""Derivatives as matrices: jacobian, jacfwd, jacrev, hessian."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.definitions.autodiff import differentiated_variables
from nxkernel.definitions.autodiff.linear_maps import Call, LinearMap
from nxkernel.definitions.calls.definition import Definition, Parameters
from nxkernel.definitions.flow.control.checks import InnerChecks
from nxkernel.definitions.flow.control.unrolling import add_note
from nxkernel.definitions.keys import callables, containers
from nxkernel.definitions.tracing import subgraphs
from nxkernel.errors import NxTypeError, message
from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr, Graph
from nxkernel.graph.traverse import post_order, replayed
from nxkernel.messages.grammar import counted
from nxkernel.operand import entry_spec
from nxkernel.ops.machinery.dispatch import apply, convert, filled, operand
from nxkernel.primitives import Spec
from nxkernel.shapes import size, unnamed
from nxkernel.transforms.adjoints.rule_table import tangent_spec, tangent_type
from nxkernel.transforms.forward_mode import tangents
from nxkernel.transforms.tangents.transposition import placeholder
from nxkernel.transforms.vectorize import vectorize


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

    See Also
    --------
    jacfwd, jacrev : The same, one column or one row at a time.

    Notes
    -----
    Computed column by column (forward) where the arguments have no more elements than the value, and row by row
    (reverse) where they have more, or types differ, or a gradient is the user's own by :func:`custom_grad`. The notes
    of ``jacobian(f).why(x)`` and of events say which.

    Examples
    --------
    >>> nx.jacobian(lambda x: x**2 + x[0])(nx.tensor([1.0, 2.0])).to_list()
    [[3.0, 0.0], [1.0, 4.0]]
    >>> nx.jacobian(lambda x: nx.sum(x**2)).why(nx.tensor([1.0, 2.0])).notes
    ('jacobian of <lambda>: by rows (reverse mode): the arguments have 2 elements, the value has 1',)
    """
    function = differentiated_variables.checked(function, "jacobian")
    return _jacobian(function, argnums, f"jacobian of {callables.name(function)}", promotion)


def jacfwd(
    function: Callable[Parameters, Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    *,
    promotion: str | None = None,
) -> Definition[Parameters, Any]:
    """The Jacobian by forward mode: one pass for each element of the arguments, for functions of few.

    Parameters
    ----------
    function : callable
    argnums : int or sequence of int
        Which positional arguments.
    has_aux : bool, optional
        Whether the function returns a pair whose second part is not differentiated.
    holomorphic : bool, optional
        Whether arguments and value are complex, and the function is holomorphic.
    promotion : {"nx", "numpy"}, optional
        Whose rules hold, as :func:`nxkernel.defn` takes it.

    Returns
    -------
    callable
        Returns what :func:`jacobian` does, each tensor in the type of the value; with `has_aux` a pair of it and aux.

    Raises
    ------
    NxTypeError
        For complex arguments or values without `holomorphic`, and for others with it.

    Examples
    --------
    >>> nx.jacfwd(lambda t: nx.stack([nx.sin(t), t * t]))(0.0).to_list()
    [1.0, 0.0]
    """
    function = differentiated_variables.checked(function, "jacfwd")
    name = f"jacfwd of {callables.name(function)}"
    return _jacobian(function, argnums, name, promotion, forward=True, has_aux=has_aux, holomorphic=holomorphic)


def jacrev(
    function: Callable[Parameters, Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    *,
    promotion: str | None = None,
) -> Definition[Parameters, Any]:
    """The Jacobian by reverse mode: one pass for each element of the value, for functions with few of them.

    Parameters
    ----------
    function, argnums, has_aux, holomorphic, promotion
        As :func:`jacfwd` takes them.

    Returns
    -------
    callable
        Returns what :func:`jacobian` does, each tensor in the type of the argument; with `has_aux` a pair of it and
        aux.

    Raises
    ------
    NxTypeError
        For complex arguments or values without `holomorphic`, and for others with it.

    Examples
    --------
    >>> nx.jacrev(lambda x: nx.sum(x**2))(nx.tensor([1.0, 2.0])).to_list()
    [2.0, 4.0]
    """
    function = differentiated_variables.checked(function, "jacrev")
    name = f"jacrev of {callables.name(function)}"
    return _jacobian(function, argnums, name, promotion, forward=False, has_aux=has_aux, holomorphic=holomorphic)


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

    Notes
    -----
    The Jacobian of the Jacobian: of a function with one number as its value, the gradient by reverse mode, and that by
    forward mode.

    Examples
    --------
    >>> nx.hessian(lambda x: nx.product(x))(nx.tensor([2.0, 3.0, 5.0])).to_list()
    [[0.0, 5.0, 3.0], [5.0, 0.0, 2.0], [3.0, 2.0, 0.0]]
    """
    function = differentiated_variables.checked(function, "hessian")
    name = f"hessian of {callables.name(function)}"
    return _jacobian(_jacobian(function, argnums, name, promotion), argnums, name, promotion)


def _jacobian(
    function: Callable[..., Any],
    argnums: int | Sequence[int],
    name: str,
    promotion: str | None,
    forward: bool | None = None,
    has_aux: bool = False,
    holomorphic: bool | None = None,
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

        blocks, aux = _Matrices(of, has_aux, holomorphic, forward, name).at(chosen, several)
        return (blocks, aux) if has_aux else blocks

    return differentiated_variables.of(function, differentiated, promotion)


class _Matrices:
    """The Jacobian blocks of a function.

    Parameters
    ----------
    function : callable
    has_aux : bool
    holomorphic : bool or None
        None to ask nothing of types.
    forward : bool or None
        None for what is cheaper.
    name : str
        For messages.
    """

    def __init__(
        self, function: Callable[..., Any], has_aux: bool, holomorphic: bool | None, forward: bool | None, name: str
    ) -> None:
        self.function, self.has_aux, self.holomorphic = function, has_aux, holomorphic
        self.forward, self.name = forward, name

    def at(self, arguments: Sequence[Any], several: bool) -> tuple[Any, Any]:
        """The blocks at some arguments, and what is given besides; entry by entry along vectorized axes."""
        leaves: list[tuple[str, Any]] = []
        refuse = differentiated_variables.no_variable(self.name)
        structures = [containers.flatten(argument, "an argument", leaves, refuse) for argument in arguments]
        values = [operand(leaf) for _, leaf in leaves]
        specs = [("x", entry_spec(value.spec)) for value in values]

        def one(*nodes: Expr) -> Any:
            supply = iter(
                [differentiated_variables.in_dialect(node, leaf) for (_, leaf), node in zip(leaves, nodes, strict=True)]
            )
            own = [containers.rebuild(structure, supply) for structure in structures]
            with checks:
                call = Call(self.function, own, self.name, self.has_aux)
            rows, results = self._blocks(call)
            blocks = []
            for row in rows:
                parts = iter(row)
                inner = [containers.rebuild(structure, parts) for structure in structures]
                blocks.append(tuple(inner) if several else inner[0])
            return containers.rebuild(call.structure, iter(blocks)), call.given(results)[1], checks.leaves

        checks = InnerChecks()
        graph, outside, structure = subgraphs.traced(
            self.name, one, specs, differentiated_variables.no_value(self.name)
        )
        made = subgraphs.placed(graph, [*values, *outside])
        count = len(made) - len(checks.leaves)
        checks.keep(made[count:], many=False)
        supply = iter([differentiated_variables.in_dialect(value) for value in made[:count]])
        blocks, aux = (containers.rebuild(part, supply) for part in structure[2][:2])
        return blocks, aux

    def _blocks(self, call: Call) -> tuple[list[list[Expr]], list[Expr]]:
        """For each leaf of the value the block of each variable, and the results of the call."""
        self._check_types(call)
        if self._goes_forward(call):
            columns = [_columns(call, number, self.forward is None) for number in range(len(call.variables))]
            return [list(row) for row in zip(*columns, strict=True)] if columns else [
                [] for _ in call.nodes
            ], call.results
        pulled = LinearMap(call, reverse=True)
        return [_rows(pulled, number) for number in range(len(call.nodes))], pulled.results

    def _goes_forward(self, call: Call) -> bool:
        if self.forward is not None:
            return self.forward
        inputs, outputs = (sum(size(node.shape) for node in nodes) for nodes in (call.variables, call.nodes))
        alike = len({tangent_type(node.type) for node in [*call.variables, *call.nodes]}) <= 1
        forward = inputs <= outputs and alike and not _has_own_gradient(call.nodes)
        how = "by columns (forward mode)" if forward else "by rows (reverse mode)"
        text = f"{self.name}: {how}: the arguments have {counted(inputs, 'element')}, the value has {outputs}"
        add_note(tracing.current(), (self.name, forward, inputs, outputs), text)
        return forward

    def _check_types(self, call: Call) -> None:
        if self.holomorphic is None:
            return
        for what, nodes in (("an argument", call.variables), ("the value", call.nodes)):
            for node in nodes:
                if node.type.is_complex is not self.holomorphic:
                    raise _complex(self.name, what, node, self.holomorphic)


def _complex(name: str, what: str, node: Expr, holomorphic: bool) -> NxTypeError:
    if holomorphic:
        hint = 'nx.as_type(x, "c128") makes it complex; without holomorphic=True real numbers are what is expected.'
        return NxTypeError(message(f"{name}: with holomorphic=True {what} is complex, got {node.spec}.", hint))
    return NxTypeError(
        message(
            f"{name}: {what} is complex, {node.spec}, where one number for each pair is no derivative in general.",
            "holomorphic=True says that it is one; else differentiate the real and the imaginary part.",
        )
    )


def _has_own_gradient(outputs: Sequence[Expr]) -> bool:
    """Whether a gradient of the user's is on the way, which goes back as it is, and forward only if it is linear."""
    return any(
        (node.primitive is p.custom_grad and node.params["declared"])
        or any(_has_own_gradient(part.outputs) for part in node.params.values() if isinstance(part, Graph))
        for node in post_order(outputs)
    )


def _rows(pulled: LinearMap, number: int) -> list[Expr]:
    """The derivatives of one output leaf by each input leaf."""
    call = pulled.call
    output, units = call.nodes[number], [tangent_spec(node.spec) for node in call.nodes]
    zeros = [filled(0, spec.type, spec.shape) for spec in units]
    if not output.shape:
        zeros[number] = filled(1, units[number].type, ())
        return pulled.at(zeros)
    rows = _of_basis(lambda node: pulled.at([*zeros[:number], node, *zeros[number + 1 :]]), units[number])
    if rows is None:
        specs = [tangent_spec(value.spec) for value in call.variables]
        rows = [filled(0, spec.type, (0, *spec.shape)) for spec in specs]
    return [_block(node, output, value) for node, value in zip(rows, call.variables, strict=True)]


def _columns(call: Call, number: int, as_arguments: bool) -> list[Expr]:
    """The derivatives of each output leaf by one input leaf; in its type, or in that of the output."""
    variable = call.variables[number]
    unit = tangent_spec(variable.spec)
    moved = placeholder(unit)
    along, _ = tangents(call.nodes, [variable], [moved])
    if not variable.shape:
        columns: list[Expr] | None = replayed(along, {moved: filled(1, unit.type, ())})
        return [convert(node, unit.type) for node in columns] if as_arguments else columns
    columns = _of_basis(lambda node: replayed(along, {moved: node}), unit)
    if columns is None:
        columns = [filled(0, node.type, (0, *node.shape)) for node in along]
    blocks = []
    for node, output in zip(columns, call.nodes, strict=True):
        last = apply(p.transpose, node, axes=(*range(1, len(node.shape)), 0))
        block = _block(last, output, variable)
        blocks.append(convert(block, unit.type) if as_arguments else block)
    return blocks


def _of_basis(linear: Callable[[Expr], list[Expr]], unit: Spec) -> list[Expr] | None:
    """What a linear function gives for each unit vector, along a new first axis; None where there are none."""
    count = size(unit.shape)
    if not count:
        return None
    graph, outside, _ = subgraphs.traced("linear", linear, [("u", unit)], differentiated_variables.no_value("linear"))
    flags = [True, *[False] * len(outside)]
    of_all = vectorize(graph, count, flags, [True] * len(graph.outputs)).graph
    return subgraphs.placed(of_all, [_basis(count, unit), *outside])


def _block(node: Expr, output: Expr, value: Expr) -> Expr:
    """A block in the shape of the output and then that of the variable, with their names where these differ."""
    shape, names = (*output.shape, *value.shape), (*output.names, *value.names)
    known = [one for one in names if one is not None]
    names = names if len(set(known)) == len(known) else unnamed(shape)
    return apply(p.reshape, node, shape=shape, names=names)


def _basis(count: int, unit: Spec) -> Expr:
    """The unit vectors of a shape's elements, along a new first axis."""
    sides = [apply(p.iota, type=types.s64, shape=(count, count), names=(None, None), axis=axis) for axis in (0, 1)]
    eye = convert(apply(p.equal, *sides), unit.type)
    shape = (count, *unit.shape)
    return apply(p.reshape, eye, shape=shape, names=unnamed(shape))
