"""Tab completion on the lines of ``%%defn``, ``%%jit`` and ``%nx``, and of compilers, rules and types in calls."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult, context_matcher
from IPython.core.interactiveshell import InteractiveShell

from nxkernel.compilers import registry
from nxkernel.definitions.keys.default_options import AUTO, current
from nxkernel.definitions.tracing.dialects import DIALECTS
from nxkernel.element_types import TYPES
from nxkernel_magics.definition_lookup import compiled, definitions, namespace
from nxkernel_magics.subcommands import COMMANDS, forms

_FLAGS = {
    "%%defn": ("--compiler", "--promotion", "--show", "--quiet"),
    "%%jit": ("--compiler", "--promotion"),
    "inspect": ("--text",),
    "timeline": ("--text", "-n"),
    "cache": ("--clear", "--text"),
    "events": ("-n", "--kernels"),
    "source": ("--form", "--kernel"),
}


def candidates(line: str, known: Mapping[str, Any]) -> list[str]:
    """The completions at the end of a line, regardless of a typed prefix.

    Parameters
    ----------
    line : str
        The line up to the cursor.
    known : mapping
        What the user can name.

    Returns
    -------
    list of str
        Empty where the line is not one of ours, or anything may follow.

    Examples
    --------
    >>> candidates("%nx source f --", {})
    ['--form', '--kernel']
    """
    words = line.split()
    done = words if line[-1:].isspace() else words[:-1]
    if not done or done[0] not in ("%%defn", "%%jit", "%nx", "nx"):
        return []
    if done[0] in ("%%defn", "%%jit"):
        return _after_flag(done[-1]) or list(_FLAGS[done[0]])
    if len(done) == 1:
        return list(COMMANDS)
    command = done[1]
    if command == "help":
        return [name for name in COMMANDS if name != "help"]
    if command == "options":
        typed = "" if len(done) == len(words) else words[-1]
        if typed.startswith("promotion="):
            return [f"promotion={name}" for name in DIALECTS]
        if typed.startswith("checked="):
            return ["checked=True", "checked=False"]
        if typed.startswith("compiler="):
            return [f"compiler={name}" for name in _compilers()]
        return [f"{name}=" for name in (*current(), "threads")]
    if command == "why":
        return list(definitions(known))
    if command not in _FLAGS or line.count("(") > line.count(")"):
        return []
    if done[-1] == "--form":
        views = [view for name, value in compiled(known).items() if name == done[2] for view in value.compilations()]
        return [*forms(views[-1].kernels), "module"] if views else []
    named = [] if len(done) > 2 else list(compiled(known))
    return _after_flag(done[-1]) or [*named, *(flag for flag in _FLAGS[command] if flag not in done)]


def _after_flag(flag: str) -> list[str]:
    if flag == "--compiler":
        return _compilers()
    if flag == "--promotion":
        return list(DIALECTS)
    if flag == "--show":
        return ["graph", "kernels", "none"]
    return []


def _compilers() -> list[str]:
    """The names of compilers."""
    return sorted([AUTO, *registry.names()])


#: Where an option of a function of nxkernel's is given as a text, perhaps in a line of its own: its name, and what is
#: typed of the text.
_OPTION = re.compile(r"(?:\b(?:nx|nxkernel)\..*|^)\b(compiler|promotion|type)\s*=\s*[\"']([\w:]*)$")


def values(text: str) -> list[str]:
    """What may go on within the quotes of an option's value at the end of a text; empty elsewhere.

    Parameters
    ----------
    text : str
        The code up to the cursor.

    Returns
    -------
    list of str
        Whole values that begin with what is typed.

    Examples
    --------
    >>> values('nx.jit(f, promotion="'), values("nx.iota((2, 3), type='f")
    (['nx', 'numpy'], ['f16', 'f32', 'f64'])
    """
    match = _OPTION.search(text)
    if match is None:
        return []
    known = {"compiler": _compilers, "promotion": lambda: list(DIALECTS), "type": lambda: list(TYPES)}[match[1]]()
    return [value for value in known if value.startswith(match[2])]


def install(shell: InteractiveShell) -> Callable[[], None]:
    """Register the completer with a shell; returns a function that unregisters.

    Parameters
    ----------
    shell : InteractiveShell
        Whose completer is extended.

    Returns
    -------
    callable
    """

    @context_matcher()
    def matcher(context: CompletionContext) -> SimpleMatcherResult:
        line = context.text_until_cursor.lstrip()
        typed = line.split()[-1] if line and not line[-1].isspace() else ""
        # IPython replaces its own token, which ends at fewer characters than a word of these lines.
        skipped = len(typed) - len(context.token) if typed.endswith(context.token) else 0
        words = [word for word in candidates(line, namespace(shell)) if word.startswith(typed)]
        if not words and (words := values(line)):
            skipped = len(_OPTION.search(line)[2]) - len(context.token)
        return {
            "completions": [SimpleCompletion(word[skipped:], type="nxkernel") for word in words],
            "suppress": bool(words),
            "ordered": True,
        }

    matchers = shell.Completer.custom_matchers
    matchers.append(matcher)
    return lambda: matchers.remove(matcher)
