"""Traces that ask for numbers of the running program: what answers them, and what of it the program has to check."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from nxkernel import primitives, types
from nxkernel.backends.graph_evaluation import evaluated
from nxkernel.definitions.keys import containers, source_locations
from nxkernel.definitions.keys.leaves import Leaf, array_of
from nxkernel.definitions.outputs.hook_delivery import Hook
from nxkernel.definitions.outputs.host_results import HostResults
from nxkernel.definitions.outputs.value_checks import ValueCheck
from nxkernel.graph import values_of_call
from nxkernel.graph.expr import Expr
from nxkernel.graph.tracing import Trace
from nxkernel.numpy.arrays.views import reshaped
from nxkernel.ops.machinery.dispatch import apply, convert


class CallValues(NamedTuple):
    """What a trace may ask for: the arguments of a call.

    Parameters
    ----------
    leaves : sequence
        Its arguments.
    arrays : sequence
        The captured arrays.
    results : HostResults
        What functions have given to it that it calls.
    given : sequence of int
        The first answers, where a program has computed them.
    """

    leaves: Sequence[Any]
    arrays: Sequence[Any]
    results: HostResults
    given: Sequence[int] = ()


def begin(
    run: Trace, values: CallValues | None, parameters: Sequence[Expr], leaves: Sequence[Leaf], meaning: Mapping
) -> None:
    """Have a trace told what it asks for.

    Parameters
    ----------
    run : Trace
    values : CallValues or None
        None where it may not ask.
    parameters : sequence of Expr
    leaves : sequence of Leaf
    meaning : mapping
        For the parameters of other arrays, the number of a captured array, or the array itself.
    """
    if values is None:
        return
    held = dict(zip(parameters, values.leaves, strict=True))
    numbers = [node for node, leaf in zip(parameters, leaves, strict=True) if leaf.number and not leaf.fixed]

    def behind(node: Expr) -> np.ndarray:
        found = held[node] if node in held else meaning[node]
        return array_of(values.arrays[found] if type(found) is int and node not in held else found, node.spec)

    def computed(order: Sequence[Expr], known: dict[Expr, Any]) -> Any:
        with values.results.from_the_beginning():
            return evaluated(order, known)

    values_of_call.begin(run, values_of_call.ValuesOfCall(behind, computed, numbers, values.given))


def checks(run: Trace) -> list[tuple[Hook, containers.Structure, list[tuple[Expr, Any]]]]:
    """The hook that looks at what a trace has asked for, before all others."""
    asked = values_of_call.questions(run)
    if not asked:
        return []
    flat = [reshaped(convert(question.node, types.s64), (math.prod(question.node.shape),)) for question in asked]
    packed = apply(primitives.concatenate, *flat, axis=0) if len(flat) > 1 else flat[0]
    values = [int(value) for question in asked for value in question.answer.ravel()]
    lines = [_told(question) for question in asked for _ in range(question.answer.size)]
    check = ValueCheck(tuple(values), tuple(lines))
    node = run.node(packed)
    return [(Hook(None, check), ("tuple", None, (containers.LEAF,)), [(node, node.spec)])]


def _told(question: values_of_call.Question) -> str:
    if question.line is None:
        return "a number that the program computes"
    text = source_locations.line_of(question.line)
    return text[0] if text else f"{os.path.basename(question.line.file)}, line {question.line.line}"
