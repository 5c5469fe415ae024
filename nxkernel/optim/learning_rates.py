"""Learning rates: fixed, scheduled, or given at each step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.messages import number_checks
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import convert, is_number, operand
from nxkernel.optim import _leaves
from nxkernel.optim.scaling import zero
from nxkernel.optim.transformation import Transformation, stateless, transformation
from nxkernel.shapes import describe

#: A number, a scalar, a function of the number of updates that there were, or None where each update is given one.
Rate = float | Operand | Callable[[Any], Any] | None


class StepState(NamedTuple):
    """The number of updates so far."""

    count: Any


@transformation
def scale(factor: float) -> Transformation:
    """Multiply updates by a number.

    Parameters
    ----------
    factor : float or scalar

    Returns
    -------
    Transformation

    Examples
    --------
    >>> from nxkernel import optim
    >>> float(optim.scale(-0.5).update(nx.tensor(3.0), ())[0])
    -1.5
    """
    number_checks.number("scale", "factor", factor)

    def change(grads: Any, state: tuple, params: Any) -> tuple[Any, tuple]:
        return _leaves.each(lambda g: _leaves.scaled(g, factor), {"grads": grads}), state

    return Transformation(stateless, change)


@transformation
def scale_by_schedule(schedule: Callable[[Any], Any]) -> Transformation:
    """Multiply updates by a schedule: a function of the number of updates so far.

    Parameters
    ----------
    schedule : callable
        Of a whole number, 0 at first; gives a scalar.

    Returns
    -------
    Transformation

    Examples
    --------
    >>> from nxkernel import optim
    >>> warm = optim.scale_by_schedule(lambda count: nx.min(count / 4, 1.0))
    >>> state = warm.init(nx.tensor(1.0))
    >>> for _ in range(3):
    ...     updates, state = warm.update(nx.tensor(1.0), state)
    >>> float(updates), int(state.count)
    (0.5, 3)
    """
    if not callable(schedule):
        raise NxTypeError(
            message(
                f"scale_by_schedule takes a function of the number of updates, got {describe(schedule)}.",
                "optim.scale(factor) takes a number.",
            )
        )

    def init(params: Any) -> StepState:
        return StepState(zero())

    def change(grads: Any, state: StepState, params: Any) -> tuple[Any, StepState]:
        factor = _scalar(schedule(state.count), "what the schedule gives")
        updates = _leaves.each(lambda g: _leaves.scaled(g, factor), {"grads": grads})
        return updates, StepState(state.count + 1)

    return Transformation(init, change, kind=StepState)


@transformation
def scale_by_learning_rate(learning_rate: Rate = None) -> Transformation:
    """Multiply updates by minus the learning rate: the last transformation of every optimizer.

    Parameters
    ----------
    learning_rate : float, scalar, schedule or None, optional
        A number or scalar, or a function of the number of updates. The one that an update is given goes before it, and
        without any each update needs one.

    Returns
    -------
    Transformation

    Examples
    --------
    >>> from nxkernel import optim
    >>> down = optim.scale_by_learning_rate(0.1)
    >>> float(down.update(nx.tensor(1.0), (), None, 0.5)[0])
    -0.5
    """
    if learning_rate is not None and not callable(learning_rate):
        number_checks.at_least("an optimizer", "learning_rate", learning_rate, 0)
    scheduled = callable(learning_rate)

    def init(params: Any) -> Any:
        return StepState(zero()) if scheduled else ()

    def change(grads: Any, state: Any, params: Any, given: Any = None) -> tuple[Any, Any]:
        rate = given
        if rate is None:
            rate = learning_rate(state.count) if callable(learning_rate) else learning_rate
        if rate is None:
            raise NxTypeError(
                message(
                    "the optimizer was made without a learning rate, and this update was given none.",
                    "Write update(grads, state, params, learning_rate=0.01), or make it with one: optim.adam(0.01).",
                )
            )
        rate = _scalar(rate, "the learning rate")
        updates = _leaves.each(lambda g: _leaves.scaled(g, -rate), {"grads": grads})
        return updates, StepState(state.count + 1) if scheduled else state

    return Transformation(init, change, rated=True, kind=StepState if scheduled else None)


def _scalar(value: Any, name: str) -> Any:
    if is_number(value):
        return value
    if isinstance(value, str | dict | list | tuple | None):
        raise NxTypeError(f"{name} is one number, got {describe(value)}")
    value = operand(value)
    if value.shape:
        raise NxValueError(f"{name} is one number, got {value.spec}")
    return convert(value, nx.types.f32) if value.type.is_integer else value
