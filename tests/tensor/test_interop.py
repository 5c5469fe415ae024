"""Other libraries' protocols."""

import gc

import numpy as np
import pandas
import pytest

import nxkernel as nx
import nxkernel.numpy as nnp
from nxkernel.errors import NxTypeError, NxValueError

pytestmark = pytest.mark.usefixtures("little_garbage")

T = nx.f32([[1, 2], [3, 4]])


def test_arrays():
    assert np.shares_memory(np.asarray(T), T.data)
    assert not np.asarray(T).flags.writeable
    assert not np.shares_memory(np.array(T), T.data)
    assert np.array(T).flags.writeable
    assert np.asarray(T, dtype=np.float64).dtype == np.float64
    assert np.asarray(T, dtype=np.float32, copy=False) is not None
    assert T.__array__() is T.data
    with pytest.raises(NxValueError, match="a tensor of float32 becomes an array of int64 only by a copy"):
        T.__array__(np.int64, copy=False)


def test_numpy_functions_take_tensors():
    assert isinstance(np.exp(T), nx.Tensor)
    np.testing.assert_array_equal(np.exp(T), np.exp(T.data))
    assert np.concatenate([T, T]).shape == (4, 2)
    assert np.sum(T, axis=0).to_list() == [4.0, 6.0]
    assert np.add.reduce(T).to_list() == [4.0, 6.0]
    assert (np.float32(2) * T).to_list() == (np.full(2, 2, np.float32) * T).to_list() == [[2.0, 4.0], [6.0, 8.0]]
    assert T.__array_namespace__().sum(T).tolist() == 10.0


def test_numpys_questions_about_whole_tensors_have_one_truth_value_as_an_answer():
    assert np.allclose(T, T.data + 1e-9) is np.array_equal(T, T) is np.array_equiv(T, T) is True
    assert np.allclose(T, 0) is np.array_equal(T, T + 1) is np.array_equal(T, T[0]) is False
    assert nx.jit(lambda t: nx.as_type(np.allclose(t, 1), "u8"))(nx.tensor([1.0, 1.0])).to_number() == 1


def test_numpys_functions_without_a_counterpart_work_on_arrays():
    values, counts = np.unique(T, return_counts=True)
    assert isinstance(values, np.ndarray)
    assert counts.tolist() == [1, 1, 1, 1]
    assert np.nonzero(T > 2)[0].tolist() == [1, 1]
    out = np.zeros((2, 2), np.float32)
    np.add(T, 1, out=out)
    assert out.tolist() == [[2, 3], [4, 5]]


def test_numpys_functions_take_traced_values_by_nx_rules():
    def f(t):
        return np.exp(t), np.sum(t, axis=1), np.where(t > 1, t, 0), np.add.outer(t, t), 2 * np.sqrt(t)

    found = nx.jit(f, promotion="nx")(nx.s32([[1, 2], [3, 4]]))
    assert [tensor.type for tensor in found] == ["f32", "s64", "s32", "s32", "f32"]
    assert found[1].to_list() == [3, 7]
    assert found[3].shape == (2, 2, 2, 2)


def test_numpys_element_wise_functions_keep_names_and_vectorized_axes():
    named = nx.tensor([[1.0, 4.0]], names=["row", "column"])
    assert np.sqrt(named).names == ("row", "column")
    assert np.sqrt(nx.vectorize(nx.tensor([1.0, 4.0]), "x")).vectorized_axes == (("x", 2),)


def test_the_array_interface_keeps_the_memory_alive():
    class Only:
        def __init__(self, interface, owner):
            self.__array_interface__, self.owner = interface, owner

    array = np.asarray(Only(nx.iota((3,)).__array_interface__, T))
    assert array.shape == (3,)
    tensor = nx.iota((1000,))
    array = np.asarray(tensor)
    del tensor
    gc.collect()
    assert array[999] == 999
    assert T.__array_interface__["data"] == (T.data.ctypes.data, True)


def test_bfloats_reach_numpy_with_their_type():
    tensor = nx.bf16([1.5])
    assert np.asarray(tensor).dtype == tensor.dtype
    assert not hasattr(tensor, "__array_interface__")


def test_dlpack():
    array = np.from_dlpack(T)
    np.testing.assert_array_equal(array, T.data)
    assert np.shares_memory(array, T.data)
    assert not array.flags.writeable
    assert T.__dlpack_device__() == (1, 0)


def test_dlpack_before_1_0_cannot_tell_read_only_and_gets_a_copy():
    class Old:
        def __dlpack__(self, **_):
            return T.__dlpack__()

        def __dlpack_device__(self):
            return T.__dlpack_device__()

    array = np.from_dlpack(Old())
    np.testing.assert_array_equal(array, T.data)
    assert not np.shares_memory(array, T.data)
    with pytest.raises(BufferError, match=r"a tensor is read-only, which DLPack can tell from version 1\.0 on"):
        T.__dlpack__(copy=False)
    with pytest.raises(BufferError, match=r"a tensor is in the main memory \(1, 0\), asked for is \(2, 0\)"):
        T.__dlpack__(dl_device=(2, 0))


def test_plain_python():
    assert T.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert T.numpy() is T.to_numpy() is T.data
    assert nx.tensor([[5]]).item() == 5
    assert nx.bf16(0.5).item() == 0.5
    with pytest.raises(NxTypeError) as error:
        T.item()
    assert str(error.value) == "item() needs a tensor with one element, this one has 4.\n  t[0, 1] takes one."


def test_predicates_are_masks_of_numpy_and_pandas():
    x, mask = np.arange(4.0), nx.s64([3, 1, 3, 0]) == 3
    truths = np.asarray(mask)
    assert (truths.dtype, truths.tolist()) == (bool, [True, False, True, False])
    assert x[mask].tolist() == x[truths].tolist() == [0.0, 2.0]
    assert x[~mask].tolist() == [1.0, 3.0]
    assert np.extract(truths, x).tolist() == np.extract(mask, x).tolist() == [0.0, 2.0]
    assert np.compress(truths, x).tolist() == np.compress(mask, x).tolist() == [0.0, 2.0]
    assert np.delete(x, truths).tolist() == np.delete(x, mask).tolist() == [1.0, 3.0]
    np.place(x, truths, [7.0, 8.0])
    assert x.tolist() == [7.0, 1.0, 8.0, 3.0]
    x[mask] = 0
    assert x.tolist() == [0.0, 1.0, 0.0, 3.0]
    assert np.ma.masked_array(x, mask).sum() == 4.0
    frame = pandas.DataFrame({"a": [1, 2, 3, 4]})
    assert frame[truths]["a"].tolist() == frame.loc[truths, "a"].tolist() == [1, 3]


def test_tensors_of_numbers_that_index_an_array_are_positions():
    x = np.arange(4.0)
    assert x[nx.u8([3, 1])].tolist() == [3.0, 1.0]
    assert x[nx.u8([0, 1, 0, 1])].tolist() == [0.0, 1.0, 0.0, 1.0]
    assert x[nx.s64([1, 0])].tolist() == [1.0, 0.0]


@pytest.mark.parametrize("make", [nx.tensor, nnp.array])
def test_numpy_knows_that_an_array_shows_the_memory_of_a_tensor(make):
    value, rng = make(np.arange(5.0)), np.random.default_rng(0)
    assert np.may_share_memory(np.asarray(value), value)
    assert np.shares_memory(value, np.asarray(value))
    assert not np.may_share_memory(value, np.arange(5.0))
    # It draws in place where it believes an array to be a copy.
    assert sorted(rng.permutation(value).tolist()) == [0, 1, 2, 3, 4]
    assert rng.permutation(make(np.eye(3))).sum() == 3
    assert np.asarray(value).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("make", [nx.tensor, nnp.array])
@pytest.mark.parametrize("type_", ["f4", "f8"])
def test_scikit_learn_fits_a_tensor(make, type_):
    cluster = pytest.importorskip("sklearn.cluster", reason="scikit-learn is not installed")
    points = np.random.default_rng(0).normal(size=(20, 3)).astype(type_)
    model = cluster.KMeans(2, n_init=1, random_state=0)
    labels = model.fit(make(points)).labels_
    np.testing.assert_array_equal(labels, model.fit(points).labels_)


@pytest.mark.parametrize("shape", [(3, 4), (3, 4, 3), (3, 4, 4)])
def test_pillow_takes_a_tensor(shape):
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    pixels = np.arange(np.prod(shape), dtype=np.uint8).reshape(shape)
    np.testing.assert_array_equal(np.asarray(image.fromarray(nx.tensor(pixels))), pixels)
