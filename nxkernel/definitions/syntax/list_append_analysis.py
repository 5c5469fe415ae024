"""Finding lists that each iteration of a loop appends one item to and that are not read in the loop."""

from __future__ import annotations

import ast

from nxkernel.definitions.syntax.names import nodes_of


def appended(before: list[ast.stmt], loop: ast.For) -> dict[str, ast.Expr]:
    """The lists that each iteration appends one item to, by name, with the appending statement.

    The list is made in the same block, and until the loop ends its name is only used to append to it, so that nothing
    else can refer to the list.

    Parameters
    ----------
    before : list of ast.stmt
        The statements before the loop in its block.
    loop : ast.For
        Without jumps.

    Examples
    --------
    >>> made, loop = ast.parse("xs = []" + chr(10) + "for y in ys: xs.append(y)").body
    >>> loop.broken = None
    >>> list(appended([made], loop))
    ['xs']
    """
    if loop.broken is not None:
        return {}
    appends = {}
    for statement in loop.body:
        name = _appends(statement)
        if name is not None and _count(name, loop) == 1 and _made_and_not_read(name, before):
            appends[name] = statement
    return appends


def _appends(statement: ast.stmt) -> str | None:
    """The name of the list, if a statement appends one item to it."""
    call = getattr(statement, "value", None)
    if not isinstance(statement, ast.Expr) or not isinstance(call, ast.Call) or call.keywords or len(call.args) != 1:
        return None
    function = call.func
    if not isinstance(function, ast.Attribute) or function.attr != "append" or isinstance(call.args[0], ast.Starred):
        return None
    return function.value.id if isinstance(function.value, ast.Name) else None


def _made_and_not_read(name: str, before: list[ast.stmt]) -> bool:
    for statement in reversed(before):
        if _makes(statement, name):
            return True
        if _count(name, statement) != (_appends(statement) == name):
            return False
    return False


def _makes(statement: ast.stmt, name: str) -> bool:
    """Whether a statement binds a name to a new list that has no other name."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
    elif isinstance(statement, ast.AnnAssign):
        target = statement.target
    else:
        return False
    pairs = [(target, statement.value)]
    if isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
        pairs = list(zip(target.elts, statement.value.elts, strict=False))
    values = [value for name_node, value in pairs if isinstance(name_node, ast.Name) and name_node.id == name]
    return _count(name, statement) == 1 and any(isinstance(value, ast.List | ast.ListComp) for value in values)


def _count(name: str, node: ast.AST) -> int:
    return sum(isinstance(each, ast.Name) and each.id == name for each in nodes_of(node))
