"""The graph cache: which programs are dropped, and what is counted."""

import gc
import weakref
from collections import OrderedDict
from types import SimpleNamespace

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.calls import graph_cache
from nxkernel.definitions.calls.graph_cache import CachedProgram, CacheEntryGroup
from nxkernel.definitions.outputs.calling_convention import CallingConvention

pytestmark = pytest.mark.usefixtures("little_garbage")


def program(ident, parts=None, kernels=(), made=0.0):
    return CachedProgram(
        ident=ident,
        parts=parts or {},
        executable=SimpleNamespace(
            kernels=[SimpleNamespace(origin=origin, continues=False) for origin in kernels], own=None
        ),
        convention=CallingConvention(None),
        fixed=(),
        reason=(),
        where="",
        signature=f"f({ident})",
        compiler="evaluator",
        trace_ms=0.0,
        made=made,
    )


def test_the_closest_program_has_the_fewest_differences_and_is_the_latest():
    entry_group = CacheEntryGroup("f")
    assert entry_group.closest({}) is None
    parts = {"a": (1, "1"), "b": (1, "1"), "c": (1, "1")}
    for place, changed in enumerate(["ab", "c", "b"]):
        entry_group.add(program(place, {**parts, **dict.fromkeys(changed, (0, "0"))}, made=float(place)))
    assert entry_group.closest(parts).ident == 2


def test_counts():
    entry_group = CacheEntryGroup("f")
    made = program(1, kernels=["compiled", "memory", "disk", "disk"])
    entry_group.count(made)
    entry_group.add(made)
    made.calls, made.new = 5, 1
    assert (entry_group.misses, entry_group.compiled, entry_group.memory, entry_group.disk, entry_group.hits) == (
        1,
        1,
        1,
        2,
        4,
    )
    entry_group.clear()
    assert (entry_group.misses, entry_group.compiled, entry_group.hits, entry_group.programs()) == (0, 0, 0, [])


def test_the_program_unused_for_longest_is_dropped(monkeypatch):
    monkeypatch.setattr(graph_cache, "PROGRAMS", 3)
    entry_group = CacheEntryGroup("f")
    for ident in range(3):
        entry_group.add(program(ident))
    entry_group.find(0)
    # A shortcut counts a call and touches nothing else.
    entry_group.programs()[0].calls += 7
    entry_group.add(program(3))
    assert [found.ident for found in entry_group.programs()] == [0, 1, 3]
    assert entry_group.hits == 7
    assert entry_group.version == 1
    (event,) = nx.events("f", "evict")
    assert event.reason == ("more than 3 programs; the one for f(2) was unused for longest",)


def test_calls_are_counted_though_their_program_is_dropped_meanwhile(monkeypatch):
    monkeypatch.setattr(graph_cache, "PROGRAMS", 1)
    entry_group = CacheEntryGroup("f")
    entry_group.add(program(0))
    found = entry_group.find(0)
    for ident in range(1, 40):
        entry_group.add(program(ident))
        if ident == 3:
            found.calls += 1
        assert entry_group.hits == (ident >= 3)


def test_hits_of_dropped_programs_still_count(monkeypatch):
    monkeypatch.setattr(graph_cache, "PROGRAMS", 1)
    f = nx.jit(lambda t: t + 1)
    for size in (1, 2, 2, 3):
        for _ in range(2):
            f(np.ones(size))
    assert f.cache_info().hits == 5
    assert (f.cache_info().misses, f.cache_info().entries) == (3, 1)


def test_more_programs_than_are_kept(monkeypatch):
    monkeypatch.setattr(graph_cache, "PROGRAMS", 32)
    f = nx.jit(lambda t, *, n: t + n)
    for n in range(graph_cache.PROGRAMS + 4):
        f(1.0, n=n)
        assert f(2.0, n=0).to_number() == 2.0
    assert f.cache_info().entries == graph_cache.PROGRAMS
    assert len(nx.events(f, "evict")) == 4
    assert nx.events(f, "evict")[0].reason == (
        "more than 32 programs; the one for <lambda>(t: f32, n=1) was unused for longest",
    )
    with nx.no_compile():
        f(1.0, n=0)
        f(1.0, n=graph_cache.PROGRAMS + 3)
    with nx.assert_compiles(1):
        f(1.0, n=1)


def test_clear_cache():
    f, g = nx.jit(lambda t: t + 1), nx.jit(lambda t: t + 2)
    for _ in range(2):
        f(1.0), g(1.0)
    f.clear_cache()
    assert f.cache_info() == type(f.cache_info())(0, 0, 0, 0, 0, 0)
    with nx.no_compile():
        g(1.0)
    with nx.assert_compiles(1):
        f(1.0)
    assert {entry_group.name for entry_group in graph_cache.entry_groups()} == {"<lambda>"}
    graph_cache.clear()
    assert graph_cache.entry_groups() == []
    with nx.assert_compiles(2):
        assert (f(1.0).to_number(), g(1.0).to_number()) == (2.0, 3.0)


def test_functions_of_one_content_share_their_programs():
    def make():
        return nx.jit(lambda t: t * 5)

    f, g = make(), make()
    f(1.0)
    g(1.0)
    assert f.cache_info() == g.cache_info()
    assert (f.cache_info().hits, f.cache_info().misses) == (1, 1)


@pytest.mark.parametrize("count", [3])
def test_functions_unused_for_longest_are_forgotten(monkeypatch, count):
    monkeypatch.setattr(graph_cache, "FUNCTIONS", count)
    monkeypatch.setattr(graph_cache, "_entry_groups", type(graph_cache._entry_groups)())
    made = [graph_cache.entry_group("f", str(place)) for place in range(count)]
    assert graph_cache.entry_group("f", "0") is made[0]
    graph_cache.entry_group("f", "new")
    assert graph_cache.entry_group("f", "0") is made[0]
    assert graph_cache.entry_group("f", "1") is not made[1]


def test_cache_info_of_kernels():
    f = nx.jit(lambda t: nx.cos(t) * 7.125, compiler="numba_cpu")
    f(np.ones(3, np.float32))
    first = f.cache_info()
    assert first.compiled + first.disk + first.memory == 1
    f(np.ones(5, np.float32))
    assert f.cache_info().memory == first.memory + 1
    assert (f.cache_info().hits, f.cache_info().misses, f.cache_info().entries) == (0, 2, 2)


def test_what_went_of_functions_is_not_kept_by_name(monkeypatch):
    """A function that nobody has any more, and that is not among those used last."""
    monkeypatch.setattr(graph_cache, "FUNCTIONS", 3)
    monkeypatch.setattr(graph_cache, "_entry_groups", OrderedDict())
    monkeypatch.setattr(graph_cache, "_latest", {})
    gone = weakref.ref(graph_cache.entry_group("old", "content", "module.old"))
    for number in range(4):
        graph_cache.entry_group(f"new{number}", "content", f"module.new{number}")
    gc.collect()
    assert gone() is None
    assert "module.old" not in graph_cache._latest
    assert set(graph_cache._latest.values()) <= set(graph_cache._entry_groups.values())
