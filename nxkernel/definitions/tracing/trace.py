"""Tracing a function: it runs once on symbolic parameters, and the result is a graph."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nxkernel import primitives, types
from nxkernel.definitions.captures.object_contents import elements
from nxkernel.definitions.captures.placeholders import Placeholders
from nxkernel.definitions.flow.control import checks, repeated_calls
from nxkernel.definitions.flow.control.unrolling import notes
from nxkernel.definitions.flow.operators import call_dispatch
from nxkernel.definitions.flow.values import followed_classes, mutable_arguments
from nxkernel.definitions.flow.values.object_changes import ObjectWatch
from nxkernel.definitions.flow.values.variable_leaves import has_traced_length
from nxkernel.definitions.keys import callables, containers
from nxkernel.definitions.keys.argument_identity import RebuiltArguments, remember_captured
from nxkernel.definitions.keys.leaves import Leaf, spec_of
from nxkernel.definitions.keys.static_values import by_contents
from nxkernel.definitions.outputs import host_results
from nxkernel.definitions.outputs.calling_convention import CallingConvention
from nxkernel.definitions.outputs.hook_delivery import Hook
from nxkernel.definitions.tracing import asked_values, dialects, fault_checks, side_effects
from nxkernel.definitions.tracing.static_results import StaticResults
from nxkernel.errors import NxError, TracedValueError, message
from nxkernel.graph import deferred_calls, python_numbers, tracing, values_of_call
from nxkernel.graph.expr import Expr, Graph, SourceLocation, VectorizedExpr, node_with, parameter
from nxkernel.graph.tracing import MutableCell, Trace
from nxkernel.graph.traverse import post_order
from nxkernel.numpy.base import integer_bounds
from nxkernel.operand import VectorizedSpec, whole_spec
from nxkernel.ops.machinery import dispatch
from nxkernel.primitives import Spec
from nxkernel.tensor.tensor import StoredTensor


@dataclass(frozen=True)
class CapturedArrays:
    """The arrays that a function captures by name, and the objects through which it reaches them.

    Parameters
    ----------
    arrays : sequence of (str, Spec, array)
        Name, spec, and the array itself.
    leads : mapping
        By identity, the functions, containers and objects that lead to arrays.
    objects : sequence
        Other captured values, which arguments may be the same object as.
    beside : sequence of (str, array)
        Arrays that count by their contents and have no placeholder.
    """

    arrays: Sequence[tuple[str, Spec, Any]] = ()
    leads: Mapping[int, Any] = field(default_factory=dict)
    objects: Sequence[Any] = ()
    beside: Sequence[tuple[str, Any]] = ()

    def at(self, kind: str, number: int) -> Any:
        """A captured ``"array"``, or another ``"object"``, by number."""
        return self.arrays[number][2] if kind == "array" else self.objects[number]


@dataclass(frozen=True)
class Traced:
    """The result of one trace.

    Parameters
    ----------
    graph : Graph
        Parameters in the order: arguments, captured arrays, fixed arrays.
    convention : CallingConvention
    fixed : tuple of numpy.ndarray
        Arrays that it uses and that are not captured, such as those that NumPy made during the trace: constants of the
        program.
    notes : tuple of str
        Notes for the event, such as on unrolled loops.
    changes_outside : tuple of str
        Which Python objects outside of the function the trace has changed, for people.
    """

    graph: Graph
    convention: CallingConvention
    fixed: tuple[np.ndarray, ...]
    notes: tuple[str, ...] = ()
    changes_outside: tuple[str, ...] = ()


#: A node, and the spec that its value has for the function, which may have vectorized axes.
Output = tuple[Expr, Spec | VectorizedSpec]


class _Capturing:
    """Gives each array that the function meets a parameter; they are numbered at the end of the trace."""

    def __init__(self, captured_arrays: CapturedArrays) -> None:
        self._numbers: dict[int, int] = {}
        for number, (_, _, value) in enumerate(captured_arrays.arrays):
            self._numbers.setdefault(id(value), number)
        self._arrays = captured_arrays.arrays
        self._nodes: dict[int, Expr] = {}
        #: For arrays that are not captured by name, a copy of their contents: the function may change them later.
        self._copies: dict[int, np.ndarray] = {}
        self._kept_alive: list[Any] = []
        #: For each placeholder, the number of the captured array, or the array itself if it is not captured by name.
        self.meaning: dict[Expr, int | np.ndarray] = {}

    def placeholder(self, value: Any, view: dialects.Dialect) -> Any:
        """The placeholder of an array that is captured by name; None for other arrays."""
        number = self._numbers.get(id(value))
        if number is None:
            return None
        placeholder = view.captured(self._arrays[number][0], node_with(self(value), spec_of(value)))
        remember_captured(view.run, placeholder)
        return placeholder

    def __call__(self, value: Any) -> Expr:
        node = self._nodes.get(id(value))
        if node is not None and isinstance(value, np.ndarray) and not self._is_as_before(value):
            node = None
        if node is None:
            number = self._numbers.get(id(value))
            if number is None and isinstance(value, StoredTensor):
                name, meaning = "tensor", value.data
            elif number is None:
                name, meaning = "tensor", np.array(value)
                self._copies[id(value)] = meaning
            else:
                name, meaning = self._arrays[number][0], number
            node = self._nodes[id(value)] = parameter(-1, name, whole_spec(spec_of(value)), captured=True)
            if number is None:
                node.params["baked"] = True
                tracing.remember_fixed(node, meaning)
            self.meaning[node] = meaning
            self._kept_alive.append(value)
        return node

    def placed(self, parameters: Sequence[Expr], outputs: Sequence[Expr]) -> tuple[list[Expr], list[Expr]]:
        """Number the parameters of arrays that outputs are computed from, after those of the arguments.

        Returns
        -------
        list of Expr
            Of arrays that are captured by name, in the order of these.
        list of Expr
            Of others, such as those that NumPy made during the trace.
        """
        reached = list(post_order(outputs))
        _check_own(reached, {*parameters, *self.meaning})
        used = [node for node in reached if node in self.meaning]
        captured = sorted((node for node in used if isinstance(self.meaning[node], int)), key=self.meaning.get)
        fixed = [node for node in used if not isinstance(self.meaning[node], int)]
        for position, node in enumerate([*captured, *fixed], start=len(parameters)):
            node.params["index"] = position
        return captured, fixed

    def _is_as_before(self, value: np.ndarray) -> bool:
        """Whether an array still has the contents that it had when its parameter was made."""
        copy = self._copies.get(id(value))
        return copy is None or elements(copy) == elements(value)


class _Views:
    """The arguments and captured arrays as the function, and each definition that it calls, sees them: by dialect."""

    def __init__(self, run: Trace, capturing: _Capturing, leads: Mapping[int, Any]) -> None:
        self._run, self._capturing, self._leads = run, capturing, leads
        self._by_dialect: dict[str, dialects.Dialect] = {}
        self._placeholders: dict[str, Placeholders] = {}

    def view(self, dialect: str) -> dialects.Dialect:
        """How functions of this dialect see values."""
        if dialect not in self._by_dialect:
            self._by_dialect[dialect] = dialects.DIALECTS[dialect](self._run)
        return self._by_dialect[dialect]

    def placeholders(self, dialect: str) -> Placeholders:
        """The copies of functions and containers, with traced values of this dialect in place of captured arrays."""
        if dialect not in self._placeholders:
            view = self.view(dialect)
            self._placeholders[dialect] = Placeholders(
                lambda value: self._capturing.placeholder(value, view), self._leads, self.placeholders
            )
        return self._placeholders[dialect]

    def original(self, value: Any) -> Any:
        """What a copy with placeholders was made of; any other value itself."""
        for copies in self._placeholders.values():
            value = copies.original(value)
        return value

    def changes(self, view: dialects.Dialect) -> list[tuple[int, Expr]]:
        """The arguments that were assigned into; the other dialects refuse assignments into captured arrays."""
        for other in self._by_dialect.values():
            if other is not view:
                other.changes()
        return view.changes()

    def write_back(self) -> None:
        """Assign to the originals what the trace assigned to copies with placeholders."""
        for copies in self._placeholders.values():
            copies.write_back()


@dataclass(frozen=True)
class _HookRequests:
    """The hooks that a trace has met.

    Parameters
    ----------
    functions : collection of str
        The names in the caller's ``hooks=``.
    met : set of str
        The names of all hooks in the function.
    values : list of (Hook, structure, outputs)
        The hooks to be called.
    """

    functions: Collection[str]
    met: set[str] = field(default_factory=set)
    values: list[tuple[Hook, containers.Structure, Sequence[Output]]] = field(default_factory=list)

    def add_deferred(self, run: Trace, caller: SourceLocation | None) -> None:
        """Have the calls made after each run that the trace has deferred.

        Parameters
        ----------
        run : Trace
        caller : SourceLocation or None
            The line that had the function traced: a later call may be another one, and errors do not tell it.
        """
        for entry in deferred_calls.in_order(run):
            found = repeated_calls.hook_of(entry, run, caller)
            if found is not None:
                self.values.append(found)

    def unknown(self) -> list[str]:
        """Notes on functions that were given for names that no hook has."""
        there = f"there {'are' if len(self.met) > 1 else 'is'} {', '.join(map(repr, sorted(self.met)))}"
        return [
            f"no hook is named {name!r}; {there if self.met else 'there is none'}"
            for name in sorted(self.functions)
            if name not in self.met
        ]


#: By the identity of the trace.
_hook_requests: dict[int, _HookRequests] = {}


def trace(
    name: str,
    function: Callable[..., Any],
    structures: Sequence[containers.Structure],
    leaves: Sequence[Leaf],
    options: Mapping[str, Any],
    captured_arrays: CapturedArrays,
    twin: Callable[[Any], Any] = lambda function: function,
    dialect: str = dialects.NX,
    names: Sequence[str] = (),
    keywords: Sequence[str] = (),
    hooks: Collection[str] = (),
    order: Sequence[str] = (),
    whole: bool = False,
    asked: asked_values.CallValues | None = None,
    static: Sequence[Any] = (),
    checked: bool = False,
) -> Traced:
    """Trace a function: run it once on symbolic values, and return the graph.

    Parameters
    ----------
    name : str
    function : callable
    structures : sequence
        The structure of each argument.
    leaves : sequence of Leaf
        The leaves of all arguments.
    options : mapping
        Static keyword arguments.
    captured_arrays : CapturedArrays
        The arrays that the function captures by name.
    twin : callable, optional
        Returns the function to call in place of another one, such as its rewritten form. If the result has a true
        attribute ``gives_back``, it returns the containers that it changes.
    dialect : {"nx", "numpy"}, optional
        Whose rules the function follows: which kind of traced value its arguments and captured arrays become.
    names : sequence of str
        The names of the arguments.
    keywords : sequence of str, optional
        The names by which the last arguments are passed.
    hooks : collection of str, optional
        The names in the caller's ``hooks=``.
    order : sequence of str, optional
        The names that are passed last, in this order.
    whole : bool, optional
        Whether Python's floats have all of their digits, by Nx's rules, too; else a RoundedNumberError tells of one
        that needs them.
    asked : asked_values.CallValues, optional
        What the trace may ask for numbers of, where it needs some that only the running program knows.
    static : sequence, optional
        The static values in the arguments that their structures have the numbers of.
    checked : bool, optional
        Whether the program looks for what goes wrong in it.
    """
    __tracebackhide__ = True
    caller = tracing.user_line()
    exact = _exact(leaves) if whole else {}
    leaves = [exact.get(position, leaf) for position, leaf in enumerate(leaves)]
    parameters = [parameter(position, leaf.path, whole_spec(leaf.spec)) for position, leaf in enumerate(leaves)]
    capturing = _Capturing(captured_arrays)
    run = Trace(capturing)
    views = _Views(run, capturing, captured_arrays.leads)
    view, placeholders = views.view(dialect), views.placeholders(dialect)
    mutable_arguments.keep(run, captured_arrays.beside)
    requests = _hook_requests[id(run)] = _HookRequests(hooks)
    asked_values.begin(run, asked, parameters, leaves, capturing.meaning)
    try:
        watching = fault_checks.begin(run) if checked else contextlib.nullcontext()
        with run, view.rules(), python_numbers.digits(whole), watching:
            values = [
                leaf.fixed[0] if leaf.fixed else view.argument(position, leaf, node_with(node, leaf.spec))
                for position, (node, leaf) in enumerate(zip(parameters, leaves, strict=True))
            ]
            supply = iter(values)
            rebuilt = RebuiltArguments(lambda kind, number: placeholders.of(captured_arrays.at(kind, number)))
            held = [value if by_contents(value) is not None else placeholders.of(value) for value in static]
            by_name = {key: placeholders.of(value) for key, value in options.items()}
            code = getattr(callables.plain(function), "__code__", None)
            seen = twin(placeholders.of(function))
            with followed_classes.following(call_dispatch.fn):
                arguments = [containers.rebuild(structure, supply, rebuilt, held) for structure in structures]
                watch = ObjectWatch((), zip(names, arguments, strict=True))
                args, named = _as_called(function, arguments, keywords, by_name, order)
                result = _called(seen, args, named)
            changes_containers = bool(watch.differences())
            if not getattr(seen, "gives_back", False):
                side_effects.refuse_lost(name, code, watch, result)
            changes = views.changes(view)
            requests.add_deferred(run, caller)
            requests.values[:0] = asked_values.checks(run)
            pairs: list[tuple[str, Any]] = []
            structure: containers.Structure = containers.NOTHING
            if result is not None or not (changes or requests.values):
                refuse, texts = containers.no_tensor(name), types.follows_numpy()
                structure = containers.flatten(result, "the result", pairs, refuse, texts=texts)
            results = [_result(name, path, value, run) for path, value in pairs]
    finally:
        del _hook_requests[id(run)]
        views.write_back()
        integer_bounds.forget()
    place = StaticResults(held, static, views.original)
    structure = containers.with_static(structure, place.of_call)
    results += [output for _, _, wanted in requests.values for output in wanted]
    results += [output_of(node, run) for _, node in changes]
    outputs, specs = [node for node, _ in results], tuple([spec for _, spec in results])
    captured, fixed = capturing.placed(parameters, outputs)

    def rebuild(values: Sequence[Expr]) -> Any:
        return containers.rebuild(structure, map(node_with, values, specs), held=static)

    first = len(outputs) - len(changes)
    updates = tuple((position, first + number) for number, (position, _) in enumerate(changes))
    convention = CallingConvention(
        structure=structure,
        captured=tuple(capturing.meaning[node] for node in captured),
        hooks=tuple([(hook, containers.with_static(shape, place.of_trace)) for hook, shape, _ in requests.values]),
        specs=specs,
        changes=tuple(position for position, _ in changes),
        returned=frozenset(position for position, node in changes if any(node is output for output in outputs[:first])),
        assigned_at=tuple([node.source for _, node in changes]),
        copied=view.copied(),
        reshaped=view.reshaped(),
        changes_containers=changes_containers,
        exact=tuple(exact),
        given_shapes=view.given_shapes(),
        calls_python=host_results.are_asked_for(run),
    )
    return Traced(
        Graph(name, [*parameters, *captured, *fixed], outputs, rebuild, updates),
        convention,
        tuple(capturing.meaning[node] for node in fixed),
        (*notes(run), *requests.unknown()),
    )


def _called(function: Callable[..., Any], args: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """What a function returns while it is traced.

    An error that it raises in any case is raised by each run if the program has to say more: what comes before it,
    or values in its text.
    """
    try:
        return function(*args, **named)
    except values_of_call.EndedError:
        return None
    except Exception as error:
        if checks.has_failed_for_call():
            return None
        says_more = deferred_calls.entries(tracing.current()) or checks.has_values(error)
        if not checks.is_raised(error) or not says_more:
            raise
        checks.record(error)
        return None


def _exact(leaves: Sequence[Leaf]) -> dict[int, Leaf]:
    """By position, Python's floats among the leaves, as leaves of a type that has all of their digits."""
    exact: dict[int, Leaf] = {}
    for position, leaf in enumerate(leaves):
        type_ = python_numbers.double(leaf.spec.type)
        if leaf.number and not leaf.fixed and type_ is not leaf.spec.type:
            exact[position] = dataclasses.replace(leaf, spec=leaf.spec._replace(type=type_))
    return exact


def _as_called(
    function: Callable[..., Any],
    arguments: list[Any],
    keywords: Sequence[str],
    options: dict[str, Any],
    order: Sequence[str],
) -> tuple[list[Any], dict[str, Any]]:
    """Arguments by position and by name, as the caller passed them: the last ones by keyword, and some in an order."""
    by_position = len(arguments) - len(keywords)
    named = dict(zip(keywords, arguments[by_position:], strict=True)) | options
    arguments, named = callables.rest_by_position(callables.signature(function), arguments[:by_position], named)
    return arguments, named | {name: named.pop(name) for name in order}


_OUTSIDE = (
    "Or return the whole array and the mask or the bounds, and take the part outside: x[mask], "
    "np.flatnonzero(mask), x[:k].",
    "With nxkernel.numpy's nonzero(mask, size=n) there is room for n indices.",
)


def _check_own(nodes: Sequence[Expr], own: Collection[Expr]) -> None:
    """Refuse traced values of another trace, whose parameters would be confused with those of this one."""
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
    """A leaf of the result as a node; an error names the leaf's path."""
    try:
        return output_of(value, run)
    except NxError as error:
        first, *rest = str(error).split("\n")
        if has_traced_length(value):
            rest += [f"  {line}" for line in _OUTSIDE]
        error.args = ("\n".join([first, f"  It is {path} of {function}.", *rest]),)
        raise


def output_of(value: Any, run: Trace) -> Output:
    """The node and spec of a value, in the active trace."""
    if not isinstance(value, np.ndarray):
        value = dispatch.operand(value)
    if tracing.weak(value):
        value = dispatch.convert(value, python_numbers.alone(value.spec.type))
    return value.node if type(value) is VectorizedExpr else run.node(value), spec_of(value)


def is_given(name: str, run: Trace) -> bool:
    """Whether the caller gave a function for hooks of this name."""
    requests = _hook_requests.get(id(run.outermost))
    if requests is None:
        return False
    requests.met.add(name)
    return name in requests.functions


def ask(hook: Hook, structure: containers.Structure, outputs: list[Output], run: Trace) -> None:
    """Have a hook called with a value by each run of the program that is being traced.

    At the top of the program the value is one more output of it. A hook in a branch writes its value to a cell of the
    outer trace, and a 1 to another one that says that the branch was taken; their final contents are outputs. In loops,
    and in functions that are mapped, the running program calls it.

    Raises
    ------
    TracedValueError
        In what is traced on its own, such as the function of a checkpoint.
    """
    if id(run.outermost) in _hook_requests and repeated_calls.are_possible():
        repeated_calls.record(hook, structure, outputs)
        return
    if id(run.outermost) not in _hook_requests or not run.runs_once:
        raise repeated_calls.refusal(
            "values cannot be printed" if hook.name is None else f"the hook {hook.name!r} cannot be called",
            "print them" if hook.name is None else "call the hook",
        )
    if run.previous is None:
        deferred_calls.entries(run).append((hook, structure, outputs))
        return
    cells = []
    for node in (dispatch.filled(1, types.u8, ()), *[node for node, _ in outputs]):
        cells.append(MutableCell("a hook"))
        run.outermost.write(cells[-1], dispatch.filled(0, *node.spec))
        run.write(cells[-1], node)
    hook = dataclasses.replace(hook, in_branch=True)
    deferred_calls.entries(run).append((hook, ("tuple", None, (containers.LEAF, structure)), cells))
