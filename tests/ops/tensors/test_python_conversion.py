"""Tensors to and from plain Python."""

from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError, TracedValueError

T = nx.tensor([[1.5, 2.0], [3.0, np.inf]])


def test_lists():
    assert nx.to_list(T) == T.to_list() == T.tolist() == [[1.5, 2.0], [3.0, np.inf]]
    assert nx.to_flat_list(T, limit=3) == [1.5, 2.0, 3.0]
    assert nx.to_list(nx.bf16([0.5])) == [0.5]
    assert type(nx.to_list(nx.bf16(0.5))) is float
    assert nx.to_list(nx.u8([1])) == [1]
    assert nx.to_list(np.array([True])) == [True]


def test_numbers():
    assert nx.to_number(nx.tensor(2)) == 2
    assert nx.to_number(3.5) == 3.5
    with pytest.raises(NxTypeError) as error:
        nx.to_number([1])
    assert (
        str(error.value) == "to_number takes a scalar, got s64[1].\n  nx.to_list and nx.to_flat_list take any tensor."
    )


def test_bytes():
    assert nx.to_binary(nx.u8([[1, 2], [3, 4]]), limit=3) == b"\1\2\3"
    assert nx.to_binary(nx.tensor(1)) == (1).to_bytes(8, "little")


def test_is_tensor():
    assert [nx.is_tensor(v) for v in (T, 1, 1j, True, [1], np.zeros(1), None)] == [
        True,
        True,
        True,
        False,
        False,
        False,
        False,
    ]


def test_to_tensor():
    assert nx.to_tensor(T) is T
    assert nx.to_tensor(np.int8(1)).type == "s8"


def test_to_template():
    Pair = namedtuple("Pair", "a b")
    assert nx.to_template(Pair(T, [1, {"x": 2.0}])) == Pair(
        nx.template((2, 2), "f32"), [nx.template((), "s64"), {"x": nx.template((), "f32")}]
    )

    @dataclass
    class Line:
        slope: object
        offset: object = 0

    assert nx.to_template(Line(T, 1.0)) == Line(nx.template((2, 2), "f32"), nx.template((), "f32"))


def test_from_dlpack():
    array = np.arange(4.0)
    tensor = nx.from_dlpack(array)
    assert np.shares_memory(tensor.to_numpy(), array)
    assert nx.from_dlpack(T).to_list() == T.to_list()
    with pytest.raises(NxTypeError, match="from_dlpack takes what answers __dlpack__, got a list"):
        nx.from_dlpack([1])


@pytest.mark.parametrize("name", ["to_list", "to_number", "to_flat_list", "to_binary"])
def test_traced_values_have_no_data(name, record):
    for ask in (getattr(nx, name), lambda x: getattr(x, name)()):
        with pytest.raises(TracedValueError, match=r"asks for the data of a traced value of type f32"):
            record(ask, nx.template((), "f32"))


def test_templates_have_no_data():
    with pytest.raises(NxTypeError, match=r"template f32\[2\] has no data"):
        nx.to_list(nx.template((2,), "f32"))
