"""``is``, ``id`` and other questions of object identity in definitions."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from typing import Any

from nxkernel import types
from nxkernel.definitions.flow.control.logic import not_
from nxkernel.definitions.flow.values import mutable_arguments, variable_leaves
from nxkernel.definitions.flow.values.variable_leaves import is_traced, known
from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr
from nxkernel.numpy.arrays import storage
from nxkernel.ops.arithmetic import comparison
from nxkernel.ops.machinery.dispatch import operand


def is_(one: Any, other: Any, site: Any = None) -> Any:
    """``one is other``; Python's truth values, of which there are two, are compared for equality.

    Raises
    ------
    TracedValueError
        For the result of a branch or loop that may be the other value.
    """
    if one is other:
        return True
    if _is_truth(one) and _is_truth(other):
        if is_traced(one) and is_traced(other):
            return not_(comparison.not_equal(one, other), site)
        truth, value = (known(one), other) if not is_traced(one) else (known(other), one)
        if not is_traced(value):
            return known(value) is truth
        return value if truth else not_(value, site)
    if variable_leaves.is_place(one) and variable_leaves.is_place(other):
        storage.before_compared(one.root, other.root)
    elif _is_alike(one, other):
        mutable_arguments.refuse_several(one, other)
    return False


def _is_alike(one: Any, other: Any) -> bool:
    """Whether two traced values have the same type and shape, so that they may be one object."""
    return type(one) is type(other) is Expr and one.spec[:2] == other.spec[:2]


def _is_truth(value: Any) -> bool:
    """Whether a value is a Python bool, or a traced value that stands for one."""
    if not is_traced(value):
        return isinstance(known(value), bool)
    return variable_leaves.is_value(value) and operand(value).type is types.bool_ and tracing.weak(operand(value))


def is_not(one: Any, other: Any, /) -> Any:
    """``operator.is_not``."""
    return not_(is_(one, other))


def id_(value: Any, /) -> int:
    """``id``; refused for an array that is one of several.

    Raises
    ------
    TracedValueError
        For the result of a branch or loop that is one of several arrays.
    """
    if variable_leaves.is_place(value) and value.root.aliases is not None:
        value.root.aliases.before_compared()
    mutable_arguments.refuse_several(value)
    return id(value)


#: The replacement of each function in definitions.
TWINS: dict[Any, Callable[..., Any]] = {operator.is_: is_, operator.is_not: is_not, builtins.id: id_}
