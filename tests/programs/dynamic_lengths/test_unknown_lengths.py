"""Vectors and matrices of which only the running program knows the length, in what people do with arrays."""

import itertools
import random
import time

import numpy as np
import pytest

import nxkernel as nx
from numpy_comparison.source_text import forget, module_of
from nxkernel.errors import NxError, TracedValueError

A = np.array([1.0, -2.0, 3.5, 0.5, 2.0, -1.0])
M = np.arange(12.0).reshape(3, 4) - 4
C = np.array([1.0, 2.0, 3.0, -1.0, 0.5, 4.0])
PICKED = np.array([1, 0, 1, 1, 0, 1], bool)
#: Of the table so many always run.
FEW = 100

VECTORS = [
    "a[1:k]", "a[k:]", "a[:-k]", "a[a>0]", "a[k::2]", "a[::-1][k:]", "np.flatnonzero(a>0)", "a[a>0][1:]",
    "a[k:][a[k:]>0]", "a[-k:]", "a[k:k+2]", "a[k:1:-1]", "a[np.arange(6)>=k]", "a[k:k]", "a[a>99]",
    "np.where(a>0)[0]", "M[M>0]", "M[k, k:]", "np.extract(a>0,a)", "a[m]",
]  # fmt: skip
MATRICES = [
    "M[k:]", "M[:,k:]", "M[rows]", "M[:, columns]", "M[k::2, 1:]", "M[k:].T", "M[:k, k:]", "M[rows][:, 1:]",
    "M[k:, ::-1]",
]  # fmt: skip
OF_VECTORS = [
    "v+1", "-v", "v*v", "v.sum()", "v.max()", "v.min()", "v.mean()", "v.std()", "v.prod()", "np.any(v>1)",
    "np.all(v>1)", "len(v)", "v.size", "v.shape[0]", "v[0]", "v[-1]", "v[1:].sum()", "v[::-1].sum()",
    "np.cumsum(v)[-1]", "np.dot(v,v)", "np.sort(v)[0]", "np.argmax(v)", "np.argmin(v)", "np.sum(v>0)",
    "np.sum(v[v>1])", "np.linalg.norm(v)", "np.sum(np.diff(v))", "np.sum(v*c)", "np.sum(v.reshape(-1))",
    "np.sum(np.where(v>1,v,0))", "np.sum(np.maximum(v,1))", "np.sum(v**2)", "np.sum(np.exp(v/9))", "sum(v)", "max(v)",
    "np.count_nonzero(v)", "np.median(v)", "np.sum(v.astype(int))", "np.sum(v.astype(np.float32))",
    "v.dtype == a.dtype", "np.sum(v.copy())", "np.sum(v[:, None]*v[None])", "np.sum(np.outer(v,v))",
    "np.sum(np.concatenate([v,v]))", "np.sum(np.append(v,1.))", "np.sum(np.zeros_like(v))", "np.sum(np.ones(len(v)))",
    "np.sum(np.arange(len(v))*v)", "np.sum(np.roll(v,1)*v)", "np.sum(np.flip(v)*v)", "np.average(v)", "np.var(v)",
    "np.ptp(v)", "np.nansum(v)", "np.sum(v%2)", "np.sum(v//2)", "np.sum(v[:2])", "np.sum(v[-2:])",
    "np.sum(np.clip(v,0,1))", "np.sum(np.abs(v))", "np.cumsum(v).sum()", "np.cumprod(v).max()", "np.sum(v.T)",
    "v.ndim", "np.sum(np.isin(v,[1.,2.]))", "np.array_equal(v,v)", "np.allclose(v,v)", "np.sum(np.round(v))",
    "np.inner(v,v)", "np.sum(v@v)", "np.unique(v).size", "np.sum(np.stack([v,v]))", "np.sum(np.repeat(v,2))",
    "np.sum(np.tile(v,2))", "np.sum(v/v.sum())", "np.sum((v-v.mean())**2)", "np.sum(np.searchsorted(np.sort(v),v))",
    "np.trapezoid(v)", "np.sum(np.interp(v,[0.,1.],[0.,1.]))", "np.sum(np.hypot(v,c))", "np.sum(v+c[:1])",
    "np.sum(v[None]+c[:3,None])", "np.percentile(v,30)", "np.sum(np.convolve(v,[1.,2.]))", "np.sum(np.gradient(v))",
    "np.sum(np.triu(np.outer(v,v)))", "bool(v.any())", "float(v.sum())", "int(len(v))",
    "np.sum(np.minimum.accumulate(v))", "np.add.reduce(v)", "np.sum(np.pad(v,1))", "np.sum(np.insert(v,0,1.))",
    "np.sum(np.delete(v,0))", "np.sum(np.select([v>1,v<0],[v,-v],7))", "np.max(v, initial=0.)",
    "np.sum(v, where=v>0)", "v.sum(axis=0)", "v.max(axis=0)", "v.mean(axis=-1)",
    "np.squeeze(v)", "np.squeeze(v).ndim", "np.maximum(c[:3, None], v.squeeze())", "np.squeeze(v[None], axis=0)*2",
    "np.cov(v)", "np.atleast_2d(v).sum()", "np.kron(v,v).sum()", "v.item()", "float(v)", "np.array_equal(v,v[:1])",
    "np.broadcast_to(v,(3,1)).sum()", "np.where(v>0,1.,c[:2]).sum()", "np.ravel(v).sum()", "np.add.outer(v,v).sum()",
]  # fmt: skip
OF_MATRICES = [
    "np.sum(v,axis=0).sum()", "v.sum(axis=1).sum()", "v.sum(axis=0)", "v.mean(axis=0)", "v.max(axis=1).sum()",
    "v.T.sum()", "(v@v.T).sum()", "v[0].sum()", "v[:,0].sum()", "v[-1,-1]", "v.shape[0]*v.shape[1]",
    "(v*M[0,:v.shape[1]]).sum()", "v.ravel().sum()", "v.std(axis=0).sum()", "np.linalg.norm(v)",
    "np.cumsum(v,axis=0).sum()", "np.cumsum(v,axis=1).sum()", "v.argmax()", "v.argmax(axis=0).sum()",
    "np.squeeze(v)", "np.squeeze(v).ndim", "np.squeeze(v, axis=0)", "np.cov(v).sum()",
    "np.maximum(v.squeeze(), M[:, :1])",
    "np.sort(v,axis=1)[:,0].sum()", "np.sort(v,axis=0)[0].sum()", "(v-v.mean(axis=0)).sum()",
    "(v-v.mean(axis=1,keepdims=True)).std()", "v[v>0].sum()", "np.trace(v)", "np.diagonal(v).sum()",
    "np.einsum('ij,ij->',v,v)", "np.tensordot(v,v,2)", "np.vstack([v,v]).sum()", "np.hstack([v,v]).sum()",
    "np.any(v>1,axis=0).sum()", "v[1:].sum()", "v[:,1:].sum()", "np.diff(v,axis=0).sum()", "np.diff(v,axis=1).sum()",
    "np.flipud(v)[0].sum()", "np.prod(v)", "len(v)", "v.dtype == M.dtype", "np.median(v,axis=1).sum()", "v.min()",
    "np.mean(v)", "v.var(axis=1).sum()", "np.outer(v[0],v[-1]).sum()", "(v+1).sum()", "(v*v).max()",
    "np.dot(v, np.ones(v.shape[1])).sum()", "v.swapaxes(0,1).sum(axis=0).max()",
]  # fmt: skip

SIDES = [
    "M[k:]", "M[:, k:]", "M[k:, k:]", "M[rows]", "M[::-1][k:]", "M[k::2]", "M.T[k:]", "a[k:]", "a[a > 0]", "a[k::2]",
    "M[k:].T", "M[:, :k]", "M", "a[:3]",
]  # fmt: skip
PRODUCTS = [
    "np.inner(x, y)", "np.dot(x, y)", "x @ y", "np.vdot(x, y)", "np.outer(x, y)", "np.tensordot(x, y, 1)", "x * y",
    "np.kron(x, y)", "np.vecdot(x, y)", "np.where(x > y, x, y)",
]  # fmt: skip
#: Python's sum of no elements is its integer 0, whatever the array's type: which type it is would depend on the data.
OF_NOTHING = {("a[k:k]", "sum(v)"), ("a[a>99]", "sum(v)")}
TABLE = [
    *(pair for pair in itertools.product(VECTORS, OF_VECTORS) if pair not in OF_NOTHING),
    *itertools.product(MATRICES, OF_MATRICES),
]


def is_right(value, use):
    """Whether a use of a value gives what NumPy gives; False where NumPy or a definition refuses it."""
    names = module_of(
        "def f(a, M, c, m, k):\n"
        "    rows, columns = np.array([True, False, True]), np.array([True, True, False, True])\n"
        f"    v = {value}\n"
        f"    return {use}\n"
    )
    try:
        with np.errstate(all="ignore"):
            wanted = np.asarray(names["f"](A, M, C, PICKED, 2))
    except (ValueError, IndexError, TypeError):
        return False
    try:
        found = np.asarray(nx.defn(names["f"], promotion="numpy")(A, M, C, PICKED, 2))
    except (NxError, TracedValueError):
        return False
    finally:
        forget(names)
    at = f"v = {value}: {use}"
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape), at
    np.testing.assert_allclose(found, wanted, rtol=1e-5, err_msg=at)
    return True


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_some_uses():
    seed = time.time_ns() % 2**32
    print(f"seed {seed}")
    chosen = random.Random(seed).sample(TABLE, FEW)
    assert sum(is_right(value, use) for value, use in chosen) > FEW // 2


PAIRS = [(f"({x}, {y})", f"(lambda x, y: np.sum({use}))(*v)") for x in SIDES for y in SIDES for use in PRODUCTS]


@pytest.mark.slow
def test_some_products():
    """An outer product goes over all elements of a matrix, an inner one along its rows."""
    seed = time.time_ns() % 2**32
    print(f"seed {seed}")
    assert sum(is_right(value, use) for value, use in random.Random(seed).sample(PAIRS, FEW)) > FEW // 10


@pytest.mark.stress
def test_all_products():
    assert sum(is_right(value, use) for value, use in PAIRS) > 400


@pytest.mark.stress
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_all_uses():
    assert sum(is_right(value, use) for value, use in TABLE) > 1900


def test_limits_of_sums_whose_mask_is_in_memory():
    """What the mask was made of is in no memory then."""
    assert is_right("a[a > 0][1:]", "np.sum(v / v.sum())")


def test_a_length_that_must_be_known_makes_the_number_that_it_comes_from_static():
    assert is_right("a[1:k]", "np.sum(np.insert(v, 0, 1.0))")
