"""NumPy's names, by NumPy as the oracle, on tensors and on traced values."""

import pickle

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError

A = (np.arange(24.0).reshape(2, 3, 4) * 7 % 11) - 5
INTEGERS = np.array([[2, 0, 1], [1, 1, 0]])
#: What would change a tensor.
REFUSED = {"view", "partition", "put", "resize", "setfield"}
#: What gives the elements or their place in memory, which only a tensor with data has.
NEEDS_DATA = {"ctypes", "data", "dumps", "tobytes"}
#: What a NumPy program's arrays lack: where elements lie is for the compiler to say.
OF_MEMORY = {"base", "ctypes", "data", "dumps", "resize"}


def of_numpy(array):
    return {name for name in dir(array) if not name.startswith("_")}


def test_a_size_where_the_type_stands_is_told_from_a_type():
    for function in (nx.zeros, nx.ones):
        with pytest.raises(NxTypeError) as raised:
            function(3, 4)
        assert str(raised.value) == (
            f"{function.__name__} takes a shape and a type, got 4 for the type.\n"
            f"  A shape of several axes is one tuple: nx.{function.__name__}((3, 4))."
        )


def missing_while_traced(value, promotion):
    """What a traced value has not, of what NumPy's arrays have; methods that need its data are there for a message."""
    missing = set()
    for name in of_numpy(A):
        try:
            nx.jit(looking_at(name), promotion=promotion).why(value)
        except (AttributeError, NxTypeError):
            missing.add(name)
    return missing


def looking_at(name):
    def look(t):
        getattr(t, name)
        return t

    return look


def test_attributes_of_numpys_arrays():
    tensor = nx.tensor(A)
    assert len(of_numpy(A)) == 70
    assert {name for name in of_numpy(A) if not hasattr(tensor, name)} == REFUSED
    assert missing_while_traced(tensor, "nx") == REFUSED | NEEDS_DATA
    assert missing_while_traced(A, "numpy") == OF_MEMORY


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_is_refused_says_what_to_write(name):
    with pytest.raises(AttributeError, match=f"^a tensor has no '{name}'.\n  Write "):
        getattr(nx.tensor(A), name)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.T, lambda t: t.mT, lambda t: t.real, lambda t: t.imag, lambda t: t.flat[5], lambda t: t.copy(),
        lambda t: t.astype(np.int32), lambda t: t.astype("int32", copy=False), lambda t: t.astype(dtype="float32"),
        lambda t: t.ravel(), lambda t: t.ravel(order="C"), lambda t: t.std(), lambda t: t.std(0),
        lambda t: t.std(axis=(0, 2), ddof=1, keepdims=True), lambda t: t.var(axis=-1), lambda t: t.prod(axis=1),
        lambda t: t.cumsum(), lambda t: t.cumsum(1), lambda t: t.cumprod(axis=-1), lambda t: t.repeat(2),
        lambda t: t.repeat(3, axis=1), lambda t: t.repeat([0, 2, 1], 1), lambda t: t.swapaxes(0, -1),
        lambda t: t[:1].squeeze(), lambda t: t[:1].squeeze(0), lambda t: t.trace(), lambda t: t.trace(1, 1, 2),
        lambda t: t.diagonal(), lambda t: t.diagonal(1, 2, 0), lambda t: t.diagonal(offset=-1, axis1=1, axis2=2),
        lambda t: (t / 3).round(1), lambda t: (t * 70).round(-2), lambda t: t.clip(-1, 2), lambda t: t.clip(max=1),
        lambda t: t.any(), lambda t: (t > 0).all(axis=0), lambda t: t.any(1, keepdims=True), lambda t: t.max(),
        lambda t: t.min(), lambda t: t.max(axis=0), lambda t: t.min(axis=(0, 1), keepdims=True), lambda t: t.sum(2),
        lambda t: t.argmax(axis=1, keepdims=True), lambda t: t.reshape(4, 6), lambda t: t.reshape(-1),
        lambda t: t.transpose(1, 2, 0), lambda t: t.transpose((2, 0, 1)), lambda t: t.conj(), lambda t: t.take([1], 2),
        lambda t: t.compress([True, False, True], axis=1), lambda t: t.compress([0, 1, 1, 0]),
        lambda t: t.nbytes, lambda t: t.itemsize, lambda t: t.strides, lambda t: t.ndim,
    ],
)  # fmt: skip
def test_methods_are_numpys(call):
    expected = call(A)
    for found in (call(nx.tensor(A)), nx.jit(call)(nx.tensor(A))):
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)
        assert np.shape(found) == np.shape(expected)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("size", [0, 1, 2, 7, 8])
def test_searchsorted(side, size):
    line, values = np.sort(A.ravel()[:size]), np.arange(-7.0, 7.0, 0.5).reshape(4, -1)
    found = nx.jit(lambda line, values: line.searchsorted(values, side=side))(nx.tensor(line), nx.tensor(values))
    if size:
        np.testing.assert_array_equal(found, line.searchsorted(values, side=side))
    np.testing.assert_array_equal(nx.searchsorted(line, 0.5, side), np.searchsorted(line, 0.5, side))


def test_choose():
    choices = [np.arange(3), 10, np.array([[100], [200]])]
    for call in (lambda t: t.choose(choices), nx.jit(lambda t: t.choose(choices))):
        np.testing.assert_array_equal(call(nx.tensor(INTEGERS)), INTEGERS.choose(choices))
    with pytest.raises(NxTypeError, match="choose takes integers, got f32"):
        nx.choose([1.5], [1, 2])


def test_argpartition():
    order = nx.tensor(A).argpartition(2, axis=1)
    np.testing.assert_array_equal(np.take_along_axis(A, order.to_numpy(), 1)[:, 2], np.sort(A, 1)[:, 2])
    with pytest.raises(IndexError, match="index 9 is out of bounds"):
        nx.tensor(A).argpartition(9)


@pytest.mark.parametrize(
    ("call", "of_numpy"),
    [
        (lambda nx: nx.zeros((2, 3)), "f32"), (lambda nx: nx.zeros(3, dtype=np.int64), "s64"),
        (lambda nx: nx.ones((2, 3), dtype="float64"), "f64"), (lambda nx: nx.empty((2, 3)).shape, None),
        (lambda nx: nx.full((2, 2), 7), "s64"), (lambda nx: nx.full((2, 2), 7, dtype="float32"), "f32"),
        (lambda nx: nx.full((2, 2), [1.0, 2.0]), "f32"), (lambda nx: nx.arange(5), "s64"),
        (lambda nx: nx.arange(2, 9, 3), "s64"), (lambda nx: nx.arange(9, 2, -2), "s64"),
        (lambda nx: nx.arange(0, 1, 0.125), "f32"), (lambda nx: nx.arange(5.0), "f32"),
        (lambda nx: nx.arange(3, 0), "s64"), (lambda nx: nx.arange(1, 4, dtype="float64"), "f64"),
        (lambda nx: nx.array([[1, 2], [3, 4]]), "s64"), (lambda nx: nx.asarray([1, 2], dtype="float32"), "f32"),
        (lambda nx: nx.array(nx.array([1.5, 2.5]), dtype="int64"), "s64"),
        (lambda nx: nx.array([1, 2], copy=True), "s64"),
    ],
)  # fmt: skip
def test_new_tensors(call, of_numpy):
    for found in (call(nx), nx.jit(lambda: call(nx))() if of_numpy else call(nx)):
        np.testing.assert_allclose(found, call(np))
        assert of_numpy is None or found.type == of_numpy


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nx.arange(0, 1, 0), NxValueError, "arange takes a step that is not 0"),
        (lambda: nx.arange(float("nan")), NxTypeError, "arange takes finite real numbers, got 0, nan and 1"),
        (lambda: nx.arange("a"), NxTypeError, "arange takes numbers that are known when the graph is built, got 'a'."),
        (lambda: nx.jit(nx.arange)(3), NxTypeError, "arange takes numbers that are known when the graph is built, got"),
        (lambda: nx.jit(nx.nonzero)(A), NxTypeError, "how many elements nonzero gives only the running program knows"),
        (lambda: nx.jit(nx.repeat)([1], 2), NxTypeError, "repeat takes numbers that are known when the graph is built"),
        (lambda: nx.repeat([1, 2], 1.5), NxTypeError, "repeat takes a whole number, or one for each of 2 elements"),
        (lambda: nx.max(A, A, axis=0), NxTypeError, "max of two tensors is element-wise, so no axis is special."),
        (lambda: nx.tensor([1]).mT, NxValueError, "t.mT transposes matrices, got s64[1]."),
        (lambda: nx.round([1], -1), NxValueError, "round keeps integers as they are, got s64 and decimals=-1."),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value).startswith(text)


def test_where():
    mask, row = A[:, :, :1] > 0, A[0, 0]
    for call in (nx.where, nx.jit(nx.where)):
        np.testing.assert_array_equal(call(mask, nx.tensor(row), nx.tensor(A)), np.where(mask, row, A))
    assert nx.where(mask, nx.f16([1]), 0.5).type == "f16"
    for found, expected in zip(nx.where(nx.tensor(A)), np.where(A), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_extremes_of_pairs_stay():
    assert nx.tensor([1, 5]).max(3).to_list() == nx.max([1, 5], right=3).to_list() == [3, 5]
    assert nx.min([1, 5], 3).to_list() == [1, 3]


def test_bytes_and_files(tmp_path):
    tensor = nx.tensor(A)
    assert tensor.tobytes() == A.tobytes()
    tensor.tofile(tmp_path / "x")
    np.testing.assert_array_equal(np.fromfile(tmp_path / "x"), A.ravel())
    tensor.dump(tmp_path / "y")
    np.testing.assert_array_equal(pickle.loads((tmp_path / "y").read_bytes()), A)
    with (tmp_path / "z").open("wb") as file:
        tensor.dump(file)
    assert (tmp_path / "z").read_bytes() == tensor.dumps()
    assert (tensor.flags.writeable, tensor.flags.c_contiguous) == (False, True)
    assert tensor.ctypes.data == tensor.to_numpy().ctypes.data
    assert tensor.to_device("cpu") is tensor


def test_aliases_are_the_functions():
    assert nx.std is nx.standard_deviation
    assert nx.asarray is nx.array
    assert nx.Tensor.astype is nx.Tensor.as_type
    assert pickle.loads(pickle.dumps(nx.var)) is nx.var


def test_gradients():
    gradient = nx.grad(lambda t: (t.T.repeat(2).cumsum() * nx.arange(48.0)).sum() + t.trace().std() + t.max())(
        nx.tensor(A)
    )
    assert gradient.shape == A.shape
