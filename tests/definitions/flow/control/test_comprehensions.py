import numpy as np
import pytest

import nxkernel as nx

X = np.random.default_rng(0).normal(size=(60, 3))


def rows(x):
    return np.array([np.sin(row) * row[0] for row in x])


def pairs(x):
    return np.array([a @ b for a, b in zip(x, x[::-1], strict=True)])


def places(x):
    return np.array([place * row for place, row in enumerate(x)])


def total(x):
    return sum([row[0] for row in x])


def largest(x):
    return max([row[0] for row in x])


def nested(x):
    return np.stack([np.array([np.cos(row[k]) for k in range(3)]) for row in x[::-1]])


def masked(x):
    return np.array([row[row > 0].sum() for row in x])


def in_pairs(x):
    both = [(row, row + 1) for row in x]
    return both[3][0] + both[-1][1]


def appended(x):
    found = [1 * row for row in x]
    found.append(found[0])
    return np.array(found)


def filtered(x):
    return np.array([row for row in x if len(row) == 3])


def of_parts(x):
    return np.array([a * c - b for a, b, c in x])


@pytest.mark.parametrize("length", [3, 60])
@pytest.mark.parametrize(
    "function",
    [rows, pairs, places, total, largest, nested, masked, in_pairs, appended, filtered, of_parts],
)
def test_values(function, length):
    x = X[:length] if length == 60 else np.concatenate([X[:length], X[:1]])
    found, expected = nx.defn(function)(x), function(x)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert found.dtype == expected.dtype


@pytest.mark.parametrize("function", [rows, pairs, places, total, nested, masked, of_parts])
def test_many_rows_are_a_loop_of_the_program(function):
    program = nx.defn(function)
    program(X)
    assert "while" in str(program.compilations()[-1].text)
    assert not any("written out 60 times" in note for note in nx.events()[-1].notes)


def test_few_rows_and_ranges_are_written_out():
    program = nx.defn(lambda x: np.array([x[0] * k for k in range(40)]))
    np.testing.assert_allclose(program(X), np.array([X[0] * k for k in range(40)]))
    assert "while" not in str(program.compilations()[-1].text)
    program = nx.defn(rows)
    program(X[:3])
    assert "while" not in str(program.compilations()[-1].text)


def test_the_gradient():
    def loss(x):
        return np.sum(np.array([np.sum(np.sin(row)) for row in x]))

    np.testing.assert_allclose(nx.grad(loss)(X), np.cos(X))


def test_parts_that_do_not_fit():
    with pytest.raises(ValueError, match=r"too many values to unpack \(expected 2\)"):
        nx.defn(lambda x: np.array([a + b for a, b in x]))(X)
    with pytest.raises(ValueError, match=r"not enough values to unpack \(expected 4, got 3\)"):
        nx.defn(lambda x: np.array([a + b + c + d for a, b, c, d in x]))(X)


def test_names_of_the_comprehension_are_its_own():
    def program(row, x):
        found = [row * 2 for row in x]
        return row + found[0]

    np.testing.assert_array_equal(nx.defn(program)(X[1], X), X[1] + 2 * X[0])
