"""Schedules check their numbers; their values are in test_trajectories.py."""

import pytest

from nxkernel import optim
from nxkernel.errors import NxTypeError, NxValueError


def refusal(kind, call):
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


def test_schedules_check_their_numbers():
    assert refusal(NxValueError, lambda: optim.cosine_decay_schedule(1.0, 0)) == (
        "cosine_decay_schedule: steps is at least 1, got 0"
    )
    assert refusal(NxTypeError, lambda: optim.linear_schedule(1.0, 0.0, 2.5)) == (
        "linear_schedule: steps is a whole number, got 2.5"
    )
    for make, text in (
        (lambda: optim.linear_schedule("a", 1.0, 2), "linear_schedule: initial is a number, got 'a'"),
        (lambda: optim.polynomial_schedule(1.0, 0.0, "2", 4), "polynomial_schedule: power is a number, got '2'"),
        (lambda: optim.exponential_decay("a", 1, 0.5), "exponential_decay: initial is a number, got 'a'"),
        (lambda: optim.exponential_decay(1.0, 1, 0.5, end="a"), "exponential_decay: end is a number, got 'a'"),
        (lambda: optim.cosine_decay_schedule(None, 4), "cosine_decay_schedule: initial is a number, got None"),
        (
            lambda: optim.piecewise_constant_schedule("a", {}),
            "piecewise_constant_schedule: initial is a number, got 'a'",
        ),
        (lambda: optim.one_cycle_schedule(10, "a"), "one_cycle_schedule: peak is a number, got 'a'"),
        (lambda: optim.join_schedules([1.0], []), "join_schedules: schedule 1 is no function, got 1.0"),
    ):
        assert refusal(NxTypeError, make) == text
    assert refusal(NxValueError, lambda: optim.join_schedules([abs, abs], [3, 4])) == (
        "join_schedules: 2 schedules have 1 boundaries, got 2"
    )
    assert refusal(NxTypeError, lambda: optim.scale_by_schedule(0.1)) == (
        "scale_by_schedule takes a function of the number of updates, got 0.1.\n  optim.scale(factor) takes a number."
    )
