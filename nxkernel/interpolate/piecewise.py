"""Piecewise polynomials: `PPoly`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import nxkernel as nx
from nxkernel import types
from nxkernel.definitions.autodiff.differentiated_variables import transform
from nxkernel.definitions.tracing import whose_rules
from nxkernel.errors import NxValueError, message
from nxkernel.graph import tracing
from nxkernel.ops.machinery.dispatch import convert, operand
from nxkernel.solvers import options as checks
from nxkernel.solvers import programs, user_functions


class PPoly:
    """Polynomials between breakpoints, as :class:`scipy.interpolate.PPoly`.

    Parameters
    ----------
    c : array
        Coefficients: by degree, the highest first, by interval, and then of each element of the values.
    x : array
        The breakpoints, in order, one more than there are intervals.
    extrapolate : bool, optional
        Whether the first and the last polynomial hold outside of the breakpoints, too; else values are NaN there.
    axis : int, optional
        Where in the values the axes of the argument stand.

    Examples
    --------
    >>> line = nx.interpolate.PPoly([[1.0, 2.0], [0.0, 1.0]], [0.0, 1.0, 2.0])
    >>> line([0.5, 1.5]).tolist(), float(line.integrate(0, 2)), line.derivative()(0.5)
    ([0.5, 2.0], 2.5, array(1.))
    """

    def __init__(self, c: Any, x: Any, extrapolate: bool = True, axis: int = 0) -> None:
        self.c, self.x = user_functions.start(c, "PPoly: c"), user_functions.start(x, "PPoly: x")
        if len(self.c.shape) < 2 or tuple(self.x.shape) != (self.c.shape[1] + 1,):
            raise NxValueError(
                message(
                    f"PPoly takes coefficients by degree and interval, and one breakpoint more than intervals, "
                    f"got the shapes {tuple(self.c.shape)} and {tuple(self.x.shape)}."
                )
            )
        self.extrapolate, self.axis = bool(extrapolate), axis

    def __call__(self, x: Any, nu: int = 0, extrapolate: bool | None = None) -> Any:
        """Values, or derivatives.

        Parameters
        ----------
        x : array
        nu : int, optional
            Which derivative.
        extrapolate : bool, optional
            In place of the object's.
        """
        order = int(checks.whole("PPoly", "nu", nu))
        beyond = self.extrapolate if extrapolate is None else bool(extrapolate)
        # A number of Python's has the type of the coefficients.
        (x,) = user_functions.arguments((float(x) if isinstance(x, int) else x,), self.c)
        places = user_functions.start(x, "PPoly: x")
        found = programs.run(_evaluated, (order, beyond, self.axis), (self.c, self.x, places))
        return for_caller(found, (self.c, self.x, places))

    def derivative(self, nu: int = 1) -> PPoly:
        """The piecewise polynomial of a derivative."""
        order = int(checks.whole("PPoly", "nu", nu))
        return self._like(programs.run(_derived, (order,), (self.c,)))

    def antiderivative(self) -> PPoly:
        """The piecewise polynomial that this one is the derivative of, and that is 0 at the first breakpoint."""
        return self._like(programs.run(_integrated, (), (self.c, self.x)))

    def integrate(self, a: Any, b: Any) -> Any:
        """The integral between two numbers."""
        whole = self.antiderivative()
        return whole(b) - whole(a)

    def _like(self, coefficients: Any) -> PPoly:
        return PPoly(for_caller(coefficients, (self.c, self.x)), self.x, self.extrapolate, self.axis)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of degree {self.c.shape[0] - 1}, {self.c.shape[1]} intervals>"


def for_caller(found: Any, inputs: Sequence[Any]) -> Any:
    """A result of inputs: NumPy's array where none of them is a tensor."""
    of_numpy = tracing.current() is None and not whose_rules.holds_tensors(inputs)
    return np.asarray(programs.as_array(found)) if of_numpy else found


@transform("PPoly")
def _evaluated(is_inner: bool, order: int, extrapolate: bool, axis: int, c: Any, x: Any, places: Any) -> Any:
    c, places = operand(c), operand(places)
    x, flat = convert(operand(x), types.merge(places.type, operand(x).type)), nx.flatten(places)
    flat = convert(flat, x.type)
    part = nx.clip(nx.searchsorted(x, flat, side="right") - 1, 0, x.shape[0] - 2)
    distance = flat - nx.take(x, part)
    picked = nx.take(_derived(is_inner, order, c), part, axis=1)
    wide = nx.reshape(distance, (flat.shape[0], *[1] * (c.rank - 2)))
    value = picked[0]
    for degree in range(1, picked.shape[0]):
        value = value * wide + picked[degree]
    if not extrapolate:
        inside = (flat >= x[0]) & (flat <= x[x.shape[0] - 1])
        mask = nx.broadcast(nx.reshape(inside, wide.shape), value.shape)
        value = nx.select(mask, value, float("nan"))
    value = nx.reshape(value, (*places.shape, *c.shape[2:]))
    # The axes of the argument stand where that of the points stood.
    before = [places.rank + place for place in range(axis)]
    after = [places.rank + place for place in range(axis, c.rank - 2)]
    return nx.transpose(value, axes=[*before, *range(places.rank), *after]) if before else value


@transform("PPoly")
def _derived(is_inner: bool, order: int, c: Any) -> Any:
    c = operand(c)
    for _ in range(order):
        if c.shape[0] == 1:
            return nx.zeros(c.shape, c.type)
        degrees = nx.reshape(nx.iota((c.shape[0] - 1,), type=c.type), (-1, *[1] * (c.rank - 1)))
        c = c[:-1] * (c.shape[0] - 1 - degrees)
    return c


@transform("PPoly")
def _integrated(is_inner: bool, c: Any, x: Any) -> Any:
    c = operand(c)
    x = convert(operand(x), c.type)
    degrees = nx.reshape(c.shape[0] - nx.iota((c.shape[0],), type=c.type), (-1, *[1] * (c.rank - 1)))
    raised = c / degrees
    widths = nx.reshape(x[1:] - x[:-1], (-1, *[1] * (c.rank - 2)))
    area = raised[0]
    for degree in range(1, c.shape[0]):
        area = area * widths + raised[degree]
    area = nx.cumulative_sum(area * widths, axis=0)
    begin = nx.concatenate([nx.zeros((1, *area.shape[1:]), c.type), area[:-1]])
    return nx.concatenate([raised, nx.new_axis(begin, 0)])
