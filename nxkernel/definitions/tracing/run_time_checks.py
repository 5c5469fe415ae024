"""``check``: an error where a condition does not hold when the compiled program runs."""

from __future__ import annotations

import string
from typing import Any

import numpy as np

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.definitions.flow.control import checks
from nxkernel.definitions.flow.operators import output_calls
from nxkernel.errors import CheckError, NxTypeError, NxValueError, message
from nxkernel.graph import tracing
from nxkernel.graph.expr import VectorizedExpr
from nxkernel.ops.machinery.dispatch import apply, convert, filled, operand
from nxkernel.ops.programs.control_flow import choose
from nxkernel.ops.reductions import reduction
from nxkernel.shapes import describe

_CONDITION = "the condition of a check"


def check(condition: Any, text: str, /, **values: Any) -> None:
    """Raise an error when the compiled program has run, where a condition did not hold.

    Parameters
    ----------
    condition : bool, tensor or array
        All of its elements are to hold; all but 0 counts as true.
    text : str
        What the error says, with fields for values as :meth:`str.format` has them, such as ``"{x:.2f} is negative"``.
    **values : tensor, number or container
        What the fields show: what they are where the check failed.

    Raises
    ------
    CheckError
        An AssertionError. From the call whose program has run: for the first check that failed, in loops in the first
        turn that it did. A note says in which turn, for which entry under :func:`nxkernel.vmap`, and, where the
        condition has axes, at which indices.
    NxTypeError
        For a text that is no str.
    NxValueError
        For a text with fields for which there are no values.

    Notes
    -----
    It is the function for ``assert condition, text``, for all that is traced as it stands, such as the functions of
    :func:`nxkernel.jit` and :func:`nxkernel.scan`. What comes after a failed check is computed in vain, and none of it
    is seen. Outside of definitions it raises at once.

    Examples
    --------
    >>> @nx.jit
    ... def root(x):
    ...     nx.check(x >= 0, "{x:.1f} has no root", x=x)
    ...     return nx.sqrt(x)
    >>> float(root(4.0))
    2.0
    >>> root(-2.0)
    Traceback (most recent call last):
    nxkernel.errors.CheckError: -2.0 has no root
    """
    __tracebackhide__ = True
    fields = _fields(text)
    missing = [name for name in fields if name not in values]
    if missing:
        given = ", ".join(f"{name}={name}" for name in dict.fromkeys([*values, *missing]))
        raise NxValueError(
            message(
                f"the text of a check shows {missing[0]!r}, which it is not given: {text!r}.",
                f"Write nx.check(condition, text, {given}); braces that are no field are doubled: {{{{ and }}}}.",
            )
        )
    run = tracing.current()
    if run is None:
        holds = _truth(condition)
        if not holds.all():
            raise _located(CheckError(text.format(**values)), holds)
        return
    node = _node(condition, run)
    holds = node if node.type is types.bool_ else apply(p.not_equal, node, filled(0, node.type, node.shape))
    around: list[tuple[checks.Around, Any]] = []
    failed = apply(p.logical_not, holds)
    if holds.shape:
        if not holds.size:
            return
        flat = reduction.argmin(apply(p.reshape, convert(holds, types.u8), shape=(holds.size,), names=(None,)))
        around.append((checks.Around("element", holds.shape), flat))
        failed = reduction.any(failed)
    error = output_calls.error(CheckError, output_calls.filled(text, **values))
    choose(failed, lambda: checks.record(error, around) or [], list)


def _fields(text: Any) -> list[str]:
    """The names of the values that a text shows."""
    if not isinstance(text, str):
        raise NxTypeError(
            message(
                f"check takes a condition and a text, got {describe(text)}.", 'Write nx.check(x > 0, "x is {x}", x=x).'
            )
        )
    found: list[str] = []
    try:
        for _, field, spec, _ in string.Formatter().parse(text):
            if field is not None:
                found += [field.partition(".")[0].partition("[")[0], *_fields(spec or "")]
    except ValueError as error:
        raise NxValueError(
            message(
                f"the text of a check is no text with fields: {error}.",
                "Braces that are no field are doubled: {{ and }}.",
            )
        ) from None
    return found


def _truth(condition: Any) -> np.ndarray:
    return np.asarray(operand(condition, _CONDITION)) != 0


def _node(condition: Any, run: tracing.Trace) -> Any:
    """The condition as a node, with vectorized axes in front of the others."""
    value = operand(condition, _CONDITION)
    return value.node if type(value) is VectorizedExpr else run.node(value)


def _located(error: CheckError, holds: np.ndarray) -> CheckError:
    if holds.shape:
        error.add_note(checks.told([(checks.Around("element", holds.shape), int(np.argmin(holds)))]))
    return error
