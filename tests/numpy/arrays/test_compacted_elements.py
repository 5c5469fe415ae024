"""What masks pick, as the beginning of an axis: indices, lengths, further masks, and loops over it, as in NumPy."""

import numpy as np
import pytest

import nxkernel as nx
from numpy_comparison.source_text import assert_same, function_of
from numpy_comparison.traced_functions import check

A = np.arange(-6.0, 6.0).reshape(3, 4)
V = np.array([3.0, -1.0, 4.0, -1.5, 5.0, -9.0, 2.0])

ROWS = {
    "nonzero": lambda np, a: [places.sum() for places in np.nonzero(a)],
    "where": lambda np, a: [(places * 2).max() for places in np.where(a > 1)],
    "flatnonzero": lambda np, a: np.flatnonzero(a > 0).sum(),
    "argwhere": lambda np, a: (np.argwhere(a > 0).sum(axis=0), np.argwhere(a > 0)[1]),
    "elements": lambda np, a: (a[a > 0][0], a[a > 0][-1], a[a > 0][1:3].sum()),
    "indices": lambda np, a: a.ravel()[np.where(a.ravel() > 0)[0]].prod(),
    "two masks": lambda np, a: (a[a > 0] * a[a < -1]).sum(),
    "a mask of what a mask picks": lambda np, a: a[a > -3][a[a > -3] > 2].sum(),
    "a mask of a part": lambda np, a: (lambda b: b[b > 2].sum())(a[a > -3][1:]),
    "the other axis": lambda np, a: a[a[:, 0] < 0].sum(axis=1).max(),
    "kept axis": lambda np, a: a[a[:, 0] < 0].sum(axis=0, keepdims=True),
    "none": lambda np, a: (a[a > 100].sum(), np.where(a > 100)[0].size + 0),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_parts_of_what_masks_pick(row):
    check(row, A)


def _places(np, v):
    v[np.where(v > 3)] = 7


def _pairs(np, v):
    rows, columns = np.nonzero(v.reshape(1, -1) > 2)
    v.reshape(1, -1)[rows, columns] += columns


def _others(np, v):
    v[v < 0] = v[v > 2.5][:3]


def _in_a_part(np, v):
    part = v[np.argmax(v) :]
    part[part < 0] = 100


@pytest.mark.parametrize("change", [_places, _pairs, _others, _in_a_part], ids=lambda change: change.__name__)
def test_assignments(change):
    def f(np, v):
        change(np, v)
        return v

    check(f, V)


def _like_numpy(function, *inputs):
    expected = function(*[np.array(value) for value in inputs])
    found = nx.defn(function, promotion="numpy")(*[np.array(value) for value in inputs])
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(np.asarray(one), other)


def test_loops_over_indices():
    def f(v):
        total, count = 0.0, 0
        for place in np.flatnonzero(v > 0):
            total += v[place] * place
        for place, (row, column) in enumerate(zip(*np.nonzero(v.reshape(1, -1) < 0), strict=True)):
            count += place * column + row
        return total, count, len(np.where(v > 0)[0])

    _like_numpy(f, V)


def test_arrays_that_shrink_in_a_loop():
    def f(v):
        place = np.arange(v.size)
        last = np.zeros(v.size, dtype=np.int64)
        x = v * 1.0
        for turn in range(20):
            if not len(x):
                break
            np.subtract(x, 1, out=x)
            done = x < 0
            last[place[done]] = turn
            np.logical_not(done, done)
            x, place = x[done], place[done]
        return last, turn

    _like_numpy(f, V)


def test_a_choice_between_a_part_and_the_whole():
    def f(v):
        x = v + 0
        if v[0] > 2:
            x = x[x > 0]
        return x.sum(), x.max(), len(x)

    _like_numpy(f, V)
    _like_numpy(f, V - 10)


def test_the_shape_of_an_array_is_assigned():
    def f(v):
        x = np.zeros((2, 3))
        y = x
        x.shape = 3, -1
        x[2] = v[0]
        return x, y.T

    _like_numpy(f, V)


def test_ranges_as_indices():
    check(lambda np, a: a[range(2), range(1, 3)], A)


def test_sizes_that_loops_bound():
    def f(a):
        total = 0.0
        for k in range(a.shape[0]):
            first = np.zeros(a.shape[0] - k)
            first[0] = 2
            rows, columns = np.mgrid[max(k - 1, 0) : k + 1, 0 : k + 1]
            total += a[k:, k] @ first + (rows * a[0, k] + columns).sum() + np.ones((k + 1, 2)).sum()
        return total, a

    definition = nx.defn(f)
    for size in (4, 6):
        a = np.arange(1.0 * size * size).reshape(size, size)
        np.testing.assert_allclose(float(definition(a)[0]), f(a)[0])
        assert "while" in repr(nx.debug_expr(definition)(a))


PICKED_THEN_CHANGED = """
p = a[a > 3]; a[...] = 0; return p.sum()
p = a[a > 3]; a[a > 3] = 0; return p.sum()
p = a[a > 3].copy(); a[...] = 0; return p.sum()
m = a > 3; p = a[m]; a[m] -= 1; return p.mean(), a
p = a[a > 3]; a += 1; return p.max()
p = a[a > 3]; p += 100; return a, p.sum()
m = a > 3; p = a[m]; m[...] = False; return p.sum()
b = a * 2; p = b[b > 3]; b[0] = 1000; return p.sum()
p = np.extract(a > 3, a); a[...] = 0; return p.sum()
p = np.compress(a > 3, a); a[...] = 0; return p.sum()
p = a.compress(a > 3); a[1:] = 5; return p.sum()
p = a[np.nonzero(a > 3)]; a[...] = 0; return p.sum()
p = a[1:][a[1:] > 3]; a[...] = 0; return p.sum()
p = a[i:][a[i:] > 3]; a[...] = 0; return p.sum()
p = a[a > 3]; a.sort(); return p.min()
p = a[a > 3]; a[2] = 50; q = a[a > 3]; return q.sum() - p.sum()
p = a[a > 3]; q = p[1:]; p += 100; return q.sum()
p = a[a > 3]; q = p[1:]; q *= 10; return p.sum(), a
p = a[a > 3]; q = p[::-1]; q[0] = 1000; p[2:4] = 0; return p.sum(), q.max()
p = a[a > 3]; p[0] = 77; p[-1] += 5; p[i] = 2; return p.sum(), p.max()
p = a[a > 3]; q = p.T; q[:2] = 0; return p.sum()
p = a.reshape(1, -1) * np.ones((3, 1)); q = p[:, a > 3]; q[1] = 0; q[:, 0] *= 3; return q.sum(axis=1), p
p = a[a > 3][1:]; p[...] = 0; return a.sum() + p.sum()
p = a[a > 3]; return [p[k] * 2 for k in range(3)]
"""

LOOPS = {
    "all of it": "p = a[a > 3]\nfor k in range(3): p += k\nreturn p.sum(), a",
    "its elements": "p = a[a > 3]\nfor k in range(2): p[k] = 10 * k + p[k + 1]\nreturn p.sum(), a",
    "in a choice": "p = a[a > 3]\nif a[i] < 2: p[1:] = 5\nreturn p.sum(), a",
    "the source": "t = 0\nfor k in range(3):\n    p = a[a > 3]\n    a[k] = 0\n    t += p.sum()\nreturn t, a",
    "over it": "t = 0\nfor k, v in enumerate(a[a > 3]): t += k * v\nreturn t",
}


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("text", [*PICKED_THEN_CHANGED.strip().splitlines(), *LOOPS.values()])
@pytest.mark.parametrize("compiler", ["numba_cpu", "evaluator"])
def test_what_a_mask_picks_is_a_copy_of_that_moment(text, compiler):
    f = function_of(text, "a, i")
    for values in ([5.0, 1, 9, 2, 7, 3, 8], [9.0, 8, 7, 6, 5, 4, 3]):
        ours, theirs = np.array(values), np.array(values)
        found = nx.defn(f, promotion="numpy", compiler=compiler)(ours, np.int64(1))
        assert_same(found, f(theirs, 1))
        np.testing.assert_array_equal(ours, theirs)


def test_what_a_mask_picks_of_one_number():
    f = function_of("t = u[u > 1]\nt += 1\nreturn t.sum(), u", "u")
    for number in (5.0, 0.0):
        assert_same(nx.defn(f, promotion="numpy")(np.array(number)), f(np.array(number)))
