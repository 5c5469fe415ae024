"""Whatever a page sends: nothing is raised, nothing runs, little is kept, right questions are answered still."""

import json
import tracemalloc

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nxkernel.definitions.observe.events import Event, stream
from nxkernel_lab import Inspector, Timeline, inspect
from nxkernel_lab.messaging import comm as comm_module
from nxkernel_lab.messaging.page_updates import PageHub

KINDS = [
    "open", "close", "choose", "compare", "step", "together", "fold", "measure", "read", "export",
    "more", "forget", "undo", "news", "__init__",
]  # fmt: skip
KEYS = ["kind", "view", "index", "name", "way", "side", "groups", "kernel", "form", "format", "since", "what", "number"]
#: What is never asked for here: it would clear the caches of other tests.
FORGET = ("function", "memory", "disk", "programs")

numbers = st.integers() | st.floats() | st.sampled_from([2**63, -(2**64), 10**400, 0, 1, True, 1.0, float("nan")])
texts = st.text(max_size=20) | st.sampled_from(
    ["v1", "kernel 1", "LLVM", "svg", "fused", "__class__", "{x.__class__}", "../../etc/passwd", "\x00", "\ud800"]
)
anything = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS) | texts, inner, max_size=4),
    max_leaves=8,
)
messages = anything | st.builds(
    lambda more, **some: {**more, **some},
    st.dictionaries(st.sampled_from(KEYS[2:]), anything, max_size=5),
    kind=st.sampled_from(KINDS) | anything,
    view=st.sampled_from(["v1", "v2"]) | anything,
)
often = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def harmless(message):
    return not (isinstance(message, dict) and message.get("kind") == "forget" and message.get("what") in FORGET)


@pytest.fixture
def sent(monkeypatch):
    said = []
    for widget in (Inspector, Timeline):
        monkeypatch.setattr(widget, "send", lambda self, content, buffers=None: said.append(content))
    return said


@pytest.fixture
def inspector(definition, sent):
    widget = inspect(definition)
    yield widget
    widget.close()


@pytest.fixture
def timeline(sent):
    widget = Timeline()
    yield widget
    widget.close()


class Comm:
    def __init__(self):
        self.sent = []

    def send(self, data):
        self.sent.append(json.dumps(data))

    def on_msg(self, callback):
        self.hear = callback

    def on_close(self, callback):
        pass


def nested(depth):
    found = []
    for _ in range(depth):
        found = [found]
    return found


@often
@given(messages)
def test_the_inspector_hears_anything(inspector, sent, caplog, message):
    inspector._receive(inspector, message, [])
    inspector._receive(inspector, {"kind": "read", "view": "v1", "side": 0, "kernel": 1, "form": "LLVM"}, [])
    assert sent[-1]["text"] == "define void @kernel()"
    assert {each["kind"] for each in sent} <= {"text", "export"}
    json.dumps([inspector.graph, inspector.geometry, inspector.beside, inspector.steps, sent], allow_nan=False)
    assert caplog.records == []
    sent.clear()


@often
@given(messages.filter(harmless))
def test_the_timeline_hears_anything(timeline, sent, caplog, message):
    timeline._receive(timeline, message, [])
    timeline._receive(timeline, {"kind": "close", "view": "last"}, [])
    timeline._receive(timeline, {"kind": "more", "view": "last", "since": 0}, [])
    assert (sent[-1]["kind"], sent[-1]["view"]) == ("news", "last")
    assert caplog.records == []
    sent.clear()


@often
@given(messages.filter(harmless))
def test_the_panels_comm_hears_anything(message):
    comm, desk = Comm(), PageHub(None, lambda since: {"since": since, "last": stream.kept})
    comm_module.opened(desk, comm)
    comm.hear({"content": {"data": message}})
    comm.hear({"content": {"data": {"kind": "undo", "number": -1}}})
    desk.close_all()
    assert json.loads(comm.sent[0])["kind"] == "news"
    assert any("That cannot be undone any more." in each for each in comm.sent)


HUGE = "x" * 10_000_000
LARGE = [
    HUGE,
    nested(900),
    [0.5] * 300_000,
    *({"kind": kind, "view": HUGE, "since": 0} for kind in ("open", "close", "more", "measure")),
    {"kind": "fold", "view": "v1", "side": 0, "groups": [HUGE]},
    {"kind": "fold", "view": "v1", "side": 0, "groups": [str(k) for k in range(300_000)]},
    {"kind": "read", "view": HUGE, "side": 0, "kernel": 1, "form": "LLVM"},
    {"kind": "read", "view": "v1", "side": 0, "kernel": 10**4000, "form": HUGE},
    {"kind": "export", "view": HUGE, "format": "svg"},
    {"kind": "step", "view": "v1", "name": HUGE},
    {"kind": "together", "view": "v1", "way": HUGE},
    {"kind": "forget", "what": "programs", "function": HUGE},
]


@pytest.mark.slow
@pytest.mark.parametrize("which", ["inspector", "timeline"])
def test_nothing_large_is_kept(request, which, sent):
    widget = request.getfixturevalue(which)
    texts = [json.dumps(message) for message in LARGE]
    texts += [json.dumps({"kind": kind, "view": f"v{k}", "since": 0}) for k in range(100) for kind in ("open", "more")]
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for text in texts:
            widget._receive(widget, json.loads(text), [])
            sent.clear()
        assert tracemalloc.get_traced_memory()[0] - before < 200_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("which", ["inspector", "timeline"])
@pytest.mark.parametrize("state", ["closed", "mute"])
def test_a_broken_widget_is_logged_and_no_more(request, which, state, caplog, monkeypatch, shell):
    widget = request.getfixturevalue(which)

    def gone(*args, **kwargs):
        raise OSError("the page is gone")

    widget._receive(widget, {"kind": "open", "view": "v1"}, [])
    if state == "closed":
        widget.close()
    monkeypatch.setattr(type(widget), "send", gone)
    for content in (
        {"kind": "export", "view": "v1", "format": "svg"},
        {"kind": "more", "view": "v1", "since": 0},
        {"kind": "undo", "number": -1},
    ):
        widget._receive(widget, content, [])
    stream.emit(Event("miss", "softmax"))
    shell.end_cell()
    assert caplog.records
    assert all("OSError: the page is gone" in record.exc_text for record in caplog.records)
