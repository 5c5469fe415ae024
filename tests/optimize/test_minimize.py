"""`minimize`: SciPy's results, gradients of minima, entries, rules, and what it refuses."""

import numpy as np
import pytest
from scipy import optimize as scipy_optimize

import nxkernel as nx
from nxkernel import optimize
from nxkernel.errors import NxAttributeError, NxTypeError, NxValueError

METHODS = ("BFGS", "L-BFGS-B", "Newton-CG", "Nelder-Mead")
#: The same, of which one method is in the default lane.
ONE_QUICK = [METHODS[0], *(pytest.param(name, marks=pytest.mark.slow) for name in METHODS[1:])]


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def powell(x):
    first = (x[0] + 10 * x[1]) ** 2 + 5 * (x[2] - x[3]) ** 2
    return first + (x[1] - 2 * x[2]) ** 4 + 10 * (x[0] - x[3]) ** 4


def far(x):
    return np.sum((x - 3.0) ** 2 * np.array([1.0, 2.0]))


def by_nx(x, a):
    return nx.sum((x - a) ** 2 * (1 + x**2))


@pytest.mark.parametrize("method", ONE_QUICK)
def test_rosenbrock(method):
    found = optimize.minimize(rosenbrock, [-1.2, 1.0], method=method, tol=1e-8)
    np.testing.assert_allclose(found.x, [1, 1], atol=1e-5)
    assert found.success is True
    assert found.status == 0
    assert found.message == "Optimization terminated successfully."
    assert type(found.x) is np.ndarray
    assert found["nit"] == found.nit > 10
    assert found.fun == pytest.approx(rosenbrock(found.x), abs=1e-20)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["BFGS", "Nelder-Mead"])
def test_powell_is_as_near_as_scipys(method):
    start = [3.0, -1.0, 0.0, 1.0]
    found = optimize.minimize(powell, start, method=method)
    assert found.fun <= 2 * scipy_optimize.minimize(powell, start, method=method).fun


@pytest.mark.slow
def test_nelder_mead_goes_where_scipys_goes():
    options = {"maxiter": 60}
    found = optimize.minimize(rosenbrock, [1.3, 0.7, 0.8], method="nelder-mead", options=options)
    expected = scipy_optimize.minimize(rosenbrock, [1.3, 0.7, 0.8], method="nelder-mead", options=options)
    np.testing.assert_allclose(found.x, expected.x, rtol=1e-10)
    assert (found.nit, found.nfev, found.success) == (expected.nit, expected.nfev, expected.success)
    assert found.message == "Maximum number of iterations or of function evaluations has been exceeded."
    np.testing.assert_allclose(found.final_simplex[0], expected.final_simplex[0], rtol=1e-9)


@pytest.mark.slow
def test_derivatives_of_the_persons():
    both = optimize.minimize(lambda x: (far(x), 2 * (x - 3.0) * np.array([1.0, 2.0])), [0, 0], jac=True)
    slope = optimize.minimize(far, [0, 0], jac=lambda x: 2 * (x - 3.0) * np.array([1.0, 2.0]))
    curved = optimize.minimize(far, [0, 0], method="Newton-CG", hess=lambda x: np.diag([2.0, 4.0]))
    product = optimize.minimize(far, [0, 0], method="Newton-CG", hessp=lambda x, p: np.array([2.0, 4.0]) * p)
    for found in (both, slope, curved, product):
        np.testing.assert_allclose(found.x, [3, 3], atol=1e-6)


def test_another_start_or_tolerance_does_not_compile():
    def shifted(x, by, weights):
        return np.sum(weights["a"] * (x - by) ** 2)

    weights = {"a": np.ones(2)}
    optimize.minimize(shifted, [0.0, 1.0], args=(1.0, weights))
    with nx.no_compile():
        found = optimize.minimize(shifted, [5, 2], args=(2.0, weights), tol=1e-9, options={"maxiter": 50})
    np.testing.assert_allclose(found.x, [2, 2], atol=1e-8)


@pytest.mark.slow
def test_types_follow_the_start():
    assert optimize.minimize(rosenbrock, np.array([-1.2, 1], "f4"), tol=1e-3).x.dtype == np.float32
    assert optimize.minimize(lambda x: x[0] ** 2 + 1, 3).x.shape == (1,)
    found = optimize.minimize(lambda x: nx.sum((x - 1) ** 2), nx.tensor([3.0, 4.0]))
    assert isinstance(found.x, nx.Tensor)
    assert found.x.type == "f32"
    assert isinstance(optimize.minimize(lambda x: x[0] ** 2, nx.tensor([1.0], type="f64")).x, nx.Tensor)


@pytest.mark.slow
def test_gradients_are_those_of_the_minimum():
    def minimum(a):
        return optimize.minimize(by_nx, np.full(2, 0.5), args=(a,), method="Newton-CG", tol=1e-12).x

    a, step = np.array([1.0, 2.5]), 1e-5
    found = nx.jacobian(minimum)(a)
    sides = [(minimum(a + step * unit) - minimum(a - step * unit)) / (2 * step) for unit in np.eye(2)]
    np.testing.assert_allclose(found, np.stack([side.numpy() for side in sides], 1), atol=1e-6)
    # x solves (x - a)(1 + x²) + x (x - a)² = 0, whose second derivative of x by a is known.
    twice = nx.hessian(lambda a: minimum(a)[1])(a)
    step = 1e-3
    far_, near, here = (float(minimum(a + np.array([0, by]))[1]) for by in (step, -step, 0))
    assert float(twice[1, 1]) == pytest.approx((far_ + near - 2 * here) / step**2, abs=1e-4)


@pytest.mark.slow
def test_in_definitions_and_for_entries():
    @nx.defn
    def fitted(a, x0):
        found = optimize.minimize(lambda x: np.sum((x - a) ** 2), x0)
        return found.x, found.success

    assert [np.asarray(part).tolist() for part in fitted(np.array([1.0, 2.0]), np.zeros(2))] == [[1, 2], True]
    starts = np.array([[-1.2, 1.0], [2.0, 2.0], [0.0, 0.0]])
    for method in METHODS:
        found = nx.vmap(lambda x0, method=method: optimize.minimize(rosenbrock, x0, method=method, tol=1e-7))(starts)
        np.testing.assert_allclose(found.x, np.ones((3, 2)), atol=1e-4)
        assert found.message == ["Optimization terminated successfully."] * 3


def test_the_message_of_a_traced_result_is_not_known():
    with pytest.raises(NxTypeError, match="In a definition, ask for"):
        nx.jit(lambda x: optimize.minimize(rosenbrock, x).message)(np.zeros(2))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "status", "text"),
    [
        (lambda x: np.log(x[0]), 3, "The function or its gradient is NaN or infinite."),
        (lambda x: np.abs(x[0] - 1) ** 0.5, 2, "Desired error not necessarily achieved due to precision loss."),
    ],
)
def test_what_does_not_converge_says_so(function, status, text):
    found = optimize.minimize(function, [-1.0])
    assert (found.status, found.success, found.message) == (status, False, text)


@pytest.mark.slow
def test_disp_prints(capsys):
    optimize.minimize(far, [0, 0], options={"disp": True})
    assert capsys.readouterr().out.startswith("Optimization terminated successfully.\n    fun: ")


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: optimize.minimize(3, [0.0]), NxTypeError, "minimize: fun is a function, got 3"),
        (lambda: optimize.minimize(far, [0, 0], method="BFG"), NxValueError, "Did you mean 'BFGS'"),
        (lambda: optimize.minimize(far, [0, 0], method="SLSQP"), NxValueError, "takes bounds and constraints"),
        (lambda: optimize.minimize(far, [0, 0], bounds=[(0, 1)] * 2), NxTypeError, "takes no bounds"),
        (lambda: optimize.minimize(far, [0, 0], constraints={"type": "eq"}), NxTypeError, "takes no constraints"),
        (lambda: optimize.minimize(far, [0, 0], callback=print), NxTypeError, "takes no callback"),
        (lambda: optimize.minimize(far, [0, 0], jac="2-point"), NxTypeError, "derived from fun, exactly"),
        (lambda: optimize.minimize(far, [0, 0], options={"gtl": 1}), NxTypeError, "BFGS has no option 'gtl'"),
        (lambda: optimize.minimize(far, [0, 0], options={"maxiter": 1.5}), NxTypeError, "maxiter is a whole number"),
        (
            lambda: optimize.minimize(far, [[0, 0]]),
            NxValueError,
            "x0 is a vector of at least one number, got the shape",
        ),
        (lambda: optimize.minimize(far, []), NxValueError, "x0 is a vector of at least one number"),
        (lambda: optimize.minimize(far, ["a"]), NxTypeError, "x0 is an array of numbers, got a list"),
        (lambda: optimize.minimize(far, [1j, 2]), NxTypeError, "x0 is complex"),
        (lambda: optimize.minimize(lambda x: x, [0, 0]), NxValueError, "gives one number, got f64\\[2\\]"),
        (lambda: optimize.minimize(lambda x: None, [0, 0]), NxTypeError, "gives None"),
        (lambda: optimize.minimize(far, [0, 0]).nope, NxAttributeError, "It has x, fun, status"),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()
