"""Unassigned variables: any use is an error that says why the variable has no value."""

from __future__ import annotations

from typing import Any, NoReturn

from nxkernel.definitions.flow import source_sites
from nxkernel.errors import NxError, message


class NxUnboundError(NxError, UnboundLocalError):
    """A variable is used that has no value, or has one on some paths only."""


class Unassigned:
    """The value of a variable that nothing was assigned to: any use raises an error.

    Parameters
    ----------
    name : str
        The variable's.
    site : Site, optional
        The branch or loop that assigns to it on some paths only.
    missing : str
        The path that assigns nothing to it, such as ``"the `else` side"``.
    pending : bool
        Whether rewriting made the variable: it is never read before it is assigned, so any value will do.
    """

    __slots__ = ("_missing", "_name", "_site", "pending")

    def __init__(self, name: str, site: Any = None, missing: str = "", *, pending: bool = False) -> None:
        self._name, self._site, self._missing, self.pending = name, site, missing, pending

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise self._error()

    def _error(self) -> NxError:
        if self._site is None:
            return NxUnboundError(
                message(f"the variable `{self._name}` is used before it has a value.", "Assign it first.")
            )
        return NxUnboundError(
            message(
                f"the variable `{self._name}` may have no value here: {self._missing} assigns nothing to it.",
                *source_sites.shown(self._site),
                f"Only the running program knows which way it goes: give `{self._name}` a value on every way.",
            )
        )

    def __getattr__(self, name: str) -> NoReturn:
        raise self._error()

    def __repr__(self) -> str:
        return f"<no value of {self._name}>"


_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift")
_OTHERS = (
    "abs", "array", "bool", "call", "complex", "contains", "delitem", "divmod", "enter", "eq", "exit", "float",
    "format", "ge", "getitem", "gt", "hash", "index", "int", "invert", "iter", "le", "len", "lt", "ne", "neg", "next",
    "nx_operand", "pos", "round", "setitem", "str",
)  # fmt: skip


def _install() -> None:
    """Define all operators, which Python looks up on the class, as errors."""
    for name in (*_BINARY, *(f"r{name}" for name in _BINARY), *(f"i{name}" for name in _BINARY), *_OTHERS):
        setattr(Unassigned, f"__{name}__", Unassigned._refuse)


_install()


def unassigned(name: str) -> Unassigned:
    """The initial value of a variable that nothing has been assigned to."""
    return Unassigned(name)


def pending(name: str) -> Unassigned:
    """The initial value of a variable that rewritten code made, which is never read before it is assigned."""
    return Unassigned(name, pending=True)


def is_unassigned(value: Any) -> bool:
    """Whether a variable has no value."""
    return type(value) is Unassigned
