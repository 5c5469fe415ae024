"""Code that has exceptions, or makes text: traced as it stands, it would do so with traced values."""

from __future__ import annotations

import dis
import functools
import types

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
_NAMES = frozenset(
    {
        "print", "str", "repr", "format", "warn", "debug", "info", "warning", "error", "critical", "fatal", "exception",
        # It swaps rows of what is no array for it: of views, copies of one.
        "shuffle",
    }
)  # fmt: skip
#: Where the instruction before an attribute's leaves what has it, when a module does: ``np.log``.
_GLOBALS = frozenset({"LOAD_GLOBAL", "LOAD_NAME"})


def is_in(code: types.CodeType) -> bool:
    """Whether code raises, handles exceptions, or makes text; False where its source is not at hand.

    Nothing could be rewritten then.
    """
    return _tells(code) and tree_of(code) is not None


@functools.lru_cache(maxsize=2048)
def _tells(code: types.CodeType) -> bool:
    if not (_TELLING.isdisjoint(code.co_code[::2]) and _NAMES.isdisjoint(code.co_names)):
        return True
    if "log" in code.co_names and _logs(code):
        return True
    return any(_tells(each) for each in code.co_consts if isinstance(each, types.CodeType))


def _logs(code: types.CodeType) -> bool:
    """Whether code has ``log`` of something that is no global name, as of ``self.logger``."""
    before = None
    for each in dis.get_instructions(code):
        if each.opname in ("LOAD_ATTR", "LOAD_METHOD") and each.argval == "log" and before not in _GLOBALS:
            return True
        before = each.opname
    return False
