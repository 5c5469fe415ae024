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
    """Rewrites simple statements.

    Parameters
    ----------
    expressions : ExpressionRewriter
    variables : set of str
        Those of the function.
    """

    def __init__(self, expressions: ExpressionRewriter, variables: set[str]) -> None:
        self.expressions, self.variables = expressions, variables

    def statement(self, statement: ast.stmt) -> list[ast.stmt]:
        """Rewrite a statement without blocks."""
        if isinstance(statement, ast.Assign):
            return self.assign(statement.targets, self.expressions.visit(statement.value))
        if isinstance(statement, ast.AugAssign):
            return self.augment(statement)
        return [self.expressions.generic_visit(statement)]

    def assign(self, targets: list[ast.expr], value: ast.expr) -> list[ast.stmt]:
        """Assign a value, which is rewritten already, to targets from left to right."""
        if not any(_has_parts(target) for target in targets):
            value = self.made(targets, value)
            return [ast.Assign(list(map(self.expressions.visit, targets)), value)]
        made: list[ast.stmt] = []
        if len(targets) > 1 or (isinstance(targets[0], ast.Subscript) and not _is_still(value, targets[0])):
            value = self.held(value, made, "value")
        for target in targets:
            if isinstance(target, ast.Subscript):
                made += self.into(target, value)
            elif not _has_parts(target):
                made.append(ast.Assign([self.expressions.visit(target)], value))
            else:
                # All names are taken first, and then each part in its turn, as an index may be among the names.
                places: list[tuple[ast.expr, str]] = []
                made.append(ast.Assign([self.unpacked(target, places)], value))
                for place, name in places:
                    made += self.assign([place], load(name))
        return made

    def made(self, targets: list[ast.expr], value: ast.expr) -> ast.expr:
        """A value for some names: an array that nobody has yet is the program's own, where one of them is changed."""
        if isinstance(value, ast.Tuple) and len(targets) == 1 and isinstance(targets[0], ast.Tuple):
            if len(value.elts) == len(targets[0].elts) and not any(isinstance(e, ast.Starred) for e in targets[0].elts):
                value.elts = [self.made([one], each) for one, each in zip(targets[0].elts, value.elts, strict=True)]
            return value
        return self.expressions.owned([target.id for target in targets if isinstance(target, ast.Name)], value)

    def unpacked(self, target: ast.expr, places: list[tuple[ast.expr, str]]) -> ast.expr:
        """A target of new names, and where each of them goes."""
        if isinstance(target, ast.Tuple | ast.List):
            return ast.Tuple([self.unpacked(each, places) for each in target.elts], ast.Store())
        if isinstance(target, ast.Starred):
            return ast.Starred(self.unpacked(target.value, places), ast.Store())
        name = self.expressions.fresh("part")
        places.append((target, name))
        return store(name)

    def augment(self, statement: ast.AugAssign) -> list[ast.stmt]:
        """``a += b``, where `a` is a variable, an attribute or a part."""
        sign, target, made = ast.Constant(_SIGNS[type(statement.op)]), statement.target, []
        if isinstance(target, ast.Name):
            changed = runtime("in_place", sign, load(target.id), self.expressions.visit(statement.value))
            return [ast.Assign([target], changed)]
        if isinstance(target, ast.Attribute):
            base = self.held(self.expressions.visit(target.value), made, "object")
            now: ast.expr = ast.Attribute(base, target.attr, ast.Load())
            changed = runtime("in_place", sign, now, self.expressions.visit(statement.value))
            return [*made, ast.Assign([ast.Attribute(_again(base), target.attr, ast.Store())], changed)]
        return self.into(target, statement.value, sign)

    def into(self, target: ast.Subscript, value: ast.expr, sign: ast.Constant | None = None) -> list[ast.stmt]:
        """``x[k] = v``, where `v` is rewritten already, or ``x[k] += v`` with a sign, where it is not."""
        made: list[ast.stmt] = []
        # Subscripts from the outermost value to the one that is assigned: each new part goes into the one around it.
        chain = [target]
        while isinstance(chain[0].value, ast.Subscript):
            chain.insert(0, chain[0].value)
        base = chain[0].value
        owner: ast.expr | None = None
        if isinstance(base, ast.Attribute):
            owner = self.held(self.expressions.visit(base.value), made, "object")
            values = [self.held(ast.Attribute(owner, base.attr, ast.Load()), made, "whole")]
        elif isinstance(base, ast.Name):
            values = [load(base.id)]
        else:
            values = [self.held(self.expressions.visit(base), made, "whole")]
        keys = []
        for link in chain:
            key = self.expressions.key(link.slice)
            keys.append(key if link is target and sign is None else self.kept(key, made))
            if link is not target:
                part = runtime("get_item", _again(values[-1]), _again(keys[-1]))
                values.append(self.held(part, made, "whole"))
        if sign is not None:
            old = runtime("get_item", _again(values[-1]), _again(keys[-1]))
            value = runtime("in_place", sign, old, self.expressions.visit(value))
        inner = runtime("set_item", values[-1], keys[-1], value)
        for outer, key in zip(values[-2::-1], keys[-2::-1], strict=True):
            name = self.held(inner, made, "whole")
            old, inner = values.pop(), runtime("set_item", _again(outer), _again(key), name)
            inner = ast.IfExp(ast.Compare(_again(name), [ast.Is()], [_again(old)]), _again(outer), inner)
        if isinstance(base, ast.Name) and base.id in self.variables:
            return [*made, ast.Assign([store(base.id)], inner)]
        name = self.held(inner, made, "whole")
        if owner is not None:
            action: ast.stmt = ast.Assign([ast.Attribute(_again(owner), base.attr, ast.Store())], _again(name))
        else:
            action = ast.Expr(ast.Call(load(LOST), [ast.Constant(_short(base)), self.expressions.site(target)], []))
        return [*made, ast.If(ast.Compare(_again(name), [ast.IsNot()], [_again(values[0])]), [action], [])]

    def held(self, value: ast.expr, made: list[ast.stmt], stem: str) -> ast.expr:
        """A value that is used twice: as it stands if that is a name, else by a new name."""
        if isinstance(value, ast.Name | ast.Constant):
            return value
        name = self.expressions.fresh(stem)
        made.append(ast.Assign([store(name)], value))
        return load(name)

    def kept(self, key: ast.expr, made: list[ast.stmt]) -> ast.expr:
        """A key that is used twice."""
        return key if _is_plain(key) else self.held(key, made, "key")


def _has_parts(target: ast.expr) -> bool:
    """Whether a part of a value is among what is assigned."""
    if isinstance(target, ast.Tuple | ast.List):
        return any(map(_has_parts, target.elts))
    if isinstance(target, ast.Starred):
        return _has_parts(target.value)
    return isinstance(target, ast.Subscript)


def _is_plain(key: ast.expr) -> bool:
    """Whether evaluating a key twice is the same as once: names, constants, and tuples and slices of them."""
    if isinstance(key, ast.Name | ast.Constant):
        return True
    if isinstance(key, ast.UnaryOp):
        return isinstance(key.operand, ast.Constant)
    if isinstance(key, ast.Tuple):
        return all(map(_is_plain, key.elts))
    is_slice = isinstance(key, ast.Call) and isinstance(key.func, ast.Name) and len(key.args) in (2, 3)
    return is_slice and key.func.id == SLICE and all(map(_is_plain, key.args))


def _is_still(value: ast.expr, target: ast.Subscript) -> bool:
    """Whether a value may be evaluated after the target: nothing that one of them does can change the other."""
    if any(isinstance(node, ast.NamedExpr) for node in ast.walk(value)):
        return False
    acting = (ast.Call, ast.Attribute, ast.Subscript, ast.NamedExpr)
    still = isinstance(target.value, ast.Name) and not any(isinstance(node, acting) for node in ast.walk(target.slice))
    return still or isinstance(value, ast.Name | ast.Constant)


def _again(node: ast.expr) -> ast.expr:
    """A second node for something plain."""
    if isinstance(node, ast.Name):
        return load(node.id)
    if isinstance(node, ast.Constant):
        return ast.Constant(node.value)
    if isinstance(node, ast.Tuple):
        return ast.Tuple(list(map(_again, node.elts)), ast.Load())
    if isinstance(node, ast.UnaryOp):
        return ast.UnaryOp(node.op, _again(node.operand))
    return ast.Call(_again(node.func), list(map(_again, node.args)), [])


def _short(base: ast.expr) -> str:
    text = ast.unparse(base)
    return text if len(text) < 30 else text[:27] + "…"
