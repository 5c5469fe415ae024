"""`solve_ivp`: SciPy's steps, values at times, gradients, entries, and what it refuses."""

import numpy as np
import pytest
from scipy import integrate as scipy_integrate

import nxkernel as nx
from nxkernel import integrate
from nxkernel.errors import NxTypeError, NxValueError

EXPLICIT = ("RK45", "RK23", "DOP853")


def van_der_pol(t, y, mu):
    return [y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]]


def three_bodies(t, state):
    places = state[:6].reshape(3, 2)
    apart = places[None, :, :] - places[:, None, :]
    pull = (np.sum(apart * apart, axis=2) + np.eye(3)) ** -1.5
    return np.concatenate([state[6:], np.sum(apart * pull[:, :, None], axis=1).reshape(-1)])


#: An orbit of the form of an eight.
EIGHT = np.array([0.97000436, -0.24308753, -0.97000436, 0.24308753, 0, 0, *[0.466203685, 0.43236573] * 2])
EIGHT = np.concatenate([EIGHT, [-0.93240737, -0.86473146]])


@pytest.mark.parametrize("method", ["RK45", *(pytest.param(one, marks=pytest.mark.slow) for one in EXPLICIT[1:])])
def test_steps_are_scipys(method):
    options = {"method": method, "args": (1.5,), "rtol": 1e-5, "atol": [1e-8, 1e-7], "max_step": 0.9}
    found = integrate.solve_ivp(van_der_pol, (0, 7), [2, 0.5], dense_output=True, **options)
    expected = scipy_integrate.solve_ivp(van_der_pol, (0, 7), [2, 0.5], dense_output=True, **options)
    np.testing.assert_allclose(found.t, expected.t, rtol=1e-9)
    np.testing.assert_allclose(found.y, expected.y, rtol=1e-8, atol=1e-9)
    assert (found.nfev, found.status, found.success) == (expected.nfev, 0, True)
    assert found.message == expected.message
    times = np.linspace(0, 7, 23)
    np.testing.assert_allclose(found.sol(times), expected.sol(times), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(found.sol(3.21), expected.sol(3.21), rtol=1e-8)
    assert repr(found.sol) == f"<solution from 0 to 7, {len(found.t) - 1} steps>"


@pytest.mark.slow
@pytest.mark.parametrize("method", ["RK45", "DOP853"])
def test_values_at_times(method):
    times = np.linspace(0, 6, 31)
    options = {"method": method, "rtol": 1e-7, "atol": 1e-9, "t_eval": times}
    found = integrate.solve_ivp(three_bodies, (0, 6), EIGHT, **options)
    expected = scipy_integrate.solve_ivp(three_bodies, (0, 6), EIGHT, **options)
    np.testing.assert_allclose(found.y, expected.y, atol=1e-10)
    assert (found.t.tolist(), found.nfev) == (times.tolist(), expected.nfev)


@pytest.mark.slow
def test_backward_and_of_both_at_once():
    options = {"args": (1.0,), "t_eval": [8.0, 3.0, 0.5], "rtol": 1e-6}
    found = integrate.solve_ivp(van_der_pol, (8, 0), [2.0, 0.0], dense_output=True, **options)
    expected = scipy_integrate.solve_ivp(van_der_pol, (8, 0), [2.0, 0.0], **options)
    np.testing.assert_allclose(found.y, expected.y, rtol=1e-9)
    np.testing.assert_allclose(found.sol([8.0, 3.0, 0.5]), expected.y, rtol=1e-9)


def robertson(t, y):
    first, second, third = 0.04 * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] ** 2
    return [second - first, first - second - third, third]


@pytest.mark.slow
def test_stiff_equations():
    options = {"method": "Radau", "rtol": 1e-6, "atol": 1e-10, "dense_output": True}
    found = integrate.solve_ivp(robertson, (0, 1e11), [1, 0, 0], **options)
    expected = scipy_integrate.solve_ivp(robertson, (0, 1e11), [1.0, 0.0, 0.0], **options)
    np.testing.assert_allclose(found.y[:, -1], expected.y[:, -1], rtol=1e-5, atol=1e-14)
    assert len(found.t) == pytest.approx(len(expected.t), abs=5)
    assert found.nfev == pytest.approx(expected.nfev, rel=0.05)
    assert (found.status, found.njev > 0, found.nlu > 0) == (0, True, True)
    times = np.logspace(-4, 11, 9)
    np.testing.assert_allclose(found.sol(times), expected.sol(times), rtol=1e-3, atol=1e-9)


@pytest.mark.slow
def test_radau_with_a_jacobian_its_gradient_and_entries():
    def decaying(t, y, rate):
        return [-rate * (y[0] - np.cos(t)), y[0] - y[1]]

    def at_end(rate, **options):
        options |= {"method": "Radau", "rtol": 1e-8, "atol": 1e-10, "t_eval": [1.5]}
        return integrate.solve_ivp(decaying, (0, 1.5), [0.0, 1.0], args=(rate,), **options).y[1, -1]

    given = at_end(1000.0, jac=lambda t, y, rate: [[-rate, 0.0], [1.0, -1.0]])
    expected = scipy_integrate.solve_ivp(
        decaying, (0, 1.5), [0.0, 1.0], args=(1000.0,), method="Radau", rtol=1e-10, atol=1e-12
    )
    assert given == pytest.approx(expected.y[1, -1], rel=1e-7)
    step = 1e-3
    slope = nx.grad(lambda rate: at_end(rate, max_steps=200))(np.float64(50))
    assert float(slope) == pytest.approx((at_end(50 + step) - at_end(50 - step)) / (2 * step), rel=1e-4)
    many = nx.vmap(lambda rate: at_end(rate))(np.array([10.0, 1000.0]))
    assert float(many[1]) == pytest.approx(given, rel=1e-7)


@pytest.mark.slow
def test_more_steps_than_one_call_writes():
    options = {"args": (1.0,), "method": "RK23", "rtol": 1e-7, "atol": 1e-9}
    found = integrate.solve_ivp(van_der_pol, (0, 20), [2.0, 0.0], **options)
    expected = scipy_integrate.solve_ivp(van_der_pol, (0, 20), [2.0, 0.0], **options)
    assert len(found.t) == len(expected.t) > 1025
    np.testing.assert_allclose(found.y[:, -1], expected.y[:, -1], rtol=1e-7)


@pytest.mark.slow
def test_types():
    def turning(t, y):
        return 1j * y

    complex_ = integrate.solve_ivp(turning, (0, 1), [1 + 0j], rtol=1e-8)
    assert complex_.y[0, -1] == pytest.approx(np.exp(1j), abs=1e-6)
    assert integrate.solve_ivp(lambda t, y: -y, (0, 1), np.ones(2, "f4")).y.dtype == np.float32
    of_nx = integrate.solve_ivp(lambda t, y: -t * nx.sin(y), (0, 1), nx.tensor([1.0, 2.0]))
    assert (of_nx.y.type, of_nx.t.type, of_nx.y.shape[0]) == ("f32", "f32", 2)
    nothing = integrate.solve_ivp(lambda t, y: -y, (1, 1), [3.0], t_eval=[1.0])
    assert (nothing.y.tolist(), nothing.status) == ([[3.0]], 0)


def test_other_times_and_tolerances_do_not_compile():
    integrate.solve_ivp(van_der_pol, (0, 2), [2.0, 0.0], args=(1.0,))
    integrate.solve_ivp(van_der_pol, (0, 2), [2.0, 0.0], args=(1.0,), t_eval=[1.0, 2.0])
    with nx.no_compile():
        options = {"args": (2.0,), "rtol": 1e-6, "atol": 1e-8, "first_step": 0.01, "max_step": 0.3}
        integrate.solve_ivp(van_der_pol, (3, 0), [1, 1], **options)
        integrate.solve_ivp(van_der_pol, (3, 0), [1, 1], t_eval=[2.0, 0.0], **options)


@pytest.mark.slow
def test_what_does_not_end_says_so():
    blown_up = integrate.solve_ivp(lambda t, y: y**2, (0, 2), [1.0])
    expected = scipy_integrate.solve_ivp(lambda t, y: y**2, (0, 2), [1.0])
    assert (blown_up.status, blown_up.success, blown_up.message) == (-1, False, expected.message)
    assert blown_up.t[-1] == pytest.approx(expected.t[-1], abs=1e-6)
    short = integrate.solve_ivp(van_der_pol, (0, 20), [2.0, 0.0], args=(1.0,), max_steps=20, t_eval=[0, 1, 15.0])
    assert (short.t.tolist(), short.status) == ([0, 1], -2)
    assert short.message == "The end of the integration interval is not reached within max_steps."
    assert integrate.solve_ivp(van_der_pol, (0, 20), [2.0, 0.0], args=(1.0,), max_steps=20).status == -2


def at_end(mu, y0, last, **options):
    found = integrate.solve_ivp(
        van_der_pol, (0, last), y0, args=(mu,), t_eval=nx.stack([last]), rtol=1e-9, atol=1e-9, **options
    )
    return found.y[0, 0]


@pytest.mark.slow
def test_gradients():
    values = (np.float64(1), np.array([2.0, 0.0]), np.float64(5))
    found = nx.grad(lambda *v: at_end(*v, max_steps=400), argnums=(0, 1, 2))(*values)
    value, step = nx.jit(at_end), 1e-5

    def by(*change):
        sides = [float(value(*(v + sign * c for v, c in zip(values, change, strict=True)))) for sign in (1, -1)]
        return (sides[0] - sides[1]) / (2 * step)

    assert float(found[0]) == pytest.approx(by(step, 0, 0), rel=1e-6)
    first, second = np.eye(2) * step
    np.testing.assert_allclose(found[1], [by(0, first, 0), by(0, second, 0)], rtol=1e-6)
    assert float(found[2]) == pytest.approx(by(0, 0, step), rel=1e-6)


@pytest.mark.slow
def test_entries():
    times = np.array([1.0, 5.0])

    def values(mu):
        return integrate.solve_ivp(van_der_pol, (0.0, 5.0), np.array([2.0, 0.0]), args=(mu,), t_eval=times)

    found = nx.vmap(values)(np.array([0.5, 2.0]))
    for row, mu in zip(found.y, (0.5, 2.0), strict=True):
        expected = scipy_integrate.solve_ivp(van_der_pol, (0, 5), [2.0, 0.0], args=(mu,), t_eval=times)
        np.testing.assert_allclose(row, expected.y, rtol=1e-9)


def solved(*args, **options):
    return integrate.solve_ivp(lambda t, y: -y, *args, **options)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: solved((0, 5), [1.0], t_eval=[1, 6]), NxValueError, "not within t_span, from 0 to 5"),
        (lambda: solved((0, 5), [1.0], t_eval=[2, 1]), NxValueError, "not properly sorted"),
        (lambda: solved((0, 5), [1.0], method="LSODA"), NxValueError, "method is one of 'RK45'"),
        (lambda: solved((0, 5), [1.0], events=lambda t, y: y[0]), NxTypeError, "root_scalar finds where"),
        (lambda: solved((0, np.inf), [1.0]), NxValueError, "which no number of steps reaches"),
        (lambda: solved((0, 5), [1.0], t_eval=[]), NxValueError, "t_eval is a row of times, got the shape"),
        (lambda: solved(5, [1.0]), NxValueError, "t_span is the first and the last time"),
        (lambda: solved((0, 5), []), NxValueError, "y0 is a vector of at least one number"),
        (lambda: solved((0, 5), [1j], method="Radau"), NxTypeError, "Radau takes real numbers"),
        (lambda: solved((0, 5), [1.0], jac=[[1.0]], method="Radau"), NxTypeError, "jac is a function, got a list"),
        (lambda: solved((0, 5), [1.0], max_steps=0.5), NxTypeError, "max_steps is a whole number"),
        (lambda: nx.jit(lambda y: solved((0, 5), y).y)(np.ones(1)), NxValueError, "give|Say at which times"),
        (
            lambda: nx.jit(lambda y: solved((0, 5), y, t_eval=[1.0], dense_output=True).y)(np.ones(1)),
            NxTypeError, "dense_output=True is for calls outside",
        ),
        (
            lambda: integrate.solve_ivp(lambda t, y: y[:1], (0, 1), [1, 2]), NxValueError,
            "as many numbers as y0 has elements, 2, got f64",
        ),
        (lambda: integrate.solve_ivp(lambda t, y: 1j * y, (0, 1), [1.0]), NxTypeError, "gives complex numbers"),
        (lambda: nx.grad(lambda mu: at_end(mu, np.ones(2), np.float64(1)))(1.0), NxTypeError, "at most how many turns"),
    ],
)  # fmt: skip
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()
