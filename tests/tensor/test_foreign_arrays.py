"""Other libraries' arrays as NumPy's."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError
from nxkernel.tensor.foreign_arrays import array_of_numbers, is_numeric


def refusal(value, argument="x"):
    with pytest.raises(NxTypeError) as error:
        array_of_numbers(value, argument)
    return str(error.value)


def test_arrays_come_back_as_they_are():
    array = np.arange(3.0)
    assert array_of_numbers(array) is array
    swapped = array.astype(">f8")
    assert array_of_numbers(swapped) is swapped
    assert array_of_numbers(np.float32(2)).shape == ()
    matrix = array_of_numbers(np.arange(4).reshape(2, 2).view(np.recarray))
    assert type(matrix) is np.ndarray


def test_is_numeric():
    assert all(is_numeric(np.dtype(name)) for name in ["f2", ">i4", "?", "c16", nx.types.bf16.dtype])
    assert not any(is_numeric(np.dtype(name)) for name in ["O", "U1", "V2", "M8[s]", "g"])


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (
            np.array(["1"]),
            'an array of dtype <U1 is no tensor (argument x).\n  x.astype("float64") reads numbers out of text.',
        ),
        (
            np.array([None]),
            "an array of Python objects is no tensor (argument x).\n"
            '  x.astype("float64") converts it where each element is a number; lists of uneven lengths are none.',
        ),
        (
            np.zeros(2, [("a", "f4"), ("b", "i4")]),
            "an array of records with the fields 'a', 'b' is no tensor (argument x).\n  Take one field: x['a'].",
        ),
        (
            np.array(["2020"], "M8[s]"),
            "an array of dtype datetime64[s] is no tensor (argument x).\n"
            '  (x - x.min()) / np.timedelta64(1, "s") is seconds as numbers.',
        ),
        (
            np.array([1], "m8[s]"),
            "an array of dtype timedelta64[s] is no tensor (argument x).\n"
            '  x / np.timedelta64(1, "s") is seconds as numbers.',
        ),
        (
            np.zeros(1, "V3"),
            "an array of dtype |V3 is no tensor (argument x).\n"
            "  The types are u8 u16 u32 u64 s8 s16 s32 s64 bf16 f16 f32 f64 c64 c128 bool; "
            "array.astype converts to one of them.",
        ),
        (
            np.ma.array([1, 2], mask=[True, False]),
            "a masked array is no tensor, which has no mask (argument x).\n"
            "  Fill it: x.filled(0) puts zeros where it is masked, x.filled(np.nan) NaN into floats.",
        ),
    ],
)
def test_what_a_tensor_cannot_hold_is_refused(array, text):
    assert refusal(array) == text


@pytest.mark.skipif(np.dtype("g").itemsize == 8, reason="here long double is float64")
def test_wider_floats_are_refused():
    assert refusal(np.zeros(1, "g")).endswith('x.astype("float64") is the widest that there is.')
    assert refusal(np.zeros(1, "G")).endswith('x.astype("complex128") is the widest that there is.')


def test_every_way_in_refuses_masks():
    masked = np.ma.array([1.0, 2.0], mask=[True, False])

    @nx.jit
    def double(x):
        return nx.multiply(x, 2)

    @nx.jit
    def captured(x):
        return nx.add(x, masked)

    for way in (nx.tensor, nx.sum, double, nx.Tensor.from_numpy, lambda x: captured(1.0), lambda x: nx.f32(1) + x):
        with pytest.raises(NxTypeError, match="a masked array is no tensor, which has no mask"):
            way(masked)


def test_the_error_names_the_argument():
    @nx.jit
    def double(labels):
        return nx.multiply(labels, 2)

    with pytest.raises(NxTypeError, match=r"\(argument labels\)"):
        double(np.array(["a"]))
    with pytest.raises(NxTypeError, match=r"\(argument tensor\)"):
        nx.sum(np.array([{}]))


def test_what_has_an_array_and_what_only_has_dlpack():
    class Offers:
        def __array__(self, dtype=None, copy=None):
            return np.arange(3)

    class Unnamed:
        """As PyTorch's bf16: no name in NumPy, one in DLPack."""

        def __array__(self, dtype=None, copy=None):
            raise TypeError("no such type")

        def __dlpack__(self, **options):
            return nx.bf16([1.5]).__dlpack__(**options)

        def __dlpack_device__(self):
            return (1, 0)

    class Broken:
        def __array__(self, dtype=None, copy=None):
            raise TypeError("no such type")

    assert nx.tensor(Offers()).to_list() == [0, 1, 2]
    assert nx.tensor(Unnamed()).type == "bf16"
    with pytest.raises(TypeError, match="no such type"):
        nx.tensor(Broken())


def test_what_offers_half_of_dlpack():
    class Half:
        def __array__(self, dtype=None, copy=None):
            raise TypeError("no data here")

        def __dlpack__(self, **options):
            raise AssertionError

    with pytest.raises(TypeError, match="no data here"):
        array_of_numbers(Half())
