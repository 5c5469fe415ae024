"""Functions whose text handles exceptions, or makes text: traced as they stand, they would do so with traced values."""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Callable
from typing import Any

from nxkernel.definitions.keys import callables, source_locations
from nxkernel.definitions.syntax.sources import tree_of

#: Instructions of handlers, of contexts, and of text that is formatted.
_TELLING = frozenset({"CHECK_EXC_MATCH", "WITH_EXCEPT_START", "FORMAT_VALUE", "FORMAT_SIMPLE", "FORMAT_WITH_SPEC"})
#: What makes text, or says it.
_NAMES = frozenset({"print", "str", "repr", "format", "warn", "debug", "info", "warning", "error"})


def has(function: Callable[..., Any]) -> bool:
    """Whether the text of a function, or of one of the user's that it names, has a `try` or `with`, or makes text.

    Parameters
    ----------
    function : callable
        Its source has to be at hand: else nothing could be rewritten.
    """
    plain = callables.plain(function)
    return isinstance(plain, types.FunctionType) and _has(plain, set())


def _has(function: types.FunctionType, seen: set[types.CodeType]) -> bool:
    code = function.__code__
    if code in seen or not source_locations.is_users(code.co_filename):
        return False
    seen.add(code)
    if _tells(code):
        return tree_of(code) is not None
    named = [function.__globals__.get(name) for name in _named(code)]
    return any(isinstance(value, types.FunctionType) and _has(value, seen) for value in named)


@functools.lru_cache(maxsize=2048)
def _tells(code: types.CodeType) -> bool:
    steps = dis.get_instructions(code)
    if not _NAMES.isdisjoint(code.co_names) or any(step.opname in _TELLING for step in steps):
        return True
    return any(_tells(each) for each in code.co_consts if isinstance(each, types.CodeType))


@functools.lru_cache(maxsize=2048)
def _named(code: types.CodeType) -> tuple[str, ...]:
    inner = [name for each in code.co_consts if isinstance(each, types.CodeType) for name in _named(each)]
    return (*code.co_names, *inner)
