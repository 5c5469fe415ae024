"""Fourier transforms."""

import re

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError

X = np.random.default_rng(0).normal(size=(3, 6, 5))
Z = X + 1j * X[::-1]


@pytest.mark.parametrize("x", [X, Z], ids=["real", "complex"])
@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("length", [None, 2, 9])
@pytest.mark.parametrize("name", ["fft", "ifft"])
def test_one_axis(name, x, axis, length):
    found = getattr(nx, name)(x, axis=axis, length=length)
    np.testing.assert_allclose(found, getattr(np.fft, name)(x, length, axis), atol=1e-12)
    assert found.type == "c128"


@pytest.mark.parametrize("length", [None, 1, 4, 7, 8, 12])
def test_real_signals(length):
    half = nx.rfft(X, axis=1, length=length)
    np.testing.assert_allclose(half, np.fft.rfft(X, length, 1), atol=1e-12)
    np.testing.assert_allclose(nx.irfft(Z, axis=1, length=length), np.fft.irfft(Z, length, 1), atol=1e-12)
    assert nx.irfft(nx.fft(nx.f32([1, 2]))).type == "f32"


@pytest.mark.parametrize("name", ["fft2", "ifft2"])
def test_two_axes(name):
    found = getattr(nx, name)(X, axes=[0, 2], lengths=[4, "power_of_two"])
    np.testing.assert_allclose(found, getattr(np.fft, name)(X, (4, 8), (0, 2)), atol=1e-12)
    np.testing.assert_allclose(getattr(nx, name)(Z), getattr(np.fft, name)(Z), atol=1e-12)


@pytest.mark.parametrize(("size", "length"), [(1, 1), (2, 2), (5, 8), (8, 8), (9, 16)])
def test_the_next_power_of_two(size, length):
    assert nx.fft(np.zeros(size), length="power_of_two").shape == (length,)


def test_types_and_names():
    t = nx.tensor([[1, 2, 3]], type="f16", names=["x", "y"])
    assert nx.fft(t).spec == nx.template((1, 3), "c64", names=["x", "y"]).spec
    assert nx.rfft(t, axis="y").spec == nx.template((1, 2), "c64", names=["x", "y"]).spec
    assert nx.irfft(t, axis="y").spec == nx.template((1, 4), "f32", names=["x", "y"]).spec


def test_small_parts_become_zero_when_asked():
    assert nx.fft([1e-3, 0], eps=1e-2).to_list() == [0j, 0j]
    assert nx.irfft([1e-3], length=1, eps=1e-2).to_list() == [0.0]


@pytest.mark.parametrize("compiler", ["evaluator", "numba_cpu"])
def test_compiled_agrees(compiler):
    run = nx.jit(lambda t: nx.irfft(nx.rfft(t, length=7), length=8), compiler=compiler)
    np.testing.assert_allclose(run(X), np.fft.irfft(np.fft.rfft(X, 7), 8), atol=1e-12)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: nx.fft([1, 2], length="all"),
            NxValueError,
            "fft: a length is a whole number or \"power_of_two\", got 'all'",
        ),
        (
            lambda: nx.fft([1, 2], length=0),
            NxValueError,
            "fft: a Fourier transform needs at least one element, got a length of 0",
        ),
        (
            lambda: nx.fft2([[1]], lengths=[2]),
            NxValueError,
            "fft2 takes two lengths, one for each axis, got lengths=[2]",
        ),
        (lambda: nx.ifft2([[1]], axes=0), NxValueError, "ifft2 takes two axes, got axes=0"),
        (
            lambda: nx.irfft([1.0]),
            NxValueError,
            "irfft: a Fourier transform needs at least one element, got a length of 0",
        ),
        (lambda: nx.rfft([1j]), NxTypeError, "rfft takes real numbers, got c64[1].\n  nx.fft takes complex ones."),
    ],
)
def test_refused(call, error, text):
    with pytest.raises(error, match="^" + re.escape(text)):
        call()
