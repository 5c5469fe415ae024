"""Sequences of lengths and items that only the running program knows."""

import itertools

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.flow.control.loop_iterables import (
    Counted,
    Range,
    counted,
    enumerated,
    product,
    range_,
    rows,
    zipped,
)
from nxkernel.errors import NxTypeError, NxValueError


@pytest.mark.parametrize("bounds", [(0, 5, 1), (2, 11, 3), (10, 0, -3), (5, 2, 1), (0, 5, -1), (-4, 4, 2)])
def test_lengths_and_items(bounds):
    @nx.jit
    def f(start, stop, step):
        traced = range_(start, stop, step)
        fixed = range_(start, stop, bounds[2])
        return traced.length, fixed.length, traced.item(1), fixed.item(1)

    length = len(range(*bounds))
    second = bounds[0] + bounds[2]
    assert [int(v) for v in f(*bounds)] == [length, length, second, second]


def test_static_bounds_give_pythons_range():
    assert range_(3) == range(3)
    assert range_(1, 7, 2) == range(1, 7, 2)
    assert (Range(0, 3).length, list(Range(1, 7, 2)), len(Range(3, 0, -1))) == (3, [1, 3, 5], 3)


def test_bounds_are_whole_numbers():
    with pytest.raises(NxTypeError, match="the bounds of a range are whole numbers, got f32"):
        nx.jit(lambda n: len(range_(n)))(1.5)
    with pytest.raises(NxValueError, match="the step of a range cannot be 0"):
        nx.jit(lambda n: range_(0, n, 0).length)(5)


def test_rows_enumerations_and_pairs():
    t = nx.tensor([[1, 2], [3, 4], [5, 6]])
    assert rows(t).length == 3
    assert [row.to_list() for row in rows(t)] == [[1, 2], [3, 4], [5, 6]]
    place, (row, number) = enumerated(zipped(t, range(10, 20)), 5).item(1)
    assert (place, row.to_list(), number) == (6, [3, 4], 11)
    assert zipped(t, range(2)).length == 2
    assert list(enumerated(["a", "b"], 1)) == [(1, "a"), (2, "b")]
    assert next(iter(zipped("ab", t[0:2, 0])))[0] == "a"


def test_what_is_written_out():
    assert counted([1, 2]) is None
    assert counted({"a": 1}.items()) is None
    assert isinstance(counted(nx.tensor([1, 2])), Counted)
    assert counted(range(3)) == range(3)


def test_scalars_have_no_rows():
    with pytest.raises(NxTypeError, match="a scalar"):
        counted(nx.jit(lambda x: counted(x))(1.0))


def test_zips_can_be_strict():
    with pytest.raises(ValueError, match="shorter"):
        list(zipped("ab", "a", strict=True))


def test_products_of_ranges_are_loops_of_the_program():
    def total(x, n):
        found = 0.0
        for k, (i, j) in enumerate(itertools.product(range(60), range(60))):
            found += x[k % 3] * i - j
        for i, v, j in itertools.product(range(1, 4), x, range(n)):
            found += i * v - j
        for i, j in itertools.product(range(2), repeat=2):
            found += i - 2 * j
        return found

    x = np.array([1.0, 2.0, 3.0])
    assert nx.defn(promotion="numpy")(total)(x, 3).item() == total(x, 3)
    assert list(product(range(2), range(3))) == list(itertools.product(range(2), range(3)))
    assert list(product("ab", range(2))) == [("a", 0), ("a", 1), ("b", 0), ("b", 1)]
    assert list(product()) == [()]
