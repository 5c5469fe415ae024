"""First lines of cells that become statements."""

import ast

from nxkernel_magics import first_line_rewriting

REWRITE = first_line_rewriting.rewriting("%%twice", lambda line: f"twice({line!r})")


def test_a_marked_line_becomes_a_statement():
    assert REWRITE(["  %%twice  --fast \n", "x\n"]) == ["twice('--fast')\n", "x\n"]
    assert REWRITE(["%%twice\n"]) == ["twice('')\n"]
    assert REWRITE.has_side_effects


def test_other_lines_stay():
    for lines in ([], ["x\n"], ["%%twicely\n"], ["%%twice?\n"], ["x\n", "%%twice\n"]):
        assert REWRITE(lines) is lines


def test_a_shell_is_as_it_was_afterwards(bare):
    visitor = ast.NodeVisitor()
    before = list(bare.ip.input_transformers_cleanup), list(bare.ip.ast_transformers)
    remove = first_line_rewriting.install(bare.ip, REWRITE, visitor)
    assert REWRITE in bare.ip.input_transformers_cleanup
    assert visitor in bare.ip.ast_transformers
    remove()
    assert (bare.ip.input_transformers_cleanup, bare.ip.ast_transformers) == before
