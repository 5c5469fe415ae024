"""Rewriting `break`, `continue` and `return` into flags and nested branches, so that each block has one exit.

What follows an `if` of which one side leaves moves into the other side. A loop that is left has a flag, which ends it.
After this, a `return` is the last statement of a function, or of both sides of an `if` that is.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from nxkernel.definitions.syntax.definite_assignment import settled
from nxkernel.definitions.syntax.names import at, children

_LOOPS = ast.While | ast.For
_LEAVES = ast.Return | ast.Break | ast.Continue

#: Whether control reaches the end of a block.
_NEVER, _MAYBE, _ALWAYS = range(3)


class Tail(ast.stmt):
    """The end of a function that two sides of a branch go on to: a function of its own."""

    _fields = ("body",)
    _attributes = ("lineno", "col_offset", "end_lineno", "end_col_offset")


class GoOn(ast.Return):
    """A return of what a :class:`Tail` returns, which is the attribute `tail`."""


class LoopExits:
    """The `break`, `continue` and `return` statements of a loop while its body is rewritten."""

    def __init__(self, fresh: Callable[[str], str], breaks: bool, returns: bool) -> None:
        self.broken = fresh("broken") if breaks or returns else None
        #: The flag of a `return`; a loop without `break` needs no flag of its own for it.
        self.returned = (fresh("returned") if breaks else self.broken) if returns else None
        self.value = fresh("value") if returns else None
        self.gone = ""
        self.guarded = False


def straighten(body: list[ast.stmt], fresh: Callable[[str], str]) -> list[ast.stmt]:
    """Take the jumps out of a function's body.

    Parameters
    ----------
    body : list of ast.stmt
    fresh : callable
        Makes names for flags.

    Returns
    -------
    list of ast.stmt
        Loops have an attribute `broken`, the name of the flag that ends them, or None, another one `settled`, the
        variables that have a value after their `else` whatever they had before, and no `else`; an `if` has an attribute
        `returns`: whether both of its sides end with a return.
    """
    return _Jumps(fresh).to_end(body)


class _Jumps:
    def __init__(self, fresh: Callable[[str], str]) -> None:
        self.fresh = fresh

    # Outside of loops ------------------------------------------------------------------------------------------

    def to_end(self, block: list[ast.stmt]) -> list[ast.stmt]:
        """The statements up to the end of the function."""
        made: list[ast.stmt] = []
        for place, statement in enumerate(block):
            rest = block[place + 1 :]
            if isinstance(statement, ast.Return):
                return [*made, statement]
            if isinstance(statement, ast.If):
                if _leaves(statement):
                    return [*made, *self._last(statement, rest)]
                made.append(self._plain(statement))
            elif isinstance(statement, _LOOPS):
                loop, after, ends = self.loop(statement)
                made += loop
                if ends or after:
                    return [*made, *self.to_end([*after, *([] if ends else rest)])]
            else:
                made.append(statement)
        return made

    def _last(self, statement: ast.If, rest: list[ast.stmt]) -> list[ast.stmt]:
        sides = [statement.body, statement.orelse]
        going = [_falls(side) != _NEVER for side in sides]
        made: list[ast.stmt] = []
        if rest and all(going) and not isinstance(rest[0], GoOn):
            tail = at(Tail(self._closed(rest, statement)), rest[0] if rest else statement)
            made.append(tail)
            rest = [_go_on(tail, statement)]
        blocks = []
        for side, goes in zip(sides, going, strict=True):
            # Two sides that go on to the same tail do so by statements of their own.
            after = [_go_on(each.tail, each) if isinstance(each, GoOn) else each for each in rest]
            blocks.append(self._closed([*side, *after], statement) if goes else self.to_end(side))
        choice = at(ast.If(statement.test, *blocks), statement)
        choice.returns = True
        return [*made, choice]

    def _closed(self, block: list[ast.stmt], near: ast.AST) -> list[ast.stmt]:
        """The statements up to the end of the function, with a return at the end."""
        made = self.to_end(block)
        if _falls(block) != _NEVER and not _ends_with_return(made):
            made.append(at(ast.Return(None), block[-1] if block else near))
        return made

    def _plain(self, statement: ast.If) -> ast.If:
        """An `if` of which no side leaves."""
        made = at(ast.If(statement.test, self.to_end(statement.body), self.to_end(statement.orelse)), statement)
        made.returns = False
        return made

    # Loops -----------------------------------------------------------------------------------------------------

    def loop(self, statement: ast.While | ast.For) -> tuple[list[ast.stmt], list[ast.stmt], bool]:
        """A loop that is left by its flag, what comes after it and is not rewritten yet, and whether that is all."""
        test = statement.test if isinstance(statement, ast.While) else None
        inside = statement.body
        if test is not None and any(isinstance(node, ast.NamedExpr) for node in ast.walk(test)):
            leave = ast.If(ast.UnaryOp(ast.Not(), test), [ast.Break()], [])
            inside = [_placed(leave, test), *inside]
            test = _placed(ast.Constant(True), test)
        loop = LoopExits(self.fresh, _jumps(inside, ast.Break), _jumps(inside, ast.Return))
        body = self.turn(inside, loop)
        if loop.guarded:
            body = [_flag(loop.gone, False, statement), *body]
        else:
            body = _without_marks(body)
        body = body or [_placed(ast.Pass(), statement)]
        if test is not None:
            made: ast.stmt = ast.While(test, body, [])
        else:
            made = ast.For(statement.target, statement.iter, body, [])
        at(made, statement)
        made.broken = loop.broken
        made.settled = settled(statement) if statement.orelse and _jumps(inside, ast.Break) else frozenset()
        flags = dict.fromkeys(name for name in (loop.broken, loop.returned) if name is not None)
        before = [_flag(name, False, statement) for name in flags]
        if loop.value is not None:
            # It has no value until the loop is left by a return, and is read only then.
            before.append(_placed(ast.Delete([ast.Name(loop.value, ast.Del())]), statement))
        after: list[ast.stmt] = []
        returned = loop.returned is not None
        own_break = _jumps(inside, ast.Break)
        endless = test is not None and isinstance(test, ast.Constant) and bool(test.value)
        if returned:
            back = _placed(ast.Return(ast.Name(loop.value, ast.Load())), statement)
            if endless and not own_break:
                return [*before, made], [back], True
            after.append(_placed(ast.If(ast.Name(loop.returned, ast.Load()), [back], []), statement))
        if statement.orelse and own_break:
            whole = ast.UnaryOp(ast.Not(), ast.Name(loop.broken, ast.Load()))
            after.append(_placed(ast.If(whole, statement.orelse, []), statement))
        else:
            after += statement.orelse
        return [*before, made], after, False

    def turn(self, block: list[ast.stmt], loop: LoopExits) -> list[ast.stmt]:
        """The statements of an iteration of a loop."""
        made: list[ast.stmt] = []
        for place, statement in enumerate(block):
            rest = block[place + 1 :]
            if isinstance(statement, _LEAVES):
                return [*made, *self._leave(statement, loop)]
            if isinstance(statement, ast.If) and _leaves(statement):
                sides = [statement.body, statement.orelse]
                going = [_falls(side) for side in sides]
                if _NEVER in going:
                    sides = [[*side, *rest] if goes else side for side, goes in zip(sides, going, strict=True)]
                    return [*made, self._choice(statement, sides, loop)]
                made.append(self._choice(statement, sides, loop))
                if rest:
                    loop.guarded = True
                    here = ast.UnaryOp(ast.Not(), ast.Name(self._gone(loop), ast.Load()))
                    made.append(self._choice(_placed(ast.If(here, [], []), rest[0]), [rest, []], loop))
                return made
            if isinstance(statement, ast.If):
                made.append(self._choice(statement, [statement.body, statement.orelse], loop))
            elif isinstance(statement, _LOOPS):
                inner, after, ends = self.loop(statement)
                made += inner
                if ends or after:
                    return [*made, *self.turn([*after, *([] if ends else rest)], loop)]
            else:
                made.append(statement)
        return made

    def _choice(self, statement: ast.If, sides: list[list[ast.stmt]], loop: LoopExits) -> ast.If:
        made = at(ast.If(statement.test, *[self.turn(side, loop) for side in sides]), statement)
        made.returns = False
        return made

    def _leave(self, statement: ast.stmt, loop: LoopExits) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        if isinstance(statement, ast.Return):
            target = ast.Name(loop.value, ast.Store())
            made.append(_placed(ast.Assign([target], statement.value or ast.Constant(None)), statement))
            made.append(_flag(loop.returned, True, statement))
        if not isinstance(statement, ast.Continue) and loop.broken != loop.returned:
            made.append(_flag(loop.broken, True, statement))
        mark = _flag(self._gone(loop), True, statement)
        mark.only_for_guards = True
        return [*made, mark]

    def _gone(self, loop: LoopExits) -> str:
        """The flag that says that the rest of this iteration is left out."""
        loop.gone = loop.gone or self.fresh("gone")
        return loop.gone


def _go_on(tail: Tail, near: ast.AST) -> GoOn:
    made = at(GoOn(None), near)
    made.tail = tail
    return made


def _flag(name: str, value: bool, near: ast.AST) -> ast.Assign:
    return _placed(ast.Assign([ast.Name(name, ast.Store())], ast.Constant(value)), near)


def _placed(node: ast.AST, near: ast.AST) -> ast.AST:
    """A new node where another one stands; its parts that have a place keep it."""
    at(node, near)
    for child in children(node):
        if not hasattr(child, "lineno"):
            _placed(child, near)
    return node


def _without_marks(block: list[ast.stmt]) -> list[ast.stmt]:
    kept = []
    for statement in block:
        if getattr(statement, "only_for_guards", False):
            continue
        if isinstance(statement, ast.If):
            statement.body = _without_marks(statement.body) or [_placed(ast.Pass(), statement)]
            statement.orelse = _without_marks(statement.orelse)
        kept.append(statement)
    return kept


def _jumps(block: Iterable[ast.AST], kind: type[ast.stmt]) -> bool:
    """Whether a block leaves by such a jump, which for `break` and `continue` is of the loop around the block."""
    for node in block:
        if isinstance(node, kind):
            return True
        if isinstance(node, ast.If) and _jumps([*node.body, *node.orelse], kind):
            return True
        if isinstance(node, _LOOPS):
            parts = [*node.body, *node.orelse] if kind is ast.Return else node.orelse
            if _jumps(parts, kind):
                return True
    return False


def _leaves(statement: ast.stmt) -> bool:
    return any(_jumps([statement], kind) for kind in (ast.Return, ast.Break, ast.Continue))


def _falls(block: list[ast.stmt]) -> int:
    """Whether control reaches the end of a block that is not rewritten yet."""
    found = _ALWAYS
    for statement in block:
        if isinstance(statement, _LEAVES | ast.Raise):
            return _NEVER
        if isinstance(statement, ast.If):
            sides = {_falls(statement.body), _falls(statement.orelse)}
            if sides == {_NEVER}:
                return _NEVER
            if sides != {_ALWAYS} and _leaves(statement):
                found = _MAYBE
        elif isinstance(statement, _LOOPS) and _leaves(statement):
            endless = isinstance(statement, ast.While) and isinstance(statement.test, ast.Constant)
            if endless and statement.test.value and not _jumps(statement.body, ast.Break):
                return _NEVER
            found = _MAYBE
    return found


def _ends_with_return(block: list[ast.stmt]) -> bool:
    return bool(block) and (isinstance(block[-1], ast.Return) or getattr(block[-1], "returns", False))
