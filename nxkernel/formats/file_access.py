"""Reading and writing of files, streams and bytes; errors name the source, files are written atomically."""

from __future__ import annotations

import contextlib
import io
import json
import os
import reprlib
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any, NoReturn

from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.shapes import describe

Readable = bytes | bytearray | memoryview | str | os.PathLike | IO[bytes]
Writable = str | os.PathLike | IO[bytes]

#: What compressed data may unpack to, in bytes, unless a caller allows more.
UNPACKED = 4 << 30
_PICKLE = "a pickle, which could run any code when it is read: nxkernel reads none"

#: How files begin, how their names end, and what reads them.
_FORMATS = [
    (b"\x93NUMPY", ".npy", "a .npy file: nx.load_numpy reads it"),
    (b"PK", ".npz", "a ZIP archive: nx.load_numpy_archive reads .npz"),
    (b"\x89NXK", ".nxk", "a file of nx.save: nx.load reads it"),
    (b"\x80\x02", ".pkl", _PICKLE), (b"\x80\x03", ".pkl", _PICKLE), (b"\x80\x04", ".pkl", _PICKLE),
    (b"\x80\x05", ".pkl", _PICKLE),
]  # fmt: skip


@dataclass(frozen=True)
class ByteSource:
    """Bytes, and the name that errors give them.

    Parameters
    ----------
    data : bytes
    name : str
        The file's, or words for bytes that have none.
    """

    data: bytes
    name: str

    @classmethod
    def of(cls, source: Readable) -> ByteSource:
        """The bytes of a path, an open binary file, or bytes.

        Raises
        ------
        NxTypeError
            For anything else.
        OSError
            For a file that cannot be read.
        """
        if isinstance(source, bytes | bytearray | memoryview):
            data = bytes(source)
            return cls(data, f"the {len(data)} bytes given")
        if isinstance(source, str | os.PathLike):
            with open(source, "rb") as file:
                return cls(file.read(), str(os.fspath(source)))
        if hasattr(source, "read"):
            data = source.read()
            if isinstance(data, bytes):
                return cls(data, str(getattr(source, "name", "the file given")))
            raise NxTypeError(message("the file is open for text.", 'Open it for bytes: open(path, "rb").'))
        raise NxTypeError(f"expected a path, an open binary file or bytes, got {describe(source)}")

    def refuse(self, what: str, *hints: str, cause: BaseException | None = None) -> NoReturn:
        """Raise an error for invalid bytes."""
        raise NxValueError(message(f"cannot read {self.name}: {what}", *hints)) from cause

    def looks_like(self, ending: str) -> str:
        """The end of an error: the format that the bytes appear to have, and the function that reads it."""
        for start, other, what in _FORMATS:
            if other != ending and self.data.startswith(start):
                return f"; it looks like {what}"
        length = int.from_bytes(self.data[:8], "little")
        if ending != ".safetensors" and self.data[8:9] == b"{" and length <= len(self.data) - 8:
            return "; it looks like a safetensors file: nx.load_safetensors reads it"
        return ""

    def object(self, text: bytes, what: str) -> dict[str, Any]:
        """Parse a JSON object; duplicate keys are an error."""
        try:
            value = json.loads(text.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            self.refuse(f"{what} is no valid JSON: {error}", cause=error)
        if not isinstance(value, dict):
            self.refuse(f"{what} is no JSON object but {brief(value)}")
        return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    items = dict(pairs)
    if len(items) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))
        raise ValueError(f"the key {brief(twice)} is there twice")
    return items


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON")


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60


def brief(value: Any) -> str:
    """A value from a file for an error message, shortened to at most a line.

    Examples
    --------
    >>> brief(["shape", 12, [1, [2, [3, [4, [5, [6, [7]]]]]]]])
    "['shape', 12, [1, [2, [3, [4, [5, [...]]]]]]]"
    """
    text = _SHORT.repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


@contextlib.contextmanager
def replacing(target: Writable) -> Iterator[IO[bytes]]:
    """A file to write to that atomically replaces the file at a path once all is written.

    An open binary file is written to as it is.
    """
    if hasattr(target, "write"):
        if isinstance(target, io.TextIOBase):
            raise NxTypeError(message("the file is open for text.", 'Open it for bytes: open(path, "wb").'))
        yield target
        return
    if not isinstance(target, str | os.PathLike):
        raise NxTypeError(f"expected a path or an open binary file, got {describe(target)}")
    path = os.path.realpath(target)
    if os.path.exists(path) and not os.path.isfile(path):
        # A device or a pipe cannot be replaced; a folder says so itself.
        with open(path, "wb") as file:
            yield file
        return
    number, temporary = tempfile.mkstemp(prefix=".nxkernel-", dir=os.path.dirname(path))
    try:
        with os.fdopen(number, "wb") as file:
            yield file
            file.flush()
            os.fsync(number)
        _take_over_mode(path, temporary)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _take_over_mode(path: str, temporary: str) -> None:
    """Give a new file the permissions of the file that it replaces, or default ones."""
    if os.path.exists(path):
        shutil.copymode(path, temporary)
        return
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(temporary, 0o666 & ~mask)
