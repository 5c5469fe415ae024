"""What functions of Numba are: how they are told from others, their arguments, types and identity."""

import numba
import numpy as np
import pytest

from nxkernel import numba_functions as functions
from nxkernel.errors import NxTypeError
from nxkernel.primitives import Spec
from nxkernel.types import bool_, f32, f64, s64


@numba.njit
def weighted(x, y=2.0):
    return x * y


@numba.njit
def is_more(x, y):
    return x > y


@numba.vectorize(["f8(f8)"])
def halved(x):
    return x / 2


@numba.njit
def total(x):
    return x.sum()


def test_what_numba_made():
    assert [functions.is_compiled(one) for one in (weighted, halved, np.sin, len, "f", numba)] == [True] * 2 + [
        False
    ] * 4


def test_arguments_by_name_and_left_out():
    assert functions.bound(weighted, [1], {}) == [1, 2.0]
    assert functions.bound(weighted, [], {"y": 3, "x": 1}) == [1, 3]
    assert functions.bound(halved, [4], {}) == [4]
    with pytest.raises(NxTypeError, match=r"weighted\(x, y=2.0\): missing a required argument: 'x'"):
        functions.bound(weighted, [], {})


def test_types_of_arguments_and_result():
    made = functions.scalar_function(weighted, (f32, s64))
    assert (made.types, made.result, str(made)) == ((f32, s64), f64, "weighted")
    assert functions.scalar_function(is_more, (f32, f32)).result is bool_
    assert functions.scalar_function(halved, (s64,)).types == (f64,)


def test_identity_is_that_of_the_code():
    def made(factor):
        return functions.scalar_function(numba.njit(lambda x: x * factor), (f64,))

    assert made(2.0) == made(2.0)
    assert hash(made(2.0)) == hash(made(2.0))
    assert made(2.0) != made(3.0)


def test_each_element_of_arrays():
    made = functions.scalar_function(weighted, (f32, f32))
    found = made.over([np.float32([[1, 2]]), np.float32([[3, 4]])])
    assert (found.tolist(), found.dtype) == ([[3, 8]], np.float32)
    assert functions.scalar_function(halved, (f64,)).over([np.array([3.0])]).tolist() == [1.5]


def test_a_function_of_arrays():
    made = functions.array_function(total, [Spec(f64, (3,), (None,))], (Spec(f64, (), ()),), True)
    assert made([np.arange(3.0)])[0] == 3.0
    assert made == functions.array_function(total, [Spec(f64, (3,), (None,))], (Spec(f64, (), ()),), True)
    assert (str(made), made.copies) == ("total", False)
