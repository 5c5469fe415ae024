"""`if` and conditional expressions in definitions."""

from __future__ import annotations

import collections
import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from nxkernel import types
from nxkernel.definitions.flow import source_sites
from nxkernel.definitions.flow.control import checks, unrolling
from nxkernel.definitions.flow.control.checks import RaisingSideError
from nxkernel.definitions.flow.control.untaken_branches import unreached
from nxkernel.definitions.flow.retracing import LearntError, MustUnrollError, retraced
from nxkernel.definitions.flow.values import (
    array_aliases,
    mutable_arguments,
    traced_text,
    variable_leaves,
)
from nxkernel.definitions.flow.values.changed_places import Place, changed_places, unknown
from nxkernel.definitions.flow.values.object_changes import ObjectWatch
from nxkernel.definitions.flow.values.unassigned_variables import Unassigned
from nxkernel.definitions.flow.values.variable_leaves import MismatchError, is_traced, known
from nxkernel.errors import CompilationError, NxError, NxTypeError, message
from nxkernel.graph import deferred_calls, tracing, values_of_call
from nxkernel.numpy.arrays.array import Array
from nxkernel.numpy.arrays.dynamic_slices import sized
from nxkernel.ops.arithmetic import comparison
from nxkernel.ops.machinery.dispatch import is_number, operand
from nxkernel.ops.programs import control_flow
from nxkernel.ops.shapes import shaping
from nxkernel.primitives import Spec

Side = Callable[..., Any]
#: Under which key the outermost trace counts the branches that are being traced, by their places in the text.
_ACTIVE = "branches that are being traced"
#: How often a branch encloses itself before the call is asked which side is taken.
_DEEPEST = 6
#: Under which key the outermost trace remembers the branches that are endless on their own sides.
_ENDLESS = "endless branches"
#: A leaf that is weak, and in no array: of all numbers, False takes any type.
_NEVER_READ = (False, True, None)


class Words(NamedTuple):
    """How errors name a branch.

    Parameters
    ----------
    subject : str
    sides : str
    unknown : str
        What only the running program knows.
    """

    subject: str
    sides: str
    unknown: str


_IF = Words("this `if`", "the branches of this `if`", "its condition")
#: The iterations of a loop that is written out, and left on a condition.
TURN = Words("this loop", "the turns of this loop", "when it is left by `break`")


def if_(
    condition: Any,
    then: Side,
    otherwise: Side,
    values: tuple,
    names: Sequence[str],
    site: Any,
    *,
    words: Words = _IF,
) -> tuple:
    """An `if`: the variables that its sides assign, as they are after it.

    Parameters
    ----------
    condition : scalar
        Where it is known, its side is traced and the other one is not.
    then, otherwise : callable
        Called with `values`; return these variables' new values.
    values : tuple
    names : sequence of str
    site : Site
    words : Words, optional
    """
    if not is_traced(condition):
        return (then if known(condition) else otherwise)(*values)
    return _Branch(site, names, values, (then, otherwise), words).made(condition, then, otherwise)


def if_return(condition: Any, then: Side, otherwise: Side, site: Any) -> Any:
    """An `if` whose sides return from the function: what is returned."""
    return _one(condition, then, otherwise, "what is returned", site)


def if_exp(condition: Any, then: Side, otherwise: Side, site: Any) -> Any:
    """``then if condition else otherwise``, of functions that give the two values."""
    return _one(condition, then, otherwise, "its value", site)


def _one(condition: Any, then: Side, otherwise: Side, name: str, site: Any) -> Any:
    if not is_traced(condition):
        return (then if known(condition) else otherwise)()
    choice = _Branch(site, (name,), (), (then, otherwise))
    return choice.made(condition, lambda: (then(),), lambda: (otherwise(),))[0]


class EndlessBranchError(CompilationError):
    """A branch encloses itself, many times: its function calls itself there."""


def _calls_itself(site: Any) -> bool:
    """Whether the function of a branch is being traced inside of itself, many times; turns that are written out are
    inside of each other, too.
    """
    file, *_, function = site
    calls, frame = 0, sys._getframe()
    while frame is not None and calls < _DEEPEST:
        code = frame.f_code
        calls += code.co_filename == file and code.co_name == function
        frame = frame.f_back
    return calls == _DEEPEST


@dataclass(frozen=True)
class _SideResult:
    """The result of one side of a branch."""

    results: tuple
    structures: list[tuple]
    leaves: list[Any]
    #: For each leaf whether it stands for a Python number.
    weak: list[bool]


class _Branch:
    """One branch that the running program makes."""

    def __init__(
        self, site: Any, names: Sequence[str], values: Sequence[Any], sides: tuple[Side, Side], words: Words = _IF
    ) -> None:
        self._site, self._names, self._sides, self._words = site, names, sides, words
        self._values = variable_leaves.entered(values)
        #: Parts of objects that a side changes: their names follow those of the variables.
        self._places: list[Place] = []
        self._runs: list[_SideResult] = []
        self._condition: Any = None
        self._common: list[tuple] = []
        self._paths: list[str] = []
        self._paired: tuple[list[Any], list[Any]] = ([], [])
        self._apart: Any = None
        #: For each result the arrays that its leaves are in, on both sides.
        self._arrays: list[list[tuple[Any, Any]]] = []

    def made(self, condition: Any, then: Side, otherwise: Side) -> tuple:
        """The variables after the branch.

        A function that calls itself in a branch is traced without end on both sides: the call knows where it ends.
        """
        site, memory = tuple(self._site[:2]), tracing.current().outermost.memory
        if site in memory.get(_ENDLESS, ()):
            decided = values_of_call.number(self._condition_of(condition), of_numbers=True)
            if decided is not None:
                return tuple((then if decided else otherwise)(*self._values))
        active = memory.setdefault(_ACTIVE, collections.Counter())
        if active[site] >= _DEEPEST and types.follows_numpy() and _calls_itself(self._site):
            raise EndlessBranchError(
                message(
                    "a function calls itself on the sides of this `if`, and only the running program knows where that "
                    "ends.",
                    *source_sites.shown(self._site),
                    "Write a loop: `while` or `for`, with what changes from call to call as variables.",
                )
            )
        active[site] += 1
        try:
            found = self._made(condition, then, otherwise)
        finally:
            active[site] -= 1
        return tuple(found(*self._values)) if callable(found) else found

    def _made(self, condition: Any, then: Side, otherwise: Side) -> tuple | Side:
        """The variables after the branch, or the side that the call takes."""
        condition = self._condition = self._condition_of(condition)
        later = deferred_calls.entries(tracing.current())
        count, marked = len(later), array_aliases.mark()

        def undo() -> None:
            del later[count:]
            array_aliases.undo(marked)

        def learn(error: BaseException) -> None:
            self._runs.clear()

        def attempt() -> list[Any]:
            return control_flow.choose(
                condition, lambda: self._run(then), lambda: self._run(otherwise), self._disagreement, self._pair
            )

        try:
            chosen = retraced(attempt, (LearntError,), undo, learn)
        except RaisingSideError as raised:
            del later[count:]
            decided = values_of_call.number(condition)
            if decided is not None:
                return then if decided else otherwise
            return self._checked(condition, then, otherwise, raised.error, raises_then=not self._runs)
        except NxError as error:
            is_endless = isinstance(error, EndlessBranchError)
            decided = values_of_call.number(condition, of_numbers=is_endless)
            if decided is None:
                if getattr(error, "value", None) is None:
                    # A number of the call in its place would settle it.
                    error.value = condition
                raise
            if is_endless:
                # What it meets next of this branch the call is asked at once.
                tracing.current().outermost.memory.setdefault(_ENDLESS, set()).add(tuple(self._site[:2]))
            undo()
            return then if decided else otherwise
        mutable_arguments.make_of_several(chosen)
        supply = iter(chosen)
        results = [sized(self._result(number, supply)) for number in range(len(self._names))]
        own = len(results) - len(self._places)
        for place, value in zip(self._places, results[own:], strict=True):
            place.write(value)
        return tuple(results[:own])

    def _condition_of(self, condition: Any) -> Any:
        return predicate(condition, f"the condition of {self._words.subject}", self._site)

    def _checked(self, condition: Any, then: Side, otherwise: Side, error: Exception, raises_then: bool) -> tuple:
        """The variables after a branch of which one side raises: those that the other side gives."""
        failing, going_on = (then, otherwise) if raises_then else (otherwise, then)
        if not raises_then:
            condition = comparison.logical_not(condition)
        self._runs.clear()
        attempt = checks.catching(type(error))
        if attempt is None:
            control_flow.choose(condition, lambda: self._failing(failing), list)
        elif attempt.is_raised(condition):
            return tuple(failing(*self._values))
        return tuple(going_on(*self._values))

    def _failing(self, side: Side) -> list:
        """Trace a side that raises, up to there."""
        try:
            self._run(side)
        except RaisingSideError as raised:
            checks.record(raised.error)
        return []

    def _run(self, side: Side) -> None:
        given = [
            variable_leaves.duplicate(value) if variable_leaves.is_mutable(value) else value for value in self._values
        ]
        # Copies may change; what is handed over as it is, such as an object of a class, may not.
        as_it_is = zip(self._names, given, self._values, strict=False)  # sides of an expression get no values
        watch = ObjectWatch(self._sides, [(name, value) for name, value, before in as_it_is if value is before])
        originals = [place.read() for place in self._places]
        before = variable_leaves.entered(originals)
        parts = [variable_leaves.duplicate(each) if variable_leaves.is_mutable(each) else each for each in before]
        try:
            self._write(parts)
            with unreached(f"one side of {self._words.subject}", self._words.unknown, self._site):
                try:
                    results = variable_leaves.entered(side(*given))
                except Exception as error:
                    if checks.is_raised(error):
                        raise RaisingSideError(error) from None
                    raise
                self._look_for_changes(watch)
            changed = variable_leaves.entered([place.read() for place in self._places])
            self._write(originals)
        except BaseException as error:
            watch.undo()
            if isinstance(error, MustUnrollError):
                raise self._refuse_steps(error) from None
            raise
        own = len(results)
        results = [*results, *changed]
        leaves: list[Any] = []
        structures = [variable_leaves.take_apart(value, leaves) for value in results]
        for place, value in enumerate(given):
            if results[place] is value:
                # A copy that was changed in place stands for the original.
                results[place] = self._values[place]
        for number, part in enumerate(parts, own):
            if results[number] is part:
                results[number] = before[number - own]
        weak = [not is_number(leaf) and variable_leaves.is_weak(leaf) for leaf in leaves]
        self._runs.append(_SideResult(tuple(results), structures, leaves, weak))

    def _refuse_steps(self, error: MustUnrollError) -> NxError:
        return source_sites.error(
            NxTypeError,
            f"{self._words.subject} cannot be compiled: {error}.",
            *source_sites.shown(self._site),
            "Do that before it, whatever its condition is.",
        )

    def _write(self, values: Sequence[Any]) -> None:
        """Put values into the parts of objects that a side changes."""
        for place, value in zip(self._places, values, strict=True):
            place.write(value)

    def _look_for_changes(self, watch: ObjectWatch) -> None:
        """Parts of objects that a side changes are variables, too; other changes are refused."""
        places, others = changed_places(watch)
        places = unknown(places, self._places)
        if not others:
            if places:
                self._places += places
                self._names = (*self._names, *(place.name for place in places))
                raise LearntError
            return
        name, held, _ = others[0]
        kind = "class" if isinstance(held, type) else type(held).__name__
        raise source_sites.error(
            NxTypeError,
            f"{self._words.subject} changes `{name}`, a Python {kind}, and only the running program "
            f"knows {self._words.unknown}.",
            *source_sites.shown(self._site),
            f"Assign tensors in it, and change `{name}` before or after it.",
            *filter(None, [unrolling.gathered(name, held)]),
        )

    def _pair(self, *_: Any) -> tuple[list[Any], list[Any]]:
        one, other = self._runs
        supplies = [
            iter(
                [
                    *zip(
                        run.leaves,
                        run.weak,
                        itertools.chain(*map(variable_leaves.arrays_of, run.structures)),
                        strict=True,
                    )
                ]
            )
            for run in self._runs
        ]
        for place, name in enumerate(self._names):
            structures = one.structures[place], other.structures[place]
            own = [
                [next(supply) for _ in range(variable_leaves.count(structure))]
                for structure, supply in zip(structures, supplies, strict=True)
            ]
            if one.results[place] is other.results[place] and not variable_leaves.is_mutable(one.results[place]):
                self._common.append((variable_leaves.HELD, one.results[place], ()))
                self._arrays.append([])
                continue
            if all(traced_text.is_text(run.results[place]) for run in self._runs):
                for side, run in enumerate(self._runs):
                    if isinstance(run.results[place], str):
                        own[side] = [(traced_text.number_of(run.results[place]), False, None)]
                structures = tuple(
                    [(variable_leaves.LEAF, traced_text.as_chosen(r.results[place]), ()) for r in self._runs]
                )
            parts = _as_parts(structures, own)
            alike = all(part is structure for part, structure in zip(parts, structures, strict=True))
            structures = parts
            try:
                common = variable_leaves.fit(*structures, name, self._missing, keep_arrays=alike)
            except MismatchError as found:
                raise self._unlike(found, *own) from None
            self._common.append(common)
            picked = [
                variable_leaves.leaves_of(structure, iter(leaves), common, _NEVER_READ)
                for structure, leaves in zip(structures, own, strict=True)
            ]
            self._arrays.append([(left[2], right[2]) for left, right in zip(*picked, strict=True)])
            for path, one_leaf, other_leaf in zip(variable_leaves.paths(common, name), *picked, strict=True):
                (left, weak, _), (right, weak_right, _) = one_leaf, other_leaf
                if types.follows_numpy() and one_leaf is not _NEVER_READ is not other_leaf:
                    self._check_shapes(path, left, right)
                if not (weak or weak_right):
                    self._check_kinds(path, left, right)
                self._paths.append(path)
                self._paired[0].append(left)
                self._paired[1].append(right)
        return self._paired

    def _result(self, place: int, supply: Iterator[Any]) -> Any:
        made = variable_leaves.rebuild(self._common[place], supply)
        one, other = (run.results[place] for run in self._runs)
        self._tie(place, made)
        if one is other and variable_leaves.is_mutable(one):
            return variable_leaves.write_back(one, made)
        if one is not other:
            mutable_arguments.follow_branch([one, other], made)
        return made

    def _tie(self, place: int, made: Any) -> None:
        """Remember which arrays those in a result may be."""
        name, site = self._names[place], self._site
        arrays = variable_leaves.arrays_made(self._common[place], made)
        for array, sides in zip(arrays, self._arrays[place], strict=True):
            if array is not None:
                doubts = [side.root.doubt for side in sides if side is not None and side.root.doubt is not None]
                array.root.doubt = doubts[0] if doubts else None
                array_aliases.order_as(array, sides)
                sources = array_aliases.reached([side.root for side in sides if side is not None])
                array_aliases.tie(array.root, sources, name, site, lambda: _whose(name, site), self._group())

    def _group(self) -> Any:
        """One for all results, where they are certainly apart on each side."""
        if self._apart is None:
            pairs = [pair for pairs in self._arrays for pair in pairs]
            sides = [[array for array in side if array is not None] for side in zip(*pairs, strict=True)]
            self._apart = object() if all(map(array_aliases.all_disjoint, sides)) else False
        return self._apart or None

    def _missing(self, name: str, side: int) -> Unassigned:
        if values_of_call.number(self._condition) is not None:
            raise NxTypeError(f"`{name}` has no value on one side, and which side runs may be asked")
        return Unassigned(name, self._site, ("the side where its condition holds", "the `else` side")[side])

    # Errors ----------------------------------------------------------------------------------------------------

    def _check_shapes(self, path: str, one: Any, other: Any) -> None:
        """Shapes broadcast by Nx's rules; in NumPy's programs a variable has that of the side which ran."""
        specs = variable_leaves.spec_of(one), variable_leaves.spec_of(other)
        if specs[0].shape != specs[1].shape:
            rows = self._rows(path, one, other, *map(str, specs))
            raise self._disagree(path, rows, "give them one shape, e.g. with np.broadcast_to(x, shape).")

    def _check_kinds(self, path: str, one: Any, other: Any) -> None:
        """Tensors of whole numbers and of fractions do not become one type without a word; numbers do."""
        if types.follows_numpy() or is_number(one) or is_number(other):
            return
        kinds = one.type, other.type
        if types.bool_ in kinds or kinds[0].is_integer is kinds[1].is_integer:
            return
        rows = self._rows(path, one, other, str(one.spec), str(other.spec))
        place = 0 if kinds[0].is_integer else 1
        code, wanted = source_sites.assigned(rows[place], path), types.merge(*kinds)
        raise self._disagree(path, rows, f'convert one, e.g. nx.as_type({code}, "{wanted}").')

    def _disagreement(self, place: int, one: Spec, other: Spec) -> NxError:
        """The error for shapes that do not fit."""
        rows = self._rows(self._paths[place], *(side[place] for side in self._paired), str(one), str(other))
        wider = "np.broadcast_to(x, shape)" if types.follows_numpy() else "nx.broadcast(t, shape)"
        return self._disagree(self._paths[place], rows, f"give them one shape, e.g. with {wider}.")

    def _unlike(self, found: MismatchError, one: list[Any], other: list[Any]) -> NxError:
        leaves = [[leaf for leaf, *_ in side] for side in (one, other)]
        texts = [variable_leaves.described(part, iter(side)) for part, side in zip(found.parts, leaves, strict=True)]
        rows = self._rows(found.path, *(side[0] if side else None for side in leaves), *texts)
        (kind, form, _), (other_kind, other_form, _) = found.parts
        if kind == other_kind == "dict" and set(form.keys) == set(other_form.keys) and form.class_ is other_form.class_:
            return self._disagree(found.path, rows, "give them their keys in the same order on both sides.")
        return self._disagree(found.path, rows, "make them the same kind of thing on both sides.")

    def _rows(self, path: str, one: Any, other: Any, text: str, text_other: str) -> list[source_sites.SourceLine]:
        return [
            self._row(path, side, value, said)
            for side, value, said in zip(self._sides, (one, other), (text, text_other), strict=True)
        ]

    def _row(self, path: str, side: Side, value: Any, said: str) -> source_sites.SourceLine:
        begin = self._begin(side)
        row = source_sites.place_of(value, begin, said)
        if " " in path or (row.file, row.line) != begin or source_sites.names(row, path):
            return row
        return source_sites.SourceLine(self._site[0], self._site[1], f"{said} where it stays what it was")

    def _begin(self, side: Side) -> tuple[str, int]:
        """Where a side begins, for what was not made in it."""
        code = getattr(side, "__code__", None)
        return self._site[0], self._site[1] if code is None else code.co_firstlineno

    def _disagree(self, path: str, rows: list[source_sites.SourceLine], hint: str) -> NxError:
        shown = path if " " in path else f"`{path}`"
        what = f"{self._words.sides} disagree about {shown}."
        why = f"Both become one value in the compiled program: {hint}"
        return source_sites.error(NxTypeError, what, *source_sites.table(rows), why)


def _whose(name: str, site: Any) -> NxError:
    named = " " not in name
    shown, name = (f"`{name}`", name) if named else ("what this choice gives", "x")
    return source_sites.error(
        NxTypeError,
        f"{shown} is assigned into, and whether it is the caller's array then is up to a condition that only the "
        "running program knows.",
        *source_sites.shown(site),
        f"Begin with a copy of it, {mutable_arguments.own_copy(name)}, or assign the new elements on that side: "
        f"{name}[...] = ....",
    )


def _as_parts(structures: tuple[tuple, tuple], own: list[list[Any]]) -> tuple[tuple, ...]:
    """Where one side has a part of an array and the other one a whole array, that is a part of itself."""
    found = list(structures)
    for side, (one, other) in enumerate((structures, structures[::-1])):
        if other[0] == variable_leaves.PART and one[0] == variable_leaves.LEAF and isinstance(one[1], Array):
            found[side] = other
            own[side] += [(one[1].shape[axis], False, None) for axis in other[1]]
    return tuple(found)


def predicate(condition: Any, what: str, site: Any) -> Any:
    """A condition as an operand; what is not a single number is refused with its place."""
    found = operand(condition)
    if types.follows_numpy() and found.shape and found.size == 1:
        return shaping.reshape(found, ())
    if found.vectorized_axes:
        problem = f"{what} has vectorized axes: it is {found.spec}."
        hint = "Each entry would go its own way: nx.select(condition, a, b) chooses for each."
    elif found.shape:
        problem = f"{what} is one number, got {found.spec}."
        one, every, each = (
            ("np.any", "np.all", "np.where") if types.follows_numpy() else ("nx.any", "nx.all", "nx.select")
        )
        hint = f"{one}(t) asks for one that is true, {every}(t) for all of them; {each}(t, a, b) chooses for each."
    else:
        return found
    raise source_sites.error(NxTypeError, problem, *([] if site is None else source_sites.shown(site)), hint)
