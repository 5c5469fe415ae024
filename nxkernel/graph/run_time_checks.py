"""What a trace relies on and only the running program knows: an error is raised after a run in which it did not hold.

A check is made where a program runs once: at the top of a definition and in its branches. In loops, and in functions
that are traced on their own, such as that of a gradient, nothing is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr, constant
from nxkernel.graph.tracing import MutableCell, Trace

#: Under which key the outermost trace remembers its checks.
_CHECKS = "checks of the running program"


@dataclass(frozen=True)
class Check:
    """An error that a program may end with.

    Parameters
    ----------
    error : callable
        Takes the numbers, and gives the exception.
    """

    error: Callable[..., Exception]

    def __call__(self, values: Sequence[Any]) -> None:
        """Raise the error where the first of the values of a program that has run is true; the others go into it."""
        failed, *numbers = [value.item() for value in values]
        if failed:
            raise self.error(*numbers)


def raise_if(failed: Any, numbers: Sequence[Any], error: Callable[..., Exception]) -> bool:
    """Have an error raised when the program that is being traced has run, if a condition holds then.

    Parameters
    ----------
    failed : Expr
        A traced bool without axes.
    numbers : sequence of Expr
        What the error tells of, without axes.
    error : callable
        Takes the numbers as Python's, and gives the exception; a function of a module, or an object, that can be
        pickled with the program.

    Returns
    -------
    bool
        Whether it is checked.
    """
    run = tracing.current()
    if run is None or not run.runs_once:
        return False
    cells = []
    for node in (failed, *numbers):
        cells.append(MutableCell("a check"))
        if run.previous is not None:
            # Where the branch is not taken, nothing failed.
            run.outermost.write(cells[-1], constant(0, node.spec.type))
        run.write(cells[-1], run.node(node))
    run.outermost.memory.setdefault(_CHECKS, []).append((Check(error), tuple(cells)))
    return True


def of_trace(run: Trace) -> list[tuple[Check, list[Expr]]]:
    """The checks that were made in a trace, each with its condition and the numbers for its error."""
    return [(check, [run.node(run.read(cell)) for cell in cells]) for check, cells in run.memory.get(_CHECKS, ())]
