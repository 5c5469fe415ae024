"""What sorted() gives of an array: as Python's list where it is indexed, gone through and taken, refused elsewhere."""

import numpy as np
import pytest

import nxkernel as nx
from numpy_comparison.source_text import assert_same, function_of
from nxkernel.errors import NxTypeError

A = np.array([3.0, 1.0, 2.0, 5.0])

TAKEN = """
return np.sum(sorted(a)), sorted(a)[0], sorted(a)[-1], len(sorted(a)), max(sorted(a)), sum(sorted(a))
return np.array(sorted(a)) * 2, np.diff(sorted(a)), np.median(sorted(a)), np.cumsum(sorted(a)), np.add(sorted(a), 1)
return np.percentile(sorted(a), 30), np.mean(sorted(a)[1:]), np.interp(2.5, sorted(a), a), np.std(sorted(a)[::2])
return np.searchsorted(sorted(a), 2), np.convolve(sorted(a), [1, 2]), np.dot(sorted(a), a), np.gradient(sorted(a))
s = sorted(a); s[0] = 7.5; t = s[1:]; t[0] = 9.5; a[...] = 0; return s[0], s[1], t[0], a
t = 0; s = sorted(a, reverse=True); t += sum(x * k for k, x in enumerate(s)); return t
"""

REFUSED = {
    "+": "sorted(a) + sorted(a)", "*": "2 * sorted(a)", "==": "sorted(a) == sorted(a)",
    "<": "sorted(a)[1:] < sorted(a)[:-1]",
    "-": "-sorted(a)",
}  # fmt: skip


@pytest.mark.parametrize("text", TAKEN.strip().splitlines())
def test_values(text):
    f = function_of(text, "a")
    assert_same(nx.defn(f, promotion="numpy")(A.copy()), f(A.copy()))


@pytest.mark.parametrize("sign", REFUSED)
def test_operators_are_refused(sign):
    with pytest.raises(NxTypeError) as caught:
        nx.defn(function_of(f"return {REFUSED[sign]}", "a"), promotion="numpy")(A)
    first, _, hint = str(caught.value).split("\n")
    assert first == f"sorted() gives a list in Python, of which {sign} is something else than of an array."
    assert hint == "  np.sort(x) gives an array."
