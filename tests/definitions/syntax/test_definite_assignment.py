"""What a loop with an `else` gives a value on every way."""

import ast

import pytest

from nxkernel.definitions.syntax.definite_assignment import settled

CASES = [
    ("for i in x:\n if i:\n  y = i\n  break\nelse:\n y = 0", {"y"}),
    ("while c:\n if d:\n  y = 1\n  break\nelse:\n y = 0", {"y"}),
    # What a turn reads may be of the turn before.
    ("for i in x:\n if i:\n  y = y + i\n  break\nelse:\n y = 0", set()),
    ("for i in x:\n if i:\n  y += i\n  break\nelse:\n y = 0", set()),
    ("while y:\n if d:\n  y = 1\n  break\nelse:\n y = 0", set()),
    ("for i in x:\n y = i\n z = y + 1\n if z:\n  break\nelse:\n y = z = 0", {"y", "z"}),
    # Another way out assigns nothing.
    ("for i in x:\n if i > 1:\n  break\n if i:\n  y = i\n  break\nelse:\n y = 0", set()),
    ("for i in x:\n if i:\n  y = i\n  break\n else:\n  y = 2\n  break\nelse:\n y = 0", {"y"}),
    ("for i in x:\n if i:\n  y = i\n break\nelse:\n y = 0", set()),
    # An `else` that ends the function leaves what the `break` assigns.
    ("for i in x:\n if i:\n  y = i\n  break\nelse:\n return 0", {"i", "y"}),
    ("for i in x:\n if i:\n  y = i\n  break\nelse:\n if c:\n  y = 0", set()),
    ("for i in x:\n if i:\n  y = i\n  break\nelse:\n if c:\n  y = 0\n else:\n  y = 1", {"y"}),
    # Loops inside.
    ("for i in x:\n for j in i:\n  y = j\n if i:\n  break\nelse:\n y = 0", set()),
    ("for i in x:\n for j in i:\n  y = j\n  break\n else:\n  y = 1\n if i:\n  break\nelse:\n y = 0", {"y"}),
    ("for i in x:\n y = (z := i)\n if i:\n  break\nelse:\n y = z = 0", {"y"}),
    ("for i in x:\n y = 1\n del y\n if i:\n  break\nelse:\n y = 0", set()),
    # Functions may be called at any time.
    ("for i in x:\n f = lambda: y\n y = 1\n if f():\n  break\nelse:\n f = y = 0", {"f"}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_settled(text, expected):
    assert settled(ast.parse(text).body[0]) == expected


def test_an_else_that_leaves_a_loop_around_settles_nothing():
    outer = ast.parse("for o in x:\n for i in o:\n  y = i\n  break\n else:\n  break\n").body[0]
    assert settled(outer.body[0]) == set()
