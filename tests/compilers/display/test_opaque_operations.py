"""Whole operations in NumPy's words, run as what they say."""

import numpy as np
import pytest
import scipy

import nxkernel as nx
from graph_comparison.compiled_graphs import graph_of, make, spec
from nxkernel import primitives as p
from nxkernel.backends import MEANING
from nxkernel.compilers.display.opaque_operations import _WRITERS, in_numpy
from nxkernel.compilers.numba_cpu.routines.routine_table import ROUTINES
from nxkernel.graph.expr import parameter
from nxkernel.graph.traverse import post_order

RNG = np.random.default_rng(0)
SQUARE = RNG.normal(size=(4, 4))
POSITIVE = SQUARE @ SQUARE.T + np.eye(4)
WITH_TIES = np.array([[3, 1, 3, 2], [1, 1, 0, 1.0]])
OPERATIONS = [
    (p.cumulative_sum, {"axis": 1, "reverse": False}, WITH_TIES, "np.cumsum(a, axis=1)"),
    (
        p.cumulative_max,
        {"axis": 0, "reverse": True},
        SQUARE,
        "np.flip(np.maximum.accumulate(np.flip(a, 0), axis=0), 0)",
    ),
    (p.sort, {"axis": 1, "direction": "asc"}, WITH_TIES, "np.sort(a, axis=1, stable=True)"),
    (p.sort, {"axis": 0, "direction": "desc"}, WITH_TIES, "np.flip(np.sort(a, axis=0, stable=True), 0)"),
    (p.argsort, {"axis": 1, "direction": "asc"}, WITH_TIES, "np.argsort(a, axis=1, stable=True)"),
    (
        p.argsort,
        {"axis": 1, "direction": "desc"},
        WITH_TIES,
        "a.shape[1] - 1 - np.flip(np.argsort(np.flip(a, 1), axis=1, stable=True), 1)",
    ),
    (p.fft, {"axes": (1,), "inverse": False}, SQUARE, "np.fft.fft(a, axis=1)"),
    (p.fft, {"axes": (0, 1), "inverse": True}, SQUARE, "np.fft.ifftn(a, axes=(0, 1))"),
    (p.cholesky, {}, POSITIVE, "np.linalg.cholesky(a)"),
    (p.solve, {}, (SQUARE, POSITIVE), "np.linalg.solve(a, b)"),
    (p.inverse, {}, POSITIVE, "np.linalg.inv(a)"),
    (p.determinant, {}, POSITIVE, "np.linalg.det(a)"),
    (
        p.triangular_solve,
        {"lower": True, "transform": "transpose"},
        (POSITIVE, SQUARE),
        "scipy.linalg.solve_triangular(a, b, lower=True, trans='T')",
    ),
    (p.qr, {"mode": "complete"}, SQUARE[:, :2], "np.linalg.qr(a, mode='complete')"),
    (p.eigh, {}, POSITIVE, "np.linalg.eigh(a)"),
    (p.svd, {"full_matrices": False}, SQUARE[:, :3], "np.linalg.svd(a, full_matrices=False)"),
    (p.dot, {"contract": ((1,), (0,)), "batch": ((), ())}, (SQUARE, POSITIVE), "a @ b"),
    (p.dot, {"contract": ((0,), (0,)), "batch": ((), ())}, (SQUARE, POSITIVE), "np.einsum('ab,ad->bd', a, b)"),
    (
        p.dot,
        {"contract": ((2,), (1,)), "batch": ((0,), (0,))},
        (RNG.normal(size=(2, 3, 4)), RNG.normal(size=(2, 4, 5))),
        "np.einsum('abc,acf->abf', a, b)",
    ),
]


@pytest.mark.parametrize(("primitive", "params", "arrays", "text"), OPERATIONS)
def test_it_computes_what_it_says(primitive, params, arrays, text):
    arrays = arrays if isinstance(arrays, tuple) else (arrays,)
    if primitive is p.argsort:
        params = {**params, "type": nx.types.s64}
    given = [parameter(place, "x", spec(array.dtype, *array.shape)) for place, array in enumerate(arrays)]
    node = make(primitive, *given, **params)
    assert in_numpy(node, "ab"[: len(arrays)]) == text
    found = eval(text, {"np": np, "scipy": scipy}, dict(zip("ab", arrays, strict=False)))
    expected = MEANING[primitive](node.spec, *arrays, **params)
    for got, want in zip(*((each if isinstance(each, tuple) else (each,)) for each in (found, expected)), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)


def test_every_routine_has_its_words():
    assert {*ROUTINES, p.dot} == _WRITERS.keys()


def test_what_is_a_loop_nest_has_none():
    (node,) = post_order(graph_of(lambda x: nx.tanh(x), spec("f32", 3)).outputs)[1:]
    assert in_numpy(node, ["a"]) == ""


def test_permutations_are_told():
    node = make(p.lu, parameter(0, "x", spec("f64", 4, 4)))
    assert in_numpy(node, ["a"]) == "scipy.linalg.lu_factor(a)  # with its row swaps as a permutation"
