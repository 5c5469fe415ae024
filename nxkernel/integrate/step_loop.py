"""The loop of an integration, step by step, and what is written down of the steps."""

from __future__ import annotations

from typing import Any, NamedTuple

import nxkernel as nx
from nxkernel.integrate.runge_kutta import Attempt, Problem

RUNNING, FINISHED, FAILED, LIMIT = 1, 0, -1, -2


class State(NamedTuple):
    """Where an integration is."""

    time: Any
    value: Any
    memory: Any
    record: Any
    attempts: Any
    status: Any


class Rows(NamedTuple):
    """The times and values of accepted steps, row by row, with what lies before each if that is wanted."""

    times: Any
    values: Any
    between: Any
    count: Any


class Points(NamedTuple):
    """Values at given times, and how many of these are behind."""

    values: Any
    count: Any


def integrate(
    method: Any, problem: Problem, time: Any, value: Any, memory: Any, record: Rows | Points, points: Any, most: Any
) -> State:
    """Go on until the last time, or until there is no room for more rows.

    Parameters
    ----------
    method : RungeKutta or Radau
    problem : Problem
    time, value : tensor
        Where the integration is.
    memory : tuple
        The method's.
    record : Rows or Points
    points : tensor or None
        The times at which values are wanted.
    most : tensor or int or None
        How many attempts there are at most. Where it is a number that is known, gradients can be taken of the loop.
    """

    def turn(now: State) -> State:
        attempt = method.attempt(problem, now.memory, now.time, now.value)
        memory, record = _recorded(method, problem, now, attempt, points, most is not None)
        after = nx.select(attempt.accepted, attempt.time, now.time)
        value = nx.select(nx.broadcast(attempt.accepted, now.value.shape), attempt.value, now.value)
        status = nx.select(attempt.accepted & (after == problem.end), FINISHED, RUNNING)
        status = nx.as_type(nx.select(attempt.failed, FAILED, status), "s64")
        return State(after, value, memory, record, now.attempts + 1, status)

    status = nx.as_type(nx.select(time == problem.end, FINISHED, RUNNING), "s64")
    begun = State(time, value, memory, record, nx.tensor(0), status)
    rows = record.times.shape[0] if isinstance(record, Rows) else None

    def goes_on(now: State) -> Any:
        on = now.status == RUNNING
        if rows is not None:
            on = on & (now.record.count < rows)
        # A gradient finds the limit where it is one side of a conjunction.
        return on if most is None else nx.logical_and(now.attempts < most, on)

    found = nx.while_(goes_on, turn, begun)
    if most is None:
        return found
    ended = (found.status == RUNNING) & (found.attempts >= most)
    return found._replace(status=nx.as_type(nx.select(ended, LIMIT, found.status), "s64"))


def _recorded(
    method: Any, problem: Problem, now: State, attempt: Attempt, points: Any, differentiable: bool
) -> tuple[Any, Rows | Points]:
    """The record with what an attempt adds to it, and the memory, in which more calls may be counted."""
    record, memory = now.record, attempt.memory
    if isinstance(record, Rows):
        count = record.count
        between = record.between
        if between is not None:
            rows, calls = method.coefficients(problem, now.time, now.value, attempt)
            between = nx.put_slice(between, [count, 0, 0], nx.new_axis(rows, 0))
            memory = memory._replace(calls=memory.calls + nx.select(attempt.accepted, calls, 0))
        # A row of an attempt that is not accepted is written over by the next one.
        return memory, Rows(
            nx.put_slice(record.times, [count], nx.reshape(attempt.time, (1,))),
            nx.put_slice(record.values, [count, 0], nx.new_axis(attempt.value, 0)),
            between, count + nx.select(attempt.accepted, 1, 0),
        )  # fmt: skip
    if differentiable:
        return memory, _all_points(method, problem, now, attempt, points)
    size = points.shape[0]

    def is_behind(place: Any) -> Any:
        return problem.direction * (points[nx.min(place, size - 1)] - attempt.time) <= 0

    def some() -> tuple[Any, Any, Any]:
        rows, calls = method.coefficients(problem, now.time, now.value, attempt)

        def one(held: tuple[Any, Any]) -> tuple[Any, Any]:
            values, place = held
            part = (points[nx.min(place, size - 1)] - now.time) / (attempt.time - now.time)
            value = now.value + nx.dot(nx.as_type(method.weights(part), rows.type), rows)
            return nx.put_slice(values, [place, 0], nx.new_axis(value, 0)), place + 1

        values, place = nx.while_(lambda held: (held[1] < size) & is_behind(held[1]), one, tuple(record))
        return values, place, memory.calls + calls

    wanted = attempt.accepted & (record.count < size) & is_behind(record.count)
    values, count, calls = nx.cond(wanted, some, lambda: (*record, memory.calls))
    return memory._replace(calls=calls), Points(values, count)


def _all_points(method: Any, problem: Problem, now: State, attempt: Attempt, points: Any) -> Points:
    """Values at all points that a step has passed, at once: a loop over some of them has no known limit."""
    record = now.record
    begun = (record.count == 0) & (problem.direction * (points - now.time) <= 0)
    after = problem.direction * (points - now.time) > 0
    inside = (after | begun) & (problem.direction * (points - attempt.time) <= 0) & attempt.accepted
    rows, _ = method.coefficients(problem, now.time, now.value, attempt)
    part = (points - now.time) / nx.select(attempt.time == now.time, 1.0, attempt.time - now.time)
    weights = nx.as_type(method.weights(part), rows.type)
    values = nx.new_axis(now.value, 0) + nx.dot(nx.transpose(weights), rows)
    mask = nx.broadcast(nx.new_axis(inside, -1), record.values.shape)
    count = nx.sum(nx.as_type(problem.direction * (points - attempt.time) <= 0, "s64"))
    return Points(nx.select(mask, values, record.values), nx.select(attempt.accepted, count, record.count))
