"""Tests of errors that are raised with lines of an earlier time."""

import traceback

import pytest

from nxkernel.definitions.outputs.raised_again import Line, raised_at


def test_the_traceback_ends_with_the_lines():
    lines = [Line("a.py", "C.f", 7, 7, 4, 9), Line("a.py", "g", 3, 3, 0, 5)]
    with pytest.raises(KeyError) as raised:
        raised_at(KeyError("k"), lines)
    steps = traceback.extract_tb(raised.value.__traceback__)[-2:]
    assert [(step.filename, step.name, step.lineno, step.colno) for step in steps] == [
        ("a.py", "f", 7, 4),
        ("a.py", "g", 3, 0),
    ]


def test_no_lines():
    with pytest.raises(KeyError):
        raised_at(KeyError("k"), ())
