import threading
from types import SimpleNamespace

import pytest

from nxkernel.definitions.calls import graph_cache
from nxkernel.definitions.observe.events import Event, NotebookCell, stream
from nxkernel_lab.messaging.page_updates import UNANSWERED, EventsRequest, PageHub, read_request
from nxkernel_lab.records import cache_clearing
from nxkernel_lab.records.event_follower import PAUSE


class Reader:
    """A page whose other end is the test."""

    def __init__(self, hub, since=0):
        self.sent, self.broken = [], False
        self.page = hub.open(self.send, since)

    def send(self, message):
        if self.broken:
            raise OSError("the socket is closed")
        self.sent.append(message)

    def kinds(self):
        return [message["kind"] for message in self.sent]

    def sinces(self):
        return [message["since"] for message in self.sent if message["kind"] == "news"]


@pytest.fixture
def hub(shell, clock):
    # Hits of other tests are no news of these.
    graph_cache.report_hits()
    made = PageHub(shell, lambda since: {"since": since, "last": stream.kept}, clock)
    yield made
    made.close_all()


@pytest.fixture
def reader(hub):
    return Reader(hub)


@pytest.fixture
def in_cell(monkeypatch):
    monkeypatch.setattr(stream, "cell", NotebookCell("cell 3"))


def miss():
    stream.emit(Event("miss", "softmax"))
    return stream.kept


def test_a_page_gets_what_it_lacks_when_it_comes(hub, reader):
    assert reader.sent == [{"kind": "news", "since": 0, "last": stream.kept}]
    assert Reader(hub, stream.kept).sinces() == [stream.kept]
    assert Reader(hub, 10**12).sinces() == [stream.kept]


def test_a_page_that_answers_gets_what_is_new_at_once(hub, reader, clock):
    before = stream.kept
    hub.more(reader.page, before)
    assert reader.sinces() == [0]
    clock.now += PAUSE
    miss()
    assert reader.sinces() == [0, before]


def test_a_page_gets_again_what_was_lost_on_the_way(hub, reader):
    miss()
    lost = stream.kept - 1
    hub.more(reader.page, lost)
    assert reader.sinces() == [0, lost]


@pytest.mark.alone
def test_a_page_that_asks_without_end_slows_no_cell(hub, reader, clock, in_cell):
    for _ in range(50):
        hub.more(reader.page, miss() - 1)
    assert len(reader.sent) == 1
    clock.now += PAUSE
    hub.more(reader.page, stream.kept - 1)
    assert len(reader.sent) == 2


def test_what_happens_in_a_burst_is_told_in_one_batch(reader, shell):
    start = stream.kept
    for _ in range(50):
        last = miss()
    assert reader.sinces() == [0]
    shell.end_cell()
    assert reader.sent[-1] == {"kind": "news", "since": start, "last": last}
    shell.end_cell()
    assert len(reader.sent) == 2


def test_pauses_double_until_the_page_answers(reader, clock):
    told = []
    for step in range(100):
        count = len(reader.sent)
        clock.now = 100.0 + 0.5 * PAUSE * step
        miss()
        if len(reader.sent) > count:
            told.append(step)
    assert told == [2, 6, 14, 30, 62]


def test_a_page_that_never_answers_is_left_alone_until_it_speaks(hub, reader, shell, clock):
    for _ in range(50):
        clock.now += 1e6
        miss()
        shell.end_cell()
    assert len(reader.sent) == UNANSWERED
    assert shell.callbacks == []
    Reader(hub)
    missed = stream.kept - 5
    hub.more(reader.page, missed)
    assert reader.sinces()[-1] == missed
    hub.clear(cache_clearing.UndoRequest(-1), reader.send)
    assert reader.kinds()[-2:] == ["done", "news"]


def test_during_a_cell_other_threads_wait_for_its_end(reader, shell, clock, in_cell):
    clock.now += 1.0
    thread = threading.Thread(target=miss)
    thread.start()
    thread.join()
    assert len(reader.sent) == 1
    shell.end_cell()
    assert len(reader.sent) == 2


def test_a_page_that_cannot_be_told_breaks_no_cell_and_no_other_page(hub, reader, shell, caplog):
    other = Reader(hub)
    other.broken = True
    miss()
    shell.end_cell()
    miss()
    shell.end_cell()
    assert [record.message for record in caplog.records] == ["a view of nxkernel shows nothing new any more"]
    assert len(reader.sent) == 3


def test_pages_that_have_gone_are_told_nothing(hub, reader, shell):
    hub.close(reader.page)
    hub.close(reader.page)
    miss()
    shell.end_cell()
    assert len(reader.sent) == 1
    assert shell.callbacks == []


def test_several_pages_get_each_what_it_lacks(hub, reader, shell):
    miss()
    other = Reader(hub)
    shell.end_cell()
    assert len(reader.sent) == 2
    assert len(other.sent) == 1


def test_what_was_cleared_is_told_to_the_page_that_asked_and_shown_to_all(hub, reader, monkeypatch):
    asked = []

    def perform(request):
        asked.append(request)
        return {"text": "Forgot 1 program of softmax.", "undo": 3}

    monkeypatch.setattr(cache_clearing, "clearing", SimpleNamespace(perform=perform))
    other = Reader(hub)
    hub.clear(cache_clearing.ClearRequest("programs", "softmax"), reader.send)
    assert asked == [cache_clearing.ClearRequest("programs", "softmax")]
    assert reader.sent[1] == {"kind": "done", "text": "Forgot 1 program of softmax.", "undo": 3}
    assert reader.kinds() == ["news", "done", "news"]
    assert other.kinds() == ["news", "news"]


def test_a_snapshot_that_tells_of_hits_is_told_once(shell, clock):
    def snapshot(since):
        clock.now += 1e6
        miss()
        return {"since": since, "last": stream.kept}

    hub = PageHub(shell, snapshot, clock)
    reader = Reader(hub)
    assert len(reader.sent) == 1
    hub.close_all()


@pytest.mark.parametrize(
    ("content", "request_"),
    [
        ({"kind": "more", "since": 3}, EventsRequest(3)),
        ({"kind": "more", "since": 3, "view": "v"}, EventsRequest(3, "v")),
        ({"kind": "undo", "number": 3}, cache_clearing.UndoRequest(3)),
        ({"kind": "forget", "what": "disk"}, cache_clearing.ClearRequest("disk")),
        (None, None),
        (7, None),
        ("more", None),
        ([], None),
        ({}, None),
        ({"kind": "more"}, None),
        ({"kind": "more", "since": "0"}, None),
        ({"kind": "more", "since": True}, None),
        ({"kind": "more", "since": -1}, None),
        ({"kind": "more", "since": 1, "view": ["v"]}, None),
        ({"kind": "forget", "what": "__import__('os')"}, None),
        ({"kind": "run", "code": "1 / 0"}, None),
    ],
)
def test_requests_are_read(content, request_):
    assert read_request(content) == request_
