"""Object code on disk, by name, for later processes: keyed, written atomically, bounded in size, never unpickled.

A file is a header (``nxk2``, eight bytes that tell which key it was made with, a hash under that key of its name and
the object code, one without a key of all this, the length of the object code) and the object code, or the record of a
program (``nxg_…``, :mod:`nxkernel.compilers.numba_cpu.program.saved_programs`), or code for a GPU (``nxc_…``,
:mod:`nxkernel.compilers.numba_cuda.toolchain.object_code`, whose names tell architecture and tools). It stands in a
folder for the versions of Numba, llvmlite and nxkernel and for the processor, inside a folder that only the user can
write (:mod:`nxkernel.compilers.cache.file_trust`); the key is the user's (:mod:`nxkernel.compilers.cache.user_key`).
``NXKERNEL_CACHE_DIR`` moves that folder; ``off`` turns the cache off.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import hmac
import os
import re
import struct
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nxkernel import fork_safety
from nxkernel.compilers.cache import file_trust, user_key
from nxkernel.compilers.cache.file_trust import Folder, UntrustedError
from nxkernel.errors import CacheWarning, message

#: Bytes and files that the cache may take; the files unused for longest go first. Small kernels come to the second one
#: long before the first: looking at them all must not take longer than compiling what is written.
LIMIT, MOST = 512 << 20, 1 << 15

_MAGIC = b"nxk2"
_HEAD = struct.Struct("<4s8s32s16sQ")
_OWN_FOLDER = re.compile(r"[0-9a-f]{24}")
_TEMPORARY = ".nxkernel-"
_OWN_FILE = re.compile(r"nx[kpgc]_\w+|\.nxkernel-\w+")
_OWN_CODE = re.compile(r"nx([kp])_[0-9a-f]{40}")
_ANEW = "It is compiled again and written anew."
_lock = fork_safety.rlock()
_warned: set[str] = set()


@dataclass(frozen=True, slots=True)
class CacheFolder:
    """The folder of the disk cache and the key that authenticates its files.

    Parameters
    ----------
    folder : Folder
        For this processor and these versions.
    key : bytes
    """

    folder: Folder
    key: bytes

    def opened(self, name: str, data: bytes) -> bytes | None:
        """The object code in the data of a file of that name; None where the data is damaged.

        Raises
        ------
        UntrustedError
            When it was made with another key.
        """
        if len(data) < _HEAD.size:
            return None
        magic, key, digest, checksum, length = _HEAD.unpack_from(data)
        code = memoryview(data)[_HEAD.size :]
        if magic != _MAGIC or len(code) != length:
            return None
        if key != self._name_of_key():
            # Which key it was, damage may have changed, too.
            if _unkeyed(name, key, digest, code) == checksum:
                raise UntrustedError("it was made with another key")
            return None
        return bytes(code) if hmac.compare_digest(self._digest(name, code), digest) else None

    def head(self, name: str, code: bytes) -> bytes:
        """The header, in bytes, that comes before object code in the file of that name."""
        key, digest = self._name_of_key(), self._digest(name, code)
        return _HEAD.pack(_MAGIC, key, digest, _unkeyed(name, key, digest, code), len(code))

    def _digest(self, name: str, code: bytes | memoryview) -> bytes:
        # Code for another processor may have come into this one's folder: it would end the process.
        named = f"{_fingerprint()} {name}".encode() + b"\0"
        digest = hashlib.blake2b(named, digest_size=32, key=self.key, person=b"nxkernel code")
        digest.update(code)
        return digest.digest()

    def _name_of_key(self) -> bytes:
        return hashlib.blake2b(digest_size=8, key=self.key, person=b"nxkernel key").digest()


def _unkeyed(name: str, key: bytes, digest: bytes, code: bytes | memoryview) -> bytes:
    made = hashlib.blake2b(key + digest + name.encode() + b"\0", digest_size=16)
    made.update(code)
    return made.digest()


def read(name: str) -> bytes | None:
    """The object code stored under a name, or None; files that are damaged or another user's are removed."""
    cache = _place()
    if cache is None:
        return None
    try:
        data = cache.folder.read(name)
    except FileNotFoundError:
        return None
    except UntrustedError as error:
        _remove(cache, name, f"a file of the kernel cache may be somebody else's: {error}")
        return None
    except OSError as error:
        _warn(f"cannot read the kernel cache: {error.strerror or error}")
        return None
    try:
        code = cache.opened(name, data)
    except UntrustedError:
        what = f"files of the kernel cache were made with another key than that in {user_key.place()}"
        _warn(
            f"{what}, such as {name} in {cache.folder.path}: the folder is shared, or a copy.",
            "They are compiled again and written anew. To use them, bring the key of where they were made, too.",
        )
        return None
    if code is None:
        _remove(cache, name, f"a file of the kernel cache was damaged: {name}")
        return None
    with contextlib.suppress(OSError):
        cache.folder.touch(name)
    return code


def _remove(cache: CacheFolder, name: str, why: str) -> None:
    _warn(why, _ANEW)
    with contextlib.suppress(OSError):
        cache.folder.unlink(name)


def has(name: str) -> bool:
    """Whether a file of that name exists that :func:`read` would accept."""
    cache = _place()
    if cache is None:
        return False
    try:
        return cache.opened(name, cache.folder.read(name)) is not None
    except (UntrustedError, OSError):
        return False


def write(name: str, code: bytes) -> None:
    """Store object code under a name; a full or read-only disk gives a warning and no error."""
    cache = _place()
    if cache is None:
        return
    head = cache.head(name, code)
    try:
        try:
            cache.folder.write(name, (head, code), _TEMPORARY)
        except FileNotFoundError:
            # Someone has removed the folder since this process began.
            _prepared.cache_clear()
            cache = _place()
            if cache is None:
                return
            cache.folder.write(name, (head, code), _TEMPORARY)
    except OSError as error:
        _warn(f"cannot write the kernel cache: {error.strerror or error}")
        return
    # Looking at all files takes long where there are many; names are random, so this is one write in 256.
    if hashlib.blake2b(head, digest_size=1).digest() == b"\0":
        trim()


@dataclass(frozen=True, slots=True)
class File:
    """A file of the cache.

    Parameters
    ----------
    folder : Folder
        That it is in.
    name : str
    size : int
    used : float
        When it was used last, in seconds since the epoch.
    """

    folder: Folder
    name: str
    size: int
    used: float


def files() -> Iterator[File]:
    """All files of the cache: first those of this version and processor, then the others."""
    root, own = _root(), directory()
    with contextlib.suppress(OSError, UntrustedError):
        folder = file_trust.opened(root, make=False) if root is not None and own is not None else None
        # The folder may be one that somebody keeps other things in: only what this module wrote is its to remove.
        names = [] if folder is None else [name for name, _ in folder.entries() if _OWN_FOLDER.fullmatch(name)]
        for name in sorted(names, key=lambda name: name != own.name):
            with contextlib.suppress(OSError, UntrustedError):
                inner = folder.folder(name)
                for file, info in inner.entries():
                    if _OWN_FILE.fullmatch(file):
                        yield File(inner, file, info.st_size, info.st_mtime)


@dataclass(frozen=True, slots=True)
class CacheSummary:
    """A summary of the disk cache: number of files, bytes, ages.

    Parameters
    ----------
    kernels, records, others : int
        Files with kernels, and with programs, their code or what is said of them, for this version and processor; those
        for others.
    kernel_bytes, record_bytes, other_bytes : int
        Their sizes.
    oldest, latest : float
        When a file was used last, of all files: first and last, in seconds since the epoch; 0 where there are none.
    complete : bool
        Whether all files were looked at; otherwise there are more.
    """

    kernels: int = 0
    records: int = 0
    others: int = 0
    kernel_bytes: int = 0
    record_bytes: int = 0
    other_bytes: int = 0
    oldest: float = 0.0
    latest: float = 0.0
    complete: bool = True


def is_kernel(name: str) -> bool:
    """Whether a name is that of a kernel, and not of a program or of shared runtime code."""
    match = _OWN_CODE.fullmatch(name)
    return match is not None and match[1] == "k"


def is_program(name: str) -> bool:
    """Whether a name is that of a program, which calls kernels or has loops of its own."""
    match = _OWN_CODE.fullmatch(name)
    return match is not None and match[1] == "p"


def summary(seconds: float = 60.0) -> CacheSummary:
    """Count the files on disk, with sizes and ages; those of this version and processor come first.

    Parameters
    ----------
    seconds : float, optional
        How long to look at the most.
    """
    own = directory()
    sizes: dict[str, list[int]] = {"kernel": [], "record": [], "other": []}
    times, complete, end = [], True, time.monotonic() + seconds
    for file in files():
        if file.name.startswith(_TEMPORARY):
            continue
        if time.monotonic() > end:
            complete = False
            break
        is_program = file.name.startswith(("nxg_", "nxp_"))
        is_own = os.path.basename(file.folder.path) == own.name
        sizes["other" if not is_own else "record" if is_program else "kernel"].append(file.size)
        times.append(file.used)
    counts = {f"{kind}s": len(each) for kind, each in sizes.items()}
    totals = {f"{kind}_bytes": sum(each) for kind, each in sizes.items()}
    return CacheSummary(
        **counts, **totals, oldest=min(times, default=0.0), latest=max(times, default=0.0), complete=complete
    )


def trim(limit: int | None = None, most: int | None = None) -> int:
    """Remove the least recently used files until the cache is within its limits, and leftover temporary files; how many
    were removed.
    """
    limit, most = LIMIT if limit is None else limit, MOST if most is None else most
    oldest_first = sorted(files(), key=lambda file: file.used)
    total, count, removed = sum(file.size for file in oldest_first), len(oldest_first), 0
    for file in oldest_first:
        stale = file.name.startswith(_TEMPORARY) and time.time() - file.used > 3600
        if total <= limit and count <= most and not stale:
            continue
        try:
            file.folder.unlink(file.name)
            removed += 1
        except FileNotFoundError:
            # Another process makes room, too.
            pass
        except OSError:
            continue
        total, count = total - file.size, count - 1
    return removed


def clear() -> int:
    """Remove every file of the cache; how many were removed."""
    removed = 0
    for file in list(files()):
        with contextlib.suppress(OSError):
            file.folder.unlink(file.name)
            removed += 1
    return removed


def _root() -> Path | None:
    setting = os.environ.get("NXKERNEL_CACHE_DIR", "")
    if setting.lower() in ("off", "0", "none"):
        return None
    try:
        if setting:
            return user_key.absolute(setting)
        return user_key.absolute(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "nxkernel")
    except RuntimeError:
        _warn(f"cannot use {setting or '~/.cache/nxkernel'} as kernel cache: there is no home directory")
        return None


def directory() -> Path | None:
    """The folder for this processor and these versions, created if missing; None when the cache is off."""
    cache = _place()
    return None if cache is None else Path(cache.folder.path)


def _place() -> CacheFolder | None:
    root = _root()
    if root is None:
        return None
    try:
        key = user_key.place()
    except RuntimeError:
        _warn("the kernel cache is not used: there is no home directory, where its key would be", _KEY_ELSEWHERE)
        return None
    prepared = _prepared(root, key)
    if prepared is not None:
        try:
            prepared.folder.check()
        except FileNotFoundError:
            _prepared.cache_clear()
            return _prepared(root, key)
        except UntrustedError as error:
            _refuse(error, str(root))
            return None
    return prepared


@functools.lru_cache(maxsize=8)
def _prepared(root: Path, key: Path) -> CacheFolder | None:
    try:
        folder = file_trust.opened(root).folder(_fingerprint(), make=True)
    except UntrustedError as error:
        _refuse(error, str(root))
        return None
    except OSError as error:
        _warn(f"cannot use {root} as kernel cache: {error.strerror or error}")
        return None
    if Path(os.path.realpath(key)).is_relative_to(os.path.realpath(root)):
        _warn(f"{root} is not used as kernel cache: its key {key} lies inside, and would go along", _KEY_ELSEWHERE)
        return None
    try:
        return CacheFolder(folder, user_key.key(key))
    except UntrustedError as error:
        advice = error.advice or f"Remove {key}: another key is made"
        _warn(f"the kernel cache is not used, for its key may be somebody else's: {error}", f"{advice}.")
    except OSError as error:
        _warn(f"the kernel cache is not used: cannot read its key {key}: {error.strerror or error}", _KEY_ELSEWHERE)
    return None


def _refuse(error: UntrustedError, root: str) -> None:
    elsewhere = "NXKERNEL_CACHE_DIR to a folder that nobody else can write, or to off."
    advice = f"{error.advice}, or set {elsewhere}" if error.advice else f"Set {elsewhere}"
    _warn(f"{root} is not used as kernel cache: {error}", advice)


@functools.cache
def _fingerprint() -> str:
    """A string that changes with the version, with the sources of the cache, and with the built-in compiler's output.

    Between two releases sources change and the version does not: by the version alone old code would be loaded.
    """
    import nxkernel
    from nxkernel.compilers import registry

    version = registry.get(registry.BUILT_IN).code_version()
    parts = [nxkernel.__version__.encode(), Path(__file__).read_bytes(), *version]
    return hashlib.sha256(b"\n".join(parts)).hexdigest()[:24]


_ELSEWHERE = "Set NXKERNEL_CACHE_DIR to a folder that you can write, or to off."
_KEY_ELSEWHERE = "Set NXKERNEL_CACHE_KEY to a file elsewhere, which is made, or NXKERNEL_CACHE_DIR to off."


def _warn(text: str, hint: str = _ELSEWHERE) -> None:
    """Warn that the cache cannot be used; once for each remedy."""
    with _lock:
        if hint in _warned:
            return
        _warned.add(hint)
    kept = "Results are the same; kernels are kept in memory."
    warnings.warn(message(text, kept, hint), CacheWarning, stacklevel=2)


def reset() -> None:
    """Read the environment again, and allow warnings again."""
    for kept in (_prepared, user_key.key, user_key.absolute):
        kept.cache_clear()
    _warned.clear()
