"""Files that claim what is not so: each is refused, and none takes the memory that it asks for."""

import hashlib
import io
import json
import os
import re
import struct
import zipfile
import zlib

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxValueError
from nxkernel.formats import serialization
from stress_testing import stressing

HUGE = 600_000_000


def header(shape, descr="<f8", length=None):
    """The beginning of a .npy file."""
    text = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text) if length is None else length) + text


def packed_zeros(count):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(bytes(count)) + packer.flush(zlib.Z_FULL_FLUSH)


def zeros(count):
    """Deflated zeros, the same mebibyte again and again, so that 600 MB are made at once."""
    whole, rest = divmod(count, 1 << 20)
    return packed_zeros(1 << 20) * whole + packed_zeros(rest) + zlib.compressobj(9, zlib.DEFLATED, -15).flush()


def deflated(head, count):
    """A deflated stream of some bytes and many zeros, and the checksum of the bytes alone."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    begin = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH)
    return begin + zeros(count)


def archive(*entries):
    """A ZIP archive that tells what is given: name, bytes, method, size, checksum, and where it is if elsewhere."""
    data, places = b"", []
    for name, packed, method, size, crc, *offset in entries:
        places.append(offset[0] if offset else len(data))
        if not offset:
            fields = (20, 0, method, 0, 33, crc, len(packed), size, len(name), 0)
            data += b"PK\3\4" + struct.pack("<5H3L2H", *fields) + name + packed
    start = len(data)
    for (name, packed, method, size, crc, *_), place in zip(entries, places, strict=True):
        fields = (20, 20, 0, method, 0, 33, crc, len(packed), size, len(name), 0, 0, 0, 0, 0, place)
        data += b"PK\1\2" + struct.pack("<6H3L5H2L", *fields) + name
    end = (0, 0, len(entries), len(entries), len(data) - start, start, 0)
    return data + b"PK\5\6" + struct.pack("<4H2LH", *end)


def one(packed, size, crc=0, method=8):
    return archive((b"a.npy", packed, method, size, crc))


def own(told, size, packed):
    """A compressed file of nx.save with tensors as told."""
    text = json.dumps({"tensors": told, "container": ["list", []]}).encode()
    gap = b" " * (-len(text) % 64)
    prefix = serialization._PREFIX.pack(serialization.MAGIC, 1, 1, len(text), len(packed), size)
    return prefix + hashlib.sha256(prefix + text + gap + packed).digest() + text + gap + packed


def bombs():
    """By name a reader, a file, and what the error tells."""
    small = header((3,))
    right = small + np.arange(3.0).tobytes()
    crc = zlib.crc32(right)
    archives = {
        "claims 100 bytes, unpacks 600 MB": (
            one(deflated(header((HUGE // 8,)), HUGE), 100),
            "by the archive's directory 100",
        ),
        "its own header tells of less": (
            one(deflated(small, HUGE), len(right)),
            "does not end after the 152 bytes that its own header tells of",
        ),
        "goes on behind its end": (one(zeros(0) + b"more", 0), "a .npy file starts with"),
        "both tell of more than there is": (
            one(deflated(header((HUGE // 8,)), 8), HUGE + 128),
            "has 136 bytes, its own header tells of 600000128",
        ),
        "more than the limit": (
            one(deflated(header((2**40,)), 8), 100),
            "it unpacks to 8796093022336 bytes, more than",
        ),
        "more than any memory": (one(deflated(header((2**62, 2**62)), 8), 100), "claims more than any memory holds"),
        "a product that overflows": (one(deflated(header((2**61, 8)), 8), 128), "claims more than any memory holds"),
        "negative": (one(deflated(header((-1, -8)), 8), 136), "expected whole numbers that are at least 0"),
        "a header that claims more": (
            one(deflated(header((3,), length=60_000), 24), 152),
            "its header claims 60000 bytes",
        ),
        "two in one place": (
            archive((b"a.npy", right, 0, len(right), crc), (b"a.npy", right, 0, len(right), crc, 0)),
            "the entry 'a.npy' is there twice",
        ),
        "two names for one place": (
            archive((b"a.npy", right, 0, len(right), crc), (b"b.npy", right, 0, len(right), crc, 0)),
            "is damaged: the directory leads to something else",
        ),
        "one inside of another": (
            archive(
                (b"a.npy", (inner := archive((b"b.npy", right, 0, len(right), crc))), 0, len(inner), zlib.crc32(inner)),
                (b"b.npy", right, 0, len(right), crc, 35),
            ),
            "the entry 'a.npy' reaches into the entry 'b.npy'",
        ),
        "beyond the file": (archive((b"a.npy", right, 0, len(right), crc, 2**31)), "begins at byte 2147483648"),
        "stored, and less": (one(right, 10, crc, 0), "has 152 bytes, the archive's directory tells of 10"),
        "another checksum": (one(right, len(right), crc ^ 1, 0), "is damaged: its checksum is wrong"),
    }
    found = {name: ("load_numpy_archive", *rest) for name, rest in archives.items()}
    few = [{"type": "f64", "shape": [1]}]
    found["own format: more data than tensors"] = ("deserialize", own(few, HUGE, zlib.compress(bytes(1 << 20))),
                                                   "its tensors take 8 bytes, its data has 600000000")  # fmt: skip
    found["own format: more tensors than data"] = (
        "deserialize", own([{"type": "f64", "shape": [HUGE // 8]}], HUGE, zlib.compress(b"12345678")),
        "its data does not unpack to the 600000000 bytes that it tells of")  # fmt: skip
    behind = zlib.compress(bytes(8))[:2] + zeros(HUGE) + b"1234"
    found["own format: 600 MB behind 8 bytes"] = (
        "deserialize", own(few, 8, behind), "its data does not unpack to the 8 bytes")  # fmt: skip
    text = b'{"%s":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}}' % (b"n" * 5_000_000)
    found["safetensors: a long name and a product that overflows"] = (
        "load_safetensors", struct.pack("<Q", len(text)) + text, "claims more than any memory holds")  # fmt: skip
    found["safetensors: a header that claims 100 MB"] = (
        "load_safetensors", struct.pack("<Q", 10**8) + b"{}", "it claims a header of 100000000 bytes")  # fmt: skip
    return found


@pytest.mark.parametrize("name", FILES := bombs())
def test_what_is_refused(name):
    reader, data, said = FILES[name]
    with pytest.raises(NxValueError, match=re.escape(said)) as error:
        getattr(nx, reader)(data)
    assert len(str(error.value)) < 400


# The memory of a process is counted at its peak, so nothing else may have taken any before.
_WATCHED = """
import resource, sys
import nxkernel as nx
from nxkernel.errors import NxValueError

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform != "darwin" else 1 << 20)

for line in open(sys.argv[1]):
    reader, path = line.split()
    with open(path, "rb") as file:
        data = file.read()
    before = peak()
    try:
        getattr(nx, reader)(data)
    except NxValueError:
        print(peak() - before)
"""


@pytest.mark.skipif(os.name == "nt", reason="this system does not tell the peak of a process's memory")
def test_none_takes_the_memory_that_it_asks_for(tmp_path):
    lines = []
    for number, (reader, data, _) in enumerate(FILES.values()):
        (tmp_path / str(number)).write_bytes(data)
        lines.append(f"{reader} {tmp_path / str(number)}\n")
    (tmp_path / "list").write_text("".join(lines))
    printed, _ = stressing.run(_WATCHED, tmp_path / "list")
    grown = dict(zip(FILES, map(int, printed.split()), strict=True))
    assert {name: megabytes for name, megabytes in grown.items() if megabytes > 40} == {}


def test_the_limit_is_for_all_entries_together():
    right = header((1000,)) + bytes(8000)
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed, crc = packer.compress(right) + packer.flush(), zlib.crc32(right)
    data = archive(*[(b"%d.npy" % number, packed, 8, len(right), crc) for number in range(10)])
    assert len(nx.load_numpy_archive(data, limit=10 * len(right))) == 10
    with pytest.raises(NxValueError, match="it unpacks to 81280 bytes, more than the limit of 81279"):
        nx.load_numpy_archive(data, limit=10 * len(right) - 1)


def test_names_are_names_and_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    right = header((1,)) + bytes(8)
    names = ["../../up", "/root", "a/b/c", "c:\\x", "räume"]
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        for name in names:
            made.writestr(name + ".npy", right)
    assert [name for name, _ in nx.load_numpy_archive(file.getvalue())] == names
    assert list(tmp_path.iterdir()) == []


def test_many_entries_are_read():
    right = header((0,))
    data = archive(*[(b"%d.npy" % number, right, 0, len(right), zlib.crc32(right)) for number in range(2_000)])
    assert len(nx.load_numpy_archive(data)) == 2_000
