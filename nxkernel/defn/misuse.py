"""Errors for calls that a definition cannot answer: what was given, and what to give instead."""

from __future__ import annotations

from typing import Any

from nxkernel.errors import CompilationError, NxTypeError, message
from nxkernel.wording import a


def no_data(function: str, path: str, value: Any) -> NxTypeError:
    """An argument, or a part of one, is neither a tensor nor a number."""
    got = "None" if value is None else a(type(value).__name__)
    top = path.partition("[")[0].partition(".")[0]
    if path == top:
        shown = f'"{value}"' if isinstance(value, str) else "None" if value is None else "…"
        hint = (
            f"Python values go in as options: declare them after `*`, as in `def {function}(*, {top})`, and "
            f"call {function}({top}={shown})."
        )
    else:
        hint = "A container holds tensors and numbers; Python values go in as options, declared after `*`."
    return NxTypeError(
        message(f"{function}() takes tensors or numbers as positional arguments, got {got} for {path!r}.", hint)
    )


def traced(function: str, path: str, forced: bool) -> NxTypeError:
    """An argument is a traced value, and the definition is not part of that trace."""
    if forced:
        return NxTypeError(
            message(
                f'{function}, which has on_conflict="force", got a traced value for {path!r}.',
                "It is compiled and run on its own, while the function around it is traced: give it data, or use "
                'on_conflict="reuse" to make it part of that graph.',
            )
        )
    return NxTypeError(
        message(
            f"{function} got a traced value for {path!r} outside of any trace.",
            "A traced value lives only while its definition is traced; return it from there.",
        )
    )


def template(function: str, path: str) -> NxTypeError:
    """An argument is a template."""
    return NxTypeError(
        message(
            f"{function} got a template for {path!r}, which has no data.",
            "Templates are for nx.compile and for the `why` of a definition.",
        )
    )


def endless(function: str) -> CompilationError:
    """A definition calls itself without end."""
    return CompilationError(
        message(
            f"{function} calls itself without end while it is traced.",
            "What ends a recursion must be known then: an option that counts down, not a tensor.",
        )
    )
