"""Factories of element-wise public functions, with signature and docstring, from rows of a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nxkernel.graph.expr import Expr
from nxkernel.ops.machinery import dispatch
from nxkernel.ops.machinery.dispatch import TypeRule
from nxkernel.primitives import Primitive
from nxkernel.tensor.tensor import Tensor

UNARY = """{what}

Parameters
----------
tensor : tensor or number

Returns
-------
Tensor
    Of the same shape and names. {types}

Examples
--------
>>> {example}
{result}
"""

BINARY = """{what}

Parameters
----------
left, right : tensor or number
    Shapes are broadcast, axes aligned from the last. A number takes the tensor's type where that holds it.

Returns
-------
Tensor
    {types}

Examples
--------
>>> {example}
{result}
"""


def named(primitive: Primitive, rule: TypeRule, what: str, types: str, example: str, result: str) -> Any:
    """A binary function with the name of its primitive."""
    name = primitive.name
    return binary(name, primitive, rule, what, types, f"nx.{name}({example}).to_list()", result)


def unary(
    name: str, primitive: Primitive, rule: TypeRule, what: str, types: str, example: str, result: str
) -> Callable[[Any], Tensor | Expr]:
    """A unary function that applies a primitive in the type that the rule gives."""

    def function(tensor: Any) -> Tensor | Expr:
        return dispatch.unary(primitive, tensor, rule)

    return documented(function, name, UNARY.format(what=what, types=types, example=example, result=result))


def binary(
    name: str, primitive: Primitive, rule: TypeRule, what: str, types: str, example: str, result: str
) -> Callable[[Any, Any], Tensor | Expr]:
    """A binary function that broadcasts, promotes types by the rule, and applies a primitive."""

    def function(left: Any, right: Any) -> Tensor | Expr:
        return dispatch.elementwise(primitive, left, right, rule)

    return documented(function, name, BINARY.format(what=what, types=types, example=example, result=result))


def documented(function: Callable, name: str, doc: str) -> Callable:
    """A function with its public name, module and docstring."""
    function.__module__, function.__name__, function.__qualname__ = "nxkernel.ops", name, name
    function.__doc__ = doc
    return function
