"""What threads carry and how they join: every reduction, ties and NaN, complex products, narrow numbers."""

import numpy as np
import pytest

import nxkernel as nx
from emulated_gpu.loop_nests import Machine, agree_on_device, run_nests
from graph_comparison.compiled_graphs import graph_of

WIDE = Machine(multiprocessors=4, simulated=False, threads=256)
NAN = np.float32("nan")


def both(function, x, **options):
    """Along rows and along columns, with few threads and with many."""
    for machine in (Machine(), WIDE):
        agree_on_device(lambda x: function(x, 1), x, machine=machine, **options)
        agree_on_device(lambda x: function(x, 0), x, machine=machine, **options)


@pytest.mark.sampled(every=5, lane="simulator")
@pytest.mark.parametrize("type_", ["f4", "f8", "f2", "i1", "u1", "i4", "u8", "i8", "u4", "c8"])
def test_sums_and_extremes(type_):
    x = np.random.default_rng(0).integers(0, 4, (21, 37)).astype(type_)
    both(lambda x, axis: nx.sum(x, axes=[axis]), x)
    if type_ != "c8":
        both(lambda x, axis: (nx.reduce_max(x, axes=[axis]), nx.reduce_min(x, axes=[axis])), x)


def test_sums_of_brain_floats_are_rounded_once():
    x = np.random.default_rng(0).standard_normal((9, 200)).astype("f4")
    both(lambda x, axis: nx.sum(nx.as_type(x, "bf16"), axes=[axis]), x, rtol=1e-2, atol=1e-2)


def test_logic():
    x = np.random.default_rng(0).random((21, 37)) < 0.95
    both(lambda x, axis: (nx.all(x, axes=[axis]), nx.any(x, axes=[axis])), x)
    both(lambda x, axis: (nx.all(x, axes=[axis]), nx.any(x, axes=[axis])), ~x)


@pytest.mark.parametrize("infinite", [False, True])
def test_products_of_complex_numbers(infinite):
    x = np.full((3, 11), 2, "c8")
    x[1, 5] = np.inf if infinite else 2 + 1j
    with np.errstate(all="ignore"):
        both(lambda x, axis: nx.product(x, axes=[axis]), x)


@pytest.mark.sampled(every=4, lane="simulator")
@pytest.mark.parametrize("tie", ["low", "high"])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_ties_and_nan(name, tie):
    find = getattr(nx, name)
    x = np.random.default_rng(0).integers(0, 3, (35, 66)).astype("f4")
    x[3, 40] = x[3, 50] = x[7, 0] = x[9, 65] = NAN
    x[11] = NAN
    x[12], x[13] = np.inf, -np.inf
    both(lambda x, axis: find(x, axis=axis, tie_break=tie), x)
    both(lambda x, axis: find(x, axis=axis, tie_break=tie), np.full((34, 35), -128, "i1"))
    both(lambda x, axis: find(x, axis=axis, tie_break=tie), np.full((34, 35), 255, "u1"))


def test_nan_is_the_greatest_and_the_least():
    x = np.zeros((3, 70), "f4")
    x[1, 69] = NAN
    both(lambda x, axis: (nx.reduce_max(x, axes=[axis]), nx.reduce_min(x, axes=[axis])), x)


def test_the_same_bits_each_time():
    x = np.random.default_rng(0).standard_normal((7, 900)).astype("f4")
    graph = graph_of(lambda x: (nx.sum(x, axes=[1]), nx.sum(x, axes=[0])), x)
    first, second = (run_nests(graph, [x], WIDE) for _ in range(2))
    assert [one.tobytes() for one in first] == [one.tobytes() for one in second]
