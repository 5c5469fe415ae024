"""Errors are also the Python errors that a caller would expect."""

import pytest

from nxkernel import errors


@pytest.mark.parametrize(
    ("error", "base"),
    [
        (errors.NxTypeError, TypeError),
        (errors.NxValueError, ValueError),
        (errors.NxIndexError, IndexError),
        (errors.TracedValueError, TypeError),
        (errors.CompilationError, RuntimeError),
    ],
)
def test_each_error_is_a_python_error_too(error, base):
    assert issubclass(error, base)
    assert issubclass(error, errors.NxError)


def test_hints_stand_on_lines_of_their_own():
    assert errors.message("wrong.", "Do this.", "Or that.") == "wrong.\n  Do this.\n  Or that."
    assert errors.message("wrong.") == "wrong."
