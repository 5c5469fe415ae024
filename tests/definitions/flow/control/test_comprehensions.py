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


def test_few_rows_are_written_out():
    program = nx.defn(rows)
    program(X[:3])
    assert "while" not in str(program.compilations()[-1].text)


def squares(x):
    return sum(v * v for v in x[:, 0])


def squares_of_range(x):
    return sum(x[k, 0] * x[-k, 1] for k in range(len(x)))


def from_a_start(x):
    return sum((v * 2 for v in x[:, 0]), start=x[0, 1])


def where_positive(x):
    return sum(v for v in x[:, 0] if v > 0)


def of_every_third(x):
    return sum(x[k, 0] for k in range(len(x)) if k % 3 == 0 and x[k, 1] > 0)


def least(x):
    return min(v * w for v, w, _ in x)


def greatest(x):
    return max(abs(x[k, 0]) for k in range(len(x)))


def has_one_above(x):
    return any(v > 1.5 for v in x[:, 0])


def are_all_small(x):
    return all(abs(v) < 2.0 for v in x[:, 0] if v > 0)


def as_list(x):
    return np.array(list(row * 2 for row in x))  # noqa: C400


def as_tuple(x):
    return np.stack(tuple(row @ row for row in x))


def in_order(x):
    return np.array(sorted(row[0] * row[1] for row in x))


def sum_of_rows(x):
    return sum(row * 0.5 for row in x)


def of_sums(x):
    return sum(sum(v * w for v in x[:, 0]) for w in x[:, 1])


def columns(x):
    return np.array([[1.0, a, a * b] for a, b, _ in x])


def with_known_numbers(x):
    found = []
    for row in x:
        found.append((2, row[0], None))  # noqa: PERF401
    return np.array([number * value for number, value, _ in found])


def over_a_range(x):
    return np.array([x[k] * x[k - 1] for k in range(len(x))])


@pytest.mark.parametrize("length", [4, 60])
@pytest.mark.parametrize(
    "function",
    [
        squares, squares_of_range, from_a_start, where_positive, of_every_third, least, greatest, has_one_above,
        are_all_small, as_list, as_tuple, in_order, sum_of_rows, of_sums, columns, with_known_numbers, over_a_range,
    ],
)  # fmt: skip
def test_generators(function, length):
    program = nx.defn(function)
    found, expected = program(X[:length]), function(X[:length])
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert np.asarray(found).dtype == np.asarray(expected).dtype
    assert length < 60 or "while" in str(program.compilations()[-1].text)


def test_sums_are_in_pythons_order():
    x = np.array([1e16, 1.0, -1e16, 1.0] * 20)
    assert nx.defn(lambda x: sum(v * 1.0 for v in x))(x) == sum(v * 1.0 for v in x) != np.sum(x)


def test_what_follows_from_a_range_alone_stays_known():
    def program(x):
        width = sum(1 for k in range(100) if k % 7 == 0)
        sizes = [k // 10 for k in range(40)]
        assert type(width) is int
        assert sizes[-1] == 3
        return x[:width, 0] * len([k for k in range(50) if k > max(j % 5 for j in range(40))])

    np.testing.assert_array_equal(nx.defn(program)(X), program(X))


def test_items_behind_the_one_that_decides_are_not_asked():
    def checked(v):
        if v > 50:
            raise ValueError(f"{v} is too much")
        return v > 40

    x = np.arange(60.0)
    assert nx.defn(lambda x: any(checked(v) for v in x))(x)
    with pytest.raises(ValueError, match=r"51\.0 is too much"):
        nx.defn(lambda x: all(not checked(v) or v > 40 for v in x))(x)


def test_a_generator_gives_its_items_once():
    def program(x):
        items = (v * 2 for v in x[:, 0])
        first = next(items)
        return first, sum(items), sum(items)

    def again(x):
        items = (v * 2 for v in x[:, 0])
        return sum(items), sum(items), list(items)

    for each in (program, again):
        found, expected = nx.defn(each)(X), each(X)
        np.testing.assert_allclose(found[:2], expected[:2])
        assert found[2] == expected[2]


def test_a_sum_of_so_many_items_as_the_program_finds():
    def program(x, n):
        return sum(x[k, 0] for k in range(n))

    assert nx.defn(program)(X, np.int64(7)) == pytest.approx(program(X, 7))


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
