"""NumPy's rules of types, with NumPy as the oracle."""

import itertools

import numpy as np
import pytest

from nxkernel import numpy_promotion
from nxkernel.element_types import BY_DTYPE, bf16
from nxkernel.errors import NxTypeError

TYPES = [type_ for type_ in BY_DTYPE.values() if type_ is not bf16]
NUMBERS = [True, 3, 0.5, 2j]


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize(("left", "right"), list(itertools.product(TYPES, repeat=2)))
def test_two_types(left, right):
    assert numpy_promotion.merge(left, right).dtype == np.result_type(left.dtype, right.dtype)


@pytest.mark.parametrize(("type_", "number"), list(itertools.product(TYPES, NUMBERS)))
def test_a_type_beside_a_number(type_, number):
    wanted = np.result_type(np.zeros(2, type_.dtype), number)
    assert numpy_promotion.merge_number(type_, number).dtype == wanted
    assert numpy_promotion.merge_weak(type_, numpy_promotion.type_of(number)).dtype == wanted


def test_numbers_out_of_range():
    with pytest.raises(NxTypeError, match=r"^the Python integer 300 is outside of u8, which goes from 0 to 255\."):
        numpy_promotion.merge_number(BY_DTYPE[np.dtype("u1")], 300)
    with pytest.raises(NxTypeError, match=r"^'a' is no number$"):
        numpy_promotion.type_of("a")
