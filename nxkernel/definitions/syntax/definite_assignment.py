"""Definite assignment in loops with `else`: variables set before each `break` and in the `else`."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from nxkernel.definitions.syntax.names import free, functions_in, maybe_stores, reads, stored, stores

#: The variables that certainly have a value at some point; None where control never gets there.
Had = frozenset[str] | None
_NOTHING: frozenset[str] = frozenset()


def settled(loop: ast.While | ast.For) -> frozenset[str]:
    """The variables that a loop with `else` assigns on every path, and that no iteration reads before.

    Parameters
    ----------
    loop : ast.While or ast.For
        Before its jumps are rewritten.

    Examples
    --------
    >>> text = "for i in x:" + chr(10) + "  if i: y = i; z = y; break" + chr(10) + "else:" + chr(10) + "  y = 0"
    >>> sorted(settled(ast.parse(text).body[0]))
    ['y']
    """
    if any(isinstance(node, ast.Break | ast.Continue) for each in loop.orelse for node in ast.walk(each)):
        return _NOTHING
    ways = _Ways()
    start = ways.head(loop, _NOTHING)
    ways.block(loop.body, start)
    at_end = ways.block(loop.orelse, _NOTHING)
    if not ways.breaks:
        return _NOTHING
    assigned = _either([*ways.breaks, at_end]) or _NOTHING
    written_here = functions_in([*loop.body, *loop.orelse])
    return assigned - ways.early - frozenset(name for function in written_here for name in free(function))


class _Ways:
    """Follows the paths through an iteration.

    Attributes
    ----------
    breaks : list
        For each `break`, the variables that are assigned there.
    early : set of str
        Variables that may be read before this iteration assigns them.
    """

    def __init__(self) -> None:
        self.breaks: list[Had] = []
        self.early: set[str] = set()

    def block(self, statements: Iterable[ast.stmt], had: Had) -> Had:
        """The variables that are assigned on every path through these statements; None if none reaches the end."""
        for statement in statements:
            if had is None:
                return None
            had = self._after(statement, had)
        return had

    def head(self, loop: ast.While | ast.For, had: frozenset[str]) -> frozenset[str]:
        """The variables that are assigned when an iteration begins."""
        self._read(loop.test if isinstance(loop, ast.While) else loop.iter, had)
        return had | frozenset(stored(loop.target)) if isinstance(loop, ast.For) else had

    def _after(self, statement: ast.stmt, had: frozenset[str]) -> Had:
        if isinstance(statement, ast.Break):
            self.breaks.append(had)
            return None
        if isinstance(statement, ast.If):
            self._read(statement.test, had)
            return _either([self.block(statement.body, had), self.block(statement.orelse, had)])
        if isinstance(statement, ast.While | ast.For):
            inner = _Ways()
            inner.early = self.early
            inner.block(statement.body, inner.head(statement, had))
            after = self.block(statement.orelse, had)
            return _either([*inner.breaks, after])
        if isinstance(statement, ast.Try):
            return self._after_try(statement, had)
        if isinstance(statement, ast.With):
            for item in statement.items:
                self._read(item, had)
            return self.block(statement.body, had | frozenset(stores(statement.items)))
        if isinstance(statement, ast.Delete):
            return had - frozenset(stores([statement]))
        self._read(statement, had)
        if isinstance(statement, ast.Continue | ast.Return | ast.Raise):
            return None
        return had | (frozenset(stores([statement])) - frozenset(maybe_stores(statement)))

    def _after_try(self, statement: ast.Try, had: frozenset[str]) -> Had:
        ways = [self.block([*statement.body, *statement.orelse], had)]
        for handler in statement.handlers:
            named = frozenset() if handler.name is None else frozenset({handler.name})
            ways.append(self.block(handler.body, had | named))
        # It runs on the ways that leave the statement, too.
        self.block(statement.finalbody, had)
        after = _either(ways)
        return None if after is None else self.block(statement.finalbody, after)

    def _read(self, node: ast.AST, had: frozenset[str]) -> None:
        self.early |= reads(node) - had


def _either(ways: Iterable[Had]) -> Had:
    """The variables that are assigned on all paths."""
    coming = [way for way in ways if way is not None]
    return frozenset.intersection(*coming) if coming else None
