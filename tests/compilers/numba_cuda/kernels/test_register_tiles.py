"""Kernels whose threads have tiles of results in registers."""

import re

import numpy as np
import pytest

import nxkernel as nx
from emulated_gpu.loop_nests import Machine, agree_on_device, launches_for
from graph_comparison.compiled_graphs import spec
from nxkernel.compilers.numba_cuda.toolchain import object_code

GPU = Machine(multiprocessors=132, shared_limit=227 << 10, simulated=False, threads=1024)


def numbers(*shape, type_="i4"):
    return np.random.default_rng(0).integers(-4, 5, shape).astype(type_)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("rows", [1, 2, 3, 4, 7, 8, 9, 17])
@pytest.mark.parametrize("columns", [5, 16, 33])
def test_products_of_matrices(rows, columns):
    launches = agree_on_device(nx.dot, numbers(rows, 6), numbers(6, columns))
    assert (launches[-1].source.name == "tiles") == (rows > 1)


def test_what_several_cells_share_is_read_once():
    (launch,) = launches_for(nx.dot, spec("s32", 4096, 64), spec("s32", 64, 4096), machine=GPU)
    assert launch.source.name == "tiles"
    inside = launch.source.text.split("while item")[1].split("+= 1")[0]
    assert len(re.findall(r"= (?:a|b|p\d+)\[", inside)) == 8 + 4
    assert len(re.findall(r" \* v", inside)) == 8 * 4
    for arch in ("sm_80", "sm_90"):
        assert object_code.ptx(launch.source, arch).count("mad.lo.s32") >= 8 * 4


def test_convolutions_and_what_follows():
    def function(x, k):
        return nx.max(nx.conv(x, k, padding="same") + 1.0, 0.0)

    agree_on_device(function, numbers(2, 3, 7, 9, type_="f4"), numbers(5, 3, 3, 3, type_="f4"))


def test_few_results_are_not_tiled():
    (launch,) = launches_for(nx.dot, spec("s32", 16, 64), spec("s32", 64, 16), machine=GPU)
    assert launch.source.name == "columns"


def test_the_best_of_windows():
    agree_on_device(lambda x: nx.window_max(x, (1, 3)), numbers(9, 40, type_="f4"))


@pytest.mark.parametrize("machine", [Machine(), Machine(multiprocessors=4, simulated=False, threads=256)])
def test_threads_share_what_is_reduced(machine):
    (launch,) = agree_on_device(nx.dot, numbers(4, 129), numbers(129, 12), machine=machine)
    assert launch.block[1] > 1
    assert "cuda.syncthreads()" in launch.source.text
    agree_on_device(nx.dot, numbers(9, 70, type_="c8"), numbers(70, 11, type_="c8"), machine=machine)


@pytest.mark.slow
def test_gradients_of_convolutions():
    def function(x, k):
        return nx.grad(lambda k: nx.sum(nx.conv(x, k) ** 2))(k)

    machine = Machine(multiprocessors=2, simulated=False, threads=256)
    for chosen in (machine, Machine()):
        agree_on_device(function, numbers(9, 3, 8, 8, type_="f4"), numbers(4, 3, 3, 3, type_="f4"), machine=chosen)


@pytest.mark.parametrize("machine", [Machine(), Machine(multiprocessors=4, simulated=False, threads=256)])
def test_what_is_reduced_may_be_a_result_too(machine):
    def function(a, b):
        products = nx.reshape(a, (4, 65, 1)) * nx.reshape(b, (1, 65, 12))
        return products, nx.sum(products, axes=[1])

    agree_on_device(function, numbers(4, 65), numbers(65, 12), machine=machine)
