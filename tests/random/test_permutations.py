"""Shuffling and choosing: the orders of Nx and JAX, fairness, and what is refused."""

import numpy as np
import pytest
import scipy.stats

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError
from nxkernel.random.permutations import _reached, _rounds

KEY = nx.random.key(42)


def test_the_order_of_jax():
    """What jax.random.permutation gives with jax_threefry_partitionable=False for this key, of JAX 0.10."""
    shuffled, following = nx.random.shuffle(KEY, nx.iota(10))
    assert shuffled.to_list() == [9, 0, 2, 6, 1, 4, 5, 8, 3, 7]
    assert following.to_list() == nx.random.split(KEY)[0].to_list()
    # So many elements are sorted twice.
    shuffled, following = nx.random.shuffle(KEY, nx.iota(2000))
    assert shuffled[0:6].to_list() == [792, 1143, 656, 587, 987, 1731]
    assert following.to_list() == nx.random.split(nx.random.split(KEY)[0])[0].to_list()
    assert sorted(shuffled.to_list()) == list(range(2000))


def test_rounds():
    assert [_rounds(size) for size in (0, 1, 2, 1625, 1626, 2_642_245, 2_642_246)] == [0, 0, 1, 1, 2, 2, 3]


@pytest.mark.parametrize("axis", [0, 1, -1, "column"])
def test_shuffle_moves_whole_parts(axis):
    tensor = nx.iota((4, 6), names=["row", "column"])
    shuffled, _ = nx.random.shuffle(KEY, tensor, axis=axis)
    assert shuffled.names == tensor.names
    order, _ = nx.random.shuffle(KEY, nx.iota(4 if axis == 0 else 6))
    expected = np.take(tensor.to_numpy(), order.to_numpy(), axis=0 if axis == 0 else 1)
    np.testing.assert_array_equal(shuffled.to_numpy(), expected)


def test_independent_lines_have_orders_of_their_own():
    tensor = nx.iota((20, 30), axis=1)
    shuffled, _ = nx.random.shuffle(nx.random.key(10), tensor, axis=1, independent=True)
    rows = shuffled.to_numpy()
    np.testing.assert_array_equal(np.sort(rows, axis=1), tensor.to_numpy())
    assert len({tuple(row) for row in rows}) == 20


def test_independent_shuffle_of_nx():
    shuffled, _ = nx.random.shuffle(nx.random.key(10), nx.iota((3, 4), axis=1), axis=1, independent=True)
    assert shuffled.to_list() == [[2, 1, 3, 0], [3, 0, 1, 2], [2, 3, 0, 1]]


def test_shuffle_of_one_element_keeps_the_key():
    shuffled, following = nx.random.shuffle(KEY, [5])
    assert shuffled.to_list() == [5]
    assert following.to_list() == KEY.to_list()


def test_shuffle_of_a_scalar():
    with pytest.raises(NxValueError, match=r"^shuffle needs an axis, got the scalar s64$"):
        nx.random.shuffle(KEY, 5)


def test_all_orders_are_equally_likely():
    keys = nx.random.split(nx.random.key(4), parts=600)
    orders = [tuple(nx.random.shuffle(keys[i], [0, 1, 2])[0].to_list()) for i in range(600)]
    counts = [orders.count(order) for order in set(orders)]
    assert len(counts) == 6
    assert scipy.stats.chisquare(counts).pvalue > 0.01


def test_choice_takes_parts_along_an_axis():
    tensor = nx.iota((3, 4), names=["row", "column"])
    taken, _ = nx.random.choice(KEY, tensor, samples=5, axis="column")
    assert (taken.shape, taken.names) == ((3, 5), ("row", "column"))
    places, _ = nx.random.randint(KEY, 0, 4, shape=(5,))
    np.testing.assert_array_equal(taken.to_numpy(), tensor.to_numpy()[:, places.to_numpy()])


def test_choice_by_likelihood():
    p = nx.tensor([1, 0, 5, 4, 0])
    taken, _ = nx.random.choice(KEY, nx.iota(5), p, samples=10_000)
    counts = np.bincount(taken.to_numpy(), minlength=5)
    assert counts[1] == counts[4] == 0
    assert scipy.stats.chisquare(counts[[0, 2, 3]], [1000, 5000, 4000]).pvalue > 0.01


def test_choice_without_replacement_by_likelihood():
    keys = nx.random.split(nx.random.key(6), parts=500)
    first = [nx.random.choice(keys[i], [0, 1, 2], [0.1, 0.3, 0.6], samples=2, replace=False)[0] for i in range(500)]
    assert all(a != b for a, b in (taken.to_list() for taken in first))
    counts = np.bincount([taken[0].to_number() for taken in first])
    assert scipy.stats.chisquare(counts, [50, 150, 300]).pvalue > 0.01


def test_choice_of_all_without_replacement_is_a_shuffle():
    taken, following = nx.random.choice(KEY, nx.iota((2, 3)), samples=6, replace=False)
    shuffled, expected = nx.random.shuffle(KEY, nx.iota(6))
    assert taken.to_list() == shuffled.to_list()
    assert following.to_list() == expected.to_list()


P = nx.f32([0.1, 0.2, 0.3, 0.15, 0.25])


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    "draw",
    [
        lambda key: nx.random.shuffle(key, nx.iota((5, 3))),
        lambda key: nx.random.shuffle(key, nx.iota(3000)),
        lambda key: nx.random.shuffle(key, nx.iota((20, 30)), axis=1, independent=True),
        lambda key: nx.random.choice(key, nx.iota((5, 3)), samples=9, axis=0),
        lambda key: nx.random.choice(key, nx.iota((5, 3)), samples=3, axis=0, replace=False),
        lambda key: nx.random.choice(key, nx.iota(5), P, samples=1000),
        lambda key: nx.random.choice(key, nx.iota(5), P, samples=4, replace=False),
    ],
)
def test_compiled_draws_are_those_of_the_evaluator(draw):
    expected, key = draw(KEY)
    found, following = nx.jit(draw)(KEY)
    np.testing.assert_array_equal(found.to_numpy(), expected.to_numpy())
    assert following.to_list() == key.to_list()


def test_keys_along_vectorized_axes():
    keys = nx.random.split(KEY, parts=3)
    shuffled, following = nx.random.shuffle(nx.vectorize(keys, "key"), nx.iota(6))
    alone = [nx.random.shuffle(keys[i], nx.iota(6)) for i in range(3)]
    assert nx.devectorize(shuffled).to_list() == [one.to_list() for one, _ in alone]
    assert nx.devectorize(following).to_list() == [key.to_list() for _, key in alone]


@pytest.mark.parametrize("size", [1, 2, 3, 8, 13])
def test_bisection(size):
    random = np.random.default_rng(size)
    totals = np.cumsum(random.integers(0, 4, size)).astype(np.float32)
    wanted = np.concatenate([totals, totals - 0.5, [0.25, totals[-1]]]).astype(np.float32)
    wanted = np.minimum(wanted, totals[-1])
    found = _reached(nx.tensor(totals), nx.tensor(wanted))
    np.testing.assert_array_equal(found.to_numpy(), np.searchsorted(totals, wanted))


def test_choice_refuses():
    cases = [
        ({"samples": 0}, "choice takes at least one sample, got samples=0"),
        (
            {"samples": 4, "replace": False},
            "choice cannot take 4 samples out of 3 without replacement.\n  Take fewer, or pass replace=True.",
        ),
        (
            {"p": [0.5, 0.5]},
            "choice: p is a vector with a likelihood for each of the 3 to choose from, got f32[2].\n"
            "  With axis=, parts along that axis are chosen; without it, elements.",
        ),
    ]
    for options, text in cases:
        with pytest.raises(NxValueError) as raised:
            nx.random.choice(KEY, [1, 2, 3], **options)
        assert str(raised.value) == text
    for p, shown in [([0.5, -1.0, 1.0], "-1"), ([0.5, 1.0, float("nan")], "nan")]:
        with pytest.raises(NxValueError, match=f"^choice: likelihoods are at least 0, got {shown} in p$"):
            nx.random.choice(KEY, [1, 2, 3], p)
    for options in ({}, {"replace": False}, {"p": nx.tensor(np.zeros(0))}):
        with pytest.raises(
            NxValueError, match=r"^choice has nothing to choose from: axis 0 of f64\[0\] has no elements$"
        ):
            nx.random.choice(KEY, np.zeros(0), **options)
    with pytest.raises(NxTypeError, match=r"^choice: likelihoods are real numbers, got p of c64$"):
        nx.random.choice(KEY, [1, 2], [1j, 1])


def test_what_has_no_likelihood_is_not_taken():
    found, key = nx.random.choice(KEY, [1, 2, 3], [0.0, 1.0, 0.0], samples=200)
    assert set(found.to_list()) == {2}
    assert nx.random.choice(key, [1, 2, 3], [0.0, 1.0, 0.0], samples=3, replace=False)[0].to_list()[0] == 2
    assert set(nx.random.choice(key, [1, 2, 3], [0.0, 0.0, 0.0], samples=9)[0].to_list()) == {1}
