"""Sorting: every type, rows and columns, by networks and by digits, to the bit what the primitives mean."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_comparison.compiled_graphs import compiled, graph_of, make, planned
from nxkernel import primitives as p
from nxkernel import types
from nxkernel.compilers import registry
from nxkernel.compilers.numba_cpu.routines import sort_plan
from nxkernel.compilers.numba_cpu.runtime import threading_layer

ORDERED = [type_ for type_ in types.TYPES.values() if not type_.is_complex]
FLOATS = [type_ for type_ in ORDERED if type_.is_float]

#: Shapes with the axis, and how they are sorted.
FORMS = {
    "one element": ((1,), 0, "network"),
    "vector": ((69,), 0, "network"),
    "rows of one": ((9, 1), 1, "network"),
    "rows of two": ((203, 2), 1, "network"),
    "rows": ((37, 53), 1, "network"),
    "columns": ((53, 37), 0, "network"),
    "many columns": ((9, 300), 0, "network"),
    "middle": ((3, 17, 9), 1, "network"),
    "long vector": ((80_003,), 0, "digits"),
    "rather long vector": ((5_001,), 0, "digits"),
    "long rows": ((3, 20_001), 1, "digits"),
    "long columns": ((20_001, 2), 0, "digits"),
    "long middle": ((2, 9_000, 3), 1, "digits"),
}


@pytest.fixture
def counts():
    """Numbers of threads to try; the number from before is set again afterwards."""
    before = threading_layer.get_threads()
    yield sorted({1, 2, before} & set(range(1, before + 1)))
    threading_layer.set_threads(before)


def sorts(axis, directions=("asc", "desc"), index=types.s64):
    """Both primitives, in both directions."""
    return lambda t: [
        part
        for direction in directions
        for part in (
            make(p.sort, t, axis=axis, direction=direction),
            make(p.argsort, t, axis=axis, direction=direction, type=index),
        )
    ]


def numbers(type_, shape, seed=0):
    """Numbers of the whole range and many that are equal; of floats all that is special as well."""
    rng = np.random.default_rng(seed)
    if type_ is types.bool_:
        return rng.random(shape) < 0.5
    few = rng.random(shape) < 0.3
    if type_.is_integer:
        low, high = types.limits(type_)
        found = rng.integers(low, high, shape, type_.dtype, endpoint=True)
        return np.where(few, rng.integers(0, 5, shape).astype(type_.dtype), found)
    info = ml_dtypes.finfo(type_.dtype)
    special = np.array([0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1, 1, -2], type_.dtype)
    special = np.append(special, [info.tiny, -info.tiny, info.max, info.smallest_subnormal])
    return np.where(few, rng.choice(special, shape), rng.standard_normal(shape).astype(type_.dtype)).astype(type_.dtype)


def bits(array):
    return array.view(f"u{array.itemsize}")


def agree(function, x):
    """Compare what is compiled with what the evaluator gives, to the bit; what was found."""
    want = registry.get("evaluator").compile(graph_of(function, x)).run([x])
    found = compiled(function, x).run([x])
    for ours, theirs in zip(found, want, strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(bits(ours), bits(theirs))
    return found


def ways(function, x):
    """By what each launch of a function sorts."""
    launches = [launch for step in planned(function, x).steps for launch in step.work.routine.launches]
    return {"network" if "network" in launch.title else "digits" for launch in launches}


@pytest.mark.sampled(every=40)
@pytest.mark.sampled(every=4, lane="fuzz")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("type_", ORDERED)
def test_every_type_and_form(type_, form):
    shape, axis, way = FORMS[form]
    x = numbers(type_, shape)
    agree(sorts(axis), x)
    if type_ is types.f32:
        assert ways(sorts(axis), x) == {way}


@pytest.mark.sampled(every=14)
@pytest.mark.parametrize("length", [*range(1, 71), 127, 128, 129, 1000])
def test_rows_of_every_short_length(length):
    x = numbers(types.f32, (20, length), seed=length)
    agree(sorts(1), x)
    agree(sorts(0), np.ascontiguousarray(x.T))


@pytest.mark.sampled(every=12)
@pytest.mark.parametrize("length", [500, 3000, 4096, 4097, 16_383, 16_384, 100_000])
@pytest.mark.parametrize("type_", [types.f32, types.s64, types.u8])
def test_vectors(type_, length):
    agree(sorts(0), numbers(type_, (length,), seed=length))


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3)])
def test_nothing_gives_nothing(shape):
    x = np.zeros(shape, np.float32)
    for axis in range(len(shape)):
        assert [part.shape for part in agree(sorts(axis), x)] == [shape] * 4


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("type_", FLOATS)
@pytest.mark.parametrize("shape", [(300,), (4, 30), (30, 4), (60_000,), (9000, 2)])
def test_zeros_and_nan_keep_their_order_and_their_bits(type_, shape):
    rng = np.random.default_rng(1)
    nan = np.array([np.nan, -np.nan], type_.dtype)
    odd = bits(nan) | np.array(3, f"u{type_.size}")
    kinds = np.concatenate([bits(nan), odd, bits(np.array([0.0, -0.0, 1.0, np.inf, -np.inf], type_.dtype))])
    x = rng.choice(kinds, shape).view(type_.dtype)
    for axis in range(len(shape)):
        agree(sorts(axis), x)


def test_nan_is_last_or_first():
    x = np.array([3.0, np.nan, -np.inf, 2.0, np.inf], np.float32)
    ascending, up, descending, down = agree(sorts(0), x)
    np.testing.assert_array_equal(ascending, [-np.inf, 2, 3, np.inf, np.nan])
    np.testing.assert_array_equal(descending, [np.nan, np.inf, 3, 2, -np.inf])
    assert up.tolist() == [2, 3, 0, 4, 1]
    assert down.tolist() == [1, 4, 0, 3, 2]


@pytest.mark.parametrize("shape", [(50, 7), (7, 50), (40_000,)])
def test_equal_elements_keep_their_order_in_both_directions(shape):
    x = np.random.default_rng(2).integers(0, 3, shape).astype(np.int16)
    _, up, _, down = agree(sorts(0), x)
    for index in (up, down):
        value = np.take_along_axis(x, index, 0)
        assert (np.diff(index, axis=0)[np.diff(value, axis=0) == 0] > 0).all()


@pytest.mark.parametrize("length", [100, 6_000, 70_000])
def test_what_is_in_order_already(length):
    up = np.arange(length, dtype=np.float32)
    for x in (up, up[::-1].copy(), np.ones_like(up), np.roll(up, 1), np.repeat(up[: length // 4], 4)):
        agree(sorts(0), x)


@pytest.mark.parametrize("place", [4_095, 4_096, 8_191, 69_998])
def test_one_exchange_in_a_row_in_order_is_seen_wherever_it_is(place):
    x = np.arange(70_000, dtype=np.int32)
    x[[place, place + 1]] = x[[place + 1, place]]
    agree(sorts(0), x)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("index", [types.u8, types.s8, types.u16, types.s32, types.u32, types.u64])
@pytest.mark.parametrize("shape", [(100, 3), (3, 100), (20_000,)])
def test_indices_of_every_type_wrap(index, shape):
    agree(sorts(0, index=index), numbers(types.f32, shape))


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("type_", [types.u8, types.f32, types.f64])
@pytest.mark.parametrize("shape", [(40_000,), (9_000, 2)])
def test_counts_of_64_bits(type_, shape, monkeypatch):
    """They are for rows of more elements than a test can have, so that their limit is lowered."""
    monkeypatch.setattr(sort_plan, "_COUNTED", 0)
    agree(sorts(0), numbers(type_, shape))


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(("shape", "axis"), [((300_001,), 0), ((3, 70_000), 1), ((70_000, 3), 0), ((2000, 90), 1)])
@pytest.mark.parametrize("type_", [types.f32, types.s64])
def test_bits_do_not_depend_on_threads(type_, shape, axis, counts):
    x = numbers(type_, shape)
    run = compiled(sorts(axis), x).run
    found = []
    for count in counts:
        threading_layer.set_threads(count)
        found.append([part.tobytes() for part in run([x])])
    assert all(parts == found[0] for parts in found)


def test_a_new_shape_costs_no_compilation():
    """The first shape of each pair has the code made; sizes are scalar parameters."""
    for shape, other, axis in [((50, 20), (71, 33), 1), ((50, 20), (33, 8), 0), ((30_000,), (90_001,), 0)]:
        made = compiled(sorts(axis), np.zeros(shape, np.float32)).kernels
        again = compiled(sorts(axis), np.zeros(other, np.float32)).kernels
        assert [record.symbol for record in again] == [record.symbol for record in made]
        assert all(record.origin == "memory" for record in again)


def test_kernels_that_only_move_items_are_shared_by_types():
    def symbols(dtype):
        return [record.symbol for record in compiled(sorts(0, ("asc",)), np.zeros(30_000, dtype)).kernels]

    floats, whole = symbols(np.float32), symbols(np.int32)
    assert len(set(floats) & set(whole)) == 4


def test_titles_say_what_is_sorted():
    sort, argsort = (
        [record.title for record in compiled(function, np.zeros(shape, np.float32)).kernels]
        for function, shape in (
            (lambda t: make(p.sort, t, axis=1, direction="asc"), (30, 20)),
            (lambda t: make(p.argsort, t, axis=0, direction="asc", type=types.s64), (30_000,)),
        )
    )
    assert sort == ["sort of 30 x 20 x 1 by a network of comparisons"]
    assert argsort[0] == "argsort of 1 x 30000 x 1 by 4 digits: spread"
    assert argsort[-1] == "argsort of 1 x 30000 x 1 by 4 digits: finish"


def test_the_top_of_a_network():
    assert [sort_plan.top(length) for length in (1, 2, 3, 4, 5, 8, 9, 1000)] == [0, 1, 2, 2, 4, 4, 8, 512]


@given(
    shape=st.lists(st.integers(1, 30), min_size=1, max_size=4).map(tuple),
    data=st.data(),
    type_=st.sampled_from(ORDERED),
)
@settings(max_examples=15, deadline=None)
def test_property_any_axis_of_any_shape(shape, data, type_):
    axis = data.draw(st.integers(0, len(shape) - 1))
    agree(sorts(axis), numbers(type_, shape, seed=data.draw(st.integers(0, 99))))
