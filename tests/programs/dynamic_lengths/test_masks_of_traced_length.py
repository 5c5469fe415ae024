"""Masks of which only the running program knows the length, as keys: they pick what NumPy picks, or are refused."""

import itertools
import textwrap

import numpy as np
import pytest

import nxkernel as nx
from numpy_comparison.source_text import forget, module_of
from nxkernel.errors import NxError

#: Of `a`, with 6 elements, `b`, with as many as the mask, and `k`, which is 4: masks of 6, 4, 3 or 2 elements.
MASKS = [
    "a[-6:k + 2] > 2", "a[:k + 2] > 2", "np.isfinite(a[:k])", "a[:k] > 2", "(a > 2)[:k]", "a[k - 2:] > 2", "a[k:] > 2",
    "a[k - 4::2] > 2", "a[k - 3::2] > 2", "a[::-1][:k] > 2", "~(a[:k] > 2)", "(a[:k] > 2) & (a[:k] < 5)",
    "(a < 9)[a > 1.5]", "(a > 2)[a > 1.5]", "a[a > 1.5] > 2", "np.logical_not(a[:k] > 3)",
    "np.append(a[:k] > 2, True)",
]  # fmt: skip
ARRAYS = [
    "a[:len(m)]",
    "c[:4]",
    "c",
    "a",
    "c.reshape(6, 1)",
    "a[:k]",
    "np.arange(4.0)",
    "np.arange(6.0)",
    "c[-len(m):]",
]
USES = [
    "return v[m]", "return v[m].sum()", "v[m] = 7\nreturn v.sum()", "v[m] *= 2\nreturn v.sum()",
    "v[m] = v[m] + 1\nreturn v",
    "v[m] += np.arange(6.0)[:m.sum()]\nreturn v", "return np.where(m)[0]", "return np.flatnonzero(m)",
    "return np.compress(m, v, axis=0)", "return np.extract(m, v)", "return np.count_nonzero(m), m.any(), m.all()",
    "return np.where(m, v.ravel()[:len(m)], 0.0)", "return v[~m]", "return v[np.nonzero(m)]",
    "v[m] = v[~m].sum()\nreturn v",
]  # fmt: skip


def outcome(function):
    """What a call gives and leaves."""
    a, c = np.array([3.0, 1.0, 4.0, 1.5, 5.0, 2.5]), np.arange(6.0) + 10
    found = function(a, c, 4)
    return [np.asarray(one) for one in (found if isinstance(found, tuple) else (found,))] + [a, c]


def check(mask, pairs):
    """How many of these do what plain Python does; the others are refused, or have no meaning in Python either."""
    right = 0
    for array, use in pairs:
        source = f"def f(a, c, k):\n    m = {mask}\n    v = {array}\n{textwrap.indent(use, '    ')}"
        names = module_of(source)
        try:
            wanted = outcome(names["f"])
            found = outcome(nx.defn(names["f"]))
        except (NxError, IndexError, ValueError):
            continue
        finally:
            forget(names)
        for one, other in zip(found, wanted, strict=True):
            assert one.shape == other.shape, source
            np.testing.assert_array_equal(one, other, source)
        right += 1
    return right


@pytest.mark.sampled(every=32)
@pytest.mark.sampled(every=2, lane="fuzz")
@pytest.mark.parametrize("place", range(len(MASKS)))
def test_masks_of_traced_length_pick_what_numpys_do(place):
    pairs = [pair for number, pair in enumerate(itertools.product(ARRAYS, USES)) if (number - place) % 8 == 0]
    assert check(MASKS[place], pairs) >= 2


@pytest.mark.fuzz
@pytest.mark.parametrize("mask", MASKS)
def test_all_masks_of_traced_length_pick_what_numpys_do(mask):
    assert check(mask, itertools.product(ARRAYS, USES)) > 15
