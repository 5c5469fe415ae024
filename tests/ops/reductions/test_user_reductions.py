"""Functions of single elements, mapped and folded."""

import functools
import operator

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.vectorized_axes import check_entries
from nxkernel.errors import NxTypeError

X = np.arange(24).reshape(2, 3, 4)
NAMED = nx.tensor([[1, 2, 3], [4, 5, 6]], names=["row", "column"])


def digits(x, acc):
    return acc * 10 + x


def traced(function, *arrays):
    return nx.jit(function, compiler="evaluator")(*arrays)


# map -------------------------------------------------------------------------------------------------------------


def test_map_applies_a_function():
    found = nx.map(NAMED, lambda x: nx.select(x > 2, x * x, -x))
    assert (found.to_list(), found.names) == ([[-1, -2, 9], [16, 25, 36]], ("row", "column"))
    assert traced(lambda t: nx.map(t, lambda x: x + 1), NAMED).to_list() == [[2, 3, 4], [5, 6, 7]]
    assert nx.map(3, lambda x: x + 1).to_list() == 4


def test_map_gives_the_type_of_the_function_or_the_one_asked_for():
    assert nx.map([1, 2], lambda x: x / 2).to_list() == [0.5, 1.0]
    found = nx.map([1, 2], lambda x: x / 2, type="u8")
    assert (found.type, found.to_list()) == ("u8", [0, 1])


def test_map_of_a_constant_fills_the_shape():
    found = nx.map(NAMED, lambda x: 7)
    assert (found.to_list(), found.names) == ([[7] * 3] * 2, ("row", "column"))


def test_map_takes_what_the_function_captures():
    weight = nx.tensor(10)
    assert nx.map([1, 2], lambda x: x * weight).to_list() == [10, 20]


def test_map_shows_scalars_to_the_function():
    shapes = []
    nx.map(NAMED, lambda x: shapes.append((x.shape, x.type)) or x)
    assert shapes == [((), "s64")]
    # What sums, sorts or compares shapes sees one element, not all of them.
    assert nx.map([1, 2], lambda x: nx.sum(x) + x.size).to_list() == [2, 3]
    assert nx.map([1, 2], lambda x: nx.sum(nx.stack([x, x * x, x * 10]))).to_list() == [12, 26]


def test_map_within_map():
    table = nx.map([1, 2, 3], lambda x: nx.sum(nx.map([10, 20, 30], lambda y: x * y)))
    assert table.to_list() == [60, 120, 180]


def test_map_of_and_with_vectorized_tensors():
    rows = nx.vectorize(nx.tensor([[1, 2], [3, 4]], names=["r", "c"]), "row")
    found = nx.map(rows, lambda x: x + 1)
    assert (found.to_list(), found.vectorized_axes, found.names) == ([[2, 3], [4, 5]], (("row", 2),), ("c",))
    found = nx.map([10, 20, 30], lambda x: x + nx.vectorize([1, 2], "w"))
    assert (found.to_list(), found.vectorized_axes) == ([[11, 21, 31], [12, 22, 32]], (("w", 2),))
    assert traced(lambda t: nx.map(t, lambda x: x + nx.vectorize([1, 2], "w")), nx.tensor([10])).shape == (1,)


@pytest.mark.parametrize(("result", "got"), [(None, "None"), ([1, 2], "a list"), ("x", "'x'")])
def test_map_refuses(result, got):
    with pytest.raises(NxTypeError) as error:
        nx.map([1, 2], lambda x: result)
    assert str(error.value) == (
        f"the function <lambda> of map gives a scalar for an element, got {got}.\n"
        "  Numbers and tensors without axes are scalars."
    )


# reduce ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("axes", [None, [0], [-1], [2, 0], []])
def test_reduce_is_a_sum(axes, keep):
    expected = X.sum(axis=None if axes is None else tuple(axes), keepdims=keep)
    found = nx.reduce(X, 0, lambda x, acc: x + acc, axes=axes, keep_axes=keep)
    np.testing.assert_array_equal(found, expected)
    assert found.shape == expected.shape
    np.testing.assert_array_equal(traced(lambda t: nx.reduce(t, 0, nx.add, axes=axes, keep_axes=keep), X), expected)


def test_reduce_folds_in_c_order():
    assert nx.reduce(NAMED, 0, digits).to_list() == 123456
    assert nx.reduce(NAMED, 0, digits, axes=["column", "row"]).to_list() == 123456
    found = nx.reduce(NAMED, 0, digits, axes=["row"])
    assert (found.to_list(), found.names) == ([14, 25, 36], ("column",))


def test_reduce_starts_with_the_given():
    assert nx.reduce([2, 3], 100, digits).to_list() == 10023
    assert nx.reduce(nx.broadcast(1, (0,)), 5, digits).to_list() == 5
    assert nx.reduce(7, 1, digits).to_list() == 17


@pytest.mark.parametrize(
    ("given", "acc", "type_", "expected"),
    [
        ("u8", 0, None, "u8"), ("u8", 256, None, "u16"), ("u8", 0.5, None, "f32"), ("bool", 0, None, "s64"),
        ("f16", nx.tensor(0), None, "f16"), ("u8", nx.tensor(0), None, "s64"), ("u8", 0, "f64", "f64"),
        ("f32", nx.tensor(0, type="f64"), "f32", "f32"),
    ],
)  # fmt: skip
def test_types(given, acc, type_, expected):
    tensor = nx.tensor([1, 1], type=given)
    seen = []

    def function(x, acc):
        seen.extend([x.type, acc.type])
        return x + acc

    found = nx.reduce(tensor, acc, function, type=type_)
    assert (found.type, seen) == (expected, [expected, expected])


def test_what_the_function_gives_is_converted():
    assert nx.reduce([1, 2, 4], 0, lambda x, acc: acc + x / 2).to_list() == 3
    assert nx.reduce([1, 2, 4], 0.0, lambda x, acc: acc + x / 2).to_list() == 3.5
    assert nx.reduce([5, 3, 9], 0, lambda x, acc: nx.greater(x, acc)).to_list() == 1


def test_the_function_is_traced_once():
    calls = []

    def function(x, acc):
        calls.append((x.shape, acc.shape))
        return x + acc

    assert nx.reduce(X, 0, function).to_list() == X.sum()
    assert calls == [((), ())]


def test_scalars_from_outside():
    scale = nx.tensor(10)
    horner = lambda t, base: nx.reduce(t, 0, lambda x, acc: acc * base + x * scale / scale)  # noqa: E731
    assert horner(nx.tensor([1, 2, 3]), nx.tensor(2)).to_list() == 11
    assert traced(horner, nx.tensor([1, 2, 3]), nx.tensor(2)).to_list() == 11


def test_vectorized_scalars_from_outside():
    base = nx.vectorize([10, 2], "base")
    found = nx.reduce([1, 0, 1], 0, lambda x, acc: acc * base + x)
    assert (found.to_list(), found.vectorized_axes) == ([101, 5], (("base", 2),))
    found = traced(lambda t, b: nx.reduce(t, 0, lambda x, acc: acc * b + x), nx.tensor([1, 0, 1]), base)
    assert found.to_list() == [101, 5]
    found = nx.window_reduce([1, 0, 1], 0, (2,), lambda x, acc: acc * base + x)
    assert found.to_list() == [[10, 1], [2, 1]]


def test_a_definition_folds():
    @nx.defn
    def step(x, acc):
        return nx.max(x, acc)

    assert nx.reduce([3, 9, 4], 0, step).to_list() == 9


def test_methods():
    assert nx.tensor([1, 2]).reduce(0, operator.add).to_list() == 3
    assert nx.tensor([1, 2]).map(operator.neg).to_list() == [-1, -2]


def test_the_graph_shows_the_function(record):
    found = record(lambda t: nx.reduce(t, 0, digits), nx.template((3,), "s64"))
    lines = [" ".join(line.split()) for line in repr(found).splitlines()[4:-1]]
    assert lines == [
        "parameter a:0 s64[3]",
        'b = reduce a, 0, axes=[0], keep_axes=False, body={c = multiply b, 10; d = add c, a}, type="s64" s64',
    ]


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (
            lambda x, acc: None,
            "the function <lambda> of reduce gives a scalar for an element, got None.\n"
            "  Numbers and tensors without axes are scalars.",
        ),
        (
            lambda x, acc: nx.broadcast(x, (2,)),
            "the function <lambda> of reduce gives a scalar for an element, got a tensor of type s64[2].\n"
            "  Numbers and tensors without axes are scalars.",
        ),
        (
            lambda x, acc: acc + NAMED[0, 1] * x,
            "the function <lambda> of reduce uses a tensor from outside of type s64[row: 2][column: 3].\n"
            "  It works on one element at a time: take the scalar that it needs out of it before reduce.",
        ),
        (
            lambda x, acc: acc + nx.sum(nx.broadcast(x, (2,))),
            "the function <lambda> of reduce uses broadcast, which is not element-wise.\n"
            "  It works on one element at a time: do the rest before or after.",
        ),
    ],
)
def test_reduce_refuses(function, text):
    with pytest.raises(NxTypeError) as error:
        nx.reduce([1, 2], 0, function)
    assert str(error.value) == text


def test_a_function_without_a_name():
    with pytest.raises(NxTypeError, match="the function fun of reduce gives a scalar for an element, got a list"):
        nx.reduce([1, 2], 0, functools.partial(lambda k, x, acc: [x], 1))


def test_what_folding_starts_with_is_a_scalar():
    with pytest.raises(NxTypeError) as error:
        nx.reduce([1, 2], [0, 0], digits)
    assert str(error.value) == "reduce starts with one number, got s64[2] for 'acc'"


@pytest.mark.parametrize(
    "function",
    [
        lambda t: nx.reduce(t, 0, digits),
        lambda t: nx.reduce(t, 0, digits, axes=[1], keep_axes=True),
        lambda t: nx.map(t, lambda x: x * x + nx.sum(x)),
    ],
)
def test_entries(function):
    check_entries(function, X)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: nx.map([1], "f"), "map takes a function of one element, got 'f'.\n  For instance lambda x: x + 1."),
        (
            lambda: nx.reduce([1], 0, None),
            "reduce takes a function of an element and what was accumulated before it, got None.\n"
            "  For instance lambda x, acc: x + acc.",
        ),
        (
            lambda: nx.reduce([1], 0, lambda x: x),
            "the function <lambda>(x) of reduce is called with an element and what was accumulated before it",
        ),
        (lambda: nx.map([1], lambda: 1), "the function <lambda>() of map is called with one element"),
    ],
)
def test_what_is_no_function_of_elements(call, text):
    with pytest.raises(NxTypeError) as error:
        call()
    assert str(error.value) == text
