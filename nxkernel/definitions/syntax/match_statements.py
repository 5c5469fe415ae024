"""``match`` statements, as a function that says which case it is, and a chain of ``if``s of its answer.

``match s: case P if g: A`` … becomes ``case, names = match_(chosen, s, SITE, asks)``, with ``def chosen(s)`` that has
the patterns and their guards as Python has them, and ``if case == 0: a, b = names; A``. So Python itself matches, while
the function is traced, and what is rewritten knows nothing of patterns.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from nxkernel.definitions.syntax import unsupported_syntax
from nxkernel.definitions.syntax.expressions import load, runtime, store
from nxkernel.definitions.syntax.names import at, bound_by_pattern, nodes_of

#: Classes of what traced values stand for and are not.
_OF_DATA = frozenset({"int", "float", "complex", "bool", "ndarray", "generic", "number", "Tensor", "Number", "Real"})


def lowered(tree: ast.FunctionDef | ast.Lambda, file: str, fresh: Callable[[str], str]) -> None:
    """Replace the ``match`` statements of a function, and of the functions in it.

    Parameters
    ----------
    tree : ast.FunctionDef or ast.Lambda
        It is changed.
    file : str
    fresh : callable
        Makes names that the function does not use.
    """
    if isinstance(tree, ast.FunctionDef):
        tree.body = _Lowering(file, tree.name, fresh).block(tree.body)


class _Lowering(ast.NodeTransformer):
    def __init__(self, file: str, name: str, fresh: Callable[[str], str]) -> None:
        self.file, self.name, self.fresh = file, name, fresh

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """A block without ``match``."""
        found: list[ast.stmt] = []
        for statement in statements:
            new = self.visit(statement)
            found += new if isinstance(new, list) else [new]
        return found

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        if not node.decorator_list:
            lowered(node, self.file, self.fresh)
        return node

    def visit_Match(self, node: ast.Match) -> list[ast.stmt]:
        chosen, subject, case, values = (self.fresh(stem) for stem in ("chosen", "subject", "case", "values"))
        site = unsupported_syntax.site(self.file, self.name, node.subject)
        answer = runtime("match_", load(chosen), node.subject, ast.Constant(tuple(site)), ast.Constant(_asks(node)))
        target = ast.Tuple([store(case), store(values)], ast.Store())
        branches: list[ast.stmt] = []
        for number, each in reversed([*enumerate(node.cases)]):
            names = bound_by_pattern(each.pattern)
            body = self.block(each.body)
            if names:
                bound = ast.Tuple([store(name) for name in names], ast.Store())
                body.insert(0, _placed(ast.Assign([bound], load(values)), each.pattern))
            if each.guard is None and _is_irrefutable(each.pattern):
                branches = body
                continue
            test = ast.Compare(load(case), [ast.Eq()], [ast.Constant(number)])
            branches = [_placed(ast.If(test, body, branches), each.pattern)]
        return [self._function(chosen, subject, node), _placed(ast.Assign([target], answer), node.subject), *branches]

    def _function(self, name: str, subject: str, node: ast.Match) -> ast.FunctionDef:
        """The function that matches: it gives the number of the case, and the values of its names."""
        cases = []
        for number, each in enumerate(node.cases):
            values = ast.Tuple([load(name) for name in bound_by_pattern(each.pattern)], ast.Load())
            answer = ast.Return(ast.Tuple([ast.Constant(number), values], ast.Load()))
            cases.append(ast.match_case(each.pattern, each.guard, [_placed(answer, each.pattern)]))
        nothing = _placed(
            ast.Return(ast.Tuple([ast.Constant(-1), ast.Tuple([], ast.Load())], ast.Load())), node.subject
        )
        arguments = ast.arguments([], [ast.arg(subject)], None, [], [], None, [])
        body = [_placed(ast.Match(load(subject), cases), node.subject), nothing]
        function = ast.FunctionDef(name, arguments, body, [], None)
        function.type_params = []
        #: Python itself runs it.
        function.stays = True
        return _placed(function, node.subject)


def _is_irrefutable(pattern: ast.pattern) -> bool:
    """Whether a pattern matches anything: ``_``, or a name."""
    return isinstance(pattern, ast.MatchAs) and (pattern.pattern is None or _is_irrefutable(pattern.pattern))


def _asks(node: ast.Match) -> bool:
    """Whether a pattern asks for the class of a number or array, or for a truth value, which is told by identity."""
    return any(_asks_for_data(each) for case in node.cases for each in nodes_of(case.pattern))


def _asks_for_data(pattern: ast.AST) -> bool:
    if isinstance(pattern, ast.MatchSingleton):
        return pattern.value is not None
    return isinstance(pattern, ast.MatchClass) and ast.unparse(pattern.cls).rpartition(".")[2] in _OF_DATA


def _placed(node: ast.AST, near: ast.AST) -> ast.AST:
    """Give a new node, and parts of it that have none, the location of another node."""
    if "lineno" in node._attributes and not hasattr(node, "lineno"):
        at(node, near)
    for child in ast.iter_child_nodes(node):
        _placed(child, near)
    return node
