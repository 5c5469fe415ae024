import time
from dataclasses import replace

import pytest

from nxkernel.definitions.observe.events import Event, stream
from nxkernel_lab.inspector.event_list import EventFeed, counts_line, row


class Owner:
    def __init__(self):
        self.told = 0

    def tell(self):
        self.told += 1


@pytest.fixture
def owner():
    return Owner()


@pytest.fixture
def followed(definition, owner, shell):
    stream.clear()
    feed = EventFeed(definition, owner.tell, shell)
    yield feed
    feed.stop()
    stream.clear()


def miss(function="softmax", reason=("first call",), **more):
    return Event("miss", function, "cell 4", reason, trace_ms=1.4, native_ms=36.6, **{"compiled": 1, **more})


def test_it_tells_of_its_own_definitions_events(followed, owner, shell):
    followed.start()
    assert owner.told == 1
    stream.emit(miss("another"))
    stream.emit(Event("hit", "softmax"))
    stream.emit(Event("kernel", "softmax"))
    shell.end_cell()
    assert owner.told == 1
    stream.emit(miss())
    shell.end_cell()
    assert owner.told == 2
    assert [each["what"] for each in followed.rows()] == ["compiled"]


def test_it_begins_with_what_the_stream_remembers(followed):
    stream.emit(miss())
    stream.emit(Event("kernel", "softmax", origin="disk"))
    followed.start()
    followed.start()
    assert len(followed.rows()) == 1


def test_the_end_of_a_cell_brings_new_counts(followed, owner, shell, definition):
    followed.start()
    owner.told = 0
    definition.info = replace(definition.info, hits=1000)
    shell.end_cell()
    assert owner.told == 1
    assert followed.counts().startswith("1000 calls answered from the cache")


def test_it_stops_listening(followed, shell):
    followed.start()
    assert followed.running
    followed.stop()
    followed.stop()
    assert not followed.running
    assert shell.callbacks == []
    stream.emit(miss())
    assert followed.rows() == []


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
    assert row(Event("error", "f", reason=("NameError: x", "cell 2, line 3")))["why"] == "NameError: x\ncell 2, line 3"
    assert (row(Event("error", "f"))["what"], row(Event("evict", "f"))["what"]) == ("error", "forgotten")


def test_counts(definition):
    assert counts_line(definition.cache_info()) == (
        "12 calls answered from the cache, 1 traced · kernels: 1 compiled, 0 from memory, 1 from disk · 1 program kept"
    )
