"""The stream of events: what is told, to whom, and in which words."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.observe.events import Event, EventStream, NotebookCell, is_of, stream

ONE = np.ones(3, np.float32)


def test_the_events_of_a_call(run):
    f = run("@nx.defn(compiler='numba_cpu')\ndef scaled(t):\n    return nx.tanh(t) * 3.25 - 1")["scaled"]
    seen = []
    stop = stream.subscribe(seen.append)
    run("scaled(one)", {"scaled": f, "one": ONE}, file="caller.py")
    run("scaled(one)", {"scaled": f, "one": ONE}, file="caller.py")
    stop()
    f(ONE)
    assert [event.kind for event in seen] == ["kernel", "miss", "hit"]
    assert {event.function for event in seen} == {"scaled"}
    assert {event.where for event in seen} == {"caller.py, line 1"}
    assert all(is_of(event, f) for event in seen)
    kernel, miss, _ = seen
    assert miss.reason == ("first call",)
    assert miss.compiled + miss.reused == 1
    assert kernel.origin in ("compiled", "disk", "memory")
    assert min(miss.trace_ms, miss.lower_ms, miss.native_ms) > 0
    assert miss.total_ms == pytest.approx(miss.trace_ms + miss.lower_ms + miss.native_ms)
    assert nx.events("scaled") == nx.events(f) == [kernel, miss]
    assert nx.events(f, "kernel") == [kernel]
    assert nx.events("other") == []


def test_texts():
    def text(**fields):
        return str(Event(function="f", **fields))

    costs = {"trace_ms": 1.04, "lower_ms": 2, "native_ms": 21.25}
    assert text(kind="miss", where="cell 7", reason=("first call",), compiled=1, **costs) == (
        "f compiled (cell 7): 1.0 ms trace, 2.0 ms lowering, 21 ms native\n  1 kernel compiled\n  first call"
    )
    assert text(kind="miss", reason=("option n: 1 → 2",), compiled=2, reused=1, advice="Do.", **costs) == (
        "f compiled again: 1.0 ms trace, 2.0 ms lowering, 21 ms native\n  2 kernels compiled, 1 kernel from memory\n"
        "  option n: 1 → 2\n  Do."
    )
    assert text(kind="miss", reason=("option n: 1 → 2",), reused=2, **costs) == (
        "f traced: 1.0 ms trace, 2.0 ms lowering, 21 ms native\n  2 kernels from memory\n  option n: 1 → 2"
    )
    assert text(kind="miss", reason=("first call",), reused=3, disk=2, **costs) == (
        "f loaded from disk: 1.0 ms trace, 2.0 ms lowering, 21 ms native\n  1 kernel from memory, 2 kernels from disk\n"
        "  first call"
    )
    assert text(kind="miss", reason=("first call",), trace_ms=1.0) == (
        "f traced: 1.0 ms trace, 0 µs lowering, 0 µs native\n  first call"
    )
    assert text(kind="kernel", where="cell 2", kernel="nxk_1", origin="disk", native_ms=1.5) == (
        "f (cell 2): kernel nxk_1 from disk, 1.5 ms"
    )
    assert text(kind="hit", where="cell 2") == "f was answered from the cache (cell 2)"
    assert text(kind="error", reason=("NameError: x",)) == "f raised an error\n  NameError: x"
    assert text(kind="evict") == "f dropped a program"
    assert text(kind="hits", where="cell 2", calls=12) == "f answered 12 calls from the cache (cell 2)"
    assert text(kind="clear", calls=2) == "f was cleared of 2 programs"


def test_an_event_shows_the_fields_that_say_something():
    assert repr(Event("miss", "f", reason=("first call",), trace_ms=1.23456, compiled=1, time=2.5)) == (
        "Event(kind='miss', function='f', reason=('first call',), trace_ms=1.235, compiled=1, time=2.5)"
    )
    cell = NotebookCell("cell 3", "abc")
    assert repr(Event("evict", "f", where="cell 3", time=2.5, cell=cell)) == (
        "Event(kind='evict', function='f', where='cell 3', time=2.5)"
    )
    assert repr(Event("evict", "f", where="cell 2", time=2.5, cell=cell)) == (
        "Event(kind='evict', function='f', where='cell 2', time=2.5, cell=NotebookCell(name='cell 3', id='abc'))"
    )


def test_an_error_of_several_lines_is_told_line_by_line():
    f = nx.jit(lambda t: nx.sum(t, axes=[5]))
    with pytest.raises(IndexError):
        f(ONE)
    (event,) = nx.events(f)
    assert event.reason[0] == "NxAxisError: axis 5 is out of range for the shape [3]."
    assert event.reason[-1] == "It has 1 axis, so an axis is from -1 to 0."


def test_an_error_of_a_trace_is_told():
    f = nx.jit(lambda t: t + missing)  # noqa: F821
    with pytest.raises(NameError):
        f(1.0)
    (event,) = nx.events(f)
    assert (event.kind, event.reason) == ("error", ("NameError: name 'missing' is not defined",))
    assert event.where.startswith("test_events.py, line ")
    assert f.cache_info().misses == 0


def test_an_error_of_a_run_is_told(monkeypatch):
    f = nx.jit(lambda t: t + 1)
    f(1.0)
    program = f._entry_group.programs()[0]

    def fail(arrays):
        raise ArithmeticError("no")

    monkeypatch.setattr(program.executable, "run", fail)
    for _ in range(2):
        with pytest.raises(ArithmeticError):
            f(1.0)
    assert [event.reason for event in nx.events(f, "error")] == [("ArithmeticError: no",)] * 2


def test_a_listener_that_raises_is_dropped():
    made, seen = EventStream(), []

    def bad(event):
        raise ValueError("bad listener")

    made.subscribe(bad)
    made.subscribe(seen.append)
    made.emit(Event("miss", "f"))
    made.emit(Event("miss", "g"))
    assert [event.function for event in seen] == ["f", "g"]
    made.unsubscribe(seen.append)
    made.emit(Event("miss", "h"))
    assert len(seen) == 2


def test_a_call_does_not_fail_for_a_listener():
    f = nx.jit(lambda t: t * 2)

    def bad(event):
        raise ValueError("bad listener")

    stop = stream.subscribe(bad)
    assert f(2.0).to_number() == 4.0
    stop()


def test_hits_are_told_only_to_those_who_want_them_and_never_kept():
    made, all_, some = EventStream(), [], []
    stop = made.subscribe(all_.append)
    assert made.listening
    made.subscribe(some.append, hits=False)
    made.emit(Event("hit", "f"))
    made.emit(Event("miss", "f"))
    assert [event.kind for event in all_] == ["hit", "miss"]
    assert [event.kind for event in some] == ["miss"]
    stop()
    assert not made.listening
    assert [event.kind for event in made.records()] == ["miss"]


def test_the_oldest_records_are_forgotten():
    made = EventStream(kept=2)
    for name in "abc":
        made.emit(Event("miss", name))
    assert [event.function for event in made.records()] == ["b", "c"]
    made.clear()
    assert made.records() == []


def test_a_record_is_immutable():
    with pytest.raises(AttributeError):
        Event("miss", "f").kind = "hit"


def test_functions_of_one_name_have_their_own_events():
    def made(by):
        def scale(t):
            return t * by

        return scale

    def other():
        def scale(t):
            return t - 1

        return scale

    one, two = nx.jit(made(2)), nx.jit(other())
    one(1.0), two(1.0), two(np.ones(3))
    assert (one.__name__, two.__name__) == ("scale", "scale")
    assert [len(nx.events(each, "miss")) for each in (one, two, "scale")] == [1, 2, 3]


def test_a_function_that_was_edited_keeps_its_events(run):
    space = run("@nx.defn\ndef f(t):\n    return t + 1\nf(1.0)\n")
    run("@nx.defn\ndef f(t):\n    return t + 2\nf(1.0)\n", space)
    assert [event.reason for event in nx.events(space["f"], "miss")] == [
        ("first call",),
        ("first call since its code changed",),
    ]
