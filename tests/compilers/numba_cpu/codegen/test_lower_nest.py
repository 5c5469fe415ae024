"""Kernels of plain nests: rows of every alignment and length, neighbours that share strides, constants in registers."""

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import agree, nests, spec
from nxkernel.compilers.numba_cpu.codegen.lower_nest import ALIGNED_FROM, lower
from nxkernel.compilers.schedule import loop_nest
from nxkernel.compilers.schedule.loop_nest import BufferRole, ScalarKind

LANES = {"f4": 16, "f8": 8}


def numbers(shape, type_="f8"):
    """Small whole numbers, whose sums are exact."""
    return np.random.default_rng(0).integers(-4, 5, shape).astype(type_)


def stencil(x):
    inner = x[1:-1, 1:-1]
    return 2.0 * inner - (x[1:-1, :-2] + x[1:-1, 2:] + x[:-2, 1:-1] + x[2:, 1:-1]) * 0.5


@pytest.mark.parametrize("type_", LANES)
@pytest.mark.parametrize("far", [-1, 0, 1, 3])
def test_rows_about_the_length_from_which_vectors_are_aligned(type_, far):
    agree(stencil, numbers((5, ALIGNED_FROM * LANES[type_] + far + 2), type_))


@pytest.mark.parametrize("length", [loop_nest.TILE - 1, loop_nest.TILE, loop_nest.TILE + 1, loop_nest.TILE + 70])
def test_rows_about_the_length_of_a_tile(length):
    agree(stencil, numbers((4, length + 2)))


@pytest.mark.parametrize("offset", range(9))
def test_parts_of_rows_are_written_and_no_more(offset):
    x, part = numbers((3, 100)), numbers((3, 71))
    (found,) = agree(lambda x, part: nx.put_slice(x, [0, offset], part * 2.0 + 1.0), x, part)
    expected = x.copy()
    expected[:, offset : offset + 71] = part * 2.0 + 1.0
    np.testing.assert_array_equal(found, expected)


def test_neighbours_share_strides_and_offsets():
    (nest,) = nests(stencil, spec("f64", 30, 50))
    reads = [access for access in nest.buffers if access.role is BufferRole.READ]
    assert [access.like for access in reads] == [-1, 0, 0, 0, 0]
    strides = [number for kind, number, _ in nest.scalars() if kind is ScalarKind.STRIDE]
    assert [nest.buffers[number].role for number in strides] == ["read", "write"]
    # One product a row for what is read and one for what is written, besides those for tiles.
    assert str(lower(nest)).count("= mul i64") == 4


def test_arrays_apart_have_strides_of_their_own():
    (nest,) = nests(lambda x, y: x[:, 1:] + y[:, 1:], spec("f64", 30, 50), spec("f64", 30, 50))
    assert [access.like for access in nest.buffers] == [-1, -1, -1]


def test_constants_stay_in_registers_where_loads_crowd():
    def reads(function):
        (nest,) = nests(function, spec("f64", 30, 50))
        return str(lower(nest)).count("load double")

    assert reads(stencil) == 2
    # Before the first aligned vector, for whole vectors and for the last one.
    assert reads(lambda x: x[1:-1, 1:-1] * 2.0) == 3


@pytest.mark.parametrize("shape", [(0, 30), (7, 0), (0, 0), (3, 0, 5), (0, 4, 7), (4, 0, 0)], ids=str)
def test_kernels_without_steps_divide_by_nothing(shape):
    # Hardware traps at a division by zero, and the process is gone.
    x = np.zeros(shape)
    for function in (
        lambda x: nx.transpose(x) * 2,
        lambda x: nx.sum(x + 1, axes=[0]),
        lambda x: nx.pad(x, 0.0, ((0, 0, 0),) * x.ndim),
    ):
        agree(function, x)
    if len(shape) == 3:
        agree(lambda x: nx.transpose(x, axes=[1, 0, 2]) + nx.transpose(x * 2, axes=[1, 0, 2]), x)
