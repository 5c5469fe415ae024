"""Rows of arrays and of parts of them, however they are taken: what is assigned into one is in the array."""

import itertools
import textwrap

import numpy as np
import pytest

import nxkernel as nx
from numpy_comparison.source_text import forget, module_of
from nxkernel.errors import NxError

VIEWS = [
    "a", "a[1:]", "a.T", "a[None][0]", "a.reshape(4, 5)", "a[::2]", "a[::-1]", "a[k:]", "a[:, k:]", "a[k:, 1:]",
    "a[:, :k]", "a[:, k:k + 2]", "a[k::2]", "a[:, k::2]", "a[..., k::2]", "a[:, k - 1:-k:3]", "a[None][:, :, k::2]",
    "a[:, k::2].T", "a[::-1, k::2]", "a[:, ::-1][:, k::2]", "a[k::2, 1:]", "a[1:, k::2]", "a[k:, k::2]", "a[:, k::-1]",
    "a[::k + 1]", "a[:, ::k + 1]", "a[:, a[0] > 1]", "a[a[:, 0] > 3]", "a[:, [0, k]]", "a[k:k + 1]", "a[None, k]",
    "a[np.array(k)][None]",
]  # fmt: skip
USES = [
    "return v[0]", "return v[-1]", "return v[k - k]", "return v[0] + v[-1]", "return v[0, 0]", "return v[:, 0]",
    "return v[1:]", "return v.sum(axis=0)", "return v.T[0]", "return (v * 2)[0]", "return len(v)", "return v.shape",
    "v[0] = 7", "v[-1] = 7", "v[k - k] = 7", "v[0] += 1", "v[0] = v[0] * 2", "v[0] = v[-1]", "v[0] = a[0, 0]",
    "v[0, 0] = 7", "v[:, 0] = 7", "v[0, :] = 7", "v[1:] = 5",
    "w = v[0]\nw[...] = 3", "w = v[0]\nw += 2", "w = v[-1]\na[1] = 9\nreturn w.sum()",
    "x = v[0]\ny = v[0]\nx[...] = 4\nreturn y.sum()", "x = v[0]\nv[...] = 4\nreturn x.sum()",
    "for row in v:\n    row[...] = 1", "for row in v:\n    row += row.sum()", "for row in v:\n    row[0] = 5",
    "for i, row in enumerate(v):\n    row[...] = i", "for row, o in zip(v, a):\n    row[...] = o[0]",
    "for row in reversed(v):\n    row += 1", "for i, row in enumerate(reversed(v)):\n    row += i",
    "for r, s in zip(v, reversed(v)):\n    r += s", "for row in v[::-1]:\n    row += row.sum()",
    "for row in list(v):\n    row += 1", "for row in v.T:\n    row += 1", "for row in v:\n    row.sort()",
    "for row in v:\n    row[...] = row[::-1]", "s = 0\nfor row in v:\n    a[0] += 1\n    s += row.sum()\nreturn s",
    "for row in v:\n    np.add(row, 1, out=row)", "for row in v:\n    if row.sum() > 9:\n        row[...] = 0",
    "for i in range(len(v)):\n    v[i] = i", "for i in range(len(v)):\n    w = v[i]\n    w += i",
    "i = 0\nwhile i < len(v):\n    w = v[i]\n    w *= 2\n    i += 1", "list(v)[0][...] = 4", "[*v][-1][...] = 4",
    "r, s, *t = v\nr[...] = 9\ns += 1", "next(iter(v))[...] = 3", "v.flat[0] = 5", "list(map(added, v))",
    "[added(r) for r in v]", "for r in sorted(v, key=lambda q: 0):\n    r += 1", "d = {'a': v[0]}\nd['a'] += 1",
    "for r in [v[0], v[-1]]:\n    r += 1", "x, y = v[0], v[-1]\nx, y = y, x\nx += 1",
    "max(v, key=lambda q: 1)[...] = 0", "for i in range(len(v)):\n    v[i] = v[len(v) - 1 - i]",
    "for i in range(len(v)):\n    for j in range(len(v[i])):\n        v[i][j] = i * j",
    "for r in np.array_split(v, 2):\n    r += 1", "v.T[0] += v.T[-1]", "for r in np.flip(v, 0):\n    r += 1",
]  # fmt: skip
_HEAD = "def added(r):\n    r += 1\n    return r\n\n\ndef f(a, k):\n    v = {view}\n"


def outcome(function, k):
    """What a call gives, and the array that it was given."""
    a = np.arange(20.0).reshape(5, 4)
    found = function(a, k)
    return [np.asarray(one) for one in (found if isinstance(found, tuple) else (found,))], a


def check(pairs):
    """How many of these do what plain Python does; the others are refused, or have no meaning in Python either."""
    right = 0
    for view, use in pairs:
        source = _HEAD.format(view=view) + textwrap.indent(use, "    ")
        if "return" not in use:
            source += "\n    return a"
        names = module_of(source)
        definition = nx.defn(names["f"])
        for k in (1, 2, np.int64(1)):
            try:
                wanted, a = outcome(names["f"], k)
                found, b = outcome(definition, k)
            except (NxError, IndexError, ValueError, TypeError):
                continue
            assert [one.shape for one in found] == [one.shape for one in wanted], source
            for one, other in zip([*found, b], [*wanted, a], strict=True):
                np.testing.assert_array_equal(one, other, source)
            right += 1
        forget(names)
    return right


@pytest.mark.sampled(every=16)
@pytest.mark.sampled(every=2, lane="fuzz")
@pytest.mark.parametrize("place", range(len(VIEWS)))
def test_rows_show_what_numpys_show(place):
    # Each use with some of the views, so that all views and uses are there.
    pairs = [(VIEWS[place], use) for number, use in enumerate(USES) if (number - place) % 8 == 0]
    assert check(pairs) > len(pairs)


@pytest.mark.fuzz
def test_all_rows_show_what_numpys_show():
    assert check(itertools.product(VIEWS, USES)) > 4000


def test_an_index_array_without_axes_gives_a_copy():
    def copied(a, k):
        v = a[k]
        v[0] = 7
        w = a[k, 1:]
        w += 1
        a[k] *= 2
        return a, v, w

    for k in (np.array(1), 1):
        ours, theirs = np.arange(12.0).reshape(3, 4), np.arange(12.0).reshape(3, 4)
        found, wanted = nx.defn(copied, promotion="numpy")(ours, k), copied(theirs, k)
        for one, other in zip([*found, ours], [*wanted, theirs], strict=True):
            np.testing.assert_array_equal(one, other)
