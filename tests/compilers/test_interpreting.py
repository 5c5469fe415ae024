"""Interpreted plans: that no turns of a spread loop overlap, and that each kind of error is found."""

import numpy as np
import pytest
from hypothesis import strategies as st

import nxkernel as nx
from collection.catalogue import PROGRAMS
from collection.comparing import compare
from interpreting import (
    DisorderError,
    MeaningError,
    OutOfBoundsError,
    OverlapError,
    UnwrittenError,
    interpreter,
    spread_loops,
)
from lanes.fuzzing import repeat
from native_code import random_loops
from native_code.spread_loops import every_loop_is_spread, on_each_count
from nxkernel import passes
from nxkernel.compilers.analysis import index_maps
from nxkernel.compilers.plan import in_place_updates, independent_iterations, planner
from nxkernel.compilers.plan.independent_iterations import Independence
from nxkernel.definitions.calls import graph_cache
from nxkernel.errors import VerificationError
from random_graphs import failure

#: Programs with loops that may be spread, and that are interpreted within half a second.
SPREAD = [
    "gram_schmidt", "symm", "syrk", "syr2k", "trmm", "natural_spline", "lloyd", "spmv", "spmv_by_scalars",
    "dense_from_csr", "lattice_boltzmann", "convolution_bias", "residual_block", "k_means", "median_of_three", "cosine",
    "azimuthal_by_masks", "lookup", "lower_bounds", "pairwise", "gaps_without_primes",
]  # fmt: skip


@pytest.fixture
def interpreted():
    """The name of the compiler whose programs are interpreted; there are no other ones of before."""
    graph_cache.clear()
    with interpreter() as name:
        yield name
    graph_cache.clear()


@pytest.mark.sampled(every=20)
@pytest.mark.parametrize("program", [one for one in PROGRAMS if one.name in SPREAD], ids=lambda p: p.name)
def test_programs_with_spread_loops(program, interpreted):
    definition = compare(program, program.sizes[0], interpreted)
    assert spread_loops(definition)
    with every_loop_is_spread():
        on_each_count(lambda: compare(program, program.sizes[0]))


@pytest.mark.fuzz
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_all_programs(program, interpreted):
    compare(program, program.sizes[0], interpreted)
    with every_loop_is_spread():
        on_each_count(lambda: compare(program, program.sizes[0]))


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("first", [0, 20, 40])
def test_some_random_graphs(first):
    with interpreter("numba_cpu"):
        assert [failure(seed) for seed in range(first, first + 20)] == [None] * 20


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("first", [0, 8])
def test_some_random_loops(first):
    assert sum(map(random_loops.check, range(first, first + 8))) > 0


@pytest.mark.fuzz
def test_many_random_graphs():
    def check(data):
        with interpreter("numba_cpu"):
            assert failure(data.draw(st.integers(0, 2**40))) is None

    assert repeat(check)


@pytest.mark.fuzz
def test_many_random_loops():
    def check(data):
        random_loops.check(data.draw(st.integers(0, 2**40)))

    assert repeat(check)


def from_the_row_before(x):
    for i in range(1, x.shape[0]):
        x[i] = x[i - 1] + 1


def into_the_row_before(x):
    for i in range(1, x.shape[0]):
        x[i - 1, 0] = x[i, 0]


def one_for_all(x):
    for i in range(x.shape[0]):
        x[0, 1] = i


def a_copy_in_each_turn(x):
    for i in range(x.shape[0]):
        rows = x if x[i, 2] > 0 else x + 1
        x[i, 1] = rows[i, 0]


def a_row_that_all_turns_use(x):
    for i in range(x.shape[0]):
        x[i, 0] = x[i, 1]
        x[4 - i, 1] = 0


@pytest.mark.parametrize(
    ("function", "overlap"),
    [
        (from_the_row_before, "turn 0 writes element 4 of the array x, which turn 1 reads: put_slice"),
        (into_the_row_before, "turn 0 reads element 4 of the array x, which turn 1 writes: put_slice"),
        (one_for_all, "turn 0 writes element 1 of the array x, which turn 1 writes: put_slice"),
        (a_copy_in_each_turn, "turn 0 writes element 1 of the array x, which turn 1 reads: cond"),
        (a_row_that_all_turns_use, "turn 1 writes element 13 of the array x, which turn 3 reads: dynamic_slice"),
    ],
)
def test_a_wrong_proof_is_found(function, overlap, interpreted, monkeypatch):
    monkeypatch.setattr(planner, "independence", believed)
    with pytest.raises(OverlapError) as error:
        nx.defn(function, compiler=interpreted)(np.arange(20.0).reshape(5, 4))
    first = function.__code__.co_firstlineno
    assert str(error.value) == f"{__file__}, line {first + 1}: {overlap} ({__file__}, line {first + 2})"


def believed(node, body):
    """What `independence` gives where it looks at nothing but the counter."""
    counted = independent_iterations._counted(node)
    return counted and Independence(*counted, {})


def a_number_of_before(x):
    last = x[0, 0]
    for i in range(x.shape[0]):
        x[i, 0] = last
        last = x[i, 1]


def test_a_number_that_is_not_carried_is_found(interpreted, monkeypatch):
    monkeypatch.setattr(planner, "independence", believed)
    with pytest.raises(MeaningError, match=r"^elem "):
        nx.defn(a_number_of_before, compiler=interpreted)(np.arange(20.0).reshape(5, 4))


def test_a_map_that_begins_elsewhere_is_found(interpreted, monkeypatch):
    through = index_maps.through

    def shifted(node, map_):
        found = through(node, map_)
        return tuple((start + 1, moves) for start, moves in found) if node.primitive.name == "slice" else found

    monkeypatch.setattr(index_maps, "through", shifted)
    x = np.arange(6.0)
    with pytest.raises(MeaningError) as error:
        nx.defn(lambda x: nx.exp(x[1:4]), compiler=interpreted)(x)
    assert str(error.value).startswith("exp (")
    with pytest.raises(VerificationError) as error:
        nx.defn(lambda x: nx.exp(x[1:]), compiler=interpreted)(x)
    assert str(error.value).startswith(
        "after the pass 'loop nests': buffer 0, in parameter f64[6], to read: expected bytes below 48, "
        "found those from 16 to 56."
    )
    with passes.verifying(False), pytest.raises(OutOfBoundsError) as error:
        nx.defn(lambda x: nx.exp(x[1:]), compiler=interpreted)(x)
    assert "reads element 6 of a value of 6 in the array x" in str(error.value)


def neighbours(x):
    x[1:] = x[:-1] * 2
    return x


def test_a_vector_that_reads_what_it_writes_is_found(interpreted, monkeypatch):
    monkeypatch.setattr(in_place_updates, "_aligned", lambda *_: True)
    with pytest.raises(DisorderError) as error:
        nx.defn(neighbours, compiler=interpreted)(np.arange(6.0))
    line = neighbours.__code__.co_firstlineno + 1
    assert str(error.value) == (
        f"an element of put_slice ({__file__}, line {line}) reads one of the array x that another one writes"
    )


def rows_by_the_first(x):
    x[:2] = x[:1] * 2
    return x


def test_steps_that_touch_the_same_are_found(interpreted, monkeypatch):
    monkeypatch.setattr(in_place_updates, "_aligned", lambda *_: True)
    with pytest.raises(DisorderError) as error:
        nx.defn(rows_by_the_first, compiler=interpreted)(np.ones((3, 40)))
    line = rows_by_the_first.__code__.co_firstlineno + 1
    assert str(error.value) == (
        f"a step of put_slice ({__file__}, line {line}) reads an element of the array x that another one writes"
    )


def test_steps_in_a_wrong_order_are_found(interpreted, monkeypatch):
    monkeypatch.setattr(planner.PlanDraft, "_ordered", staticmethod(lambda steps: steps[::-1]))
    line = test_steps_in_a_wrong_order_are_found.__code__.co_firstlineno + 5
    with passes.verifying(False), pytest.raises(UnwrittenError) as error:
        # What the plan's verifier says of it is in tests/compilers/plan/test_verify.py.
        nx.jit(lambda x: nx.sort(nx.sort(x) * 2), compiler=interpreted)(np.arange(6.0))
    assert str(error.value) == (
        f"multiply ({__file__}, line {line}) reads elements of the workspace that nobody has written"
    )
