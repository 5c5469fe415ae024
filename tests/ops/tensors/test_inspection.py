"""Questions about shapes have Python answers, also while a graph is built."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxValueError

T = nx.iota((2, 3), names=["a", None], type="f16")


def test_answers():
    assert nx.shape(T) == (2, 3)
    assert nx.shape((4, 5)) == (4, 5)
    assert nx.rank(T) == 2
    assert nx.size(T) == nx.flat_size(T) == 6
    assert nx.axes(T) == [0, 1]
    assert nx.names(T) == ["a", None]
    assert nx.axis_size(T, "a") == 2
    assert nx.axis_index(T, -1) == 1
    assert nx.axis_index((7, 8), -1) == 1
    assert nx.byte_size(T) == 12
    assert nx.bit_size(T) == 96
    assert nx.rank(5) == 0


def test_answers_while_tracing(record):
    assert record(lambda x: (nx.shape(x), nx.size(x), nx.axis_size(x, 0), x.size), nx.template((4, 2), "f32")) == (
        (4, 2),
        8,
        4,
        8,
    )


def test_an_axis_must_exist():
    with pytest.raises(NxValueError, match=r"no axis is named 'b' in \[a: 2\]\[3\]"):
        nx.axis_size(T, "b")


@pytest.mark.parametrize(
    ("left", "right", "answer"),
    [
        (T, nx.template((2, 3), "f16"), True),
        (T, nx.template((2, 3), "f16", names=["b", None]), False),
        (T, nx.template((2, 3), "f32"), False),
        (T, nx.template((3, 2), "f16"), False),
        (1, 2, True),
        (1, 2.0, False),
        ((1, {"a": T}), (2, {"a": np.zeros((2, 3), np.float16)}), True),
        ({"a": 1}, {"b": 1}, False),
        ((1, 2), [1, 2], False),
        ((1, 2), 1, False),
    ],
)
def test_compatible(left, right, answer):
    assert nx.compatible(left, right) is answer
