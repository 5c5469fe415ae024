"""Words that follow from other words: articles and plurals."""

from __future__ import annotations


def a(kind: str) -> str:
    """A class's name with its article.

    Examples
    --------
    >>> a("str"), a("object")
    ('a str', 'an object')
    """
    return f"{'an' if kind[:1].lower() in 'aeio' else 'a'} {kind}"


def counted(count: int, what: str) -> str:
    """A number of things.

    Examples
    --------
    >>> counted(1, "kernel"), counted(2, "kernel")
    ('1 kernel', '2 kernels')
    """
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
