"""Functions of Numba on NumPy arrays."""

import numba
import numpy as np

from nxkernel import primitives as p
from nxkernel.backends import MEANING
from nxkernel.numba_functions import array_function, scalar_function
from nxkernel.primitives import Spec
from nxkernel.types import f64, s64


@numba.njit
def apart(x, y):
    return abs(x - y)


@numba.njit
def ends(x):
    return x[:1], x.size


def test_a_function_of_single_numbers():
    function = scalar_function(apart, (f64, f64))
    spec = Spec(f64, (2, 2), (None, None))
    x, y = np.array([[1.0, 2.0], [3.0, 4.0]]), np.ones((2, 2))
    assert MEANING[p.njit](spec, x, y, function=function, type=f64).tolist() == [[0, 1], [2, 3]]


def test_a_function_of_arrays():
    results = (Spec(f64, (1,), (None,)), Spec(s64, (), ()))
    function = array_function(ends, [Spec(f64, (3,), (None,))], results, False)
    first, size = MEANING[p.njit_call](results, np.array([5.0, 6.0, 7.0]), function=function)
    assert (first.tolist(), size.item()) == ([5.0], 3)
