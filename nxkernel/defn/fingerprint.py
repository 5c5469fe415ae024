"""The identity of a function by the content of its code: the same text in a new cell is the same function."""

from __future__ import annotations

import hashlib
import types
from typing import Any


def of_code(code: types.CodeType) -> str:
    """A hash of what a code object does; file names, line numbers and comments do not count."""
    digest = hashlib.sha256()
    _feed(code, digest.update)
    return digest.hexdigest()[:32]


def _feed(code: types.CodeType, update: Any) -> None:
    header = (
        code.co_name,
        code.co_argcount,
        code.co_posonlyargcount,
        code.co_kwonlyargcount,
        code.co_flags,
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_cellvars,
        getattr(code, "co_exceptiontable", b""),
    )
    update(repr(header).encode())
    update(code.co_code)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            _feed(constant, update)
        elif isinstance(constant, frozenset):
            update(repr(sorted(map(repr, constant))).encode())
        else:
            update(f"{type(constant).__name__} {constant!r}".encode())


def of_function(function: types.FunctionType) -> str:
    """A hash of a function's code and of the default values of its parameters."""
    digest = hashlib.sha256(of_code(function.__code__).encode())
    for value in (*(function.__defaults__ or ()), *sorted((function.__kwdefaults__ or {}).items())):
        digest.update(f"{type(value).__name__} {value!r}".encode())
    return digest.hexdigest()[:32]
