"""Types of tensors."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError


def test_as_type():
    tensor = nx.tensor([1.7, -1.7], names=["x"])
    found = nx.as_type(tensor, "s8")
    assert (found.type, found.names, found.to_list()) == ("s8", ("x",), [1, -1])
    assert nx.as_type(tensor, "f32") is tensor
    assert nx.as_type(0.1, "f64").to_list() == 0.1
    assert tensor.as_type(np.float64).type == "f64"


def test_as_type_needs_a_type():
    with pytest.raises(NxTypeError, match="there is no type 'float33'"):
        nx.as_type([1], "float33")


def test_bitcast():
    assert nx.bitcast(nx.s8([-1]), "u8").to_list() == [255]
    assert nx.bitcast(nx.f16([1.0]), "bf16").type == "bf16"
    with pytest.raises(NxValueError) as error:
        nx.bitcast(nx.s16([1]), "f32")
    assert str(error.value) == (
        "bitcast keeps the bits: s16 has 16 an element, f32 has 32.\n  nx.as_type converts the values."
    )
    with pytest.raises(NxTypeError, match="bitcast takes no complex types, got c64 to s64"):
        nx.bitcast(1j, "s64")


def test_type():
    assert nx.type(1) == "s64"
    assert nx.type(np.float64(1)) == "f64"


def test_recorded_constants_take_the_type_without_a_node(record):
    assert (
        record(lambda x: nx.as_type(nx.tensor(2), "f32") * x, nx.template((), "f32")).operands[0].primitive.name
        == "constant"
    )
