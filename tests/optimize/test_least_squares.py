"""`least_squares`: NIST's certified values, SciPy's results, gradients, and what it refuses."""

import warnings

import numpy as np
import pytest
from scipy import optimize as scipy_optimize

import nxkernel as nx
from nxkernel import optimize
from nxkernel.errors import NxTypeError, NxValueError
from tests.helpers import nist_regressions

REGRESSIONS = {one.name: one for one in nist_regressions.read()}
#: In the default lane.
QUICK = ("BoxBOD",)
TIGHT = {"ftol": 1e-15, "xtol": 1e-15, "gtol": 1e-15, "max_nfev": 20_000}


def test_all_regressions_are_there():
    assert len(REGRESSIONS) == 27
    for one in REGRESSIONS.values():
        assert np.sum(one.residuals(one.certified, one.x, one.y) ** 2) == pytest.approx(
            one.squares, rel=1e-4, abs=1e-20
        )


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in REGRESSIONS]
)
def test_nists_regressions(name):
    """As many digits of the certified values as SciPy's best method has, from both starts."""
    one = REGRESSIONS[name]
    for start in one.starts:
        found = optimize.least_squares(one.residuals, start, args=(one.x, one.y), **TIGHT)
        assert found.success
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = scipy_optimize.least_squares(one.residuals, start, args=(one.x, one.y), method="lm", **TIGHT)
        # Beyond six digits, a unit of rounding in the last iteration decides.
        assert one.digits(found.x) >= min(one.digits(theirs.x), 6.4)


def exponential(p, t, y):
    return p[0] * np.exp(-p[1] * t) - y


T = np.linspace(0, 4, 20)
Y = 3 * np.exp(-0.5 * T) + 0.01 * np.cos(7 * T)


def test_what_scipy_gives():
    found = optimize.least_squares(exponential, [1, 1], args=(T, Y))
    expected = scipy_optimize.least_squares(exponential, [1, 1], args=(T, Y))
    for name in ("x", "cost", "fun", "jac"):
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-5, atol=1e-8)
    assert found.active_mask.tolist() == [0, 0]
    assert found.optimality == pytest.approx(0, abs=1e-6)
    assert found.message == "`gtol` termination condition is satisfied."
    with nx.no_compile():
        optimize.least_squares(exponential, [2, 0.1], args=(T, Y + 1), ftol=1e-3, xtol=None, max_nfev=30)


@pytest.mark.slow
def test_options():
    by_name = optimize.least_squares(
        lambda p, t, y, power: p[0] * t**power - y, [1.0], args=(T,), kwargs={"y": 3 * T**2, "power": 2}
    )
    assert by_name.x[0] == pytest.approx(3)
    scaled = optimize.least_squares(exponential, [1, 1], args=(T, Y), x_scale=[1.0, 0.1], bounds=(-np.inf, np.inf))
    jacobian = optimize.least_squares(
        exponential, [1, 1], args=(T, Y),
        jac=lambda p, t, y: np.stack([np.exp(-p[1] * t), -p[0] * t * np.exp(-p[1] * t)], axis=1),
    )  # fmt: skip
    np.testing.assert_allclose(scaled.x, jacobian.x, rtol=1e-6)
    assert optimize.least_squares(exponential, [1, 1], args=(T, Y), max_nfev=2).status == 0
    wide = optimize.least_squares(lambda x: [x[0] + x[1] - 2], [0.0, 0.0])
    assert wide.x.tolist() == pytest.approx([1, 1])
    assert optimize.least_squares(lambda x: np.log(x - 5), [1.0]).message.endswith("NaN or infinite.")


@pytest.mark.slow
def test_gradients_and_entries():
    def fitted(y):
        return optimize.least_squares(exponential, np.ones(2), args=(T, y), **TIGHT).x

    found, step = nx.jacobian(fitted)(Y), 1e-3
    for place in (0, 7):
        unit = np.zeros(20)
        unit[place] = step
        np.testing.assert_allclose(found[:, place], (fitted(Y + unit) - fitted(Y - unit)) / (2 * step), rtol=1e-4)
    many = nx.vmap(lambda y: optimize.least_squares(exponential, np.ones(2), args=(T, y)).x)(np.stack([Y, 2 * Y]))
    np.testing.assert_allclose(many[1], [2 * many[0, 0], many[0, 1]], rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: optimize.least_squares(exponential, [1, 1], bounds=(0, 1)), NxTypeError, "takes no bounds"),
        (lambda: optimize.least_squares(exponential, [1, 1], method="trf"), NxValueError, "'lm', got 'trf'"),
        (lambda: optimize.least_squares(exponential, [1, 1], loss="soft_l1"), NxValueError, "Weigh the residuals"),
        (lambda: optimize.least_squares(exponential, [1, 1], jac="2-point"), NxTypeError, "is a difference"),
        (lambda: optimize.least_squares(lambda x: np.ones((2, 2)) * x[0], [1.0]), NxValueError, "gives a vector"),
        (lambda: optimize.least_squares(lambda x: x + 1j, [1.0]), NxTypeError, "gives complex numbers"),
        (lambda: optimize.least_squares(lambda x: x, [1.0], jac=lambda x: x), NxValueError, "gives 1 rows of 1 el"),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()
