import json
from types import SimpleNamespace

import comm
import pytest
from comm.base_comm import BaseComm, CommManager

from nxkernel.definitions.calls import graph_cache
from nxkernel.definitions.observe.events import Event, stream
from nxkernel_lab.inspector.widget import Inspector
from nxkernel_lab.messaging.comm import TARGET, install, opened
from nxkernel_lab.messaging.page_updates import PageHub
from nxkernel_lab.timeline.widget import Timeline


class Comm:
    """A comm whose other end is the test."""

    def __init__(self):
        self.sent = []

    def send(self, data):
        json.dumps(data)
        self.sent.append(data)

    def on_msg(self, callback):
        self._hear = callback

    def on_close(self, callback):
        self.close = lambda: callback({})

    def say(self, data):
        self._hear({"content": {"data": data}})


@pytest.fixture
def page(shell, clock):
    graph_cache.report_hits()
    made, hub = Comm(), PageHub(shell, lambda since: {"since": since, "last": stream.kept}, clock)
    opened(hub, made)
    yield made
    hub.close_all()


def miss():
    stream.emit(Event("miss", "softmax"))
    return stream.kept


def test_a_page_hears_what_is_remembered_and_what_is_new(page, shell):
    first = stream.kept
    last = miss()
    shell.end_cell()
    assert page.sent == [
        {"kind": "news", "since": 0, "last": first},
        {"kind": "news", "since": first, "last": last},
    ]


def test_a_page_asks_for_more(page):
    last = miss()
    page.say({"kind": "more", "since": last - 1})
    assert page.sent[-1] == {"kind": "news", "since": last - 1, "last": last}


def test_a_page_asks_for_clearing(page):
    page.say({"kind": "undo", "number": -1})
    assert page.sent[1] == {"kind": "done", "text": "That cannot be undone any more.", "undo": 0}
    assert len(page.sent) == 3


@pytest.mark.parametrize(
    "message", [None, "more", {}, {"kind": "more", "since": "0"}, {"kind": "run", "code": "1 / 0"}]
)
def test_messages_that_are_not_understood_do_nothing(page, message):
    page.say(message)
    assert len(page.sent) == 1


class Unheard(BaseComm):
    def publish_msg(self, msg_type, **rest):
        pass


@pytest.mark.parametrize("what", ["page", "inspector", "timeline"])
def test_a_message_is_not_taken_for_a_cell(what, monkeypatch, definition):
    # In JupyterLab it comes in another thread while a cell draws, and matplotlib shows figures after each cell.
    triggered, heard = [], []
    monkeypatch.setattr(
        "IPython.get_ipython", lambda: SimpleNamespace(events=SimpleNamespace(trigger=triggered.append))
    )
    if what == "page":
        page = Unheard(target_name=TARGET, primary=False)
        opened(SimpleNamespace(open=lambda send: None, more=lambda page, since: heard.append(since)), page)
        page.handle_msg({"content": {"data": {"kind": "more", "since": 7}}})
        assert heard == [7]
    else:
        widget = Inspector(definition) if what == "inspector" else Timeline()
        widget.on_msg(lambda widget, content, buffers: heard.append(content))
        widget.comm.handle_msg({"content": {"data": {"method": "custom", "content": {"kind": "?"}}}, "buffers": []})
        widget.close()
        assert heard == [{"kind": "?"}]
    assert triggered == []


def test_a_page_that_closes_is_forgotten(page, shell):
    page.close()
    miss()
    shell.end_cell()
    assert len(page.sent) == 1
    assert shell.callbacks == []


def test_a_shell_that_is_no_kernel_has_no_pages():
    install(SimpleNamespace(kernel=None))()


def test_pages_find_the_kernel_without_a_message_and_hear_when_it_ends(monkeypatch, shell):
    class Silent(BaseComm):
        def publish_msg(self, msg_type, **rest):
            messages.append(msg_type)

    messages, manager = [], CommManager()
    monkeypatch.setattr(comm, "create_comm", Silent)
    monkeypatch.setattr(comm, "get_comm_manager", lambda: manager)
    remove = install(SimpleNamespace(kernel=object(), events=shell))
    assert [each.target_name for each in manager.comms.values()] == [TARGET]
    assert messages == []
    manager.comm_open(None, None, {"content": {"comm_id": "page", "target_name": TARGET, "data": {}}})
    assert messages == ["comm_msg"]
    assert len(shell.callbacks) == 1
    remove()
    assert messages == ["comm_msg", "comm_close"]
    assert (manager.comms, manager.targets, shell.callbacks) == ({}, {}, [])
