"""Random numbers of NumPy's are refused: a traced function would draw them once."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError


@pytest.mark.parametrize("draw", ["normal", "rand", "shuffle"])
def test_the_refusal_names_the_function(draw):
    def f(x):
        return x + getattr(np.random, draw)(x)

    with pytest.raises(NxTypeError) as raised:
        nx.defn(f, promotion="numpy")(np.ones(3))
    first, *_, second, last = str(raised.value).splitlines()
    assert first == f"np.random.{draw}() in a definition would draw its numbers once, when it is traced."
    assert second == "  Draw them before and pass them as an argument,"
    assert last == "  or pass a key: def f(x, key), and nx.random.normal(key, 0.0, 1.0, shape=x.shape)."
