"""Arithmetic, rounding and complex numbers."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError

floats = st.floats(-1e6, 1e6, width=32)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_arithmetic_broadcasts_as_numpy_does(data):
    shapes = data.draw(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3))
    left, right = (data.draw(hnp.arrays(np.float32, shape, elements=floats)) for shape in shapes.input_shapes)
    for name, function in [("add", np.add), ("subtract", np.subtract), ("multiply", np.multiply), ("max", np.maximum)]:
        found = getattr(nx, name)(left, right)
        assert found.type == "f32"
        np.testing.assert_array_equal(found, function(left, right))
        assert found.shape == shapes.result_shape


@pytest.mark.parametrize(
    ("name", "left", "right", "expected"),
    [
        ("add", "u8", "s8", "s16"),
        ("add", "s64", "f16", "f16"),
        ("add", "bool", "bool", "s64"),
        ("subtract", "f64", "c64", "c128"),
        ("divide", "s64", "u8", "f32"),
        ("divide", "f16", "s8", "f16"),
        ("divide", "bool", "bool", "f32"),
        ("atan2", "s8", "s8", "f32"),
        ("pow", "s64", "f32", "f32"),
        ("quotient", "u8", "u16", "u16"),
        ("remainder", "bool", "bool", "s64"),
        ("max", "bf16", "f32", "f32"),
        ("max", "bool", "bool", "bool"),
        ("min", "bool", "u8", "u8"),
        ("multiply", "u8", "bool", "u8"),
    ],
)
def test_types(name, left, right, expected):
    assert getattr(nx, name)(nx.as_type([1], left), nx.as_type([1], right)).type == expected


@pytest.mark.parametrize(
    ("tensor", "number", "expected"),
    [
        (nx.u8(1), 255, "u8"),
        (nx.u8(1), 256, "u16"),
        (nx.u8(1), -1, "s16"),
        (nx.s8(1), 1.5, "f32"),
        (nx.f16(1), 1e9, "f16"),
    ],
)
def test_numbers_are_weak(tensor, number, expected):
    assert nx.add(tensor, number).type == nx.add(number, tensor).type == expected
    assert nx.add(tensor, nx.tensor(number)).type != "u8"


def test_numpy_values_are_strong():
    assert nx.add(nx.f32([1]), np.float64(1)).type == "f64"
    assert nx.add(nx.f32([1]), np.arange(2.0)).type == "f64"


def test_two_numbers_give_a_scalar():
    assert nx.add(1, 2.5).to_list() == 3.5
    assert (nx.divide(1, 2).type, nx.divide(1, 2).to_list()) == ("f32", 0.5)


def test_names_merge():
    left, right = nx.tensor([[1, 2]], names=["x", None]), nx.tensor([3, 4], names=["y"])
    assert nx.add(left, right).names == ("x", "y")
    with pytest.raises(NxValueError, match="cannot merge the name 'x' on axis 0 with the name 'y' on axis 0"):
        nx.add(nx.tensor([1], names=["x"]), nx.tensor([1], names=["y"]))


@pytest.mark.parametrize("value", ["12", None, {1, 2}, object])
def test_what_is_no_operand_is_told(value):
    described = {"12": "'12'", None: "None"}.get(
        value if isinstance(value, str | None) else "", f"a {type(value).__name__}"
    )
    with pytest.raises(NxTypeError) as error:
        nx.add([1.0], value)
    of_lists = "\n  Lists and nested lists of numbers become tensors with nx.tensor([...])."
    assert str(error.value) == (
        f"expected a tensor, an array or a number for 'right', got {described}."
        f"{of_lists if value is not None and value != '12' else ''}"
    )


def test_both_shapes_are_told():
    with pytest.raises(NxValueError, match=re.escape("cannot broadcast [2][3] with [2]: axis -1 has sizes 3 and 2.")):
        nx.add(nx.iota((2, 3)), nx.iota(2))


@pytest.mark.parametrize("name", ["max", "min", "remainder", "atan2"])
def test_what_needs_an_order_refuses_complex_numbers(name):
    with pytest.raises(NxTypeError, match=f"{name} takes no complex numbers, got c64"):
        getattr(nx, name)(1j, 2)


def test_quotient_takes_integers():
    with pytest.raises(NxTypeError) as error:
        nx.quotient(nx.f32([1]), 2)
    assert str(error.value) == (
        'quotient takes integers, got f32.\n  Convert first: nx.as_type(t, "s64") cuts fractions off.'
    )


def test_division_truncates_with_the_sign_of_the_dividend():
    left = nx.tensor([7, -7, 7, -7])
    right = nx.tensor([2, 2, -2, -2])
    assert nx.quotient(left, right).to_list() == [3, -3, -3, 3]
    assert nx.remainder(left, right).to_list() == [1, -1, 1, -1]
    assert nx.quotient(left, 0).to_list() == nx.remainder(left, 0).to_list() == [0, 0, 0, 0]
    assert nx.remainder(nx.f32([5.5, -5.5]), 2).to_list() == [1.5, -1.5]


def test_powers():
    assert nx.pow(nx.s64([2, -3]), 3).to_list() == [8, -27]
    assert nx.pow(2.0, nx.f32([0.5])).to_list() == [np.float32(2**0.5)]
    assert nx.pow(nx.s64([2]), -1.0).to_list() == [0.5]
    with pytest.raises(NxValueError) as error:
        nx.pow(nx.s64([2]), -1)
    assert str(error.value) == (
        "integers (s64) to the power -1 would be fractions.\n"
        "  Write the exponent as a float: nx.pow(t, -1.0), or t ** -1.0."
    )


def test_rounding():
    tensor = nx.f32([0.5, 1.5, -0.5, 2.4])
    assert nx.round(tensor).to_list() == [1.0, 2.0, -1.0, 2.0]
    assert nx.floor(tensor).to_list() == [0.0, 1.0, -1.0, 2.0]
    assert nx.ceil(tensor).to_list() == [1.0, 2.0, -0.0, 3.0]
    integers = nx.u8([1, 2])
    assert nx.round(integers) is integers
    with pytest.raises(NxTypeError, match="floor takes no complex numbers"):
        nx.floor(1j)


def test_signs():
    assert nx.negate(nx.u8([1])).to_list() == [255]
    assert nx.sign(nx.f32([-2.0, 0.0, np.nan])).to_list()[:2] == [-1.0, 0.0]
    assert nx.abs(nx.tensor([3 + 4j])).type == "f32"
    assert nx.abs(nx.tensor([3 + 4j])).to_list() == [5.0]


def test_clip():
    assert nx.clip(nx.u8([1, 5]), 2, 4).type == "s64"
    assert nx.clip(nx.s64([1, 5]), 2.0, 4).to_list() == [2.0, 4.0]
    assert np.isnan(nx.clip(nx.f32([np.nan]), 0, 1).to_list()[0])
    with pytest.raises(NxValueError, match=r"the bound 'max' of clip is a scalar, got s64\[2\]\."):
        nx.clip([1, 2], 0, [1, 2])


def test_fill():
    tensor = nx.tensor([[1, 2]], type="u8", names=["x", None])
    assert (nx.fill(tensor, 7).type, nx.fill(tensor, 7).names) == ("u8", ("x", None))
    assert nx.fill(tensor, 300).type == "u16"
    assert nx.fill(tensor, 7, type="f32").to_list() == [[7.0, 7.0]]
    assert nx.fill(tensor, nx.tensor(1.5)).to_list() == [[1.5, 1.5]]
    with pytest.raises(NxValueError, match=r"fill takes one value, got s64\[2\]; nx.broadcast"):
        nx.fill(tensor, [1, 2])


def test_complex_numbers():
    z = nx.complex(nx.f64([1.0, 2.0]), -1)
    assert (z.type, z.to_list()) == ("c128", [1 - 1j, 2 - 1j])
    assert nx.complex(nx.f16([1]), 2).type == "c64"
    assert nx.conjugate(nx.f32([1.0])).type == "c64"
    assert nx.real(z).to_list() == [1.0, 2.0]
    assert nx.imag(z).to_list() == [-1.0, -1.0]
    assert (nx.real(nx.s8([1])).type, nx.imag(nx.bf16([1])).type) == ("f32", "bf16")
    assert nx.imag(nx.tensor([5], names=["x"])).names == ("x",)
    np.testing.assert_allclose(nx.phase(z), np.angle(z))
    np.testing.assert_allclose(nx.phase([-1.0, 1.0]), [np.pi, 0])
    with pytest.raises(NxTypeError, match="complex takes no complex numbers"):
        nx.complex(1j, 0)
