"""Tracing a function: it runs once on symbolic parameters, and the result is a graph."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nxkernel import primitives, types
from nxkernel.definitions.captures.object_contents import elements
from nxkernel.definitions.captures.placeholders import Placeholders
from nxkernel.definitions.flow.control.unrolling import notes
from nxkernel.definitions.flow.values import mutable_arguments
from nxkernel.definitions.flow.values.object_changes import ObjectWatch
from nxkernel.definitions.flow.values.variable_leaves import has_traced_length
from nxkernel.definitions.keys import callables, containers
from nxkernel.definitions.keys.argument_identity import Rebuilt, remember_captured
from nxkernel.definitions.keys.leaves import Leaf, spec_of
from nxkernel.definitions.outputs.hook_delivery import Hook
from nxkernel.definitions.tracing import dialects, side_effects
from nxkernel.errors import NxError, TracedValueError, message
from nxkernel.graph.expr import Expr, Graph, SourceLocation, VectorizedExpr, node_with, parameter
from nxkernel.graph.tracing import MutableCell, Trace
from nxkernel.graph.traverse import post_order
from nxkernel.numpy.arrays import integer_bounds
from nxkernel.operand import VectorizedSpec, whole_spec
from nxkernel.ops.machinery import dispatch
from nxkernel.primitives import Spec
from nxkernel.tensor.tensor import Tensor


@dataclass(frozen=True)
class CapturedArrays:
    """The arrays that a function captures by name, and how it reaches them.

    Parameters
    ----------
    arrays : sequence of (str, Spec, array)
        Name, what it is, and its value now.
    leads : mapping
        By identity, the functions, containers and objects that arrays are reached through.
    objects : sequence
        Other objects that arguments may be.
    beside : sequence of (str, array)
        Arrays that count by their contents, which nothing stands in for.
    """

    arrays: Sequence[tuple[str, Spec, Any]] = ()
    leads: Mapping[int, Any] = field(default_factory=dict)
    objects: Sequence[Any] = ()
    beside: Sequence[tuple[str, Any]] = ()

    def at(self, kind: str, number: int) -> Any:
        """A captured ``"array"`` or another ``"object"``."""
        return self.arrays[number][2] if kind == "array" else self.objects[number]


@dataclass(frozen=True)
class Traced:
    """The result of one trace: graph, structure of the outputs, side effects, hooks.

    Parameters
    ----------
    graph : Graph
        Parameters in the order: arguments, captured arrays, fixed arrays.
    structure : Any
        Of the function's result.
    captured : tuple of int
        Which of the known arrays are used.
    fixed : tuple of numpy.ndarray
        Arrays that the function made itself, without nxkernel.
    hooks : tuple of (Hook, structure)
        Who gets a value, and the structure of it; their leaves come after those of the result.
    specs : tuple of Spec or VectorizedSpec
        Of each output as the function returned it: the first axes of an output may be vectorized.
    notes : tuple of str
        What a person may want to know of how it was traced.
    changes : tuple of int
        The leaves of the arguments that are assigned into; what is in them at the end are the last outputs.
    returned : frozenset of int
        Those of them whose last value the function returns.
    assigned_at : tuple of (Source or None)
        For each of them the line that assigned into it last.
    copied : tuple of (int, Source)
        The arguments whose copies a function of functions assigned into, and where.
    reshaped : frozenset of int
        The leaves whose elements have to lie in order, as something is a view of them, or a copy, only then.
    changes_containers : bool
        Whether the function changes containers that it gets.
    repeated : tuple of callable
        What each later call does besides: it changes Python objects outside of the function as the trace did.
    """

    graph: Graph
    structure: Any
    captured: tuple[int, ...]
    fixed: tuple[np.ndarray, ...]
    hooks: tuple[tuple[Hook, Any], ...]
    specs: tuple[Spec | VectorizedSpec, ...]
    notes: tuple[str, ...] = ()
    changes: tuple[int, ...] = ()
    returned: frozenset[int] = frozenset()
    assigned_at: tuple[SourceLocation | None, ...] = ()
    copied: tuple[tuple[int, SourceLocation | None], ...] = ()
    reshaped: frozenset[int] = frozenset()
    changes_containers: bool = False
    repeated: tuple[Callable[[], None], ...] = ()


#: A node, and the spec of the value that it is for the function: its first axes may be vectorized.
Output = tuple[Expr, Spec | VectorizedSpec]


class _Capturing:
    """Gives each array that the function meets a parameter of its own; they are numbered when the trace is over."""

    def __init__(self, known: CapturedArrays) -> None:
        self._known: dict[int, int] = {}
        for number, (_, _, value) in enumerate(known.arrays):
            self._known.setdefault(id(value), number)
        self._arrays = known.arrays
        self._nodes: dict[int, Expr] = {}
        #: Of arrays that are none of them what was in them when they were met: the function may change them later.
        self._copies: dict[int, np.ndarray] = {}
        self._kept: list[Any] = []
        #: Each node to the number of the captured array that it stands for, or to an array that is none of them.
        self.meaning: dict[Expr, int | np.ndarray] = {}

    def known(self, value: Any, looks: dialects.Dialect) -> Any:
        """The placeholder of an array that is captured by name."""
        number = self._known.get(id(value))
        if number is None:
            return None
        made = looks.captured(self._arrays[number][0], node_with(self(value), spec_of(value)))
        remember_captured(looks.run, made)
        return made

    def __call__(self, value: Any) -> Expr:
        node = self._nodes.get(id(value))
        if node is not None and isinstance(value, np.ndarray) and not self._is_as_before(value):
            node = None
        if node is None:
            number = self._known.get(id(value))
            if number is None and isinstance(value, Tensor):
                name, meaning = "tensor", value.data
            elif number is None:
                name, meaning = "tensor", np.array(value)
                self._copies[id(value)] = meaning
            else:
                name, meaning = self._arrays[number][0], number
            node = self._nodes[id(value)] = parameter(-1, name, whole_spec(spec_of(value)), captured=True)
            if number is None:
                node.params["baked"] = True
            self.meaning[node] = meaning
            self._kept.append(value)
        return node

    def _is_as_before(self, value: np.ndarray) -> bool:
        """Whether an array has what it had when its node was made."""
        copy = self._copies.get(id(value))
        return copy is None or elements(copy) == elements(value)


class _Views:
    """What captured arrays are in the eyes of the function and of the definitions that it calls, by their faces."""

    def __init__(self, run: Trace, capturing: _Capturing, leads: Mapping[int, Any]) -> None:
        self._run, self._capturing, self._leads = run, capturing, leads
        self._looks: dict[str, dialects.Dialect] = {}
        self._placeholders: dict[str, Placeholders] = {}

    def looks(self, face: str) -> dialects.Dialect:
        if face not in self._looks:
            self._looks[face] = dialects.DIALECTS[face](self._run)
        return self._looks[face]

    def placeholders(self, face: str) -> Placeholders:
        if face not in self._placeholders:
            looks = self.looks(face)
            self._placeholders[face] = Placeholders(
                lambda value: self._capturing.known(value, looks), self._leads, self.placeholders
            )
        return self._placeholders[face]

    def changes(self, looks: dialects.Dialect) -> list[tuple[int, Expr]]:
        """The arguments that were assigned into; other faces have none, and refuse what was assigned from outside."""
        for other in self._looks.values():
            if other is not looks:
                other.changes()
        return looks.changes()

    def write_back(self) -> None:
        """Hand over what was assigned during the trace."""
        for made in self._placeholders.values():
            made.write_back()


@dataclass(frozen=True)
class _Asked:
    """The hook requests of a trace.

    Parameters
    ----------
    given : collection of str
        The names that the caller of the program has functions for.
    met : set of str
        The names of all hooks that were met.
    values : list of (Hook, structure, outputs)
        Of those in branches, the cells that their outputs are in.
    """

    given: Collection[str]
    met: set[str] = field(default_factory=set)
    values: list[tuple[Hook, Any, Sequence[Output | MutableCell]]] = field(default_factory=list)

    def unknown(self) -> list[str]:
        """Notes on names that functions were given for, and that no hook has."""
        there = f"there {'are' if len(self.met) > 1 else 'is'} {', '.join(map(repr, sorted(self.met)))}"
        return [
            f"no hook is named {name!r}; {there if self.met else 'there is none'}"
            for name in sorted(self.given)
            if name not in self.met
        ]


#: By the trace.
_asked: dict[int, _Asked] = {}


def trace(
    name: str,
    function: Callable[..., Any],
    structures: Sequence[Any],
    leaves: Sequence[Leaf],
    options: Mapping[str, Any],
    known: CapturedArrays,
    twin: Callable[[Any], Any] = lambda function: function,
    face: str = dialects.NX,
    names: Sequence[str] = (),
    keywords: Sequence[str] = (),
    hooks: Collection[str] = (),
    order: Sequence[str] = (),
) -> Traced:
    """Trace a function.

    Parameters
    ----------
    name : str
    function : callable
    structures : sequence
        Of each positional argument.
    leaves : sequence of Leaf
        The arguments' leaves.
    options : mapping
        Passed as they are.
    known : CapturedArrays
        The arrays that the function captures by name.
    twin : callable, optional
        Gives what is called in place of the function; one whose attribute ``gives_back`` is true returns the containers
        that it changes.
    face : str, optional
        As what the function sees its values.
    names : sequence of str
        Of the arguments.
    keywords : sequence of str, optional
        The last arguments are passed by these names.
    hooks : collection of str, optional
        The names of hooks that the caller of the program has functions for.
    order : sequence of str, optional
        The last of what is passed by name, in this order.
    """
    __tracebackhide__ = True
    parameters = [parameter(place, leaf.path, whole_spec(leaf.spec)) for place, leaf in enumerate(leaves)]
    capturing = _Capturing(known)
    run = Trace(capturing)
    views = _Views(run, capturing, known.leads)
    looks, placeholders = views.looks(face), views.placeholders(face)
    mutable_arguments.keep(run, known.beside)
    asked = _asked[id(run)] = _Asked(hooks)
    try:
        with run, looks.rules():
            values = [
                leaf.fixed[0] if leaf.fixed else looks.argument(place, leaf, node_with(node, leaf.spec))
                for place, (node, leaf) in enumerate(zip(parameters, leaves, strict=True))
            ]
            supply = iter(values)
            rebuilt = Rebuilt(lambda kind, number: placeholders.of(known.at(kind, number)))
            arguments = [containers.rebuild(structure, supply, rebuilt) for structure in structures]
            kept = ObjectWatch((), zip(names, arguments, strict=True))
            named = dict(zip(keywords, arguments[len(arguments) - len(keywords) :], strict=True))
            arguments = arguments[: len(arguments) - len(keywords)]
            code = getattr(callables.plain(function), "__code__", None)
            named |= {key: placeholders.of(value) for key, value in options.items()}
            named |= {name: named.pop(name) for name in order}
            function = twin(placeholders.of(function))
            result = function(*arguments, **named)
            changes_containers = bool(kept.differences())
            if not getattr(function, "gives_back", False):
                side_effects.refuse_lost(name, code, kept, result)
            changes = views.changes(looks)
            found: list[tuple[str, Any]] = []
            structure: Any = containers.NOTHING
            if result is not None or not (changes or asked.values):
                parts = isinstance(result, containers.SEVERAL)
                structure = containers.flatten(result, "the result", found, containers.no_tensor(name), parts)
            results = [_result(name, path, value, run) for path, value in found]
    finally:
        del _asked[id(run)]
        views.write_back()
        integer_bounds.forget()
    results += [_now(output, run) for _, _, wanted in asked.values for output in wanted]
    results += [output_of(node, run) for _, node in changes]
    outputs, specs = [node for node, _ in results], tuple([spec for _, spec in results])
    reached = list(post_order(outputs))
    _check_own(reached, {*parameters, *capturing.meaning})
    used = [node for node in reached if node in capturing.meaning]
    captured = sorted((node for node in used if isinstance(capturing.meaning[node], int)), key=capturing.meaning.get)
    fixed = [node for node in used if not isinstance(capturing.meaning[node], int)]
    for place, node in enumerate([*captured, *fixed], start=len(parameters)):
        node.params["index"] = place

    def rebuild(values: Sequence[Expr]) -> Any:
        return containers.rebuild(structure, map(node_with, values, specs))

    first = len(outputs) - len(changes)
    updates = tuple((place, first + number) for number, (place, _) in enumerate(changes))
    return Traced(
        Graph(name, [*parameters, *captured, *fixed], outputs, rebuild, updates),
        structure,
        tuple(capturing.meaning[node] for node in captured),
        tuple(capturing.meaning[node] for node in fixed),
        tuple([(hook, shape) for hook, shape, _ in asked.values]),
        specs,
        (*notes(run), *asked.unknown()),
        tuple(place for place, _ in changes),
        frozenset(place for place, node in changes if any(node is output for output in outputs[:first])),
        tuple([node.source for _, node in changes]),
        looks.copied(),
        looks.reshaped(),
        changes_containers,
    )


_OUTSIDE = (
    "Or return the whole array and the mask or the bounds, and take the part outside: x[mask], "
    "np.flatnonzero(mask), x[:k]."
)


def _check_own(nodes: Sequence[Expr], own: Collection[Expr]) -> None:
    """Refuse values of another trace: in this one, parameters of the same places would be taken for theirs."""
    for node in nodes:
        if node.primitive is primitives.parameter and node not in own:
            raise TracedValueError(
                message(
                    f"a traced value that was computed from {node.params['name']!r}, {node.spec}, is used after its "
                    "definition was traced.",
                    "It was probably stored in a global, a list or an attribute: return it from the definition "
                    "instead.",
                )
            )


def _result(function: str, path: str, value: Any, run: Trace) -> Output:
    """A leaf of the result; one whose size only the running program knows is refused by its place there."""
    try:
        return output_of(value, run)
    except NxError as error:
        first, *rest = str(error).split("\n")
        if has_traced_length(value):
            rest.append(f"  {_OUTSIDE}")
        error.args = ("\n".join([first, f"  It is {path} of {function}.", *rest]),)
        raise


def output_of(value: Any, run: Trace) -> Output:
    """The node of a tensor, array, number or traced value in the trace that is active, and the value's spec."""
    if not isinstance(value, np.ndarray):
        value = dispatch.operand(value)
    return value.node if type(value) is VectorizedExpr else run.node(value), spec_of(value)


def is_given(name: str, run: Trace) -> bool:
    """Whether the caller of the program that is being traced has a function for hooks of that name."""
    asked = _asked.get(id(run.outermost))
    if asked is None:
        return False
    asked.met.add(name)
    return name in asked.given


def ask(hook: Hook, structure: Any, outputs: list[Output], run: Trace) -> None:
    """Have a value delivered after each run of the program that is being traced.

    Out of the sides of branches it comes by way of cells: what is in them at the end is a result of the program, and so
    is whether it was put there.

    Raises
    ------
    TracedValueError
        In a body of a loop or of another primitive, whose values are none of the program's results. A loop whose number
        of iterations is known is written out then.
    """
    asked = _asked.get(id(run.outermost))
    if asked is None or not is_reached(run):
        printed = hook.name is None
        what = "values cannot be printed" if printed else f"the hook {hook.name!r} cannot be called"
        raise TracedValueError(
            message(
                f"{what} in a loop of the compiled program, or in what is traced on its own.",
                f"Return the values from the definition, and {'print them' if printed else 'call the hook'} there; "
                "those of a loop in an array: a[i] = v.",
                "`for i in nx.unroll(range(n))` writes a loop out, in which "
                f"{'they are printed' if printed else 'it is called in each turn'}.",
            )
        )
    if run.previous is None:
        asked.values.append((hook, structure, outputs))
        return
    cells = []
    for node in (dispatch.filled(1, types.u8, ()), *[node for node, _ in outputs]):
        cells.append(MutableCell("a hook"))
        run.outermost.write(cells[-1], dispatch.filled(0, *node.spec))
        run.write(cells[-1], node)
    hook = dataclasses.replace(hook, in_branch=True)
    asked.values.append((hook, ("tuple", None, (containers.LEAF, structure)), cells))


def is_reached(run: Trace) -> bool:
    """Whether nothing but branches is between a trace and the program."""
    while run.previous is not None:
        if not run.side:
            return False
        run = run.previous
    return True


def _now(output: Output | MutableCell, run: Trace) -> Output:
    """What a hook gets, where it is in a cell."""
    if not isinstance(output, MutableCell):
        return output
    node = run.read(output)
    return node, node.spec
