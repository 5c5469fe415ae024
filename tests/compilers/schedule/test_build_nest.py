"""The canonical form of nests: what is part of a kernel's name, and what a call fills in."""

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import agree, make, nests, planned, spec
from nxkernel import primitives as p
from nxkernel import types
from nxkernel.compilers.schedule import loop_nest
from nxkernel.compilers.schedule.axis_roles import SHORT_LANES
from nxkernel.compilers.schedule.loop_nest import NestConstant, PassLevel, ScalarKind


def keys(function, *specs):
    return [nest.key for nest in nests(function, *specs)]


def softmax(x):
    e = nx.exp(x - nx.reduce_max(x, axes=[1], keep_axes=True))
    return e / nx.sum(e, axes=[1], keep_axes=True)


SAME = {
    "lengths": (lambda x: nx.exp(x) + 1, [(100,), (7,), (1_000_000,)]),
    "ranks of contiguous arrays": (lambda x: nx.exp(x) + 1, [(1000,), (100, 70), (40, 50, 60)]),
    "sizes of rows": (softmax, [(30, 40), (1000, 300), (5, 9)]),
    "sizes of columns": (lambda x: nx.sum(x, axes=[0]), [(300, 400), (50, 1000)]),
    "middle axes": (lambda x: nx.sum(x, axes=[1]), [(3, 40, 50), (30, 4, 200)]),
    "many middle axes": (lambda x: nx.sum(x, axes=[1]), [(3, 40, 500), (30, 4, 300)]),
    "transposed": (nx.transpose, [(40, 50), (300, 200)]),
    "slices": (lambda x: x[1:5, 2:40] * 2, [(40, 50), (300, 200)]),
    "long reductions": (lambda x: nx.sum(x), [(1_000_000,), (3_000_000,)]),
}


@pytest.mark.parametrize("name", SAME)
def test_sizes_are_no_part_of_a_kernel(name):
    function, shapes = SAME[name]
    first, *others = [keys(function, spec("f32", *shape)) for shape in shapes]
    assert all(other == first for other in others)


def test_constants_are_no_part_of_a_kernel():
    assert keys(lambda x: x * 2.0 + 1.0, spec("f32", 9)) == keys(
        lambda x: x * 0.3 - -4.0 if False else x * 0.3 + 4.0, spec("f32", 9)
    )
    plan = planned(lambda x: x * 2.0 + 1.0, spec("f32", 9))
    constants = [scalar for scalar in plan.steps[0].work.scalars if isinstance(scalar, NestConstant)]
    assert sorted(constants) == [(1.0, types.f32), (2.0, types.f32)]


def test_places_of_slices_are_no_part_of_a_kernel():
    assert keys(lambda x: x[3:9] * 2, spec("f32", 90)) == keys(lambda x: x[50:90] * 2, spec("f32", 90))
    assert keys(lambda x: x[::5] * 2, spec("f32", 90)) == keys(lambda x: x[::-3] * 2, spec("f32", 90))


DIFFERENT = {
    "the operation": (lambda x: nx.exp(x), lambda x: nx.sin(x)),
    "what is shared": (lambda x: x * x, lambda x: x * (x + 0 * x)),
    "the order of operands": (lambda x: x - x * 2.0, lambda x: x * 2.0 - x),
    "the reduction": (lambda x: nx.sum(x, axes=[1]), lambda x: nx.reduce_max(x, axes=[1])),
    "the axis": (lambda x: nx.sum(x, axes=[1]), lambda x: nx.sum(x, axes=[0])),
    "the tie break": (lambda x: nx.argmax(x, axis=1), lambda x: nx.argmax(x, axis=1, tie_break="high")),
    "consecutive or not": (lambda x: x[:, ::1] * 2, lambda x: x[:, ::2] * 2),
    "how many outputs": (lambda x: nx.exp(x), lambda x: (nx.exp(x), nx.exp(x) + 1)),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_structure_is_part_of_a_kernel(name):
    one, other = DIFFERENT[name]
    assert keys(one, spec("f32", 300, 400)) != keys(other, spec("f32", 300, 400))


def test_types_are_part_of_a_kernel():
    found = [
        keys(lambda x: x + x, spec(type_, 300))[0] for type_ in types.TYPES if type_[0] in "usfb" and type_ != "bool"
    ]
    assert len(set(found)) == len(found)


def test_limits_that_the_code_has_in_it_are_part_of_a_kernel(monkeypatch):
    before = keys(softmax, spec("f32", 30, 40))
    monkeypatch.setattr(loop_nest, "TILE", 4096)
    assert keys(softmax, spec("f32", 30, 40)) != before


def test_names_are_symbols():
    (key,) = keys(softmax, spec("f32", 30, 40))
    assert key.startswith("nxk_")
    assert len(key) == 44
    assert key[4:].isalnum()


def shape_of(nest):
    """How many outer and inner axes a nest has, and where its lanes run."""
    return nest.outer, nest.inner, nest.lanes


SHAPES = {
    "contiguous arrays are one axis": (lambda x: x + 1, (20, 30, 40), (0, 1, "inner")),
    "axes of one are none": (lambda x: x + 1, (1, 30, 1), (0, 1, "inner")),
    "one element has no axes": (lambda x: x + 1, (1, 1), (0, 0, "inner")),
    "a scalar has no axes": (lambda x: x + 1, (), (0, 0, "inner")),
    "rows": (lambda x: nx.sum(x, axes=[2]), (20, 30, 40), (1, 1, "inner")),
    "last two axes": (lambda x: nx.sum(x, axes=[1, 2]), (20, 30, 40), (1, 1, "inner")),
    "columns": (lambda x: nx.sum(x, axes=[0]), (20, 6, 40), (1, 1, "tile")),
    "many columns": (lambda x: nx.sum(x, axes=[0]), (20, 1200), (1, 1, "outer")),
    "the middle": (lambda x: nx.sum(x, axes=[1]), (20, 30, 40), (2, 1, "tile")),
    "a row added to rows": (lambda x: x + x[0], (300, 400), (1, 1, "inner")),
    "turned": (lambda x: nx.transpose(x) + 0.5, (300, 400), (1, 1, "inner")),
    "short rows": (lambda x: nx.transpose(x, axes=[1, 0, 2]) + 0.5, (30, 40, SHORT_LANES - 1), (1, 2, "inner")),
    "short rows of many": (lambda x: nx.sum(x, axes=[1]), (10_000, 3), (1, 1, "outer")),
}


@pytest.mark.parametrize("name", SHAPES)
def test_axes(name):
    function, shape, expected = SHAPES[name]
    (nest,) = nests(function, spec("f32", *shape))
    assert shape_of(nest) == expected
    agree(function, np.random.default_rng(0).integers(-4, 5, shape).astype("f4"))


def test_scalars_are_those_of_the_call():
    (step,) = planned(lambda x: x[5:45:2, ::-1] * 3, spec("f32", 50, 60)).steps
    bound = step.work
    scalars = dict(zip(bound.nest.scalars(), bound.scalars, strict=True))
    assert scalars[ScalarKind.SIZE, 0, 0] == 20
    assert scalars[ScalarKind.SIZE, 0, 1] == 60
    assert scalars[ScalarKind.CONSTANT, 0, 0] == (3.0, types.f32)
    assert scalars[ScalarKind.STRIDE, 0, 0] == 120
    (owner, offset), (_, start) = bound.buffers
    assert (owner.params["name"], offset, start) == ("x0", (5 * 60 + 59) * 4, 0)
    assert bound.count == 20


def test_the_parallel_range():
    def count(function, *shape):
        (step,) = planned(function, spec("f32", *shape)).steps
        return step.work.count

    assert count(lambda x: x + 1, 3 * loop_nest.TILE + 1) == 4
    assert count(lambda x: nx.sum(x, axes=[1]), 500, 30) == 500
    assert count(lambda x: nx.sum(x, axes=[0]), 30, 129) == 3
    assert count(lambda x: x + 1, 0) == 0


def test_an_index_is_counted_not_read():
    (nest,) = nests(lambda x: x + nx.iota((30, 40), axis=0), spec("f32", 30, 40))
    assert [access.role for access in nest.buffers].count("index") == 1
    assert len(nest.memory) == 2


def test_equal_reads_are_one_load():
    (nest,) = nests(lambda x: nx.exp(x) * x + x, spec("f32", 30))
    assert sum(op.name == "load" for op in nest.ops()) == 1
    (nest,) = nests(lambda x: x[1:] * x[:-1], spec("f32", 30))
    assert sum(op.name == "load" for op in nest.ops()) == 2


def test_what_every_element_of_a_row_needs_is_computed_once_a_row():
    def function(x, y):
        return x * nx.new_axis(nx.exp(nx.sum(y, axes=[1])), 1)

    found = nests(function, spec("f32", 50, 60), spec("f32", 50, 60))
    for nest in found:
        for nest_pass in nest.passes:
            assert nest_pass.level is PassLevel.ROW or not any(op.name == "exp" for op in nest_pass.code)


def test_one_nest_of_sums_of_the_same_rows_reads_them_once():
    def function(x):
        return [make(reduce, x, axes=(1,), keep_axes=False) for reduce in (p.sum_, p.reduce_max, p.reduce_min, p.any_)]

    (nest,) = nests(function, spec("f32", 50, 60))
    assert sum(op.name == "load" for op in nest.ops()) == 1
    assert [reduce.name for nest_pass in nest.passes for reduce in nest_pass.reduces] == [
        "sum",
        "reduce_max",
        "reduce_min",
        "any",
    ]


def test_updates_at_known_places_are_plain_stores():
    _, fixed = nests(lambda x, v: nx.put_slice(x, [1, 4], v), spec("f32", 6, 7), spec("f32", 2, 3))
    _, moving = nests(lambda x, v, i: nx.put_slice(x, [1, i], v), spec("f32", 6, 7), spec("f32", 2, 3), spec("s64"))
    (nest_pass,) = fixed.passes
    assert [op.name for op in nest_pass.code] == ["load"]
    assert (len(nest_pass.stores), nest_pass.scatters) == (1, ())
    assert len(moving.passes[-1].scatters) == 1
    plan = planned(lambda x, v: nx.put_slice(x, [1, 4], v), spec("f32", 6, 7), spec("f32", 2, 3))
    assert plan.steps[1].work.buffers[1][1] == 4 * (1 * 7 + 4)
