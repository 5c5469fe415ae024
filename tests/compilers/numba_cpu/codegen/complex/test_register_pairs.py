"""Complex arrays in memory: every way to read and write them, constants, captures, reductions and products."""

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import agree, compiled, make, nests, planned, spec
from nxkernel import primitives as p
from nxkernel import types
from nxkernel.compilers.numba_cpu.codegen.complex.register_pairs import (
    ComplexRegisters,
    each,
    elements,
    from_parts,
    parts,
)
from nxkernel.compilers.numba_cpu.codegen.llvm_ir import FunctionBuilder, IRModule
from nxkernel.compilers.schedule.loop_nest import NestConstant

COMPLEX = [types.c64, types.c128]


def numbers(type_, *shape, seed=0):
    """Numbers with few digits, so that sums and products of them are exact."""
    rng = np.random.default_rng(seed)
    return ((rng.integers(-8, 9, shape) + 1j * rng.integers(-8, 9, shape)) / 4).astype(type_.dtype)


def test_parts():
    b = FunctionBuilder(IRModule(), "f", "void", [])
    two = ComplexRegisters(b.constant("float", 1, 4), b.constant("float", 2, 4))
    assert (two.element, two.lanes) == ("float", 4)
    assert parts(two) == [two.re, two.im]
    assert parts(two.re) == [two.re]
    assert from_parts(parts(two)) == two
    assert each(lambda part: part, two.im) == two.im
    assert elements(types.c128) == ["double", "double"]
    assert elements(types.f16) == ["float"]


# Memory ----------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(every=24)
@pytest.mark.parametrize("type_", COMPLEX, ids=str)
@pytest.mark.parametrize("size", range(1, 71))
def test_edges_of_vectors(type_, size):
    x, y = numbers(type_, size), numbers(type_, size, seed=1)
    before = x.copy()
    agree(lambda x, y: (x * y + 1j, x[::-1] - y, nx.sum(x), x[::2] + 1, y[::-3] * 2), x, y)
    np.testing.assert_array_equal(x, before)


VIEWS = {
    "transposed": lambda x: nx.transpose(x) * 1j,
    "reversed": lambda x: nx.reverse(x) + 1,
    "reversed rows": lambda x: x[::-1] + 1,
    "every second column": lambda x: x[:, ::2] * 2,
    "every third row from the end": lambda x: x[::-3, ::-2] * 2,
    "a row beside rows": lambda x: x + x[0],
    "a column beside columns": lambda x: x * x[:, :1],
    "one element beside all": lambda x: x - x[1, 2],
    "a row at a computed place": lambda x: x[nx.argmax(nx.abs(x[:, 0]))] * 1j,
    "joined": lambda x: nx.concatenate([x, x * 2, x[:2]]),
    "joined columns": lambda x: nx.concatenate([nx.real(x) * 1j, x], axis=1),
    "padded": lambda x: nx.pad(x, 1j, [(1, 2, 1), (0, 3, 2)]),
    "stacked": lambda x: nx.stack([x, x * 2], axis=2),
    "gathered": lambda x: nx.take(x, nx.iota((7,), axis=0) * 2 % 5, axis=0) * 1j,
    "short rows": lambda x: nx.transpose(nx.reshape(x[:, :6], (-1, 2, 3)), axes=[1, 0, 2]) + 1j,
}


@pytest.mark.sampled(every=16)
@pytest.mark.parametrize("type_", COMPLEX, ids=str)
@pytest.mark.parametrize("shape", [(5, 9), (33, 70), (9, 35)], ids=str)
@pytest.mark.parametrize("view", VIEWS)
def test_ways_through_memory(view, shape, type_):
    agree(VIEWS[view], numbers(type_, *shape))


@pytest.mark.parametrize("type_", COMPLEX, ids=str)
def test_what_lies_around_an_array_stays(type_):
    program = compiled(lambda x: x * 2, spec(type_, 21))
    memory = np.full(23, np.nan, type_.dtype)
    program.launch(numbers(type_, 21), memory[1:-1])
    assert np.isnan(memory[[0, -1]]).all()
    np.testing.assert_array_equal(memory[1:-1], numbers(type_, 21) * 2)


@pytest.mark.parametrize("type_", COMPLEX, ids=str)
def test_scalars_and_empty_arrays(type_):
    agree(lambda x: (x * x + 1j, nx.exp(x)), numbers(type_), rtol=1e-6)
    agree(lambda x: (x + 1, nx.sum(x), nx.product(x)), numbers(type_, 0))


@pytest.mark.parametrize("type_", COMPLEX, ids=str)
def test_arrays_that_are_no_rows_in_memory_are_copied(type_):
    x = numbers(type_, 12, 10)
    f = nx.jit(lambda x: x * (1 + 1j), on_conflict="force")
    for view in (x.T, x[::2, ::-1], x[:, 3]):
        np.testing.assert_array_equal(np.asarray(f(view)), view * (1 + 1j))


# Constants and captures ------------------------------------------------------------------------------------------


def test_a_constant_is_two_scalars_of_a_call_and_none_of_the_code():
    def scaled(number):
        return lambda x: x * number + nx.real(x) * 3.0

    first, second = (nests(scaled(number), spec("c64", 50)) for number in (2 - 1j, 0.5j))
    assert [nest.key for nest in first] == [nest.key for nest in second]
    (bound,) = [step.work for step in planned(scaled(2 - 1j), spec("c64", 50)).steps]
    scalars = [scalar for scalar in bound.scalars if isinstance(scalar, NestConstant)]
    assert scalars == [(3.0, types.f32), (2.0, types.f32), (-1.0, types.f32)]
    for number in (2 - 1j, 0.5j, complex(np.inf, -0.0), 7):
        agree(scaled(number), numbers(types.c64, 50))
        agree(scaled(number), numbers(types.c128, 50))


def test_captured_arrays():
    weights = numbers(types.c64, 6)
    f = nx.jit(lambda x: nx.sum(x * weights), on_conflict="force")
    x = numbers(types.c64, 6, seed=1)
    assert f(x).to_number() == (x * weights).sum()
    weights *= 1j
    assert f(x).to_number() == (x * weights).sum()


# Reductions ------------------------------------------------------------------------------------------------------

FORMS = [((37, 53), 0), ((37, 53), 1), ((200, 3), 0), ((200, 3), 1), ((3, 200), 0), ((5, 1), 1), ((6, 17, 9), 1)]


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("type_", COMPLEX, ids=str)
@pytest.mark.parametrize(("shape", "axis"), FORMS)
def test_reductions(shape, axis, type_):
    x = numbers(type_, *shape)
    x[x.real > 1] = 0
    agree(lambda x: (nx.sum(x, axes=[axis]), nx.all(x, axes=[axis]), nx.any(x, axes=[axis])), x)
    units = np.random.default_rng(0).choice([1, 1j, -1, -1j], shape).astype(type_.dtype)
    agree(lambda x: nx.product(x, axes=[axis], keep_axes=True), units)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("type_", COMPLEX, ids=str)
@pytest.mark.parametrize(("shape", "axes"), [((300_000,), (0,)), ((600, 500), (0, 1)), ((150_000, 3), (0,))])
def test_long_reductions_in_blocks(shape, axes, type_):
    x = numbers(type_, *shape)
    assert len(planned(lambda x: make(p.sum_, x, axes=axes, keep_axes=False), x).steps) == 2
    agree(lambda x: [make(r, x, axes=axes, keep_axes=False) for r in (p.sum_, p.all_, p.any_)], x)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("type_", COMPLEX, ids=str)
def test_a_value_that_later_passes_read_again(axis, type_):
    def softmax(x):
        e = nx.exp(x - nx.mean(x, axes=[axis], keep_axes=True))
        return e / nx.sum(e, axes=[axis], keep_axes=True)

    x = numbers(type_, 40, 70)
    assert len(planned(softmax, x).steps) == 1
    agree(softmax, x, rtol=3e-5 if type_ is types.c64 else 1e-12)


# Products of matrices --------------------------------------------------------------------------------------------


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("type_", COMPLEX, ids=str)
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
def test_products_by_blas(turned, type_):
    a, b = (
        numbers(type_, *((70, 60) if turned[0] else (60, 70))),
        numbers(type_, *((80, 70) if turned[1] else (70, 80))),
    )

    def function(a, b):
        return nx.dot(nx.transpose(a) if turned[0] else a, nx.transpose(b) if turned[1] else b)

    (kernel,) = compiled(function, a, b).kernels
    assert kernel.kind == "matrix product"
    assert kernel.operations == 8 * 60 * 70 * 80
    agree(function, a, b)


@pytest.mark.parametrize("type_", COMPLEX, ids=str)
def test_other_products(type_):
    agree(nx.dot, numbers(type_, 3, 4), numbers(type_, 4, 5))
    agree(nx.dot, numbers(type_, 30, 40), numbers(type_, 40))
    agree(nx.dot, numbers(type_, 400), numbers(type_, 400))
    agree(lambda a, b: nx.dot(a, [2], [0], b, [1], [0]), numbers(type_, 5, 70, 30), numbers(type_, 5, 30, 40))
    agree(lambda a, b: nx.dot(a, [2], [0], b, [1], [0]), numbers(type_, 5, 3, 4), numbers(type_, 5, 4, 6))
    agree(lambda a: nx.dot(a, nx.conjugate(nx.transpose(a))) * 0.5, numbers(type_, 50, 60))
