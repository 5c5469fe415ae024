"""Variables of gradients, and how functions made of the user's are known."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.autodiff import differentiated_variables
from nxkernel.definitions.keys import static_values
from nxkernel.errors import NxTypeError, NxValueError


def test_places():
    assert differentiated_variables.argument_positions(1) == (1,)
    assert differentiated_variables.argument_positions([0, -1]) == (0, -1)
    assert [differentiated_variables.position("f", (1, 2, 3), place) for place in (0, 2, -1)] == [0, 2, 2]
    for given in (None, "x", (), True, (0, 1.5)):
        with pytest.raises(NxTypeError, match="argnums is the place of an argument, or a tuple of places"):
            differentiated_variables.argument_positions(given)
    with pytest.raises(NxValueError, match=r"f: argnums has 3, and there are 3 positional arguments\.\n  Places are 0"):
        differentiated_variables.position("f", (1, 2, 3), 3)


def test_a_started_value_is_a_node_of_its_own():
    def whole(x):
        made = differentiated_variables.own_value(x)
        assert made is not x
        assert (made.spec, made.operands) == (x.spec, (x,))
        return made

    assert nx.jit(whole)(nx.tensor([1.0], names=["x"])).names == ("x",)


def test_a_function_of_the_users_is_known_by_its_contents():
    def made(by):
        @differentiated_variables.transform("scaled")
        def scaled(x):
            return x * by

        return scaled

    assert not static_values.installed(made(2))
    assert made(2).__name__ == made(2).__qualname__ == "scaled"
    one, other = nx.jit(made(2.0)), nx.jit(made(3.0))
    assert [float(f(1.0)) for f in (one, other, nx.jit(made(2.0)))] == [2.0, 3.0, 2.0]
    assert one.cache_info().misses == 2


def test_what_transforms_capture_is_read_at_every_call():
    weights = np.array([1.0, 2.0])
    slope = nx.grad(lambda x: nx.sum(x * weights))
    assert slope(np.zeros(2)).to_list() == [1.0, 2.0]
    weights[0] = 5.0
    assert slope(np.zeros(2)).to_list() == [5.0, 2.0]
    assert nx.jvp(lambda x: nx.sum(x * weights), (np.zeros(2),), (np.ones(2),))[1].to_number() == 7.0


def test_what_jit_made_is_a_function_as_any():
    cube = nx.jit(lambda x: x**3)
    assert float(nx.grad(cube)(2.0)) == 12.0
    assert float(nx.hessian(cube)(2.0)) == 12.0
    assert nx.vmap(cube)(np.array([1.0, 2.0])).tolist() == [1.0, 8.0]
    assert [float(t) for t in nx.jvp(cube, (2.0,), (1.0,))] == [8.0, 12.0]
    assert float(nx.vjp(cube, 2.0)[1](1.0)[0]) == 12.0
    assert float(nx.grad(nx.checkpoint(cube))(2.0)) == 12.0
    alone = nx.jit(lambda x: x**3, on_conflict="raise")
    assert float(nx.grad(alone)(2.0)) == 12.0
    assert alone.on_conflict == "raise"


def test_methods_read_their_object_at_every_call():
    class Model:
        weights = np.array([1.0, 2.0])

        @nx.defn
        def loss(self, x, *, power=2):
            return nx.sum(self.weights * x**power)

    model = Model()
    assert nx.grad(model.loss)(np.ones(2)).to_list() == [2.0, 4.0]
    assert nx.vmap(model.loss)(np.ones((1, 2)), power=3).to_list() == [3.0]
    model.weights = np.array([3.0, 2.0])
    assert nx.grad(model.loss)(np.ones(2)).to_list() == [6.0, 4.0]


def test_transforms_of_numpy_programs_have_their_rules():
    @nx.defn
    def scaled(u, p, combine=np.sum):
        u[0] *= p
        return combine(np.sin(u))

    u, p = np.array([0.5, 1.0, 2.0]), 2.0
    first, second = 2 * np.cos(1.0), 0.5 * np.cos(1.0)
    slopes = [
        nx.grad(scaled, argnums=1)(u, p),
        nx.value_and_grad(scaled, argnums=1)(u, p)[1],
        nx.jacobian(scaled, argnums=1)(u, p),
        nx.vjp(scaled, u, p)[1](1.0)[1],
        nx.jvp(scaled, (u, p), (np.zeros(3), 1.0))[1],
        nx.grad(nx.checkpoint(scaled), argnums=1)(u, p),
        nx.grad(scaled, argnums=1)(u, p, np.add.reduce),
        nx.vmap(nx.grad(scaled, argnums=1), in_axes=(None, 0))(u, np.array([p]))[0],
    ]
    assert [slope.dtype for slope in slopes] == [np.float64] * len(slopes)
    np.testing.assert_allclose([float(slope) for slope in slopes], second, rtol=1e-15)
    np.testing.assert_allclose(nx.grad(scaled)(u, p), [first, np.cos(1.0), np.cos(2.0)])
    np.testing.assert_allclose(nx.vmap(scaled, in_axes=(0, None))(np.stack([u, u]), p)[1], scaled(u.copy(), p))
    assert u.tolist() == [0.5, 1.0, 2.0]


def test_functions_go_into_vmap_and_grad_by_position():
    @nx.defn
    def euler(rhs, y, h, turns=3):
        for _ in range(turns):
            y = y + h * rhs(y)
        return np.sum(y)

    starts = np.array([[1.0, 0.0], [0.0, 2.0]])
    ends = nx.vmap(euler, in_axes=(None, 0, None))(_spring, starts, 0.1)
    np.testing.assert_allclose(ends, [euler.__wrapped__(_spring, start, 0.1) for start in starts])
    np.testing.assert_array_equal(nx.vmap(euler)(_spring, starts, np.array([0.1, 0.1])), ends)
    slope = nx.grad(euler, argnums=1)(_spring, starts[0], 0.1, turns=2)
    np.testing.assert_allclose(slope, [0.79, 1.19], rtol=1e-12)


def _spring(y):
    return np.array([y[1], -y[0]])
