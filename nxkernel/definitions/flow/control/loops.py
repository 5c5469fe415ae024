"""`while` and `for` in definitions: loops of the compiled program, or written out where something static is needed."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any

from nxkernel import types
from nxkernel.definitions.flow import source_sites
from nxkernel.definitions.flow.control import checks, unrolling
from nxkernel.definitions.flow.control.acts import Acts
from nxkernel.definitions.flow.control.branches import TURN, if_, predicate
from nxkernel.definitions.flow.control.list_appends import AppendedList, Gathering, without
from nxkernel.definitions.flow.control.logic import not_
from nxkernel.definitions.flow.control.loop_iterables import Counted, Range, counted, parted
from nxkernel.definitions.flow.control.loop_state import LoopPlan, LoopState, plan
from nxkernel.definitions.flow.control.untaken_branches import unreached
from nxkernel.definitions.flow.retracing import ChangesError, MustUnrollError
from nxkernel.definitions.flow.values.unassigned_variables import is_unassigned
from nxkernel.definitions.flow.values.variable_leaves import is_traced, is_value, known
from nxkernel.errors import NxError, NxTypeError, TracedValueError
from nxkernel.graph import tracing, values_of_call
from nxkernel.graph.expr import Expr
from nxkernel.graph.tracing import VectorizedValueError
from nxkernel.numpy.base import integer_bounds
from nxkernel.ops.arithmetic import comparison
from nxkernel.ops.machinery.dispatch import is_number, operand

Body = Callable[..., tuple]
#: So many first iterations of a loop over a known number of items may change types, as `x = x * 0.5` changes whole
#: numbers.
_SETTLING = 3


class _RaisingTurnError(BaseException):
    """Each turn of a loop raises an error of the user's: the first one is the last, as the side of a branch."""


def _turn(body: Body, *values: Any) -> tuple:
    """One turn of a loop of the program; an error that each turn raises leaves the loop."""
    try:
        return body(*values)
    except Exception as error:
        if not checks.is_raised(error):
            raise
        raise _RaisingTurnError from None


def _first_turn(body: Body, sequence: Counted, _: Any, *values: Any) -> tuple:
    return body(sequence.item(0), *values)


def _nothing(*values: Any) -> tuple:
    """The side of a branch on which the variables stay what they are."""
    return values


def _mends(error: Exception) -> bool:
    """Whether writing a loop out may help: something must be known, and NumPy's functions need more of that."""
    return isinstance(error, TracedValueError | MustUnrollError | VectorizedValueError) or types.follows_numpy()


def while_(test: Callable[..., Any], body: Body, values: tuple, names: Sequence[str], site: Any) -> tuple:
    """A `while`: its variables, as they are after it.

    Parameters
    ----------
    test : callable
        Gives the condition for values of the variables.
    body : callable
        Gives their next values.
    values : tuple
        Their values before the loop.
    names : sequence of str
    site : Site
    """
    acts = Acts(test, zip(names, values, strict=True))
    begin = test(*values)
    if not is_traced(begin) and not known(begin):
        return values
    if acts.are_there():
        return _while_acting(begin, test, body, values, names, site)
    found, begun = plan(site, names), unrolling.mark()
    if not found.unroll or is_traced(begin):
        doubtful = unreached("a turn of this `while`", "its condition", site) if is_traced(begin) else nullcontext()
        try:
            with doubtful:
                return _native_while(test, body, values, names, site, found)
        except _RaisingTurnError:
            unrolling.undo(begun)
            return if_(begin, body, _nothing, values, names, site)
        except (NxError, MustUnrollError) as error:
            if (is_traced(begin) and _asked(begin) is None) or not _mends(error):
                raise unrolling.loop_refusal(error, site) from None
            reason = error
            unrolling.undo(begun)
    else:
        reason = None
    after = _unrolled_while(test, body, values, site, reason)
    if not found.unroll:
        unrolling.keep(found)
    return after


def _while_acting(
    begin: Any, test: Callable[..., Any], body: Body, values: tuple, names: Sequence[str], site: Any
) -> tuple:
    """A `while` whose condition does something besides giving a value: it is asked at the end of each turn."""

    def turn(_: Any, *before: Any) -> tuple:
        after = body(*before)
        return test(*after), *after

    return while_(lambda go_on, *_: go_on, turn, (begin, *values), ("the condition", *names), site)[1:]


def _native_while(
    test: Callable[..., Any], body: Body, values: tuple, names: Sequence[str], site: Any, found: LoopPlan
) -> tuple:
    def ask(_: Sequence[Any], variables: tuple) -> Any:
        answer = test(*variables)
        if not is_traced(answer):
            raise MustUnrollError("its condition does not depend on what the loop computes")
        return checks.going_on(predicate(answer, "the condition of this `while`", site), differs)

    differs = checks.answers_differ()
    state = LoopState(site, names, values, found, (test, body))
    return state.run((), ask, lambda _, variables: ((), _turn(body, *variables)))[1]


def _unrolled_while(test: Callable[..., Any], body: Body, values: tuple, site: Any, reason: Exception | None) -> tuple:
    turns = unrolling.IterationCount(site, body, reason)
    while True:
        go_on = test(*values)
        if is_traced(go_on) and _asked(go_on) is not None:
            go_on = bool(_asked(go_on))
        if is_traced(go_on):
            if reason is not None:
                raise unrolling.loop_refusal(reason, site)
            raise source_sites.error(
                NxTypeError,
                "this `while` is written out while it is traced, and its condition is not known then.",
                *source_sites.shown(site),
                "Make what it asks for an option, or a tensor from the start.",
            )
        if not known(go_on):
            unrolling.note(site, turns.count, reason)
            return values
        turns.another()
        values = body(*values)


def for_(
    iterable: Any,
    body: Body,
    values: tuple,
    names: Sequence[str],
    site: Any,
    *,
    broken: int | None = None,
    gathered: Sequence[tuple[int, str, list]] = (),
) -> tuple:
    """A `for`: its variables, as they are after it.

    Parameters
    ----------
    iterable : object
        A range, tensor or array makes a loop of the compiled program; anything else is written out.
    body : callable
        Gives the next values of the variables; the first one it is called with is the item.
    values : tuple
        Their values before the loop.
    names : sequence of str
    site : Site
    broken : int, optional
        The place of the variable that tells whether the loop was left by `break`.
    gathered : sequence of tuple
        Lists that each iteration appends one thing to: the place of the variable that holds it, and the name of the
        list.
    """
    sequence, lists = counted(iterable), [AppendedList(*each) for each in gathered]
    if sequence is None:
        return _unrolled_for(iterable, body, values, names, site, broken, lists, None)
    if isinstance(sequence, range):
        sequence = Range(sequence.start, sequence.stop, sequence.step)
    length = sequence.length
    if not is_traced(length) and int(length) <= 0:
        return values
    found, reason, begun, settling = plan(site, names), None, unrolling.mark(), _SETTLING
    while not found.unroll or is_traced(length):
        try:
            return _native_for(sequence, sequence.length, body, values, names, site, broken, lists, found)
        except _RaisingTurnError:
            unrolling.undo(begun)
            some = comparison.greater(length, 0) if is_traced(length) else True
            return if_(some, functools.partial(_first_turn, body, sequence), _nothing, values, names, site)
        except (NxError, MustUnrollError) as error:
            if is_traced(length) and _asked(length) is not None:
                unrolling.undo(begun)
                return for_(_static(sequence), body, values, names, site, broken=broken, gathered=gathered)
            if is_traced(length) or not _mends(error):
                raise unrolling.loop_refusal(error, site) from None
            reason = reason or error
            unrolling.undo(begun)
            changes = isinstance(error, ChangesError)
        if not changes or not settling or sequence.length < 2:
            if int(length) > unrolling.MOST:
                raise unrolling.loop_refusal(reason, site)
            break
        item, sequence = parted(sequence)
        values, settling = _unrolled_for([item], body, values, names, site, broken, lists, None), settling - 1
        if broken is not None and not is_traced(values[broken]) and known(values[broken]):
            return values
    written = _SETTLING - settling
    after = _unrolled_for(_static(sequence), body, values, names, site, broken, lists, reason, written)
    if not found.unroll:
        unrolling.keep(found)
    return after


def _static(sequence: Counted) -> Any:
    if isinstance(sequence, Range):
        return range(*map(int, (sequence.start, sequence.stop, sequence.step)))
    return Counted(int(sequence.length), sequence.item)


def _asked(value: Any) -> int | None:
    """A number, or whether a condition holds, for the call that is traced, where the trace may ask for it."""
    return values_of_call.number(predicate(value, "a condition", None)) if values_of_call.are_told() else None


def _native_for(
    sequence: Counted,
    length: Any,
    body: Body,
    values: tuple,
    names: Sequence[str],
    site: Any,
    broken: int | None,
    lists: Sequence[AppendedList],
    found: LoopPlan,
) -> tuple:
    # A range with a static step is counted by its own numbers, anything else by places.
    direct = isinstance(sequence, Range) and not is_traced(sequence.step)
    start, step = (sequence.start, int(sequence.step)) if direct else (0, 1)
    stop = sequence.stop if direct else length
    given: list[Any] = []
    differs = checks.answers_differ() if is_traced(length) else None
    if lists and is_traced(length):
        raise MustUnrollError(
            f"it appends to `{lists[0].name}`, and only the running program knows how often",
            unrolling.gathered(lists[0].name, lists[0].items),
        )
    gathering = Gathering(lists, 0 if is_traced(length) else int(length), site)

    def item(count: Any) -> Any:
        return count if direct else sequence.item(count)

    def ask(counts: Sequence[Any], variables: tuple) -> Any:
        gathering.check()
        go_on = comparison.less(counts[0], stop) if step > 0 else comparison.greater(counts[0], stop)
        if is_traced(length):
            go_on = checks.going_on(go_on, differs)
        if broken is None:
            return go_on
        return comparison.logical_and(go_on, not_(variables[broken - 1], site))

    def turn(counts: Sequence[Any], variables: tuple) -> tuple[tuple, tuple]:
        _assume(counts[0], start, stop, step)
        given[:] = [item(counts[0])]
        results = _turn(body, given[0], *variables)
        if lists:
            number = counts[0] if (start, step) == (0, 1) else (counts[0] - start) // step
            results = gathering.turn(number, variables, results)
        first, *rest = results
        if first is not given[0]:
            found.keeps_target = True
        return (counts[0] + step,), ((first, *rest) if found.keeps_target else tuple(rest))

    state = LoopState(site, names, values, found, (body,), gathering, target=True)
    (count,), after = state.run((start,), ask, turn)
    (first, *rest) = gathering.end(values, after if found.keeps_target else (None, *after))
    if found.keeps_target:
        return (first, *rest)
    with tracing.watching(None):
        # Of a loop without a turn there is none, and the one before the first is not used.
        last = item(count - step)
    if is_traced(length) and (is_number(values[0]) or is_value(values[0])):
        last = if_(comparison.greater(length, 0), lambda: (last,), lambda: (values[0],), (), names[:1], site)[0]
    elif is_traced(length) and not is_unassigned(values[0]):
        last = values[0]
    return (last, *rest)


def _assume(count: Any, start: Any, stop: Any, step: int) -> None:
    """Slices between a counter and another number have a length that is known, where the counter stays in bounds."""
    if isinstance(start, int) and isinstance(stop, int):
        # Steps may end before the bound: blocks of an array lie in it whole.
        numbers = range(start, stop, step)
        low, high = min(numbers[0], numbers[-1]), max(numbers[0], numbers[-1])
        integer_bounds.assume(count, low, high)
        return
    first, last = (start, stop) if step > 0 else (stop, start)
    low, high = integer_bounds.interval(_node(first))[0], integer_bounds.interval(_node(last))[1]
    if step > 0:
        high = None if high is None else high - 1
    else:
        low = None if low is None else low + 1
    integer_bounds.assume(count, low, high)


def _node(number: Any) -> Any:
    return number if isinstance(number, int | Expr) else operand(number)


def _unrolled_for(
    iterable: Any,
    body: Body,
    values: tuple,
    names: Sequence[str],
    site: Any,
    broken: int | None,
    lists: Sequence[AppendedList],
    reason: Exception | None,
    written: int = 0,
) -> tuple:
    turns = unrolling.IterationCount(site, body, reason, iterable)
    for item in _items(iterable):
        left = False if broken is None else values[broken]
        if not is_traced(left):
            if known(left):
                break
            values = body(item, *values[1:])
            if lists:
                for each in lists:
                    each.items.append(values[each.place])
                values = without(lists, values)
        else:
            values = if_(
                left,
                lambda *before: before,
                lambda _, *before, item=item: body(item, *before),
                values,
                names,
                site,
                words=TURN,
            )
        turns.another()
    if reason is not None:
        unrolling.note(site, written + turns.count, reason)
    return values


def _items(iterable: Any) -> Iterator[Any]:
    return iter(iterable)
