"""Which values exist in memory, and which kernel computes what."""

import time

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.compilers import interface
from nxkernel.compilers.interface import KernelRecord
from nxkernel.defn.definition import Definition

R = np.random.default_rng(0)
X = R.random((64, 96), dtype=np.float32)


def kernels(function, *arrays) -> list[KernelRecord]:
    """The kernels of a function, after its results were found equal to the evaluator's."""
    compiled, plain = Definition(function), Definition(function, compiler="evaluator")
    for ours, theirs in zip(_parts(compiled(*arrays)), _parts(plain(*arrays)), strict=True):
        np.testing.assert_allclose(ours.to_numpy(), theirs.to_numpy(), rtol=2e-5, atol=1e-6)
    return [view.title for view in _last(compiled).kernels]


def _last(definition):
    return [view for view in definition.compilations() if view.compiler == "numba_cpu"][-1]


def _parts(result):
    return result if isinstance(result, tuple) else (result,)


def softmax(t):
    e = nx.exp(t - nx.reduce_max(t, axes=[-1], keep_axes=True))
    return e / nx.sum(e, axes=[-1], keep_axes=True)


def layer_norm(x):
    mean = nx.mean(x, axes=[1], keep_axes=True)
    centred = x - mean
    variance = nx.mean(centred * centred, axes=[1], keep_axes=True)
    return centred * nx.rsqrt(variance + 1e-5)


def test_softmax_is_one_kernel_of_three_passes():
    assert kernels(softmax, X) == ["rows of 64 x 96, 1 read, 1 write, 3 passes"]


def test_layer_norm_is_one_kernel():
    assert kernels(layer_norm, X) == ["rows of 64 x 96, 1 read, 1 write, 3 passes"]


def test_what_follows_a_reduction_joins_it():
    assert kernels(lambda x: nx.sqrt(nx.mean(x * x, axes=[1])), X) == ["rows of 64 x 96, 1 read, 1 write"]


def test_two_reductions_of_one_array_are_one_kernel():
    found = kernels(lambda x: (nx.sum(x, axes=[1]), nx.reduce_max(x, axes=[1])), X)
    assert found == ["rows of 64 x 96, 1 read, 2 writes"]


def test_views_cost_no_kernel():
    assert kernels(lambda x: nx.transpose(x)[::-2, 3:10] * 2, X) == ["map of 48 x 7, 1 read, 1 write"]


def test_a_reshaped_output_is_no_copy():
    assert kernels(lambda x: nx.reshape(nx.exp(x), (-1,)), X) == ["map of 6144, 1 read, 1 write"]


def test_broadcast_differences_are_never_stored():
    found = kernels(lambda x: nx.sum((nx.new_axis(x, 1) - nx.new_axis(x, 0)) ** 2, axes=[2]), X[:20])
    assert found == ["rows of 20 x 20 x 96, 2 reads, 1 write"]


def test_a_costly_value_of_two_kernels_is_computed_once():
    def function(x):
        e = nx.exp(x)
        return nx.sum(e, axes=[0]), nx.sum(e, axes=[1])

    assert len(kernels(function, X)) == 2


def test_a_kernel_does_not_wait_for_a_product_that_waits_for_it():
    w = R.random((96, 96), dtype=np.float32)
    found = kernels(lambda x, w: nx.dot(nx.exp(x), w) + x, X, w)
    assert [title.partition(" ")[0] for title in found] == ["map", "matrix", "map"]


def test_a_value_read_dynamically_is_not_overwritten():
    long, more = R.random(400_000), R.random(500_000)

    def function(x, y, start):
        return nx.concatenate([nx.slice(nx.exp(x), [start], [300_000]), y])

    for start in (5_000, 100_000):
        found = Definition(function)(long, more, np.array(start))
        np.testing.assert_allclose(found.to_numpy()[:300_000], np.exp(long[start : start + 300_000]), rtol=1e-12)


def test_many_reductions_in_turn_are_planned_in_linear_time():
    def function(y):
        for turn in range(200):
            y = y / nx.sum(y, axes=[turn % 2], keep_axes=True)
        return y

    begin = time.perf_counter()
    kernels(function, R.random((8, 9)))
    assert time.perf_counter() - begin < 10


def test_a_long_chain_is_one_kernel():
    def function(x):
        before, now = x, x
        for turn in range(800):
            before, now = now, nx.exp(now * 0.01) if turn % 5 == 0 else now * 0.5 + before
        return now

    assert len(kernels(function, X[0])) == 1


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0,)])
def test_empty_arrays(shape):
    kernels(lambda x: (nx.exp(x) + 1, nx.sum(x, axes=[0])), np.zeros(shape, dtype=np.float32))


def test_a_result_shares_no_memory_with_the_arguments():
    for compiler in interface.names():
        array = np.ones(3, dtype=np.float32)
        result = Definition(lambda x: (x, nx.reshape(x, (3, 1)), x[1:]), compiler=compiler)(array)
        array[:] = 7
        assert [part.to_numpy().max() for part in result] == [1.0, 1.0, 1.0]
