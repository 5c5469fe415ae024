"""The words of a magic's line."""

import re

import pytest
from IPython.core.error import UsageError
from IPython.core.magic_arguments import argument, magic_arguments

from nxkernel_magics.arguments import parse_argstring


@magic_arguments("look")
@argument("name")
def look(line):
    """Look."""


def test_a_line_is_read():
    assert parse_argstring(look, "'a b'").name in ("a b", "'a b'")


@pytest.mark.parametrize("line", ["'", 'f "x', "f ''' "])
def test_quotes_that_do_not_close(line):
    said = f"no closing quotation in `{line}`: quotes come in pairs, a backslash keeps one as it is."
    with pytest.raises(UsageError, match=re.escape(said)):
        parse_argstring(look, line)
