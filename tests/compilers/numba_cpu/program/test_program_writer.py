"""The text of programs: it has no number of a shape, and everything that differs is in its table."""

import math
import re

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import compiled, planned, spec
from nxkernel import types
from nxkernel.backends.numpy_primitives import cast_number
from nxkernel.compilers.numba_cpu.program import program_writer
from nxkernel.graph.expr import constant


def written(function, *specs):
    return program_writer.write(planned(function, *specs), len(specs))


def softmax(x):
    e = nx.exp(x - nx.reduce_max(x, axes=[1], keep_axes=True))
    return e / nx.sum(e, axes=[1], keep_axes=True)


SAME = {
    "element by element": (lambda x: nx.exp(x) + 1, [(100,), (7,), (1_000_000,)]),
    "softmax": (softmax, [(30, 41), (1000, 303)]),
    "several steps": (lambda x: (nx.sum(x, axes=[0]), nx.sum(x, axes=[1])), [(100, 211), (207, 251)]),
    "products": (lambda x: nx.dot(x, nx.transpose(x)) + 1, [(101, 203), (307, 503)]),
    "joined": (lambda x: nx.concatenate([x, x * 2], axis=0), [(13, 17), (103, 107)]),
}


@pytest.mark.parametrize("name", SAME)
def test_a_new_shape_is_a_new_table_for_the_same_text(name):
    function, shapes = SAME[name]
    first, second = (written(function, spec("f32", *shape)) for shape in shapes[:2])
    assert first.text == second.text
    assert first.symbol == second.symbol
    assert len(first.params) == len(second.params)
    assert (first.params != second.params).any()


def test_a_new_constant_is_a_new_table_for_the_same_text():
    first, second = (written(lambda x, c=c: x * c, spec("f32", 9)) for c in (0.25, 0.5))
    assert first.text == second.text
    (place,) = np.flatnonzero(first.params != second.params)
    assert first.params[place : place + 1].view("f4")[0] == 0.25
    assert second.params[place : place + 1].view("f4")[0] == 0.5


def test_the_text_has_no_address():
    text = written(lambda x: nx.dot(softmax(x), x), spec("f32", 64, 64)).text
    assert not re.search(r"\d{9,}", re.sub(r"nx[kp]_[0-9a-f]+", "", text))


def test_the_symbol_is_a_hash_of_the_text():
    one = written(lambda x: nx.exp(x), spec("f32", 9))
    other = written(lambda x, y: x + y, spec("f32", 9), spec("f32", 9))
    assert one.symbol != other.symbol
    assert re.fullmatch(r"nxp_[0-9a-f]{40}", one.symbol)
    table = f"ptr noalias readonly dereferenceable({one.params.nbytes}) %params"
    assert f"define void @{one.symbol}(ptr %pointers, {table}) nounwind" in one.text


def test_programs_that_differ_by_their_kernels_alone_are_one():
    one, other = written(lambda x: nx.exp(x), spec("f32", 9)), written(lambda x: nx.sin(x) * 2 + x, spec("f32", 7, 8))
    assert (one.symbol, one.text) == (other.symbol, other.text)
    ((place, kernel),), ((same, another),) = one.kernels.items(), other.kernels.items()
    assert place == same
    assert kernel != another
    assert one.params[place] == other.params[place] == 0
    x = np.linspace(0, 1, 9, dtype=np.float32)
    first, second = compiled(lambda x: nx.exp(x), x), compiled(lambda x: nx.sin(x) * 2 + x, x)
    assert first.symbol == second.symbol
    for executable, expected in ((first, np.exp(x)), (second, np.sin(x) * 2 + x)) * 2:
        np.testing.assert_allclose(executable.run([x])[0], expected, rtol=1e-6)


def test_libraries():
    assert written(lambda x: x + 1, spec("f32", 64)).libraries == frozenset()
    found = written(lambda x, y: (nx.dot(x, x), nx.dot(y, y)), spec("f32", 64, 64), spec("f64", 64, 64)).libraries
    assert found == {types.f32, types.f64}


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("type_", ["u8", "u64", "s8", "s64", "bf16", "f16", "f32", "f64"])
@pytest.mark.parametrize("number", [0, 1, 100, -1, 0.1, -0.0, math.inf, 1e300, 2**63])
def test_constants_arrive_as_their_type_has_them(type_, number):
    type_ = types.normalize(type_)
    x = np.full(3, types.least(type_), type_.dtype)
    (found,) = compiled(lambda x: nx.max(x, constant(number, type_, (3,))), x).run([x])
    assert found.tobytes() == np.repeat(cast_number(number, type_), 3).tobytes()


def test_not_a_number_arrives():
    for type_ in (types.bf16, types.f16, types.f32, types.f64):
        x = np.ones(3, type_.dtype)
        (found,) = compiled(lambda x: x + constant(math.nan, x.type, (3,)), x).run([x])
        assert np.isnan(found.astype("f8")).all()


@pytest.mark.parametrize(("places", "size", "inlined"), [(4, 300, True), (5, 300, False), (5, 17, True)])
def test_a_kernel_of_many_places_in_a_loop_is_called_unless_it_is_very_short(places, size, inlined):
    def turn(_, x):
        return nx.concatenate([nx.sin(x[place * size : (place + 1) * size]) for place in range(places)])

    text = written(lambda x: nx.fori(0, 9, turn, x), spec("f32", places * size)).text
    called, taken_in = re.findall(r"call void @nxk_run\(ptr %", text), re.findall(r"call void @nxk_\w+_inline", text)
    assert (len(called), len(taken_in)) == ((0, places) if inlined else (places, 0))


def test_a_loop_with_more_tiles_is_the_same_text():
    first, second = (
        written(lambda x: nx.fori(0, 9, lambda _, x: x + 1, x), spec("f32", size)) for size in (20_000, 30_000)
    )
    assert first.text == second.text
