"""`trapezoid`, `simpson` and `cumulative_trapezoid`: SciPy's results and types, gradients, and what they refuse."""

import numpy as np
import pytest
from scipy import integrate as scipy_integrate

import nxkernel as nx
from nxkernel import integrate
from nxkernel.errors import NxValueError

NAMES = ("trapezoid", "simpson", "cumulative_trapezoid")


@pytest.mark.parametrize("name", ["trapezoid", *(pytest.param(name, marks=pytest.mark.slow) for name in NAMES[1:])])
def test_what_scipy_gives(name):
    ours, theirs = getattr(integrate, name), getattr(scipy_integrate, name)
    random = np.random.default_rng(3)
    for count in (2, 3, 8):
        y, x = random.normal(size=(3, count)), np.sort(random.normal(size=count))
        for options in ({}, {"dx": 0.3}, {"x": x}):
            for values, more in ((y, {}), (y.T, {"axis": 0}), (y[0], {})):
                found, expected = ours(values, **options, **more), theirs(values, **options, **more)
                np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)
                assert type(found) is type(expected)
    np.testing.assert_allclose(ours(np.array([1, 2, 4, 8])), theirs(np.array([1, 2, 4, 8])), rtol=1e-14)
    np.testing.assert_allclose(
        integrate.cumulative_trapezoid(y, x=np.tile(x, (3, 1)), initial=0),
        scipy_integrate.cumulative_trapezoid(y, x=np.tile(x, (3, 1)), initial=0), rtol=1e-11,
    )  # fmt: skip


def test_tensors_gradients_and_complex_numbers():
    found = integrate.simpson(nx.tensor([0, 1, 4]))
    assert (float(found), found.type) == (pytest.approx(8 / 3, rel=1e-6), "f32")
    assert np.asarray(nx.grad(lambda y: integrate.trapezoid(y, dx=2.0))(np.ones(3))).tolist() == [1, 2, 1]
    assert integrate.trapezoid([1, 1j]) == 0.5 + 0.5j


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: integrate.trapezoid([]), "y has no samples along axis -1, its shape is \\(0,\\)"),
        (lambda: integrate.simpson([1.0, 2.0], axis=1), "no samples along axis 1"),
        (lambda: integrate.simpson([1.0, 2.0], x=[1, 2, 3]), "as many elements as y along axis -1, 2, got the shape"),
        (lambda: integrate.cumulative_trapezoid([1.0, 2.0], initial=1), "initial is None or 0, got 1"),
    ],
)
def test_refusals(call, text):
    with pytest.raises(NxValueError, match=text):
        call()
