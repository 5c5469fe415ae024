r"""nxkernel's own format: a container of tensors, numbers and texts in one file, with a checksum and without code.

All numbers are little-endian. Version 1::

    byte  0   8  89 4E 58 4B 0D 0A 1A 0A, which is \x89NXK\r\n\x1a\n: text modes of transfer would show in it
    byte  8   2  version of the format: 1
    byte 10   2  flags: bit 0 is set where the data is compressed; the others are 0
    byte 12   4  length of the header
    byte 16   8  length of the data as it is in the file
    byte 24   8  length of the data after decompression; the same where it is not compressed
    byte 32  32  SHA-256 of bytes 0 to 31 and of everything from byte 64 on
    byte 64      the header: JSON in UTF-8, followed by blanks up to a multiple of 64 bytes
                 the data, with which the file ends; compressed data is one stream of zlib (RFC 1950)

The header is an object with ``tensors`` and ``container``. Each tensor has its ``type`` and ``shape`` and, where there
are some, ``names`` of its axes and ``vectorized``, the names of the first axes where those are vectorized (``names``
then has the others'). The data is the tensors' elements in C order, one tensor after the other, each from a multiple of
64 bytes on and the gaps filled with zeros; bool takes a byte, 0 or 1. What ``container`` is made of,
:mod:`nxkernel.formats.container_json` says.
"""

from __future__ import annotations

import io
import json
import os
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any

from nxkernel import types
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.formats.container_json import StructureReader, StructureWriter
from nxkernel.formats.file_access import UNPACKED, ByteSource, Writable, brief, replacing
from nxkernel.formats.tensor_headers import axes_of, byte_count, little_endian, shape_of, tensor_over, with_axes
from nxkernel.shapes import describe
from nxkernel.tensor.tensor import Tensor

MAGIC = b"\x89NXK\r\n\x1a\n"
VERSION = 1
_PREFIX = struct.Struct("<8sHHIQQ")
_HEAD = 64
_ALIGNED = 64
_COMPRESSED = 1
_TENSOR_KEYS = {"type", "shape", "names", "vectorized"}
#: What writes files of other formats, by how their names end.
_WRITERS = {".npy": "save_numpy", ".npz": "save_numpy_archive", ".safetensors": "save_safetensors"}


def serialize(container: Any, *, compressed: bool | int = False) -> bytes:
    """Serialize a container of tensors to bytes, without pickle.

    Parameters
    ----------
    container : tensor, number, text, or container of them
        A tuple, list, dict, named tuple, dataclass or object of a class that :func:`nxkernel.container` declares.
        Booleans, None and types can be in it too; arrays become tensors.
    compressed : bool or int, optional
        Whether to compress the data, or how hard: from 1, fast, to 9, small.

    Returns
    -------
    bytes
        In the format that :mod:`nxkernel.formats.serialization` describes. The same container gives the same bytes.

    Raises
    ------
    NxTypeError
        For anything else in the container, saying where.

    Examples
    --------
    >>> data = nx.serialize({"weights": [nx.bf16([1, 2]), nx.iota((2,), names=["x"])], "rate": 0.1})
    >>> nx.deserialize(data)["weights"][1].names
    ('x',)
    """
    file = io.BytesIO()
    _write(file, container, compressed)
    return file.getvalue()


def deserialize(data: bytes, *, classes: Iterable[type] = (), limit: int = UNPACKED) -> Any:
    """Rebuild a container from the bytes of :func:`nxkernel.serialize`.

    Parameters
    ----------
    data : bytes
    classes : iterable of class, optional
        The named tuples and dataclasses in the container. Besides them, only objects of classes are made that
        :func:`nxkernel.container` has declared, by module and name; none of their code runs.
    limit : int, optional
        How many bytes compressed data may unpack to at most.

    Returns
    -------
    container
        The tensors are over the bytes, without a copy where they are not compressed.

    Raises
    ------
    NxValueError
        For what is no such data, is of a later version, damaged, or holds an instance of a class that is not given.

    Examples
    --------
    >>> nx.deserialize(nx.serialize((nx.f32([1.5]), "text", None)))[1:]
    ('text', None)
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise NxTypeError(f"deserialize takes bytes, got {describe(data)}; nx.load reads files")
    return _read(ByteSource.of(data), classes, limit)


def save(target: Writable, container: Any, *, compressed: bool | int = False) -> None:
    """Write a container of tensors to a file.

    A file at that path is replaced when all is written: whatever happens meanwhile, there is the old file or the new.

    Parameters
    ----------
    target : path or binary file
    container : container
        As :func:`nxkernel.serialize` takes it.
    compressed : bool or int, optional
        As in :func:`nxkernel.serialize`.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.nxk")
    ...     nx.save(path, {"w": nx.eye(2), "steps": 3})
    ...     nx.load(path)["steps"]
    3
    """
    if isinstance(target, str | os.PathLike):
        ending = os.path.splitext(os.fspath(target))[1]
        if ending in _WRITERS:
            raise NxValueError(
                message(
                    f"save writes nxkernel's own format, which {os.fspath(target)!r} is no name for.",
                    f"nx.{_WRITERS[ending]} writes {ending} files; files of nx.save may end in .nxk.",
                )
            )
    with replacing(target) as file:
        _write(file, container, compressed)


def load(source: str | os.PathLike | IO[bytes], *, classes: Iterable[type] = (), limit: int = UNPACKED) -> Any:
    """Read a container of tensors from a file written by :func:`nxkernel.save`.

    Parameters
    ----------
    source : path or binary file
    classes, limit : optional
        As in :func:`nxkernel.deserialize`.

    Returns
    -------
    container

    Raises
    ------
    NxValueError
        As :func:`nxkernel.deserialize`, naming the file.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> nx.save(file, [nx.u8([1, 2])], compressed=True)
    >>> nx.load(io.BytesIO(file.getvalue()))
    [Tensor([1, 2], u8[2])]
    """
    return _read(ByteSource.of(source), classes, limit)


def _write(file: IO[bytes], container: Any, compressed: bool | int) -> None:
    level = _level(compressed)
    writer = StructureWriter()
    structure = writer.node(container, "container")
    descriptions = [_told(tensor) for tensor in writer.tensors]
    text = json.dumps({"tensors": descriptions, "container": structure}, separators=(",", ":")).encode()
    if len(text) >= 2**32:
        raise NxValueError(f"the structure of the container takes {len(text)} bytes, the format has 4 GiB for it")
    pieces = list(_pieces(writer.tensors))
    size = sum(map(len, pieces))
    if level:
        packer = zlib.compressobj(level)
        pieces = [*map(packer.compress, pieces), packer.flush()]
    stored = sum(map(len, pieces))
    prefix = _PREFIX.pack(MAGIC, VERSION, _COMPRESSED if level else 0, len(text), stored, size)
    parts = [text, bytes(_gap(len(text))).replace(b"\0", b" "), *pieces]
    for part in (prefix, _digest(prefix, *parts), *parts):
        file.write(part)


def _digest(*parts: bytes | memoryview) -> bytes:
    """The checksum of what parts are together."""
    import hashlib

    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.digest()


def _level(compressed: bool | int) -> int:
    if isinstance(compressed, bool):
        return 6 if compressed else 0
    if not isinstance(compressed, int) or not 0 <= compressed <= 9:
        raise NxValueError(f"compressed is True, False or a level from 0 to 9, got {describe(compressed)}")
    return compressed


def _told(tensor: Tensor) -> dict[str, Any]:
    return {"type": str(tensor.type), "shape": list(tensor.data.shape), **axes_of(tensor)}


def _pieces(tensors: list[Tensor]) -> Iterator[bytes | memoryview]:
    """The data section: the tensors' elements, with padding for alignment."""
    offset = 0
    for tensor in tensors:
        if _gap(offset):
            yield bytes(_gap(offset))
        yield little_endian(tensor.data)
        offset += _gap(offset) + tensor.data.nbytes


def _gap(offset: int) -> int:
    return -offset % _ALIGNED


def _read(source: ByteSource, classes: Iterable[type], limit: int) -> Any:
    text, size, unpacked = _parts(source, limit)
    header = source.object(text, "its header")
    if header.keys() != {"tensors", "container"} or not isinstance(header["tensors"], list):
        source.refuse(f"its header has tensors and container, this one {brief(sorted(header))}")
    layout, offset = [], 0
    for number, description in enumerate(header["tensors"]):
        what = f"tensor {number}"
        if not isinstance(description, dict) or not {"type", "shape"} <= description.keys() <= _TENSOR_KEYS:
            source.refuse(f"{what} is told of by type, shape, names and vectorized, not by {brief(description)}")
        type_ = types.TYPES.get(description["type"]) if isinstance(description["type"], str) else None
        if type_ is None:
            source.refuse(f"{what} is of type {brief(description['type'])}; the types are {' '.join(types.TYPES)}")
        shape = shape_of(source, description["shape"], what)
        offset += _gap(offset)
        end = offset + byte_count(source, shape, type_, what)
        if end > size:
            source.refuse(f"{what} ends at byte {end} of the data, which has {size}")
        layout.append((offset, type_, shape, description, what))
        offset = end
    if offset != size:
        source.refuse(f"its tensors take {offset} bytes, its data has {size}")
    # Not before it is known that there are tensors for all of it.
    data, start = unpacked()
    tensors = [
        with_axes(source, tensor_over(source, data, start + offset, type_, shape, what), description, what)
        for offset, type_, shape, description, what in layout
    ]
    return StructureReader(source, tensors, classes).value(header["container"])


def _parts(source: ByteSource, limit: int) -> tuple[bytes, int, Callable[[], tuple[bytes, int]]]:
    """The header's text, the size of the data, and the bytes that contain the data with its offset.

    All that can be checked before is.
    """
    whole = source.data
    if not whole.startswith(MAGIC):
        source.refuse(f"what nx.save writes starts with {MAGIC!r}, this with {whole[:8]!r}{source.looks_like('.nxk')}")
    if len(whole) < _HEAD:
        source.refuse(f"it ends after {len(whole)} bytes, its first part alone has {_HEAD}")
    _, version, flags, length, stored, size = _PREFIX.unpack_from(whole)
    if version != VERSION:
        source.refuse(f"it is version {version} of the format, this nxkernel reads version {VERSION}")
    if flags & ~_COMPRESSED:
        source.refuse(f"it has the flags {flags:#x}, of which only {_COMPRESSED:#x} has a meaning")
    start = _HEAD + length + _gap(length)
    if start + stored != len(whole):
        source.refuse(f"it should have {start + stored} bytes by what it tells of itself, there are {len(whole)}")
    if _digest(whole[: _PREFIX.size], memoryview(whole)[_HEAD:]) != whole[_PREFIX.size : _HEAD]:
        source.refuse("its checksum is wrong: it was damaged or changed after it was written")
    text = whole[_HEAD : _HEAD + length]
    if not flags & _COMPRESSED:
        if stored != size:
            source.refuse(f"its data is not compressed and has {stored} bytes, it should have {size}")
        return text, size, lambda: (whole, start)
    if size > limit:
        source.refuse(
            f"its data unpacks to {size} bytes, more than the limit of {limit}.",
            "Allow more where you trust the file: limit=bytes.",
        )
    return text, size, lambda: (_unpacked(source, memoryview(whole)[start:], size), 0)


def _unpacked(source: ByteSource, packed: memoryview, size: int) -> bytes:
    unpacker = zlib.decompressobj()
    try:
        # One byte more than there should be, so that data which goes on is seen to.
        data = unpacker.decompress(packed, size + 1)
    except zlib.error as error:
        source.refuse(f"its data cannot be unpacked: {error}", cause=error)
    if len(data) != size or not unpacker.eof or unpacker.unused_data:
        source.refuse(f"its data does not unpack to the {size} bytes that it tells of")
    return data
