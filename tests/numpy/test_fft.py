"""Fourier transforms, compared with NumPy's."""

import numpy as np
import pytest

from numpy_comparison.traced_functions import check

M = np.array([[3, 1, 4, 1], [5, 9, 2, 6], [5, 3, 5, 8]])

ROWS = {
    "of one axis": lambda np, m: (
        np.fft.fft(m),
        np.fft.ifft(m, axis=0),
        np.fft.rfft(m),
        np.fft.irfft(m),
        np.fft.fft(m, 6),
    ),
    "of several axes": lambda np, m: (np.fft.fft2(m), np.fft.ifft2(m), np.fft.rfft2(m), np.fft.fftn(m)),
    "norms": lambda np, m: (np.fft.fft(m, norm="ortho"), np.fft.ifft(m, norm="forward")),
    "places": lambda np, m: (
        np.fft.fftfreq(5, 0.1),
        np.fft.rfftfreq(6),
        np.fft.fftshift(m),
        np.fft.ifftshift(m, axes=1),
    ),
}


@pytest.mark.parametrize("kind", ["f8", "f4", "i4"])
@pytest.mark.parametrize("function", ROWS.values(), ids=ROWS)
def test_values_and_types(function, kind):
    check(function, M.astype(kind), rtol=1e-5 if kind == "f4" else 1e-12)
