"""What a primitive gives for many entries at once is what it gives for each of them."""

import itertools

import numba
import numpy as np
import pytest

import nxkernel as nx
from nxkernel import primitives as p
from nxkernel import types
from nxkernel.graph.expr import parameter
from nxkernel.graph.tracing import trace_body
from nxkernel.numba_functions import scalar_function
from nxkernel.ops.machinery import dispatch
from nxkernel.ops.machinery.batching_rules import batched
from nxkernel.primitives import TABLE, Spec
from nxkernel.tensor import Tensor

RANDOM = np.random.default_rng(7)
SCALAR = Spec(types.f64, (), ())


def reals(*shape):
    return shape, lambda shape: RANDOM.uniform(0.1, 0.9, shape)


def whole(*shape, high=4, low=0, dtype=np.int64):
    return shape, lambda shape: RANDOM.integers(low, high, shape).astype(dtype)


def positive(n):
    """Symmetric, positive definite matrices."""

    def make(shape):
        a = RANDOM.uniform(-1, 1, shape)
        return a @ a.swapaxes(-1, -2) + n * np.eye(n)

    return (n, n), make


def body():
    """``element + 2 * accumulated``; with a value from outside also times that."""
    outside = parameter(0, "outside", SCALAR)
    inputs = [("element", SCALAR), ("accumulated", SCALAR)]
    plain, _ = trace_body("f", lambda x, a: x + a * 2.0, inputs, lambda result: [result])
    scaled, _ = trace_body("f", lambda x, a: x + a * outside, inputs, lambda result: [result])
    return plain, scaled


@numba.njit
def weighted(x, y):
    return 2 * x + y if x > y else y


FOLD, SCALED = body()
INTEGERS = {
    p.bitwise_and, p.bitwise_or, p.bitwise_xor, p.left_shift, p.right_shift, p.quotient, p.bitwise_not,
    p.population_count, p.count_leading_zeros,
}  # fmt: skip
BINARY = {
    p.add, p.subtract, p.multiply, p.divide, p.power, p.remainder, p.quotient, p.atan2, p.maximum, p.minimum,
    p.bitwise_and, p.bitwise_or, p.bitwise_xor, p.left_shift, p.right_shift, p.equal, p.not_equal, p.greater, p.less,
    p.greater_equal, p.less_equal, p.logical_and, p.logical_or, p.logical_xor, p.make_complex, p.after,
}  # fmt: skip
FIRST = {"axes": (0,), "keep_axes": False}
LAST = {"axes": (1,), "keep_axes": True}
CONV = {"padding": ((1, 0),), "strides": (2,), "input_dilation": (1,), "kernel_dilation": (2,)}
words = whole(3, high=2**32, dtype=np.uint32)
place = whole(high=5, low=-2)

CASES = [
    (p.select, [whole(3, high=2, dtype=np.uint8), reals(3), reals(3)], {}),
    (p.as_type, [reals(3)], {"type": types.s64}),
    (p.bitcast, [reals(3)], {"type": types.s64}),
    (p.threefry2x32, [words] * 4, {"word": 1}),
    (p.reshape, [reals(2, 3)], {"shape": (3, 2), "names": (None, None)}),
    (p.broadcast, [reals(2, 1)], {"shape": (3, 2, 4), "axes": (1, 2), "names": (None,) * 3}),
    (p.broadcast, [reals(2, 3)], {"shape": (3, 2), "axes": (1, 0), "names": (None,) * 2}),
    (p.transpose, [reals(2, 3, 4)], {"axes": (2, 0, 1)}),
    (p.slice_, [reals(4, 3)], {"starts": (3, 1), "lengths": (4, 2), "strides": (-2, 1)}),
    (p.dynamic_slice, [reals(4, 3), place, place], {"lengths": (2, 3), "strides": (1, 1)}),
    (p.dynamic_slice, [reals(4, 5), place, place], {"lengths": (4, 3), "strides": (2, 2)}),
    (p.dynamic_slice, [reals(2, 3, 4), place, place, place], {"lengths": (2, 1, 2), "strides": (1, 1, 1)}),
    (p.dynamic_slice, [reals(2), place], {"lengths": (2,), "strides": (1,)}),
    (p.reverse, [reals(2, 3)], {"axes": (1,)}),
    (p.concatenate, [reals(2, 3), reals(2, 1), reals(2, 2)], {"axis": 1}),
    (p.pad, [reals(2, 3), reals()], {"config": ((1, 0, 0), (-1, 2, 1))}),
    (p.windows, [reals(4, 5)], {"window": (2, 2), "strides": (1, 2), "dilations": (2, 1)}),
    *[(f, [reals(2, 3)], params) for f in (p.sum_, p.product, p.reduce_max, p.reduce_min) for params in (FIRST, LAST)],
    *[(f, [whole(2, 3, high=2, dtype=np.uint8)], LAST) for f in (p.all_, p.any_)],
    *[
        (f, [whole(2, 5)], {"axis": 1, "keep_axis": keep, "tie_break": "high", "type": types.s64})
        for f in (p.argmax, p.argmin)
        for keep in (True, False)
    ],
    (p.reduce, [reals(2, 3), reals()], {**FIRST, "body": FOLD, "type": types.f64}),
    (p.reduce, [reals(2, 3), reals(), reals()], {**LAST, "body": SCALED, "type": types.f64}),
    (p.dot, [reals(2, 3), reals(3, 4)], {"contract": ((1,), (0,)), "batch": ((), ())}),
    (p.dot, [reals(3, 2), reals(4, 3)], {"contract": ((0,), (1,)), "batch": ((), ())}),
    (p.dot, [reals(2, 5, 3), reals(2, 3, 4)], {"contract": ((2,), (1,)), "batch": ((0,), (0,))}),
    (p.dot, [reals(2, 3, 5, 4), reals(2, 4, 3)], {"contract": ((1, 3), (2, 1)), "batch": ((0,), (0,))}),
    (p.dot, [reals(3), reals(3)], {"contract": ((0,), (0,)), "batch": ((), ())}),
    (p.conv, [reals(2, 2, 7), reals(3, 2, 2)], {**CONV, "feature_groups": 1, "batch_groups": 1}),
    (p.conv, [reals(2, 4, 7), reals(6, 2, 2)], {**CONV, "feature_groups": 2, "batch_groups": 1}),
    (p.conv, [reals(6, 2, 7), reals(4, 2, 2)], {**CONV, "feature_groups": 1, "batch_groups": 2}),
    (p.conv, [reals(6, 2, 7), reals(8, 1, 2)], {**CONV, "feature_groups": 2, "batch_groups": 2}),
    (p.gather, [reals(3, 4), whole(2, 5), whole(2, 5)], {"axes": (0, 1)}),
    (p.gather, [reals(3, 4, 2), whole(5, low=-1)], {"axes": (1,)}),
    (p.gather, [reals(3, 4), whole()], {"axes": (0,)}),
    (p.scatter, [reals(3, 4), reals(2), whole(2), whole(2)], {"axes": (0, 1), "combine": "add"}),
    (p.scatter, [reals(3, 4), reals(2, 3), whole(2)], {"axes": (1,), "combine": "put"}),
    (p.put_slice, [reals(3, 4), reals(2, 2), place, place], {}),
    (p.put_slice, [reals(3, 4), reals(3, 1), place, place], {}),
    (p.put_slice, [reals(3), reals(3), place], {}),
    (p.put_strided, [reals(5, 4), reals(2, 2), place, place], {"strides": (3, 2)}),
    (p.put_strided, [reals(6), reals(2), place], {"strides": (4,)}),
    *[
        (f, [reals(2, 3)], {"axis": 1, "reverse": True})
        for f in (p.cumulative_sum, p.cumulative_product, p.cumulative_max, p.cumulative_min)
    ],
    (p.sort, [whole(4, 2)], {"axis": 0, "direction": "desc"}),
    (p.argsort, [whole(4, 2)], {"axis": 0, "direction": "asc", "type": types.s64}),
    (p.fft, [reals(3, 4)], {"axes": (0,), "inverse": False}),
    (p.fft, [reals(3, 4)], {"axes": (-1,), "inverse": True}),
    (p.cholesky, [positive(3)], {}),
    (p.triangular_solve, [positive(3), reals(3, 2)], {"lower": True, "transform": "transpose"}),
    (p.solve, [positive(3), reals(3, 2)], {}),
    (p.inverse, [positive(3)], {}),
    (p.determinant, [positive(3)], {}),
    (p.lu, [positive(3)], {}),
    (p.qr, [reals(3, 2)], {"mode": "reduced"}),
    (p.eigh, [positive(3)], {}),
    (p.svd, [reals(3, 2)], {"full_matrices": False}),
    (p.njit, [reals(2, 3), reals(2, 3)], {"function": scalar_function(weighted, (types.f64,) * 2), "type": types.f64}),
]  # fmt: skip
CASES += [
    (row, [(whole(2, 3, low=1, high=9) if row in INTEGERS else reals(2, 3))] * (2 if row in BINARY else 1), {})
    for row in TABLE.values()
    if row.family == "elementwise" and row not in {case[0] for case in CASES}
]


def test_there_is_a_case_for_every_primitive():
    made = {row for row in TABLE.values() if row.family in ("leaf", "creation", "tuple", "control")}
    # Functions of arrays take no vectorized axes.
    made.add(p.njit_call)
    assert {row.name for row in TABLE.values()} - {row.name for row in made} == {case[0].name for case in CASES}


def operands(makers, mapped, sizes):
    return [
        Tensor.from_numpy(np.asarray(make(sizes + shape if is_mapped else shape)))
        for (shape, make), is_mapped in zip(makers, mapped, strict=True)
    ]


def results(made):
    return [part.data for part in (made if isinstance(made, tuple) else (made,))]


def one_by_one(primitive, given, mapped, sizes, params):
    """The results of the primitive for each entry, stacked."""
    parts = []
    for index in np.ndindex(*sizes):
        entry = [
            Tensor.from_numpy(value.data[index]) if is_mapped else value
            for value, is_mapped in zip(given, mapped, strict=True)
        ]
        parts.append(results(dispatch.apply(primitive, *entry, **params)))
    return [np.stack(part).reshape(sizes + part[0].shape) for part in zip(*parts, strict=True)]


def same(found, expected):
    for a, b in zip(found, expected, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def runs(case):
    """Each choice of mapped operands, with sizes of one and of two leading axes."""
    _, makers, _ = case
    for mapped in itertools.product([True, False], repeat=len(makers)):
        if any(mapped):
            for sizes in ((3,), (2, 2)):
                yield mapped, sizes, operands(makers, mapped, sizes)


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].name)
def test_many_entries_are_as_one_after_another(case):
    primitive, _, params = case
    for mapped, sizes, given in runs(case):
        found = results(batched(primitive, sizes, given, mapped, params))
        same(found, one_by_one(primitive, given, mapped, sizes, params))


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].name)
def test_rules_give_graphs_when_they_are_traced(case):
    primitive, makers, params = case
    for mapped in {(True,) * len(makers), (True, *[False] * (len(makers) - 1)), (*[False] * (len(makers) - 1), True)}:
        given = operands(makers, mapped, (3,))
        traced = nx.jit(
            lambda *values, mapped=mapped: batched(primitive, (3,), values, mapped, params), compiler="evaluator"
        )
        same(results(traced(*given)), one_by_one(primitive, given, mapped, (3,), params))


def test_matrices_of_entries_are_one_product(record):
    """The rows of all entries are rows of one matrix where the other side is the same for all."""

    def product(left, right):
        return batched(p.dot, (5,), [left, right], [True, False], {"contract": ((1,), (0,)), "batch": ((), ())})

    found = repr(record(product, nx.template((5, 2, 3), "f32"), nx.template((3, 4), "f32"))).splitlines()
    assert found[-2].split("  ")[1:] == ["c = dot a, b, contract=[[2], [0]], batch=[[], []]", " f32[5][2][4]"]


def test_constants_stay_constants(record):
    def double(t):
        factor = dispatch.filled(2.0, types.f32, (3,))
        return batched(p.multiply, (2,), [t, factor], [True, False], {})

    assert "multiply a, 2.0" in repr(record(double, nx.template((2, 3), "f32")))


def test_starts_of_a_narrow_type_on_a_long_axis():
    long = nx.iota((600,))
    starts = nx.vectorize(nx.u8([250, 3]), "entry")
    found = nx.devectorize(nx.slice(long, [starts], [200]))
    np.testing.assert_array_equal(found.to_numpy(), np.arange(200) + [[250], [3]])
