"""The user's key, by which files of the disk cache are known as this user's: 32 random bytes in a file of their own.

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
    """The key in a file, which is made when it is missing.

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
        made = folder.read(path.name, secret=True)
    except FileNotFoundError:
        folder.write(path.name, (os.urandom(SIZE),), _TEMPORARY, new=True)
        made = folder.read(path.name, secret=True)
    if len(made) != SIZE:
        raise UntrustedError(f"{path} has {len(made)} bytes, a key has {SIZE}")
    return made


def place() -> Path:
    """The file that has the key; what is relative stands in the folder that the process was in at first.

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
    """A path as it was meant when it was first asked for, whatever folder the process goes to later.

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
