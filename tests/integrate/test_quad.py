"""`quad`: known integrals, SciPy's where there is no formula, gradients, entries, warnings, and what it refuses."""

import numpy as np
import pytest
from scipy import integrate as scipy_integrate

import nxkernel as nx
from nxkernel import integrate
from nxkernel.errors import NxTypeError, NxValueError

INF = np.inf
KNOWN = [
    (lambda x: x**2, 0, 3, 9),
    (lambda x: x, 3, 0, -4.5),
    (lambda x: np.exp(x), 2, 2, 0),
    (lambda x: 1 / np.sqrt(x), 0, 1, 2),
    (lambda x: np.log(x), 0, 1, -1),
    (lambda x: np.abs(x - 0.3), 0, 1, 0.29),
    (lambda x: np.sin(50 * x), 0, 1, (1 - np.cos(50)) / 50),
    (lambda x: 1 / (1e-4 + x * x), -1, 1, 200 * np.arctan(100)),
    (lambda x: np.exp(-(x**2)), -INF, INF, np.sqrt(np.pi)),
    (lambda x: np.exp(-x), 0, INF, 1),
    (lambda x: 1 / (1 + x * x), -INF, 0, np.pi / 2),
    (lambda x: x * np.exp(-(x**2)), INF, 0, -0.5),
]


@pytest.mark.parametrize(
    "case", [place if place in (0, 8) else pytest.param(place, marks=pytest.mark.slow) for place in range(len(KNOWN))]
)
def test_known_integrals(case):
    function, a, b, expected = KNOWN[case]
    value, error = integrate.quad(function, a, b)
    assert (type(value), type(error)) == (float, float)
    assert abs(value - expected) <= max(error, 1e-13) <= 1e-7


def test_what_scipy_gives_of_a_branch_with_arguments():
    def bent(x, a, c):
        if x < 0.5:
            return a * x
        return c[0] * np.cos(x)

    arguments = (2.0, np.array([3.0]))
    found, *_ = integrate.quad(bent, 0, 1, args=arguments, epsabs=1e-12)
    expected = scipy_integrate.quad(bent, 0, 1, args=arguments, points=[0.5])[0]
    assert found == pytest.approx(expected, rel=1e-11)
    with nx.no_compile():
        integrate.quad(bent, 0, 0.8, args=(1.0, np.array([2.0])), epsrel=1e-3)


@pytest.mark.slow
def test_gradients_and_entries():
    def decaying(a, b, c):
        return integrate.quad(lambda x, c: np.exp(-c * x), a, b, args=(c,))[0]

    found = nx.grad(decaying, argnums=(0, 1, 2))(*np.array([0.0, 2.0, 0.5]))
    np.testing.assert_allclose(found, [-1, np.exp(-1), 8 * np.exp(-1) - 4], rtol=1e-12)
    twice = nx.grad(nx.grad(lambda c: decaying(np.float64(0), np.float64(1), c)))(np.float64(0))
    assert float(twice) == pytest.approx(1 / 3)
    found, errors = nx.vmap(lambda c: integrate.quad(lambda x: np.exp(-c * x), 0, INF))(np.array([1.0, 2.0, 4.0]))
    np.testing.assert_allclose(found, [1, 0.5, 0.25], rtol=1e-12)
    assert errors.shape == (3,)


@pytest.mark.slow
def test_types():
    assert isinstance(nx.jit(lambda b: integrate.quad(lambda x: nx.sin(x), 0.0, b)[0])(2.0), nx.Tensor)
    value, _ = integrate.quad(lambda x: nx.sin(x), nx.tensor(0.0), nx.tensor(2.0))
    assert value == pytest.approx(1 - np.cos(2), abs=1e-6)


@pytest.mark.slow
def test_what_is_not_exact_warns():
    with pytest.warns(integrate.IntegrationWarning, match=r"maximum number of subdivisions \(12\) has been achieved"):
        integrate.quad(lambda x: x**-0.9, 0, 1, limit=12)
    *_, details, text = integrate.quad(lambda x: np.sqrt(x - 0.5), 0, 1, full_output=1)
    assert text == "The function is NaN or infinite at a point."
    assert details == {"neval": 210, "last": 10}
    assert integrate.quad(lambda x: x, 0, 1, full_output=True)[2] == {"neval": 210, "last": 10}


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: integrate.quad(3, 0, 1), NxTypeError, "func is a function, got 3"),
        (lambda: integrate.quad(lambda x: [x, x], 0, 1), NxValueError, "gives one number, got f64\\[2\\]"),
        (
            lambda: integrate.quad(np.sin, 0, [1, 2]),
            NxValueError,
            "a limit is a number, got an array of shape \\(2,\\)",
        ),
        (lambda: integrate.quad(np.sin, 0, 1, points=[0.5]), NxTypeError, "quad takes no points"),
        (lambda: integrate.quad(np.sin, 0, 1, weight="cos"), NxTypeError, "quad takes no weight"),
        (lambda: integrate.quad(np.sin, 0, 1, limit=0), NxValueError, "limit is at least 1"),
        (lambda: integrate.quad(lambda x: 1j * x, 0, 1), NxTypeError, "gives complex numbers"),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()
