"""NumPy's functions given to nx.jit and the like as they are."""

import functools
import pickle

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError
from nxkernel.numpy import forwarding

X = np.arange(12.0).reshape(3, 4) + 1
V = X[0].copy()
SQUARE = X[:, :3] @ X[:, :3].T + np.eye(3)

CALLS = [
    *[(function, (X,)) for function in (
        np.sum, np.mean, np.max, np.min, np.amax, np.std, np.var, np.prod, np.median, np.ptp, np.average, np.nansum,
        np.nanmean, np.argmax, np.cumsum, np.cumprod, np.any, np.all, np.count_nonzero, np.linalg.norm, np.exp, np.sqrt,
        np.square, np.sin, np.negative, np.isnan, np.modf, np.round, np.transpose, np.ravel, np.flip, np.zeros_like,
        np.diff, np.add.reduce, np.maximum.accumulate,
    )],
    *[(function, (V,)) for function in (np.sort, np.argsort, np.gradient, np.fft.fft, np.trapezoid, np.diag)],
    *[(function, (SQUARE,)) for function in (np.linalg.inv, np.linalg.det, np.linalg.eigh, np.trace, np.diagonal)],
    *[(function, (V, V)) for function in (np.dot, np.outer, np.add, np.maximum, np.add.outer, np.arctan2, np.divmod)],
    (np.sum, (X, 0)), (np.cumsum, (X, 1)), (np.clip, (X, 2.0, 5.0)), (np.clip, (X, None, 5.0)), (np.matmul, (X, X.T)),
    (np.where, (X > 2, X, 0.0)), (np.concatenate, ((X, X),)), (np.stack, ((X, X),)), (np.roll, (X, 1)),
    (np.percentile, (V, 30.0)), (np.interp, (V, V, V)), (np.linspace, (0.0, 1.0)), (np.zeros, (3,)), (np.eye, (2,)),
    (np.einsum, ("ij->i", X)), (np.einsum, ("ij,j->i", X, V)), (np.linalg.solve, (SQUARE, SQUARE)),
]  # fmt: skip


def parts(value):
    return list(value) if isinstance(value, tuple) else [value]


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("wrap", [nx.jit, nx.defn])
@pytest.mark.parametrize(("function", "args"), CALLS)
def test_functions_as_they_are(wrap, function, args):
    given, wanted = parts(wrap(function)(*args)), parts(function(*args))
    assert [type(each) for each in given] == [type(each) for each in wanted]
    for mine, theirs in zip(given, wanted, strict=True):
        assert mine.dtype == theirs.dtype
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)


def test_options_by_name():
    total = nx.jit(np.sum)
    for options in (
        {"axis": 0},
        {"axis": 1, "keepdims": True},
        {"where": X > 3},
        {"dtype": np.float32},
        {"initial": 2.0},
    ):
        result, wanted = total(X, **options), np.sum(X, **options)
        assert (result.dtype, np.shape(result)) == (wanted.dtype, np.shape(wanted))
        np.testing.assert_array_equal(result, wanted)
    assert nx.jit(np.sum, static_argnames="axis")(X, axis=0).tolist() == X.sum(axis=0).tolist()
    assert nx.jit(functools.partial(np.sum, axis=0))(X).tolist() == X.sum(axis=0).tolist()
    assert nx.jit(functools.partial(np.add, 3.0))(V).tolist() == [4.0, 5.0, 6.0, 7.0]


def test_transforms():
    assert nx.grad(np.sum)(V).tolist() == [1.0] * 4
    np.testing.assert_allclose(nx.grad(np.linalg.norm)(V), V / np.linalg.norm(V))
    assert nx.grad(np.exp)(0.0) == 1.0
    value, slope = nx.value_and_grad(np.mean)(V)
    assert (value, slope.tolist()) == (2.5, [0.25] * 4)
    np.testing.assert_allclose(nx.grad(np.std)(V), (V - V.mean()) / (4 * V.std()))
    assert nx.vmap(np.max)(X).tolist() == [4.0, 8.0, 12.0]
    assert nx.vmap(np.sum, in_axes=1)(X).tolist() == X.sum(axis=0).tolist()
    assert nx.vmap(np.add)(V, V).tolist() == [2.0, 4.0, 6.0, 8.0]
    assert nx.jacobian(np.cumsum)(V).tolist() == np.tri(4).tolist()
    assert nx.hessian(np.sum)(V).tolist() == np.zeros((4, 4)).tolist()
    assert nx.jvp(np.square, (V,), (V,))[1].tolist() == [2.0, 8.0, 18.0, 32.0]
    assert nx.vjp(np.prod, V)[1](1.0)[0].tolist() == [24.0, 12.0, 8.0, 6.0]
    assert nx.checkpoint(np.negative)(V).tolist() == [-1.0, -2.0, -3.0, -4.0]
    assert nx.jit_apply(np.max, [X]) == nx.compile(np.max, [X])(X) == 12.0
    assert nx.jit(lambda x: nx.grad(np.sum)(x) * np.sum(x))(V).tolist() == [10.0] * 4


def test_whose_rules():
    total = nx.jit(np.sum)
    assert (total.rules, nx.jit(np.exp).rules, nx.defn(functools.partial(np.sum, axis=0)).rules) == (
        "NumPy's rules",
    ) * 3
    assert total(np.arange(3)).dtype == np.int64
    assert isinstance(total(nx.tensor(V)), nx.Tensor)
    assert nx.jit(np.mean, promotion="nx")(np.arange(3)).type == "f32"
    assert repr(nx.jit(np.cumsum)) == (
        "<definition cumsum(a, axis=None, dtype=None, out=None, **options), NumPy's rules>"
    )


def test_functions_of_one_name_are_not_taken_for_each_other():
    square = np.arange(8.0).reshape(2, 2, 2)
    assert nx.jit(np.trace)(square).tolist() == np.trace(square).tolist()
    assert nx.jit(np.linalg.trace)(square).tolist() == np.linalg.trace(square).tolist()
    assert (nx.jit(np.add.reduce)(V), nx.jit(np.multiply.reduce)(V)) == (10.0, 24.0)


def test_what_is_a_function_of_numpy():
    assert all(map(forwarding.is_numpys, (np.sum, np.where, np.array, np.eye, np.add, np.add.reduce, np.fft.fft)))
    assert not any(map(forwarding.is_numpys, (len, np.float64, np.ndarray, np.vectorize(abs), lambda x: x, nx.sum)))
    decorated = functools.wraps(np.sum)(lambda x: np.sum(x))
    assert forwarding.traceable(decorated) is decorated


def test_pickled():
    assert pickle.loads(pickle.dumps(nx.jit(np.sum)))(V) == 10.0
    assert pickle.loads(pickle.dumps(forwarding.traceable(np.add))) is forwarding.traceable(np.add)


@pytest.mark.usefixtures("ahead_of_calls")
def test_without_a_counterpart():
    with pytest.raises(NxTypeError, match=r"^np\.polydiv\(\) has no counterpart for values that are traced\.\n"):
        nx.jit(np.polydiv)(V, V)
    with pytest.raises(NxTypeError, match=r"^unique gives as many elements as only the running program knows\."):
        nx.jit(np.unique)(V)
