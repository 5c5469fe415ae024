"""Functions whose text has exceptions, or makes text: traced as they stand, they would do so with traced values."""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Callable
from typing import Any

from nxkernel.definitions.keys import callables, source_locations
from nxkernel.definitions.syntax.sources import tree_of

#: Instructions of exceptions, handlers, contexts, and text that is formatted.
_TELLING = frozenset(
    dis.opmap[name]
    for name in (
        "CHECK_EXC_MATCH",
        "RAISE_VARARGS",
        "WITH_EXCEPT_START",
        "FORMAT_VALUE",
        "FORMAT_SIMPLE",
        "FORMAT_WITH_SPEC",
    )
    if name in dis.opmap
)
#: What makes text, or says it.
_NAMES = frozenset({"print", "str", "repr", "format", "warn", "debug", "info", "warning", "error"})


def has(function: Callable[..., Any]) -> bool:
    """Whether a function, or one of the user's that it names, raises, handles exceptions, or makes text.

    Parameters
    ----------
    function : callable
        Its source has to be at hand: else nothing could be rewritten.
    """
    waiting, seen = [callables.plain(function)], set()
    while waiting:
        plain = waiting.pop()
        if not isinstance(plain, types.FunctionType):
            continue
        code = plain.__code__
        if code in seen or not source_locations.is_users(code.co_filename):
            continue
        seen.add(code)
        names, tells = _read(code)
        if tells:
            return tree_of(code) is not None
        waiting += [plain.__globals__.get(name) for name in names]
    return False


@functools.lru_cache(maxsize=2048)
def _read(code: types.CodeType) -> tuple[tuple[str, ...], bool]:
    """The names that code and the code in it has, and whether it has exceptions or makes text."""
    inner = [_read(each) for each in code.co_consts if isinstance(each, types.CodeType)]
    tells = not (_TELLING.isdisjoint(code.co_code[::2]) and _NAMES.isdisjoint(code.co_names))
    names = (*code.co_names, *(name for names, _ in inner for name in names))
    return names, tells or any(tells for _, tells in inner)
