"""Functions that are found by their programs."""

import nxkernel as nx
from nxkernel import optim, training
from nxkernel.definitions.calls import content_identity, graph_cache
from nxkernel.definitions.observe.events import stream


def test_the_step_of_a_training_is_found():
    batch = (nx.tensor([1.0, 2.0]), nx.tensor([2.0, 4.0]))
    training.fit(
        lambda slope, x: x * slope,
        lambda y, found: nx.mean((found - y) ** 2),
        optim.sgd(0.1),
        nx.tensor(0.0),
        [batch],
        epochs=2,
        progress=False,
    )
    step = content_identity.named("step")
    assert repr(step) == "<programs of step>"
    assert step.cache_info().entries == 1
    assert step.compilations()[0].function == "step"


def test_the_latest_of_a_name():
    first = nx.jit(lambda t: t + 1)
    second = nx.jit(lambda t: t + 2)
    first(1.0), second(1.0)
    found = content_identity.named("<lambda>")
    assert found.is_of(second)
    assert not found.is_of(first)
    assert not found.is_of(len)
    assert content_identity.named("none") is None


def test_what_was_forgotten_comes_back():
    double = nx.jit(lambda t: t * 2)
    double(1.0), double(2.0), double(nx.tensor([1.0]))
    number, undo = content_identity.forget("<lambda>")
    assert number == 2
    assert double.compilations() == content_identity.functions() == []
    (event,) = nx.events(double, "clear")
    assert str(event).startswith("<lambda> was cleared of 2 programs (test_content_identity.py, line ")
    assert undo() == 2
    before = double.cache_info()
    assert (before.entries, before.hits) == (2, 1)
    double(3.0)
    assert (double.cache_info().misses, double.cache_info().hits) == (0, 2)


def test_what_was_made_anew_stays():
    double = nx.jit(lambda t: t * 2)
    double(1.0)
    _, undo = content_identity.forget()
    double(1.0)
    latest = double._entry_group.programs()
    assert undo() == 0
    assert double._entry_group.programs() == latest


def test_clearing_twice_is_told_once():
    double = nx.jit(lambda t: t * 2)
    double(1.0)
    double.clear_cache()
    double.clear_cache()
    assert len(stream.records(kind="clear")) == 1


def test_hits_are_told_when_asked_for():
    double = nx.jit(lambda t: t * 2)
    graph_cache.report_hits()
    before = len(stream.records())
    for _ in range(4):
        double(1.0)
    graph_cache.report_hits("cell 3")
    graph_cache.report_hits("cell 3")
    told = [event for event in stream.records()[before:] if event.kind == "hits"]
    assert [(event.function, event.calls, event.where) for event in told] == [("<lambda>", 3, "cell 3")]
    _, undo = content_identity.forget()
    undo()
    graph_cache.report_hits()
    assert [event for event in stream.records(kind="hits") if event not in told] == []
