"""Every so many-th element of an axis between places that only the running program knows, compared with NumPy's."""

import numpy as np
import pytest

import nxkernel as nx
from numpy_comparison.source_text import assert_same, function_of
from nxkernel.compilers.numba_cpu.compiler import NumbaCpu
from nxkernel.errors import NxTypeError
from nxkernel.numpy.arrays.subscripts import StridedAxis

X, M = np.linspace(-3, 5, 37), np.arange(11.0 * 13).reshape(11, 13)


def thirds(x, n):
    for i in range(n):
        x[i::3] = i
        x[:i:2] *= 2
        x[i : 2 * i + 1 : 2] += 1
    return np.copy(x)


def bounded(x, s):
    for k in range(len(s)):
        i, j, step = s[k, 0], s[k, 1], s[k, 2]
        x[i:j:step] = k
        x[j:i:-step] += 1
        x[i::step] -= 1
        x[:j:step] *= 2
    return np.copy(x)


def views(x, n):
    for i in range(1, n):
        x[i::2] = x[i - 1 : -1 : 2] + 1
        y = x[i::3]
        y[:] = 3
        y += i
        y[0] = 7
        y[-1] = 9
        y[i] = y[i - 1] + 1
        x[::-i] -= 0.5
    return np.copy(x)


def planes(m, n):
    for i in range(n):
        m[i::2, :] = i
        m[:, i::3] += 1
        m[i, i::2] = m[i, i::2] * 2
        m[i::2] = m[0]
        m[1:, i::2] = m[:-1, i::2]
        m[:, i::2] = m[:, :1] + 1
    return np.copy(m)


def red_and_black(u, n):
    for turn in range(n):
        for i in range(1, u.shape[0] - 1):
            s = 1 + (i + turn) % 2
            u[i, s:-1:2] = 0.25 * (u[i - 1, s:-1:2] + u[i + 1, s:-1:2] + u[i, s - 1 : -2 : 2] + u[i, s + 1 :: 2])
    return np.copy(u)


def computed(x, v, n):
    for i in range(n):
        x[i::2] = v[i::2]
        x[i::2] = np.where(v[i::2] > 0.5, x[i::2], v[i::2])
        x[i::4] = np.sqrt(np.abs(x[i::4])) + v[i::4].astype(np.float32)
        whole, rest = np.divmod(x[i::4], 2)
        x[i::4] = whole - rest
        kept = x[i::4].copy()
        kept *= 2
        x[i::4] = 0
        x[i::4] = kept
    return np.copy(x)


def values(x, v, i, k):
    x[i::2] = v[: (len(x) - i + 1) // 2]
    x[i::k] += v[0]
    x[::-k] = v[0:1]
    return np.copy(x)


def sieve(n):
    is_prime = np.ones(n + 1, dtype=bool)
    is_prime[:2] = False
    for i in range(2, int(n**0.5) + 1):
        if is_prime[i]:
            is_prime[i * i :: i] = False
    return is_prime


def reductions(x, n):
    total = np.float64(0)
    for i in range(1, n):
        total += x[i::i].sum() + x[i::2].max() + x[::-i][0] + (x[i::3] * 2).mean() + x[:i:2].sum()
    return total


def agree(function, *arguments):
    ours, theirs = ([np.array(a) if np.ndim(a) else a for a in arguments] for _ in range(2))
    found, wanted = nx.defn(function)(*ours), function(*theirs)
    assert np.asarray(found).dtype == np.asarray(wanted).dtype
    for one, other in zip([found, *ours], [wanted, *theirs], strict=True):
        np.testing.assert_allclose(np.asarray(one), other, rtol=2e-6 if np.asarray(other).dtype == "f4" else 1e-12)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (thirds, (X, 9)),
        (thirds, ((X * 9).astype("i4"), 9)),
        (thirds, (X + 1j, 9)),
        (views, (X, 8)),
        (planes, (M, 9)),
        (red_and_black, (M * 0.1, 3)),
        (computed, (X, X[::-1], 7)),
        (computed, (X.astype("f4"), X[::-1].astype("f4"), 7)),
        (values, (X, X * 2, np.int64(3), np.int64(4))),
        (sieve, (1000,)),
        (reductions, (X, 9)),
    ],
)
def test_as_numpy_does(function, arguments):
    agree(function, *arguments)


@pytest.mark.parametrize("seed", range(4))
def test_random_bounds(seed):
    rng = np.random.default_rng(seed)
    slices = rng.integers(-45, 45, (12, 3))
    slices[:, 2] = np.where(slices[:, 2] == 0, 1, slices[:, 2] // 6 + (slices[:, 2] >= 0))
    slices[slices[:, 2] == 0, 2] = 3
    agree(bounded, X, slices)


def assigned(x, n):
    for i in range(1, n):
        x[i::i] = x[i::i] * 2 + x[i - 1 : -1 : i]


def test_graphs_do_not_grow_with_the_data(monkeypatch):
    graphs, compile_ = [], NumbaCpu.compile
    monkeypatch.setattr(NumbaCpu, "compile", lambda self, graph: graphs.append(graph) or compile_(self, graph))
    for size in (50, 5000):
        x = np.ones(size)
        nx.defn(assigned)(x, 9)
        assert np.sum(x != 1) > size / 2
    assert len({str(graph).count("\n") for graph in graphs}) == 1


def test_slices_with_steps_along_two_axes_are_refused():
    def both(m, i):
        m[i::2, i::3] = np.float64(0)

    with pytest.raises(NxTypeError, match="slices with traced bounds and steps along several axes"):
        nx.defn(both)(M.copy(), np.int64(5))


def test_a_slice_knows_which_elements_it_misses():
    assert StridedAxis(3, 2, 9).misses(StridedAxis(4, 2, 9))
    assert StridedAxis(3, 4, 9).misses(StridedAxis(4, 6, 9))
    assert not StridedAxis(3, 4, 9).misses(StridedAxis(5, 6, 9))
    assert not StridedAxis(3, 2, 9).misses(StridedAxis(3, 2, 9))


def test_the_mask_and_the_order_of_a_slice():
    def of(spread):
        def function(first):
            found = StridedAxis(first, spread.step, spread.count)
            return found.mask(8), found.order(8, 3)

        return [one.to_list() for one in nx.jit(function, compiler="evaluator", promotion="nx")(spread.first)]

    assert of(StridedAxis(1, 3, 2)) == [[0, 1, 0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 1, 1, 1, 2]]
    assert of(StridedAxis(6, -3, 2)) == [[0, 0, 0, 1, 0, 0, 1, 0], [2, 1, 1, 1, 0, 0, 0, 0]]
    assert of(StridedAxis(6, 3, 0))[0] == [0] * 8


PICKED = {
    "the first": "return v[v > 2][0]",
    "the last": "return v[v > 2][-1]",
    "all": "return v[v > 2].sum(), v[v < 99].max()",
}


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("step", [1, 2, -1, -2])
@pytest.mark.parametrize("shape", [(9,), (9, 1), (5, 3)])
@pytest.mark.parametrize("name", PICKED)
def test_masks_pick_elements_of_a_slice_in_its_order(name, shape, step):
    function = function_of(f"v = a[m::{step}]\n{PICKED[name]}", "a, m")
    for first in (1, 4):
        a = np.arange(float(np.prod(shape))).reshape(shape)
        if np.any(a[first::step] > 2):
            assert_same(nx.defn(function, promotion="numpy")(a, np.int64(first)), function(a, np.int64(first)))
