"""Parts of the bytes of elements, and elements as those of another type: read, and written through, as in NumPy."""

import numpy as np
import pytest

import nxkernel as nx
import nxkernel.numpy as xp
from nxkernel.errors import NxTypeError, NxValueError

A = (np.arange(6.0) * 1.7 - 3).reshape(2, 3)


def written(x):
    field = x.getfield(np.int32, 4)
    field[0, 1] = 7
    return field * 1


def followed(x):
    field = x.getfield(np.int32, 4)
    x[0] = 1
    return field * 1


def field_set(x):
    x.setfield(5, np.int16, 2)
    return x * 1


def without_signs(x):
    x.view(np.uint64)[...] &= np.uint64(0x7FFFFFFFFFFFFFFF)
    return x * 1


def swapped_in_place(x):
    return x.byteswap(inplace=True) * 1


def imaginary_set(x):
    z = x + 1j
    z.setfield(2.5, np.float64, 8)
    return z, z.getfield(np.float32, 4)


def masks(x):
    mask = x > 0
    mask.view(np.uint8)[0] = 0
    return mask, mask.view(np.int8).sum()


@pytest.mark.parametrize(
    "function",
    [
        written, followed, field_set, without_signs, swapped_in_place, imaginary_set, masks,
        lambda x: x.getfield(np.int32, 4), lambda x: x.T.getfield(np.int16, 2), lambda x: x[:, ::2].view("u8") >> 52,
        lambda x: x.view(np.complex64) * 1, lambda x: x[0, 0].view(np.int64), lambda x: x[0, 0].getfield(np.int32, 4),
        lambda x: x.byteswap(), lambda x: x.view().sum(),
    ],
)  # fmt: skip
def test_as_in_numpy(function):
    expected_in, given, array = A.copy(), A.copy(), xp.asarray(A.copy())
    expected = function(expected_in)
    for found, changed in ((nx.jit(function, promotion="numpy")(given), given), (function(array), array)):
        np.testing.assert_array_equal(np.asarray(changed), expected_in)
        pairs = [(found, expected)] if not isinstance(expected, tuple) else zip(found, expected, strict=True)
        for one, other in pairs:
            assert np.asarray(one).dtype == other.dtype
            assert np.asarray(one).tobytes() == other.tobytes()


@pytest.mark.parametrize(
    ("function", "error", "text"),
    [
        (lambda x: x.view("i4"), NxTypeError, "view() shows elements of f64 as those of types of 8 bytes, not as s32."),
        (lambda x: x.getfield("i4", 6), NxValueError, "getfield(): an element of f64 has 8 bytes, and no s32 from"),
        (lambda x: x.getfield("?"), NxTypeError, "getfield() shows no elements of f64 as those of bool."),
        (lambda x: (x > 0).view("?").view("f2"), NxTypeError, "view() shows elements of bool as those of types"),
    ],
)  # fmt: skip
def test_errors(function, error, text):
    for call in (function, nx.jit(function, promotion="numpy")):
        with pytest.raises(error) as raised:
            call(xp.asarray(A) if call is function else A)
        assert str(raised.value).startswith(text)


def test_gradient_through_a_field_of_the_same_type():
    np.testing.assert_array_equal(nx.grad(lambda x: (x.getfield(np.float64) ** 2).sum(), promotion="numpy")(A), 2 * A)
