"""Loop state: the variables of a Python loop as the carried state of a loop in the program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from nxkernel import types
from nxkernel.definitions.flow import source_sites
from nxkernel.definitions.flow.control import unrolling
from nxkernel.definitions.flow.control.buffer_swaps import Exchange
from nxkernel.definitions.flow.control.list_appends import Gathering
from nxkernel.definitions.flow.retracing import ChangesError, LearntError, MustUnrollError, retraced
from nxkernel.definitions.flow.values import array_aliases, changed_places, traced_text, variable_leaves
from nxkernel.definitions.flow.values.array_aliases import LoopAliases
from nxkernel.definitions.flow.values.changed_places import Place
from nxkernel.definitions.flow.values.mutable_arguments import MutableArgument, follow, make_of_several
from nxkernel.definitions.flow.values.object_changes import ObjectWatch
from nxkernel.definitions.flow.values.unassigned_variables import is_unassigned
from nxkernel.errors import NxError, NxTypeError
from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr
from nxkernel.numpy.arrays.array import Array
from nxkernel.operand import Proxy
from nxkernel.ops.machinery.dispatch import is_number
from nxkernel.ops.programs import control_flow
from nxkernel.primitives import Spec

#: Of leaves and of values of the variables: gives the condition, or the next ones of both.
Ask = Callable[[Sequence[Any], tuple], Any]
Turn = Callable[[Sequence[Any], tuple], tuple[Sequence[Any], tuple]]


class LoopPlan:
    """What an earlier trace learned of a loop: how its variables are represented.

    Attributes
    ----------
    opened : set of str
        Variables that began as arrays that are assigned into, or as containers of numbers, and are made anew in
        iterations.
    sizes : dict
        How many leaves a variable has that is first assigned in the loop.
    stretched : dict
        Axes of which a variable that begins as a whole array becomes a part.
    unroll : bool
        Whether the loop must be written out.
    keeps_target : bool
        Whether the body assigns to the variable that goes over the items.
    """

    def __init__(self) -> None:
        self.opened: set[str] = set()
        self.sizes: dict[str, int] = {}
        self.stretched: dict[str, tuple[int, ...]] = {}
        self.unroll = self.keeps_target = False

    def snapshot(self) -> tuple:
        """Compares equal when nothing new was found."""
        return (len(self.opened), tuple(self.sizes.items()), tuple(self.stretched.items()), self.keeps_target)


def plan(site: Any, names: Sequence[str]) -> LoopPlan:
    """What this trace knows of a loop."""
    trace = tracing.current()
    if trace is None:
        return LoopPlan()
    return trace.outermost.memory.setdefault(("loop", tuple(site), tuple(names)), LoopPlan())


class _Variable:
    """A variable in the state of a loop."""

    def __init__(self, name: str, value: Any, found: LoopPlan, target: bool = False, changes: bool = False) -> None:
        if changes or name in found.opened:
            value = traced_text.as_chosen(value)
        self.name, self.value = name, value
        self.leaves: list[Any] = []
        self.structure: tuple | None = None
        self.result: tuple | None = None
        self.copied = False
        #: Those that it has after the loop.
        self.arrays: list[Any] = []
        # What goes over the items is given anew in each iteration, whatever was in it.
        self.fresh = target or is_unassigned(value)
        self.held = not (self.fresh or changes) and name not in found.opened and _can_hold(value)
        if self.fresh:
            self.size = found.sizes.get(name, 1)
            self.leaves = [control_flow.UNKNOWN] * self.size
        elif not self.held:
            if found.stretched.get(name) and isinstance(value, Array):
                value = variable_leaves.stretched(value, found.stretched[name])
            self.structure = variable_leaves.take_apart(value, self.leaves)
            self.size = len(self.leaves)
        else:
            self.size = 0

    def in_turn(self, nodes: Sequence[Any]) -> Any:
        """The value that the body sees."""
        if self.held or self.fresh:
            return self.value
        make_of_several(nodes)
        for leaf, node in zip(self.leaves, nodes, strict=True):
            follow(leaf, node)
        self.given = variable_leaves.rebuild(self.structure, iter(nodes))
        self.entered = self.given.root.content() if isinstance(self.given, Array | MutableArgument) else None
        return self.given

    def arrays_before(self) -> list[Any]:
        """The arrays that it has before the loop."""
        found = variable_leaves.arrays_of(self.structure) if self.structure else []
        return [array for array in found if array is not None]

    def arrays_in_turn(self) -> list[Any]:
        """Those that the body sees."""
        if not self.structure:
            return []
        return [array for array in variable_leaves.arrays_made(self.structure, self.given) if array is not None]

    def arrays_after_turn(self) -> list[Any]:
        """Those that an iteration bound it to."""
        return [array for array in variable_leaves.arrays_of(self.result) if array is not None] if self.result else []

    def after_turn(self, value: Any, found: LoopPlan, before: Sequence[Any]) -> list[Any]:
        """The leaves of what the body gave."""
        if self.held:
            if not variable_leaves.same(self.value, value):
                if _can_open(self.value, value):
                    found.opened.add(self.name)
                    raise LearntError
                raise MustUnrollError(f"`{self.name}` {_texts(self.value, value)}")
            return []
        leaves: list[Any] = []
        if traced_text.is_chosen(self.value):
            value = traced_text.as_chosen(value)
        self.result = variable_leaves.take_apart(value, leaves)
        if self.fresh:
            kept = variable_leaves.arrays_kept(self.result, tracing.current().previous)
            leaves, self.result = variable_leaves.leaves_of(self.result, iter(leaves), kept, None), kept
        self.turned = leaves
        if self.fresh:
            if len(leaves) != self.size:
                found.sizes[self.name] = len(leaves)
                raise LearntError
            return leaves
        self.copied = variable_leaves.is_mutable(self.value) and value is self.given
        try:
            variable_leaves.fit(self.structure, self.result, self.name, _no_value)
        except variable_leaves.MismatchError as mismatch:
            if self.structure[0] == variable_leaves.LEAF and self.result[0] == variable_leaves.PART:
                found.stretched[self.name] = self.result[1]
                raise LearntError from None
            raise ChangesError(f"`{mismatch.path}` {_texts(self.value, value)}") from None
        self.unchanged = len(leaves) == 1 and leaves[0] is before[0]
        return leaves

    def after_loop(self, leaves: Sequence[Any]) -> Any:
        """The value after the loop."""
        if self.held:
            return self.value
        if not self.fresh and self.unchanged and is_number(self.value):
            return self.value
        make_of_several(leaves)
        for leaf, node in zip(self.turned, leaves, strict=True):
            follow(leaf, node)
        made = variable_leaves.rebuild(self._last(), iter(leaves))
        self.arrays = [array for array in variable_leaves.arrays_made(self._last(), made) if array is not None]
        return variable_leaves.write_back(self.value, made) if self.copied else made

    def _last(self) -> tuple:
        return self.result if self.fresh else variable_leaves.fit(self.structure, self.result, self.name, _no_value)


def _no_value(path: str, side: int) -> Any:
    raise MustUnrollError(f"`{path}` has a value on some ways only")


def _can_hold(value: Any) -> bool:
    """Whether a value may stay as it is in the loop, until it turns out that it does not."""
    return not (is_number(value) or variable_leaves.has_values(value, proxies=False))


def _can_open(before: Any, after: Any) -> bool:
    """Whether a value that was held can be part of what the program changes."""
    if traced_text.is_text(before) and traced_text.is_text(after):
        return True
    if isinstance(before, Proxy):
        return variable_leaves.is_value(after) or is_number(after)
    one: list[Any] = []
    structures = variable_leaves.take_apart(before, one), variable_leaves.take_apart(after, [])
    try:
        variable_leaves.fit(*structures, "", _no_value)
    except (variable_leaves.MismatchError, MustUnrollError):
        return False
    return bool(one)


def _texts(before: Any, after: Any) -> str:
    found = []
    for value in (before, after):
        leaves: list[Any] = []
        structure = variable_leaves.take_apart(value, leaves)
        found.append(variable_leaves.described(structure, iter(leaves)))
    return f"is {found[0]} before a turn and {found[1]} after it"


class LoopState:
    """The variables of one loop.

    Parameters
    ----------
    site : Site
    names : sequence of str
    values : sequence
        Before the loop.
    found : LoopPlan
    functions : iterable of callable
        What runs in an iteration.
    gathering : Gathering, optional
        The lists that iterations append to.
    target : bool
        Whether the first variable goes over items; it is part of the state where the plan says so.
    """

    def __init__(
        self,
        site: Any,
        names: Sequence[str],
        values: Sequence[Any],
        found: LoopPlan,
        functions: Iterable[Callable[..., Any]],
        gathering: Gathering | None = None,
        target: bool = False,
    ) -> None:
        self.site, self._names, self._plan = site, names, found
        self._values = variable_leaves.entered(values)
        self._functions, self._gathering, self._target = tuple(functions), gathering or Gathering((), 0, site), target
        self._arrays = LoopAliases(site)
        #: Parts of objects that iterations change.
        self._places: list[Place] = []

    def run(self, counts: Sequence[Any], ask: Ask, turn: Turn) -> tuple[list[Any], tuple]:
        """Run the loop; returns leaves and variables after it.

        Parameters
        ----------
        counts : sequence
            Leaves beside the variables.
        ask, turn : callable
        """
        known, marked = self._known(), array_aliases.mark()

        def attempt() -> tuple[list[Any], tuple]:
            self._gathering.begin()
            return self._run(counts, ask, turn)

        def learn(error: BaseException) -> None:
            nonlocal known
            if not isinstance(error, LearntError):
                raise error
            before, known = known, self._known()
            if known == before:
                raise source_sites.error(
                    NxTypeError,
                    "this loop assigns values of another structure in each turn.",
                    *source_sites.shown(self.site),
                    "Keep what it computes in tensors of one type and shape.",
                ) from None

        reasons = (LearntError, MustUnrollError, NxError)
        return retraced(attempt, reasons, lambda: array_aliases.undo(marked), learn)

    def _known(self) -> tuple:
        """What attempts have learned so far."""
        return self._plan.snapshot(), self._arrays.snapshot(), self._gathering.snapshot(), len(self._places)

    def _run(self, counts: Sequence[Any], ask: Ask, turn: Turn) -> tuple[list[Any], tuple]:
        extra = len(counts)
        held = [
            _Variable(name, value, self._plan, self._target and place == 0)
            for place, (name, value) in enumerate(zip(self._names, self._values, strict=True))
        ]
        target = held[0] if self._target else None
        if target is not None and not self._plan.keeps_target:
            held = held[1:]
        number, originals = len(held), [place.read() for place in self._places]
        held += [
            _Variable(place.name, value, self._plan, changes=True)
            for place, value in zip(self._places, variable_leaves.entered(originals), strict=True)
        ]
        turns = Exchange(held, self.site)
        self._arrays.begin({v.name: v.arrays_before() for v in held}, turns.home)
        initial = [*counts, *turns.initial, *(leaf for variable in held for leaf in variable.leaves)]
        paths = [*["counter"] * (extra + len(turns)), *(path for variable in held for path in _paths(variable))]
        found: list[Any] = []
        written = unrolling.mark()

        def values_of(nodes: Sequence[Any]) -> tuple:
            supply = iter(nodes[extra + len(turns) :])
            values = [v.in_turn([next(supply) for _ in range(v.size)]) for v in held]
            for variable in held:
                self._arrays.tie(variable.name, variable.arrays_in_turn())
            self._write(values[number:])
            return tuple(values[1:number] if target in held else values[:number])

        def asked(nodes: Sequence[Any]) -> Any:
            try:
                return ask(nodes[:extra], values_of(nodes))
            finally:
                self._write(originals)

        def one_turn(nodes: Sequence[Any]) -> list[Any]:
            keeps = self._plan.keeps_target
            unrolling.recount(written)
            watch = ObjectWatch(self._functions, [(v.name, v.value) for v in held if v.held])
            try:
                after, results = turn(nodes[:extra], values_of(nodes))
                results = variable_leaves.entered([*results, *(place.read() for place in self._places)])
                if self._plan.keeps_target is not keeps:
                    raise LearntError
                self._look_for_changes(watch, held)
                leaves, place = [], extra + len(turns)
                for variable, result in zip(held, results, strict=True):
                    leaves += variable.after_turn(result, self._plan, nodes[place : place + variable.size])
                    place += variable.size
                if self._arrays.after_iteration({v.name: v.arrays_after_turn() for v in held}):
                    raise LearntError
                # Last, when every variable is known to be held as it must be.
                leaves = [*after, *turns.after_turn(results, nodes[extra : extra + len(turns)]), *leaves]
            except BaseException:
                watch.undo()
                raise
            self._write(originals)
            found[:] = leaves
            return leaves

        def changed(place: int, before: Spec, after: Spec) -> NxError:
            return self._changed(paths[place], initial[place], found[place], before, after)

        results = control_flow.run_while(initial, asked, one_turn, paths, changed)
        supply = iter(results[extra + len(turns) :])
        turns.bring_home(results[extra : extra + len(turns)], held, results[extra + len(turns) :])
        after = tuple([v.after_loop([next(supply) for _ in range(v.size)]) for v in held])
        for variable in held:
            self._arrays.tie(variable.name, variable.arrays)
        turns.look_back(held, after)
        self._write(after[number:])
        return list(results[:extra]), after[:number]

    def _write(self, values: Sequence[Any]) -> None:
        """Put values into the parts of objects that iterations change."""
        for place, value in zip(self._places, values, strict=True):
            place.write(value)

    def _look_for_changes(self, watch: ObjectWatch, held: Sequence[_Variable]) -> None:
        """Python's own lists, dicts and objects do not change in a loop of the program, but for parts of them."""
        places, others = changed_places.changed_places(watch)
        places = changed_places.unknown(places, self._places)
        if not places and not others:
            return
        watch.undo()
        values = {
            id(container): variable
            for variable in held
            if variable.held
            for container in variable_leaves.containers(variable.value)
        }
        opened: set[str] = set()
        for name, value, grows in [*others, *((place.name, place.owner, None) for place in places)]:
            variable = values.get(id(value))
            if variable is not None and variable.name not in self._plan.opened:
                opened.add(variable.name)
            elif variable is not None or grows is not None:
                # An attribute that the first turn makes is there in those that follow.
                kind = ChangesError if grows else MustUnrollError
                raise kind(f"it changes `{name}`, a Python {type(value).__name__}", unrolling.gathered(name, value))
        self._plan.opened |= opened
        self._places += [place for place in places if id(place.owner) not in values]
        raise LearntError

    def _changed(self, path: str, before: Any, after: Any, spec: Spec, spec_after: Spec) -> NxError:
        """The error for a variable whose type or shape an iteration changes."""
        what = "type" if spec.type is not spec_after.type else "shape"
        if types.follows_numpy():
            raise ChangesError(
                f"`{path}` is {spec} before a turn and {spec_after} after it",
                _converted(path, spec_after) if spec.shape == spec_after.shape else "",
            )
        rows = [
            source_sites.place_of(before, self.site, f"{spec} before a turn"),
            source_sites.place_of(after, self.site, f"{spec_after} after it"),
        ]
        if what == "shape":
            hint = f"Give `{path}` its full shape before the loop, and put parts into it: nx.put_slice(t, [i], part)."
        else:
            wider = types.merge(spec.type, spec_after.type)
            if wider is spec.type or not isinstance(before, Expr):
                code = source_sites.assigned(rows[1], path)
                hint = f'Convert it in the loop, e.g. nx.as_type({code}, "{spec.type}").'
            else:
                hint = f'Convert it before the loop, e.g. {path} = nx.as_type({path}, "{wider}").'
        return source_sites.error(
            NxTypeError, f"this loop changes the {what} of `{path}`.", *source_sites.table(rows), hint
        )


def _converted(path: str, after: Spec) -> str:
    """What to write where NumPy's rules give a variable another type in a loop."""
    return f'Convert it before the loop, e.g. {path} = {path}.astype("{after.type.dtype}"), or in it, to what it was.'


def _paths(variable: _Variable) -> list[str]:
    if variable.fresh:
        return [variable.name] * variable.size
    return variable_leaves.paths(variable.structure, variable.name) if variable.structure else []
