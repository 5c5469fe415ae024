"""How a header tells of a tensor."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError, TracedValueError
from nxkernel.formats import tensor_headers
from nxkernel.formats.file_access import ByteSource

SOURCE = ByteSource(b"", "x.nxk")


def test_what_becomes_a_tensor():
    tensor = nx.tensor([1, 2])
    assert tensor_headers.tensor_of(tensor, "x") is tensor
    assert tensor_headers.tensor_of(1.5, "x").type == "f32"
    assert tensor_headers.tensor_of(np.float64(1.5), "x").type == "f64"
    assert tensor_headers.tensor_of(np.arange(3), "x").to_list() == [0, 1, 2]


def test_what_does_not():
    with pytest.raises(NxTypeError, match="expected a tensor, an array or a number for x, got a list"):
        tensor_headers.tensor_of([1], "x")
    with pytest.raises(NxTypeError, match=r"template f32\[2\] has no data \(x\)"):
        tensor_headers.tensor_of(nx.template((2,), "f32"), "x")
    with pytest.raises(NxTypeError, match=r"an array of Python objects is no tensor \(argument x\)"):
        tensor_headers.tensor_of(np.array([None]), "x")
    with pytest.raises(TracedValueError, match=r"asks for the data of a traced value of type f32\[2\]"):
        nx.jit(lambda x: nx.serialize(x) and x)(nx.f32([1, 2]))


def test_little_endian():
    assert bytes(tensor_headers.little_endian(np.array([[1, 258]], ">u2"))) == b"\1\0\2\1"
    assert bytes(tensor_headers.little_endian(np.array(3, "i2"))) == b"\3\0"
    assert bytes(tensor_headers.little_endian(nx.bf16([1.0]).data)) == b"\x80\x3f"
    assert bytes(tensor_headers.little_endian(np.zeros((0, 3)))) == b""
    array = np.arange(4.0)
    assert np.shares_memory(np.frombuffer(tensor_headers.little_endian(array)), array)


@pytest.mark.parametrize("sizes", [3, "23", [1, -1], [1.0], [True], [None], {"a": 1}])
def test_shapes_are_whole_numbers(sizes):
    with pytest.raises(NxValueError, match=r"cannot read x\.nxk: it has the shape .*, expected whole numbers"):
        tensor_headers.shape_of(SOURCE, sizes, "it")


def test_shapes():
    assert tensor_headers.shape_of(SOURCE, [2, 0], "it") == (2, 0)
    with pytest.raises(NxValueError, match="it has 65 axes, at most 64 are possible"):
        tensor_headers.shape_of(SOURCE, [1] * 65, "it")


def test_sizes():
    assert tensor_headers.byte_count(SOURCE, (2, 3), nx.types.f32, "it") == 24
    assert tensor_headers.byte_count(SOURCE, (2, 0), nx.types.f32, "it") == 0
    for shape in ([2**40, 2**40], [0, 2**62]):
        with pytest.raises(NxValueError, match="it claims more than any memory holds"):
            tensor_headers.byte_count(SOURCE, shape, nx.types.f32, "it")


def test_tensors_over_bytes():
    data = b"\0\0\0\0" + np.arange(4, dtype="<f4").tobytes()
    tensor = tensor_headers.tensor_over(SOURCE, data, 4, nx.types.f32, (2, 2), "it")
    assert tensor.to_list() == [[0.0, 1.0], [2.0, 3.0]]
    assert np.shares_memory(tensor.data, np.frombuffer(data, np.uint8))
    assert not tensor.data.flags.writeable
    assert tensor_headers.tensor_over(SOURCE, data, 1, nx.types.f32, (3,), "it").shape == (3,)
    with pytest.raises(NxValueError, match="it is of type bool and has elements that are neither 0 nor 1"):
        tensor_headers.tensor_over(SOURCE, b"\1\2", 0, nx.types.bool_, (2,), "it")


@pytest.mark.parametrize(
    ("tensor", "told"),
    [
        (nx.iota((2, 3)), {}),
        (nx.iota((2, 3), names=["a", None]), {"names": ["a", None]}),
        (nx.vectorize(nx.iota((2, 3)), "x"), {"vectorized": ["x"]}),
        (nx.vectorize(nx.iota((2, 3), names=[None, "b"]), "x"), {"names": ["b"], "vectorized": ["x"]}),
    ],
)
def test_axes_there_and_back(tensor, told):
    assert tensor_headers.axes_of(tensor) == told
    bare = nx.Tensor.from_numpy(tensor.data)
    assert tensor_headers.with_axes(SOURCE, bare, told, "it").spec == tensor.spec


@pytest.mark.parametrize(
    ("told", "text"),
    [
        ({"names": "ab"}, "it has the names 'ab', expected a list"),
        ({"vectorized": {"x": 2}}, "it has the names {'x': 2}, expected a list"),
        ({"vectorized": [None]}, r"it has the vectorized axes \[None\], expected at most 2 names"),
        ({"vectorized": ["x", "y", "z"]}, "expected at most 2 names"),
        ({"names": ["a"]}, "the axes of it are impossible: names has 1 entries"),
        ({"names": ["a", "a"]}, "the axes of it are impossible: the name 'a' stands for two axes"),
        ({"names": ["a", 1]}, "the axes of it are impossible: the name of an axis is a str"),
        ({"names": ["x"], "vectorized": ["x"]}, "the axes of it are impossible: the name 'x' would stand for"),
        ({"names": ["a", []]}, "the axes of it are impossible"),
    ],
)
def test_impossible_axes(told, text):
    with pytest.raises(NxValueError, match=text):
        tensor_headers.with_axes(SOURCE, nx.iota((2, 3)), told, "it")
