"""Gradients of whole programs are those of JAX."""

import numpy as np
import pytest

import nxkernel as nx
from gradients import loop_programs  # noqa: F401 - adds programs
from gradients.programs import PROGRAMS, TWICE

jax = pytest.importorskip("jax", reason="JAX comes with the extra `bench`")


@pytest.fixture(autouse=True)
def _double_precision():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


def leaves(tree):
    return [np.asarray(leaf) for leaf in jax.tree.leaves(tree)]


def same(found, expected, tolerance=1e-8):
    found, expected = leaves(found), leaves(expected)
    assert [leaf.shape for leaf in found] == [leaf.shape for leaf in expected]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def test_there_are_enough_programs():
    assert len(PROGRAMS) >= 40
    assert len(TWICE) >= 10
    assert set(TWICE) <= set(PROGRAMS)


@pytest.mark.sampled(every=16)
@pytest.mark.parametrize(("ours", "theirs", "args"), PROGRAMS.values(), ids=PROGRAMS)
def test_a_gradient(ours, theirs, args):
    places = tuple(range(len(args)))
    args = [np.float64(value) if isinstance(value, float) else value for value in args]
    value, slopes = nx.value_and_grad(nx.defn(ours), argnums=places)(*args)
    expected, other = jax.jit(jax.value_and_grad(theirs(jax.numpy, jax), argnums=places))(*args)
    same(value, expected)
    same(slopes, other)


@pytest.mark.sampled(every=20)
@pytest.mark.parametrize(("ours", "theirs", "args"), [PROGRAMS[name] for name in TWICE], ids=TWICE)
def test_a_hessian(ours, theirs, args):
    args = [np.float64(value) if isinstance(value, float) else value for value in args]
    found = nx.hessian(nx.defn(ours))(*args)
    same(found, jax.jit(jax.hessian(theirs(jax.numpy, jax)))(*args), 1e-7)
