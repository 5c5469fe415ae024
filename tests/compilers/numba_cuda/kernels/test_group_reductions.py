"""Kernels of nests with reductions: rows and columns in groups of every size, several passes, scratch rows, folds."""

import dataclasses
import math

import numpy as np
import pytest

import nxkernel as nx
from emulated_gpu.loop_nests import Machine, agree_on_device, launches_for
from graph_comparison.compiled_graphs import spec
from nxkernel.compilers.rewrite import loop_nest_rewrites

WIDE = Machine(multiprocessors=4, simulated=False, threads=1024)
GPU = Machine(multiprocessors=132, shared_limit=227 << 10, simulated=False, threads=1024)
CLOSE = {"rtol": 2e-6, "atol": 1e-6}


def normal(*shape, type_="f4"):
    return np.random.default_rng(1).standard_normal(shape).astype(type_)


def whole(*shape, type_="f4"):
    """Small whole numbers, whose sums are exact."""
    return np.random.default_rng(0).integers(-4, 5, shape).astype(type_)


def softmax(x):
    e = nx.exp(x - nx.reduce_max(x, axes=[1], keep_axes=True))
    return e / nx.sum(e, axes=[1], keep_axes=True)


def standardized(x):
    moved = x - nx.mean(x, axes=[1], keep_axes=True)
    return moved / nx.sqrt(nx.mean(moved * moved, axes=[1], keep_axes=True) + 1.0)


def costly(x):
    e = nx.atan2(nx.tan(x), nx.cosh(x) + 3.0)
    return e / (nx.sum(e * e, axes=[1], keep_axes=True) + 1.0)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("function", [softmax, standardized, costly])
@pytest.mark.parametrize("columns", [2, 7, 33, 130])
def test_rows_in_one_kernel(function, columns):
    (launch,) = agree_on_device(function, normal(5, columns), **CLOSE)
    assert launch.source.name == "rows"


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("columns", [40, 515, 2100])
def test_rows_of_several_warps(columns):
    (launch,) = agree_on_device(softmax, normal(3, columns), machine=WIDE, rtol=1e-5)
    assert launch.block[0] >= 16
    (launch,) = agree_on_device(costly, normal(2, columns), machine=WIDE, rtol=1e-4, atol=1e-6)
    assert launch.shared > 0


def test_costly_rows_that_shared_memory_has_no_room_for():
    small = Machine(shared_limit=33 << 10)
    (launch,) = agree_on_device(costly, normal(5, 130), machine=small, **CLOSE)
    assert (launch.shared, launch.scratch > 0, launch.memory[-1]) == (0, True, (None, 0))


def test_cheap_values_are_computed_again():
    (launch,) = launches_for(softmax, spec("f32", 30, 40))
    assert launch.shared == 0
    assert "row0" not in launch.source.text


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("shape", [(1, 3), (5, 7), (37, 3), (100, 5), (64, 64)], ids=str)
def test_columns(shape):
    def function(x):
        return nx.sum(x, axes=[0]), nx.reduce_max(x, axes=[0])

    for machine in (Machine(), WIDE):
        agree_on_device(function, whole(*shape), machine=machine)


def test_columns_whose_threads_share_the_elements():
    (launch,) = agree_on_device(lambda x: nx.sum(x, axes=[0]), whole(100, 40), machine=WIDE)
    assert launch.source.name == "columns"
    assert launch.block == (32, 16)


def test_several_axes_are_reduced_as_one():
    agree_on_device(lambda x: nx.sum(x, axes=[0, 2]), whole(3, 4, 21))
    agree_on_device(lambda x: nx.sum(x, axes=[1, 3]), whole(3, 4, 5, 6))
    agree_on_device(lambda x: x - nx.sum(x, axes=[0, 2], keep_axes=True), whole(3, 4, 21))


SMALL = loop_nest_rewrites.MachineLimits(256, 64, 8, 4, 4, 4096, 16)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("axes", [[0], [1], [0, 1]], ids=str)
def test_reductions_that_are_cut_into_blocks(axes):
    x = whole(70, 41)
    launches = agree_on_device(lambda x: nx.sum(x, axes=axes), x, limits=SMALL)
    if axes == [0, 1]:
        assert len(launches) == 2
    agree_on_device(lambda x: nx.argmax(nx.reshape(x, (70 * 41,)), axis=0), x, limits=SMALL)
    agree_on_device(lambda x: nx.argmin(x, axis=axes[0], tie_break="high"), x, limits=SMALL)


def test_results_without_elements():
    for shape, axes in (((0, 5), [0]), ((5, 0), [1]), ((0, 5), [1]), ((3, 0, 4), [1])):
        agree_on_device(lambda x, axes=axes: nx.sum(x + 1.0, axes=axes), np.zeros(shape, "f4"))


def test_folds_go_in_order():
    def function(x):
        return nx.reduce(x, 1.0, lambda a, b: a * 0.5 + b, axes=[1])

    (launch,) = agree_on_device(function, whole(5, 9), machine=WIDE)
    assert 1 in launch.block[:2]
    agree_on_device(lambda x: nx.reduce(x, 1.0, lambda a, b: a * 0.5 + b, axes=[0, 1]), whole(5, 9))


@pytest.mark.parametrize("stop", [-3, 0, 1, 17, 40, 99])
def test_sums_over_a_part_of_an_axis(stop):
    def below(x, stop):
        return nx.sum(nx.select(nx.less(nx.iota((40,)), stop), x, 0.0))

    def between(x, start, stop):
        inside = nx.logical_and(nx.greater_equal(nx.iota((40,)), start), nx.less(nx.iota((40,)), stop))
        return nx.sum(nx.select(inside, x, 0.0))

    (launch,) = agree_on_device(below, whole(40), np.int64(stop))
    assert "stop" in launch.source.text
    agree_on_device(between, whole(40), np.int64(5), np.int64(stop))


@pytest.mark.parametrize("shape", [(1, 1 << 20), (65536, 4096), (1 << 20, 8), (100, 1000), (4096, 1 << 15)], ids=str)
def test_blocks_are_of_whole_warps_and_not_too_large(shape):
    whole_rows = dataclasses.replace(loop_nest_rewrites.ON_GPU, split_from=1 << 60)
    for function in (lambda x: nx.sum(x * x, axes=[1]), lambda x: nx.sum(x * x, axes=[0])):
        (launch,) = launches_for(function, spec("f32", *shape), machine=GPU, limits=whole_rows)
        threads = math.prod(launch.block)
        assert threads % 32 == 0
        assert threads <= 512


@pytest.mark.parametrize("machine", [Machine(), WIDE], ids=["few", "many"])
def test_columns_over_axes_that_are_apart(machine):
    (launch,) = agree_on_device(lambda x: nx.sum(x, axes=[0, 2]), whole(67, 2, 3, 20), machine=machine)
    assert launch.source.name == "columns"
    assert "s64(member)" in launch.source.text
    agree_on_device(lambda x: nx.sum(x, axes=[0, 2]), whole(3, 2, 7, 20), machine=machine)
