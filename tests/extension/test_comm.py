import json
import threading
from types import SimpleNamespace

import comm
import pytest
from comm.base_comm import BaseComm, CommManager

from nxkernel.defn.events import Event, stream
from nxkernel_lab import clearing
from nxkernel_lab.comm import PAUSE, TARGET, UNANSWERED, Desk, More, install, read_request


class Comm:
    """A comm whose other end is the test."""

    def __init__(self, broken=False):
        self.sent, self.broken = [], broken

    def send(self, data):
        if self.broken:
            raise OSError("the socket is closed")
        json.dumps(data)
        self.sent.append(data)

    def on_msg(self, callback):
        self._hear = callback

    def on_close(self, callback):
        self.close = lambda: callback({})

    def say(self, data):
        self._hear({"content": {"data": data}})

    def kinds(self):
        return [message["kind"] for message in self.sent]

    def sinces(self):
        return [message["since"] for message in self.sent if message["kind"] == "news"]


class Clock:
    """Time that the test makes go by."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def desk(clock):
    made = Desk(lambda since: {"since": since, "last": stream.kept}, clock)
    stop = stream.subscribe(made.hear, hits=False)
    yield made
    stop()


@pytest.fixture
def page(desk):
    comm = Comm()
    desk.opened(comm, {})
    return comm


def miss():
    stream.emit(Event("miss", "softmax"))
    return stream.kept


def test_a_page_gets_what_is_remembered_when_it_opens(page):
    assert page.sent == [{"kind": "news", "since": 0, "last": stream.kept}]


def test_a_page_that_answers_gets_what_is_new_at_once(page, clock):
    before = stream.kept
    page.say({"kind": "more", "since": before})
    assert page.sinces() == [0]
    clock.now += PAUSE
    miss()
    assert page.sinces() == [0, before]


def test_what_happens_in_a_burst_is_told_in_one_batch(page, desk, clock):
    start = stream.kept
    for _ in range(50):
        last = miss()
    assert page.sinces() == [0]
    desk.end_cell()
    assert page.sent[-1] == {"kind": "news", "since": start, "last": last}
    desk.end_cell()
    assert len(page.sent) == 2


def test_pauses_double_until_the_page_answers(page, clock):
    told = []
    for step in range(100):
        count = len(page.sent)
        clock.now = 100.0 + 0.125 * step
        miss()
        if len(page.sent) > count:
            told.append(step)
    assert told == [2, 6, 14, 30, 62]


def test_a_page_that_never_answers_is_left_alone(page, desk, clock):
    for _ in range(50):
        clock.now += 1e6
        miss()
        desk.end_cell()
    assert len(page.sent) == UNANSWERED
    missed = stream.kept - 5
    page.say({"kind": "more", "since": missed})
    assert page.sinces()[-1] == missed


def test_events_of_other_threads_wait_for_the_end_of_the_cell(page, desk, clock):
    clock.now += 1.0
    thread = threading.Thread(target=miss)
    thread.start()
    thread.join()
    assert len(page.sent) == 1
    desk.end_cell()
    assert len(page.sent) == 2


def test_kernels_are_part_of_what_is_told_later(page, clock):
    clock.now += 1.0
    stream.emit(Event("kernel", "softmax"))
    assert len(page.sent) == 1


def test_a_page_that_cannot_be_told_does_not_break_the_cell(desk, page, caplog):
    broken = Comm()
    desk.opened(broken, {})
    broken.broken = True
    miss()
    desk.end_cell()
    desk.end_cell()
    assert [record.message for record in caplog.records] == ["a page of JupyterLab could not be told any more"]
    assert len(page.sent) == 2


def test_a_page_that_closes_is_forgotten(desk, page):
    page.close()
    miss()
    desk.end_cell()
    assert len(page.sent) == 1


def test_several_pages_get_each_what_it_lacks(desk, page):
    other = Comm()
    miss()
    desk.opened(other, {})
    desk.end_cell()
    assert len(page.sent) == 2
    assert len(other.sent) == 1


@pytest.mark.parametrize(
    "message",
    [
        None,
        7,
        "more",
        [],
        {},
        {"kind": "more"},
        {"kind": "more", "since": "0"},
        {"kind": "more", "since": True},
        {"kind": "more", "since": -1},
        {"kind": "forget", "what": "__import__('os')"},
        {"kind": "run", "code": "1 / 0"},
    ],
)
def test_messages_that_are_not_understood_do_nothing(page, message):
    assert read_request(message) is None
    page.say(message)
    assert len(page.sent) == 1


def test_a_number_beyond_the_last_event_is_the_last_one(page, clock):
    page.say({"kind": "more", "since": 10**12})
    last = stream.kept
    clock.now += 1.0
    miss()
    assert page.sinces()[-1] == last


def test_what_was_cleared_is_told_to_the_page_that_asked_and_shown_to_all(desk, page, monkeypatch):
    asked = []

    def perform(request):
        asked.append(request)
        return {"text": "Forgot 1 program of softmax.", "undo": 3}

    monkeypatch.setattr(clearing, "clearing", SimpleNamespace(perform=perform))
    other = Comm()
    desk.opened(other, {})
    page.say({"kind": "forget", "what": "programs", "function": "softmax"})
    assert asked == [clearing.Forget("programs", "softmax")]
    assert page.sent[1] == {"kind": "done", "text": "Forgot 1 program of softmax.", "undo": 3}
    assert page.kinds() == ["news", "done", "news"]
    assert other.kinds() == ["news", "news"]


def test_requests_are_read():
    assert read_request({"kind": "more", "since": 3}) == More(3)
    assert read_request({"kind": "undo", "number": 3}) == clearing.Undo(3)


def test_a_shell_that_is_no_kernel_has_no_pages():
    install(SimpleNamespace(kernel=None))()


def test_pages_find_the_kernel_without_a_message(monkeypatch):
    class Silent(BaseComm):
        def publish_msg(self, msg_type, **rest):
            messages.append(msg_type)

    messages, manager, waiting = [], CommManager(), []
    monkeypatch.setattr(comm, "create_comm", Silent)
    monkeypatch.setattr(comm, "get_comm_manager", lambda: manager)
    events = SimpleNamespace(register=lambda _, f: waiting.append(f), unregister=lambda _, f: waiting.remove(f))
    remove = install(SimpleNamespace(kernel=object(), events=events))
    assert [each.target_name for each in manager.comms.values()] == [TARGET]
    assert list(manager.targets) == [TARGET]
    assert messages == []
    assert len(waiting) == 1
    remove()
    assert (manager.comms, manager.targets, waiting) == ({}, {}, [])
