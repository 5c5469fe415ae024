"""Folders that nobody else can write: what is opened, what is refused, and that nothing comes between."""

import errno
import os
import re
import stat
import threading
import time

import pytest

from nxkernel.compilers.cache import file_trust
from nxkernel.compilers.cache.file_trust import UntrustedError

pytestmark = pytest.mark.skipif(not file_trust.OWNERS, reason="this system has no owners of files")
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be other users")


def as_user(number, work):
    """What `work` gives as text, or the error that it raises, in a process of another user."""
    receive, send = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.setgroups([])
            os.setgid(number)
            os.setuid(number)
            said = str(work())
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(send, said.encode())
        os._exit(0)
    os.close(send)
    with open(receive) as file:
        said = file.read()
    os.waitpid(child, 0)
    return said


@pytest.fixture
def shared(tmp_path):
    """A folder in which every user may make something, such as /tmp; folders above it let everybody pass."""
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    above = folder.parent
    while above.stat().st_uid == os.geteuid() and above != above.parent:
        above.chmod(above.stat().st_mode | 0o055 & ~0o022)
        above = above.parent
    return folder


def test_what_is_missing_is_made(tmp_path):
    folder = file_trust.opened(tmp_path / "a" / "b")
    assert folder.path == str(tmp_path / "a" / "b")
    assert (tmp_path / "a").stat().st_mode & 0o7777 == 0o700
    folder.write("file", (b"one", b"two"), ".new-")
    assert folder.read("file") == b"onetwo"
    folder.write("file", (b"three",), ".new-", new=True)
    assert folder.read("file") == b"onetwo"
    folder.write("file", (b"four",), ".new-")
    assert [(name, info.st_size) for name, info in folder.entries()] == [("file", 4)]
    with pytest.raises(FileNotFoundError):
        file_trust.opened(tmp_path / "missing", make=False)
    with pytest.raises(NotADirectoryError):
        file_trust.opened(tmp_path / "a" / "b" / "file")


def test_links_of_the_user_are_followed_on_the_way(tmp_path):
    (tmp_path / "real" / "deep").mkdir(parents=True)
    (tmp_path / "real" / "up").symlink_to("../other")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "other").mkdir()
    assert file_trust.opened(tmp_path / "link" / "deep").path == str(tmp_path / "real" / "deep")
    assert os.path.samefile(file_trust.opened(tmp_path / "link" / "up" / "new").path, tmp_path / "other" / "new")
    (tmp_path / "round").symlink_to("round")
    with pytest.raises(OSError, match=re.escape(os.strerror(errno.ELOOP))):
        file_trust.opened(tmp_path / "round")


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_a_parent_that_others_can_write_is_refused(tmp_path, mode, monkeypatch):
    monkeypatch.setattr(file_trust, "_is_private_group", lambda group: False)
    (tmp_path / "parent" / "cache").mkdir(parents=True)
    (tmp_path / "parent").chmod(mode)
    with pytest.raises(UntrustedError) as error:
        file_trust.opened(tmp_path / "parent" / "cache")
    assert str(error.value) == f"others can write {tmp_path / 'parent'}"
    assert error.value.advice == f"Run chmod go-w {tmp_path / 'parent'}"
    (tmp_path / "parent").chmod(mode | stat.S_ISVTX)
    assert file_trust.opened(tmp_path / "parent" / "cache").path == str(tmp_path / "parent" / "cache")
    with pytest.raises(UntrustedError):
        # Where others can make files is no folder for the user's own.
        file_trust.opened(tmp_path / "parent")


def test_a_group_of_the_user_alone_may_write(tmp_path, monkeypatch):
    import grp
    import pwd

    (tmp_path / "parent").mkdir()
    (tmp_path / "parent").chmod(0o770)
    user = pwd.getpwuid(os.geteuid())
    for members, name, good in (([], user.pw_name, True), ([user.pw_name], user.pw_name, True),
                                (["other"], user.pw_name, False), ([], "staff", False)):  # fmt: skip
        group = grp.struct_group((name, "x", user.pw_gid, members))
        monkeypatch.setattr(grp, "getgrgid", lambda number, group=group: group)
        if good:
            file_trust.opened(tmp_path / "parent" / "cache")
        else:
            with pytest.raises(UntrustedError):
                file_trust.opened(tmp_path / "parent" / "cache")


def test_whoever_the_process_is_now_is_the_user(tmp_path, monkeypatch):
    folder = file_trust.opened(tmp_path / "cache")
    another = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: another)
    with pytest.raises(UntrustedError, match="belongs to the user"):
        folder.check()
    with pytest.raises(UntrustedError, match="belongs to the user"):
        file_trust.opened(tmp_path / "cache")


@AS_ROOT
def test_what_others_made_in_a_shared_folder_is_refused(shared):
    def plant():
        (shared / "folder").mkdir(mode=0o755)
        (shared / "private").mkdir(mode=0o700)
        (shared / "link").symlink_to(shared / "private")
        return "planted"

    assert as_user(20001, plant) == "planted"
    for path, said in (
        (shared / "folder", f"UntrustedError: {shared / 'folder'} belongs to the user 20001"),
        (shared / "folder" / "cache", f"UntrustedError: {shared / 'folder'} belongs to the user 20001"),
        (shared / "link", f"UntrustedError: {shared / 'link'} is a link that the user 20001 made"),
        (shared / "link" / "cache", f"UntrustedError: {shared / 'link'} is a link that the user 20001 made"),
    ):
        assert as_user(20002, lambda path=path: file_trust.opened(path).path) == said
    # Root is no better off with what a user made, who could change it at any time.
    with pytest.raises(UntrustedError, match="belongs to the user 20001"):
        file_trust.opened(shared / "folder" / "cache")
    assert as_user(20002, lambda: file_trust.opened(shared / "mine" / "cache").path) == str(shared / "mine" / "cache")
    os.chown(shared / "mine", 20001, 20001)
    assert as_user(20002, lambda: file_trust.opened(shared / "mine" / "cache").path).startswith("UntrustedError")


@AS_ROOT
def test_a_file_of_another_user_is_refused(tmp_path):
    folder = file_trust.opened(tmp_path / "cache")
    folder.write("file", (b"code",), ".new-")
    os.chown(tmp_path / "cache" / "file", 20001, 20001)
    with pytest.raises(UntrustedError, match="file belongs to the user 20001"):
        folder.read("file")


def test_nothing_comes_between_the_look_and_the_use(tmp_path):
    """One thread puts a link to other code in the place of a file, and of its folder, as fast as it can."""
    (tmp_path / "evil").mkdir()
    (tmp_path / "evil" / "file").write_bytes(b"evil")
    (tmp_path / "evil" / "file").chmod(0o666)
    folder = file_trust.opened(tmp_path / "cache" / "inner")
    folder.write("file", (b"good",), ".new-")
    stop = threading.Event()

    def swap():
        path = tmp_path / "cache" / "inner"
        while not stop.is_set():
            path.rename(tmp_path / "cache" / "away")
            path.symlink_to(tmp_path / "evil")
            time.sleep(1e-4)
            path.unlink()
            (tmp_path / "cache" / "away").rename(path)
            time.sleep(1e-4)

    thread = threading.Thread(target=swap)
    thread.start()
    outer, found = file_trust.opened(tmp_path / "cache"), set()
    end, tries = time.monotonic() + 30, 0
    while (tries < 1000 or not {b"good", UntrustedError} <= found) and time.monotonic() < end:
        tries += 1
        try:
            found.add(outer.folder("inner").read("file"))
        except (UntrustedError, FileNotFoundError) as error:
            found.add(type(error))
    stop.set()
    thread.join()
    assert {b"good", UntrustedError} <= found <= {b"good", UntrustedError, FileNotFoundError}


def test_where_the_system_has_no_owners_paths_are_used(tmp_path, monkeypatch):
    monkeypatch.setattr(file_trust, "OWNERS", False)
    with pytest.raises(FileNotFoundError):
        file_trust.opened(tmp_path / "cache", make=False)
    outer = file_trust.opened(tmp_path / "cache")
    with pytest.raises(FileNotFoundError):
        outer.folder("inner")
    inner = outer.folder("inner", make=True)
    inner.write("file", (b"code",), ".new-")
    inner.write("file", (b"other",), ".new-", new=True)
    inner.touch("file")
    assert [name for name, _ in inner.entries()] == ["file"]
    assert inner.read("file", secret=True) == b"code"
    inner.unlink("file")
    with pytest.raises(FileNotFoundError):
        inner.read("file")
