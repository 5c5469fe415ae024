"""Clearing caches: what pages may ask for, and what comes back."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.compilers.cache import disk_cache
from nxkernel.compilers.numba_cpu.runtime import code_store
from nxkernel.definitions.calls import graph_cache
from nxkernel_lab.records import cache_clearing, cache_contents
from nxkernel_lab.records.cache_clearing import Clearing, ClearRequest, UndoRequest, read_request


@pytest.fixture
def halved():
    graph_cache.clear()

    @nx.defn(compiler="numba_cpu")
    def halved(t):
        return t / 2

    halved(1.0), halved(np.ones(3))
    yield halved
    graph_cache.clear()


@pytest.mark.parametrize(
    ("content", "request_"),
    [
        ({"kind": "forget", "what": "programs", "function": "f"}, ClearRequest("programs", "f")),
        ({"kind": "forget", "what": "programs", "function": ""}, ClearRequest("programs")),
        ({"kind": "forget", "what": "disk", "function": "import os"}, ClearRequest("disk")),
        ({"kind": "forget", "what": "memory"}, ClearRequest("memory")),
        ({"kind": "undo", "number": 3}, UndoRequest(3)),
    ],
)
def test_what_is_understood(content, request_):
    assert read_request(content) == request_


@pytest.mark.parametrize(
    "content",
    [
        None, "forget", [], {}, {"kind": "forget"}, {"kind": "forget", "what": "programs"},
        {"kind": "undo", "number": "1"}, {"kind": "forget", "what": "programs", "function": ["f"]},
        {"kind": "forget", "what": "home"},
        {"kind": "undo", "number": True}, {"kind": "undo"}, {"kind": "run", "code": "1"},
    ],
)  # fmt: skip
def test_what_is_ignored(content):
    assert read_request(content) is None


def test_programs_are_forgotten_and_put_back(halved):
    made = Clearing()
    told = made.perform(ClearRequest("programs", "halved"))
    assert told == {"text": "Forgot 2 programs of halved.", "undo": 1}
    assert halved.compilations() == []
    assert made.perform(UndoRequest(1)) == {"text": "Put back 2 programs.", "undo": 0}
    assert len(halved.compilations()) == 2
    assert made.perform(UndoRequest(1)) == {"text": "That cannot be undone any more.", "undo": 0}
    assert made.perform(ClearRequest("programs"))["text"] == "Forgot 2 programs of all functions."
    assert made.perform(ClearRequest("programs")) == {"text": "There are no programs to forget.", "undo": 0}


def test_only_so_much_is_kept(halved, monkeypatch):
    monkeypatch.setattr(cache_clearing, "UNDONE", 1)
    made = Clearing()
    made.perform(ClearRequest("programs"))
    halved(1.0)
    made.perform(ClearRequest("programs"))
    assert made.perform(UndoRequest(1))["text"] == "That cannot be undone any more."
    assert made.perform(UndoRequest(2))["text"] == "Put back 1 program."


def test_kernels_in_memory_and_files(halved, tmp_path, monkeypatch):
    monkeypatch.setenv("NXKERNEL_CACHE_DIR", str(tmp_path / "kernels"))
    disk_cache.reset()
    assert Clearing().perform(ClearRequest("memory"))["text"].startswith("Forgot ")
    assert code_store.forget() == 0
    nx.jit(lambda t: t / 2 + nx.cos(t), compiler="numba_cpu")(1.0)
    cache_contents.look_again()
    found = cache_contents.disk()
    files = found["kernels"] + found["records"]
    assert (found["kernels"], found["records"]) == (1, 1)
    told = Clearing().perform(ClearRequest("disk"))
    assert told == {"text": f"Removed {files} file{'s' * (files != 1)} from disk.", "undo": 0}
    assert cache_contents.disk()["kernels"] == 0
    assert float(halved(3.0)) == 1.5
    monkeypatch.undo()
    disk_cache.reset()
    cache_contents.look_again()
