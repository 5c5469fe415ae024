"""What stands between brackets: steps that only the running program knows."""

import itertools

import numpy as np
import pytest

import nxkernel as nx
from numpy_comparison.traced_functions import check


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


@pytest.mark.parametrize("step", [2, 3, 12])
def test_every_so_many_th_element_between_traced_places(step):
    def changed(np, x, bounds):
        sums = np.zeros(len(bounds))
        for k, (start, stop) in enumerate(bounds):
            x[start::step] += 1
            x[start:stop:step] *= 2
            sums[k] = x[:stop:step].sum() + x[start:8:step].sum()
        return x, sums

    ends = list(itertools.product((-12, -3, 0, 9, 15), (-12, -4, 3, 14)))
    check(changed, np.arange(10.0), np.array(ends))


def test_keys_made_beforehand():
    def parts(x):
        return x[np.s_[1:, 1]], x[np.s_[..., 0]], x[np.index_exp[0, 1:]], x[np.s_[::2]]

    m = np.arange(6.0).reshape(2, 3)
    for found, expected in zip(nx.defn(parts)(m), parts(m), strict=True):
        np.testing.assert_array_equal(np.asarray(found), expected)


def test_a_name_in_brackets_is_told_how_tables_are_passed():
    with pytest.raises(IndexError) as raised:
        nx.jit(lambda table: np.sum(table["x"]))(np.ones((2, 2)))
    assert str(raised.value).splitlines()[::2] == [
        "an index is a whole number, a slice, None, `...` or an array, got 'x'.",
        "  A table of pandas is one matrix in a definition: dict(table) passes its columns by their names.",
    ]
