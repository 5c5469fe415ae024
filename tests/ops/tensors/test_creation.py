"""Making tensors."""

import re

import ml_dtypes
import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError

UNEVEN = "the lists are uneven: those at one depth must have equal lengths.\n  Their lengths are "


@pytest.mark.parametrize(
    ("value", "type_", "shape"),
    [
        (1, "s64", ()),
        (1.5, "f32", ()),
        (True, "bool", ()),
        (1j, "c64", ()),
        ([1, 2], "s64", (2,)),
        ([1, 2.5], "f32", (2,)),
        ([True, 2], "s64", (2,)),
        ([1, 2j], "c64", (2,)),
        ([[1, 2], (3, 4)], "s64", (2, 2)),
        ([], "f32", (0,)),
        ([[], []], "f32", (2, 0)),
        (np.float64(1), "f64", ()),
        ([np.float64(1), 2], "f64", (2,)),
        ([np.int8(1), np.uint8(2)], "s16", (2,)),
        ([np.zeros(2, np.float16)], "f16", (1, 2)),
        (np.zeros((2, 0), np.int8), "s8", (2, 0)),
        (np.array([True]), "bool", (1,)),
        (np.array([1], ml_dtypes.bfloat16), "bf16", (1,)),
        (np.array([1], ">i4"), "s32", (1,)),
        (range(3), None, None),
    ],
)
def test_types_and_shapes(value, type_, shape):
    if type_ is None:
        with pytest.raises(NxTypeError, match="expected a tensor, an array or a number for 'value', got a range"):
            nx.tensor(value)
        return
    tensor = nx.tensor(value)
    assert (tensor.type, tensor.shape) == (type_, shape)
    np.testing.assert_array_equal(tensor, np.array(value))


@pytest.mark.parametrize(
    ("value", "type_", "expected"),
    [
        ([300], "s8", [44]),
        ([2**63], None, [-(2**63)]),
        ([2**63, -1], None, [-(2**63), -1]),
        ([2**64 - 1], "u64", [2**64 - 1]),
        ([1.9, np.nan, np.inf], "u8", [1, 0, 255]),
        ([0.1], "f16", [np.float16(0.1)]),
        ([1e300], "f32", [np.inf]),
        ([1, 0, 3], "bool", [True, False, True]),
        (7, "bf16", 7.0),
        (np.arange(3), "f32", [0.0, 1.0, 2.0]),
    ],
)
def test_asked_types(value, type_, expected):
    tensor = nx.tensor(value, type=type_)
    assert tensor.type == (type_ or "s64")
    assert tensor.to_list() == expected


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        ([1, "2"], NxTypeError, "a tensor holds numbers, got a str in a list."),
        ([[1], [None]], NxTypeError, "a tensor holds numbers, got None in a list."),
        ([[1, 2], [3]], NxValueError, UNEVEN + "2, 1."),
        ([[1, 2], 3], NxValueError, UNEVEN + "2, none."),
        ([2**64], NxValueError, "the integer 18446744073709551616 does not fit into 64 bits.\n  Write it as a float."),
        (-(2**63) - 1, NxValueError, "the integer -9223372036854775809 does not fit into 64 bits."),
        ("text", NxTypeError, "expected a tensor, an array or a number for 'value', got 'text'."),
        (None, NxTypeError, "expected a tensor, an array or a number for 'value', got None."),
    ],
)  # fmt: skip
def test_what_is_no_tensor(value, error, text):
    with pytest.raises(error, match="^" + re.escape(text)):
        nx.tensor(value)


def test_names_are_checked():
    assert nx.tensor([[1]], names=["a", None]).names == ("a", None)
    with pytest.raises(NxValueError, match="names has 1 entries"):
        nx.tensor([[1]], names=["a"])


def test_a_tensor_of_a_tensor():
    tensor = nx.tensor([1, 2], names=["x"])
    assert nx.tensor(tensor) is tensor
    assert nx.tensor(tensor, type="s64") is tensor
    assert nx.tensor(nx.rename(tensor, [None]), names=["y"]).names == ("y",)
    with pytest.raises(NxValueError, match="cannot merge the name 'x'"):
        nx.tensor(tensor, names=["y"])
    with pytest.raises(NxTypeError) as error:
        nx.tensor(tensor, type="f32")
    assert str(error.value) == 'the tensor is s64, asked for is f32.\n  Convert it with nx.as_type(t, "f32").'


def test_lists_of_tensors_are_stacked(record):
    assert nx.tensor([nx.tensor(1), 2.5]).to_list() == [1.0, 2.5]
    assert nx.tensor([[nx.tensor(1), nx.tensor(2)]], type="u8").to_list() == [[1, 2]]
    assert str(record(lambda x: nx.tensor([x, 1.0]), nx.template((), "f32")).spec) == "f32[2]"


def test_a_tensor_does_not_see_later_writes():
    array = np.arange(3)
    tensors = [
        nx.tensor(array),
        nx.reshape(array, (3, 1)),
        nx.as_type(array, "s64"),
        nx.new_axis(array, 0),
        array + nx.tensor(0),
    ]
    array[:] = 9
    assert [nx.to_flat_list(t) for t in tensors] == [[0, 1, 2]] * 5


def test_arrays_that_nobody_writes_to_are_shared():
    array = np.arange(3)
    array.flags.writeable = False
    assert np.shares_memory(nx.tensor(array).to_numpy(), array)


def test_type_constructors():
    assert nx.u8([1, 2]).type == "u8"
    assert nx.bf16(1.5).type == "bf16"
    assert nx.c128(1).to_list() == 1 + 0j
    assert nx.as_type([1.5], nx.s8).to_list() == [1]


def test_from_binary():
    for type_ in ("s8", "bf16", "f64", "c64"):
        tensor = nx.tensor([1, 2, 3], type=type_)
        assert nx.from_binary(nx.to_binary(tensor), type_).to_list() == tensor.to_list()
    with pytest.raises(NxValueError, match="4 bytes are no whole number of f64 elements, which have 8 each"):
        nx.from_binary(b"1234", "f64")


def test_template():
    assert repr(nx.template((2, 3), "f32", names=["a", None])) == "template f32[a: 2][3]"
    with pytest.raises(NxTypeError) as error:
        nx.add(nx.template((2,), "f32"), 1)
    assert str(error.value) == (
        "template f32[2] has no data.\n  Templates are for nx.compile; make a tensor with nx.tensor."
    )


def test_iota():
    np.testing.assert_array_equal(nx.iota((2, 3)), np.arange(6).reshape(2, 3))
    np.testing.assert_array_equal(nx.iota((2, 3), axis="b", type="f16", names=["a", "b"]), [[0, 1, 2], [0, 1, 2]])
    assert nx.iota(nx.tensor([[5, 5]])).shape == (1, 2)
    assert nx.iota(()).to_list() == 0
    assert nx.iota(3).shape == (3,)


def test_eye():
    np.testing.assert_array_equal(nx.eye(3), np.eye(3))
    np.testing.assert_array_equal(nx.eye((2, 2, 3), type="f32"), np.broadcast_to(np.eye(2, 3), (2, 2, 3)))
    assert nx.eye(2, names=["a", "b"]).names == ("a", "b")
    with pytest.raises(NxValueError, match="eye makes matrices: the shape needs at least two axes"):
        nx.eye((3,))


@pytest.mark.parametrize("k", [-2, 0, 1, 5])
def test_triangles(k):
    x = np.arange(24.0).reshape(2, 3, 4)
    np.testing.assert_array_equal(nx.tril(x, k=k), np.tril(x, k))
    np.testing.assert_array_equal(nx.triu(x, k=k), np.triu(x, k))
    np.testing.assert_array_equal(nx.tri(3, 4, k=k), np.tri(3, 4, k))
    with pytest.raises(NxValueError, match="tril and triu take matrices"):
        nx.tril([1, 2], k=k)


def test_linspace():
    np.testing.assert_allclose(nx.linspace(-1, 1, n=7, type="f64"), np.linspace(-1, 1, 7), rtol=1e-15)
    np.testing.assert_allclose(nx.linspace(0.1, 0.7, n=4, type="f64"), np.linspace(0.1, 0.7, 4), rtol=1e-15)
    assert nx.linspace(0, 1, n=11).to_list()[-1] == 1.0
    np.testing.assert_allclose(nx.linspace(0, 1, n=4, endpoint=False), [0, 0.25, 0.5, 0.75])
    assert nx.linspace(0, 24, n=8, type="u8").to_list() == [0, 3, 6, 10, 13, 17, 20, 24]
    assert nx.linspace(5, 9, n=1).to_list() == [5.0]
    found = nx.linspace([0, 10], [10, 30], n=3, name="place")
    assert (found.to_list(), found.names) == ([[0.0, 5.0, 10.0], [10.0, 20.0, 30.0]], (None, "place"))


def test_linspace_refuses():
    with pytest.raises(NxTypeError, match=r"n must be a whole number that is known when the graph is built, got 1\.0"):
        nx.linspace(0, 1, n=1.0)
    with pytest.raises(NxValueError, match="linspace needs n of at least 1, got 0"):
        nx.linspace(0, 1, n=0)
    with pytest.raises(NxValueError, match=r"start and stop need one shape, got f32 and f32\[2\]"):
        nx.linspace(0, [1, 2], n=3)
