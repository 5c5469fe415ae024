"""matplotlib draws tensors and arrays without a conversion."""

import numpy as np
import pytest

import nxkernel as nx
import nxkernel.numpy as nnp

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
pytest.importorskip("matplotlib.backends.backend_agg")
pytest.importorskip("matplotlib.figure")
matplotlib.use("Agg")

RNG = np.random.default_rng(0)
X, Y, M = np.linspace(0, 1, 20), RNG.random(20), RNG.random((10, 12))
PIXELS = RNG.integers(0, 256, (8, 8, 3), dtype=np.uint8)
DRAWN = {
    "plot": lambda ax, to: ax.plot(to(X), to(Y)),
    "plot of scalars": lambda ax, to: ax.plot(range(3), [to(np.float64(each)) for each in (3.0, 2.0, 1.0)], "o-"),
    "imshow": lambda ax, to: ax.imshow(to(M), vmin=to(np.float64(0)), vmax=to(np.float64(1))),
    "imshow of colours": lambda ax, to: ax.imshow(to(PIXELS)),
    "hist": lambda ax, to: ax.hist(to(Y), bins=to(X), weights=to(X)),
    "hist2d": lambda ax, to: ax.hist2d(to(X), to(Y)),
    "scatter": lambda ax, to: ax.scatter(to(X), to(Y), c=to(Y), s=to(Y) * 10),
    "bar": lambda ax, to: ax.bar(to(X), to(Y), yerr=to(Y)),
    "errorbar": lambda ax, to: ax.errorbar(to(X), to(Y), yerr=to(Y), xerr=to(np.float64(0.1))),
    "fill_between": lambda ax, to: ax.fill_between(to(X), to(Y), to(Y) + 1, where=to(X) < 0.5),
    "contour": lambda ax, to: ax.contour(to(M), levels=to(np.linspace(0, 1, 5))),
    "lines": lambda ax, to: (ax.axhline(to(np.float64(0.5))), ax.set_xlim(to(np.float64(0)), to(np.float64(1)))),
    "text": lambda ax, to: ax.text(to(X)[1], to(Y)[1], f"{to(Y)[1]:.2f}"),
}


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("make", [nx.tensor, nnp.array])
@pytest.mark.parametrize("what", DRAWN)
def test_a_figure_is_that_of_numpys_arrays(what, make):
    drawn = []
    for to in (np.asarray, make):
        figure = matplotlib.figure.Figure(figsize=(2, 2), dpi=50)
        canvas = matplotlib.backends.backend_agg.FigureCanvasAgg(figure)
        DRAWN[what](figure.add_subplot(), to)
        canvas.draw()
        drawn.append(np.asarray(canvas.buffer_rgba()).copy())
    np.testing.assert_array_equal(*drawn)
