"""Small matrices written out: how exact they are, which of them are, and what singular ones give."""

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import agree, compiled, graph_of, make, spec
from nxkernel import primitives as p
from nxkernel import types
from nxkernel.compilers.rewrite.loop_nest_rewrites import prepare
from nxkernel.graph.traverse import post_order
from nxkernel.ops.machinery.dispatch import apply

TYPES = ["f4", "f8", "c8", "c16"]
SIZES = [1, 2, 3, 4]
SOME = [("f4", 1), ("f8", 4), ("c8", 3), ("c16", 2)]


def matrices(size, kind, condition=1.0, count=60):
    """Random matrices of a condition."""
    rng = np.random.default_rng(size)
    a = rng.standard_normal((count, size, size)) + (1j * rng.standard_normal((count, size, size)) if "c" in kind else 0)
    u, _, v = np.linalg.svd(a)
    return ((u * np.geomspace(1, 1 / condition, size)) @ v).astype(kind)


def wide(*arrays):
    return [array.astype("c16" if array.dtype.kind == "c" else "f8") for array in arrays]


def size_of(x):
    return np.linalg.norm(x, axis=(-2, -1))


def run(primitive, *arrays):
    (found,) = compiled(lambda *nodes: make(primitive, *nodes), *arrays).run(list(arrays))
    assert found.dtype == arrays[0].dtype
    return found


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("condition", [0, 0.2, 0.75])
def test_backward_errors_are_of_rounding_only(size, kind, condition):
    a = matrices(size, kind, np.finfo(kind).eps ** -condition)
    epsilon = 20 * np.finfo(kind).eps
    for columns in (1, 3):
        b = matrices(4, kind)[:, :size, :columns]
        x = run(p.solve, a, b)
        wa, wb, wx = wide(a, b, x)
        assert np.all(size_of(wa @ wx - wb) <= epsilon * (size_of(wa) * size_of(wx) + size_of(wb)))
    x = run(p.inverse, a)
    wa, wx = wide(a, x)
    assert np.all(size_of(wa @ wx - np.eye(size)) <= epsilon * size_of(wa) * size_of(wx))
    (wide_a,) = wide(a)
    off = np.abs(run(p.determinant, a) - np.linalg.det(wide_a))
    assert np.all(off <= epsilon * np.prod(np.linalg.norm(wide_a, axis=-1), axis=-1))


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("size", SIZES)
def test_factors_of_positive_matrices(size, kind):
    a = matrices(size, kind, 30.0)
    a = a @ np.conj(a.swapaxes(-1, -2)) + np.float32(0.01) * np.eye(size, dtype=kind)
    found = run(p.cholesky, a)
    wa, wide_l = wide(a, found)
    off = size_of(wide_l @ np.conj(wide_l.swapaxes(-1, -2)) - wa)
    assert np.all(off <= 20 * np.finfo(kind).eps * size_of(wa))
    assert not np.triu(found, 1).any()
    a[7] *= -1
    found = run(p.cholesky, a)
    assert np.isnan(found[7]).all()
    assert np.isfinite(found[8]).all()


@pytest.mark.sampled(every=5)
@pytest.mark.parametrize(("kind", "size"), SOME)
@pytest.mark.parametrize("transform", ["none", "transpose", "conjugate"])
def test_triangles_are_substituted(size, kind, transform):
    a = matrices(size, kind)
    turned = {"none": a, "transpose": a.swapaxes(-1, -2), "conjugate": np.conj(a.swapaxes(-1, -2))}[transform]
    for lower in (True, False):
        read = np.tril(turned) if lower == (transform == "none") else np.triu(turned)
        for columns in (1, 3):
            b = matrices(4, kind)[:, :size, :columns]
            solve = {"lower": lower, "transform": transform}
            (x,) = compiled(lambda a, b, solve=solve: make(p.triangular_solve, a, b, **solve), a, b).run([a, b])
            wa, wb, wx = wide(read, b, x)
            assert np.all(size_of(wa @ wx - wb) <= 20 * np.finfo(kind).eps * (size_of(wa) * size_of(wx) + size_of(wb)))
    a[5, 0, 0] = 0
    (x,) = compiled(lambda a, b: make(p.triangular_solve, a, b, **solve), a, b).run([a, b])
    assert [bool(np.isnan(one).all()) for one in x[4:7]] == [False, True, False]


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(("kind", "size"), SOME)
def test_triangular_factors_have_the_rows_of_lapack(size, kind):
    a = matrices(size, kind, 30.0)
    a[2], a[3, :, -1], a[4, 0] = 0, 0, a[4, -1]
    agree(lambda a: apply(p.lu, a), a, atol=30 * np.finfo(kind).eps)


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("size", SIZES)
def test_singular_matrices(size, kind):
    a = matrices(size, kind, count=5)
    a[2] = 0
    a[3, :, -1] = 0
    for found in (run(p.inverse, a), run(p.solve, a, a)):
        assert [bool(np.isnan(one).all()) for one in found] == [False, False, True, True, False]
        assert np.isfinite(found[[0, 1, 4]]).all()
    assert run(p.determinant, a)[2:4].tolist() == [0, 0]


def test_rows_are_exchanged():
    a = np.array([[0.0, 0, 2, 0], [1e-20, 1, 0, 0], [3, 0, 0, 0], [0, 0, 0, 4]])
    np.testing.assert_allclose(run(p.inverse, a), np.linalg.inv(a), atol=1e-15)
    np.testing.assert_allclose(run(p.determinant, a), np.linalg.det(a))
    np.testing.assert_allclose(
        run(p.solve, a, np.arange(8.0).reshape(4, 2)), np.linalg.solve(a, np.arange(8.0).reshape(4, 2))
    )


def kinds_of(primitive, *specs):
    graph = graph_of(lambda *nodes: make(primitive, *nodes), *specs)
    outputs, _ = prepare(graph.outputs, frozenset())
    return {node.primitive for node in post_order(outputs)}


def kinds_of_factors(of):
    graph = graph_of(lambda a: apply(p.lu, a)[0], of)
    return {node.primitive for node in post_order(prepare(graph.outputs, frozenset())[0])}


def test_which_are_written_out():
    assert p.solve not in kinds_of(p.solve, spec("f64", 4, 4), spec("f64", 4, 4))
    assert p.solve in kinds_of(p.solve, spec("f64", 4, 4), spec("f64", 4, 5))
    assert p.solve in kinds_of(p.solve, spec("f64", 5, 5), spec("f64", 5, 1))
    assert p.inverse not in kinds_of(p.inverse, spec("c64", 9, 4, 4))
    assert p.inverse in kinds_of(p.inverse, spec("c64", 9, 5, 5))
    assert p.determinant in kinds_of(p.determinant, spec("f32", 5, 5))
    assert p.cholesky in kinds_of(p.cholesky, spec("f32", 5, 5))
    assert p.inverse in kinds_of(p.inverse, spec("f32", 0, 0))
    assert p.lu not in kinds_of_factors(spec("f32", 4, 4))
    assert p.lu in kinds_of_factors(spec("f32", 5, 5))


def test_a_batch_is_one_kernel():
    program = nx.jit(lambda a: nx.linalg.invert(a))
    program(matrices(4, "f8"))
    (kernel,) = program.compilations()[-1].kernels
    assert kernel.title == "map of 60, 16 reads, 16 writes"


def filtered(z):
    x, cov = np.zeros(2), np.eye(2)
    move, see = np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[1.0, 0.0]])
    for k in range(len(z)):
        x = move @ x
        cov = move @ cov @ move.T + 0.01 * np.eye(2)
        gain = cov @ see.T @ np.linalg.inv(see @ cov @ see.T + 0.5)
        x = x + gain @ (z[k : k + 1] - see @ x)
        cov = (np.eye(2) - gain @ see) @ cov
    return x


def test_filters_in_loops():
    z = np.sin(np.arange(50) * 0.1)
    np.testing.assert_allclose(np.asarray(nx.defn(filtered)(z)), filtered(z), rtol=1e-10)


def likelihood(a, noise):
    found = 0.0
    for k in range(len(a)):
        found += np.linalg.slogdet(a[k] + noise * np.eye(len(a[k])))[1] + np.log(np.linalg.det(a[k]) ** 2)
        found += np.linalg.cholesky(a[k] @ a[k].T + noise * np.eye(len(a[k])))[0, 0]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 4])
def test_gradients_in_loops_call_no_library(size):
    a = matrices(size, "f8", count=6)
    program = nx.defn(nx.value_and_grad(nx.defn(likelihood), argnums=1))
    value, slope = program(a, np.float64(0.3))
    np.testing.assert_allclose(np.asarray(value), likelihood(a, 0.3), rtol=1e-10)
    step = 1e-6
    expected = (likelihood(a, 0.3 + step) - likelihood(a, 0.3 - step)) / (2 * step)
    np.testing.assert_allclose(np.asarray(slope), expected, rtol=1e-5)
    assert [kernel.title for kernel in program.compilations()[-1].kernels if kernel.origin == "library"] == []


def test_narrow_floats_are_computed_in_f32():
    a = nx.as_type(nx.tensor([[2.0, 1.0], [1.0, 3.0]]), "bf16")
    found = nx.jit(lambda a: nx.linalg.invert(a))(a)
    assert found.type is types.bf16
    np.testing.assert_allclose(nx.as_type(found, "f32").to_numpy(), [[0.6, -0.2], [-0.2, 0.4]], rtol=1e-2)
