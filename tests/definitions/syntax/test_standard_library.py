"""Modules of Python's standard library work as before when twins take the place of their functions."""

import importlib.util
import types

import pytest

from nxkernel.definitions.syntax import rewritten
from nxkernel.definitions.syntax.unsupported_syntax import RefusedSyntaxError
from source_rewriting.plain_runtime import PlainRuntime

TEXT = "  The quick brown fox, it-said,\n\tjumps over the lazy-dog; again and again.  "
WORDS = TEXT.split()


def modules(name):
    """A module, and one of which the functions and methods are twins, with the number of these."""
    found = []
    for _ in range(2):
        spec = importlib.util.find_spec(name)
        found.append(importlib.util.module_from_spec(spec))
        spec.loader.exec_module(found[-1])
    spaces = [found[1], *(value for value in vars(found[1]).values() if isinstance(value, type))]
    count = 0
    for space in spaces:
        for key, value in list(vars(space).items()):
            if isinstance(value, types.FunctionType) and value.__globals__ is vars(found[1]):
                try:
                    twin = rewritten(value, PlainRuntime())
                except RefusedSyntaxError:
                    continue
                count += twin is not value
                setattr(space, key, twin)
    return *found, count


@pytest.mark.parametrize(
    ("name", "ask"),
    [
        ("textwrap", lambda m: [m.fill(TEXT, width) for width in (7, 20, 40)] + [m.dedent(TEXT), m.shorten(TEXT, 30)]),
        ("difflib", lambda m: [*m.ndiff(WORDS, sorted(WORDS)), m.SequenceMatcher(None, TEXT, TEXT[::-1]).ratio()]),
        ("shlex", lambda m: [m.split("a 'b c' d\\ e"), m.quote("a b"), list(m.shlex("a;b|c(d)"))]),
        ("colorsys", lambda m: [m.rgb_to_hls(0.1, 0.5, 0.3), m.hsv_to_rgb(0.7, 0.2, 0.9), m.rgb_to_hsv(1, 1, 1)]),
        ("calendar", lambda m: [m.calendar(2024), m.monthrange(2023, 2), m.HTMLCalendar().formatmonth(2025, 5)]),
        ("heapq", lambda m: [m.nsmallest(3, WORDS, key=len), m.nlargest(2, WORDS)]),
        ("statistics", lambda m: [m.median([3, 1, 2.5]), m.quantiles(range(9)), m.NormalDist(1, 2).inv_cdf(0.3)]),
        ("fractions", lambda m: [str(m.Fraction("3.25") ** 3 / 7), str(m.Fraction(3.14159).limit_denominator(50))]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_module(name, ask):
    original, twins, count = modules(name)
    assert count > 3
    assert ask(twins) == ask(original)
