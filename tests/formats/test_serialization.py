"""nxkernel's own format."""

import dataclasses
import hashlib
import io
import json
import os
import pickle
import re
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError
from nxkernel.formats import serialization
from stress_testing.damaged_bytes import damaged, outcome

CONTAINER = {
    "weights": [nx.iota((2, 3), names=["row", None], type="f32"), nx.bf16([1, 2])],
    "mask": (nx.tensor([True, False], type="bool"), None),
    "name": "model",
    "rate": 0.1,
}


def same(left, right):
    if isinstance(left, nx.Tensor):
        return left.spec == right.spec and left.to_numpy().tobytes() == right.to_numpy().tobytes()
    if isinstance(left, list | tuple):
        return type(left) is type(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    return repr(left) == repr(right)


@pytest.mark.parametrize("compressed", [False, True, 1, 9])
def test_there_and_back(compressed):
    data = nx.serialize(CONTAINER, compressed=compressed)
    assert same(nx.deserialize(data), CONTAINER)
    assert data == nx.serialize(CONTAINER, compressed=compressed)


@given(
    arrays.arrays(
        st.sampled_from([type_.dtype for type_ in nx.types.TYPES.values() if type_ != "bf16"]),
        arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
    ),
    st.booleans(),
)
@settings(max_examples=80, deadline=None)
def test_every_bit_of_an_array(array, compressed):
    tensor = nx.Tensor.from_numpy(array)
    assert same(nx.deserialize(nx.serialize(tensor, compressed=compressed)), tensor)


@pytest.mark.parametrize("type_", list(nx.types.TYPES))
def test_every_type(type_):
    tensor = nx.tensor([[1, 0, 3]], type=type_)
    assert same(nx.deserialize(nx.serialize(tensor)), tensor)


def test_vectorized_axes():
    tensor = nx.vectorize(nx.iota((2, 3, 4), names=[None, "a", None]), "x")
    back = nx.deserialize(nx.serialize([tensor]))[0]
    assert back.vectorized_axes == (("x", 2),)
    assert same(back, tensor)


def test_classes():
    made = dataclasses.make_dataclass("Params", ["w"])(nx.eye(2))
    back = nx.deserialize(nx.serialize(made), classes=[type(made)])
    assert same(back.w, made.w)
    with pytest.raises(
        NxValueError, match=r"it holds a 'Params' of the module .*\n  Pass the class to be made: classes="
    ):
        nx.deserialize(nx.serialize(made))


def test_files(tmp_path):
    path = tmp_path / "model.nxk"
    nx.save(path, CONTAINER)
    assert same(nx.load(path), CONTAINER)
    assert path.read_bytes() == nx.serialize(CONTAINER)
    with pytest.raises(NxTypeError, match=r"a object cannot be written: container\['a'\]"):
        nx.save(path, {"a": object()})
    assert same(nx.load(path), CONTAINER)
    assert os.listdir(tmp_path) == ["model.nxk"]
    file = io.BytesIO()
    nx.save(file, 3, compressed=True)
    assert nx.load(io.BytesIO(file.getvalue())) == 3


def test_tensors_are_over_the_bytes_and_aligned():
    data = nx.serialize([nx.u8([1]), nx.f32([1, 2])])
    tensor = nx.deserialize(data)[1].to_numpy()
    whole = np.frombuffer(data, np.uint8)
    assert np.shares_memory(tensor, whole)
    assert (tensor.ctypes.data - whole.ctypes.data) % 64 == 0
    assert not tensor.flags.writeable


def read_by_the_book(data):
    """The header, and the elements of each tensor as a flat array, read as the module's docstring says."""
    magic, version, flags, length, stored, size = struct.unpack("<8sHHIQQ", data[:32])
    assert (magic, version) == (b"\x89NXK\r\n\x1a\n", 1)
    assert hashlib.sha256(data[:32] + data[64:]).digest() == data[32:64]
    header = json.loads(data[64 : 64 + length])
    start = -(-(64 + length) // 64) * 64
    assert set(data[64 + length : start]) <= {0x20}
    assert len(data) == start + stored
    body = zlib.decompress(data[start:]) if flags & 1 else data[start:]
    assert len(body) == size
    place, found = 0, []
    for told in header["tensors"]:
        dtype = np.dtype({"f32": "<f4", "s64": "<i8", "u8": "u1"}[told["type"]])
        place = -(-place // 64) * 64
        count = int(np.prod(told["shape"]))
        found.append(np.frombuffer(body, dtype, count, place).tolist())
        place += count * dtype.itemsize
    assert place == size
    return header, found


@pytest.mark.parametrize("compressed", [False, True])
def test_the_layout_is_as_documented(compressed):
    container = [nx.f32([[1.5, 2]]), {"n": nx.tensor(7, names=[])}, nx.tensor([1, 2], type="u8", names=["x"]), 3]
    header, found = read_by_the_book(nx.serialize(container, compressed=compressed))
    assert header == {
        "tensors": [
            {"type": "f32", "shape": [1, 2]},
            {"type": "s64", "shape": []},
            {"type": "u8", "shape": [2], "names": ["x"]},
        ],
        "container": ["list", [["tensor", 0], ["dict", [["n", ["tensor", 1]]]], ["tensor", 2], ["int", "3"]]],
    }
    assert found == [[1.5, 2.0], [7], [1, 2]]


def test_a_file_of_version_1():
    """What was written once is read for good; a change of this text is a new version of the format."""
    data = (
        bytes.fromhex("894e584b0d0a1a0a010000007c00000004000000000000000400000000000000")
        + bytes.fromhex("d6b7cd24b65a6f484f0e0f43ca3f4d8e79ddae14ee67b37487f12e38466e1327")
        + b'{"tensors":[{"type":"bf16","shape":[1,2],"names":["row",null]}],'
        + b'"container":["dict",[["w",["tensor",0]],["n",["int","3"]]]]}    '
        + b"\x80\x3f\x00\x40"
    )
    container = {"w": nx.tensor([[1, 2]], type="bf16", names=["row", None]), "n": 3}
    assert nx.serialize(container) == data
    assert same(nx.deserialize(data), container)


def forged(header, body=b"", flags=0, size=None, version=1, stored=None):
    """A file whose checksum is right, whatever it tells."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    text_end = text + b" " * (-len(text) % 64)
    prefix = struct.pack(
        "<8sHHIQQ",
        serialization.MAGIC,
        version,
        flags,
        len(text),
        len(body) if stored is None else stored,
        len(body) if size is None else size,
    )
    return prefix + hashlib.sha256(prefix + text_end + body).digest() + text_end + body


def header(*tensors, container=None):
    return {"tensors": list(tensors), "container": container}


F32 = {"type": "f32", "shape": [2]}
GOOD = nx.serialize(CONTAINER)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", r"what nx.save writes starts with b'\x89NXK\r\n\x1a\n', this with b''"),
        (GOOD.replace(b"\r\n", b"\n"), r"this with b'\x89NXK\n\x1a\n\x01'"),
        (pickle.dumps(3), "it looks like a pickle, which could run any code when it is read: nxkernel reads none"),
        (b"\x93NUMPY\1\0", "it looks like a .npy file: nx.load_numpy reads it"),
        (b"PK\3\4", "it looks like a ZIP archive: nx.load_numpy_archive reads .npz"),
        (GOOD[:40], "it ends after 40 bytes, its first part alone has 64"),
        (GOOD[:-1], f"it should have {len(GOOD)} bytes by what it tells of itself, there are {len(GOOD) - 1}"),
        (GOOD + b"\0", f"it should have {len(GOOD)} bytes by what it tells of itself, there are {len(GOOD) + 1}"),
        (GOOD[:-1] + b"\xff", "its checksum is wrong: it was damaged or changed after it was written"),
        (forged(header(), version=2), "it is version 2 of the format, this nxkernel reads version 1"),
        (forged(header(), flags=2), "it has the flags 0x2, of which only 0x1 has a meaning"),
        (forged(header(), size=8), "its data is not compressed and has 0 bytes, it should have 8"),
        (forged(header(), stored=2**60), "it should have 1152921504606847104 bytes"),
        (forged(b"[]"), "its header is no JSON object but []"),
        (forged(b'{"tensors": [], "tensors": [], "container": null}'), "the key 'tensors' is there twice"),
        (forged({"tensors": []}), "its header has tensors and container, this one ['tensors']"),
        (forged({"tensors": {}, "container": None}), "its header has tensors and container"),
        (forged(header(3)), "tensor 0 is told of by type, shape, names and vectorized, not by 3"),
        (forged(header(F32 | {"offset": 0}), bytes(8)), "tensor 0 is told of by type, shape, names and vectorized"),
        (forged(header({"type": "f31", "shape": []})), "tensor 0 is of type 'f31'; the types are u8"),
        (forged(header({"type": [], "shape": []})), "tensor 0 is of type []"),
        (forged(header({"type": "f32", "shape": [-1]})), "tensor 0 has the shape [-1], expected whole numbers"),
        (forged(header({"type": "f32", "shape": [2**62, 2]})), "tensor 0 claims more than any memory holds"),
        (forged(header(F32), bytes(7)), "tensor 0 ends at byte 8 of the data, which has 7"),
        (forged(header(F32), bytes(9)), "its tensors take 8 bytes, its data has 9"),
        (forged(header(F32, F32), bytes(16)), "tensor 1 ends at byte 72 of the data, which has 16"),
        (forged(header({"type": "bool", "shape": [2]}), b"\0\2"), "tensor 0 is of type bool and has elements that are"),
        (forged(header(F32 | {"names": ["a", "b"]}), bytes(8)), "the axes of tensor 0 are impossible"),
        (forged(header(container=["tensor", 0])), "its structure has ['tensor', 0], which is nothing"),
        (forged(header(F32), b"no zlib", flags=1, size=8), "its data cannot be unpacked: Error -3"),
        (forged(header(F32), zlib.compress(bytes(9)), flags=1, size=8), "its data does not unpack to the 8 bytes"),
        (forged(header(F32), zlib.compress(bytes(7)), flags=1, size=8), "its data does not unpack to the 8 bytes"),
        (forged(header(F32), zlib.compress(bytes(8))[:-1], flags=1, size=8), "its data does not unpack to the 8 bytes"),
        (forged(header(F32), zlib.compress(bytes(8)) + b"\0", flags=1, size=8), "does not unpack to the 8 bytes"),
        (forged(header(), zlib.compress(bytes(1)), flags=1, size=0), "its data does not unpack to the 0 bytes"),
        (forged(header(F32), zlib.compress(bytes(8)), flags=1, size=2**50), "more than the limit of 4294967296."),
    ],
)
def test_what_is_no_such_file(data, text):
    with pytest.raises(NxValueError, match=re.escape(text)) as error:
        nx.deserialize(data)
    assert str(error.value).startswith(f"cannot read the {len(data)} bytes given: ")


def test_what_unpacks_to_too_much():
    data = nx.serialize(nx.broadcast(0.0, (1_000_000,)), compressed=True)
    assert len(data) < 10_000
    with pytest.raises(NxValueError) as error:
        nx.deserialize(data, limit=1000)
    assert str(error.value) == (
        f"cannot read the {len(data)} bytes given: its data unpacks to 4000000 bytes, more than the limit of 1000.\n"
        "  Allow more where you trust the file: limit=bytes."
    )
    assert nx.deserialize(data).shape == (1_000_000,)


def test_arguments():
    with pytest.raises(NxTypeError, match=r"deserialize takes bytes, got 'model\.nxk'; nx\.load reads files"):
        nx.deserialize("model.nxk")
    for level in (10, -1, "high"):
        with pytest.raises(NxValueError, match="compressed is True, False or a level from 0 to 9, got"):
            nx.serialize(1, compressed=level)


def test_errors_name_the_file(tmp_path):
    path = tmp_path / "model.nxk"
    path.write_bytes(GOOD[:-1])
    with pytest.raises(NxValueError, match=re.escape(f"cannot read {path}: it should have")):
        nx.load(path)


@given(damaged(GOOD))
@settings(max_examples=100, deadline=None)
def test_damage_is_noticed(data):
    found = outcome(nx.deserialize, data)
    assert isinstance(found, str) or data == GOOD


TEXT = GOOD[64 : 64 + int.from_bytes(GOOD[12:16], "little")]
BODY = GOOD[64 + len(TEXT) + -len(TEXT) % 64 :]


@given(damaged(TEXT), st.booleans())
@settings(max_examples=120, deadline=None)
def test_a_header_that_was_tampered_with_is_an_error_or_a_container(text, compressed):
    body = zlib.compress(BODY) if compressed else BODY
    outcome(nx.deserialize, forged(text, body, flags=int(compressed), size=len(BODY)))


@given(damaged(zlib.compress(BODY)))
@settings(max_examples=100, deadline=None)
def test_compressed_data_that_was_tampered_with(body):
    outcome(nx.deserialize, forged(TEXT, body, flags=1, size=len(BODY)))
