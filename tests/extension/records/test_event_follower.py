import gc
import os
import threading
from types import SimpleNamespace

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.observe.events import NO_CELL, Event, NotebookCell, stream
from nxkernel_lab.inspector.event_list import EventFeed
from nxkernel_lab.messaging.comm import opened
from nxkernel_lab.messaging.page_updates import PageHub
from nxkernel_lab.records.event_follower import PAUSE, REST, EventFollower, PaceLimit

pytestmark = pytest.mark.usefixtures("little_garbage")


class Owner:
    """Looks, and counts how often."""

    def __init__(self, broken=False):
        self.looks, self.broken = 0, broken

    def look(self):
        self.looks += 1
        if self.broken:
            raise OSError("the page has gone")


@pytest.fixture
def owner():
    return Owner()


@pytest.fixture
def follower(owner, shell, clock):
    made = EventFollower(owner.look, shell, PaceLimit(clock=clock))
    made.start()
    yield made
    made.stop()


def test_a_round_is_followed_by_a_pause(clock):
    pace = PaceLimit(clock=clock)
    assert pace.ready()
    with pace.round():
        pass
    assert not pace.ready()
    clock.now += PAUSE
    assert pace.ready()


def test_a_long_round_is_followed_by_a_long_pause(clock):
    pace = PaceLimit(clock=clock)
    with pace.round():
        clock.now += 2.0
    clock.now += 2.0 * REST - 0.5
    assert not pace.ready()
    clock.now += 0.5
    assert pace.ready()
    pace.factor = 2
    assert not pace.ready()
    pace.reset()
    assert pace.ready()


def test_a_round_that_fails_counts(clock):
    pace = PaceLimit(clock=clock)
    with pytest.raises(KeyError), pace.round():
        raise KeyError("row")
    assert not pace.ready()


def test_a_burst_is_looked_at_once_and_again_at_the_end_of_the_cell(follower, owner, shell, clock):
    for _ in range(50):
        stream.emit(Event("miss", "f"))
    assert owner.looks == 1
    clock.now += PAUSE
    stream.emit(Event("miss", "f"))
    assert owner.looks == 2
    shell.end_cell()
    assert owner.looks == 3


def test_single_kernels_and_hits_are_no_reason(follower, owner):
    stream.emit(Event("kernel", "f"))
    stream.emit(Event("hit", "f"))
    assert owner.looks == 0


def test_what_is_wanted_can_be_said(owner, clock):
    follower = EventFollower(owner.look, pace=PaceLimit(clock=clock), wanted=lambda event: event.function == "g")
    follower.start()
    stream.emit(Event("miss", "f"))
    assert owner.looks == 0
    stream.emit(Event("miss", "g"))
    assert owner.looks == 1
    follower.stop()


def emit_elsewhere():
    thread = threading.Thread(target=stream.emit, args=(Event("miss", "f"),))
    thread.start()
    thread.join()


def test_during_a_cell_other_threads_leave_it_to_its_end(follower, owner, shell, monkeypatch):
    monkeypatch.setattr(stream, "cell", NotebookCell("cell 3"))
    emit_elsewhere()
    assert owner.looks == 0
    monkeypatch.setattr(stream, "cell", NO_CELL)
    shell.end_cell()
    assert owner.looks == 1


def test_between_cells_other_threads_do_not_wait(follower, owner):
    emit_elsewhere()
    assert owner.looks == 1


def test_what_happens_during_a_look_is_no_reason_for_another(shell, clock):
    class Busy(Owner):
        def look(self):
            super().look()
            clock.now += 1e6
            stream.emit(Event("hits", "f"))

    busy = Busy()
    follower = EventFollower(busy.look, shell, PaceLimit(clock=clock))
    follower.start()
    stream.emit(Event("miss", "f"))
    assert busy.looks == 1
    follower.stop()


def test_one_that_fails_breaks_no_cell_and_is_left_alone(shell, clock, caplog):
    broken = Owner(broken=True)
    follower = EventFollower(broken.look, shell, PaceLimit(clock=clock))
    follower.start()
    stream.emit(Event("miss", "f"))
    stream.emit(Event("miss", "f"))
    shell.end_cell()
    assert broken.looks == 1
    assert not follower.running
    assert [record.message for record in caplog.records] == ["a view of nxkernel shows nothing new any more"]


def test_starting_and_stopping_twice_is_doing_it_once(follower, owner, shell):
    follower.start()
    assert len(shell.callbacks) == 1
    follower.stop()
    follower.stop()
    assert not follower.running
    assert shell.callbacks == []
    stream.emit(Event("miss", "f"))
    assert owner.looks == 0


@pytest.mark.parametrize("end", [lambda shell: shell.end_cell(), lambda shell: stream.emit(Event("miss", "f"))])
def test_it_ends_with_its_owner(shell, end):
    owner = Owner()
    follower = EventFollower(owner.look, shell)
    follower.start()
    del owner
    gc.collect()
    end(shell)
    assert not follower.running
    assert shell.callbacks == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_in_a_child_nobody_looks(owner, follower, shell):
    """The connection to the page is its parent's."""
    child = os.fork()
    if not child:
        stream.emit(Event("miss", "f"))
        os._exit(10 * owner.looks + follower.running + len(shell.callbacks))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    stream.emit(Event("miss", "f"))
    assert owner.looks == 1


@pytest.mark.alone
def test_watching_slows_calls_that_hit_by_less_than_five_percent(shell, best_seconds):
    """The panel, a timeline and an inspector, all open; a machine with neighbours needs the best of many runs."""
    f = nx.jit(lambda t: t * 2 + 1, compiler="numba_cpu")
    given = np.ones(16, np.float32)
    f(given)

    def watch():
        desk, feed = PageHub(shell), EventFeed(f, Owner().look, shell)
        opened(desk, SimpleNamespace(send=lambda data: None, on_msg=lambda call: None, on_close=lambda call: None))
        timeline = PageHub(shell)
        timeline.open(lambda data: None)
        feed.start()
        assert len(shell.callbacks) == 3
        return [desk.close_all, timeline.close_all, feed.stop]

    alone, watched = best_seconds(lambda: f(given), watch)
    assert not stream.listening
    assert watched < 1.05 * alone
