"""NumPy's ``.npz`` files: arrays by name, each a ``.npy`` file in a ZIP archive."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from nxkernel.errors import NxTypeError, NxValueError
from nxkernel.formats import npy
from nxkernel.formats.file_access import UNPACKED, ByteSource, Readable, Writable, brief, replacing
from nxkernel.formats.tensor_headers import tensor_of
from nxkernel.shapes import describe
from nxkernel.tensor.tensor import Tensor

_SUFFIX = ".npy"
_METHODS = {zipfile.ZIP_STORED: "stored", zipfile.ZIP_DEFLATED: "deflated"}
#: What Python's reader of archives raises for what is none, or for what it cannot read.
_INVALID = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError, RuntimeError, NotImplementedError,
    OverflowError, IndexError, AttributeError,
)  # fmt: skip
_ENCRYPTED, _UTF8 = 1, 1 << 11
#: What stands before the bytes of an entry, as far as it matters: a mark, flags, the lengths of two texts that follow.
_LOCAL = struct.Struct("<4s2xH18xHH")
#: The moment that archives bear, so that the same tensors give the same bytes: the first that ZIP has.
_MOMENT = (1980, 1, 1, 0, 0, 0)


def load_numpy_archive(source: Readable, *, limit: int = UNPACKED) -> list[tuple[str, Tensor]]:
    """Read the tensors of a ``.npz`` file with their names.

    Parameters
    ----------
    source : path, binary file or bytes
    limit : int, optional
        How many bytes the archive may unpack to at most: a small file can make very many. What an archive tells of
        itself may be wrong; what counts is what it unpacks to, which ends where an array's own header says.

    Returns
    -------
    list of (str, Tensor)
        In the order of the file.

    Raises
    ------
    NxValueError
        For what is no such archive, is damaged or encrypted, unpacks to more than `limit`, has a name twice, or an
        entry that :func:`nxkernel.load_numpy` does not read.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> np.savez(file, weight=np.eye(2), bias=np.zeros(2))
    >>> [(name, tensor.shape) for name, tensor in nx.load_numpy_archive(file.getvalue())]
    [('weight', (2, 2)), ('bias', (2,))]
    """
    file = ByteSource.of(source)
    try:
        archive = zipfile.ZipFile(io.BytesIO(file.data))
    except _INVALID as error:
        file.refuse(f"it is no .npz archive: {error}{file.looks_like('.npz')}", cause=error)
    with archive:
        entries = archive.infolist()
    _check(file, entries, limit)
    ranges = _places(file, entries, archive.start_dir)
    tensors, left = [], limit
    for entry in entries:
        tensor, size = _tensor(file, entry, ranges[entry.filename], left)
        tensors.append((entry.filename.removesuffix(_SUFFIX), tensor))
        left -= size
    return tensors


def _check(source: ByteSource, entries: list[zipfile.ZipInfo], limit: int) -> None:
    """Raise an error for an archive whose directory is invalid, before anything is unpacked."""
    seen = set()
    for entry in entries:
        name = entry.filename
        if not name.endswith(_SUFFIX):
            source.refuse(f"the entry {brief(name)} is no .npy file, as all of an .npz archive are")
        if name in seen:
            source.refuse(f"the entry {brief(name)} is there twice")
        seen.add(name)
        if entry.flag_bits & _ENCRYPTED:
            source.refuse(f"the entry {brief(name)} is encrypted")
        if entry.compress_type not in _METHODS:
            source.refuse(f"the entry {brief(name)} is compressed by method {entry.compress_type}; 0 and 8 can be read")
    _check_limit(source, sum(entry.file_size for entry in entries), limit)


def _check_limit(source: ByteSource, total: int, limit: int) -> None:
    if total > limit:
        source.refuse(
            f"it unpacks to {total} bytes, more than the limit of {limit}.",
            "Allow more where you trust the file: limit=bytes.",
        )


def _places(source: ByteSource, entries: list[zipfile.ZipInfo], end: int) -> dict[str, tuple[int, int]]:
    """The byte range of each entry; ranges must be disjoint and lie before the directory."""
    ranges, before = {}, None
    for entry in sorted(entries, key=lambda entry: entry.header_offset, reverse=True):
        what, start = f"the entry {brief(entry.filename)}", entry.header_offset
        if start < 0 or start + _LOCAL.size > len(source.data):
            source.refuse(f"{what} begins at byte {start}, the file has {len(source.data)}")
        magic, flags, name_length, extra_length = _LOCAL.unpack_from(source.data, start)
        begin = start + _LOCAL.size + name_length + extra_length
        name = bytes(source.data[start + _LOCAL.size : start + _LOCAL.size + name_length])
        if magic != b"PK\3\4" or name != _encoded(entry.orig_filename, flags):
            source.refuse(f"{what} is damaged: the directory leads to something else")
        if begin + entry.compress_size > end:
            source.refuse(f"{what} reaches into {before or 'the directory'}")
        ranges[entry.filename], before, end = (begin, begin + entry.compress_size), what, start
    return ranges


def _encoded(name: str, flags: int) -> bytes | None:
    try:
        return name.encode("utf-8" if flags & _UTF8 else "cp437")
    except UnicodeEncodeError:
        return None


def _tensor(source: ByteSource, entry: zipfile.ZipInfo, extent: tuple[int, int], limit: int) -> tuple[Tensor, int]:
    """The tensor of an entry and its unpacked size, which is limited to what the entry's header announces."""
    what = f"the entry {brief(entry.filename)}"
    packed = memoryview(source.data)[slice(*extent)]
    named = f"{entry.filename!r} in {source.name}"
    if entry.compress_type == zipfile.ZIP_STORED:
        _check_limit(source, len(packed), limit)
        if len(packed) != entry.file_size:
            source.refuse(f"{what} has {len(packed)} bytes, the archive's directory tells of {entry.file_size}")
        data = bytes(packed)
    else:
        try:
            beginning = zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, npy.BEGINNING)
            size = npy.header_of(ByteSource(beginning, named)).end
            _check_limit(source, size, limit)
            if size != entry.file_size:
                source.refuse(
                    f"{what} has {size} bytes by its own header, by the archive's directory {entry.file_size}"
                )
            inflate = zlib.decompressobj(-zlib.MAX_WBITS)
            data = inflate.decompress(packed, size + 1)
        except zlib.error as error:
            source.refuse(f"{what} is damaged: {error}", cause=error)
        if len(data) < size:
            source.refuse(f"{what} has {len(data)} bytes, its own header tells of {size}")
        if len(data) > size or not inflate.eof or inflate.unused_data:
            source.refuse(f"{what} does not end after the {size} bytes that its own header tells of")
    if zlib.crc32(data) != entry.CRC:
        source.refuse(f"{what} is damaged: its checksum is wrong")
    return npy.parse(ByteSource(data, named)), len(data)


def save_numpy_archive(
    target: Writable, tensors: Mapping[str, Any] | Iterable[tuple[str, Any]], *, compressed: bool = False
) -> None:
    """Write tensors with their names to a ``.npz`` file, which ``np.load`` reads.

    A file at that path is replaced when all is written. The same tensors give the same bytes.

    Parameters
    ----------
    target : path or binary file
    tensors : dict of tensors, or pairs of name and tensor
    compressed : bool, optional
        Whether to make the file smaller, which takes longer.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> nx.save_numpy_archive(file, {"weight": nx.eye(2), "bias": nx.f32([0, 1])})
    >>> np.load(io.BytesIO(file.getvalue()))["bias"]
    array([0., 1.], dtype=float32)
    """
    pairs = list(tensors.items()) if isinstance(tensors, Mapping) else list(tensors)
    arrays: dict[str, np.ndarray] = {}
    for name, tensor in pairs:
        if not isinstance(name, str) or not name or "\0" in name:
            raise NxTypeError(f"the name of a tensor in an archive is text, got {describe(name)}")
        if name in arrays:
            raise NxValueError(f"the name {name!r} is there twice; names in an archive must differ")
        arrays[name] = npy.whole(tensor_of(tensor, f"tensors[{name!r}]"), f"tensors[{name!r}]")
    method = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with replacing(target) as file, zipfile.ZipFile(file, "w", method) as archive:
        for name, array in arrays.items():
            entry = zipfile.ZipInfo(name + _SUFFIX, _MOMENT)
            entry.compress_type = method
            with archive.open(entry, "w", force_zip64=True) as part:
                np.lib.format.write_array(part, array, allow_pickle=False)
