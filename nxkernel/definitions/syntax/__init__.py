"""Source rewriting: Python's control flow and assignments become calls of a runtime that can trace them.

The twin has the same signature, globals, closure, file and lines; its blocks are functions that it hands to a runtime:

====================================  ==================================================================================
``if c: A`` ``else: B``               ``a, b = if_(c, then, else_, (a, b), ("a", "b"), SITE)``, with
                                      ``def then(a, b): A; return a, b``
both sides of an `if` return          ``return if_return(c, then, else_, SITE)``
``x if c else y``                     ``if_exp(c, lambda: x, lambda: y, SITE)``
``while t: A``                        ``a, b = while_(test, body, (a, b), ("a", "b"), SITE)``
``for i in it: A``                    ``i, a = for_(it, body, (i, a), ("i", "a"), SITE)``; where the loop can be left,
                                      ``broken=2`` says which part of the state is the flag for that; where an iteration
                                      appends to a list, ``gathered=((1, "xs", xs),)`` which part it appends
``a and b``, ``a or b``, ``not a``    ``and_(lambda: a, lambda: b, SITE)``, ``or_`` likewise, ``not_(a, SITE)``
``a in b``, ``a not in b``            ``contains(a, b)``, and ``not_`` of it
``[a for b in it]``                   ``listed(it, lambda b: a, 0, SITE)``
``{a}``, ``{a: b}``                   ``{member(a)}``, ``{key(a): b}``
``x[k]``                              ``get_item(x, k)``
``x[k] = v``                          ``x = set_item(x, k, v)``
``x += v``                            ``x = in_place("+", x, v)``
``f(x)``                              ``fn(f)(x)``
``with m as y: A``                    ``with context(m, SITE) as y: A``
``try: A``, ``except E as e: B``      ``a, b = try_(block, (lambda: E,), (a, b), ("a", "b"), SITE)``, where
                                      ``def block(attempt, a, b): ...; return a, b`` has all of the statement
``match s: case P if g: A``           ``case, values = match_(chosen, s, SITE, asks)``, and an ``if`` for each case
``assert t, text``                    ``assert_(t, lambda: text, SITE)``
a variable without a value            ``a = unassigned("a")``; ``pending("a")`` for those that are made here
====================================  ==================================================================================

All of these are attributes of the runtime. ``SITE`` is a tuple, a
:class:`nxkernel.definitions.syntax.unsupported_syntax.SyntaxSite`.
"""

from __future__ import annotations

import ast
import dis
import functools
import inspect
import types
import warnings
from typing import Any

import numpy as np

from nxkernel.definitions.keys import bytecode_reads, callables, source_locations
from nxkernel.definitions.syntax import match_statements, names, unsupported_syntax
from nxkernel.definitions.syntax.expressions import LOST, RUNTIME, SLICE
from nxkernel.definitions.syntax.function_rewriter import locate, rewrite
from nxkernel.definitions.syntax.implicit_names import class_of, prepare
from nxkernel.definitions.syntax.sources import Function, tree_of

__all__ = ["check", "lacks_source", "refers_to_numpy", "rewritten", "source_of"]

#: Instructions of control flow and of assignment into parts: without source there is no way to compile them.
_CONTROL = frozenset(
    [*dis.hasjrel, *dis.hasjabs]
    + [dis.opmap[name] for name in ("STORE_SUBSCR", "STORE_SLICE", "LOAD_ASSERTION_ERROR") if name in dis.opmap]
)
#: Instructions that are rewritten only if there is source.
_OTHERS = frozenset(
    number
    for name, number in dis.opmap.items()
    if name.startswith(
        (
            "CALL",
            "BINARY_SUBSCR",
            "BINARY_SLICE",
            "UNARY_NOT",
            "LOAD_SUPER",
            "DELETE_",
            "STORE_GLOBAL",
            "CONTAINS_OP",
            "FORMAT_",
        )
    )
    or name in ("BUILD_MAP", "BUILD_SET", "MAP_ADD", "SET_ADD")
)
_BINARY = dis.opmap["BINARY_OP"]
#: From here on, the arguments of BINARY_OP are assignments in place.
_IN_PLACE = 13
#: The argument of BINARY_OP for ``%``.
_REMAINDER = 6
_SUSPENDED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def rewritten(function: types.FunctionType, runtime: Any) -> types.FunctionType:
    """A copy of a function whose control flow, assignments and calls are calls of a runtime.

    Parameters
    ----------
    function : function
    runtime : module or object
        Has the functions that this module's docstring lists.

    Returns
    -------
    function
        The same one when there is nothing to do, as for one that is rewritten already.

    Raises
    ------
    RefusedSyntaxError
        For constructs that a definition cannot have, and when the source is needed and cannot be found.

    Examples
    --------
    >>> class Runtime:
    ...     if_exp = staticmethod(lambda c, then, otherwise, site: f"{then()} or {otherwise()}")
    >>> rewritten(lambda x: 1 if x else 2, Runtime)(None)
    '1 or 2'
    """
    code = _twin(function.__code__, function.__code__.co_filename)
    if code is function.__code__:
        return function
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells |= {RUNTIME: types.CellType(runtime), SLICE: _SLICE, LOST: _LOST}
    closure = tuple([cells[name] for name in code.co_freevars])
    twin = types.FunctionType(code, function.__globals__, function.__name__, function.__defaults__, closure)
    twin.__kwdefaults__ = function.__kwdefaults__
    twin.__qualname__, twin.__module__, twin.__doc__ = function.__qualname__, function.__module__, function.__doc__
    twin.__dict__.update(function.__dict__)
    return twin


_SLICE, _LOST = types.CellType(slice), types.CellType(unsupported_syntax.lost)


def check(function: types.FunctionType) -> None:
    """Refuse a function that cannot become a definition, before it is called.

    Parameters
    ----------
    function : function

    Raises
    ------
    RefusedSyntaxError
        As :func:`rewritten`, and for recursion that nothing known while tracing can end.
    """
    code = function.__code__
    _twin(code, code.co_filename)
    if code.co_name in code.co_names or code.co_name in code.co_freevars:
        tree = tree_of(code)
        if tree is not None:
            _refuse_recursion(tree, code)


def lacks_source(function: types.FunctionType) -> bool:
    """Whether a function would be rewritten if its source were available."""
    code = function.__code__
    return _is_bare(code, code.co_filename)


@functools.lru_cache(maxsize=2048)
def _is_bare(code: types.CodeType, file: str) -> bool:
    return RUNTIME not in code.co_freevars and _has(code, _OTHERS) and tree_of(code) is None


def source_of(function: types.FunctionType) -> str:
    """The source text of the rewritten function, for debugging; empty if it is not rewritten."""
    tree = _tree(function.__code__)
    return "" if tree is None else ast.unparse(tree[0])


@functools.lru_cache(maxsize=2048)
def _twin(code: types.CodeType, file: str) -> types.CodeType:
    """The rewritten code of a code object in a file; equal code may be in several files."""
    try:
        return _compiled(code, file)
    except RecursionError:
        raise unsupported_syntax.too_deep(code.co_name, file, code.co_firstlineno) from None


def _compiled(code: types.CodeType, file: str) -> types.CodeType:
    rewritten_tree = _tree(code)
    if rewritten_tree is None:
        return code
    tree, blocks = rewritten_tree
    # Free variables of the function are those of a function around it.
    parameters = [ast.arg(name) for name in dict.fromkeys([RUNTIME, SLICE, LOST, *code.co_freevars])]
    result = tree if isinstance(tree, ast.FunctionDef) else names.at(ast.Expr(tree), tree)
    if isinstance(tree, ast.FunctionDef):
        # Under its own name, a function that calls itself would find itself in the function around it.
        tree.name = "__nx_twin__"
    around = ast.FunctionDef("around", ast.arguments([], parameters, None, [], [], None, []), [result], [], None)
    around.type_params = []
    module = ast.Module([around], [])
    locate(module, names.at(around, tree))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled = compile(module, file, "exec", dont_inherit=True)
    for _ in range(2):
        compiled = next(each for each in compiled.co_consts if isinstance(each, types.CodeType))
    return _named(compiled, code.co_name, code.co_qualname, blocks)


def _named(code: types.CodeType, name: str, qualified: str, blocks: frozenset[str]) -> types.CodeType:
    """Give rewritten code the names of the original; the functions of its blocks are named like the function."""
    constants = []
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            if each.co_name in blocks:
                each = _named(each, name, qualified, blocks)
                each = each.replace(co_consts=(*each.co_consts, source_locations.BLOCK))
            else:
                each = _named(each, each.co_name, f"{qualified}.<locals>.{each.co_name}", blocks)
        constants.append(each)
    return code.replace(co_name=name, co_qualname=qualified, co_consts=tuple(constants))


def _tree(code: types.CodeType) -> tuple[Function, frozenset[str]] | None:
    """The rewritten syntax tree, and the names of its block functions; None when nothing has to be rewritten."""
    if RUNTIME in code.co_freevars or not _has(code, _CONTROL | _OTHERS):
        return None
    tree = tree_of(code)
    if tree is None:
        if _has(code, _CONTROL):
            raise unsupported_syntax.no_source(code.co_name, code.co_filename, code.co_firstlineno)
        return None
    tree = prepare(_copied(tree), class_of(code.co_qualname), "__class__" in code.co_freevars)
    nodes = names.nodes_of(tree)
    unsupported_syntax.refuse(tree, nodes, code.co_filename, code.co_name)
    fresh = names.Fresh(names.mentioned(nodes))
    if any(isinstance(node, ast.Match) for node in nodes):
        match_statements.lowered(tree, code.co_filename, fresh)
    return rewrite(tree, code.co_filename, fresh), frozenset(fresh.made)


def _copied(tree: Function) -> Function:
    """A tree that may be changed: the one of a whole file is cached for its other functions."""
    return _copy(tree) if isinstance(tree, ast.Lambda) else tree


def _copy(value: Any) -> Any:
    if isinstance(value, list):
        return [_copy(each) for each in value]
    if not isinstance(value, ast.AST):
        return value
    copy = type(value)(**{field: _copy(inner) for field, inner in ast.iter_fields(value)})
    return names.at(copy, value) if hasattr(value, "lineno") else copy


def _has(code: types.CodeType, wanted: frozenset[int]) -> bool:
    """Whether code contains one of these instructions, an assignment in place, ``%`` of text, or is a generator."""
    if code.co_flags & _SUSPENDED and code.co_name != "<genexpr>":
        return True
    operations = code.co_code[::2]
    if not wanted.isdisjoint(operations):
        return True
    pairs = zip(operations, code.co_code[1::2], strict=True)
    formats = any(type(each) is str and "%" in each for each in code.co_consts)
    if _BINARY in operations and any(
        op == _BINARY and (how >= _IN_PLACE or (how == _REMAINDER and formats)) for op, how in pairs
    ):
        return True
    return any(_has(each, wanted) for each in code.co_consts if isinstance(each, types.CodeType))


def _refuse_recursion(tree: Function, code: types.CodeType) -> None:
    if tree.args.kwonlyargs or code.co_name in code.co_varnames:
        return
    call = None
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in ("shape", "ndim", "size"):
            return
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id == "len":
                return
            if node.func.id == code.co_name:
                call = call or node
    if call is not None:
        raise unsupported_syntax.recursion(code.co_filename, code.co_name, call)


def refers_to_numpy(function: types.FunctionType) -> bool:
    """Whether a function's code names NumPy, one of its modules, functions or types.

    Parameters
    ----------
    function : function
        Its inner functions count, too; functions that it calls do not.

    Examples
    --------
    >>> refers_to_numpy(lambda x: np.sin(x)), refers_to_numpy(lambda x: x + 1)
    (True, False)
    """
    code = function.__code__
    if _imports_numpy(code):
        return True
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    for path in bytecode_reads.of_code(code).paths:
        name = path.names[0]
        if path.root == "global":
            if _is_numpy(function.__globals__.get(name)):
                return True
        elif name in cells:
            try:
                value = cells[name].cell_contents
            except ValueError:
                continue
            if _is_numpy(value):
                return True
    return False


def _is_numpy(value: Any) -> bool:
    if isinstance(value, types.ModuleType):
        return value.__name__.partition(".")[0] == "numpy"
    if isinstance(value, np.ufunc):
        return True
    return callable(value) and callables.module_of(value).partition(".")[0] == "numpy"


def _imports_numpy(code: types.CodeType) -> bool:
    """Whether code has an import statement for NumPy."""
    imports = dis.opmap["IMPORT_NAME"] in code.co_code[::2]
    if imports and any(name.partition(".")[0] == "numpy" for name in code.co_names):
        return True
    return any(_imports_numpy(each) for each in code.co_consts if isinstance(each, types.CodeType))
