"""Folders and files that only the user can write: opened component by component, and checked after opening.

A path is followed from the root of the file system, each folder opened inside of the one before. What is open is looked
at, so that nothing can be put in its place between the look and the use. The folders on the way belong to the user or
to root, and nobody else can write them, or they are such as ``/tmp``, in which only its owner can replace a thing; so
do links on the way. The last folder is the user's own and nobody else can write there. New folders are for the user
alone, whatever the process's umask.

Windows has neither such owners nor such modes: paths are used as they are there.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

#: Whether the system has owners of files, and functions that go on from an open folder.
OWNERS = hasattr(os, "geteuid") and {os.open, os.stat, os.mkdir, os.unlink} <= os.supports_dir_fd
#: Links that are followed in one path, as by Linux itself.
_LINKS = 40
_WRITABLE = stat.S_IWGRP | stat.S_IWOTH


def _flag(name: str) -> int:
    return getattr(os, name, 0)


_ON_THE_WAY = _flag("O_PATH") | os.O_RDONLY | _flag("O_DIRECTORY") | _flag("O_NOFOLLOW") | _flag("O_CLOEXEC")
_LISTED = os.O_RDONLY | _flag("O_DIRECTORY") | _flag("O_NOFOLLOW") | _flag("O_CLOEXEC")
#: A file that is none, such as a pipe, must keep nobody waiting.
_READ = os.O_RDONLY | _flag("O_NOFOLLOW") | _flag("O_NONBLOCK") | _flag("O_CLOEXEC") | _flag("O_BINARY")
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _flag("O_NOFOLLOW") | _flag("O_CLOEXEC") | _flag("O_BINARY")


class UntrustedError(Exception):
    """A folder or file that another user could have written.

    Parameters
    ----------
    what : str
        What is so, with the path.
    advice : str
        What to do about it, as the begin of a sentence; empty where nothing but going elsewhere helps.
    """

    def __init__(self, what: str, advice: str = "") -> None:
        super().__init__(what)
        self.advice = advice


class Folder:
    """An open folder that belongs to the user.

    Parameters
    ----------
    path : str
        For people.
    number : int or None
        The open folder's; None where the system has no owners, and the path is used.
    """

    def __init__(self, path: str, number: int | None) -> None:
        self.path, self._number = path, number
        self._known = None if number is None else _identity(os.fstat(number))

    def __del__(self) -> None:
        # Whoever closed all files of the process may have others under that number by now.
        with contextlib.suppress(OSError, AttributeError):
            if self._number is not None and _identity(os.fstat(self._number)) == self._known:
                os.close(self._number)

    def check(self) -> None:
        """Check that the folder is still the one that was opened.

        Raises
        ------
        UntrustedError
            When others can write there by now.
        FileNotFoundError
            When it was closed under this object.
        """
        if self._number is None:
            return
        try:
            info = os.fstat(self._number)
        except OSError:
            info = None
        if info is None or _identity(info) != self._known:
            raise FileNotFoundError(errno.ENOENT, "the folder was closed", self.path)
        _check_own(info, self.path)

    def read(self, name: str, *, secret: bool = False) -> bytes:
        """The contents of a file, which must be one that only the user can write.

        Parameters
        ----------
        name : str
        secret : bool, optional
            Whether nobody else may be able to read it, either.

        Raises
        ------
        UntrustedError
        OSError
        """
        path = os.path.join(self.path, name)
        try:
            number = os.open(*self._at(name, _READ), **self._here())
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.EMLINK):
                raise UntrustedError(f"{path} is a link") from None
            raise
        try:
            info = os.fstat(number)
            if stat.S_ISDIR(info.st_mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
            if not stat.S_ISREG(info.st_mode):
                raise UntrustedError(f"{path} is no file")
            if OWNERS:
                _check_own(info, path)
                if secret and info.st_mode & 0o077:
                    raise UntrustedError(f"others can read {path}")
            with open(number, "rb", buffering=0, closefd=False) as file:
                return file.readall()
        finally:
            os.close(number)

    def write(self, name: str, parts: tuple[bytes, ...], temporary: str, *, new: bool = False) -> None:
        """Write a file atomically, in the place of any file of that name.

        Parameters
        ----------
        name : str
        parts : tuple of bytes
        temporary : str
            How the name begins that it has until it is whole.
        new : bool, optional
            Whether to leave alone what is there.

        Raises
        ------
        UntrustedError, OSError
        """
        while_written = temporary + os.urandom(8).hex()
        number = os.open(*self._at(while_written, _NEW), 0o600, **self._here())
        try:
            with open(number, "wb", buffering=0) as file:
                for part in parts:
                    left = memoryview(part)
                    while left:
                        left = left[file.write(left) :]
                if new:
                    # It must be whole after the power failed, too.
                    os.fsync(number)
            self._place(while_written, name, new)
        except BaseException:
            with contextlib.suppress(OSError):
                self.unlink(while_written)
            raise

    def _place(self, temporary: str, name: str, new: bool) -> None:
        (source,), (target,) = self._at(temporary), self._at(name)
        if not new:
            os.replace(source, target, **self._here("src_dir_fd"), **self._here("dst_dir_fd"))
            return
        try:
            os.link(source, target, **self._here("src_dir_fd"), **self._here("dst_dir_fd"))
        except FileExistsError:
            pass
        except OSError:
            # Some file systems have no links; who comes second there takes the other's place.
            os.rename(source, target, **self._here("src_dir_fd"), **self._here("dst_dir_fd"))
            return
        self.unlink(temporary)

    def touch(self, name: str) -> None:
        """Update the modification time of a file, which marks it as used."""
        follow = {"follow_symlinks": False} if OWNERS else {}
        os.utime(*self._at(name), **self._here(), **follow)

    def unlink(self, name: str) -> None:
        """Remove a file."""
        os.unlink(*self._at(name), **self._here())

    def entries(self) -> Iterator[tuple[str, os.stat_result]]:
        """The names in the folder, each with its stat result; symbolic links are not followed."""
        listed: str | int = self.path if self._number is None else os.open(".", _LISTED, dir_fd=self._number)
        try:
            with os.scandir(listed) as entries:
                for entry in entries:
                    with contextlib.suppress(OSError):
                        yield entry.name, entry.stat(follow_symlinks=False)
        finally:
            if isinstance(listed, int):
                os.close(listed)

    def folder(self, name: str, *, make: bool = False) -> Folder:
        """Open a folder inside this one.

        Raises
        ------
        UntrustedError, OSError
        """
        path = os.path.join(self.path, name)
        if make:
            with contextlib.suppress(FileExistsError):
                os.mkdir(*self._at(name), 0o700, **self._here())
        if self._number is None:
            if not os.path.isdir(path):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
            return Folder(path, None)
        number = _step(self._number, name, path)
        try:
            return _own(path, number)
        finally:
            os.close(number)

    def _at(self, name: str, *more: int) -> tuple:
        return (name if self._number is not None else os.path.join(self.path, name), *more)

    def _here(self, argument: str = "dir_fd") -> dict[str, int]:
        return {} if self._number is None else {argument: self._number}


def opened(path: Path, *, make: bool = True) -> Folder:
    """Open a folder of the user's own.

    Parameters
    ----------
    path : Path
        Absolute.
    make : bool, optional
        Whether to make what is not there, for the user alone.

    Returns
    -------
    Folder

    Raises
    ------
    UntrustedError
        When others can write there, or replace a folder or a link on the way.
    OSError
    """
    if not OWNERS:
        if make:
            os.makedirs(path, 0o700, exist_ok=True)
        elif not path.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        return Folder(str(path), None)
    number, reached, links = os.open(os.sep, _ON_THE_WAY), os.sep, 0
    try:
        _check_on_the_way(os.fstat(number), reached)
        names = [name for name in reversed(path.parts[1:]) if name != os.curdir]
        while names:
            name = names.pop()
            here = os.path.join(reached, name)
            info = _found(number, name, make)
            if stat.S_ISLNK(info.st_mode):
                if info.st_uid not in (0, os.geteuid()):
                    raise UntrustedError(f"{here} is a link that {_user(info.st_uid)} made", f"Remove {_quoted(here)}")
                links += 1
                if links > _LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
                target = Path(os.readlink(name, dir_fd=number))
                parts = target.parts[1:] if target.is_absolute() else target.parts
                names += [part for part in reversed(parts) if part != os.curdir]
                if target.is_absolute():
                    os.close(number)
                    number, reached = os.open(os.sep, _ON_THE_WAY), os.sep
                continue
            following = _step(number, name, here)
            os.close(number)
            number, reached = following, here
            _check_on_the_way(os.fstat(number), reached)
        return _own(reached, number)
    finally:
        os.close(number)


def _found(number: int, name: str, make: bool) -> os.stat_result:
    """The stat result of a name in an open folder, which is created first if `make` says so."""
    try:
        return os.stat(name, dir_fd=number, follow_symlinks=False)
    except FileNotFoundError:
        if not make:
            raise
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, 0o700, dir_fd=number)
    return os.stat(name, dir_fd=number, follow_symlinks=False)


def _step(number: int, name: str, path: str) -> int:
    """Open a folder inside an open one, by its name."""
    try:
        return os.open(name, _ON_THE_WAY, dir_fd=number)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK) or (error.errno == errno.ENOTDIR and _was_link(number, name)):
            raise UntrustedError(f"{path} is a link", f"Remove {_quoted(path)}") from None
        raise


def _was_link(number: int, name: str) -> bool:
    """Whether a name that could not be opened as a folder is a link, or has been replaced by a folder meanwhile."""
    mode = os.stat(name, dir_fd=number, follow_symlinks=False).st_mode
    return stat.S_ISLNK(mode) or stat.S_ISDIR(mode)


def _own(path: str, number: int) -> Folder:
    """Check that an open folder is the user's own, and wrap it."""
    _check_own(os.fstat(number), path)
    return Folder(path, os.open(".", _LISTED, dir_fd=number))


def _check_own(info: os.stat_result, path: str) -> None:
    """Refuse an open file or folder that is not the user's, or that others can write."""
    if info.st_uid != os.geteuid():
        raise _of_another(info, path)
    if _others_write(info):
        raise UntrustedError(f"others can write {path}", f"Run chmod go-w {_quoted(path)}")


def _check_on_the_way(info: os.stat_result, path: str) -> None:
    """Refuse an open parent folder in which others could replace entries of the user or of root."""
    if info.st_uid not in (0, os.geteuid()):
        raise _of_another(info, path)
    if _others_write(info) and not info.st_mode & stat.S_ISVTX:
        advice = f"Run chmod go-w {_quoted(path)}" if info.st_uid == os.geteuid() else ""
        raise UntrustedError(f"others can write {path}", advice)


def _of_another(info: os.stat_result, path: str) -> UntrustedError:
    advice = f"Run chown {os.geteuid()} {_quoted(path)}, as root"
    return UntrustedError(f"{path} belongs to {_user(info.st_uid)}", advice)


def _others_write(info: os.stat_result) -> bool:
    if not info.st_mode & _WRITABLE:
        return False
    return bool(info.st_mode & stat.S_IWOTH) or not _is_private_group(info.st_gid)


def _is_private_group(group: int) -> bool:
    """Whether a group is the user's private one: it has the user's name and no other members."""
    import grp
    import pwd

    try:
        user, entry = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
    except KeyError:
        return False
    return user.pw_gid == group and entry.gr_name == user.pw_name and set(entry.gr_mem) <= {user.pw_name}


def _user(number: int) -> str:
    import pwd

    try:
        return f"the user {pwd.getpwuid(number).pw_name}"
    except KeyError:
        return f"the user {number}"


def _quoted(path: str) -> str:
    import shlex

    return shlex.quote(path)


def _identity(info: os.stat_result) -> tuple[int, int]:
    return info.st_dev, info.st_ino
