"""The table from NumPy's functions to ours."""

import numpy as np
import pytest

import nxkernel as nx
import nxkernel.numpy as nnp
from numpy_comparison.traced_functions import traced
from nxkernel.errors import NxTypeError

#: Names of the array API standard 2024.12 that NumPy has too.
STANDARD = (
    "abs acos acosh add all any arange argmax argmin argsort asarray asin asinh astype atan atan2 atanh "
    "bitwise_and bitwise_left_shift bitwise_invert bitwise_or bitwise_right_shift bitwise_xor bool "
    "broadcast_arrays broadcast_to can_cast ceil clip complex128 complex64 concat conj copysign cos cosh "
    "count_nonzero cumulative_prod cumulative_sum diff divide e empty empty_like equal exp expand_dims expm1 eye "
    "finfo flip float32 float64 floor floor_divide full full_like greater greater_equal hypot iinfo imag inf "
    "int16 int32 int64 int8 isdtype isfinite isinf isnan less less_equal linspace log log10 log1p log2 logaddexp "
    "logical_and logical_not logical_or logical_xor matmul matrix_transpose max maximum mean meshgrid min minimum "
    "moveaxis multiply nan negative newaxis nonzero not_equal ones ones_like permute_dims pi positive pow prod "
    "real reciprocal remainder repeat reshape result_type roll round searchsorted sign signbit sin sinh sort sqrt "
    "square squeeze stack std subtract sum take take_along_axis tan tanh tensordot tile tril triu trunc uint16 "
    "uint32 uint64 uint8 unique_all unique_counts unique_inverse unique_values unstack var vecdot where zeros "
    "zeros_like "
)


def test_names_of_the_standard():
    missing = [name for name in STANDARD.split() if not hasattr(nnp, name) or not hasattr(np, name)]
    assert missing == []


@pytest.mark.parametrize("name", ["zeros", "exp", "sum", "einsum", "where", "linspace", "concatenate", "median"])
def test_functions(name):
    assert nnp.twin(getattr(np, name)) is getattr(nnp, name)


def test_functions_of_modules_and_methods():
    assert nnp.twin(np.linalg.norm) is nnp.linalg.norm
    assert nnp.twin(np.fft.rfft) is nnp.fft.rfft
    assert nnp.twin(np.add.reduce) == nnp.add.reduce
    assert nnp.twin(len) is len
    assert nnp.twin(np.float32)(1.5) == np.float32(1.5)
    assert nnp.twin([]) == []


def test_functions_without_a_twin_take_known_values():
    assert nnp.twin(np.base_repr)(5) == "101"
    with pytest.raises(NxTypeError, match=r"np.polydiv\(\) has no counterpart for values that are traced"):
        traced(lambda ours, x: nnp.twin(np.polydiv)(x, x), np.ones(3))


def test_traced_values_are_not_written_into_numpys_arrays():
    with pytest.raises(NxTypeError, match=r"np\.add would write traced values into an array of NumPy's"):
        # Without source: what has source is rewritten, and the array is the program's own.
        nx.jit(eval("lambda x: np.add(x, 1, out=np.zeros(3))", {"np": np}), promotion="numpy")(np.ones(3))


def test_functions_of_others_are_not_told_as_numpys():
    twice = np.frompyfunc(abs, 1, 1)
    with pytest.raises(NxTypeError, match=r"^abs \(vectorized\)\(\) has no counterpart for values that are traced"):
        nx.jit(lambda x: twice(x), promotion="numpy")(np.ones(2))


def test_numpy_writes_into_its_own_arrays_at_places_of_tensors():
    places, z = nx.tensor([0, 2]), np.zeros(4)
    np.put_along_axis(z, places, 1.0, 0)
    assert z.tolist() == [1, 0, 1, 0]
    np.put(z, places, 5)
    assert z.tolist() == [5, 0, 5, 0]
    np.copyto(z, nx.tensor([0.0, 2.0, 3.0, 4.0]))
    assert z.tolist() == [0, 2, 3, 4]
    np.place(z, np.array([True, False, False, True]), nx.tensor([7.0]))
    assert z.tolist() == [7, 2, 3, 7]
    square = np.zeros((2, 2))
    np.fill_diagonal(square, nx.tensor(1.0))
    assert square.tolist() == [[1, 0], [0, 1]]


@pytest.mark.usefixtures("ahead_of_calls")
def test_places_that_are_deleted_are_known():
    assert np.asarray(np.delete(np.arange(4), nx.tensor([0, 2]))).tolist() == [1, 3]
