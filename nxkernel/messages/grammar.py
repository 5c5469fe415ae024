"""English grammar of messages: articles and plurals."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile


def a(kind: str) -> str:
    """The name of a class with its article.

    Examples
    --------
    >>> a("str"), a("object")
    ('a str', 'an object')
    """
    return f"{'an' if kind[:1].lower() in 'aeio' else 'a'} {kind}"


def counted(count: int, what: str, several: str = "") -> str:
    """A count with its noun in singular or plural; `several` is a plural that is not made with an s.

    Examples
    --------
    >>> counted(1, "kernel"), counted(2, "kernel"), counted(2, "axis", "axes")
    ('1 kernel', '2 kernels', '2 axes')
    """
    return f"{count} {what}" if count == 1 else f"{count} {several or what + 's'}"


def shared(titles: Sequence[str]) -> str:
    """The common prefix of titles, up to a colon or comma.

    Examples
    --------
    >>> shared(["sort of 9 by 3 digits: spread", "sort of 9 by 3 digits: move"]), shared(["map", "rows"])
    ('sort of 9 by 3 digits', '')
    """
    pairs = zip(min(titles), max(titles), strict=False)
    common = "".join(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return common[: max(common.rfind(": "), common.rfind(", "), 0)]
