"""Kernels of nests that reduce nothing: vectors at every alignment, rows of every length, what is the same in a row."""

import numpy as np
import pytest

import nxkernel as nx
from emulated_gpu.loop_nests import Machine, agree_on_device, launches_for
from graph_comparison.compiled_graphs import spec

WIDE = Machine(multiprocessors=2, simulated=False, threads=64)


def numbers(*shape, type_="f4"):
    """Small whole numbers, whose sums are exact."""
    return np.random.default_rng(0).integers(-4, 5, shape).astype(type_)


def test_vectors_of_sixteen_bytes():
    (launch,) = agree_on_device(lambda x, y: x * 2.0 + y, numbers(1000), numbers(1000))
    text = launch.source.text
    assert "load4(a, " in text
    assert "load4(b, " in text
    assert "store4(d, " in text
    assert launch.source.parameters == ("f32*", "f32*", "f32*", "s64", "f32")
    assert launch.scalars == [1000, 2.0]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 31, 63, 64, 65, 257])
def test_every_length(count):
    agree_on_device(lambda x: x + 1.0, numbers(count))
    agree_on_device(lambda x: x + 1.0, numbers(count), machine=WIDE)


@pytest.mark.parametrize("offset", range(5))
def test_parts_of_rows_at_every_alignment(offset):
    def function(x, part):
        return nx.put_slice(x, [0, offset], part * 2.0 + x[:, offset : offset + 21])

    agree_on_device(function, numbers(3, 30), numbers(3, 21))


def test_what_cannot_be_aligned_together_is_read_by_one_element_a_thread():
    launches = launches_for(lambda x: x[:, 1:] + x[:, :-1], spec("f32", 30, 64))
    assert all("load4" not in launch.source.text for launch in launches)
    agree_on_device(lambda x: x[:, 1:] + x[:, :-1], numbers(5, 64))


def test_vectors_of_several_widths():
    def function(x, y):
        return nx.as_type(x, "f64") + y, nx.as_type(x, "u8")

    x = np.abs(numbers(100, type_="f4"))
    agree_on_device(function, x, numbers(100, type_="f8"))
    (launch,) = launches_for(lambda x: nx.as_type(x, "bf16"), spec("f32", 100))
    assert "load4(a, " in launch.source.text
    assert "store4(b, " in launch.source.text


def test_complex_numbers_are_two_floats():
    x = numbers(33) + 1j * numbers(33)
    (launch,) = agree_on_device(lambda x: x * x, x.astype("c8"))
    assert "load4(a, 2 * (" in launch.source.text


def test_axes_backwards_start_where_memory_begins():
    (launch,) = agree_on_device(lambda x: nx.reverse(x, axes=[1]) + 1.0, numbers(5, 9))
    assert "a_start" in launch.source.text
    assert launch.memory[0][1] == 0


def test_one_text_for_all_sizes():
    first, second = (launches_for(lambda x, y: nx.exp(x) * y, spec("f32", n), spec("f32", n))[0] for n in (1000, 12345))
    assert first.source == second.source
    assert first.scalars != second.scalars


@pytest.mark.parametrize("shape", [(0,), (0, 30), (7, 0), (3, 0, 5)], ids=str)
def test_nothing_is_launched_for_no_elements(shape):
    assert agree_on_device(lambda x: nx.transpose(x) * 2.0, np.zeros(shape, "f4")) == []


def test_a_single_element():
    agree_on_device(lambda x: x + 1.0, numbers())


def test_short_last_axes():
    agree_on_device(lambda x, y: nx.transpose(x, axes=[1, 0, 2]) + y, numbers(6, 7, 3), numbers(7, 6, 3))


def test_slices_whose_starts_are_computed():
    agree_on_device(lambda x, i: nx.slice(x, [i, 1], [3, 5]) * 2.0, numbers(9, 8), np.int64(11))


def test_gathers():
    agree_on_device(lambda x, i: nx.take(x, i, axis=1), numbers(4, 9), np.array([8, 0, 3]))
