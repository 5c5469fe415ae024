"""What of a part whose length only the running program knows is a view, and what a copy: as in NumPy."""

import itertools

import numpy as np
import pytest

import nxkernel as nx
from numpy_comparison.source_text import forget, module_of
from nxkernel.errors import NxError, TracedValueError

A, M = np.arange(6.0) + 1, np.arange(12.0).reshape(3, 4) - 3
BASES = [
    "a[k:]", "a[k:-k]", "a[::-1][k:]", "a[k::2]", "a[a != 2]", "a[k:][a[k:] > 2]", "M[k:]", "M[:, k:]", "M[k:].T",
    "M[M[:, 0] > -1]", "M[:, M[0] > -2]", "M[M > 0]", "M[1, k:]", "a",  "M",
]  # fmt: skip
PARTS = [
    "v", "v[:]", "v[...]", "v[1:]", "v[:-1]", "v[::-1]", "v[None]", "v[..., None]", "v[v > 2]", "v[[0, 1]]", "v[0]",
    "v.flat[1:3]", "v.flat[:]", "v.flat[[0, 1]]", "v.flat[v.flat[:] > 2]", "v.T", "v.real", "v.view()", "v.copy()",
    "v.squeeze()", "v.reshape(-1)", "v.ravel()", "v.flatten()", "v.astype(float)", "v.astype(float, copy=False)",
    "v.round()", "v.clip(0)", "v.conj()", "v.swapaxes(0, -1)", "v.transpose()", "np.asarray(v)", "np.array(v)",
    "np.array(v, ndmin=2)", "np.asarray(v, dtype=float)", "np.ascontiguousarray(v)", "np.atleast_1d(v)", "np.flip(v)",
    "np.atleast_2d(v)", "np.transpose(v)", "np.ravel(v)", "np.expand_dims(v, 0)", "np.moveaxis(v, 0, -1)",
    "np.nan_to_num(v)", "np.nan_to_num(v, copy=False)", "np.real(v)", "np.conj(v)", "np.positive(v)", "np.copy(v)",
    "np.round(v)", "np.clip(v, None, 99)", "np.array_split(v, 1)[0]", "np.concatenate([v])", "np.sort(v)",
    "np.where(v > 0, v, 0)", "np.rot90(np.atleast_2d(v), 2)", "np.flipud(v)", "np.squeeze(v)", "np.roll(v, 0)",
    "np.array(v, copy=None)", "np.diagonal(v)", "np.broadcast_to(v, v.shape).copy()", "np.take(v, [0])",
]  # fmt: skip
CHANGES = ["w += 1", "w[...] = 7", "w[0] = 7", "w *= w"]
TABLE = list(itertools.product(BASES, PARTS, CHANGES))


def outcome(base, part, change):
    """Whether a program that changes a part of a part gives what NumPy gives; None where one of them refuses it."""
    text = f"def f(a, M, k):\n    v = {base}\n    w = {part}\n    {change}\n"
    names = module_of(f"{text}    return np.sum(a * a), np.sum(M * M), np.sum(v * v), np.sum(w * w)\n")
    try:
        wanted = names["f"](A.copy(), M.copy(), 1)
        found = nx.jit(names["f"], promotion="numpy", compiler="evaluator")(A.copy(), M.copy(), 1)
    except (ValueError, IndexError, TypeError, NxError, TracedValueError):
        return None
    finally:
        forget(names)
    return np.allclose(found, wanted)


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("base", BASES)
def test_some(base):
    outcomes = {case: outcome(*case) for case in TABLE[BASES.index(base) :: 5] if case[0] == base}
    assert not [case for case, right in outcomes.items() if right is False]
    assert sum(map(bool, outcomes.values())) > len(outcomes) // 3


@pytest.mark.stress
def test_all():
    outcomes = {case: outcome(*case) for case in TABLE}
    assert not [case for case, right in outcomes.items() if right is False]
    assert sum(map(bool, outcomes.values())) > len(TABLE) // 2
