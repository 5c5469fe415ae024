"""Tensors: immutable values."""

import copy
import pickle
import re

import ml_dtypes
import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError, TracedValueError


def test_from_numpy_shares_memory_and_stays_read_only():
    array = np.arange(4.0)
    tensor = nx.Tensor.from_numpy(array, names=["x"])
    assert np.shares_memory(tensor.to_numpy(), array)
    assert array.flags.writeable
    assert not tensor.to_numpy().flags.writeable
    assert tensor.names == ("x",)


@pytest.mark.parametrize(
    "array",
    [np.arange(6).reshape(2, 3).T, np.arange(6)[::2], np.arange(3, dtype=">i4"), np.float64(3), np.zeros((0, 2))],
)
def test_from_numpy_puts_others_in_order(array):
    tensor = nx.Tensor.from_numpy(np.asarray(array))
    assert tensor.data.flags.c_contiguous
    assert tensor.data.dtype.isnative
    assert tensor.shape == np.shape(array)
    np.testing.assert_array_equal(tensor, array)


@pytest.mark.parametrize(
    "array", [np.array(["a"]), np.array([None]), np.array([1], "datetime64[s]"), np.array([1], np.longdouble)]
)
def test_from_numpy_refuses_what_has_no_type(array):
    with pytest.raises(NxTypeError, match=r"is no tensor \(argument array\)\."):
        nx.Tensor.from_numpy(array)


def test_the_class_is_not_called():
    with pytest.raises(NxTypeError, match=re.escape("Tensor() is not called; write nx.tensor([1, 2, 3])")):
        nx.Tensor([1])


def test_one_element_is_a_python_number():
    assert float(nx.tensor([[1.5]])) == 1.5
    assert int(nx.tensor(2.9)) == 2
    assert complex(nx.tensor(1j)) == 1j
    assert bool(nx.tensor([0])) is False
    assert bool(nx.bf16(1)) is True
    assert float(nx.bf16(0.5)) == 0.5
    assert [10, 20, 30][nx.tensor(1)] == 20
    assert f"{nx.tensor(1 / 3):.2f} {nx.tensor([255]):x}" == "0.33 ff"


@pytest.mark.parametrize("convert", [float, int, complex, bool])
def test_more_elements_are_none(convert):
    with pytest.raises(NxTypeError) as error:
        convert(nx.tensor([1, 2]))
    assert str(error.value) == (
        f"{convert.__name__}() needs a tensor with one element, this one is s64[2].\n"
        "  Reduce it first, for example with nx.any(t), nx.all(t) or nx.sum(t)."
    )


@pytest.mark.parametrize("value", [1.0, [1]])
def test_only_integer_scalars_are_indices(value):
    with pytest.raises(NxTypeError, match="only a scalar of an integer type is an index, this tensor is"):
        [1, 2][nx.tensor(value)]


def test_tensors_are_immutable():
    tensor = nx.tensor([1, 2])
    with pytest.raises(NxTypeError) as error:
        tensor[0] = 5
    assert str(error.value) == (
        "tensors are immutable: t[...] = v is not possible.\n"
        "  Use nx.put_slice(t, [start], values), which returns a new tensor.\n"
        "  What writes in place, as rng.shuffle does, takes a copy: a = t.to_numpy().copy(). "
        "rng.permutation(t) gives a new array."
    )
    with pytest.raises(ValueError, match="read-only"):
        tensor.to_numpy()[0] = 5
    with pytest.raises(TypeError, match="unhashable"):
        hash(tensor)
    for name in ("data", "spec", "color"):
        with pytest.raises(AttributeError) as refused:
            setattr(tensor, name, np.zeros(5))
        assert str(refused.value) == (
            f"tensors are immutable: t.{name} = ... is not possible.\n"
            "  t.to_numpy().copy() is an array that can be written into."
        )
    assert tensor.to_list() == [1, 2]


@pytest.mark.parametrize("data", [[1, 2], 1.5, np.array([1], ml_dtypes.bfloat16), np.zeros((0, 2))])
def test_copies(data):
    tensor = nx.tensor(data)
    for other in (pickle.loads(pickle.dumps(tensor)), copy.copy(tensor), copy.deepcopy(tensor)):
        assert other.spec == tensor.spec
        assert other.to_list() == tensor.to_list()
        assert not other.data.flags.writeable


def test_names_and_vectorized_axes_survive_pickling():
    assert pickle.loads(pickle.dumps(nx.tensor([1], names=["x"]))).names == ("x",)
    tensor = nx.vectorize(nx.iota((2, 3), names=[None, "k"]), "x")
    assert pickle.loads(pickle.dumps(tensor)).spec == tensor.spec


def test_one_entry_is_no_index():
    with pytest.raises(NxTypeError, match=r"only a scalar of an integer type is an index, this tensor is vectorized\["):
        [1, 2][nx.vectorize([1], "x")]


def test_templates_are_values():
    template = nx.Template(nx.types.f32, (2, 3))
    assert template == nx.template((2, 3), "f32")
    assert hash(template) == hash(nx.template((2, 3), "f32"))
    assert template != nx.template((2, 3), "f32", names=["a", None])
    assert template != nx.template((2, 3), "f32", vectorized_axes={"x": 2})
    assert repr(nx.template((3,), "f32", vectorized_axes={"x": 2})) == "template vectorized[x: 2] f32[3]"
    assert template != "f32"
    assert repr(template) == "template f32[2][3]"


def test_str_is_the_number_or_numpys_text_with_the_type():
    assert f"{nx.f32(0.1)} {nx.tensor(3)} {nx.f64(float('nan'))} {nx.c64(1 + 2j)} {nx.tensor(True)}" == (
        "0.1 3 nan (1+2j) True"
    )
    assert (str(nx.tensor(3)), "%s" % nx.bf16(1.5), str(nx.f16(0.1))) == ("3", "1.5", "0.1")
    assert repr(nx.tensor(3)) == "Tensor(3, s64)"
    assert (
        str(nx.tensor([1.0, 2.5], names=["row"]))
        == f"{nx.tensor([1.0, 2.5], names=['row'])}"
        == "f32[row: 2] [1.  2.5]"
    )
    assert str(nx.iota((2, 2))) == "s64[2][2]\n[[0 1]\n [2 3]]"
    assert str(nx.vectorize(nx.tensor([1, 2]), "rows")) == "vectorized[rows: 2] s64 [1 2]"


def test_rounding_one_number():
    assert (round(nx.tensor(2.567), 1), round(nx.tensor(2.567)), round(nx.tensor([7]))) == (2.6, 3, 7)
    with pytest.raises(NxTypeError, match=r"^round\(\) needs a tensor with one element, this one is f32\[2\]"):
        round(nx.tensor([1.0, 2.0]))
    with pytest.raises(TracedValueError, match=r"Write nx\.round\(t\), or"):
        nx.jit(lambda t: round(t, 2))(1.0)
