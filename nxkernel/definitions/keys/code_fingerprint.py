"""The identity of code by its content: the same text in a new cell is the same function."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable


@functools.lru_cache(maxsize=4096)
def of_code(code: types.CodeType) -> str:
    """A hash of what a code object does, without file names, line numbers and comments.

    Examples
    --------
    >>> of_code(compile("x + 1", "here", "eval")) == of_code(compile("x  +  1  # more", "there", "eval"))
    True
    """
    # It loads OpenSSL, for longer than most of our modules take together: not when nxkernel is imported.
    import hashlib

    digest = hashlib.sha256()
    _feed(code, digest.update)
    return digest.hexdigest()[:32]


def _feed(code: types.CodeType, update: Callable[[bytes], None]) -> None:
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
        code.co_exceptiontable,
    )
    update(repr(header).encode())
    update(code.co_code)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            _feed(constant, update)
        elif isinstance(constant, frozenset):
            # Its order depends on the hashes of strings, which differ from process to process.
            update(repr(sorted(map(repr, constant))).encode())
        else:
            update(f"{type(constant).__name__} {constant!r}".encode())
