"""Kernels that read along one axis and write along another."""

import numpy as np
import pytest

import nxkernel as nx
from emulated_gpu.loop_nests import Machine, agree_on_device, launches_for
from graph_comparison.compiled_graphs import spec


def numbers(*shape, type_="f4"):
    return np.random.default_rng(0).integers(-4, 5, shape).astype(type_)


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("shape", [(16, 16), (33, 31), (64, 17), (70, 65)], ids=str)
@pytest.mark.parametrize("type_", ["f4", "f2", "c16", "i1", "?"])
def test_transposes(shape, type_):
    for machine in (Machine(), Machine(simulated=False, threads=256)):
        (launch,) = agree_on_device(nx.transpose, numbers(*shape, type_=type_), machine=machine)
        assert launch.source.name == "transposed"


def test_what_is_computed_with_them():
    def function(x, y):
        return nx.transpose(x, axes=[0, 2, 1]) * 2.0 + y

    (launch,) = agree_on_device(function, numbers(3, 17, 45), numbers(45, 17))
    assert launch.source.text.count("cuda.shared.array") == 1


def test_the_first_axis_becomes_the_last():
    agree_on_device(lambda x: nx.transpose(x, axes=[1, 2, 0]) + 1.0, numbers(19, 3, 40))
    agree_on_device(lambda x: nx.transpose(x, axes=[2, 1, 0]) + 1.0, numbers(19, 3, 40))


def test_short_axes_take_no_tiles():
    (launch,) = launches_for(nx.transpose, spec("f32", 1000, 3))
    assert launch.source.name == "map"


def test_more_than_there_is_room_for():
    def function(*given):
        return sum(nx.transpose(x) * float(n + 1) for n, x in enumerate(given))

    arrays = [numbers(17, 18, type_="f8") for _ in range(6)]
    (launch,) = agree_on_device(function, *arrays)
    assert launch.source.text.count("cuda.shared.array") == 4
