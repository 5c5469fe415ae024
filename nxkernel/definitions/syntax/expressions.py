"""Rewriting expressions: calls, indexing, conditionals and logic become runtime calls in Python's evaluation order."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection

from nxkernel.definitions.syntax import unsupported_syntax
from nxkernel.definitions.syntax.names import at, own

#: The free variables of rewritten functions: the runtime, `slice`, and a function that refuses lost assignments.
RUNTIME, SLICE, LOST = "__nx__", "__nx_slice__", "__nx_lost__"

_ATOMS = (ast.Name, ast.Constant)


def load(name: str) -> ast.Name:
    """A node that reads a variable."""
    return ast.Name(name, ast.Load())


def store(name: str) -> ast.Name:
    """A node that assigns a variable."""
    return ast.Name(name, ast.Store())


def runtime(name: str, *arguments: ast.expr) -> ast.Call:
    """A call of a function of the runtime."""
    return ast.Call(ast.Attribute(load(RUNTIME), name, ast.Load()), list(arguments), [])


def thunk(body: ast.expr) -> ast.Lambda:
    """A lambda without arguments, for an expression that may not be evaluated."""
    return function([], body)


def function(names: list[str], body: ast.expr) -> ast.Lambda:
    """A lambda."""
    return ast.Lambda(ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, []), body)


def _asked(name: str, node: ast.expr) -> ast.expr:
    """The expression that a set or dict is made from, unless it is a display."""
    return node if isinstance(node, ast.Constant) else at(runtime(name, node), node)


def _assignment(node: ast.expr) -> ast.NamedExpr | None:
    """The first ``:=`` in an expression that binds in the expression's own scope."""
    return next((each for each in own([node]) if isinstance(each, ast.NamedExpr)), None)


def _is_no_truth(node: ast.expr) -> bool:
    """Whether an expression is a constant such as None, which is neither a bool nor an array."""
    return isinstance(node, ast.Constant) and type(node.value) is not bool


def _plain_targets(node: ast.ListComp | ast.GeneratorExp) -> list[str] | None:
    """The names that a comprehension over one iterable gives its items; None for others."""
    generator, parts = node.generators[0], [node.elt, *node.generators[0].ifs]
    if len(node.generators) > 1 or generator.is_async or any(_assignment(part) is not None for part in parts):
        return None
    if any(isinstance(each, ast.Await | ast.Yield | ast.YieldFrom) for part in parts for each in ast.walk(part)):
        return None
    targets = generator.target.elts if isinstance(generator.target, ast.Tuple) else [generator.target]
    names = [each.id for each in targets if isinstance(each, ast.Name)]
    return names if len(names) == len(targets) == len({*names}) else None


def _parts(generator: ast.comprehension, names: list[str]) -> ast.Constant:
    """How many parts an item of the iterable is unpacked into; 0 where it is not."""
    return ast.Constant(len(names) if isinstance(generator.target, ast.Tuple) else 0)


class ExpressionRewriter(ast.NodeTransformer):
    """Rewrites expressions in place.

    Parameters
    ----------
    file, name : str
        File and name of the function, for messages.
    fresh : callable
        Makes new names.
    changed : set of str, optional
        The variables that are assigned into, and those that may be views of them.
    """

    def __init__(self, file: str, name: str, fresh: Callable[[str], str], changed: Collection[str] = ()) -> None:
        self.file, self.name, self.fresh, self.changed = file, name, fresh, changed

    def owned(self, names: Collection[str], value: ast.expr) -> ast.expr:
        """The value for some names: if one of them is changed, a new NumPy array becomes the program's own."""
        if isinstance(value, ast.Name | ast.Constant | ast.List | ast.Dict | ast.Tuple):
            return value
        return runtime("own", value) if any(name in self.changed for name in names) else value

    def refuse_assignment(self, node: ast.expr) -> None:
        """Refuse ``:=`` in an expression that may not be evaluated."""
        assignment = _assignment(node)
        if assignment is not None:
            raise unsupported_syntax.walrus(self.file, self.name, assignment)

    def site(self, node: ast.AST) -> ast.Constant:
        """The location of a node, as a constant of the program."""
        return ast.Constant(tuple(unsupported_syntax.site(self.file, self.name, node)))

    def later(self, node: ast.expr) -> ast.Lambda:
        """A rewritten expression as a lambda, which is called if it is needed."""
        self.refuse_assignment(node)
        return at(thunk(self.visit(node)), node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """``f(x)``."""
        is_super = isinstance(node.func, ast.Name) and node.func.id == "super"
        self.generic_visit(node)
        if not is_super:
            node.func = at(runtime("fn", node.func), node.func)
        return node

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        """``x := value``."""
        node.value = self.owned([node.target.id], self.visit(node.value))
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """``x[k]``."""
        if not isinstance(node.ctx, ast.Load):
            return self.generic_visit(node)
        return at(runtime("get_item", self.visit(node.value), self.key(node.slice)), node)

    def key(self, node: ast.expr) -> ast.expr:
        """The expression between brackets, as a value."""
        if isinstance(node, ast.Slice):
            parts = [ast.Constant(None) if part is None else self.visit(part) for part in (node.lower, node.upper)]
            if node.step is not None:
                parts.append(self.visit(node.step))
            return at(ast.Call(load(SLICE), parts, []), node)
        if isinstance(node, ast.Tuple):
            node.elts = list(map(self.key, node.elts))
            return node
        return self.visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        """``x if c else y``."""
        call = runtime("if_exp", self.visit(node.test), self.later(node.body), self.later(node.orelse), self.site(node))
        return at(call, node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        """``a and b or c``."""
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        head, names = node.values[0], []
        if _assignment(head) is not None:
            # What comes first is evaluated in any case, and may assign where the expression stands.
            names.append(self.fresh("operand"))
            head, begin = self.visit(head), thunk(load(names[0]))
        else:
            begin = self.later(head)
        *first, last = [begin, *(self.later(value) for value in node.values[1:])]
        for each in reversed(first):
            result = runtime(name, each, last, self.site(node))
            last = at(thunk(result), node)
        return at(ast.Call(function(names, result), [head], []) if names else result, node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        """``not a``."""
        self.generic_visit(node)
        if not isinstance(node.op, ast.Not):
            return node
        return at(runtime("not_", node.operand, self.site(node)), node)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """``a < b < c``, in which `b` is evaluated once, and `c` only where ``a < b``."""
        if len(node.ops) == 1:
            self.generic_visit(node)
            return self._compared(node.left, node.ops[0], node.comparators[0], node)
        left, operands = self.visit(node.left), list(node.comparators)
        for operand in operands[1:]:
            self.refuse_assignment(operand)
        return self._chain(left, node.ops, [self.visit(operand) for operand in operands], node)

    def _compared(self, left: ast.expr, operation: ast.cmpop, right: ast.expr, near: ast.Compare) -> ast.expr:
        if isinstance(operation, ast.Is | ast.IsNot) and not any(map(_is_no_truth, (left, right))):
            result = at(runtime("is_", left, right, self.site(near)), near)
        elif isinstance(operation, ast.In | ast.NotIn):
            result = at(runtime("contains", left, right), near)
        else:
            return at(ast.Compare(left, [operation], [right]), near)
        return result if isinstance(operation, ast.In | ast.Is) else at(runtime("not_", result, self.site(near)), near)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        """``f"{a:.2f}"``."""
        return at(runtime("text", *map(self._piece, node.values)), node)

    def _piece(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Constant):
            return node
        conversion = ast.Constant("" if node.conversion == -1 else chr(node.conversion))
        spec = ast.Constant("") if node.format_spec is None else self.visit(node.format_spec)
        return at(ast.Tuple([self.visit(node.value), conversion, spec], ast.Load()), node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """``"%d items" % n``; other operators are left to the values."""
        self.generic_visit(node)
        is_text = isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)
        if not (is_text and isinstance(node.op, ast.Mod)):
            return node
        return at(runtime("percent", node.left, node.right), node)

    def visit_Set(self, node: ast.Set) -> ast.expr:
        """``{a, b}``."""
        self.generic_visit(node)
        node.elts = [each if isinstance(each, ast.Starred) else _asked("member", each) for each in node.elts]
        return node

    def visit_ListComp(self, node: ast.ListComp) -> ast.expr:
        """``[a for b in c]``, where the names of `b` are the arguments of a function that gives `a`."""
        self.generic_visit(node)
        names, generator = _plain_targets(node), node.generators[0]
        if names is None or generator.ifs:
            return node
        item = at(function(names, node.elt), node.elt)
        return at(runtime("listed", generator.iter, item, _parts(generator, names), self.site(node)), node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.expr:
        """``(a for b in c if d)``, where the names of `b` are the arguments of functions that give `a` and `d`."""
        site = self.site(node)
        names, generator = _plain_targets(node), node.generators[0]
        if names is None:
            return self.generic_visit(node)
        tests = generator.ifs
        test = self.visit(tests[0] if len(tests) == 1 else at(ast.BoolOp(ast.And(), tests), node)) if tests else None
        tested = ast.Constant(None) if test is None else at(function(names, test), test)
        item = at(function(names, self.visit(node.elt)), node.elt)
        return at(runtime("generated", self.visit(generator.iter), item, tested, _parts(generator, names), site), node)

    def visit_SetComp(self, node: ast.SetComp) -> ast.expr:
        """``{a for b in c}``."""
        self.generic_visit(node)
        node.elt = _asked("member", node.elt)
        return node

    def visit_Dict(self, node: ast.Dict) -> ast.expr:
        """``{a: b}``."""
        self.generic_visit(node)
        node.keys = [each and _asked("key", each) for each in node.keys]
        return node

    def visit_DictComp(self, node: ast.DictComp) -> ast.expr:
        """``{a: b for c in d}``."""
        self.generic_visit(node)
        node.key = _asked("key", node.key)
        return node

    def _chain(
        self, left: ast.expr, operations: list[ast.cmpop], operands: list[ast.expr], near: ast.Compare
    ) -> ast.expr:
        (operation, *later), (right, *rest) = operations, operands
        if not later:
            return self._compared(left, operation, right, near)
        names, values = [], []
        if not (isinstance(left, _ATOMS) and isinstance(right, _ATOMS)):
            # What is evaluated before goes first.
            for operand in (left, right):
                names.append(self.fresh("operand"))
                values.append(operand)
            left, right = map(load, names)
        first = self._compared(left, operation, right, near)
        right_again = ast.Constant(right.value) if isinstance(right, ast.Constant) else load(right.id)
        both = runtime("and_", thunk(first), thunk(self._chain(right_again, later, rest, near)), self.site(near))
        result = ast.Call(function(names, both), values, []) if names else both
        return at(result, near)
