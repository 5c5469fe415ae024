"""Views at places that only the running program knows, bound by loops: what is written arrives, or is refused."""

import itertools
import textwrap

import numpy as np
import pytest

import nxkernel as nx
from numpy_comparison.source_text import forget, module_of
from nxkernel.errors import NxError, NxTypeError, TracedValueError

VIEWS = [
    "a[k:3]", "a[k:]", "a[:k+1]", "a[k:][::-1]", "a[:, k:]", "a[k:3, 1:]", "a[-k:-2:-1]", "a[k::2]", "a[k]", "a[k:].T",
    "a.reshape(-1)[k:]", "a[k:].view()",
]  # fmt: skip
BINDINGS = {
    "for": "for k in range(2):\n    v = {view}",
    "while": "k = 0\nwhile k < 2:\n    v = {view}\n    k += 1",
    "choice": "k = 0\nfor q in range(2):\n    k = q\nif a[0, 0] < 5:\n    v = {view}\nelse:\n    v = a[k:]",
    "list": "vs = []\nfor k in range(2):\n    vs.append({view})\nv = vs[1]",
    "tuple": "for k in range(2):\n    t = ({view}, k)\nv = t[0]",
    "nested": "for k in range(2):\n    for j in range(2):\n        v = {view}",
    "none": "k = 0\nfor q in range(2):\n    k = q\nv = {view}",
}
USES = [
    "return v.sum() + a.sum()",
    "v[0] = 2\nreturn a",
    "v[0] = 2\nreturn v.sum() + a.sum()",
    "a[2] = 7\nreturn v.sum()",
    "v *= 2\nreturn a.sum()",
]


@pytest.mark.slow
@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("binding", BINDINGS)
def test_what_is_written_through_a_view_arrives_or_is_refused(binding):
    x = np.arange(9.0).reshape(3, 3)
    right = 0
    for view, use in itertools.product(VIEWS, USES):
        body = "\n".join(["a = np.copy(a)", BINDINGS[binding].format(view=view), use])
        source = f"def f(a):\n{textwrap.indent(body, '    ')}\n"
        names = module_of(source)
        try:
            wanted = names["f"](x)
        except IndexError:
            continue
        try:
            found = nx.defn(names["f"], promotion="numpy")(x)
        except (NxError, TracedValueError):
            continue
        finally:
            forget(names)
        np.testing.assert_array_equal(found, wanted, source)
        right += 1
    assert right >= 6


def test_a_view_that_a_loop_bound_is_no_array_of_its_own():
    def last(a):
        a = np.copy(a)
        for k in range(2):
            v = a[k:3]
        v[0] = 2
        return a

    with pytest.raises(NxTypeError, match="an array is read that `v` may be, which was assigned into"):
        nx.defn(last, promotion="numpy")(np.arange(3.0))
