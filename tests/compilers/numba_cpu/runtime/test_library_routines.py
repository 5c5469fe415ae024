"""Products of matrices by BLAS: tiles, batches, several at once, and BLAS left as it was found."""

import itertools
import threading

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import agree, compiled, inputs, make, spec
from nxkernel import primitives as p
from nxkernel.compilers.analysis import matrix_products
from nxkernel.compilers.numba_cpu.runtime import library_routines


def whole(shape, seed=0):
    return np.random.default_rng(seed).integers(-4, 5, shape).astype("f4")


@pytest.mark.sampled(every=12)
@pytest.mark.parametrize("rows", [2, 128, 129, 300])
@pytest.mark.parametrize("columns", [2, 255, 257])
@pytest.mark.parametrize("turned", list(itertools.product([False, True], repeat=2)))
def test_tiles_of_every_shape(rows, columns, turned):
    depth = 1100
    a = whole((depth, rows) if turned[0] else (rows, depth))
    b = whole((columns, depth) if turned[1] else (depth, columns), 1)

    def function(a, b):
        return nx.dot(nx.transpose(a) if turned[0] else a, nx.transpose(b) if turned[1] else b)

    (kernel,) = compiled(function, a, b).kernels
    assert kernel.kind == "matrix product"
    agree(function, a, b)


def test_tiles_cover_a_product_and_are_many_enough():
    a, b = inputs(spec("f32", 3, 700, 64), spec("f32", 3, 64, 900))
    node = make(p.dot, a, b, contract=((2,), (1,)), batch=((0,), (0,)))
    product = matrix_products.product(node, lambda operand: operand)
    rows, columns = library_routines.tiles(product)
    assert 0 < rows <= product.rows
    assert 0 < columns <= product.columns


def test_a_batch():
    def function(a, b):
        return make(p.dot, a, b, contract=((2,), (1,)), batch=((0,), (0,)))

    agree(function, whole((5, 70, 80)), whole((5, 80, 90), 1))


def test_not_a_number_and_infinity_pass_through():
    a, b = whole((70, 80)), whole((80, 90), 1)
    a[3, 5], a[4, 6], b[7, 8] = np.nan, np.inf, -np.inf
    agree(nx.dot, a, b)


def test_what_was_in_the_memory_of_the_result_does_not_matter():
    executable = compiled(nx.dot, spec("f32", 70, 80), spec("f32", 80, 90))
    out = np.full((70, 90), np.nan, "f4")
    executable.launch(whole((70, 80)), whole((80, 90)), out)
    assert np.isfinite(out).all()


def blas_threads():
    control = library_routines.control()
    return None if control is None else getattr(library_routines._blas(), control + library_routines._GET)()


def test_blas_has_its_threads_again_afterwards():
    executable = compiled(lambda x: nx.dot(x, nx.dot(x, x)), spec("f32", 200, 200))
    before, x = blas_threads(), whole((200, 200)) / 64
    expected = executable.run([x])[0]
    found = set()

    def work():
        found.update(executable.run([x])[0].tobytes() for _ in range(30))

    workers = [threading.Thread(target=work) for _ in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == {expected.tobytes()}
    assert blas_threads() == before
