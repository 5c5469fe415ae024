"""Batches: whole, shuffled by key and epoch, of containers."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel import training
from nxkernel.errors import NxTypeError, NxValueError

X, Y = np.arange(10), np.arange(10) * 10


def taken(data, epoch):
    return [x.tolist() for x, _ in data.epoch(epoch)]


def test_epochs_have_orders_of_their_own_that_only_the_key_decides():
    data, again = training.batches(X, Y, 3, key=1), training.batches(X, Y, 3, key=1)
    assert taken(data, 0) == taken(again, 0)
    assert taken(data, 0) != taken(data, 1)
    assert taken(data, 0) != taken(training.batches(X, Y, 3, key=2), 0)
    assert [taken(again, 0), taken(again, 1)] == [[x.tolist() for x, _ in data] for _ in range(2)]
    assert (len(data), repr(data)) == (3, "<3 batches of 3>")


def test_a_key_of_random_numbers_decides_too():
    first, second = (training.batches(X, Y, 5, key=nx.random.key(seed)) for seed in (1, 2))
    assert taken(first, 0) != taken(second, 0)


def test_inputs_and_targets_stay_together():
    for x, y in training.batches(X, Y, 4):
        np.testing.assert_array_equal(x * 10, y)


def test_each_epoch_has_each_example_at_most_once():
    data = training.batches(X, Y, 3)
    seen = [one for batch in taken(data, 0) for one in batch]
    assert len(set(seen)) == 9
    assert sorted(one for batch in taken(training.batches(X, Y, 3, drop_last=False), 0) for one in batch) == X.tolist()


def test_in_order_the_last_batch_is_smaller():
    data = training.batches(X, Y, 4, shuffle=False)
    assert taken(data, 0) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert taken(training.batches(X, Y, 4, shuffle=False, drop_last=True), 0) == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_containers_are_taken_apart_leaf_by_leaf():
    data = training.batches({"a": X, "b": (nx.tensor(Y),)}, [1.0] * 10, 5, shuffle=False)
    (x, y), _ = data
    assert (x["a"].tolist(), x["b"][0].tolist(), y.tolist()) == ([0, 1, 2, 3, 4], [0, 10, 20, 30, 40], [1.0] * 5)


@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (lambda: training.batches(X, Y[:9], 2), NxValueError, "batches: x has 10 examples, y has 9"),
        (lambda: training.batches(X, 1.0, 2), NxValueError, "batches: y is one number, and has no axis of examples"),
        (lambda: training.batches(X, None, 2), NxTypeError, "batches are made of arrays, y is None"),
        (lambda: training.batches(X, Y, 2, shuffle=1), NxTypeError, "batches: shuffle is True or False, got 1"),
        (
            lambda: training.batches(X, Y, 2, drop_last="no"), NxTypeError,
            "batches: drop_last is True or False, got 'no'",
        ),
        (lambda: training.batches(X, Y, 0), NxValueError, "batches: size is at least 1, got 0"),
        (
            lambda: training.batches(X, Y, 11), NxValueError,
            "batches of 11 cannot be made of 10 examples.\n  Give a smaller size, or drop_last=False.",
        ),
        (
            lambda: training.batches(X, Y, 2, key="a"), NxTypeError,
            "batches: key is a whole number or a key, got 'a'.\n  Such as nx.random.key(0).",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_taken_apart_is_refused(make, kind, text):
    with pytest.raises(kind) as caught:
        make()
    assert str(caught.value) == text
