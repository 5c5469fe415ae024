"""What holds for a while, and what an interrupt leaves of it."""

import threading

import numpy as np
import pytest

import nxkernel as nx
from nxkernel import types
from nxkernel.graph import tracing
from nxkernel.scoped_settings import ScopedSetting, kept, settled


@pytest.fixture
def own(monkeypatch):
    monkeypatch.setattr("nxkernel.scoped_settings._all", [])
    return kept(threading.local())


class Interrupted(ScopedSetting):
    """A context that an interrupt meets where it is left."""

    __slots__ = ()

    def __exit__(self, *_):
        raise KeyboardInterrupt


def test_what_was_not_left_is_put_back(own):
    own.kept = 1

    @settled
    def work():
        with Interrupted(own, "kept", 2):
            own.new = 3

    with pytest.raises(KeyboardInterrupt):
        work()
    assert vars(own) == {"kept": 1}


def test_what_ends_well_stays(own):
    @settled
    def work(value):
        own.made = value
        return value

    assert (work(4), own.made) == (4, 4)


@pytest.mark.parametrize("where", [ScopedSetting, tracing.Trace, tracing.BodyTrace])
def test_a_call_that_is_interrupted_where_a_context_is_left(monkeypatch, where):
    def end(*_):
        raise KeyboardInterrupt

    @nx.defn(promotion="numpy")
    def f(x):
        if np.sum(x) > 0:
            x = np.cumsum(x)
        return x * 1.25

    f.clear_cache()
    with monkeypatch.context() as patch:
        patch.setattr(where, "__exit__", end)
        with pytest.raises(KeyboardInterrupt):
            f(np.ones(3))
    assert (tracing.current(), types.follows_numpy(), tracing._state.source) == (None, False, None)
    assert np.asarray(f(np.ones(3))).tolist() == [1.25, 2.5, 3.75]


def test_a_body_on_its_own_that_is_interrupted(monkeypatch):
    def end(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(tracing.BodyTrace, "__exit__", end)
        with pytest.raises(KeyboardInterrupt):
            tracing.trace_body("body", lambda x: x, [("x", nx.template((3,), "f32").spec)], lambda value: [value])
    assert tracing.current() is None
