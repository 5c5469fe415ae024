"""Loops and branches as functions, for values that only the running program knows."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from nxkernel import primitives as p
from nxkernel.definitions.flow.control import checks
from nxkernel.definitions.flow.control.branches import if_return
from nxkernel.definitions.flow.control.loop_iterables import Range, Unrolled, rows
from nxkernel.definitions.flow.control.loop_state import LoopPlan, LoopState
from nxkernel.definitions.flow.control.unrolling import loop_refusal
from nxkernel.definitions.flow.retracing import MustUnrollError
from nxkernel.definitions.flow.values import variable_leaves
from nxkernel.definitions.flow.values.unassigned_variables import unassigned
from nxkernel.definitions.flow.values.variable_leaves import is_traced
from nxkernel.definitions.syntax.unsupported_syntax import SyntaxSite
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph.tracing import BodyTrace, user_line
from nxkernel.operand import Proxy
from nxkernel.ops.machinery.dispatch import apply, convert, filled, operand
from nxkernel.ops.shapes import indexing, shaping
from nxkernel.shapes import describe, normalize_axis, static_int
from nxkernel.types import s64

__all__ = ["associative_scan", "cond", "fori", "scan", "switch", "unroll", "while_"]


def _site() -> SyntaxSite:
    found = user_line()
    if found is None:
        return SyntaxSite("", sys._getframe(2).f_lineno, 0, 0, 0, "")
    return SyntaxSite(found.file, found.line, 0, found.line, 10**6, found.function)


def cond(predicate: Any, then: Callable[..., Any], otherwise: Callable[..., Any], *operands: Any) -> Any:
    """Branch in the compiled program: call one of two functions, by a scalar that may be known only when it runs.

    Parameters
    ----------
    predicate : scalar
        All but 0 counts as true.
    then, otherwise : callable
        What they give is merged: types as in arithmetic, shapes broadcast; containers have the same structure.
    *operands
        Passed to either.

    Returns
    -------
    tensor or container

    Raises
    ------
    NxTypeError
        When what the two give cannot be one value.

    Examples
    --------
    >>> nx.cond(True, lambda x: x + 1, lambda x: x - 1, nx.tensor([1, 2])).to_list()
    [2, 3]
    >>> halve = nx.jit(lambda x: nx.cond(nx.sum(x) > 10, lambda: x / 2, lambda: x))
    >>> halve(nx.tensor([4.0, 8.0])).to_list(), halve(nx.tensor([4.0, 2.0])).to_list()
    ([2.0, 4.0], [4.0, 2.0])
    """
    for side in (then, otherwise):
        if not callable(side):
            raise NxTypeError(
                message(
                    f"cond takes a predicate and two functions, got {describe(side)} for one of them.",
                    "Write nx.cond(predicate, lambda: a, lambda: b); nx.select(predicate, a, b) takes values.",
                )
            )
    return if_return(predicate, lambda: then(*operands), lambda: otherwise(*operands), _site())


def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """Branch many ways in the compiled program: call one of several functions, by its number.

    Parameters
    ----------
    index : integer scalar
        One that is below 0 or beyond the last function is moved to the nearest one.
    branches : list of callable
        What they give is merged as by :func:`cond`.
    *operands
        Passed to whichever is called.

    Returns
    -------
    tensor or container

    Raises
    ------
    NxTypeError
        For an index that is no whole number, or when what the functions give cannot be one value.
    NxValueError
        For no functions.

    Examples
    --------
    >>> step = nx.jit(lambda i, x: nx.switch(i, [nx.sin, nx.cos, lambda x: x * 2], x))
    >>> step(2, 3.0).to_number(), step(9, 3.0).to_number()
    (6.0, 6.0)
    """
    if not isinstance(branches, list | tuple) or not all(map(callable, branches)):
        raise NxTypeError(
            message(
                f"switch takes an index and a list of functions, got {describe(branches)}.",
                "Write nx.switch(i, [f, g], x); nx.choose(i, [a, b]) takes values.",
            )
        )
    if not branches:
        raise NxValueError("switch has no functions to choose from: the list is empty")
    number = operand(index, "index")
    if number.shape or not number.type.is_integer:
        raise NxTypeError(
            message(
                f"the index of switch is one whole number, got {number.spec}.",
                "nx.cond(predicate, f, g) takes a condition; nx.choose(i, [a, b]) chooses for each element.",
            )
        )
    site = _site()

    def among(low: int, high: int) -> Any:
        if high - low == 1:
            return branches[low](*operands)
        middle = (low + high) // 2
        return if_return(index < middle, lambda: among(low, middle), lambda: among(middle, high), site)

    return among(0, len(branches))


def while_(condition: Callable[[Any], Any], body: Callable[[Any], Any], initial: Any) -> Any:
    """A while loop in the compiled program: call a function on its own result as long as a condition holds.

    Parameters
    ----------
    condition : callable
        Of the state; gives a scalar.
    body : callable
        Of the state; gives the next one, of the same structure, types and shapes.
    initial : tensor or container
        The state at first. Python numbers in it take the type that the body gives them.

    Returns
    -------
    tensor or container
        The state at last.

    Raises
    ------
    NxTypeError
        When the state changes its structure, a type or a shape.

    Examples
    --------
    >>> nx.while_(lambda n: n < 100, lambda n: n * 2, nx.tensor(3))
    Tensor(192, s64)
    >>> root = nx.jit(lambda x: nx.while_(lambda s: abs(s * s - x) > 1e-6 * x, lambda s: (s + x / s) / 2, x))
    >>> float(root(2.0))
    1.4142135381698608
    """
    return _repeated(
        lambda _, state: checks.going_on(condition(state), None),
        lambda _, state: ((), body(state)),
        (),
        initial,
        "while_",
    )


def fori(start: Any, stop: Any, body: Callable[[Any, Any], Any], initial: Any) -> Any:
    """A counted loop in the compiled program: call a function with each integer of a range and its own last result.

    Parameters
    ----------
    start, stop : int or scalar tensor
        The numbers go from `start` up to and without `stop`.
    body : callable
        Of the number and the state; gives the next state.
    initial : tensor or container

    Returns
    -------
    tensor or container
        The state at last.

    Examples
    --------
    >>> nx.fori(1, 6, lambda i, product: product * i, nx.tensor(1))
    Tensor(120, s64)
    """
    numbers = Range(_bound(start), _bound(stop))

    def turn(counts: Any, state: Any) -> tuple[tuple, Any]:
        return (counts[0] + 1,), body(counts[0], state)

    return _repeated(lambda counts, _: counts[0] < numbers.stop, turn, (numbers.start,), initial, "fori")


def _bound(value: Any) -> Any:
    return value if is_traced(value) else static_int(value, "a bound of fori")


def scan(
    body: Callable[[Any, Any], tuple[Any, Any]],
    initial: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """Loop over the rows of tensors with a carried state, and stack the outputs of the steps.

    Parameters
    ----------
    body : callable
        Of the state and a row of `xs`; gives the next state and a result for the row.
    initial : tensor or container
        The state at first.
    xs : tensor or container, optional
        Each tensor has the same size along its first axis. Without it rows are None.
    length : int, optional
        How many steps; needed without `xs`.
    reverse : bool, optional
        From the last row to the first; results lie where their rows lie.

    Returns
    -------
    state : tensor or container
        At last.
    results : tensor or container
        With one more axis in front.

    Raises
    ------
    NxValueError
        When sizes differ, or nothing tells the number of steps.

    Examples
    --------
    >>> total, partial = nx.scan(lambda c, x: (c + x, c + x), 0.0, nx.tensor([1.0, 2.0, 3.0]))
    >>> float(total), partial.to_list()
    (6.0, [1.0, 3.0, 6.0])
    """
    leaves: list[Any] = []
    structure = variable_leaves.take_apart(xs, leaves)
    items = [rows(leaf) for leaf in leaves]
    steps = _steps([item.length for item in items], length)
    if not steps:
        # No step is taken, but one is traced: it tells what the results are none of.
        items = [rows(_row_of_zeros(leaf)) for leaf in leaves]
    made: list[tuple] = []

    def step(count: Any, state: Any) -> tuple[Any, list[Any]]:
        place = steps - 1 - count if reverse else count
        state, result = _pair(
            body(state, variable_leaves.rebuild(structure, iter([item.item(place) for item in items])))
        )
        results: list[Any] = []
        made[:] = [variable_leaves.take_apart(result, results)]
        return state, results

    def probe(counts: Sequence[Any], held: tuple) -> tuple[tuple, tuple]:
        state, results = step(counts[0], held[0])
        return (counts[0] + 1,), (state, tuple(results))

    def turn(counts: Sequence[Any], held: tuple) -> tuple[tuple, tuple]:
        state, results = step(counts[0], held[0])
        place = steps - 1 - counts[0] if reverse else counts[0]
        rooms = [_with_row(room, place, row) for room, row in zip(held[1], results, strict=True)]
        return (counts[0] + 1,), (state, tuple(rooms))

    def ask(counts: Sequence[Any], _: tuple) -> Any:
        return counts[0] < steps

    # A run that is thrown away tells of what types and shapes the results are.
    with BodyTrace():
        _, (_, found) = _state(initial, "scan", unassigned("results")).run((0,), ask, probe)
        specs = [operand(row).spec for row in found]
    count = max(steps, 1)
    rooms = tuple([filled(0, spec.type, (count, *spec.shape), (None, *spec.names)) for spec in specs])
    _, (state, stacked) = _state(initial, "scan", rooms).run((0,), ask, turn)
    if not steps:
        stacked = [room[:0] for room in stacked]
    return state, variable_leaves.rebuild(made[0], iter(stacked))


def _pair(found: Any) -> tuple[Any, Any]:
    if not isinstance(found, tuple) or len(found) != 2:
        raise NxTypeError(
            message(
                "the body of scan gives a pair: the next state, and the result of the step.", "Return (state, None)."
            )
        )
    return found


def _steps(sizes: list[int], length: int | None) -> int:
    sizes = [*sizes, *([] if length is None else [static_int(length, "the length of a scan")])]
    if not sizes or len(set(sizes)) > 1:
        told = f"its rows are {', '.join(map(str, sizes))}" if sizes else "it has neither rows nor a length"
        raise NxValueError(message(f"scan does not know how many steps to take: {told}.", "Give one size to all."))
    if sizes[0] < 0:
        raise NxValueError(f"scan takes at least 0 steps, got length={sizes[0]}.")
    return sizes[0]


def _row_of_zeros(leaf: Any) -> Any:
    """One row like those that a value has none of."""
    value = operand(leaf)
    made = filled(0, value.type, (1, *value.shape[1:]), value.names)
    return leaf.__nx_like__(made) if isinstance(leaf, Proxy) else made


def _with_row(room: Any, place: Any, row: Any) -> Any:
    row = operand(row)
    part = shaping.new_axis(convert(row, room.type), 0)
    return indexing.put_slice(room, [place, *[0] * row.rank], part)


def associative_scan(function: Callable[[Any, Any], Any], elems: Any, *, reverse: bool = False, axis: int = 0) -> Any:
    """All running results of an associative function, side by side: in as many rounds as halving takes.

    Parameters
    ----------
    function : callable
        Of two values like `elems`, whose entries along the axis belong together, one pair each; gives their results in
        the same types and shapes. ``f(f(a, b), c)`` is ``f(a, f(b, c))``.
    elems : tensor or container
        Each tensor has the same size along the axis.
    reverse : bool, optional
        From the last entry to the first; the function gets what comes first in this order first.
    axis : int, optional

    Returns
    -------
    tensor or container
        Like `elems`: entry `k` is the result of all up to and with `k`.

    Raises
    ------
    NxValueError
        When sizes differ, or there is no tensor.
    NxTypeError
        When the function gives other types or shapes.

    Notes
    -----
    It takes about two applications for each entry, in twice as many steps as the size has bits. :func:`scan` takes one
    for each, in as many steps, and :func:`cumulative_sum` and others know theirs.

    References
    ----------
    G. E. Blelloch, "Prefix sums and their applications", 1990.

    Examples
    --------
    >>> nx.associative_scan(nx.add, [1, 2, 3, 4]).to_list()
    [1, 3, 6, 10]
    >>> def after(f, g):  # the steps x -> a x + b, one after the other
    ...     return f[0] * g[0], f[1] * g[0] + g[1]
    >>> a, b = nx.tensor([0.5, 0.5, 0.5]), nx.tensor([1.0, 1.0, 1.0])
    >>> nx.associative_scan(after, (a, b))[1].to_list()
    [1.0, 1.5, 1.75]
    """
    if not callable(function):
        raise NxTypeError(
            message(
                f"associative_scan takes a function of two entries, got {describe(function)}.",
                "Write nx.associative_scan(nx.add, elems).",
            )
        )
    if isinstance(elems, list) and all(isinstance(one, int | float | complex) for one in elems):
        elems = operand(elems)
    leaves: list[Any] = []
    structure = variable_leaves.take_apart(elems, leaves)
    values = [operand(leaf) for leaf in leaves]
    sizes = {value.shape[normalize_axis(axis, value.shape, value.names)] for value in values}
    if len(sizes) != 1:
        told = f"its tensors have {sorted(sizes)}" if sizes else "it has no tensor"
        raise NxValueError(f"associative_scan does not know how many entries there are along axis {axis}: {told}.")

    def joined(left: list[Any], right: list[Any]) -> list[Any]:
        sides = [variable_leaves.rebuild(structure, iter(each)) for each in (left, right)]
        found: list[Any] = []
        variable_leaves.take_apart(function(*sides), found)
        results = [operand(one) for one in found]
        if [one.spec[:2] for one in results] != [one.spec[:2] for one in left]:
            given, wanted = (", ".join(str(one.spec) for one in each) for each in (results, left))
            raise NxTypeError(f"the function of associative_scan gives {given} for two values like {wanted}.")
        return results

    places = [normalize_axis(axis, value.shape, value.names) for value in values]
    if reverse:
        values = [shaping.reverse(value, axes=[place]) for value, place in zip(values, places, strict=True)]
    values = _all_joined(joined, values, places)
    if reverse:
        values = [shaping.reverse(value, axes=[place]) for value, place in zip(values, places, strict=True)]
    return variable_leaves.rebuild(structure, iter(values))


def _all_joined(joined: Callable[[list[Any], list[Any]], list[Any]], values: list[Any], places: list[int]) -> list[Any]:
    """The running results, from those of pairs of neighbours."""
    size = values[0].shape[places[0]]
    if size < 2:
        return values

    def part(parts: list[Any], start: int, count: int, stride: int = 2) -> list[Any]:
        length = (count - 1) * stride + 1 if count else 0
        return [
            indexing.slice_along_axis(one, min(start, one.shape[place]), length, axis=place, strides=stride)
            for one, place in zip(parts, places, strict=True)
        ]

    half, rest = size // 2, (size + 1) // 2 - 1
    odd = _all_joined(joined, joined(part(values, 0, half), part(values, 1, half)), places)
    even = part(values, 0, 1)
    if rest:
        further = joined(part(odd, 0, rest, 1), part(values, 2, rest))
        even = [shaping.concatenate(pair, axis=place) for *pair, place in zip(even, further, places, strict=True)]
    return [_interleaved(*three) for three in zip(even, odd, places, strict=True)]


def _interleaved(even: Any, odd: Any, place: int) -> Any:
    """Entries of two tensors in turns, along an axis."""
    shape = list(even.shape)
    shape[place] += odd.shape[place]
    strides = tuple([2 if axis == place else 1 for axis in range(len(shape))])
    result = filled(0, even.type, tuple(shape), even.names)
    for part, first in ((even, 0), (odd, 1)):
        starts = [filled(first if axis == place else 0, s64, ()) for axis in range(len(shape))]
        result = apply(p.put_strided, result, part, *starts, strides=strides)
    return result


def unroll(iterable: Any) -> Unrolled:
    """Unroll a `for` loop while the definition is traced, iteration by iteration.

    In each turn the item is a Python value, so it can be a shape or an axis, and lists can be filled; the compiled
    program grows with the number of iterations.

    Parameters
    ----------
    iterable : range, sequence or tensor

    Returns
    -------
    Unrolled
        Goes over the same items.

    Examples
    --------
    >>> @nx.defn
    ... def powers(x):
    ...     found = []
    ...     for exponent in nx.unroll(range(3)):
    ...         found.append(x**exponent)
    ...     return nx.stack(found)
    >>> powers(3).to_list()
    [1, 3, 9]
    """
    return Unrolled(iterable)


def _state(initial: Any, name: str, *others: Any) -> LoopState:
    if not _has_leaves(initial):
        raise NxTypeError(
            message(f"the state of nx.{name} has no tensor or number in it: {initial!r}.", "It is what a loop changes.")
        )
    plan = LoopPlan()
    plan.opened |= {"state", "results"}
    return LoopState(_site(), ("state", "results")[: 1 + len(others)], (initial, *others), plan, ())


def _has_leaves(value: Any) -> bool:
    leaves: list[Any] = []
    variable_leaves.take_apart(value, leaves)
    return bool(leaves)


def _repeated(
    ask: Callable[[Sequence[Any], Any], Any],
    turn: Callable[[Sequence[Any], Any], tuple[tuple, Any]],
    counts: tuple,
    initial: Any,
    name: str,
) -> Any:
    """The state after a loop."""

    def one_turn(numbers: Sequence[Any], held: tuple) -> tuple[tuple, tuple]:
        numbers, state = turn(numbers, held[0])
        return numbers, (state,)

    state = _state(initial, name)
    try:
        return state.run(counts, lambda numbers, held: ask(numbers, held[0]), one_turn)[1][0]
    except MustUnrollError as error:
        raise loop_refusal(error, state.site) from None
