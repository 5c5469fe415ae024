"""Which rule an index of -1 follows is told by the text of a definition, and by no assignment in it."""

import warnings

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NegativeIndexWarning

X = np.array([1.0, 2.0, 3.0, 4.0])


@nx.defn
def silent(x):
    s = x[0] * 0
    for i in range(4):
        s = s * 10 + x[i - 1]
    return s


@nx.defn
def silent_with_an_assignment(x):
    s = x[0] * 0
    z = x * 0
    for i in range(4):
        s = s * 10 + x[i - 1]
        z[i] = 1
    return s


@nx.defn
def silent_that_assigns(x):
    y = x * 0
    for i in range(4):
        y[i] = x[i - 1]
    return y


@nx.defn
def naming(x):
    s = nx.sum(x) * 0
    for i in range(4):
        s = s * 10 + x[i - 1]
    return s


@nx.defn
def naming_with_an_assignment(x):
    s = nx.sum(x) * 0
    z = x * 0
    for i in range(4):
        s = s * 10 + x[i - 1]
        z[i] = 1
    return s


@nx.defn
def naming_that_assigns_into_it(x):
    s = nx.sum(x) * 0
    y = x * 1.0
    y[3] = 4.0
    for i in range(4):
        s = s * 10 + y[i - 1]
    return s


@pytest.mark.parametrize("given", [X, nx.tensor(X)], ids=["array", "tensor"])
def test_silent_definitions_count_from_the_end(given):
    for function in (silent, silent_with_an_assignment):
        assert float(np.asarray(function(given))) == 4123.0
        assert float(np.asarray(nx.vmap(function)(np.stack([X, X]))).tolist()[1]) == 4123.0
    assert np.asarray(silent_that_assigns(given)).tolist() == [4.0, 1.0, 2.0, 3.0]


@pytest.mark.parametrize("function", [naming, naming_with_an_assignment, naming_that_assigns_into_it])
def test_definitions_that_name_nxkernel_clamp_and_tell(function):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        for given in (X, nx.tensor(X, type="f32")):
            assert function(given).to_number() == 1123.0
    assert [str(one.message) for one in told] == [
        f"{function.__name__}: an index is below 0 in some turns of this loop, and takes the first element then: where "
        "a definition names nxkernel, an index that only the running program knows is clamped to its axis.\n"
        "  nx.max(i - 1, 0) says so, and (i - 1) % n counts from the end of an axis of n."
    ]
    assert (told[0].category, told[0].filename) == (NegativeIndexWarning, __file__)
    code = function.__nx_function__.__code__
    assert told[0].lineno - code.co_firstlineno in (4, 5, 6)


@nx.defn
def twice_in_a_line(x):
    s = nx.sum(x) * np.float32(0)
    for i in range(4):
        s = s + x[i - 1] + np.abs(x[i - 2])
    return s


@nx.defn
def slicing(x):
    s = nx.sum(x) * 0
    for i in range(4):
        s = s * 10 + nx.sum(x[i - 1 : i + 1])
    return s


@nx.defn
def by_while(x):
    s, i = nx.sum(x) * 0, 0
    while i < 4:
        i_before = i - 1
        s = s * 10 + x[i_before]
        i += 1
    return s


@nx.defn
def beside_the_counter(x):
    s, k = nx.sum(x) * 0, 0
    for _ in range(2):
        k += 2
        s = s * 10 + x[k - 3]
    return s


@pytest.mark.parametrize(
    ("function", "result"),
    [(twice_in_a_line, 12.0), (slicing, 3357.0), (by_while, 1123.0), (beside_the_counter, 12.0)],
)
def test_a_line_is_told_of_once_in_a_trace(function, result):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in range(2):
            assert function(X).to_number() == result
    assert [one.category for one in told] == [NegativeIndexWarning]
    line = 5 if function in (by_while, beside_the_counter) else 4
    assert told[0].lineno - function.__nx_function__.__code__.co_firstlineno == line


def test_what_was_forgotten_is_told_again():
    @nx.defn
    def f(x):
        s = nx.sum(x) * 0
        for i in range(4):
            s = s * 10 + x[i - 1]
        return s

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        for given in (X, X.astype("f4"), X):
            f(given)
        assert len(told) == 1
        f.clear_cache()
        f(X)
        assert len(told) == 2


def test_what_is_not_known_is_not_told():
    @nx.defn
    def taken(x, i):
        return nx.abs(x[i - 1])

    @nx.defn
    def guarded(x):
        s = nx.sum(x) * 0
        for i in range(4):
            if i > 0:
                s += x[i - 1]
        return s

    @nx.defn
    def guarded_in_a_condition(x):
        s, i = nx.sum(x) * 0, 0
        while i < 4:
            if i > 0 and x[i - 1] > 0:
                s += x[i - 1]
            if i == 0 or x[i - 1] > 0:
                s += 0
            i += 1
        return s

    @nx.defn
    def searched(x, value):
        low, high = 0, 4
        while low < high:
            middle = (low + high) // 2
            if x[middle] < value:
                low = middle + 1
            else:
                high = middle
        return nx.abs(low)

    @nx.defn
    def inserted(x):
        y = nx.abs(x)
        for i in range(1, 4):
            j, key = i - 1, y[i]
            while j >= 0 and y[j] > key:
                y[j + 1] = y[j]
                j -= 1
            y[j + 1] = key
        return y

    @nx.defn
    def within(x):
        s = nx.sum(x) * 0
        for i in range(1, 4):
            s += x[i - 1] + x[3 - i]
        return s

    assert taken(X, np.int64(0)).to_number() == 1.0
    assert guarded(X).to_number() == guarded_in_a_condition(X).to_number() == 6.0
    assert searched(X, 2.5).to_number() == 2
    assert inserted(X[::-1].copy()).to_list() == X.tolist()
    assert within(X).to_number() == 12.0


def test_a_silent_definition_in_one_that_names_nxkernel():
    @nx.defn
    def last(x, i):
        return x[i]

    @nx.defn
    def around(x, i):
        return nx.abs(last(x, i)) * 10 + x[i]

    assert around(X, np.int64(-1)).to_number() == 41.0


def test_elements_of_rows_are_put_from_the_end():
    @nx.defn
    def shifted(x, i):
        y = x
        return y[i, 0], y[..., i], y[i]

    found = [part.tolist() for part in shifted(X.reshape(2, 2), np.int64(-1))]
    assert found == [3.0, [2.0, 4.0], [3.0, 4.0]]
