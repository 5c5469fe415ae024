"""Assignments: into parts of values, in place, and to targets of all shapes."""

from __future__ import annotations

import ast

from nxkernel.definitions.syntax.expressions import LOST, SLICE, ExpressionRewriter, load, runtime, store

_SIGNS = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.MatMult: "@",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.BitAnd: "&",
}


class Assignments:
    """Rewrites assignments.

    Parameters
    ----------
    expressions : ExpressionRewriter
    variables : set of str
        The local variables of the function.
    """

    def __init__(self, expressions: ExpressionRewriter, variables: set[str]) -> None:
        self.expressions, self.variables = expressions, variables

    def statement(self, statement: ast.stmt) -> list[ast.stmt]:
        """Rewrite a statement that has no blocks."""
        if isinstance(statement, ast.Assign):
            return self.assign(statement.targets, self.expressions.visit(statement.value))
        if isinstance(statement, ast.AugAssign):
            return self.augment(statement)
        return [self.expressions.generic_visit(statement)]

    def assign(self, targets: list[ast.expr], value: ast.expr) -> list[ast.stmt]:
        """Assign a rewritten value to targets, from left to right."""
        if not any(_has_parts(target) for target in targets):
            value = self.owned(targets, value)
            return [ast.Assign(list(map(self.expressions.visit, targets)), value)]
        statements: list[ast.stmt] = []
        if len(targets) > 1 or (isinstance(targets[0], ast.Subscript) and not _is_independent(value, targets[0])):
            value = self.held(value, statements, "value")
        for target in targets:
            if isinstance(target, ast.Subscript):
                statements += self.into(target, value)
            elif not _has_parts(target):
                statements.append(ast.Assign([self.expressions.visit(target)], value))
            else:
                # All names are taken first, and then each part in its turn, as an index may be among the names.
                parts: list[tuple[ast.expr, str]] = []
                statements.append(ast.Assign([self.unpacked(target, parts)], value))
                for part, name in parts:
                    statements += self.assign([part], load(name))
        return statements

    def owned(self, targets: list[ast.expr], value: ast.expr) -> ast.expr:
        """The value for some names: if one of them is changed, a new NumPy array becomes the program's own."""
        if isinstance(value, ast.Tuple) and len(targets) == 1 and isinstance(targets[0], ast.Tuple):
            if len(value.elts) == len(targets[0].elts) and not any(isinstance(e, ast.Starred) for e in targets[0].elts):
                value.elts = [self.owned([one], each) for one, each in zip(targets[0].elts, value.elts, strict=True)]
            return value
        return self.expressions.owned([target.id for target in targets if isinstance(target, ast.Name)], value)

    def unpacked(self, target: ast.expr, assignments: list[tuple[ast.expr, str]]) -> ast.expr:
        """A target of new names, and the assignments from them to the real targets."""
        if isinstance(target, ast.Tuple | ast.List):
            return ast.Tuple([self.unpacked(each, assignments) for each in target.elts], ast.Store())
        if isinstance(target, ast.Starred):
            return ast.Starred(self.unpacked(target.value, assignments), ast.Store())
        name = self.expressions.fresh("part")
        assignments.append((target, name))
        return store(name)

    def augment(self, statement: ast.AugAssign) -> list[ast.stmt]:
        """``a += b``, where `a` is a variable, an attribute or a part."""
        sign, target, statements = ast.Constant(_SIGNS[type(statement.op)]), statement.target, []
        if isinstance(target, ast.Name):
            changed = runtime("in_place", sign, load(target.id), self.expressions.visit(statement.value))
            return [ast.Assign([target], changed)]
        if isinstance(target, ast.Attribute):
            base = self.held(self.expressions.visit(target.value), statements, "object")
            now: ast.expr = ast.Attribute(base, target.attr, ast.Load())
            changed = runtime("in_place", sign, now, self.expressions.visit(statement.value))
            return [*statements, ast.Assign([ast.Attribute(_copy(base), target.attr, ast.Store())], changed)]
        return self.into(target, statement.value, sign)

    def into(self, target: ast.Subscript, value: ast.expr, sign: ast.Constant | None = None) -> list[ast.stmt]:
        """``x[k] = v``, where `v` is rewritten already, or ``x[k] += v`` with `sign`, where it is not."""
        statements: list[ast.stmt] = []
        # Subscripts from the outermost value to the one that is assigned: each new part goes into the one around it.
        chain = [target]
        while isinstance(chain[0].value, ast.Subscript):
            chain.insert(0, chain[0].value)
        base = chain[0].value
        owner: ast.expr | None = None
        if isinstance(base, ast.Attribute):
            owner = self.held(self.expressions.visit(base.value), statements, "object")
            values = [self.held(ast.Attribute(owner, base.attr, ast.Load()), statements, "whole")]
        elif isinstance(base, ast.Name):
            values = [load(base.id)]
        else:
            values = [self.held(self.expressions.visit(base), statements, "whole")]
        keys = []
        for link in chain:
            key = self.expressions.key(link.slice)
            keys.append(key if link is target and sign is None else self.kept(key, statements))
            if link is not target:
                part = runtime("get_item", _copy(values[-1]), _copy(keys[-1]))
                values.append(self.held(part, statements, "whole"))
        if sign is not None:
            old = runtime("get_item", _copy(values[-1]), _copy(keys[-1]))
            value = runtime("in_place", sign, old, self.expressions.visit(value))
        inner = runtime("set_item", values[-1], keys[-1], value)
        for outer, key in zip(values[-2::-1], keys[-2::-1], strict=True):
            name = self.held(inner, statements, "whole")
            old, inner = values.pop(), runtime("set_item", _copy(outer), _copy(key), name)
            inner = ast.IfExp(ast.Compare(_copy(name), [ast.Is()], [_copy(old)]), _copy(outer), inner)
        if isinstance(base, ast.Name) and base.id in self.variables:
            return [*statements, ast.Assign([store(base.id)], inner)]
        name = self.held(inner, statements, "whole")
        if owner is not None:
            action: ast.stmt = ast.Assign([ast.Attribute(_copy(owner), base.attr, ast.Store())], _copy(name))
        else:
            action = ast.Expr(ast.Call(load(LOST), [ast.Constant(_short(base)), self.expressions.site(target)], []))
        return [*statements, ast.If(ast.Compare(_copy(name), [ast.IsNot()], [_copy(values[0])]), [action], [])]

    def held(self, value: ast.expr, statements: list[ast.stmt], stem: str) -> ast.expr:
        """A value that is used twice: itself if it is a name, else a new name for it."""
        if isinstance(value, ast.Name | ast.Constant):
            return value
        name = self.expressions.fresh(stem)
        statements.append(ast.Assign([store(name)], value))
        return load(name)

    def kept(self, key: ast.expr, statements: list[ast.stmt]) -> ast.expr:
        """A key that is used twice: itself if it may be evaluated twice, else a new name for it."""
        return key if _is_repeatable(key) else self.held(key, statements, "key")


def _has_parts(target: ast.expr) -> bool:
    """Whether a subscript or attribute is among the targets."""
    if isinstance(target, ast.Tuple | ast.List):
        return any(map(_has_parts, target.elts))
    if isinstance(target, ast.Starred):
        return _has_parts(target.value)
    return isinstance(target, ast.Subscript)


def _is_repeatable(key: ast.expr) -> bool:
    """Whether evaluating a key twice is the same as once: names, constants, and tuples and slices of them."""
    if isinstance(key, ast.Name | ast.Constant):
        return True
    if isinstance(key, ast.UnaryOp):
        return isinstance(key.operand, ast.Constant)
    if isinstance(key, ast.Tuple):
        return all(map(_is_repeatable, key.elts))
    is_slice = isinstance(key, ast.Call) and isinstance(key.func, ast.Name) and len(key.args) in (2, 3)
    return is_slice and key.func.id == SLICE and all(map(_is_repeatable, key.args))


def _is_independent(value: ast.expr, target: ast.Subscript) -> bool:
    """Whether a value may be evaluated after the target, as neither can change the other."""
    if any(isinstance(node, ast.NamedExpr) for node in ast.walk(value)):
        return False
    acting = (ast.Call, ast.Attribute, ast.Subscript, ast.NamedExpr)
    still = isinstance(target.value, ast.Name) and not any(isinstance(node, acting) for node in ast.walk(target.slice))
    return still or isinstance(value, ast.Name | ast.Constant)


def _copy(node: ast.expr) -> ast.expr:
    """A copy of a plain node."""
    if isinstance(node, ast.Name):
        return load(node.id)
    if isinstance(node, ast.Constant):
        return ast.Constant(node.value)
    if isinstance(node, ast.Tuple):
        return ast.Tuple(list(map(_copy, node.elts)), ast.Load())
    if isinstance(node, ast.UnaryOp):
        return ast.UnaryOp(node.op, _copy(node.operand))
    return ast.Call(_copy(node.func), list(map(_copy, node.args)), [])


def _short(base: ast.expr) -> str:
    text = ast.unparse(base)
    return text if len(text) < 30 else text[:27] + "…"
