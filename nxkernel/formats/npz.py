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
from nxkernel.formats.layout import tensor_of
from nxkernel.formats.sources import UNPACKED, Readable, Source, Writable, replacing
from nxkernel.shapes import describe
from nxkernel.tensor.tensor import Tensor

_SUFFIX = ".npy"
_METHODS = {zipfile.ZIP_STORED: "stored", zipfile.ZIP_DEFLATED: "deflated"}
#: What Python's reader of archives raises for what is none, or for what it cannot read.
_INVALID = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError, RuntimeError, NotImplementedError,
    OverflowError, IndexError, AttributeError,
)  # fmt: skip
_ENCRYPTED = 1
#: The moment that archives bear, so that the same tensors give the same bytes: the first that ZIP has.
_MOMENT = (1980, 1, 1, 0, 0, 0)


def load_numpy_archive(source: Readable, *, limit: int = UNPACKED) -> list[tuple[str, Tensor]]:
    """Read the tensors of a ``.npz`` file with their names.

    Parameters
    ----------
    source : path, binary file or bytes
    limit : int, optional
        How many bytes the archive may unpack to at most: a small file can claim, and make, very many.

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
    source = Source.of(source)
    try:
        archive = zipfile.ZipFile(io.BytesIO(source.data))
    except _INVALID as error:
        source.refuse(f"it is no .npz archive: {error}{source.looks_like('.npz')}", cause=error)
    with archive:
        entries = archive.infolist()
        _check(source, entries, limit)
        return [(entry.filename.removesuffix(_SUFFIX), _tensor(source, archive, entry)) for entry in entries]


def _check(source: Source, entries: list[zipfile.ZipInfo], limit: int) -> None:
    """Refuse an archive by what it says of itself, before anything of it is unpacked."""
    seen = set()
    for entry in entries:
        name = entry.filename
        if not name.endswith(_SUFFIX):
            source.refuse(f"the entry {name!r} is no .npy file, as all of an .npz archive are")
        if name in seen:
            source.refuse(f"the entry {name!r} is there twice")
        seen.add(name)
        if entry.flag_bits & _ENCRYPTED:
            source.refuse(f"the entry {name!r} is encrypted")
        if entry.compress_type not in _METHODS:
            source.refuse(f"the entry {name!r} is compressed by method {entry.compress_type}; 0 and 8 can be read")
    total = sum(entry.file_size for entry in entries)
    if total > limit:
        source.refuse(
            f"it unpacks to {total} bytes, more than the limit of {limit}.",
            "Allow more where you trust the file: limit=bytes.",
        )


def _tensor(source: Source, archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Tensor:
    try:
        data = archive.read(entry)
    except _INVALID as error:
        source.refuse(f"the entry {entry.filename!r} is damaged: {error}", cause=error)
    return npy.parse(Source(data, f"{entry.filename!r} in {source.name}"))


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
