"""Object code on disk, by name, for later processes: checksummed, written atomically, bounded in size, never unpickled.

A file is a header (``nxk1``, the SHA-256 of its name and the object code, the length of that) and the object code, or
the record of a program (``nxg_…``, :mod:`nxkernel.compilers.numba_cpu.recorded`), or code for a GPU (``nxc_…``,
:mod:`nxkernel.compilers.numba_cuda.object_code`, whose names tell architecture and tools). It stands in a folder for
the versions of Numba, llvmlite and nxkernel and for the processor, inside a folder that only the user can write.
``NXKERNEL_CACHE_DIR`` moves that folder; ``off`` turns the cache off.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import os
import re
import stat
import struct
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nxkernel import forks
from nxkernel.errors import CacheWarning, message

#: Bytes and files that the cache may take; the files unused for longest go first. Small kernels come to the second one
#: long before the first: looking at them all must not take longer than compiling what is written.
LIMIT, MOST = 512 << 20, 1 << 15

_MAGIC = b"nxk1"
_HEAD = struct.Struct("<4s32sQ")
_OWN_FOLDER = re.compile(r"[0-9a-f]{24}")
_TEMPORARY = ".nxkernel-"
_OWN_FILE = re.compile(r"nx[kpgc]_\w+|\.nxkernel-\w+")
_OWN_CODE = re.compile(r"nx([kp])_[0-9a-f]{40}")
_lock = forks.rlock()
_warned: set[str] = set()


def read(name: str) -> bytes | None:
    """The object code of a name, or None; a damaged file is removed and counts as missing."""
    folder = directory()
    if folder is None:
        return None
    path = folder / name
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        _warn(f"cannot read the kernel cache: {error.strerror or error}")
        return None
    code = _checked(name, data)
    if code is None:
        _warn(f"a file of the kernel cache was damaged: {path.name}", "It is compiled again and written anew.")
        with contextlib.suppress(OSError):
            path.unlink()
        return None
    with contextlib.suppress(OSError):
        os.utime(path)
    return code


def has(name: str) -> bool:
    """Whether there is a file of that name."""
    folder = directory()
    return folder is not None and (folder / name).exists()


def _digest(name: str, code: bytes) -> bytes:
    # Code for another processor may have come into this one's folder: it would end the process.
    return hashlib.sha256(f"{_fingerprint()} {name}".encode() + b"\0" + code).digest()


def _checked(name: str, data: bytes) -> bytes | None:
    if len(data) < _HEAD.size:
        return None
    magic, digest, length = _HEAD.unpack_from(data)
    code = data[_HEAD.size :]
    if magic != _MAGIC or len(code) != length or _digest(name, code) != digest:
        return None
    return code


def write(name: str, code: bytes) -> None:
    """Keep object code under a name; a disk that is full or read-only costs a warning, nothing else."""
    folder = directory()
    if folder is None:
        return
    digest = _digest(name, code)
    temporary = None
    try:
        # Someone may have removed the folder since this process began.
        _make(folder.parent)
        _make(folder)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=_TEMPORARY, delete=False) as file:
            temporary = file.name
            file.write(_HEAD.pack(_MAGIC, digest, len(code)) + code)
        os.replace(temporary, folder / name)
    except OSError as error:
        _warn(f"cannot write the kernel cache: {error.strerror or error}")
        if temporary:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        return
    # Looking at all files takes long where there are many; digests are random, so this is one write in 256.
    if digest[0] == 0:
        trim()


def files() -> Iterator[tuple[os.DirEntry[str], os.stat_result]]:
    """The files of the cache with their sizes and times: those of this version and processor, then all others."""
    root, own = _root(), directory()
    folders: list[Path] = []
    with contextlib.suppress(OSError):
        folders = sorted(root.iterdir(), key=lambda path: path != own) if root is not None else []
    # The folder may be one that somebody keeps other things in: only what this module wrote is its to remove.
    for folder in folders:
        if _OWN_FOLDER.fullmatch(folder.name):
            with contextlib.suppress(OSError), os.scandir(folder) as found:
                for entry in found:
                    if _OWN_FILE.fullmatch(entry.name):
                        with contextlib.suppress(OSError):
                            yield entry, entry.stat()


@dataclass(frozen=True, slots=True)
class Kept:
    """What is on disk.

    Parameters
    ----------
    kernels, records, others : int
        Files with kernels, and with programs, their code or what is said of them, for this version and processor; those
        for others.
    kernel_bytes, record_bytes, other_bytes : int
        Their sizes.
    oldest, latest : float
        When a file was used last, of all files: first and last, in seconds since the epoch; 0 where there are none.
    whole : bool
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
    whole: bool = True


def is_kernel(name: str) -> bool:
    """Whether code of that name is a kernel of somebody's program."""
    found = _OWN_CODE.fullmatch(name)
    return found is not None and found[1] == "k"


def is_program(name: str) -> bool:
    """Whether code of that name is a program, which calls kernels in turn or has loops of its own."""
    found = _OWN_CODE.fullmatch(name)
    return found is not None and found[1] == "p"


def survey(seconds: float = 60.0) -> Kept:
    """What is on disk: how many files, how large, and how old; those of this version and processor are looked at first.

    Parameters
    ----------
    seconds : float, optional
        How long to look at the most.
    """
    own = directory()
    sizes: dict[str, list[int]] = {"kernel": [], "record": [], "other": []}
    times, whole, end = [], True, time.monotonic() + seconds
    for entry, info in files() if own is not None else ():
        if entry.name.startswith(_TEMPORARY):
            continue
        if time.monotonic() > end:
            whole = False
            break
        is_program = entry.name.startswith(("nxg_", "nxp_"))
        is_own = os.path.dirname(entry.path) == str(own)
        sizes["other" if not is_own else "record" if is_program else "kernel"].append(info.st_size)
        times.append(info.st_mtime)
    counts = {f"{kind}s": len(each) for kind, each in sizes.items()}
    totals = {f"{kind}_bytes": sum(each) for kind, each in sizes.items()}
    return Kept(**counts, **totals, oldest=min(times, default=0.0), latest=max(times, default=0.0), whole=whole)


def trim(limit: int | None = None, most: int | None = None) -> int:
    """Remove the files unused for longest until the cache fits; how many went. Temporary files of the dead go too."""
    limit, most = LIMIT if limit is None else limit, MOST if most is None else most
    found = sorted(files(), key=lambda item: item[1].st_mtime)
    total, count, removed = sum(info.st_size for _, info in found), len(found), 0
    for entry, info in found:
        stale = entry.name.startswith(_TEMPORARY) and time.time() - info.st_mtime > 3600
        if total <= limit and count <= most and not stale:
            continue
        try:
            os.unlink(entry)
            removed += 1
        except FileNotFoundError:
            # Another process makes room, too.
            pass
        except OSError:
            continue
        total, count = total - info.st_size, count - 1
    return removed


def clear() -> int:
    """Remove every file; how many there were."""
    removed = 0
    for entry, _ in list(files()):
        with contextlib.suppress(OSError):
            os.unlink(entry)
            removed += 1
    return removed


def _root() -> Path | None:
    given = os.environ.get("NXKERNEL_CACHE_DIR", "")
    if given.lower() in ("off", "0", "none"):
        return None
    base = Path(given) if given else Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "nxkernel")
    try:
        return base.expanduser()
    except RuntimeError:
        _warn(f"cannot use {base} as kernel cache: there is no home directory")
        return None


def directory() -> Path | None:
    """The folder for this processor and these versions, made if need be; None when there is no cache."""
    root = _root()
    return None if root is None else _prepared(root)


def _make(folder: Path) -> None:
    # Parents take the process's default mode, which may let a group write: only the last folder is private.
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


@functools.lru_cache(maxsize=8)
def _prepared(root: Path) -> Path | None:
    folder = root / _fingerprint()
    try:
        _make(root)
        info = root.stat()
        if hasattr(os, "getuid") and (info.st_uid != os.getuid() or info.st_mode & (stat.S_IWGRP | stat.S_IWOTH)):
            _warn(f"{root} is not used as kernel cache: others can write there", f"Run chmod go-w {root}")
            return None
        _make(folder)
    except OSError as error:
        _warn(f"cannot use {root} as kernel cache: {error.strerror or error}")
        return None
    return folder


@functools.cache
def _fingerprint() -> str:
    """The processor, the versions and our own sources that decide what object code means.

    Between two releases sources change and the version does not: by the version alone old code would be loaded.
    Numba's version is read from its file: importing Numba, or the machinery that knows the versions of distributions,
    would take longer than loading every kernel.
    """
    import llvmlite

    import nxkernel
    from nxkernel.compilers.numba_cpu import apart, processors

    numba = importlib.util.find_spec("numba")
    version = Path(numba.origin).with_name("_version.py")
    parts = [apart.do(processors.processor).encode(), llvmlite.__version__.encode(), nxkernel.__version__.encode()]
    if version.exists():
        parts.append(version.read_bytes())
    folder = Path(processors.__file__).parent
    beside = [folder.with_name(name) for name in ("complex_functions.py", "loops.py", "notation.py")]
    parts += [path.read_bytes() for path in [Path(__file__), *beside, *sorted(folder.rglob("*.py"))]]
    return hashlib.sha256(b"\n".join(parts)).hexdigest()[:24]


_ELSEWHERE = "Set NXKERNEL_CACHE_DIR to a folder that you can write, or to off."


def _warn(text: str, hint: str = _ELSEWHERE) -> None:
    """Say that the cache cannot be used; once for each thing to do about it."""
    with _lock:
        if hint in _warned:
            return
        _warned.add(hint)
    kept = "Results are the same; kernels are kept in memory."
    warnings.warn(message(text, kept, hint), CacheWarning, stacklevel=2)


def reset() -> None:
    """Look at the environment anew, and warn again."""
    _prepared.cache_clear()
    _warned.clear()
