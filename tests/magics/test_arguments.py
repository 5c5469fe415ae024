"""The words of a magic's line."""

import re

import pytest
from IPython.core.error import UsageError
from IPython.core.magic_arguments import argument, magic_arguments

from nxkernel_magics.arguments import parse


@magic_arguments("look")
@argument("name")
def look(line):
    """Look."""


def test_a_line_is_read():
    assert parse(look.parser, "'a b'").name in ("a b", "'a b'")


@pytest.mark.parametrize("line", ["'", 'f "x', "f ''' "])
def test_quotes_that_do_not_close(line):
    said = f"no closing quotation in `{line}`: quotes come in pairs, a backslash keeps one as it is."
    with pytest.raises(UsageError, match=re.escape(said)):
        parse(look.parser, line)


@pytest.mark.parametrize("cell", ["%%defn '\ndef f(x):\n    return x", "%%jit '\nx = 1"])
def test_quotes_that_do_not_close_in_the_first_line_of_a_cell(shell, cell):
    ran = shell.run(cell)
    assert ran.err == (
        "UsageError: no closing quotation in `'`: quotes come in pairs, a backslash keeps one as it is.\n"
    )
