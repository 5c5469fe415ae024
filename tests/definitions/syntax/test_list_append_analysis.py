"""Which lists a loop only appends to."""

import ast

import pytest

from nxkernel.definitions.syntax.list_append_analysis import appended


def names(text, broken=None):
    *before, loop = ast.parse(text).body
    loop.broken = broken
    return list(appended(before, loop))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a = []\nfor i in x: a.append(i)", ["a"]),
        ("a: list = [0]\na.append(1)\nb = a_\nfor i in x:\n  i += 1\n  a.append(i)", ["a"]),
        ("a = [f(k) for k in y]\nb = []\nfor i in x:\n  b.append(1)\n  a.append(i)", ["b", "a"]),
        ("s, a = f(x), []\nfor i in x: a.append(i)", ["a"]),
        ("a, s = f(x), []\nfor i in x: a.append(i)", []),
        ("for i in x: a.append(i)", []),
        ("a = b = []\nfor i in x: a.append(i)", []),
        ("a = f()\nfor i in x: a.append(i)", []),
        ("a = []\nb = a\nfor i in x: a.append(i)", []),
        ("a = []\nfor i in x: a.append(a)", []),
        ("a = []\nfor i in a: a.append(i)", []),
        ("a = []\nfor i in x:\n  a.append(i)\n  a.append(i)", []),
        ("a = []\nfor i in x:\n  if i: a.append(i)", []),
        ("a = []\nfor i in x: a.append(*i)", []),
        ("a = []\nfor i in x: a.extend(i)", []),
        ("a = []\nfor i in x: a.append(lambda: a)", []),
        ("a = []\nfor i in x: a[0].append(i)", []),
        ("a = []\nfor i in x:\n  a = []\n  a.append(i)", []),
    ],
)
def test_lists(text, found):
    assert names(text) == found


def test_a_loop_that_may_be_left_has_none():
    assert names("a = []\nfor i in x: a.append(i)", "left") == []
