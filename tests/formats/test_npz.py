"""NumPy's .npz files."""

import io
import re
import warnings
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError
from stress_testing.damaged_bytes import damaged, outcome


def written(tensors, **options):
    file = io.BytesIO()
    nx.save_numpy_archive(file, tensors, **options)
    return file.getvalue()


def zipped(*entries, method=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w", method) as archive:
        warnings.simplefilter("ignore")
        for name, data in entries:
            archive.writestr(name, data)
    return file.getvalue()


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_numpy_writes_and_nxkernel_reads(save):
    file = io.BytesIO()
    save(file, np.arange(3), weight=np.eye(2, dtype="f2"))
    found = nx.load_numpy_archive(file.getvalue())
    assert [(name, tensor.type, tensor.to_list()) for name, tensor in found] == [
        ("weight", "f16", [[1.0, 0.0], [0.0, 1.0]]),
        ("arr_0", "s64", [0, 1, 2]),
    ]


@pytest.mark.parametrize("compressed", [False, True])
def test_nxkernel_writes_and_numpy_reads(compressed, tmp_path):
    path = tmp_path / "x.npz"
    nx.save_numpy_archive(path, {"layer/w": nx.eye(2), "b": np.zeros(3)}, compressed=compressed)
    with np.load(path) as found:
        assert sorted(found) == ["b", "layer/w"]
        np.testing.assert_array_equal(found["layer/w"], np.eye(2, dtype=int))
    assert [name for name, _ in nx.load_numpy_archive(path)] == ["layer/w", "b"]


def test_every_type_and_the_same_bytes_each_time():
    tensors = [(str(type_), nx.tensor([1, 0], type=type_)) for type_ in nx.types.TYPES.values()]
    assert [(str(t.type), t.to_list()) for _, t in nx.load_numpy_archive(written(tensors))] == [
        (name, tensor.to_list()) for name, tensor in tensors
    ]
    assert written(tensors) == written(dict(tensors))
    assert nx.load_numpy_archive(written({})) == []
    assert len(written({"x": nx.broadcast(0, (10_000,))}, compressed=True)) < 1000


def test_what_is_not_written():
    with pytest.raises(NxTypeError, match="the name of a tensor in an archive is text, got 1"):
        written({1: nx.eye(2)})
    with pytest.raises(NxValueError, match="the name 'a' is there twice; names in an archive must differ"):
        written([("a", 1), ("a", 2)])
    with pytest.raises(NxTypeError, match=r"expected a tensor, an array or a number for tensors\['a'\], got 'text'"):
        written({"a": "text"})
    with pytest.raises(NxValueError, match=r"tensors\['a'\] has vectorized axes"):
        written({"a": nx.vectorize(nx.eye(2), "x")})


ONE = npy(np.arange(3))


def encrypted():
    data = bytearray(zipped(("a.npy", ONE)))
    data[6] |= 1
    data[data.index(b"PK\1\2") + 8] |= 1
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "it is no .npz archive: File is not a zip file"),
        (ONE, "it is no .npz archive: File is not a zip file"),
        (zipped(("a.npy", ONE))[:-30], "it is no .npz archive"),
        (zipped(("a.txt", b"text")), "the entry 'a.txt' is no .npy file, as all of an .npz archive are"),
        (zipped(("a.npy", ONE), ("a.npy", ONE)), "the entry 'a.npy' is there twice"),
        (zipped(("a.npy", ONE), method=zipfile.ZIP_LZMA), "is compressed by method 14; 0 and 8 can be read"),
        (encrypted(), "the entry 'a.npy' is encrypted"),
        (
            zipped(("a.npy", ONE)).replace(b"\2\0\0\0\0\0\0\0", b"\3\0\0\0\0\0\0\0"),
            "the entry 'a.npy' is damaged: its checksum is wrong",
        ),
    ],
)
def test_what_is_no_such_archive(data, text):
    with pytest.raises(NxValueError, match=re.escape(text)):
        nx.load_numpy_archive(data)


def test_errors_name_file_and_entry(tmp_path):
    path = tmp_path / "x.npz"
    path.write_bytes(zipped(("a.npy", ONE[:-1])))
    with pytest.raises(NxValueError, match=re.escape(f"cannot read 'a.npy' in {path}: its header tells of 24 bytes")):
        nx.load_numpy_archive(path)
    np.savez(path, a=np.array([None]))
    with pytest.raises(NxValueError, match="it holds Python objects, which are pickled"):
        nx.load_numpy_archive(path)


def test_what_unpacks_to_too_much():
    data = zipped(("a.npy", npy(np.zeros(1_000_000))), method=zipfile.ZIP_DEFLATED)
    assert len(data) < 20_000
    with pytest.raises(NxValueError) as error:
        nx.load_numpy_archive(data, limit=1_000_000)
    assert str(error.value) == (
        f"cannot read the {len(data)} bytes given: it unpacks to 8000128 bytes, more than the limit of 1000000.\n"
        "  Allow more where you trust the file: limit=bytes."
    )
    assert nx.load_numpy_archive(data)[0][1].shape == (1_000_000,)


def test_what_claims_to_unpack_to_little():
    """The sizes in the directory are lies: nothing beyond them is unpacked."""
    data = bytearray(zipped(("a.npy", npy(np.zeros(1_000_000))), method=zipfile.ZIP_DEFLATED))
    place = data.index(b"PK\1\2") + 24
    data[place : place + 4] = (1000).to_bytes(4, "little")
    with pytest.raises(NxValueError, match=r"it unpacks to 8000128 bytes, more than the limit of 10000\."):
        nx.load_numpy_archive(bytes(data), limit=10_000)
    with pytest.raises(NxValueError, match="has 8000128 bytes by its own header, by the archive's directory 1000"):
        nx.load_numpy_archive(bytes(data))


GOOD = zipped(("a.npy", ONE), ("b.npy", npy(np.zeros((2, 2), "f4"))), method=zipfile.ZIP_DEFLATED)


@given(damaged(GOOD))
@settings(max_examples=120, deadline=None)
def test_damage_is_an_error_or_another_archive(data):
    found = outcome(nx.load_numpy_archive, data)
    assert isinstance(found, str | list)
