"""Assignment into parts of values that do not change, compared with NumPy's."""

from functools import partial

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import graph_of, spec
from nxkernel.definitions.tracing.syntax_runtime import set_item
from nxkernel.errors import NxIndexError, NxTypeError, NxValueError, TracedValueError
from nxkernel.graph.traverse import post_order

A = np.arange(24.0, dtype=np.float32).reshape(4, 6)
KEYS = [
    0, -1, (1, 2), slice(1, 3), slice(2, 2), (slice(None), 2), (slice(None, None, 2), slice(1, None, 3)),
    slice(None, None, -1), (slice(3, 0, -2), slice(None)), (slice(1, 3), slice(0, 2)), ..., (..., 1), (0, ...),
    (slice(None), None, 2), [1, 3], [-1, 0], ([1, 2], [0, 5]), (slice(1, 3), [0, 2]), ([0, 2], slice(1, 4)),
    (1, [2, 3]), ([3, 0], 1), (slice(None, None, 2), [1, 4]), ([[0], [2]], [1, 3]),
]  # fmt: skip


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("traced", [False, True])
def test_keys(key, traced):
    def put(t, value):
        return set_item(t, key, value)

    run = nx.jit(put) if traced else put
    values = np.arange(A[key].size, dtype=np.float32).reshape(A[key].shape) + 100
    for value in (7.0, values):
        expected = A.copy()
        expected[key] = value
        found = run(nx.tensor(A), value)
        assert found.type == "f32"
        assert found.to_list() == expected.tolist()


def test_slices_with_steps_touch_their_elements_alone():
    def put(t, v):
        return set_item(t, (slice(0, 4), slice(5, None, -2)), v)

    graph = graph_of(put, spec("f32", 4, 6), spec("f32"))
    assert [node.primitive.name for node in post_order(graph.outputs) if node.shape == (4, 6)] == [
        "parameter",
        "put_strided",
    ]


def test_indices_that_only_the_running_program_knows():
    @nx.jit
    def put(t, i, j):
        t = set_item(t, (i, slice(None, None, 2)), 9)
        t = set_item(t, (slice(1, 3), j), -1)
        return set_item(t, slice(i, i + 2), 5)

    expected = A.copy()
    expected[2, ::2], expected[1:3, 4], expected[2:4] = 9, -1, 5
    assert put(A, 2, 4).tolist() == expected.tolist()


def test_masks():
    @partial(nx.jit, promotion="nx")
    def put(t, rows):
        t = set_item(t, t > 20, 0)
        return set_item(t, rows > 1, t * 2)

    expected = A.copy()
    expected[expected > 20] = 0
    expected[2:] = expected[2:] * 2
    assert put(A, np.arange(4)).to_list() == expected.tolist()


def test_names_stay():
    found = set_item(nx.iota((2, 2), names=["row", None]), (0, slice(None, None, 2)), 7)
    assert (found.names, found.to_list()) == (("row", None), [[7, 1], [2, 3]])


def test_arrays_outside_of_a_trace_are_changed():
    array = np.zeros(3)
    assert set_item(array, 1, 5.0) is array
    assert array.tolist() == [0.0, 5.0, 0.0]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.5, "1.5 does not fit into a tensor of type s64[3]: an assignment keeps the type."),
        (nx.f32(1.0), "a value of type f32 does not fit into a tensor of type s64[3]: an assignment keeps the type."),
    ],
)
def test_values_that_the_type_does_not_hold(value, text):
    with pytest.raises(NxTypeError) as raised:
        set_item(nx.iota((3,)), 0, value)
    assert str(raised.value) == (
        f'{text}\n  Convert the tensor first, x = nx.as_type(x, "f32"), or cut the value: nx.as_type(v, "s64").'
    )


def test_numbers_beyond_the_type():
    with pytest.raises(NxTypeError, match="300 does not fit into a tensor of type u8"):
        set_item(nx.u8([1, 2]), 0, 300)


@pytest.mark.parametrize(
    ("key", "value", "kind", "text"),
    [
        (9, 0, NxIndexError, "index 9 is out of bounds for axis 0 of [4][6]."),
        (slice(2), A, NxValueError, "a value of the shape [4][6] does not fit into a part of the shape [2][6]."),
        (nx.tensor([True, False]), 0, NxIndexError, "a mask of shape [2] does not fit a tensor of type f32[4][6]."),
        ((0, nx.tensor([True, False])), 0, NxTypeError, "a mask stands alone between the brackets."),
    ],
)
def test_keys_and_values_that_do_not_fit(key, value, kind, text):
    with pytest.raises(kind) as raised:
        set_item(nx.tensor(A), key, value)
    assert str(raised.value).split("\n")[0] == text


def test_slices_of_unknown_length(run):
    f = run("@nx.defn\ndef f(x, i, j):\n    x[i:j] = 0\n    return x\n")["f"]
    with pytest.raises(TracedValueError) as raised:
        f(nx.tensor(A), 1, 2)
    assert str(raised.value) == (
        "A slice asks for the data of its bounds, which only the running program knows.\n"
        "  cell.py, line 3:  x[i:j] = 0\n"
        "  Bounds that are a known number apart make a part, such as x[i : i + 3].\n"
        "  Else keep the whole axis and choose: nx.select((k >= i) & (k < j), x, 0), where k is nx.iota((n,))."
    )
