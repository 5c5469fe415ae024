"""Quotients, remainders and powers of integers at the ends of their types."""

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import agree, compiled, spec
from nxkernel import types

SIGNED = [type_ for type_ in types.TYPES.values() if type_.kind == "s"]
WHOLE = [type_ for type_ in types.TYPES.values() if type_.kind in ("u", "s")]


def run(function, left, right, type_):
    left, right = (np.array(numbers, type_.dtype) for numbers in (left, right))
    (found,) = compiled(function, left, right).run([left, right])
    return found.tolist()


@pytest.mark.parametrize("type_", WHOLE, ids=str)
def test_by_zero_both_are_zero(type_):
    assert run(nx.quotient, [5] * 20, [0] * 20, type_) == [0] * 20
    assert run(nx.remainder, [5] * 20, [0] * 20, type_) == [0] * 20


@pytest.mark.parametrize("type_", SIGNED, ids=str)
def test_the_least_number_by_minus_one(type_):
    low = types.limits(type_)[0]
    assert run(nx.quotient, [low, low + 1], [-1, -1], type_) == [low, -low - 1]
    assert run(nx.remainder, [low, 7], [-1, -2], type_) == [0, 1]


@pytest.mark.parametrize("type_", SIGNED, ids=str)
def test_negative_powers_are_cut_to_zero_but_of_one_and_minus_one(type_):
    assert run(nx.pow, [2, 1, -1, -1, 0, -3], [-1, -2, -3, -4, -1, -1], type_) == [0, 1, -1, 1, 0, 0]


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("type_", WHOLE, ids=str)
def test_numbers_of_every_size(type_):
    low, high = types.limits(type_)
    rng = np.random.default_rng(0)
    left, right = (rng.integers(low, high, 500, type_.dtype, endpoint=True) for _ in range(2))
    agree(lambda x, y: (nx.quotient(x, y), nx.remainder(x, y), nx.quotient(x, y % 7), nx.pow(x, y % 5)), left, right)


def test_a_power_is_one_function_for_all_its_uses():
    kernel = compiled(lambda x: x**x + (x + 1) ** (x + 2), spec("u16", 40)).kernels[0]
    assert kernel.texts["LLVM"]().count("define internal") == 1
