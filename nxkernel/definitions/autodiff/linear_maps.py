"""A function called in the trace, and its derivative as a linear map of tangents or cotangents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nxkernel import primitives as p
from nxkernel.definitions.autodiff import differentiated_variables
from nxkernel.definitions.keys import containers
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.fork_safety import cached_property
from nxkernel.graph.expr import Expr
from nxkernel.graph.traverse import post_order, replayed
from nxkernel.operand import VectorizedSpec
from nxkernel.ops.machinery import axis_alignment
from nxkernel.ops.machinery.dispatch import convert, operand
from nxkernel.primitives import Spec
from nxkernel.shapes import describe
from nxkernel.transforms.adjoints.rule_table import plain, tangent_spec, tangent_type
from nxkernel.transforms.forward_mode import tangents
from nxkernel.transforms.gradient import gradients
from nxkernel.transforms.tangents.transposition import placeholder


class Call:
    """A function called in the active trace, with variables of its own in the place of its arguments.

    Attributes
    ----------
    structures : list
        The structures of the arguments.
    inputs, outputs : list
        The leaves of the arguments, and those of the value.
    variables, nodes : list of Expr
        Their nodes.
    structure
        That of the value.
    """

    def __init__(
        self, function: Callable[..., Any], arguments: Sequence[Any], name: str, has_aux: bool = False
    ) -> None:
        function = differentiated_variables.guard_shared_arrays(function, name, arguments)
        self.structures, self.inputs, copies = differentiated_variables.as_variables(arguments, name)
        value = function(*copies)
        if has_aux and not (isinstance(value, tuple) and len(value) == 2):
            raise NxTypeError(
                message(
                    f"{name}: with has_aux=True the function gives a pair (value, aux), got {describe(value)}.",
                    "Return a tuple of two, of which the first is differentiated.",
                )
            )
        value, self._aux = value if has_aux else (value, ())
        refuse = differentiated_variables.no_value(name)
        leaves: list[tuple[str, Any]] = []
        self.structure = containers.flatten(value, "the value", leaves, refuse)
        more: list[tuple[str, Any]] = []
        self._aux = containers.flatten(self._aux, "aux", more, refuse)
        self.outputs = [leaf for _, leaf in leaves]
        self._more = [leaf for _, leaf in more]
        self.nodes = list(map(differentiated_variables.node, self.outputs))
        self.variables = list(map(differentiated_variables.node, self.inputs))

    @property
    def results(self) -> list[Expr]:
        """The nodes of the value, then those of what is given besides it."""
        return [*self.nodes, *map(differentiated_variables.node, self._more)]

    def given(self, results: Sequence[Expr]) -> tuple[Any, Any]:
        """The value, and what is given besides it, of nodes as :attr:`results` has them."""
        count, leaves = len(self.nodes), [*self.outputs, *self._more]
        values = [differentiated_variables.like(leaf, node) for leaf, node in zip(leaves, results, strict=True)]
        value, aux = iter(values[:count]), iter(values[count:])
        return containers.rebuild(self.structure, value), containers.rebuild(self._aux, aux)

    def of_value(self, tangents: Sequence[Expr]) -> Any:
        """A tangent of the value, in its structure."""
        pairs = zip(self.outputs, tangents, strict=True)
        leaves = [differentiated_variables.like(leaf, node, tangent=True) for leaf, node in pairs]
        return containers.rebuild(self.structure, iter(leaves))

    def of_arguments(self, cotangents: Sequence[Expr]) -> tuple:
        """A cotangent of the arguments, each in its structure."""
        pairs = zip(self.inputs, cotangents, strict=True)
        supply = iter([differentiated_variables.like(leaf, node, tangent=True) for leaf, node in pairs])
        return tuple([containers.rebuild(structure, supply) for structure in self.structures])


class LinearMap:
    """The derivative of a call, as a graph of placeholders that are replaced by what it is applied to.

    Parameters
    ----------
    call : Call
    reverse : bool
        Whether it takes cotangents of the value to those of the arguments, or tangents of these to that of the value.

    Attributes
    ----------
    results : list of Expr
        The results of the call, computed together with what the derivative needs.
    """

    def __init__(self, call: Call, reverse: bool) -> None:
        self.call, self.reverse = call, reverse
        self._unit = [placeholder(tangent_spec(node.spec)) for node in (call.nodes if reverse else call.variables)]
        if reverse:
            self._along, self.results = gradients(call.nodes, self._unit, call.variables, call.results)
        else:
            self._along, self.results = tangents(call.nodes, call.variables, self._unit, call.results)

    @cached_property
    def kept(self) -> list[Expr]:
        """The intermediate values that it reads and that do not depend on what it is applied to."""
        return _known_before(self._along, self._unit, self.call.variables)

    def at(self, leaves: Sequence[Expr], kept: Sequence[Expr] = ()) -> list[Expr]:
        """What it gives for the leaves of a tangent or cotangent; `kept` are intermediate values of an earlier run."""
        replacements = dict(zip(self._unit, leaves, strict=True))
        if [node.spec[:2] for node in kept] == [node.spec[:2] for node in self.kept]:
            replacements |= zip(self.kept, kept, strict=True)
        return replayed(self._along, replacements)

    def applied(self, given: Any, name: str, kept: Sequence[Expr] = ()) -> Any:
        """A cotangent pulled back, or the tangents of all arguments pushed forward."""
        call = self.call
        if self.reverse:
            specs = [operand(leaf).spec for leaf in call.outputs]
            leaves = alike(given, call.structure, specs, f"{name}: the cotangent", "the value")
            return call.of_arguments(self.at(leaves, kept))
        structure = ("tuple", None, tuple(call.structures))
        specs = [operand(leaf).spec for leaf in call.inputs]
        leaves = alike(tuple(given), structure, specs, f"{name}: the tangent", "the argument")
        return call.of_value(self.at(leaves, kept))


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


def alike(value: Any, structure: Any, specs: Sequence[Spec | VectorizedSpec], what: str, like: str) -> list[Expr]:
    """The leaves of a cotangent or tangent, checked against the value, in its types and with its vectorized axes."""
    leaves: list[tuple[str, Any]] = []
    own = containers.flatten(value, what.rpartition("the ")[2], leaves, differentiated_variables.no_value(what))
    leaves = containers.leaves_like(structure, own, leaves)
    if leaves is None:
        raise NxTypeError(
            f"{what} is built like {like}, {containers.describe(structure)}, got {containers.describe(own)}."
        )
    nodes = []
    for (path, leaf), spec in zip(leaves, specs, strict=True):
        operand_ = operand(leaf)
        if operand_.shape != spec.shape:
            raise NxValueError(f"{what} has the shape of {like}, {spec}, got {operand_.spec} in {path}")
        if type(spec) is VectorizedSpec:
            operand_ = axis_alignment.broadcast(operand_, spec.vectorized_axes)
        if operand_.type.is_complex and not tangent_type(spec.type).is_complex:
            raise NxTypeError(f"{what} is real where {like} is: {spec}, got {operand_.spec} in {path}")
        nodes.append(convert(plain(differentiated_variables.node(operand_)), tangent_type(spec.type)))
    return nodes
