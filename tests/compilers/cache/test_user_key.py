"""The key of the disk cache: made once, whoever makes it, and where it lies."""

import multiprocessing
import os
from pathlib import Path

import pytest

from nxkernel.compilers.cache import user_key
from nxkernel.compilers.cache.user_key import absolute, key, place


@pytest.fixture(autouse=True)
def afresh():
    """No key is known."""
    key.cache_clear()
    absolute.cache_clear()
    yield
    key.cache_clear()
    absolute.cache_clear()


def _made(path, begin, found):
    begin.wait()
    found.put(key(Path(path)))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_several_processes_take_the_same(tmp_path):
    context = multiprocessing.get_context("fork" if hasattr(os, "fork") else "spawn")
    for turn in range(10):
        begin, found = context.Event(), context.Queue()
        path = tmp_path / f"folder {turn}" / "key"
        processes = [context.Process(target=_made, args=(path, begin, found)) for _ in range(4)]
        for process in processes:
            process.start()
        begin.set()
        keys = {found.get(timeout=60) for _ in processes}
        for process in processes:
            process.join()
        assert keys == {path.read_bytes()}
        assert [each.name for each in path.parent.iterdir()] == ["key"]
        assert len(path.read_bytes()) == 32


def test_where_there_are_no_links_to_files(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "link", refuse)
    made = key(tmp_path / "key")
    assert (tmp_path / "key").read_bytes() == made
    assert [each.name for each in tmp_path.iterdir()] == ["key"]


def test_where_it_lies(monkeypatch, tmp_path):
    for name in ("NXKERNEL_CACHE_KEY", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/home/somebody")
    if os.name != "nt":
        assert place() == Path("/home/somebody/.local/state/nxkernel/cache-key")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert place() == tmp_path / "nxkernel" / "cache-key"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NXKERNEL_CACHE_KEY", "mine")
    assert place() == tmp_path / "mine"
    monkeypatch.chdir("/")
    assert place() == tmp_path / "mine"


def test_it_is_made_once(tmp_path):
    first = key(tmp_path / "key")
    key.cache_clear()
    assert key(tmp_path / "key") == first
    assert len(first) == user_key.SIZE
