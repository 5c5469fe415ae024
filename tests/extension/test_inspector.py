from dataclasses import replace

import pytest

from nxkernel.defn.events import Event, stream
from nxkernel.defn.report import KernelView
from nxkernel_lab import Inspector, inspect
from nxkernel_lab.inspector import kernel_text


@pytest.fixture
def sent(monkeypatch):
    messages = []
    monkeypatch.setattr(Inspector, "send", lambda self, content, buffers=None: messages.append(content))
    return messages


@pytest.fixture
def inspector(definition, sent):
    stream.clear()
    widget = inspect(definition)
    yield widget
    widget.close()
    stream.clear()


def ask(widget, kind, **more):
    widget._receive(widget, {"kind": kind, "view": "v1", **more}, [])


def test_it_shows_the_latest_compilation(inspector):
    assert (inspector.name, inspector.choices, inspector.chosen) == ("softmax", ["softmax(t: f32[4][10], axis=-1)"], 0)
    assert inspector.graph["signature"] == "softmax(t: f32[4][10], axis=-1)"
    assert len(inspector.geometry["frames"]) == 2


def test_folding_lays_out_anew(inspector):
    ask(inspector, "fold", kernels=[1, 5])
    assert inspector.geometry["folded"] == [1]
    assert [frame["kernel"] for frame in inspector.geometry["frames"]] == [0]


def test_code_is_sent_when_asked_for(inspector, sent):
    ask(inspector, "read", kernel=1, form="LLVM")
    assert sent == [
        {"kind": "text", "view": "v1", "kernel": 1, "form": "LLVM", "text": "define void @kernel()"},
    ]


@pytest.mark.parametrize(
    "content",
    [
        {"kind": "read", "kernel": 9, "form": "LLVM"},
        {"kind": "read", "kernel": 0, "form": "__class__"},
        {"kind": "choose", "index": 5},
        {"kind": "choose", "index": -1},
        {"kind": "export", "format": "exe"},
        {"kind": "fold", "kernels": [[]]},
        {"kind": "unheard of"},
    ],
)
def test_bad_messages_change_nothing(inspector, sent, content):
    before = (inspector.chosen, inspector.geometry)
    ask(inspector, **content)
    assert (inspector.chosen, inspector.geometry) == before
    assert sent == []


@pytest.mark.parametrize("content", [None, 5, "open", ["open"]])
def test_messages_that_are_no_messages_change_nothing(inspector, sent, content):
    inspector._receive(inspector, content, [])
    assert sent == []


def test_exports(inspector, sent):
    ask(inspector, "export", format="svg")
    ask(inspector, "export", format="dot")
    assert [(each["format"], each["name"]) for each in sent] == [("svg", "softmax"), ("dot", "softmax")]
    assert sent[0]["text"].startswith("<svg ")
    assert sent[1]["text"].startswith("// softmax(t: f32[4][10], axis=-1)\ndigraph softmax {")


def test_it_listens_while_a_page_shows_it(inspector):
    assert not inspector._feed.running
    ask(inspector, "open")
    inspector._receive(inspector, {"kind": "open", "view": "v2"}, [])
    assert inspector._feed.running
    ask(inspector, "close")
    assert inspector._feed.running
    inspector._receive(inspector, {"kind": "close", "view": "v2"}, [])
    assert not inspector._feed.running


def test_closing_the_widget_ends_listening(inspector):
    ask(inspector, "open")
    inspector.close()
    assert not inspector._feed.running


def test_a_new_compilation_can_be_chosen(inspector, definition, softmax):
    ask(inspector, "open")
    definition.views.append(replace(softmax(), signature="softmax(t: f64[4][10], axis=-1)"))
    stream.emit(Event("miss", "softmax", "cell 7", ("argument t: f32[4][10] → f64[4][10]",), compiled=1))
    inspector.refresh()
    assert len(inspector.choices) == 2
    assert inspector.chosen == 0
    assert inspector.feed["rows"][-1]["why"] == "argument t: f32[4][10] → f64[4][10]"
    ask(inspector, "choose", index=1)
    assert inspector.graph["signature"] == "softmax(t: f64[4][10], axis=-1)"


def test_a_definition_that_was_never_called_appears_when_it_is(defined, view, sent):
    definition = defined()
    widget = inspect(definition)
    assert (widget.choices, widget.chosen, widget.graph) == ([], -1, {})
    never = "ot compiled yet: call it once, and its graph appears here."
    assert widget.empty == f"N{never}"
    assert widget._repr_mimebundle_()[0]["text/plain"] == f"softmax: n{never}"
    ask(widget, "fold", kernels=[0])
    definition.views.append(view)
    widget.refresh()
    assert widget.chosen == 0
    widget.close()


def test_clearing_the_cache_empties_it(inspector, definition):
    definition.clear_cache()
    inspector.refresh()
    assert (inspector.chosen, inspector.choices, inspector.geometry) == (-1, [], {})
    forgotten = "Programs forgotten: the cache was cleared. Call it again, and its graph appears here."
    assert inspector.empty == forgotten
    inspector.refresh()
    assert inspector.empty == forgotten


def test_pages_without_widgets_get_the_picture_and_the_text(inspector, view):
    data, _ = inspector._repr_mimebundle_()
    assert data["application/vnd.jupyter.widget-view+json"]["model_id"] == inspector.model_id
    assert data["image/svg+xml"].startswith("<svg ")
    assert data["text/plain"].splitlines()[:2] == ["softmax(t: f32[4][10], axis=-1)", "  first call"]


def test_the_text_of_a_large_graph_names_its_kernels_only(chain, defined, sent):
    widget = inspect(defined("chain", [chain]))
    assert widget._repr_mimebundle_()[0]["text/plain"].splitlines() == [
        "chain(x: f64[1000])",
        *(f"  kernel {index + 1} · map · part {index}" for index in range(4)),
    ]
    widget.close()


def test_code_that_cannot_be_made_says_why(view):
    def fail():
        raise RuntimeError("no assembler")

    broken = replace(view, kernels=(KernelView(0, "map", "", "k", "memory", 0.0, texts={"assembly": fail}),))
    assert kernel_text(broken, 0, "assembly") == (
        "The assembly of kernel 1 could not be made.\nRuntimeError: no assembler"
    )
    assert kernel_text(broken, 1, "assembly") is None


def test_only_definitions_can_be_inspected():
    with pytest.raises(TypeError, match="expected a numerical definition, got a function"):
        inspect(lambda x: x)


def test_tall_graphs_open_folded_but_their_picture_whole(long, defined, sent):
    widget = inspect(defined("chain", [long(60)]))
    assert widget.geometry["folded"] == [0, 1, 2, 3]
    assert widget._repr_mimebundle_()[0]["image/svg+xml"].count(">add</text>") == 60
    widget.close()
