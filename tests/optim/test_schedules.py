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
        "polynomial_schedule: steps is a whole number, got 2.5"
    )
    assert refusal(NxValueError, lambda: optim.join_schedules([abs, abs], [3, 4])) == (
        "join_schedules: 2 schedules have 1 boundaries, got 2"
    )
    assert refusal(NxTypeError, lambda: optim.scale_by_schedule(0.1)) == (
        "scale_by_schedule takes a function of the number of updates, got 0.1.\n  optim.scale(factor) takes a number."
    )
