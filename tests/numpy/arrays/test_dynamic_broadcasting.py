"""Slices of traced length that are broadcast against each other: what NumPy gives for the same source text."""

import numpy as np
import pytest
from hypothesis import strategies as st

import nxkernel as nx
from lanes.fuzzing import repeat
from numpy_comparison.dynamic_slices import arrays, check
from numpy_comparison.source_text import assert_same, function_of
from nxkernel.errors import NxValueError

ROOTS = {
    "one element on the right": "return np.sum(a[i:j] * b[k:k + 1])",
    "one element on the left": "return np.sum(b[k:k + 1] * a[i:j])",
    "one element and a whole array": "return np.sum(b[k:k + 1] + a), np.sum(a - b[k:k + 1])",
    "one element of a slice from it": "a[i:j] -= a[i:i + 1]",
    "one element assigned": "a[i:j] = b[k:k + 1]",
    "one element computed and assigned": "a[i:j] = a[i:i + 1] * 2 + a[j - 1:j]",
    "one element of a slice": "w = a[i:j]\nw[1:] -= w[:1]",
    "the greatest": "return (a[i:j] + b[k:k + 1]).max(initial=-99)",
    "a choice": "return np.sum(np.where(a[i:j] > 2, a[i:j], b[k:k + 1]))",
    "three of them": "return np.sum(np.maximum(a[k:k + 1], a[i:j]) - b[i:j])",
    "a product": "return np.dot(a[i:j], b[i:j] - b[k:k + 1])",
    "indices of what was broadcast": "c = a[i:i + 1] + b[i:j]\nreturn c[0] + c[-1] + c.sum()",
    "a row and a column": "c = a[:, None] * b\nreturn np.sum(c[i:i + 1, k:] * c[i:j, k:k + 1])",
    "a block of one column": "c = a[:, None] * b\nc[i:j, k:k + 1] = 3.0\nc[i:j] += a\nreturn c",
    "the first that a mask picks": "return np.sum(a[a > 3][:1] * b[i:j])",
    "the first that a mask picks of a part": "return np.sum(a[i:j][a[i:j] > 3][:1] * b[i:j])",
    "what a mask picks, one": "return np.sum(a[a == 7] * b)",
    "backwards by twos, twice": "return np.sum(a[j:i:-2] * a[j + 0:i + 0:-2])",
    "backwards and forwards": "return np.sum(a[i:j:2] * a[j:i:-2])",
    "backwards beside one": "return np.sum(a[j:i:-2] + a[i:i + 1:2]), np.sum(a[i:i + 1:2] + a[j:i:-2])",
    "by twos beside one": "return np.sum(a[i:j:2] * b[k:k + 1])",
    "by twos from one": "a[i:j:2] += a[i:i + 1]\nb[i:j:2] *= b[i:i + 1:2]",
    "by twos becomes one": "a[i:j:2] = b[k:k + 1]",
    "a part of what goes backwards": "return np.sum(a[j:i:-2][1:2]), np.sum(a[j:i:-2][:1] + a[i:j])",
}


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("body", ROOTS.values(), ids=ROOTS)
def test_as_numpy_broadcasts(body):
    function = function_of(body if "return" in body else f"{body}\nreturn a, b", "a, b, i, j, k")
    definition = nx.defn(function, promotion="numpy")
    for numbers in ((2, 6, 3), (3, 5, 0), (1, 8, 5), (0, 4, 8)):
        mine, theirs, numbers = arrays(), arrays(), [np.int64(number) for number in numbers]
        try:
            wanted = function(*theirs, *numbers)
        except ValueError:
            # Other lengths than 1 differ.
            continue
        assert_same([definition(*mine, *numbers), *mine], [wanted, *theirs])


def products(a, b, i, j):
    return np.sum(a[i:j] * b[i:j])


def neighbours(a, b, i, j):
    total = 0.0
    for k in range(2, a.shape[0]):
        total += np.sum(a[1:k] - a[: k - 1])
    return total


def one_for_all(a, b, i, j):
    return np.sum(a[i:j] * b[j : j + 1])


@pytest.mark.parametrize(("function", "gathers"), [(products, 0), (neighbours, 1), (one_for_all, 2)])
def test_only_parts_that_may_be_broadcast_are_asked_how_long_they_are(function, gathers):
    definition = nx.defn(function, promotion="numpy")
    definition(*arrays(), np.int64(2), np.int64(6))
    program = max(definition._entry_group.programs(), key=lambda one: one.made)
    assert repr(program.executable.graph).count("= gather") == gathers


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("seeds", [range(first, first + 20) for first in (0, 20, 40)], ids=lambda seeds: seeds.start)
def test_some_random_programs(seeds):
    assert sum(map(check, seeds)) > 2


@pytest.mark.fuzz
def test_many_random_programs():
    def compare(data):
        check(data.draw(st.integers(0, 2**40)))

    assert repeat(compare)


LENGTHS = [
    "x[:k] + y", "x[:k] + y[:k + 1]", "x[:k] * y[1:]", "np.dot(x[:k], y)", "np.dot(y, x[:k])", "x[:k] @ np.outer(y, y)",
    "np.where(x[:k] > 1, x[:k], y[:k])", "np.concatenate([x[:k], y])", "x[:k] + y[:1]", "x[:k] - y[-k:]",
    "put(x, k, y)", "put(x, k, y[1:])", "put(x, k, x[:k] + y)", "put(x, k, y[:1])", "put(x, k, 7.0)",
    "put(x, k, x[1:k + 1])",
]  # fmt: skip


def put(x, k, values):
    x[:k] = values
    return x


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("text", LENGTHS)
def test_lengths_that_do_not_fit_are_an_error_of_the_run(text):
    function = eval(f"lambda x, y, k: {text}", {"np": np, "put": put})
    compiled = nx.jit(function, promotion="numpy")
    x, y = np.arange(6.0), np.arange(1.0, 5.0)
    refused = 0
    for k in (4, 3, 1, 5):
        try:
            expected = function(x.copy(), y, k)
        except ValueError:
            refused += 1
            with pytest.raises(NxValueError, match=r"parts of \d and \d elements do not fit|cannot broadcast"):
                compiled(x.copy(), y, k)
            continue
        np.testing.assert_allclose(compiled(x.copy(), y, k), expected)
    assert refused < 4


def test_the_error_tells_both_lengths_and_the_line():
    def sum_of_parts(x, y, k):
        return x[:k] + y

    with pytest.raises(NxValueError) as raised:
        nx.jit(sum_of_parts, promotion="numpy")(np.arange(6.0), np.arange(4.0), 3)
    line = sum_of_parts.__code__.co_firstlineno + 1
    assert str(raised.value) == (
        "parts of 3 and 4 elements do not fit together.\n"
        f"  test_dynamic_broadcasting.py, line {line}:  return x[:k] + y\n"
        "  They are as long as each other, or one has a single element."
    )
