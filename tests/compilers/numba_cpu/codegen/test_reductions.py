"""Reductions: rows, columns, middle axes and whole arrays, of every type, with NaN, infinities, ties and empty axes."""

import itertools
import math

import numpy as np
import pytest

from graph_comparison.compiled_graphs import agree, compiled, make, planned, spec
from nxkernel import primitives as p
from nxkernel import types
from nxkernel.backends.numpy_primitives import cast

FLOATS = [types.bf16, types.f16, types.f32, types.f64]
WHOLE = [type_ for type_ in types.TYPES.values() if type_.kind in ("u", "s")]
PLAIN = [p.sum_, p.product, p.reduce_max, p.reduce_min, p.all_, p.any_]
ARG = [p.argmax, p.argmin]

#: Shapes with the axes to reduce: rows, columns, short and long ones, the middle, two apart, everything.
FORMS = {
    "row": ((37, 53), (1,)),
    "column": ((53, 37), (0,)),
    "short row": ((200, 3), (1,)),
    "short column": ((3, 200), (0,)),
    "one element a row": ((5, 1), (1,)),
    "middle": ((6, 17, 9), (1,)),
    "apart": ((9, 7, 11), (0, 2)),
    "first two": ((4, 5, 70), (0, 1)),
    "vector": ((1001,), (0,)),
    "everything": ((7, 6, 5), (0, 1, 2)),
    "many columns": ((5, 2100), (0,)),
}
#: Forms of one long reduction, which is cut into blocks that run in parallel.
LONG = {
    "vector": ((300_000,), (0,)),
    "everything": ((600, 500), (0, 1)),
    "few rows": ((3, 150_000), (1,)),
    "columns": ((150_000, 3), (0,)),
}


def by(reduce, **params):
    return lambda t: make(reduce, t, **params)


def by_each(reduces, **params):
    return lambda t: [make(reduce, t, **params) for reduce in reduces]


def numbers(type_, shape, seed=0):
    """Numbers with few digits, so that their sums are exact, and with ties."""
    rng = np.random.default_rng(seed)
    if type_ is types.bool_:
        return rng.random(shape) < 0.5
    if type_.is_integer:
        low, high = types.limits(type_)
        return rng.integers(low, high, shape, type_.dtype, endpoint=True)
    return (rng.integers(-8, 9, shape) / 4).astype(type_.dtype)


@pytest.mark.sampled(every=40)
@pytest.mark.sampled(every=4, lane="fuzz")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("type_", [*WHOLE, *FLOATS], ids=str)
@pytest.mark.parametrize("keep", [False, True], ids=["", "kept"])
def test_plain_reductions(form, type_, keep):
    shape, axes = FORMS[form]
    x = numbers(type_, shape)
    agree(
        by_each((p.sum_, p.reduce_max, p.reduce_min, p.all_, p.any_), axes=axes, keep_axes=keep),
        x,
    )


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("type_", [types.u8, types.s64, types.f16, types.f64], ids=str)
def test_products(form, type_):
    shape, axes = FORMS[form]
    x = numbers(type_, shape)
    if type_.is_float:
        # Powers of two multiply exactly, and about as many go up as go down.
        x = np.random.default_rng(0).choice([2.0, -0.5], shape).astype(type_.dtype)
    agree(by(p.product, axes=axes, keep_axes=False), x)


@pytest.mark.sampled(every=20)
@pytest.mark.sampled(every=4, lane="fuzz")
@pytest.mark.parametrize("form", [name for name, (_, axes) in FORMS.items() if len(axes) == 1])
@pytest.mark.parametrize("type_", [*WHOLE, types.bool_, *FLOATS], ids=str)
def test_places(form, type_):
    shape, (axis,) = FORMS[form]
    x = numbers(type_, shape)
    for tie, reduce in itertools.product(("low", "high"), ARG):
        agree(by(reduce, axis=axis, keep_axis=False, tie_break=tie, type=types.s64), x)


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("form", LONG)
@pytest.mark.parametrize("type_", [types.f32, types.f64, types.u8, types.s64, types.f16], ids=str)
def test_long_reductions_in_blocks(form, type_):
    shape, axes = LONG[form]
    x = numbers(type_, shape)
    if type_ is types.f16:
        x = x / 8
    assert len(planned(by(p.reduce_max, axes=axes, keep_axes=False), spec(type_, *shape)).steps) == 2
    agree(
        by_each((p.sum_, p.reduce_max, p.reduce_min, p.all_, p.any_), axes=axes, keep_axes=True),
        x,
    )


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("form", [name for name, (_, axes) in LONG.items() if len(axes) == 1])
@pytest.mark.parametrize("tie", ["low", "high"])
@pytest.mark.parametrize("reduce", ARG, ids=str)
def test_places_in_blocks(form, tie, reduce):
    shape, (axis,) = LONG[form]
    for type_, seed in ((types.f32, 0), (types.s8, 1), (types.u64, 2)):
        x = numbers(type_, shape, seed)
        agree(by(reduce, axis=axis, keep_axis=True, tie_break=tie, type=types.s64), x)
    wild = np.where(np.random.default_rng(3).random(shape) < 1e-4, np.nan, 1).astype("f4")
    agree(by(reduce, axis=axis, keep_axis=False, tie_break=tie, type=types.s32), wild)


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("type_", FLOATS, ids=str)
@pytest.mark.parametrize("axis", [0, 1])
def test_nan_and_infinities(type_, axis):
    inf, nan = math.inf, math.nan
    rows = [
        [1.0, nan, 3.0, nan, -inf],
        [-inf] * 5,
        [inf] * 5,
        [nan] * 5,
        [0.0, -0.0, 0.0, -0.0, 0.0],
        [inf, -inf, 1.0, 2.0, inf],
        [2.0, 2.0, 1.0, 1.0, 2.0],
    ]
    x = np.array(rows).astype(type_.dtype)
    x = np.concatenate([x] * 9, axis=1)
    x = x if axis else np.ascontiguousarray(x.T)
    agree(by_each(PLAIN, axes=(axis,), keep_axes=False), x)
    for tie, reduce in itertools.product(("low", "high"), ARG):
        agree(by(reduce, axis=axis, keep_axis=False, tie_break=tie, type=types.s64), x)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("type_", [types.u8, types.s8, types.s32, types.u64], ids=str)
@pytest.mark.parametrize("axis", [0, 1])
def test_places_among_the_ends_of_a_type(type_, axis):
    low, high = types.limits(type_)
    x = np.array([[low] * 40, [high] * 40, [low, high] * 20], type_.dtype)
    x = x if axis else np.ascontiguousarray(x.T)
    for tie, reduce in itertools.product(("low", "high"), ARG):
        agree(by(reduce, axis=axis, keep_axis=False, tie_break=tie, type=types.s64), x)


@pytest.mark.parametrize("type_", [types.u8, types.s8, types.s16, types.s32], ids=str)
def test_a_place_in_a_narrow_type_wraps(type_):
    x = np.zeros(1000, "f4")
    x[777] = 1
    (found,) = agree(by(p.argmax, axis=0, keep_axis=False, tie_break="low", type=type_), x)
    assert found == cast(np.array(777), type_)


def test_narrow_floats_are_summed_wide_and_rounded_once():
    for type_ in (types.bf16, types.f16):
        for shape, axes in (((5, 3000), (1,)), ((3000, 5), (0,)), ((200_000,), (0,))):
            x = np.full(shape, 0.25, type_.dtype)
            (found,) = agree(by(p.sum_, axes=axes, keep_axes=False), x)
            count = x.size // found.size
            assert (found.astype("f8") == (np.float64(count) * 0.25).astype(type_.dtype)).all()


@pytest.mark.parametrize("axis", [0, 1])
def test_the_sum_of_many_floats_is_close(axis):
    x = np.random.default_rng(0).random((2000, 2000), "f4")
    (found,) = agree(by(p.sum_, axes=(axis,), keep_axes=False), x, rtol=1e-5)
    np.testing.assert_allclose(found, x.astype("f8").sum(axis), rtol=2e-6)


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (0, 0), (2, 0, 5)])
@pytest.mark.parametrize("type_", [types.f32, types.s64, types.u8, types.bf16], ids=str)
def test_empty_axes_give_the_identity(shape, type_):
    x = np.zeros(shape, type_.dtype)
    for axes in {(0,), (len(shape) - 1,), tuple(range(len(shape)))}:
        found = agree(by_each((p.sum_, p.product, p.all_, p.any_), axes=axes, keep_axes=False), x)
        for array, identity in zip(found, (0, 1, 1, 0), strict=True):
            assert (array.astype("f8") == identity).all()


@pytest.mark.parametrize("type_", [types.c64, types.c128])
@pytest.mark.parametrize(
    ("shape", "axes"), [((1,), (0,)), ((2,), (0,)), ((5, 1), (1,)), ((3, 40), (0,)), ((40, 3), (0, 1))]
)
def test_a_product_with_one_infinity(type_, shape, axes):
    x = np.full(shape, 2, type_.dtype)
    x.flat[0] = complex(-math.inf, 0)
    reduce = lambda t: make(p.product, t, axes=axes, keep_axes=False)  # noqa: E731
    (found,) = compiled(reduce, x).run([x])
    with np.errstate(invalid="ignore"):
        expected = np.multiply.reduce(x, axis=axes, initial=None)
    np.testing.assert_array_equal([found.real, found.imag], [expected.real, expected.imag])
    agree(reduce, x)


def test_several_reductions_of_one_input_are_one_kernel():
    def function(t):
        low, high = (make(r, t, axes=(1,), keep_axes=False) for r in (p.reduce_min, p.reduce_max))
        return low, high, make(p.argmax, t, axis=1, keep_axis=False, tie_break="low", type=types.s64)

    assert len(planned(function, spec("f32", 30, 40)).steps) == 1
    agree(function, numbers(types.f32, (30, 40)))
