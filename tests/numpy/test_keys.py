"""What stands between brackets: steps that only the running program knows."""

import itertools

import numpy as np
import pytest

from numpy_face import check


@pytest.mark.parametrize("step", [1, 2, 3, -1, -2, 11, -12])
def test_a_slice_with_a_traced_step_is_assigned_into(step):
    def assigned(np, x, bounds):
        for start, stop, step in bounds:
            row = np.arange(10.0)
            row[start:stop:step] = 7.0
            x[step % 3] += row
        return x

    ends = list(itertools.product((-12, -3, 0, 9, 15), (-12, -4, 0, 3, 14)))
    check(assigned, np.zeros((3, 10)), np.array([(start, stop, step) for start, stop in ends]))


@pytest.mark.parametrize(("start", "step"), [(1, 1), (0, 3), (9, -2), (9, -20)])
def test_a_slice_with_a_traced_step_is_reduced(start, step):
    def reduced(np, x, start, step):
        return np.sum(x[start::step]), np.max(x[::step]), np.mean(x[start::step])

    check(reduced, np.arange(10.0), start, step)
