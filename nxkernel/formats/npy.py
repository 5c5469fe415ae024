"""NumPy's ``.npy`` files: one array each.

NumPy writes bf16 as bytes without a meaning (``V2``), since it has no name for it: such files are read as bf16. Names
of axes are not kept; :func:`nxkernel.save` keeps them.
"""

from __future__ import annotations

import ast
import io
import tokenize
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from nxkernel import types
from nxkernel.errors import NxValueError, message
from nxkernel.formats.file_access import ByteSource, Readable, Writable, brief, replacing
from nxkernel.formats.tensor_headers import byte_count, checked, shape_of, tensor_of
from nxkernel.tensor.foreign_arrays import is_numeric
from nxkernel.tensor.tensor import Tensor
from nxkernel.types import Type

_MAGIC = b"\x93NUMPY"
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
#: Bytes of a header; longer ones may bring the parser down.
_LONGEST = 10_000
#: Bytes of a file in which its header must end.
BEGINNING = _LONGEST + 12
#: How NumPy writes bf16.
_NAMELESS = np.dtype("V2")
#: What NumPy's reader of headers, which evaluates a Python literal, raises for what is none.
_INVALID = (ValueError, TypeError, SyntaxError, KeyError, RecursionError, MemoryError, tokenize.TokenError)


def load_numpy(source: Readable) -> Tensor:
    """Read a tensor from a ``.npy`` file.

    Parameters
    ----------
    source : path, binary file or bytes
        In versions 1.0 and 2.0 of the format.

    Returns
    -------
    Tensor
        Of the array's type and shape; arrays in Fortran order or of the other byte order are converted.

    Raises
    ------
    NxValueError
        For what is no such file, is damaged, or holds Python objects, records, text or dates.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> np.save(file, np.array([[1.5, 2.0]]))
    >>> nx.load_numpy(file.getvalue())
    Tensor([[1.5, 2. ]], f64[1][2])
    """
    return parse(ByteSource.of(source))


def parse(source: ByteSource) -> Tensor:
    """The tensor in the bytes of a ``.npy`` file."""
    header = header_of(source)
    if header.end != len(source.data):
        claim = f"{header.type}, shape {brief(list(header.shape))}"
        source.refuse(
            f"its header tells of {header.end - header.start} bytes of elements ({claim}), "
            f"there are {len(source.data) - header.start}"
        )
    order = "F" if header.is_fortran else "C"
    array = np.ndarray(header.shape, header.dtype, buffer=source.data, offset=header.start, order=order)
    return checked(source, array, "the array")


@dataclass(frozen=True)
class NpyHeader:
    """The header of a ``.npy`` file.

    Parameters
    ----------
    type : Type
    dtype : numpy.dtype
        With the order of bytes.
    shape : tuple of int
    is_fortran : bool
    start, end : int
        Where the elements are.
    """

    type: Type
    dtype: np.dtype
    shape: tuple[int, ...]
    is_fortran: bool
    start: int
    end: int


def header_of(source: ByteSource) -> NpyHeader:
    """The header of a ``.npy`` file, whose first :data:`BEGINNING` bytes suffice."""
    data = source.data
    if not data.startswith(_MAGIC) or len(data) < 8:
        source.refuse(f"a .npy file starts with {_MAGIC!r}, this one with {data[:6]!r}{source.looks_like('.npy')}")
    read = _HEADERS.get((data[6], data[7]))
    if read is None:
        source.refuse(f"it is version {data[6]}.{data[7]} of the .npy format; 1.0 and 2.0 can be read")
    _check_header(source)
    stream = io.BytesIO(data)
    stream.seek(8)
    try:
        with warnings.catch_warnings():
            # NumPy warns of the headers that Python 2 wrote.
            warnings.simplefilter("ignore")
            shape, is_fortran, dtype = read(stream)
    except _INVALID as error:
        source.refuse(f"its header is invalid: {type(error).__name__}: {error}", cause=error)
    type_ = _type_of(dtype, source)
    shape = shape_of(source, shape, "the array")
    start = stream.tell()
    end = start + byte_count(source, shape, type_, "the array")
    return NpyHeader(type_, type_.dtype if type_ is types.bf16 else dtype, shape, is_fortran, start, end)


def _check_header(source: ByteSource) -> None:
    """Raise errors for headers that NumPy accepts, or rejects with advice to allow pickles."""
    begin = 10 if source.data[6] == 1 else 12
    length = int.from_bytes(source.data[8:begin], "little")
    if length > _LONGEST:
        source.refuse(f"its header claims {length} bytes, and an array of numbers needs no more than {_LONGEST}")
    text = bytes(source.data[begin : begin + length]).decode("latin-1").strip()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            header = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return  # NumPy tells what is wrong, or reads it: Python 2 wrote whole numbers that end in L.
    keys = [key.value for key in getattr(header, "keys", []) if isinstance(key, ast.Constant)]
    for key in keys:
        if keys.count(key) > 1:
            source.refuse(f"its header has two entries for {key!r}")


def _type_of(dtype: np.dtype, source: ByteSource) -> Type:
    if dtype == _NAMELESS:
        return types.bf16
    if dtype.hasobject:
        source.refuse(
            "it holds Python objects, which are pickled: reading them could run any code.",
            "Save an array of numbers: np.save(path, x.astype(float)).",
        )
    if not is_numeric(dtype):
        source.refuse(f"its elements are of dtype {dtype}; the types are {' '.join(types.TYPES)}")
    return types.normalize(dtype)


def save_numpy(target: Writable, tensor: Any) -> None:
    """Write a tensor to a ``.npy`` file, which ``np.load`` reads.

    A file at that path is replaced when all is written. bf16 is written as NumPy writes it, as ``V2``.

    Parameters
    ----------
    target : path or binary file
    tensor : tensor, array or number

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> nx.save_numpy(file, nx.f32([1, 2]))
    >>> np.load(io.BytesIO(file.getvalue()))
    array([1., 2.], dtype=float32)
    """
    array = whole(tensor_of(tensor, "tensor"), "tensor")
    with replacing(target) as file:
        np.lib.format.write_array(file, array, allow_pickle=False)


def whole(tensor: Tensor, argument: str) -> np.ndarray:
    """The elements of a tensor, for formats without vectorized axes.

    Raises
    ------
    NxValueError
        For a tensor that has some.
    """
    if tensor.vectorized_axes:
        raise NxValueError(
            message(
                f"{argument} has vectorized axes ({tensor.spec}), which this format has no place for.",
                "Write nx.devectorize(t), or keep them with nx.save.",
            )
        )
    return tensor.data
