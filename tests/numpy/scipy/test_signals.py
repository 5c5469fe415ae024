"""scipy.signal in programs."""

import numpy as np
import pytest
import scipy.signal as ss

import nxkernel as nx
from numpy_comparison.slopes import check_slopes
from nxkernel.errors import NxTypeError, NxValueError

RNG = np.random.default_rng(3)
X, IMAGE, KERNEL = RNG.normal(size=12), RNG.normal(size=(5, 6)), RNG.normal(size=(2, 3))
NUMERATOR, DENOMINATOR = np.array([0.2, 0.3, 0.1]), np.array([2.0, 0.5, 0.1])


def agrees(function, *arrays):
    found, wanted = nx.jit(function, promotion="numpy", compiler="evaluator")(*arrays), function(*arrays)
    pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
    for one, other in pairs:
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("name", ["convolve", "correlate", "fftconvolve"])
def test_convolution(name, mode):
    def call(a, b):
        return getattr(ss, name)(a, b, mode)

    agrees(call, X, X[:5])
    agrees(call, X, X[:4])
    agrees(call, X[:4], X)
    agrees(call, IMAGE, KERNEL)
    agrees(call, X + 1j * X[::-1], X[:4] * 1j + 1)
    if name != "fftconvolve":
        agrees(call, np.arange(7), np.arange(3))


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("boundary", ["fill", "wrap", "symm"])
def test_convolution_of_matrices(mode, boundary):
    def convolved(a, b):
        return ss.convolve2d(a, b, mode, boundary), ss.correlate2d(a, b, mode, boundary)

    for kernel in (KERNEL, IMAGE[:3, :3].copy()):
        agrees(convolved, IMAGE, kernel)
    agrees(lambda a, b: ss.convolve2d(a, b, mode, fillvalue=2.5), IMAGE, KERNEL)


def test_trends():
    agrees(lambda x: (ss.detrend(x), ss.detrend(x, type="constant"), ss.detrend(x, bp=[5])), X)
    agrees(lambda x: ss.detrend(x, axis=0), IMAGE)


def test_filters():
    agrees(lambda b, a, x: ss.lfilter(b, a, x), NUMERATOR, DENOMINATOR, X)
    agrees(lambda b, a, x: ss.lfilter(b, a, x, axis=0), NUMERATOR, DENOMINATOR, IMAGE)
    agrees(lambda b, a, x, z: ss.lfilter(b, a, x, zi=z), NUMERATOR, DENOMINATOR, X, np.array([0.1, 0.2]))
    sections = ss.butter(4, 0.3, output="sos")
    agrees(lambda x: ss.sosfilt(sections, x), X)
    agrees(lambda x, z: ss.sosfilt(sections, x, zi=z), X, ss.sosfilt_zi(sections))


def test_gradients():
    check_slopes(lambda a, b: ss.convolve(a, b, "same"), X, X[:3])
    check_slopes(lambda a, b: ss.convolve2d(a, b), IMAGE, KERNEL)
    check_slopes(lambda b, a, x: ss.lfilter(b, a, x), NUMERATOR, DENOMINATOR, IMAGE)
    check_slopes(lambda x: ss.sosfilt(ss.butter(2, 0.3, output="sos"), x), X)
    check_slopes(lambda x: ss.detrend(x), X)


def test_how_a_convolution_would_be_computed():
    def chosen(a, b):
        return a * (1 if ss.choose_conv_method(a, b) == "direct" else 2)

    agrees(chosen, X, X[:3])
    agrees(chosen, np.arange(5), np.arange(3))


def test_what_is_refused():
    with pytest.raises(NxValueError, match=r'mode is "full", "same" or "valid", got \'half\''):
        nx.jit(lambda x: ss.convolve(x, x, "half"))(X)
    with pytest.raises(NxValueError, match="convolve takes arrays of as many axes, got 1 and 2"):
        nx.jit(lambda x, y: ss.convolve(x, y))(X, IMAGE)
    with pytest.raises(NxTypeError, match="fftconvolve goes over all axes here"):
        nx.jit(lambda x: ss.fftconvolve(x, x, axes=0))(IMAGE)
    with pytest.raises(NxValueError, match=r'boundary is "fill", "wrap" or "symm", got \'open\''):
        nx.jit(lambda x: ss.convolve2d(x, x, boundary="open"))(IMAGE)
    with pytest.raises(NxValueError, match=r'type is "linear" or "constant", got \'round\''):
        nx.jit(lambda x: ss.detrend(x, type="round"))(X)
    with pytest.raises(NxValueError, match="a break is at most at 12, the number of elements, got 20"):
        nx.jit(lambda x: ss.detrend(x, bp=20))(X)
