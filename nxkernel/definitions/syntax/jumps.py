"""Rewriting `break`, `continue` and `return` into flags and nested branches, so that each block has one exit.

If one side of an `if` jumps, the statements after the `if` move into the other side. A loop with jumps gets a flag that
ends it. Afterwards, a `return` is the last statement of a function, or of both sides of an `if` that is the last one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from nxkernel.definitions.syntax.definite_assignment import settled
from nxkernel.definitions.syntax.names import at, children, stores

_LOOPS = ast.While | ast.For
#: Statements whose blocks stay where they are, and run at most once.
_REGIONS = ast.Try | ast.With
_LEAVES = ast.Return | ast.Break | ast.Continue

#: Whether control reaches the end of a block.
_NEVER, _MAYBE, _ALWAYS = range(3)


class Tail(ast.stmt):
    """The end of a function that both sides of an `if` go on to; it becomes a function."""

    _fields = ("body",)
    _attributes = ("lineno", "col_offset", "end_lineno", "end_col_offset")


class GoOn(ast.Return):
    """Return what a :class:`Tail`, the attribute `tail`, returns."""


class LoopExits:
    """The flags of a loop that is left by `break`, `continue` or `return`."""

    def __init__(self, fresh: Callable[[str], str], breaks: bool, returns: bool) -> None:
        self.broken = fresh("broken") if breaks or returns else None
        #: The flag of a `return`; a loop without `break` needs no flag of its own for it.
        self.returned = (fresh("returned") if breaks else self.broken) if returns else None
        self.value = fresh("value") if returns else None
        self.skipped = ""
        self.guarded = False

    def flags(self, statement: ast.stmt) -> list[str]:
        """The flags that a jump sets, besides that for skipping the rest of the iteration."""
        names = [self.returned] if isinstance(statement, ast.Return) else []
        if not isinstance(statement, ast.Continue) and self.broken != self.returned:
            names.append(self.broken)
        return names


class RegionExits(LoopExits):
    """The flags of a `try` or `with` that is left by `break`, `continue` or `return`."""

    def __init__(self, fresh: Callable[[str], str], kinds: Iterable[type[ast.stmt]]) -> None:
        super().__init__(fresh, False, False)
        names = {ast.Return: "returned", ast.Break: "broken", ast.Continue: "continued"}
        self.of_kind = {kind: fresh(names[kind]) for kind in kinds}
        self.value = fresh("value") if ast.Return in self.of_kind else None

    def flags(self, statement: ast.stmt) -> list[str]:
        """The flag of a jump."""
        return [self.of_kind[type(statement)]]


def straighten(body: list[ast.stmt], fresh: Callable[[str], str]) -> list[ast.stmt]:
    """Replace the jumps in a function's body by flags and branches.

    Parameters
    ----------
    body : list of ast.stmt
    fresh : callable
        Makes names for flags.

    Returns
    -------
    list of ast.stmt
        Nothing jumps out of a `try` or `with`. Loops have no `else`, and two attributes: `broken`, the name of the flag
        that ends them, or None; and `settled`, the variables that they assign on every path. An `if` has the attribute
        `returns`: whether both of its sides end with a return.
    """
    return _Jumps(fresh).to_end(body)


class _Jumps:
    def __init__(self, fresh: Callable[[str], str]) -> None:
        self.fresh = fresh

    # Outside of loops ------------------------------------------------------------------------------------------

    def to_end(self, block: list[ast.stmt]) -> list[ast.stmt]:
        """Rewrite the statements up to the end of the function."""
        statements: list[ast.stmt] = []
        for number, statement in enumerate(block):
            rest = block[number + 1 :]
            if isinstance(statement, ast.Return):
                return [*statements, statement]
            if isinstance(statement, ast.If):
                if _leaves(statement):
                    return [*statements, *self._last(statement, rest)]
                statements.append(self._plain(statement))
            elif isinstance(statement, _LOOPS | _REGIONS):
                loop, after, ends = self.region(statement) if isinstance(statement, _REGIONS) else self.loop(statement)
                statements += loop
                if ends or after:
                    return [*statements, *self.to_end([*after, *([] if ends else rest)])]
            else:
                statements.append(statement)
        return statements

    def _last(self, statement: ast.If, rest: list[ast.stmt]) -> list[ast.stmt]:
        sides = [statement.body, statement.orelse]
        going = [_falls(side) != _NEVER for side in sides]
        statements: list[ast.stmt] = []
        if rest and all(going) and not isinstance(rest[0], GoOn):
            tail = at(Tail(self._closed(rest, statement)), rest[0] if rest else statement)
            statements.append(tail)
            rest = [_go_on(tail, statement)]
        blocks = []
        for side, goes in zip(sides, going, strict=True):
            # Two sides that go on to the same tail do so by statements of their own.
            after = [_go_on(each.tail, each) if isinstance(each, GoOn) else each for each in rest]
            blocks.append(self._closed([*side, *after], statement) if goes else self.to_end(side))
        branch = at(ast.If(statement.test, *blocks), statement)
        branch.returns = True
        return [*statements, branch]

    def _closed(self, block: list[ast.stmt], near: ast.AST) -> list[ast.stmt]:
        """Rewrite the statements up to the end of the function, and end them with a return."""
        statements = self.to_end(block)
        if _falls(block) != _NEVER and not _ends_with_return(statements):
            statements.append(at(ast.Return(None), block[-1] if block else near))
        return statements

    def _plain(self, statement: ast.If) -> ast.If:
        """An `if` whose sides do not jump."""
        branch = at(ast.If(statement.test, self.to_end(statement.body), self.to_end(statement.orelse)), statement)
        branch.returns = False
        return branch

    # `try` and `with` --------------------------------------------------------------------------------------------

    def region(self, statement: ast.Try | ast.With) -> tuple[list[ast.stmt], list[ast.stmt], bool]:
        """A `try` or `with` that is left at its end; the statements to follow it; and whether nothing else does."""
        blocks = blocks_of(statement)
        kinds = [kind for kind in (ast.Return, ast.Break, ast.Continue) if any(_jumps(block, kind) for block in blocks)]
        exits = RegionExits(self.fresh, kinds)
        body, *others = [self.iteration(block, exits) for block in blocks]
        if isinstance(statement, ast.Try):
            *caught, orelse, final = others
            if kinds and orelse:
                exits.guarded = True
                reached = ast.UnaryOp(ast.Not(), ast.Name(self._skip_flag(exits), ast.Load()))
                guarded = _placed(ast.If(reached, orelse, []), statement.orelse[0])
                guarded.returns = False
                orelse = [guarded]
            handlers = [
                at(ast.ExceptHandler(handler.type, handler.name, block), handler)
                for handler, block in zip(statement.handlers, caught, strict=True)
            ]
            rewritten: ast.stmt = at(ast.Try(body, handlers, orelse, final), statement)
        else:
            rewritten = at(ast.With(statement.items, body), statement)
        assigned = frozenset(stores([statement]))
        for block in blocks_of(rewritten):
            for node in (node for each in block for node in ast.walk(each) if isinstance(node, ast.If)):
                # Where it is left before, nothing reads what is assigned later.
                node.settled = getattr(node, "settled", frozenset()) | assigned
        names = [*exits.of_kind.values(), *([exits.skipped] if exits.guarded else [])]
        before: list[ast.stmt] = [_flag(name, False, statement) for name in names]
        if not exits.guarded:
            for block in blocks_of(rewritten):
                block[:] = _without_marks(block) or ([_placed(ast.Pass(), statement)] if block else [])
        if exits.value is None:
            back: list[ast.stmt] = []
        else:
            before.append(_placed(ast.Delete([ast.Name(exits.value, ast.Del())]), statement))
            back = [_placed(ast.Return(ast.Name(exits.value, ast.Load())), statement)]
        if kinds == [ast.Return] and _falls([statement]) == _NEVER:
            return [*before, rewritten], back, True
        jumps = {ast.Return: back, ast.Break: [ast.Break()], ast.Continue: [ast.Continue()]}
        after = [
            _placed(
                ast.If(ast.Name(name, ast.Load()), [_placed(each, statement) for each in jumps[kind]], []), statement
            )
            for kind, name in exits.of_kind.items()
        ]
        return [*before, rewritten], after, False

    # Loops -----------------------------------------------------------------------------------------------------

    def loop(self, statement: ast.While | ast.For) -> tuple[list[ast.stmt], list[ast.stmt], bool]:
        """A loop that ends by its flag; the statements to follow it; and whether nothing else is reached after it."""
        test = statement.test if isinstance(statement, ast.While) else None
        inside = statement.body
        if test is not None and any(isinstance(node, ast.NamedExpr) for node in ast.walk(test)):
            leave = ast.If(ast.UnaryOp(ast.Not(), test), [ast.Break()], [])
            inside = [_placed(leave, test), *inside]
            test = _placed(ast.Constant(True), test)
        loop = LoopExits(self.fresh, _jumps(inside, ast.Break), _jumps(inside, ast.Return))
        body = self.iteration(inside, loop)
        if loop.guarded:
            body = [_flag(loop.skipped, False, statement), *body]
        else:
            body = _without_marks(body)
        body = body or [_placed(ast.Pass(), statement)]
        if test is not None:
            rewritten: ast.stmt = ast.While(test, body, [])
        else:
            rewritten = ast.For(statement.target, statement.iter, body, [])
        at(rewritten, statement)
        rewritten.broken = loop.broken
        rewritten.settled = settled(statement) if statement.orelse and _jumps(inside, ast.Break) else frozenset()
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
                return [*before, rewritten], [back], True
            after.append(_placed(ast.If(ast.Name(loop.returned, ast.Load()), [back], []), statement))
        if statement.orelse and own_break:
            not_broken = ast.UnaryOp(ast.Not(), ast.Name(loop.broken, ast.Load()))
            after.append(_placed(ast.If(not_broken, statement.orelse, []), statement))
        else:
            after += statement.orelse
        return [*before, rewritten], after, False

    def iteration(self, block: list[ast.stmt], loop: LoopExits) -> list[ast.stmt]:
        """Rewrite the statements of a loop's body."""
        statements: list[ast.stmt] = []
        for number, statement in enumerate(block):
            rest = block[number + 1 :]
            if isinstance(statement, _LEAVES):
                return [*statements, *self._leave(statement, loop)]
            if isinstance(statement, ast.If) and _leaves(statement):
                sides = [statement.body, statement.orelse]
                going = [_falls(side) for side in sides]
                if _NEVER in going:
                    sides = [[*side, *rest] if goes else side for side, goes in zip(sides, going, strict=True)]
                    return [*statements, self._branch(statement, sides, loop)]
                statements.append(self._branch(statement, sides, loop))
                if rest:
                    loop.guarded = True
                    here = ast.UnaryOp(ast.Not(), ast.Name(self._skip_flag(loop), ast.Load()))
                    statements.append(self._branch(_placed(ast.If(here, [], []), rest[0]), [rest, []], loop))
                return statements
            if isinstance(statement, ast.If):
                statements.append(self._branch(statement, [statement.body, statement.orelse], loop))
            elif isinstance(statement, _LOOPS | _REGIONS):
                inner, after, ends = self.region(statement) if isinstance(statement, _REGIONS) else self.loop(statement)
                statements += inner
                if ends or after:
                    return [*statements, *self.iteration([*after, *([] if ends else rest)], loop)]
            else:
                statements.append(statement)
        return statements

    def _branch(self, statement: ast.If, sides: list[list[ast.stmt]], loop: LoopExits) -> ast.If:
        branch = at(ast.If(statement.test, *[self.iteration(side, loop) for side in sides]), statement)
        branch.returns = False
        return branch

    def _leave(self, statement: ast.stmt, loop: LoopExits) -> list[ast.stmt]:
        statements: list[ast.stmt] = []
        if isinstance(statement, ast.Return):
            target = ast.Name(loop.value, ast.Store())
            statements.append(_placed(ast.Assign([target], statement.value or ast.Constant(None)), statement))
        statements += [_flag(name, True, statement) for name in loop.flags(statement)]
        mark = _flag(self._skip_flag(loop), True, statement)
        mark.only_for_guards = True
        return [*statements, mark]

    def _skip_flag(self, loop: LoopExits) -> str:
        """The flag for skipping the rest of this iteration."""
        loop.skipped = loop.skipped or self.fresh("gone")
        return loop.skipped


def blocks_of(statement: ast.Try | ast.With) -> list[list[ast.stmt]]:
    """The blocks of a `try` or `with`."""
    if isinstance(statement, ast.With):
        return [statement.body]
    handlers = [handler.body for handler in statement.handlers]
    return [statement.body, *handlers, statement.orelse, statement.finalbody]


def _ways(statement: ast.Try | ast.With) -> set[int]:
    """Whether control reaches the end of a `try` or `with`, for each way through it."""
    if isinstance(statement, ast.With):
        return {_falls(statement.body)}
    if statement.finalbody and _falls(statement.finalbody) == _NEVER:
        return {_NEVER}
    return {_falls([*statement.body, *statement.orelse]), *[_falls(handler.body) for handler in statement.handlers]}


def _go_on(tail: Tail, near: ast.AST) -> GoOn:
    jump = at(GoOn(None), near)
    jump.tail = tail
    return jump


def _flag(name: str, value: bool, near: ast.AST) -> ast.Assign:
    return _placed(ast.Assign([ast.Name(name, ast.Store())], ast.Constant(value)), near)


def _placed(node: ast.AST, near: ast.AST) -> ast.AST:
    """Give a new node, and parts of it that have none, the location of another node."""
    at(node, near)
    for child in children(node):
        if not hasattr(child, "lineno"):
            _placed(child, near)
    return node


def _without_marks(block: list[ast.stmt]) -> list[ast.stmt]:
    statements = []
    for statement in block:
        if getattr(statement, "only_for_guards", False):
            continue
        if isinstance(statement, ast.If):
            statement.body = _without_marks(statement.body) or [_placed(ast.Pass(), statement)]
            statement.orelse = _without_marks(statement.orelse)
        elif isinstance(statement, _REGIONS):
            for inner in blocks_of(statement):
                inner[:] = _without_marks(inner) or ([_placed(ast.Pass(), statement)] if inner else [])
        statements.append(statement)
    return statements


def _jumps(block: Iterable[ast.AST], kind: type[ast.stmt]) -> bool:
    """Whether a block contains such a jump; `break` and `continue` count if they leave the loop around the block."""
    for node in block:
        if isinstance(node, kind):
            return True
        if isinstance(node, ast.If) and _jumps([*node.body, *node.orelse], kind):
            return True
        if isinstance(node, _REGIONS) and any(_jumps(block, kind) for block in blocks_of(node)):
            return True
        if isinstance(node, _LOOPS):
            parts = [*node.body, *node.orelse] if kind is ast.Return else node.orelse
            if _jumps(parts, kind):
                return True
    return False


def _leaves(statement: ast.stmt) -> bool:
    return any(_jumps([statement], kind) for kind in (ast.Return, ast.Break, ast.Continue))


def _falls(block: list[ast.stmt]) -> int:
    """Whether control reaches the end of a block, before rewriting: never, maybe or always."""
    reached = _ALWAYS
    for statement in block:
        if isinstance(statement, _LEAVES | ast.Raise):
            return _NEVER
        if isinstance(statement, ast.If):
            sides = {_falls(statement.body), _falls(statement.orelse)}
            if sides == {_NEVER}:
                return _NEVER
            if sides != {_ALWAYS} and _leaves(statement):
                reached = _MAYBE
        elif isinstance(statement, _REGIONS):
            ways = _ways(statement)
            if ways == {_NEVER}:
                return _NEVER
            if ways != {_ALWAYS} and _leaves(statement):
                reached = _MAYBE
        elif isinstance(statement, _LOOPS) and _leaves(statement):
            endless = isinstance(statement, ast.While) and isinstance(statement.test, ast.Constant)
            if endless and statement.test.value and not _jumps(statement.body, ast.Break):
                return _NEVER
            reached = _MAYBE
    return reached


def _ends_with_return(block: list[ast.stmt]) -> bool:
    return bool(block) and (isinstance(block[-1], ast.Return) or getattr(block[-1], "returns", False))
