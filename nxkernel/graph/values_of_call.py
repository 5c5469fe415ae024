"""Numbers of the running program that a trace cannot do without: computed of the arguments of the call that it is for.

How many elements a mask picks, or which side of a branch of two shapes is taken, only the running program knows. Where
nothing else helps, the trace asks what it is for the arguments of the call, goes on with the answer, and remembers the
question: the program that is made computes the number, too, and a call for which it is another one is traced anew.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from nxkernel import primitives as p
from nxkernel.graph import tracing
from nxkernel.graph.expr import ANSWERING, Expr, SourceLocation
from nxkernel.graph.traverse import post_order
from nxkernel.operand import Proxy
from nxkernel.types import follows_numpy

#: Under which key the outermost trace remembers what answers.
_ANSWERING = "what knows the arguments of the call"
#: No more questions are answered in one trace: what needs more is a loop over values, and none over shapes.
_QUESTIONS = 256
#: No more elements of an array are asked for at once.
_ELEMENTS = 64


#: What an exception has that came of computing an answer.
_OF_CALL = "__nx_of_call__"


class Question(NamedTuple):
    """What a trace has asked.

    Parameters
    ----------
    node : Expr
    answer : numpy.ndarray
        Its whole numbers, for the arguments of the call.
    line : SourceLocation or None
        The line of the user's that needed it.
    """

    node: Expr
    answer: np.ndarray
    line: SourceLocation | None


class EndedError(BaseException):
    """What is traced is never reached by the call: an error that the program checks is raised before."""


class ValuesOfCall:
    """Answers the questions of one trace.

    Parameters
    ----------
    array_of : callable
        Gives the array behind a parameter.
    computed : callable
        Gives the value of the last of some nodes, and puts those on the way to the values that are known.
    numbers : collection of Expr
        The parameters that are Python numbers: what is made of these alone is not asked for, since their values can be
        part of the key.
    given : sequence of int
        The first answers, one after the other, where a program has computed them.
    """

    def __init__(
        self,
        array_of: Callable[[Expr], Any],
        computed: Callable[[Sequence[Expr], dict[Expr, Any]], Any],
        numbers: Collection[Expr],
        given: Sequence[int] = (),
    ) -> None:
        self._array_of, self._value_of = array_of, computed
        self._numbers, self._given = frozenset(numbers), list(given)
        self._values: dict[Expr, Any] = {}
        self._doubts: list[Expr] = []
        self.questions: list[Question] = []

    def doubt(self, failed: Expr) -> None:
        """Ask, before the next question, whether an error is raised where the program has come to."""
        self._doubts.append(failed)

    def answer(self, node: Expr, of_numbers: bool = False) -> np.ndarray | None:
        """The whole numbers of a node; those that are up to arguments are checked from now on.

        None for what is no value of the call, and for what Python numbers make alone unless `of_numbers` says so.

        Raises
        ------
        EndedError
            Where the call has raised an error before.
        """
        while self._doubts:
            if self._answer(self._doubts.pop(0)):
                raise EndedError
        return self._answer(node, of_numbers)

    def _answer(self, node: Expr, of_numbers: bool = False) -> np.ndarray | None:
        for question in self.questions:
            if question.node is node:
                return question.answer
        order = post_order([node])
        parameters = [each for each in order if each.primitive is p.parameter]
        if not parameters and all(each.primitive is not p.njit_call for each in order):
            return self._computed(order)
        is_of_numbers = bool(parameters) and self._numbers.issuperset(parameters)
        if (is_of_numbers and not of_numbers) or len(self.questions) >= _QUESTIONS:
            return None
        count = math.prod(node.shape)
        if len(self._given) >= count:
            answer = np.array(self._given[:count], np.int64).reshape(node.shape)
            del self._given[:count]
        else:
            self._given.clear()
            for each in parameters:
                if each not in self._values:
                    try:
                        self._values[each] = self._array_of(each)
                    except KeyError:
                        # Of the body of a loop or branch that was given up: nobody knows its value.
                        return None
            answer = self._computed(order)
        self.questions.append(Question(node, answer, tracing.user_line()))
        return answer

    def _computed(self, order: Sequence[Expr]) -> np.ndarray:
        try:
            with np.errstate(all="ignore"):
                return np.asarray(self._value_of(order, self._values)).astype(np.int64)
        except Exception as error:
            setattr(error, _OF_CALL, True)
            raise


def begin(run: tracing.Trace, values: ValuesOfCall) -> None:
    """Have the questions of a trace answered."""
    run.memory[_ANSWERING] = values


def questions(run: tracing.Trace) -> list[Question]:
    """What a trace has asked so far."""
    answering = run.outermost.memory.get(_ANSWERING)
    return [] if answering is None else answering.questions


def are_told() -> bool:
    """Whether what is being traced may ask: at the top of a NumPy program, where nothing else has helped."""
    run = tracing.current()
    return run is not None and run.previous is None and _ANSWERING in run.memory and follows_numpy()


def doubt(failed: Expr) -> None:
    """Have it asked whether an error is raised where the program has come to, before anything else is asked."""
    if are_told():
        tracing.current().memory[_ANSWERING].doubt(failed)


def is_of_call(error: BaseException) -> bool:
    """Whether an exception came of computing an answer: it is one of the call, and says nothing of other ones."""
    return hasattr(error, _OF_CALL)


def elements(value: Any, of_numbers: bool = False) -> np.ndarray | None:
    """The whole numbers, or truth values, of a small array for the call; None where there is no answer."""
    if not are_told():
        return None
    node = value.__nx_operand__() if isinstance(value, Proxy) else value
    if type(node) is not Expr or not node.type.is_integer or math.prod(node.shape) > _ELEMENTS:
        return None
    return tracing.current().memory[_ANSWERING].answer(node, of_numbers)


def number(value: Any, of_array: bool = False, of_numbers: bool = False) -> int | None:
    """A whole number, or truth value, for the call; None where there is no answer.

    Parameters
    ----------
    value : int, traced value or proxy
    of_array : bool, optional
        Whether an array of one element is one, too, as where NumPy asks for a truth value.
    of_numbers : bool, optional
        Whether there is one, too, for what Python numbers of the call make alone, whose values could be in its key.
    """
    if isinstance(value, int):
        return value
    found = elements(value, of_numbers) if math.prod(value.shape) == 1 and (of_array or not value.shape) else None
    return None if found is None else int(found.item())


ANSWERING.append(number)
