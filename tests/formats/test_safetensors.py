"""Safetensors files."""

import io
import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError
from stress_testing.damaged_bytes import damaged, outcome

KEPT = [name for name in nx.types.TYPES if name != "c128"]


def written(tensors, **options):
    file = io.BytesIO()
    nx.save_safetensors(file, tensors, **options)
    return file.getvalue()


def made(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def entry(begin=0, end=8, dtype="F32", shape=(2,)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


@pytest.mark.parametrize("type_", KEPT)
def test_there_and_back(type_):
    tensors = {"a": nx.tensor([[1, 0, 3]], type=type_), "b": nx.tensor(1, type=type_)}
    back = nx.load_safetensors(written(tensors))
    assert {name: (t.type, t.to_list()) for name, t in back.items()} == {
        name: (type_, t.to_list()) for name, t in tensors.items()
    }


def test_the_layout_is_that_of_the_format():
    data = written({"b": nx.u8([1, 2, 3]), "a": nx.f32([1]), "c": nx.broadcast(0, (0, 2))})
    length = int.from_bytes(data[:8], "little")
    assert length % 8 == 0
    header = json.loads(data[8 : 8 + length])
    assert header == {
        "c": {"dtype": "I64", "shape": [0, 2], "data_offsets": [0, 0]},
        "a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},
        "b": {"dtype": "U8", "shape": [3], "data_offsets": [4, 7]},
    }
    assert data[8 + length :] == b"\0\0\x80\x3f\1\2\3"
    assert nx.load_safetensors(data)["c"].shape == (0, 2)


def test_the_package_of_that_name_reads_and_writes_the_same():
    package = pytest.importorskip("safetensors.numpy", reason="the package safetensors is not installed")
    arrays = {"w": np.arange(6, dtype="f4").reshape(2, 3), "b": np.array([True, False]), "i": np.array(3, "i8")}
    found = package.load(written(arrays))
    assert {name: array.tolist() for name, array in found.items()} == {n: a.tolist() for n, a in arrays.items()}
    data = package.save(arrays, metadata={"format": "np"})
    assert {name: t.to_list() for name, t in nx.load_safetensors(data).items()} == {
        n: a.tolist() for n, a in arrays.items()
    }
    assert nx.load_safetensors_metadata(data) == {"format": "np"}


def test_names_of_axes_and_metadata(tmp_path):
    path = tmp_path / "x.safetensors"
    tensors = {
        "named": nx.iota((2, 3), names=["row", None]),
        "vectorized": nx.vectorize(nx.iota((2, 3)), "batch"),
        "plain": nx.eye(2),
    }
    nx.save_safetensors(path, tensors, metadata={"format": "nx"})
    back = nx.load_safetensors(path)
    assert {name: t.spec for name, t in back.items()} == {name: t.spec for name, t in tensors.items()}
    assert nx.load_safetensors_metadata(path) == {
        "format": "nx",
        "nxkernel.axes": '{"named":{"names":["row",null]},"vectorized":{"vectorized":["batch"]}}',
    }
    assert nx.load_safetensors_metadata(written({})) == {}


def test_tensors_share_the_bytes_of_the_file():
    data = written({"w": nx.f32([1, 2])})
    assert np.shares_memory(nx.load_safetensors(data)["w"].to_numpy(), np.frombuffer(data, np.uint8))


def test_what_is_not_written():
    with pytest.raises(NxTypeError) as error:
        written({"z": nx.c128([1])})
    assert str(error.value) == (
        "safetensors files have no c128 (tensors['z']).\n"
        '  Convert it, nx.as_type(t, "c64"), or write with nx.save, which keeps every type.'
    )
    with pytest.raises(NxTypeError, match="the name of a tensor is text other than '__metadata__', got 3"):
        written({3: nx.eye(2)})
    with pytest.raises(NxTypeError, match="the name of a tensor is text"):
        written({"__metadata__": nx.eye(2)})
    with pytest.raises(NxTypeError, match="metadata is text by text, got 1 for 'a'"):
        written({}, metadata={"a": 1})
    with pytest.raises(NxTypeError, match=r"a number for tensors\['w'\], got a list"):
        written({"w": [1]})


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"abc", "a safetensors file starts with a length of 8 bytes, there are 3 in all"),
        (b"\xff" * 8 + b"{}", "it claims a header of 18446744073709551615 bytes, after the length there are 2"),
        ((3).to_bytes(8, "little") + b"{}", "it claims a header of 3 bytes, after the length there are 2"),
        (made(b""), "its header does not start with '{' but with b''"),
        (made(b"[]"), "its header does not start with '{' but with b'['"),
        (made(b"{]"), "its header is no valid JSON"),
        (made(b'{"a":1,"a":1}'), "the key 'a' is there twice"),
        (made({"a": 1}), "the entry of the tensor 'a' has dtype, shape and data_offsets, this one 1"),
        (made({"a": {"dtype": "F32"}}), "this one ['dtype']"),
        (made({"a": entry(dtype="F8_E4M3")}, bytes(8)), "the tensor 'a' is of dtype 'F8_E4M3'; those that can be read"),
        (made({"a": entry(dtype=3)}, bytes(8)), "the tensor 'a' is of dtype 3"),
        (made({"a": entry(shape=(-2, -1))}, bytes(8)), "expected whole numbers that are at least 0"),
        (made({"a": entry(shape=(2**62, 2**62))}, bytes(8)), "the tensor 'a' claims more than any memory holds"),
        (
            made({"a": entry() | {"data_offsets": [0, 8.0]}}),
            "has the data_offsets [0, 8.0], expected two whole numbers",
        ),
        (made({"a": entry() | {"data_offsets": [8, 0]}}), "(f32, [2]) takes 8 bytes, its data_offsets are [8, 0]"),
        (made({"a": entry(0, 4)}, bytes(8)), "the tensor 'a' (f32, [2]) takes 8 bytes, its data_offsets are [0, 4]"),
        (made({"a": entry()}, bytes(7)), "the tensor 'a' ends at byte 8 of the data, which has 7"),
        (made({"a": entry(2**60, 2**60 + 8)}, bytes(8)), "ends at byte 1152921504606846984 of the data, which has 8"),
        (made({"a": entry(), "b": entry(4, 12)}, bytes(12)), "the tensors 'a' and 'b' overlap"),
        (made({"a": entry(), "b": entry()}, bytes(8)), "the tensors 'a' and 'b' overlap"),
        (made({"a": entry(4, 12)}, bytes(12)), "the bytes 0 to 4 of the data belong to no tensor"),
        (made({"a": entry()}, bytes(9)), "the bytes 8 to 9 of the data belong to no tensor"),
        (made({"a": entry(0, 2, "BOOL")}, b"\0\2"), "is of type bool and has elements that are neither 0 nor 1"),
        (made({"__metadata__": {"a": 1}}), "__metadata__ is no object of texts"),
        (made({"__metadata__": {"nxkernel.axes": "["}}), "nxkernel.axes in its metadata is no valid JSON"),
        (
            made({"__metadata__": {"nxkernel.axes": '{"a": 1}'}}),
            "nxkernel.axes in its metadata tells no axes of 'a' but 1",
        ),
        (
            made({"__metadata__": {"nxkernel.axes": '{"a": {"names": [1, 2]}}'}, "a": entry()}, bytes(8)),
            "the axes of the tensor 'a' are impossible",
        ),
    ],
)
def test_what_is_no_such_file(data, text):
    with pytest.raises(NxValueError, match=re.escape(text)) as error:
        nx.load_safetensors(data)
    assert str(error.value).startswith(f"cannot read the {len(data)} bytes given: ")


GOOD = written(
    {"w": nx.iota((2, 3), names=["a", None], type="f32"), "b": nx.bf16([1, 2]), "m": nx.tensor([True], type="bool")}
)


@given(damaged(GOOD))
@settings(max_examples=150, deadline=None)
def test_damage_is_an_error_or_other_tensors(data):
    found = outcome(nx.load_safetensors, data)
    assert isinstance(found, str | dict)
    outcome(nx.load_safetensors_metadata, data)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 9) | st.floats() | st.sampled_from(["F32", "BOOL", "a"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["dtype", "shape", "data_offsets", "a"]), inner)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["a", "b", "__metadata__"]), JSON), st.binary(max_size=16))
@settings(max_examples=100, deadline=None)
def test_any_header_is_an_error_or_tensors(header, data):
    outcome(nx.load_safetensors, made(header, data))


@given(
    st.lists(
        st.builds(
            entry,
            st.integers(0, 12),
            st.integers(0, 12),
            st.sampled_from(["F32", "U8"]),
            st.lists(st.integers(0, 3), max_size=2),
        ),
        max_size=3,
    ),
    st.integers(0, 12),
)
@settings(max_examples=100, deadline=None)
def test_what_is_read_covers_the_data_once(entries, size):
    header = {f"t{place}": item for place, item in enumerate(entries)}
    found = outcome(nx.load_safetensors, made(header, bytes(size)))
    if not isinstance(found, str):
        assert sum(nx.byte_size(tensor) for tensor in found.values()) == size
