"""Safetensors files, a common format for model weights: named tensors, a JSON header and raw bytes.

The layout is that of https://github.com/huggingface/safetensors: eight bytes with the length of the header
(little-endian), the header, and the data. An entry of the header tells the type, the shape and where in the data the
elements are; all of the data belongs to exactly one tensor. ``__metadata__`` has text for people and programs; nxkernel
keeps the names of axes there, as JSON under the key ``nxkernel.axes``.

The package of the same name is not used: what it reads for NumPy has no bf16, and it copies.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from nxkernel import types
from nxkernel.errors import NxTypeError, message
from nxkernel.formats.file_access import ByteSource, Readable, Writable, brief, replacing
from nxkernel.formats.tensor_headers import (
    axes_of,
    byte_count,
    little_endian,
    shape_of,
    tensor_of,
    tensor_over,
    with_axes,
)
from nxkernel.shapes import describe
from nxkernel.tensor.tensor import Tensor

_TYPES = {
    "BOOL": types.bool_, "U8": types.u8, "U16": types.u16, "U32": types.u32, "U64": types.u64, "I8": types.s8,
    "I16": types.s16, "I32": types.s32, "I64": types.s64, "F16": types.f16, "BF16": types.bf16, "F32": types.f32,
    "F64": types.f64, "C64": types.c64,
}  # fmt: skip
_NAMES = {type_: name for name, type_ in _TYPES.items()}
_METADATA, _AXES = "__metadata__", "nxkernel.axes"
_LENGTH = 8
#: The longest header that the format allows.
_LONGEST = 100_000_000


def load_safetensors(source: Readable) -> dict[str, Tensor]:
    """Read the named tensors of a safetensors file.

    Parameters
    ----------
    source : path, binary file or bytes

    Returns
    -------
    dict of Tensor
        In the order of the header, over the file's bytes without a copy.

    Raises
    ------
    NxValueError
        For what is no such file, is damaged, or whose tensors overlap, leave gaps, reach beyond the data or are of a
        type that there is none for.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> nx.save_safetensors(file, {"weight": nx.bf16([[1, 2]]), "bias": nx.f32([0])})
    >>> nx.load_safetensors(file.getvalue())["weight"]
    Tensor([[1.0, 2.0]], bf16[1][2])
    """
    source = ByteSource.of(source)
    header, start = _header(source)
    metadata = _metadata(source, header)
    axes = _axes(source, metadata)
    parts = {name: _part(source, name, entry) for name, entry in header.items() if name != _METADATA}
    _check_places(source, {name: extent for name, (_, _, extent) in parts.items()}, len(source.data) - start)
    tensors = {}
    for name, (type_, shape, (begin, _)) in parts.items():
        tensor = tensor_over(source, source.data, start + begin, type_, shape, f"the tensor {brief(name)}")
        tensors[name] = with_axes(source, tensor, axes.get(name, {}), f"the tensor {brief(name)}")
    return tensors


def load_safetensors_metadata(source: Readable) -> dict[str, str]:
    """Read the metadata of a safetensors file, a dict of strings.

    Parameters
    ----------
    source : path, binary file or bytes

    Returns
    -------
    dict of str

    Raises
    ------
    NxValueError
        For what is no such file.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> nx.save_safetensors(file, {"x": nx.f32(1)}, metadata={"format": "nx"})
    >>> nx.load_safetensors_metadata(file.getvalue())
    {'format': 'nx'}
    """
    source = ByteSource.of(source)
    return _metadata(source, _header(source)[0])


def _header(source: ByteSource) -> tuple[dict[str, Any], int]:
    """The header, and the offset of the data."""
    data = source.data
    if len(data) < _LENGTH:
        source.refuse(f"a safetensors file starts with a length of {_LENGTH} bytes, there are {len(data)} in all")
    length = int.from_bytes(data[:_LENGTH], "little")
    if length > min(_LONGEST, len(data) - _LENGTH):
        known = source.looks_like(".safetensors")
        source.refuse(f"it claims a header of {length} bytes, after the length there are {len(data) - _LENGTH}{known}")
    if data[_LENGTH : _LENGTH + 1] != b"{":
        source.refuse(f"its header does not start with '{{' but with {data[_LENGTH : _LENGTH + 1]!r}")
    return source.object(data[_LENGTH : _LENGTH + length], "its header"), _LENGTH + length


def _metadata(source: ByteSource, header: dict[str, Any]) -> dict[str, str]:
    metadata = header.get(_METADATA, {})
    if not isinstance(metadata, dict) or not all(isinstance(text, str) for text in metadata.values()):
        source.refuse(f"{_METADATA} is no object of texts")
    return metadata


def _axes(source: ByteSource, metadata: dict[str, str]) -> dict[str, dict[str, Any]]:
    """The axis names in the metadata, for each tensor that has some."""
    if _AXES not in metadata:
        return {}
    axes = source.object(metadata[_AXES].encode("utf-8", "surrogatepass"), f"{_AXES} in its metadata")
    for name, description in axes.items():
        if not isinstance(description, dict) or not description.keys() <= {"names", "vectorized"}:
            source.refuse(f"{_AXES} in its metadata tells no axes of {brief(name)} but {brief(description)}")
    return axes


def _part(source: ByteSource, name: str, entry: Any) -> tuple[types.Type, tuple[int, ...], tuple[int, int]]:
    """Type, shape and byte range of a tensor."""
    what = f"the tensor {brief(name)}"
    if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
        keys = sorted(entry) if isinstance(entry, dict) else entry
        source.refuse(f"the entry of {what} has dtype, shape and data_offsets, this one {brief(keys)}")
    type_ = _TYPES.get(entry["dtype"]) if isinstance(entry["dtype"], str) else None
    if type_ is None:
        source.refuse(f"{what} is of dtype {brief(entry['dtype'])}; those that can be read are {' '.join(_TYPES)}")
    shape = shape_of(source, entry["shape"], what)
    offsets = entry["data_offsets"]
    if not isinstance(offsets, list) or len(offsets) != 2 or not all(type(end) is int and end >= 0 for end in offsets):
        source.refuse(f"{what} has the data_offsets {brief(offsets)}, expected two whole numbers that are at least 0")
    needed = byte_count(source, shape, type_, what)
    if offsets[1] - offsets[0] != needed:
        source.refuse(f"{what} ({type_}, {brief(list(shape))}) takes {needed} bytes, its data_offsets are {offsets}")
    return type_, shape, (offsets[0], offsets[1])


def _check_places(source: ByteSource, ranges: dict[str, tuple[int, int]], size: int) -> None:
    """Raise an error for tensors that overlap, exceed the data or leave gaps."""
    end, before = 0, None
    for name, (begin, stop) in sorted(ranges.items(), key=lambda item: item[1]):
        if stop > size:
            source.refuse(f"the tensor {brief(name)} ends at byte {stop} of the data, which has {size}")
        if begin < end:
            source.refuse(f"the tensors {brief(before)} and {brief(name)} overlap")
        if begin > end:
            source.refuse(f"the bytes {end} to {begin} of the data belong to no tensor")
        end, before = stop, name
    if end != size:
        source.refuse(f"the bytes {end} to {size} of the data belong to no tensor")


def save_safetensors(
    target: Writable, tensors: Mapping[str, Any], *, metadata: Mapping[str, str] | None = None
) -> None:
    """Write named tensors to a safetensors file.

    A file at that path is replaced when all is written. The same tensors give the same bytes.

    Parameters
    ----------
    target : path or binary file
    tensors : dict of tensors
        Of any type but c128, which the format has no name for.
    metadata : dict of str, optional
        Text to keep with them.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> nx.save_safetensors(file, {"x": nx.iota((2,), names=["time"])})
    >>> nx.load_safetensors(file.getvalue())["x"].names
    ('time',)
    """
    if not isinstance(tensors, Mapping):
        raise NxTypeError(
            message(
                f"save_safetensors takes a dict of tensors by name, got {describe(tensors)}.",
                'Write nx.save_safetensors(path, {"weight": t}).',
            )
        )
    made = {}
    for name, value in tensors.items():
        if not isinstance(name, str) or name == _METADATA:
            raise NxTypeError(f"the name of a tensor is text other than {_METADATA!r}, got {describe(name)}")
        made[name] = tensor_of(value, f"tensors[{name!r}]")
        if made[name].type not in _NAMES:
            raise NxTypeError(
                message(
                    f"safetensors files have no {made[name].type} (tensors[{name!r}]).",
                    'Convert it, nx.as_type(t, "c64"), or write with nx.save, which keeps every type.',
                )
            )
    # The widest elements come first, so that each tensor is aligned to its own.
    order = sorted(made, key=lambda name: (-made[name].type.size, name))
    header: dict[str, Any] = {}
    notes = _notes(made, metadata)
    if notes:
        header[_METADATA] = notes
    offset = 0
    for name in order:
        array = made[name].data
        header[name] = {
            "dtype": _NAMES[made[name].type],
            "shape": list(array.shape),
            "data_offsets": [offset, offset + array.nbytes],
        }
        offset += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % _LENGTH)
    with replacing(target) as file:
        file.write(len(text).to_bytes(_LENGTH, "little"))
        file.write(text)
        for name in order:
            file.write(little_endian(made[name].data))


def _notes(tensors: dict[str, Tensor], metadata: Mapping[str, str] | None) -> dict[str, str]:
    notes = dict(metadata or {})
    for key, text in notes.items():
        if not isinstance(key, str) or not isinstance(text, str):
            raise NxTypeError(f"metadata is text by text, got {describe(text)} for {key!r}")
    axes = {name: described for name, tensor in tensors.items() if (described := axes_of(tensor))}
    if axes:
        notes[_AXES] = json.dumps(axes, separators=(",", ":"))
    return notes
