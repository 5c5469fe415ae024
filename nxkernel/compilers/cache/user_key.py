"""The user's key, which authenticates this user's files in the disk cache: 32 random bytes in a file of their own.

It lies outside of the cache's folder, in ``~/.local/state/nxkernel`` (``XDG_STATE_HOME`` moves that; on Windows in
``LOCALAPPDATA``) or in the file that ``NXKERNEL_CACHE_KEY`` names, so that a copy of the folder comes without it. Who
wants to use such a copy takes the key along. It is made when it is missing; of several processes that make one at once,
all take the same.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path

from nxkernel.compilers.cache import file_trust
from nxkernel.compilers.cache.file_trust import UntrustedError

#: Its size in bytes.
SIZE = 32
_TEMPORARY = ".cache-key-"


@functools.lru_cache(maxsize=8)
def key(path: Path) -> bytes:
    """Read the key from a file, which is created when it is missing.

    Parameters
    ----------
    path : Path
        Absolute.

    Returns
    -------
    bytes

    Raises
    ------
    UntrustedError
        When somebody else can read or write it.
    OSError
    """
    folder = file_trust.opened(path.parent)
    try:
        data = folder.read(path.name, secret=True)
    except FileNotFoundError:
        folder.write(path.name, (os.urandom(SIZE),), _TEMPORARY, new=True)
        data = folder.read(path.name, secret=True)
    if len(data) != SIZE:
        raise UntrustedError(f"{path} has {len(data)} bytes, a key has {SIZE}")
    return data


def place() -> Path:
    """The path of the key file; a relative one is resolved once, in the folder where the process is then.

    Raises
    ------
    RuntimeError
        When there is no home directory.
    """
    setting = os.environ.get("NXKERNEL_CACHE_KEY", "")
    if setting:
        return absolute(setting)
    base = os.environ.get("XDG_STATE_HOME") or (os.name == "nt" and os.environ.get("LOCALAPPDATA")) or "~/.local/state"
    return absolute(base, "nxkernel", "cache-key")


@functools.lru_cache(maxsize=64)
def absolute(path: str, *inside: str) -> Path:
    """A path made absolute, with ``~`` expanded; the same path gives the same result after a change of folder.

    Parameters
    ----------
    path, *inside : str
        A path, and what lies in there.

    Raises
    ------
    RuntimeError
        For one in a home directory that there is not.
    """
    return Path(os.path.abspath(Path(path, *inside).expanduser()))
