from dataclasses import replace

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.observe.compilation_report import KernelTime, KernelView, Measurement, SourceView, StepView
from nxkernel.definitions.observe.events import Event, stream
from nxkernel_lab import Inspector, inspect
from nxkernel_lab.inspector.widget import kernel_text


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
    ask(inspector, "fold", side=0, groups=["kernel 2", "kernel 6"])
    assert inspector.geometry["folded"] == ["kernel 2"]
    assert [frame["kernel"] for frame in inspector.geometry["frames"]] == [0]


def test_code_is_sent_when_asked_for(inspector, sent):
    ask(inspector, "read", side=0, kernel=1, form="LLVM")
    assert sent == [
        {"kind": "text", "view": "v1", "kernel": 1, "form": "LLVM", "text": "define void @kernel()"},
    ]


@pytest.mark.parametrize(
    "content",
    [
        {"kind": "read", "side": 0, "kernel": 9, "form": "LLVM"},
        {"kind": "read", "side": 0, "kernel": 0, "form": "__class__"},
        {"kind": "choose", "index": 5},
        {"kind": "choose", "index": -1},
        {"kind": "export", "format": "exe"},
        {"kind": "fold", "side": 0, "groups": [[]]},
        {"kind": "fold", "side": 1, "groups": ["kernel 1"]},
        {"kind": "step", "name": "unheard of"},
        {"kind": "together", "way": "modules"},
        {"kind": "compare", "index": 7},
        {"kind": "measure"},
        {"kind": "unheard of"},
    ],
)
def test_bad_messages_change_nothing(inspector, sent, content):
    before = (inspector.chosen, inspector.geometry)
    ask(inspector, **content)
    assert (inspector.chosen, inspector.geometry) == before
    assert sent == []


@pytest.mark.parametrize("state", [{"chosen": 99}, {"chosen": -5}, {"choices": []}, {"graph": {}}, {"name": "other"}])
def test_a_page_sets_nothing_of_what_is_shown(inspector, state):
    before = {name: getattr(inspector, name) for name in ("chosen", "choices", "graph", "name")}
    inspector._handle_msg(
        {"content": {"data": {"method": "update", "state": state, "buffer_paths": []}}, "buffers": []}
    )
    assert {name: getattr(inspector, name) for name in before} == before
    assert "softmax(t: f32[4][10], axis=-1)" in inspector._repr_mimebundle_()[0]["text/plain"]


@pytest.mark.parametrize("index", [1, 99, -2])
def test_what_is_chosen_is_there(inspector, index):
    inspector.chosen = index
    assert inspector.chosen == 0
    assert "softmax(t: f32[4][10], axis=-1)" in inspector._repr_mimebundle_()[0]["text/plain"]


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
    assert inspector.feed["rows"][-1]["why"] == "argument t: f32[4][10] → f64[4][10]; 1 kernel compiled"
    ask(inspector, "choose", index=1)
    assert inspector.graph["signature"] == "softmax(t: f64[4][10], axis=-1)"


def test_a_definition_that_was_never_called_appears_when_it_is(defined, view, sent):
    definition = defined()
    widget = inspect(definition)
    assert (widget.choices, widget.chosen, widget.graph) == ([], -1, {})
    never = "ot compiled yet: call it once, and its graph appears here."
    assert widget.empty == f"N{never}"
    assert widget._repr_mimebundle_()[0]["text/plain"] == f"softmax: n{never}"
    ask(widget, "fold", side=0, groups=["kernel 1"])
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
    assert widget.geometry["folded"] == ["kernel 1", "kernel 2", "kernel 3", "kernel 4"]
    assert widget._repr_mimebundle_()[0]["image/svg+xml"].count(">add</text>") == 60
    widget.close()


class Steps:
    """A compilation that knows its steps, its text and its time."""

    def __init__(self, view):
        nodes = view.nodes[:5]
        step = StepView("traced", "5", "five nodes", lambda: nodes, {"e": ("gone", "equal to d")})
        self.runs = 0
        self.view = replace(
            view,
            key={"argument t": (1, "f32[4][10]"), "compiler": (0, "numba_cpu")},
            steps=lambda: (step,),
            sources=lambda: (SourceView("softmax", "cell 4", 3, ("m = ...", "e = nx.exp(t - m) * 2.0")),),
            measure=self.measure,
        )

    def measure(self):
        self.runs += 1
        return Measurement(0.001, {0: KernelTime(0.00075, 1), 1: KernelTime(0.00025, 1)}, "one run", 1e10, 1e11)


@pytest.fixture
def stepping(view, defined, sent):
    stream.clear()
    steps = Steps(view)
    widget = inspect(defined(views=[steps.view]))
    yield widget, steps
    widget.close()


def test_steps_and_sources_are_found_out_when_a_page_is_there(stepping):
    widget, _ = stepping
    assert (widget.steps, widget.sources) == ([], [])
    ask(widget, "open")
    assert widget.steps == [
        {"name": "traced", "count": "5", "about": "five nodes"},
        {"name": "fused", "count": "2", "about": "2 kernels"},
    ]
    assert widget.sources == [
        {"name": "softmax", "cell": "cell 4", "first": 3, "lines": ["m = ...", "e = nx.exp(t - m) * 2.0"]}
    ]


def test_an_earlier_step_is_a_graph_without_kernels(stepping):
    widget, _ = stepping
    ask(widget, "open")
    ask(widget, "step", name="traced")
    assert (widget.step, widget.way, widget.ways) == ("traced", "nothing", ["nothing"])
    assert widget.graph["about"] == ["five nodes"]
    assert widget.graph["nodes"]["e"]["change"] == ["gone", "equal to d"]
    assert (widget.graph["kernels"], widget.geometry["frames"]) == ({}, [])
    ask(widget, "step", name="fused")
    assert [frame["id"] for frame in widget.geometry["frames"]] == ["kernel 1", "kernel 2"]


def test_what_was_measured_stands_with_the_kernels(stepping):
    widget, steps = stepping
    ask(widget, "measure")
    assert steps.runs == 1
    assert widget.measured == {
        "text": "One run takes 1.0 ms: one run; this machine reaches 10.0 GB/s from memory, 100.0 Gflop/s in products "
        "of f32; functions such as exp count as one operation.",
        "failed": False,
    }
    assert [kernel["share"] for kernel in widget.graph["kernels"].values()] == [0.75, 0.25]
    ask(widget, "together", way="nothing")
    assert widget.graph["kernels"]["0"]["time"].startswith("75 % of the time on made-up inputs, 750 µs, ")


def test_it_opens_at_the_call_that_was_measured(definition, view, softmax, sent):
    found = Measurement(0.002, {0: KernelTime(0.002, 1)}, "one run of your call", 1e10, 1e11, "your call")
    definition.views.append(replace(softmax(), signature="softmax(t: f64[4][10], axis=-1)"))
    definition.measure = lambda *args, **opts: replace(view, measurement=found)
    widget = inspect(definition, 1, axis=0)
    assert (widget.chosen, len(widget.choices)) == (0, 2)
    assert widget.measured["text"].startswith("One run takes 2.0 ms: one run of your call; this machine ")
    assert widget.graph["kernels"]["0"]["time"].startswith("100 % of the time on your call, 2.0 ms, ")
    assert widget.graph["kernels"]["1"]["time"] == ""
    text = widget._repr_mimebundle_()[0]["text/plain"].splitlines()
    assert "  One run takes 2.0 ms: one run of your call" in text
    assert any("100 % of the time on your call" in line for line in text)
    widget.close()


def test_the_button_measures_the_call_that_was_inspected():
    @nx.defn(compiler="numba_cpu")
    def halved(t):
        return t / 2

    given, other = np.ones(1000, "f4"), np.ones((7, 9), "f4")
    halved(other)
    widget = inspect(halved, given)
    for choice, inputs in ((1, "your call"), (0, "made-up inputs"), (1, "your call")):
        ask(widget, "choose", index=choice)
        ask(widget, "measure")
        assert inputs in widget.measured["text"]
    assert halved.cache_info().hits == 0
    widget.close()
    plain = inspect(halved)
    ask(plain, "measure")
    assert "made-up inputs" in plain.measured["text"]
    plain.close()


def test_what_cannot_be_measured_says_why(view, defined, sent):
    def refuse():
        raise ValueError("Its inputs are 3.0 GB.")

    widget = inspect(defined(views=[replace(view, measure=refuse)]))
    ask(widget, "measure")
    assert widget.measured == {"text": "Its inputs are 3.0 GB.", "failed": True}
    widget.close()


def test_two_compilations_stand_side_by_side_under_what_differs(stepping, softmax):
    widget, _ = stepping
    other = replace(softmax(), signature="softmax(t: f64[4][10], axis=-1)", key={"argument t": (2, "f64[4][10]")})
    widget._definition.views.append(other)
    widget.refresh()
    ask(widget, "compare", index=1)
    assert widget.beside["index"] == 1
    assert widget.beside["difference"] == ["argument t: f32[4][10] → f64[4][10]", "compiler: numba_cpu → absent"]
    assert widget.beside["graph"]["signature"] == "softmax(t: f64[4][10], axis=-1)"
    found = Measurement(0.002, {0: KernelTime(0.001, 1)}, "one run", 1e10, 1e11)
    widget._compiled[1] = replace(other, measure=lambda: found)
    ask(widget, "measure")
    assert widget.measured["text"].splitlines()[1].startswith("softmax(t: f64[4][10], axis=-1): One run takes 2.0 ms: ")
    assert widget.beside["graph"]["kernels"]["0"]["share"] == 0.5
    ask(widget, "fold", side=1, groups=["kernel 1"])
    assert widget.beside_geometry["folded"] == ["kernel 1"]
    assert widget.geometry["folded"] == []
    ask(widget, "choose", index=1)
    assert (widget.chosen, widget.beside, widget.beside_geometry) == (1, {"index": -1}, {})
