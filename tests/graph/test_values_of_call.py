"""Numbers of the running program that a trace is told, for the call that it is for."""

import math

import numpy as np
import pytest

import nxkernel as nx
from nxkernel import types
from nxkernel.backends.graph_evaluation import evaluated
from nxkernel.definitions.observe.events import stream
from nxkernel.definitions.outputs.value_checks import ValuesChangedError
from nxkernel.errors import NxTypeError
from nxkernel.graph.expr import parameter
from nxkernel.graph.values_of_call import ValuesOfCall
from nxkernel.primitives import Spec

A, B = np.array([3.0, 1, 2, 1, 5]), np.array([3.0, 3, 3, 1, 5])


def compiled(function):
    """How many programs a definition has compiled."""
    return function.cache_info().misses


def test_sizes_that_values_decide():
    @nx.defn
    def values(x):
        return np.unique(x, return_index=True, return_inverse=True, return_counts=True)

    for x in (A, B, A):
        for ours, theirs in zip(values(x), np.unique(x, True, True, True), strict=True):
            np.testing.assert_array_equal(ours, theirs)
    # The program for the first size is there when that comes again.
    assert compiled(values) == 2


def test_branches_of_two_shapes_and_python_objects():
    @nx.jit
    def function(x):
        counts = {}
        for number in x.astype(int):
            counts[int(number)] = counts.get(int(number), 0) + 1
        return (x[1:] if x[0] > 2 else x), np.array(list(counts.values()))

    for x in (A, A - 3):
        rest, counts = function(x)
        np.testing.assert_array_equal(rest, x[1:] if x[0] > 2 else x)
        assert counts.tolist() == [1, 2, 1, 1]


def test_nothing_is_seen_of_a_program_for_other_numbers(capsys):
    @nx.defn
    def function(x):
        kinds = np.unique(x).size
        x[0] = kinds
        print("sum", x.sum())
        if x.sum() < 0:
            raise ValueError(f"negative: {x.sum():g}")
        return np.arange(kinds)

    for x, size in ((A, 4), (B, 3)):
        given = x.copy()
        assert function(given).tolist() == list(range(size))
        assert given.tolist() == [size, *x[1:]]
    assert capsys.readouterr().out == "sum 13.0\nsum 15.0\n"
    given = np.array([-9.0, -8, -8, -8, -8])
    with pytest.raises(ValueError, match=r"^negative: -30$"):
        function(given)
    assert given.tolist() == [-9, -8, -8, -8, -8]


def test_parts_are_views_and_keep_where_they_begin():
    @nx.defn
    def function(x):
        first, last = int(x[0]), int(x[4])
        part = x[first:last]
        part[:] = np.sort(part)
        return np.concatenate([part, part])

    for x in ([1.0, 9, 7, 2, 3], [2.0, 9, 7, 2, 4], [1.0, 9, 7, 2, 2]):
        given, expected = np.array(x), np.array(x)
        assert function(given).tolist() == function.__nx_function__(expected).tolist()
        np.testing.assert_array_equal(given, expected)


def test_the_reason_and_the_advice_name_the_line():
    events = []

    @nx.defn
    def function(x):
        return np.sort(x[x > 1])

    end = stream.subscribe(events.append)
    for first in (0, 1, 2, 2.5):
        function(np.arange(4.0) + first)
    end()
    compilations = [event for event in events if event.kind == "miss"]
    assert [event.reason[0].partition(" (")[0] for event in compilations] == [
        "first call",
        "a number that the program computes: 2 → 3",
        "a number that the program computes: 3 → 4",
    ]
    assert "return np.sort(x[x > 1])" in compilations[1].reason[0]


def test_templates_tell_no_numbers():
    def function(x):
        return np.sort(x[x > 1])

    with pytest.raises(NxTypeError, match="only the running program knows"):
        nx.compile(function, [nx.template((5,), "f64")], promotion="numpy")


def test_numbers_of_python_become_part_of_the_key():
    @nx.defn
    def function(x, n):
        return np.unique(x)[:n]

    assert function(A, 2).tolist() == [1, 2]
    assert function(A, 3).tolist() == [1, 2, 3]


def test_loops_end_in_a_program_for_other_numbers():
    @nx.defn
    def function(x, target):
        kinds, place = np.unique(x), 0
        while kinds[place % kinds.size] != target:
            place = place + 1
        return place

    # The program for two kinds looks at two of four.
    for x, place in ((np.array([1.0, 2, 2, 1]), 1), (np.array([1.0, 2, 3, 4]), 3)):
        assert function(x, x.max()) == place


def test_what_is_said_before_a_number_is_asked_for_is_said_once(capsys):
    def function(x):
        print("sum", x.sum())
        return np.zeros(int(x[0])), len(x[x > 1])

    traced = nx.jit(function)
    for x in (A, B):
        traced(x)
        output = capsys.readouterr().out
        function(x)
        assert output == capsys.readouterr().out


def test_a_call_counts_once_and_its_error_tells_nothing_of_other_programs():
    @nx.jit
    def function(x):
        n = int(x[0])
        if x[1] > 5:
            raise ValueError("too large")
        return np.zeros(n)

    for _ in range(3):
        for n in (1, 2, 3):
            assert len(function(np.array([n, 0.0]))) == n
    info = function.cache_info()
    assert (info.hits, info.misses) == (6, 3)
    with pytest.raises(ValueError, match="too large") as caught:
        function(np.array([1.0, 9.0]))
    assert not isinstance(caught.value.__context__, ValuesChangedError)


def test_why_says_what_the_call_does():
    @nx.jit
    def function(x):
        return np.zeros(int(x[0])) + x[1]

    for n in (1, 2, 1, 2, 3):
        x, before = np.array([n, 5.0]), compiled(function)
        found = function.why(x)
        assert compiled(function) == before
        function(x)
        assert found.hit is (compiled(function) == before)
    told = function.why(np.array([4.0, 0.0])).difference
    assert len(told) == 1
    assert told[0].startswith("a number that the program computes: 3 → 4")


def test_parts_with_steps_are_no_copies_where_lengths_are_told():
    @nx.jit
    def function(a, k):
        part = a[:, k::2]
        part[0, :] = 7
        return a, np.zeros(int(a[1, 0]))

    a = np.arange(20.0).reshape(5, 4)
    with pytest.raises(NxTypeError, match="assigning to a part of it is not possible"):
        function(a, np.int64(1))


def test_what_is_no_value_of_the_call_has_no_answer():
    node = parameter(0, "x", Spec(types.s64, (), ()))
    values = ValuesOfCall({}.__getitem__, evaluated, ())
    assert values.answer(node) is None
    assert values.questions == []


def of_a_size(x):
    return np.zeros(int(x[0]))


def of_several(x):
    n = math.floor(x[0])
    return np.ones((n, 2)), [0.5] * math.ceil(x[1]), np.repeat(x, math.trunc(x[0]))


def rounded(x):
    return np.zeros(round(x[0])), round(x[1])


def of_numbers(x):
    return math.ceil(x[0]), math.floor(x[1]), math.trunc(x[0])


def key(x):
    return x * {1: 0.5, 2: 1.5, 3: 2.5}[int(x[0])]


def turns(x):
    s = 0.0
    for i in range(int(x[0])):
        s += i * x[1]
    return s


def turns_written_out(x):
    return [i * x[1] for i in range(int(x[0]))]


def checked_before(x):
    print("begin", x[0])
    for v in x:
        if v < 1:
            raise ValueError(f"{v} is below 1")
    found = np.zeros(int(x[0])), np.zeros(int(x[1]))
    print("end", x[0])
    return found


def asserted_before(x):
    s = 0.0
    for v in x:
        s += v
        if not s < 10:
            raise OverflowError(s)
    return np.zeros(int(x[0]))


@pytest.mark.parametrize("entered", [nx.defn, nx.jit], ids=["defn", "jit"])
@pytest.mark.parametrize(
    "program",
    [
        of_a_size, of_several, rounded, of_numbers, key, turns, turns_written_out, checked_before, asserted_before,
    ],
    ids=lambda program: program.__name__,
)  # fmt: skip
def test_an_error_that_is_raised_before_a_number_is_needed(program, entered, capsys):
    compiled = entered(program)
    for first, second in ((1, 2), (np.nan, 2), (np.inf, 2), (2, 3), (-np.inf, 3), (2, 3), (2, 0.5), (3, 1)):
        x, found = np.array([float(first), float(second)]), []
        for function in (program, compiled):
            try:
                result = function(x)
            except (ValueError, OverflowError) as error:
                result = type(error), str(error)
            found.append((result, capsys.readouterr().out))
        np.testing.assert_equal(*found)


def nearest(costs, weight):
    found = [row[None] @ weight @ row[:, None] for row in costs]
    found.append(2.5)
    return found.index(min(found))


def test_an_array_of_one_element_has_a_truth_value():
    program = nx.jit(nearest)
    for costs in ([[1.0, 2.0], [1.0, 0.0]], [[0.5, 0.0], [1.0, 1.0]], [[2.0, 2.0], [3.0, 1.0]]):
        assert program(np.array(costs), np.eye(2)) == nearest(np.array(costs), np.eye(2))


def test_an_array_of_one_element_is_no_index():
    with pytest.raises(TypeError):
        nx.jit(lambda x: range(int(x[:1])))(np.array([3]))
