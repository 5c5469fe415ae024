"""What runs at once under the names of nxkernel.numpy follows NumPy's types, whatever rules are in force."""

import pickle

import numpy as np
import pytest

import nxkernel as nx
import nxkernel.numpy as nnp
from nxkernel import types

#: What computes, as NumPy and as we do.
CALLS = {
    "division": lambda xp: xp.asarray([1, 2]) / 2,
    "reflected": lambda xp: 1.5 - xp.asarray([1, 2], dtype=xp.int8),
    "a function": lambda xp: xp.sin(xp.asarray([1, 2], dtype=xp.int16)),
    "a method": lambda xp: xp.asarray([1, 2]).mean(),
    "a reduction of a ufunc": lambda xp: xp.add.reduce(xp.asarray([1, 2], dtype=xp.int8)),
    "a number": lambda xp: xp.asarray(0.1),
    "a filled array": lambda xp: xp.full(2, 0.1),
    "of linalg": lambda xp: xp.linalg.inv(xp.asarray([[2, 0], [0, 4]])),
    "of fft": lambda xp: xp.fft.fft(xp.asarray([1.0, 2.0])),
    "two types": lambda xp: xp.asarray([1], dtype=xp.int64) * xp.asarray([1], dtype=xp.float32),
    "in place": lambda xp: xp.asarray([1.0, 2.0]).__iadd__(1),
    "absolute": lambda xp: abs(xp.asarray([-1, 2], dtype=xp.int8)),
}


@pytest.mark.parametrize("rules", ["nx", "numpy"])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_types_are_numpys(call, rules):
    with types.promotion(rules):
        found = call(nnp)
    wanted = call(np)
    assert type(found) is nnp.Array
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-14)


def test_the_rules_in_force_are_as_before():
    nnp.asarray([1, 2]) / 2
    assert not types.follows_numpy()
    with pytest.raises(ValueError, match="fit"):
        nnp.asarray([1, 2]).reshape(3)
    assert not types.follows_numpy()


def test_numpys_functions_of_tensors_keep_the_rules_of_tensors():
    assert np.mean(nx.tensor([1, 2])).type == "f32"
    assert np.add(nx.tensor([1, 2]), 0.5).type == "f32"


def test_definitions_keep_their_rules():
    assert nx.jit(lambda t: nnp.sum(t) / 2, promotion="nx")(nx.tensor([1, 2])).type == "f32"


@pytest.mark.parametrize("name", ["zeros", "concat", "concatenate", "sum", "asarray", "unique_all"])
def test_functions_are_found_by_their_names(name):
    function = getattr(nnp, name)
    assert pickle.loads(pickle.dumps(function)) is function
