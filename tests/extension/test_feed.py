import gc
import threading
import time
from dataclasses import replace

import pytest

from nxkernel.defn.events import Event, stream
from nxkernel_lab import feed as feed_module
from nxkernel_lab.feed import Feed, counts_line, row


class Owner:
    def __init__(self):
        self.told = 0

    def tell(self):
        self.told += 1


class Shell:
    """Only the events of a shell."""

    def __init__(self):
        self.events = self
        self.callbacks = []

    def register(self, name, callback):
        assert name == "post_run_cell"
        self.callbacks.append(callback)

    def unregister(self, name, callback):
        self.callbacks.remove(callback)

    def end_cell(self):
        for callback in list(self.callbacks):
            callback(None)


@pytest.fixture
def owner():
    return Owner()


@pytest.fixture
def shell():
    return Shell()


@pytest.fixture
def followed(definition, owner, shell):
    stream.clear()
    feed = Feed(definition, owner.tell, shell)
    yield feed
    feed.stop()
    stream.clear()


def miss(function="softmax", reason=("first call",), **more):
    return Event("miss", function, "cell 4", reason, trace_ms=1.4, native_ms=36.6, **{"compiled": 1, **more})


def test_it_tells_of_its_own_definitions_events(followed, owner):
    followed.start()
    owner.told = 0
    followed._quiet_until = 0.0
    stream.emit(miss("another"))
    stream.emit(Event("hit", "softmax"))
    assert owner.told == 0
    stream.emit(miss())
    assert owner.told == 1
    assert [each["what"] for each in followed.rows()] == ["compiled"]


def test_it_begins_with_what_the_stream_remembers(followed):
    stream.emit(miss())
    stream.emit(Event("kernel", "softmax", origin="disk"))
    followed.start()
    followed.start()
    assert len(followed.rows()) == 1


def test_a_burst_is_told_once_and_again_at_the_end_of_the_cell(followed, owner, shell):
    followed.start()
    owner.told = 0
    followed._quiet_until = 0.0
    for _ in range(50):
        stream.emit(miss())
    assert owner.told == 1
    shell.end_cell()
    assert owner.told == 2
    assert len(followed.rows()) == 50
    shell.end_cell()
    assert owner.told == 2


def test_the_end_of_a_cell_brings_new_counts(followed, owner, shell, definition):
    followed.start()
    owner.told = 0
    definition.info = replace(definition.info, hits=1000)
    shell.end_cell()
    assert owner.told == 1
    assert followed.counts().startswith("1000 calls answered from the cache")


def test_slow_updates_come_less_often(followed, owner, monkeypatch):
    monkeypatch.setattr(feed_module, "PAUSE", 0.0)
    monkeypatch.setattr(owner, "tell", Owner.tell.__get__(owner))
    clock = iter([10.0, 12.0, 13.0])
    followed.start()
    monkeypatch.setattr(feed_module.time, "perf_counter", lambda: next(clock))
    followed._update()
    assert followed._quiet_until == 12.0 + 20 * 2.0


def test_other_threads_leave_the_telling_to_the_end_of_the_cell(followed, owner, shell):
    followed.start()
    owner.told, followed._quiet_until = 0, 0.0
    thread = threading.Thread(target=stream.emit, args=(miss(),))
    thread.start()
    thread.join()
    assert owner.told == 0
    shell.end_cell()
    assert owner.told == 1


def test_it_stops_listening(followed, shell):
    followed.start()
    assert followed.running
    followed.stop()
    followed.stop()
    assert not followed.running
    assert shell.callbacks == []
    stream.emit(miss())
    assert followed.rows() == []


def test_it_ends_with_its_owner(definition, shell):
    owner = Owner()
    feed = Feed(definition, owner.tell, shell)
    feed.start()
    del owner
    gc.collect()
    feed._quiet_until = 0.0
    stream.emit(miss())
    assert not feed.running
    assert shell.callbacks == []


def test_rows():
    now = time.time()
    assert row(miss(time=now)) == {
        "time": now,
        "where": "cell 4",
        "what": "compiled",
        "spent": "38 ms",
        "why": "first call; 1 kernel compiled",
        "advice": "",
        "notes": "",
    }
    again = row(miss(reason=("argument t: f32[3] → f32[4]",), reused=2, advice="Keep to one shape."))
    assert (again["what"], again["why"]) == (
        "compiled again",
        "argument t: f32[3] → f32[4]; 1 kernel compiled; 2 kernels from memory",
    )
    assert again["advice"] == "Keep to one shape."
    noted = row(miss(notes=("cell 2, line 3: this loop is written out 3 times: k is needed in it", "more")))
    assert noted["notes"] == "cell 2, line 3: this loop is written out 3 times: k is needed in it; more"
    assert row(miss(compiled=0, reused=1))["what"] == "traced"
    disk = row(miss(compiled=0, reused=3, disk=2))
    assert (disk["what"], disk["why"]) == ("loaded from disk", "first call; 1 kernel from memory; 2 kernels from disk")
    assert row(Event("clear", "f", calls=2))["what"] == "cleared"
    assert (row(Event("error", "f"))["what"], row(Event("evict", "f"))["what"]) == ("error", "forgotten")


def test_counts(definition):
    assert counts_line(definition.cache_info()) == (
        "12 calls answered from the cache, 1 traced · kernels: 1 compiled, 0 from memory, 1 from disk · 1 program kept"
    )
