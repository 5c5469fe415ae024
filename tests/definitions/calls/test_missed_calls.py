"""Functions that are traced as they are, and rewritten where they cannot be."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError, TracedValueError


def halved(x):
    while np.sum(x) > 1:
        x = x / 2
    return np.sum(x)


def bent(x):
    if np.sum(x) > 0:
        return np.sum(x**2)
    return np.sum(x**3)


def orbit(position, speed, dt, steps):
    track = np.zeros((steps, 2))
    for i in range(steps):
        speed = speed - dt * position / np.sqrt((position**2).sum()) ** 3
        position = position + dt * speed
        track[i] = position
    return track


def test_control_flow_and_assignments_of_a_numpy_program_are_the_programs():
    x = np.array([3.0, 4.0])
    np.testing.assert_array_equal(nx.jit(halved)(x), halved(x))
    jitted = nx.jit(bent)
    assert [float(jitted(x)), float(jitted(-x))] == [25.0, -91.0]
    np.testing.assert_array_equal(nx.grad(bent)(x), 2 * x)
    np.testing.assert_array_equal(nx.grad(bent)(-x), 3 * x**2)
    np.testing.assert_array_equal(nx.vmap(halved)(np.stack([x, x + 8])), [halved(x), halved(x + 8)])


def test_a_number_that_a_shape_needs_is_static_and_the_others_are_not():
    f = nx.jit(orbit)
    start = (np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    np.testing.assert_allclose(f(*start, 0.01, 20), orbit(*start, 0.01, 20), rtol=1e-14)
    np.testing.assert_allclose(f(*start, 0.02, 20), orbit(*start, 0.02, 20), rtol=1e-14)
    assert f.cache_info().entries == 1
    assert f.why(*start, 0.02, 30).difference == ("argument steps: 20 → 30",)


def test_what_is_known_unrolls_as_before():
    def unrolled(x, *, n):
        for _ in range(n):
            x = np.sqrt(x)
        return x

    assert nx.debug_expr(nx.jit(unrolled))(np.ones(2), n=3).__repr__().count("sqrt") == 4


def test_by_the_rules_of_nx_the_function_stays_as_it_is():
    def grows(t):
        return t if nx.sum(t) > 0 else -t

    with pytest.raises(TracedValueError, match=r"are part of the program in a function with @nx\.defn"):
        nx.jit(grows)(np.ones(2))


def test_what_the_rewritten_function_refuses_is_said():
    def walk(seed):
        return np.random.PCG64(seed)

    with pytest.raises(NxTypeError, match=r"^np.random.PCG64 takes a seed that is known before the program runs"):
        nx.jit(walk)(np.int64(3))


def is_array(x):
    return isinstance(x, np.ndarray)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * 2 if isinstance(x, np.ndarray) else np.zeros(1),
        lambda x: x * 2 if is_array(x) else np.zeros(1),
        lambda x: x[0] * 2 if isinstance(x[0], np.floating) else np.zeros(1),
        lambda x: x[0] * 2 if np.isscalar(x[0]) else np.zeros(1),
        lambda x: x * 2 if type(x) is np.ndarray else np.zeros(1),
    ],
)
def test_arrays_are_of_numpys_classes(function):
    x = np.array([3.0, 4.0], np.float32)
    result = nx.jit(function)(x)
    np.testing.assert_array_equal(result, function(x))
    assert result.dtype == np.float32


def test_an_error_of_the_functions_own_may_be_none_of_the_rewritten_one():
    class Checked:
        def __init__(self, cls):
            self.cls = cls

        def __call__(self, value):
            if not isinstance(value, self.cls):
                raise TypeError(f"{type(value)} is none")
            return np.sqrt(value)

    np.testing.assert_array_equal(
        nx.jit(lambda x, check: np.abs(check(x)))(np.ones(2), Checked(np.ndarray)), np.ones(2)
    )
    with pytest.raises(TypeError, match=r"^<class 'numpy.ndarray'> is none"):
        nx.jit(lambda x, check: np.abs(check(x)))(np.ones(2), Checked(list))


def test_what_asks_for_classes_and_cannot_be_rewritten_is_traced_as_it_is():
    def known(x):
        names = sorted(locals())
        return np.abs(x) * len(names) if not isinstance(x, str) else x

    np.testing.assert_array_equal(nx.jit(known)(-np.ones(2)), np.ones(2))


@pytest.mark.usefixtures("ahead_of_calls")
def test_what_asks_for_classes_and_is_refused_rewritten_is_traced_as_it_is():
    def spaced(x, spacing=2.0):
        if isinstance(spacing, str) or not np.isfinite(spacing):
            raise ValueError("a spacing is a number")
        return np.abs(x) * spacing

    def listed(x):
        found = []
        for k in range(3):
            if np.sum(x) > k and not isinstance(x, str):
                found.append(2 * k)
                found.append(k)
        return np.abs(x)

    np.testing.assert_array_equal(nx.jit(spaced)(-np.ones(2)), [2, 2])
    with pytest.raises(NxTypeError, match=r"^this `if` changes `found`, a Python list"):
        nx.jit(listed)(np.ones(2))
