"""Variables of gradients, and how functions made of the user's are known."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.defn import states, variables
from nxkernel.errors import NxTypeError, NxValueError


def test_places():
    assert variables.places(1) == (1,)
    assert variables.places([0, -1]) == (0, -1)
    assert [variables.picked("f", (1, 2, 3), place) for place in (0, 2, -1)] == [0, 2, 2]
    for given in (None, "x", (), True, (0, 1.5)):
        with pytest.raises(NxTypeError, match="argnums is the place of an argument, or a tuple of places"):
            variables.places(given)
    with pytest.raises(NxValueError, match=r"f: argnums has 3, and there are 3 positional arguments\.\n  Places are 0"):
        variables.picked("f", (1, 2, 3), 3)


def test_a_started_value_is_a_node_of_its_own():
    def whole(x):
        made = variables.started(x)
        assert made is not x
        assert (made.spec, made.operands) == (x.spec, (x,))
        return made

    assert nx.jit(whole)(nx.tensor([1.0], names=["x"])).names == ("x",)


def test_a_function_of_the_users_is_known_by_its_contents():
    def made(by):
        @variables.transform("scaled")
        def scaled(x):
            return x * by

        return scaled

    assert not states.installed(made(2))
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
    assert nx.vmap(cube)(np.array([1.0, 2.0])).to_list() == [1.0, 8.0]
    assert [float(t) for t in nx.jvp(cube, (2.0,), (1.0,))] == [8.0, 12.0]
    assert float(nx.vjp(cube, 2.0)[1](1.0)[0]) == 12.0
    assert float(nx.grad(nx.checkpoint(cube))(2.0)) == 12.0
    assert cube.on_conflict == "raise"


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
