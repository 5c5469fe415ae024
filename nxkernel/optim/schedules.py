"""Learning rate schedules: functions of the number of updates so far.

They work on numbers, on traced counts, and on arrays of counts, as for a plot.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError
from nxkernel.messages import number_checks
from nxkernel.ops.machinery.dispatch import convert, operand
from nxkernel.shapes import describe

Schedule = Callable[[Any], Any]


def _counts(count: Any) -> Any:
    return convert(operand(count), nx.types.f32)


def constant_schedule(value: float) -> Schedule:
    """A schedule of one constant value.

    Parameters
    ----------
    value : float

    Returns
    -------
    callable

    Examples
    --------
    >>> from nxkernel import optim
    >>> optim.constant_schedule(0.5)([0, 10]).to_list()
    [0.5, 0.5]
    """
    number_checks.number("constant_schedule", "value", value)
    return functools.partial(_constant, value)


def _constant(value: float, count: Any) -> Any:
    return _counts(count) * 0 + value


def polynomial_schedule(initial: float, end: float, power: float, steps: int, begin: int = 0) -> Schedule:
    """A schedule that goes from `initial` to `end` over `steps` steps along ``(1 - x) ** power``, and stays there.

    Parameters
    ----------
    initial, end : float
    power : float
    steps : int
        How long it takes.
    begin : int, optional
        When it begins; it is `initial` until then.

    Returns
    -------
    callable

    Examples
    --------
    >>> from nxkernel import optim
    >>> optim.polynomial_schedule(1.0, 0.0, 2, 4)([0, 2, 4, 9]).to_list()
    [1.0, 0.25, 0.0, 0.0]
    """
    for name, value in (("initial", initial), ("end", end), ("power", power)):
        number_checks.number("polynomial_schedule", name, value)
    number_checks.count("polynomial_schedule", "steps", steps)
    number_checks.count("polynomial_schedule", "begin", begin, 0)
    return functools.partial(_polynomial, initial, end, power, steps, begin)


def _polynomial(initial: float, end: float, power: float, steps: int, begin: int, count: Any) -> Any:
    left = 1 - nx.clip(_counts(count) - begin, 0, steps) / steps
    return (initial - end) * nx.pow(left, power) + end


def linear_schedule(initial: float, end: float, steps: int, begin: int = 0) -> Schedule:
    """A schedule that goes from `initial` to `end` linearly over `steps` steps, and stays there.

    Parameters
    ----------
    initial, end, steps, begin
        As :func:`polynomial_schedule` takes them.

    Returns
    -------
    callable

    Examples
    --------
    >>> from nxkernel import optim
    >>> optim.linear_schedule(0.0, 1.0, 4)([0, 1, 8]).to_list()
    [0.0, 0.25, 1.0]
    """
    for name, value in (("initial", initial), ("end", end)):
        number_checks.number("linear_schedule", name, value)
    number_checks.count("linear_schedule", "steps", steps)
    number_checks.count("linear_schedule", "begin", begin, 0)
    return functools.partial(_polynomial, initial, end, 1, steps, begin)


def exponential_decay(
    initial: float, steps: int, rate: float, begin: int = 0, *, staircase: bool = False, end: float | None = None
) -> Schedule:
    """Exponential decay: a schedule that is multiplied by `rate` every `steps` steps.

    Parameters
    ----------
    initial : float
    steps : int
        After how many steps it is `rate` times what it was.
    rate : float
    begin : int, optional
        When it begins; it is `initial` until then.
    staircase : bool, optional
        Whether it falls at those steps alone, instead of a little at each.
    end : float, optional
        Where it stops.

    Returns
    -------
    callable

    Examples
    --------
    >>> from nxkernel import optim
    >>> optim.exponential_decay(1.0, 2, 0.25)([0, 1, 2]).to_list()
    [1.0, 0.5, 0.25]
    """
    number_checks.number("exponential_decay", "initial", initial)
    number_checks.count("exponential_decay", "steps", steps)
    number_checks.above("exponential_decay", "rate", rate, 0)
    number_checks.count("exponential_decay", "begin", begin, 0)
    number_checks.flag("exponential_decay", "staircase", staircase)
    if end is not None:
        number_checks.number("exponential_decay", "end", end)
    return functools.partial(_exponential, initial, steps, rate, begin, staircase, end)


def _exponential(
    initial: float, steps: int, rate: float, begin: int, staircase: bool, end: float | None, count: Any
) -> Any:
    periods = nx.max(_counts(count) - begin, 0.0) / steps
    value = initial * nx.pow(rate, nx.floor(periods) if staircase else periods)
    if end is None:
        return value
    return nx.max(value, end) if rate < 1 else nx.min(value, end)


def cosine_decay_schedule(initial: float, steps: int, alpha: float = 0.0, exponent: float = 1.0) -> Schedule:
    """A schedule that falls from `initial` to ``alpha * initial`` along half a cosine (Loshchilov and Hutter, 2016).

    Parameters
    ----------
    initial : float
    steps : int
        How long it takes.
    alpha : float, optional
        The share of `initial` that is left at the end.
    exponent : float, optional
        The power of the curve.

    Returns
    -------
    callable

    Examples
    --------
    >>> from nxkernel import optim
    >>> [round(x, 6) for x in optim.cosine_decay_schedule(1.0, 4)([0, 2, 4]).to_list()]
    [1.0, 0.5, 0.0]
    """
    for name, value in (("initial", initial), ("alpha", alpha), ("exponent", exponent)):
        number_checks.number("cosine_decay_schedule", name, value)
    number_checks.count("cosine_decay_schedule", "steps", steps)
    return functools.partial(_cosine_decay, initial, steps, alpha, exponent)


def _cosine_decay(initial: float, steps: int, alpha: float, exponent: float, count: Any) -> Any:
    angle = math.pi * nx.min(_counts(count), float(steps)) / steps
    curve = nx.max(0.5 * (1 + nx.cos(angle)), 0.0)
    return initial * ((1 - alpha) * nx.pow(curve, exponent) + alpha)


def piecewise_constant_schedule(initial: float, factors: Mapping[int, float]) -> Schedule:
    """A step-wise constant schedule: the value is multiplied by a factor at each of the given steps.

    Parameters
    ----------
    initial : float
    factors : dict
        The step from which on each factor counts.

    Returns
    -------
    callable

    Examples
    --------
    >>> from nxkernel import optim
    >>> optim.piecewise_constant_schedule(1.0, {2: 0.5, 4: 0.5})([0, 2, 3, 4]).to_list()
    [1.0, 0.5, 0.5, 0.25]
    """
    if not isinstance(factors, Mapping):
        raise NxTypeError(f"piecewise_constant_schedule takes factors by step in a dict, got {describe(factors)}")
    number_checks.number("piecewise_constant_schedule", "initial", initial)
    for step, factor in factors.items():
        number_checks.count("piecewise_constant_schedule", "a step", step, 0)
        number_checks.number("piecewise_constant_schedule", "a factor", factor)
    return functools.partial(_piecewise, initial, tuple(sorted(factors.items())))


def _piecewise(initial: float, factors: tuple[tuple[int, float], ...], count: Any) -> Any:
    count = _counts(count)
    value = count * 0 + initial
    for step, factor in factors:
        value = nx.select(count >= step, value * factor, value)
    return value


def join_schedules(schedules: Sequence[Schedule], boundaries: Sequence[int]) -> Schedule:
    """Join schedules at step boundaries; each counts its steps from where it begins.

    Parameters
    ----------
    schedules : sequence of callable
    boundaries : sequence of int
        At which step each but the first begins.

    Returns
    -------
    callable

    Examples
    --------
    >>> from nxkernel import optim
    >>> rate = optim.join_schedules([optim.constant_schedule(1.0), optim.linear_schedule(0.5, 0.0, 2)], [2])
    >>> rate([0, 1, 2, 3, 4]).to_list()
    [1.0, 1.0, 0.5, 0.25, 0.0]
    """
    if len(boundaries) != len(schedules) - 1:
        raise NxValueError(
            f"join_schedules: {len(schedules)} schedules have {len(schedules) - 1} boundaries, got {len(boundaries)}"
        )
    for index, schedule in enumerate(schedules):
        if not callable(schedule):
            raise NxTypeError(f"join_schedules: schedule {index + 1} is no function, got {describe(schedule)}")
    for boundary in boundaries:
        number_checks.count("join_schedules", "a boundary", boundary, 0)
    if any(first >= second for first, second in pairwise(boundaries)):
        raise NxValueError(f"join_schedules: boundaries go up, got {list(boundaries)}")
    return functools.partial(_joined, tuple(schedules), tuple(boundaries))


def _joined(schedules: tuple[Schedule, ...], boundaries: tuple[int, ...], count: Any) -> Any:
    count = _counts(count)
    value = schedules[0](count)
    for begin, later in zip(boundaries, schedules[1:], strict=True):
        value = nx.select(count >= begin, later(count - begin), value)
    return value


def warmup_cosine_decay_schedule(
    initial: float, peak: float, warmup: int, steps: int, end: float = 0.0, exponent: float = 1.0
) -> Schedule:
    """Linear warmup from `initial` to `peak`, then cosine decay to `end`.

    Parameters
    ----------
    initial, peak : float
    warmup : int
        How many steps it goes up.
    steps : int
        How many steps there are, those that it goes up among them.
    end : float, optional
    exponent : float, optional
        The power of the cosine.

    Returns
    -------
    callable

    Examples
    --------
    >>> from nxkernel import optim
    >>> rate = optim.warmup_cosine_decay_schedule(0.0, 1.0, 2, 6)
    >>> [round(x, 6) for x in rate([0, 1, 2, 4, 6]).to_list()]
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """
    number_checks.count("warmup_cosine_decay_schedule", "warmup", warmup)
    number_checks.count("warmup_cosine_decay_schedule", "steps", steps, warmup + 1)
    number_checks.above("warmup_cosine_decay_schedule", "peak", peak, 0)
    down = cosine_decay_schedule(peak, steps - warmup, end / peak, exponent)
    return join_schedules([linear_schedule(initial, peak, warmup), down], [warmup])


def one_cycle_schedule(
    steps: int, peak: float, share: float = 0.3, div_factor: float = 25.0, final_div_factor: float = 1e4
) -> Schedule:
    """The one-cycle schedule: up to `peak` and down to almost 0, along cosines (Smith and Topin, 2017).

    Parameters
    ----------
    steps : int
        How long it takes.
    peak : float
    share : float, optional
        The share of the steps in which it goes up.
    div_factor : float, optional
        It begins at `peak` over this.
    final_div_factor : float, optional
        It ends at where it began over this.

    Returns
    -------
    callable

    Examples
    --------
    >>> from nxkernel import optim
    >>> rate = optim.one_cycle_schedule(10, 1.0, 0.5, 4.0)
    >>> [round(x, 4) for x in rate([0, 5, 10]).to_list()]
    [0.25, 1.0, 0.0]
    """
    number_checks.count("one_cycle_schedule", "steps", steps, 2)
    number_checks.share("one_cycle_schedule", "share", share)
    for name, value in (("peak", peak), ("div_factor", div_factor), ("final_div_factor", final_div_factor)):
        number_checks.above("one_cycle_schedule", name, value, 0)
    return functools.partial(_one_cycle, steps, int(share * steps), peak, div_factor, final_div_factor)


def _one_cycle(steps: int, top: int, peak: float, div_factor: float, final_div_factor: float, count: Any) -> Any:
    begin, end = peak / div_factor, peak / (div_factor * final_div_factor)
    count = _counts(count)
    down = _cosine(peak, end, (count - top) / (steps - top))
    return nx.select(count < top, _cosine(begin, peak, count / max(top, 1)), down)


def _cosine(first: float, last: float, x: Any) -> Any:
    """Cosine interpolation between two values, for x from 0 to 1."""
    return first + (last - first) / 2 * (1 - nx.cos(math.pi * nx.clip(x, 0.0, 1.0)))
