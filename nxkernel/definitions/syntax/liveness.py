"""Liveness analysis: which variables are read later, so that loops and branches pass on only those."""

from __future__ import annotations

import ast

from nxkernel.definitions.syntax.jumps import GoOn, Tail
from nxkernel.definitions.syntax.names import free, functions_in, maybe_stores, own, reads, stored, stores

Names = frozenset[str]
_NOTHING: Names = frozenset()


class Liveness:
    """Annotates the branches and loops of a function with the variables that are read later.

    Each gets an attribute `live`: the variables that are live after it, or for a tail, where it begins. A branch also
    gets `live_body` and `live_orelse`, the variables that are live where its sides begin; a loop gets `live_iteration`,
    those that are live where an iteration begins.

    Parameters
    ----------
    body : list of ast.stmt
        Of the function, without jumps.
    """

    def __init__(self, body: list[ast.stmt]) -> None:
        self._held = _held(body)
        self._shared = frozenset().union(*self._held.values())
        #: What the handlers around read, which any statement may go on to.
        self._caught = _NOTHING
        self.block(body, _NOTHING)

    def block(self, statements: list[ast.stmt], live: Names) -> Names:
        """The variables that are live before a block, given those that are live after it."""
        for statement in reversed(statements):
            live = self._before(statement, live) | self._caught
        return live

    def _before(self, statement: ast.stmt, live: Names) -> Names:
        if isinstance(statement, ast.If):
            statement.live = live
            statement.live_body = self.block(statement.body, live)
            statement.live_orelse = self.block(statement.orelse, live)
            return self._reads(statement.test) | statement.live_body | statement.live_orelse
        if isinstance(statement, ast.While):
            return self._of_loop(statement, live, self._reads(statement.test), _NOTHING)
        if isinstance(statement, ast.For):
            target = self._reads(statement.target)
            return self._reads(statement.iter) | self._of_loop(
                statement, live, target, frozenset(stored(statement.target))
            )
        if isinstance(statement, ast.Try):
            return self._of_try(statement, live)
        if isinstance(statement, ast.With):
            targets = [item.optional_vars for item in statement.items if item.optional_vars is not None]
            named = frozenset(name for target in targets for name in stored(target))
            return (self.block(statement.body, live) - named) | frozenset().union(*map(self._reads, statement.items))
        if isinstance(statement, Tail):
            # Nothing may go on to it, where what looks as if it did ends in a loop.
            self._of_tail(statement)
            return live
        if isinstance(statement, GoOn):
            return self._of_tail(statement.tail)
        if isinstance(statement, ast.Return | ast.Raise):
            return self._reads(statement)
        if isinstance(statement, ast.FunctionDef):
            # What it reads is read where its name is, if nothing else takes it at once.
            taken = self._reads(statement) if statement.decorator_list else self._reads(statement) - free(statement)
            return (live - {statement.name}) | taken
        return (live - _replaced(statement)) | self._reads(statement)

    def _of_try(self, statement: ast.Try, live: Names) -> Names:
        statement.live = live
        end = self.block(statement.finalbody, live) if statement.finalbody else live
        after, caught = self.block(statement.orelse, end), end if statement.finalbody else _NOTHING
        for handler in statement.handlers:
            kinds = _NOTHING if handler.type is None else self._reads(handler.type)
            caught |= kinds | (self.block(handler.body, end) - {handler.name})
        around, self._caught = self._caught, self._caught | caught
        statement.live_body = self.block(statement.body, after | self._caught) | self._caught
        self._caught = around
        return statement.live_body

    def _of_tail(self, tail: Tail) -> Names:
        if not hasattr(tail, "live"):
            tail.live = self.block(tail.body, _NOTHING)
        return tail.live

    def _of_loop(self, loop: ast.While | ast.For, live: Names, test: Names, target: Names) -> Names:
        if loop.broken is not None:
            test |= {loop.broken}
        head = live | test
        while True:
            loop.live = live
            loop.live_iteration = live | test | (self.block(loop.body, head) - target)
            if loop.live_iteration == head:
                return head - (loop.settled - self._shared)
            head = loop.live_iteration

    def _reads(self, node: ast.AST) -> Names:
        """The names that code reads, including those that the functions read which it mentions."""
        names = getattr(node, "reads", None)
        if names is not None:
            return names
        names = reads(node)
        waiting = list(names)
        while waiting:
            more = self._held.get(waiting.pop(), _NOTHING) - names
            names |= more
            waiting += more
        # Cached, as each enclosing loop asks again.
        node.reads = frozenset(names)
        return node.reads


def _replaced(statement: ast.stmt) -> set[str]:
    """The variables that a statement certainly assigns: not those of ``:=``."""
    return stores([statement]).keys() - maybe_stores(statement).keys()


def _held(body: list[ast.stmt]) -> dict[str, set[str]]:
    """For each variable that may hold an inner function, the names that this function reads from outside."""
    held: dict[str, set[str]] = {}
    if not functions_in(body):
        return held
    for node in own(body):
        if isinstance(node, ast.FunctionDef):
            held.setdefault(node.name, set()).update(free(node))
        elif isinstance(node, ast.Assign):
            inside = [each for each in ast.walk(node.value) if isinstance(each, ast.Lambda)]
            for name in (name for target in node.targets for name in stored(target)) if inside else ():
                held.setdefault(name, set()).update(*map(free, inside))
    return held
