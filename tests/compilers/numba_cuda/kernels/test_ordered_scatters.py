"""Writes to computed places: sums by atomics, and the last of several elements wins, whatever order threads run in."""

import numpy as np
import pytest

import nxkernel as nx
from emulated_gpu.loop_nests import Machine, agree_on_device


def put(x, indices, updates):
    return nx.indexed_put(x, nx.reshape(indices, (*indices.shape, 1)), updates)


def add(x, indices, updates):
    return nx.indexed_add(x, nx.reshape(indices, (*indices.shape, 1)), updates)


INDICES = np.random.default_rng(0).integers(-2, 12, 40)


@pytest.mark.parametrize("machine", [Machine(), Machine(simulated=False, threads=64)], ids=["few", "many"])
def test_the_last_element_wins(machine):
    launches = agree_on_device(put, np.zeros(10, "f4"), INDICES, np.arange(40, dtype="f4"), machine=machine)
    *_, claims, winners = launches
    assert (claims.fill, claims.scratch) == (0xFF, 48)
    assert (winners.fill, winners.scratch) == (None, 48)
    assert "atomic_max(last_d, " in claims.source.text
    assert "if last_d[" in winners.source.text


def test_rows_at_computed_places():
    agree_on_device(put, np.zeros((10, 5), "f4"), INDICES, np.arange(200, dtype="f4").reshape(40, 5))


@pytest.mark.parametrize("type_", ["f4", "f8", "i4", "u1", "i2", "c8", "f2"])
def test_sums_at_computed_places(type_):
    x = np.arange(10).astype(type_)
    agree_on_device(add, x, INDICES, (np.arange(40) % 3).astype(type_))


def test_what_is_put_once_is_written_at_once():
    def function(x, part, i):
        return nx.put_slice(x, [i], part)

    launches = agree_on_device(function, np.zeros(10, "f4"), np.ones(3, "f4"), np.int64(9))
    assert all(launch.scratch == 0 for launch in launches)
