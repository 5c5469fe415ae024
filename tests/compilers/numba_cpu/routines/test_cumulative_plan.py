"""Cumulative operations: every type, rows and columns, long and short, both ways, beside what the primitives mean."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_comparison.compiled_graphs import agree, compiled, make
from nxkernel import primitives as p
from nxkernel import types
from nxkernel.compilers.numba_cpu.routines import cumulative_plan
from nxkernel.compilers.numba_cpu.runtime import threading_layer

PRIMITIVES = [p.cumulative_sum, p.cumulative_product, p.cumulative_max, p.cumulative_min]
ORDERED = [type_ for type_ in types.TYPES.values() if not type_.is_complex]
COMPLEX = [types.c64, types.c128]
BLOCK = cumulative_plan.BLOCK

#: Shapes with the axis: rows and columns by ones, by part of a vector, by many; short, one block, several blocks.
FORMS = {
    "vector": ((70,), 0),
    "one element": ((1,), 0),
    "rows of one": ((9, 1), 1),
    "row": ((1, 1003), 1),
    "rows": ((37, 53), 1),
    "short rows": ((203, 3), 1),
    "columns": ((53, 37), 0),
    "many columns": ((7, 300), 0),
    "few columns": ((203, 3), 0),
    "middle": ((3, 17, 9), 1),
    "long vector": ((3 * BLOCK + 5,), 0),
    "whole blocks": ((2 * BLOCK,), 0),
    "few long rows": ((3, BLOCK + 17), 1),
    "long rows": ((20, BLOCK + 17), 1),
    "long columns": ((BLOCK + 17, 2), 0),
    "many long columns": ((17, BLOCK + 1, 2), 1),
}


@pytest.fixture
def counts():
    """Numbers of threads to try; the number from before is set again afterwards."""
    before = threading_layer.get_threads()
    yield sorted({1, 2, before} & set(range(1, before + 1)))
    threading_layer.set_threads(before)


def by(primitive, axis, reverse=False):
    return lambda t: make(primitive, t, axis=axis, reverse=reverse)


def by_each(axis, primitives=PRIMITIVES):
    return lambda t: [make(q, t, axis=axis, reverse=reverse) for q in primitives for reverse in (False, True)]


def numbers(type_, shape, seed=0):
    """Numbers whose sums are exact in any order, and whose products neither vanish nor overflow for long."""
    rng = np.random.default_rng(seed)
    if type_ is types.bool_:
        return rng.random(shape) < 0.5
    if type_.is_integer:
        low, high = types.limits(type_)
        return rng.integers(low, high, shape, type_.dtype, endpoint=True)
    found = rng.choice([1.0, -1.0, 1.0, -1.0, 0.5, 2.0], shape)
    if type_.is_complex:
        found = found * rng.choice([1, 1j], shape)
    return found.astype(type_.dtype)


@pytest.mark.sampled(every=40)
@pytest.mark.sampled(every=4, lane="fuzz")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("type_", [*ORDERED, *COMPLEX])
def test_every_type_and_form(type_, form):
    shape, axis = FORMS[form]
    agree(by_each(axis, PRIMITIVES[:2] if type_.is_complex else PRIMITIVES), numbers(type_, shape))


@pytest.mark.sampled(every=24)
@pytest.mark.sampled(every=4, lane="fuzz")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("read", "type_"),
    [
        (types.bool_, types.s64), (types.bool_, types.u8), (types.u8, types.s32), (types.s8, types.u64),
        (types.s16, types.s64), (types.u32, types.u64),
    ],
)  # fmt: skip
def test_what_is_converted_is_read_as_narrow_as_it_is(read, type_, form):
    shape, axis = FORMS[form]
    scans = by_each(axis)
    agree(lambda t: scans(make(p.as_type, t, type=type_)), numbers(read, shape))


def test_a_conversion_is_a_part_of_the_scan():
    run = compiled(lambda t: make(p.cumulative_sum, make(p.as_type, t, type=types.s64), axis=0, reverse=False),
                   np.zeros(40, bool))  # fmt: skip
    assert [record.moved for record in run.kernels if record.moved] == [40 * (1 + 8)]


def test_a_predicate_lies_in_memory_and_not_its_conversion():
    def function(t):
        return make(p.cumulative_sum, make(p.as_type, make(p.greater, t, t), type=types.s64), axis=0, reverse=False)

    assert compiled(function, np.zeros(40)).kernels[0].moved == 40 * (8 + 1)


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3)])
def test_nothing_gives_nothing(shape):
    (found,) = compiled(by(p.cumulative_sum, 0), np.zeros(shape, np.float32)).run([np.zeros(shape, np.float32)])
    assert found.shape == shape


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("type_", [types.bf16, types.f16, types.f32, types.f64])
@pytest.mark.parametrize("shape", [(300,), (4, 30), (30, 4)])
def test_nan_infinities_and_signed_zeros(type_, shape):
    x = np.random.default_rng(1).choice(
        [np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0], shape, p=[0.01, 0.01, 0.01, 0.4, 0.4, 0.17]
    )
    for axis in range(len(shape)):
        agree(by_each(axis), x.astype(type_.dtype))


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("type_", COMPLEX)
@pytest.mark.parametrize("shape", [(7,), (4, 30), (30, 4), (40, 40)])
def test_complex_infinities(type_, shape):
    x = np.random.default_rng(2).choice([np.inf, -np.inf, 1, 1j, 2 - 1j], shape, p=[0.1, 0.1, 0.2, 0.3, 0.3])
    x = x.astype(type_.dtype)
    for axis in range(len(shape)):
        for reverse in (False, True):
            (found,) = compiled(by(p.cumulative_product, axis, reverse), x).run([x])
            lines = [np.moveaxis(array, axis, -1).reshape(-1, shape[axis]) for array in (found, x)]
            with np.errstate(invalid="ignore"):
                wanted = np.multiply.accumulate(lines[1][:, :: -1 if reverse else 1], axis=1)
            for take in (np.real, np.imag):
                np.testing.assert_array_equal(take(lines[0][:, :: -1 if reverse else 1]), take(wanted))


def test_a_sum_of_negative_zeros_stays_negative():
    for shape, axis in [((BLOCK + 9,), 0), ((40, 3), 0)]:
        x = np.full(shape, -0.0, np.float32)
        (found,) = compiled(by(p.cumulative_sum, axis), x).run([x])
        assert np.signbit(found).all()


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(("shape", "axis"), [((1000, 40), 0), ((40, 1000), 1), ((BLOCK,), 0), ((2, BLOCK), 1)])
@pytest.mark.parametrize("type_", [types.f32, types.f64, types.f16])
def test_the_bits_are_those_of_one_addition_after_the_other(type_, shape, axis):
    x = np.random.default_rng(2).standard_normal(shape).astype(type_.dtype)
    agree(by_each(axis), x)


def test_a_product_that_vanished_stays_nothing():
    x = np.full(6 * BLOCK, 2.0, np.float32)
    x[: 3 * BLOCK] = 0.5
    (found,) = compiled(by(p.cumulative_product, 0), x).run([x])
    assert found[200] == 0.0
    assert not found[200:].any()


def test_long_sums_are_accurate():
    x = np.random.default_rng(3).random(1_000_003, np.float32)
    for reverse in (False, True):
        (found,) = compiled(by(p.cumulative_sum, 0, reverse), x).run([x])
        exact = np.cumsum(x.astype(np.float64)[:: -1 if reverse else 1])[:: -1 if reverse else 1]
        np.testing.assert_allclose(found, exact, rtol=1e-5)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(
    ("shape", "axis"),
    [((200_003,), 0), ((3, 60_000), 1), ((30, 9_000), 1), ((60_000, 3), 0), ((3000, 700), 0), ((3000, 700), 1)],
)
def test_bits_do_not_depend_on_threads(shape, axis, counts):
    x = np.random.default_rng(4).standard_normal(shape).astype(np.float32)
    run = compiled(by_each(axis), x).run
    found = []
    for count in counts:
        threading_layer.set_threads(count)
        found.append([part.tobytes() for part in run([x])])
    assert all(parts == found[0] for parts in found)


def test_bits_of_a_row_do_not_depend_on_its_company():
    x = np.random.default_rng(5).standard_normal((40, 3 * BLOCK + 7)).astype(np.float32)
    (found,) = compiled(by(p.cumulative_sum, 1), x).run([x])
    for rows in (1, 2, 7):
        np.testing.assert_array_equal(compiled(by(p.cumulative_sum, 1), x[:rows]).run([x[:rows]])[0], found[:rows])


def test_a_new_shape_costs_no_compilation():
    """The first shape of each pair has the code made; sizes are scalar parameters."""
    for shape, other, axis in [((50, 20), (71, 33), 1), ((2, 9 * BLOCK), (3, 5 * BLOCK), 1), ((50, 40), (9, 90), 0)]:
        made = compiled(by(p.cumulative_max, axis), np.zeros(shape, np.float32)).kernels
        again = compiled(by(p.cumulative_max, axis), np.zeros(other, np.float32)).kernels
        assert [record.symbol for record in again] == [record.symbol for record in made]
        assert all(record.origin == "memory" for record in again)


@given(
    shape=st.lists(st.integers(1, 20), min_size=1, max_size=4).map(tuple),
    data=st.data(),
    type_=st.sampled_from(ORDERED),
)
@settings(max_examples=15, deadline=None)
def test_property_any_axis_of_any_shape(shape, data, type_):
    axis = data.draw(st.integers(0, len(shape) - 1))
    agree(by_each(axis), numbers(type_, shape, seed=data.draw(st.integers(0, 99))))
