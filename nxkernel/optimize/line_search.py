"""A step length by the strong Wolfe conditions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import nxkernel as nx

#: Trials of one search at most.
_MOST = 30
#: How near to an end of the bracket a trial may be, as a part of it.
_MARGIN = 0.1


class Point(NamedTuple):
    """A step length, and the function there: its value, its slope along the direction, and its gradient."""

    length: Any
    value: Any
    slope: Any
    gradient: Any


class Found(NamedTuple):
    """What a search gives: the best point, and how often the function was called."""

    point: Point
    calls: Any


class _Search(NamedTuple):
    #: The best point so far, which lowers the value enough.
    best: Point
    #: The other end of the bracket: length, value, slope.
    end: tuple[Any, Any, Any]
    bracketed: Any
    trial: Any
    calls: Any
    done: Any


def line_search(
    function: Callable[[Any], tuple[Any, Any]], x: Any, begin: Point, direction: Any, first: Any, c1: float, c2: float
) -> Found:
    """Find a step length that lowers a function enough, and its slope, too.

    Parameters
    ----------
    function : callable
        Of a vector; gives the value and the gradient.
    x, direction : tensor
        Vectors.
    begin : Point
        Of length 0; its slope is negative.
    first : tensor
        The length to try first.
    c1, c2 : float
        By how much the value has to fall, and which part of the slope may be left.

    Returns
    -------
    Found
        Of length 0 where nothing lower was found.

    References
    ----------
    J. Nocedal and S. J. Wright, "Numerical Optimization", 2006, algorithms 3.5 and 3.6. Where rounding hides by how
    much the value falls, the slope tells it: W. W. Hager and H. Zhang, "A new conjugate gradient method with guaranteed
    descent and an efficient line search", 2005, equation 4.2.
    """
    noise = 10 * float(np.finfo(x.type.dtype).eps) * nx.abs(begin.value)

    def turn(search: _Search) -> _Search:
        value, gradient = function(x + search.trial * direction)
        here = Point(search.trial, value, nx.dot(gradient, direction), gradient)
        best = search.best
        fell = here.value <= begin.value + c1 * here.length * begin.slope
        flat = (here.value <= begin.value + noise) & (here.slope <= (2 * c1 - 1) * begin.slope)
        # NaN fails each comparison.
        good = (fell | flat) & (here.value <= best.value + noise) & (nx.abs(here.slope) < np.inf)
        done = good & (nx.abs(here.slope) <= -c2 * begin.slope)
        towards = nx.select(search.bracketed, here.slope * (search.end[0] - best.length), here.slope)
        passed = good & (towards >= 0)
        end = [
            nx.select(good, nx.select(passed, one, other), new)
            for one, other, new in zip(best[:3], search.end, here[:3], strict=True)
        ]
        after = Point(*(nx.select(good, new, old) for new, old in zip(here[:3], best[:3], strict=True)),
                      nx.select(nx.broadcast(good, gradient.shape), gradient, best.gradient))  # fmt: skip
        bracketed = search.bracketed | ~good | passed
        beyond = here.length + (here.length - best.length) * 4.0
        inside = _within(after, (end[0], end[1], end[2]))
        return _Search(after, tuple(end), bracketed, nx.select(bracketed, inside, beyond), search.calls + 1, done)

    begun = _Search(begin, tuple(begin[:3]), nx.tensor(False), first, nx.tensor(0), nx.tensor(False))
    found = nx.while_(lambda search: ~search.done & (search.calls < _MOST), turn, begun)
    return Found(found.best, found.calls)


def _within(best: Point, end: tuple[Any, Any, Any]) -> Any:
    """A length between two: the minimum of the cubic by values and slopes, or the middle where there is none."""
    length, value, slope = end
    width = length - best.length
    mean = best.slope + slope - 3 * (best.value - value) / (best.length - length)
    root = nx.sqrt(mean * mean - best.slope * slope) * nx.sign(width)
    share = 1 - (slope + root - mean) / (slope - best.slope + 2 * root)
    share = nx.select(nx.abs(share) < np.inf, nx.clip(share, _MARGIN, 1 - _MARGIN), 0.5)
    return best.length + share * width
