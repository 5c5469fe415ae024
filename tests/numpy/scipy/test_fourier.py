"""scipy.fft in programs."""

import numpy as np
import pytest
import scipy.fft

import nxkernel as nx
from numpy_comparison.slopes import check_slopes
from nxkernel.errors import NxTypeError, NxValueError

RNG = np.random.default_rng(2)
X, IMAGE = RNG.normal(size=12), RNG.normal(size=(5, 6))


def agrees(function, *arrays, rtol=1e-12):
    found, wanted = nx.jit(function, promotion="numpy", compiler="evaluator")(*arrays), function(*arrays)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=10 * rtol)


def _named(name, **options):
    return lambda x: getattr(scipy.fft, name)(x, **options)


@pytest.mark.parametrize("name", ["dct", "idct", "dst", "idst"])
@pytest.mark.parametrize("type", [1, 2, 3, 4])
def test_cosines_and_sines(name, type):
    for size in (11, 12):
        for norm in (None, "ortho", "forward"):
            agrees(_named(name, type=type, norm=norm), X[:size])
    agrees(lambda x: getattr(scipy.fft, name)(x, type, norm="ortho", orthogonalize=False), X)


@pytest.mark.parametrize("name", ["dct", "idct", "dst", "idst"])
def test_lengths_axes_and_types(name):
    agrees(lambda x: getattr(scipy.fft, name)(x, n=8, axis=0), IMAGE)
    agrees(lambda x: getattr(scipy.fft, f"{name}n")(x, s=(4, 7)), IMAGE)
    agrees(lambda x: getattr(scipy.fft, f"{name}n")(x, axes=1), IMAGE)
    agrees(lambda x: getattr(scipy.fft, name)(x), X.astype("float32"), rtol=1e-5)
    agrees(lambda x: getattr(scipy.fft, name)(x), np.arange(6))
    check_slopes(lambda x: getattr(scipy.fft, name)(x), X)


def test_fourier_transforms():
    for name in ("fft", "ifft", "hfft", "irfft"):
        agrees(_named(name, n=9, norm="ortho", workers=2), X + 1j * X[::-1])
    for name in ("rfft", "ihfft"):
        agrees(_named(name, overwrite_x=True), X)
    for name in ("fft2", "ifft2", "irfft2", "fftn", "ifftn", "irfftn", "hfft2", "hfftn"):
        agrees(_named(name, norm="forward"), IMAGE + 1j)
    for name in ("rfft2", "rfftn", "ihfft2", "ihfftn"):
        agrees(_named(name), IMAGE)
    agrees(lambda x: scipy.fft.fftshift(scipy.fft.ifftshift(x), axes=0), IMAGE)


def test_what_is_refused():
    with pytest.raises(NxTypeError, match="dct takes real numbers, got c128"):
        nx.jit(lambda x: scipy.fft.dct(x))(X + 1j)
    with pytest.raises(NxValueError, match=r'norm is "backward", "ortho" or "forward", got \'round\''):
        nx.jit(lambda x: scipy.fft.dct(x, norm="round"))(X)
