"""Articles and plurals."""

from nxkernel.messages.grammar import a, counted


def test_articles():
    assert [a(kind) for kind in ("str", "object", "int", "Expr", "ufunc")] == [
        "a str", "an object", "an int", "an Expr", "a ufunc",
    ]  # fmt: skip


def test_plurals():
    assert [counted(count, "call") for count in (0, 1, 2)] == ["0 calls", "1 call", "2 calls"]
