"""Finding the syntax tree of a function in its source file."""

from __future__ import annotations

import ast
import contextlib
import copy
import functools
import linecache
import types
import warnings
from collections import OrderedDict
from collections.abc import Iterator

Function = ast.FunctionDef | ast.Lambda
_FOUND = Function | ast.AsyncFunctionDef

#: The trees of functions that no source has as functions, such as those of whole cells; at most so many.
_kept: OrderedDict[tuple[types.CodeType, str], ast.FunctionDef] = OrderedDict()
_MOST = 1024
#: How often a text is parsed again.
_TRIES = 20


def keep(code: types.CodeType, tree: ast.FunctionDef) -> None:
    """Register the tree of a function that has no source of its own, such as a whole cell.

    Parameters
    ----------
    code : types.CodeType
        Of the function.
    tree : ast.FunctionDef
    """
    _kept[code, code.co_filename] = tree
    _kept.move_to_end((code, code.co_filename))
    if len(_kept) > _MOST:
        _kept.popitem(last=False)


def tree_of(code: types.CodeType) -> Function | ast.AsyncFunctionDef | None:
    """The syntax tree of a function.

    Parameters
    ----------
    code : types.CodeType
        Of the function.

    Returns
    -------
    ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda or None
        None when there is no source, or when it has changed.
    """
    file = code.co_filename
    registered = _kept.get((code, file))
    if registered is not None:
        return copy.deepcopy(registered)  # it is rewritten in place
    linecache.checkcache(file)
    lines = linecache.getlines(file)
    if not 0 < code.co_firstlineno <= len(lines):
        return None
    if code.co_name != "<lambda>":
        function = _block(lines, code.co_firstlineno)
        if function is not None and _is_of(function, code):
            return function
    try:
        module = _whole("".join(lines))
    except SyntaxError:
        return None
    fitting = [node for node in ast.walk(module) if isinstance(node, _FOUND) and _is_of(node, code)]
    if code.co_name == "<lambda>":
        fitting = [node for node in fitting if _holds(node, code)]
    return min(fitting, key=_extent, default=None)


def _block(lines: list[str], first: int) -> ast.FunctionDef | None:
    """The function that begins, with its decorators, at a line; only its own lines are parsed."""
    start = lines[first - 1]
    indent = len(start) - len(start.lstrip())
    # Lines before it, so that it is parsed where it stands; and something that it is a block of.
    head = "\n" * (first - 2) + "if 1:\n" if indent else "\n" * (first - 1)
    for end in _ends(lines, first, indent):
        try:
            tree = _parsed(head + "".join(lines[first - 1 : end]))
        except SyntaxError:
            continue
        node = tree.body[0].body[0] if indent else tree.body[0]
        return node if isinstance(node, _FOUND) else None
    return None


def _ends(lines: list[str], first: int, indent: int) -> Iterator[int]:
    """The line numbers at which a block may end: the next lines that are not indented deeper than its first."""
    for number in range(first, len(lines)):
        text = lines[number].lstrip()
        if text and not text.startswith("#") and len(lines[number]) - len(text) <= indent:
            yield number
    yield len(lines)


@functools.lru_cache(maxsize=8)
def _whole(text: str) -> ast.Module:
    return _parsed(text)


def _parsed(text: str) -> ast.Module:
    with warnings.catch_warnings():
        # Python told about them when it compiled the function itself.
        warnings.simplefilter("ignore")
        for _ in range(_TRIES):
            # Python 3.11 counts the depth of a tree in one place for all threads, and fails where two of them parse.
            with contextlib.suppress(SystemError):
                return ast.parse(text)
        return ast.parse(text)


def parameters(node: Function) -> list[str]:
    """The names of a function's parameters, in the order of ``co_varnames``."""
    arguments = node.args
    all_ = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    all_ += [extra for extra in (arguments.vararg, arguments.kwarg) if extra is not None]
    return [each.arg for each in all_]


def _is_of(node: Function, code: types.CodeType) -> bool:
    """Whether a function in the source may be the one that was compiled."""
    first = min([node.lineno, *(mark.lineno for mark in getattr(node, "decorator_list", ()))])
    if first != code.co_firstlineno or getattr(node, "name", "<lambda>") != code.co_name:
        return False
    names = parameters(node)
    # Python writes the names of a class's private parameters with the class's name before them.
    if [name.rpartition("__")[2] for name in names] != [
        name.rpartition("__")[2] for name in code.co_varnames[: len(names)]
    ]:
        return False
    return all(line is None or line <= node.end_lineno for _, _, line in code.co_lines())


def _holds(node: ast.Lambda, code: types.CodeType) -> bool:
    """Whether all instructions of a code object come from the body of this lambda."""
    body = node.body
    begin, end = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
    placed = False
    for line, end_line, column, end_column in code.co_positions():
        if None in (line, end_line, column, end_column) or column == end_column:
            continue
        placed = True
        if not (begin <= (line, column) and (end_line, end_column) <= end):
            return False
    return placed


def _extent(node: ast.AST) -> tuple[int, int]:
    return (node.end_lineno - node.lineno, node.end_col_offset - node.col_offset)
