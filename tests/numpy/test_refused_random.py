"""By the rules of Nx, random numbers of NumPy's are refused: a traced function would draw them once."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError


@pytest.mark.parametrize(
    ("draw", "instead"),
    [
        ("normal", "nx.random.normal(key, 0.0, 1.0, shape=x.shape)"),
        ("laplace", "nx.random.normal(key, 0.0, 1.0, shape=x.shape)"),
        ("rand", "nx.random.uniform(key, 0.0, 1.0, shape=x.shape)"),
        ("randint", "nx.random.randint(key, 0, 10, shape=x.shape)"),
        ("shuffle", "nx.random.shuffle(key, x)"),
        ("choice", "nx.random.choice(key, x, samples=5)"),
    ],
)
def test_the_refusal_names_the_function_and_a_call_that_works(draw, instead):
    def f(x):
        return nx.sin(x) + getattr(np.random, draw)(x)

    with pytest.raises(NxTypeError) as raised:
        nx.defn(f)(nx.tensor(np.ones(3)))
    first, *_, second, last = str(raised.value).splitlines()
    assert first == f"np.random.{draw}() in a definition would draw its numbers once, when it is traced."
    assert second == "  Draw them before and pass them as an argument,"
    assert last == f"  or pass a key, nx.random.key(42): def f(x, key), and drawn, key = {instead}."
    drawn, key = eval(instead, {"nx": nx, "x": nx.tensor(np.ones(3)), "key": nx.random.key(42)})
    assert drawn.rank == 1
    assert key.shape == (2,)
