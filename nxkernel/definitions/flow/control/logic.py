"""``and``, ``or`` and ``not`` in definitions."""

from __future__ import annotations

from typing import Any

from nxkernel import types
from nxkernel.definitions.flow.control.acts import Acts
from nxkernel.definitions.flow.control.branches import Side, if_exp, predicate
from nxkernel.definitions.flow.control.untaken_branches import unreached
from nxkernel.definitions.flow.values import negative_indices, variable_leaves
from nxkernel.definitions.flow.values.variable_leaves import is_traced, known
from nxkernel.graph import tracing
from nxkernel.ops.arithmetic import comparison
from nxkernel.ops.machinery.dispatch import operand


def and_(left: Side, right: Side, site: Any = None) -> Any:
    """``left and right`` of functions that give the two; the second is asked where the first does not decide."""
    first = left()
    if not is_traced(first):
        return right() if known(first) else first
    second = _second(right, "and", site)
    if second is _ACTS:
        return if_exp(first, right, lambda: first, site)
    if _is_truth(second) and not is_traced(second):
        return first if known(second) else False
    if _is_truth(first) and _is_truth(second):
        return comparison.logical_and(_scalar(first, "and", site), _scalar(second, "and", site))
    return if_exp(first, lambda: second, lambda: first, site)


def or_(left: Side, right: Side, site: Any = None) -> Any:
    """``left or right`` of functions that give the two; the second is asked where the first does not decide."""
    first = left()
    if not is_traced(first):
        return first if known(first) else right()
    second = _second(right, "or", site)
    if second is _ACTS:
        return if_exp(first, lambda: first, right, site)
    if _is_truth(second) and not is_traced(second):
        return True if known(second) else first
    if _is_truth(first) and _is_truth(second):
        return comparison.logical_or(_scalar(first, "or", site), _scalar(second, "or", site))
    return if_exp(first, lambda: first, lambda: second, site)


#: Stands for what changes objects, assigns into arrays or says something when it is asked for.
_ACTS = object()


def _second(side: Side, word: str, site: Any) -> Any:
    behind = unreached(f"what stands behind `{word}`", "what stands before it", site)
    acts = Acts(side)
    with behind, negative_indices.behind_a_condition():
        value = side()
    if not acts.are_there():
        return value
    acts.undo()
    return _ACTS


def not_(value: Any, site: Any = None) -> Any:
    """``not value``."""
    if not is_traced(value):
        return not known(value)
    made = comparison.logical_not(_scalar(value, "not", site))
    run = tracing.current()
    if types.follows_numpy() and run is not None:
        # Python's `not` gives a bool, whatever it is of.
        run.weak.add(made)
    return made


def _is_truth(value: Any) -> bool:
    """Whether a value is of the type that comparisons give."""
    if isinstance(value, bool):
        return True
    return variable_leaves.is_value(value) and operand(value).type is types.bool_


def _scalar(value: Any, word: str, site: Any) -> Any:
    return predicate(value, f"what stands beside `{word}`", site)
