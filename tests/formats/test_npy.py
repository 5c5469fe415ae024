"""NumPy's .npy files."""

import io
import pickle
import re

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError
from stress_testing.damaged_bytes import damaged, outcome


def saved(array, **options):
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def written(tensor):
    file = io.BytesIO()
    nx.save_numpy(file, tensor)
    return file.getvalue()


def headed(header, body=b"", version=b"\1\0"):
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY" + version + len(header).to_bytes(2, "little") + header.encode("latin1") + body


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("dtype", ["?", "u1", ">u2", "i4", "<i8", "f2", ">f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 2)])
def test_numpy_writes_and_nxkernel_reads(dtype, shape):
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    tensor = nx.load_numpy(saved(array))
    assert tensor.dtype == array.dtype.newbyteorder("=")
    np.testing.assert_array_equal(tensor.to_numpy(), array, strict=False)


def test_fortran_order_and_the_second_version():
    array = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    assert b"'fortran_order': True" in saved(array)
    np.testing.assert_array_equal(nx.load_numpy(saved(array)).to_numpy(), array)
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version=(2, 0))
    np.testing.assert_array_equal(nx.load_numpy(file.getvalue()).to_numpy(), array)


@pytest.mark.parametrize("type_", list(nx.types.TYPES))
def test_there_and_back(type_):
    tensor = nx.tensor([[1, 0], [3, 4]], type=type_)
    back = nx.load_numpy(written(tensor))
    assert (back.type, back.to_list()) == (type_, tensor.to_list())


def test_numpy_reads_what_is_written(tmp_path):
    path = tmp_path / "x.npy"
    nx.save_numpy(path, nx.tensor([[1.5, 2.0]], names=["a", "b"]))
    np.testing.assert_array_equal(np.load(path), np.array([[1.5, 2.0]], np.float32))
    assert nx.load_numpy(path).names == (None, None)
    nx.save_numpy(path, 3)
    assert np.load(path) == 3
    assert saved(np.ones(3, ml_dtypes.bfloat16)) == written(nx.bf16([1, 1, 1]))


def test_vectorized_axes_have_no_place():
    tensor = nx.vectorize(nx.iota((2, 3)), "x")
    with pytest.raises(NxValueError) as error:
        written(tensor)
    assert str(error.value) == (
        "tensor has vectorized axes (vectorized[x: 2] s64[3]), which this format has no place for.\n"
        "  Write nx.devectorize(t), or keep them with nx.save."
    )
    with pytest.raises(NxTypeError, match="expected a tensor, an array or a number for tensor, got 'a'"):
        written("a")


class Trap:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was read",))


GOOD = saved(np.arange(6, dtype="<f4").reshape(2, 3))
SIX = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", r"a .npy file starts with b'\x93NUMPY', this one with b''"),
        (b"PK\3\4 something else", r"starts with b'\x93NUMPY', this one with b'PK\x03\x04 s'"),
        (b"\x93NUMPY\3\0" + GOOD[8:], "it is version 3.0 of the .npy format; 1.0 and 2.0 can be read"),
        (GOOD[:50], "its header is invalid: ValueError"),
        (GOOD[:-1], "its header tells of 24 bytes of elements (f32, shape [2, 3]), there are 23"),
        (GOOD + b"\0", "its header tells of 24 bytes of elements (f32, shape [2, 3]), there are 25"),
        (headed(SIX.replace("2, 3", f"{2**40}, {2**20}")), "there are 0"),
        (headed(SIX.replace("2, 3", f"{2**40}, {2**40}")), "the array claims more than any memory holds"),
        (headed(SIX.replace("2, 3", f"0, {2**62}")), "the array claims more than any memory holds"),
        (headed(SIX.replace("2, 3", "-2, -3")), "expected whole numbers that are at least 0"),
        (headed(SIX.replace("2, 3", "1," * 65)), "the array has 65 axes, at most 64 are possible"),
        (headed(SIX.replace("<f4", "|V3")), "its elements are of dtype |V3; the types are"),
        (headed(SIX.replace("<f4", "M8[s]")), "its elements are of dtype datetime64[s]; the types are"),
        (headed(SIX.replace("<f4", "<U3")), "its elements are of dtype <U3; the types are"),
        (headed(SIX.replace("'<f4'", "[('a', '<f4')]")), "its elements are of dtype [('a', '<f4')]"),
        (headed(SIX.replace("'<f4'", "[('a', 'O')]")), "it holds Python objects"),
        (headed(SIX.replace("'<f4'", "nonsense")), "its header is invalid"),
        (headed("(" * 5000), "its header is invalid"),
        (headed(SIX + " " * 20_000), "bytes, and an array of numbers needs no more than 10000"),
        (b"\x93NUMPY\2\0\xff\xff\xff\x7f", "its header claims 2147483647 bytes, and an array of numbers needs no more"),
        (headed(SIX.replace("'descr'", "'shape': (3, 2), 'descr'")), "its header has two entries for 'shape'"),
        (headed("{'descr': '<f4', 'shape': (2, 3)}"), "its header is invalid"),
        (headed("__import__('os').getcwd()"), "its header is invalid"),
        (headed(SIX.replace("<f4", "|b1"), b"\0\1\2\0\0\0"), "has elements that are neither 0 nor 1"),
        (saved(np.array([Trap()]), allow_pickle=True), "it holds Python objects, which are pickled"),
        (pickle.dumps(Trap()), r"a .npy file starts with b'\x93NUMPY'"),
    ],
)
def test_what_is_no_such_file(data, text):
    with pytest.raises(NxValueError, match=re.escape(text)) as error:
        nx.load_numpy(data)
    assert str(error.value).startswith(f"cannot read the {len(data)} bytes given: ")
    assert "allow_pickle" not in str(error.value)


def test_errors_name_the_file(tmp_path):
    path = tmp_path / "broken.npy"
    path.write_bytes(GOOD[:-1])
    with pytest.raises(NxValueError, match=re.escape(f"cannot read {path}: its header tells of 24 bytes")):
        nx.load_numpy(path)


@given(damaged(GOOD))
@settings(max_examples=120, deadline=None)
def test_damage_is_an_error_or_another_array(data):
    found = outcome(nx.load_numpy, data)
    assert isinstance(found, str | nx.Tensor)


@given(st.text(alphabet="{}()[]',:<>f48OV2 \n0x-TrueFalsdcripthon_", max_size=60))
@settings(max_examples=100, deadline=None)
def test_any_header_is_an_error_or_an_array(header):
    outcome(nx.load_numpy, headed(header))
