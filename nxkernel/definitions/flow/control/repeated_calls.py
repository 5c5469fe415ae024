"""What a loop of the program says, turn by turn: the running program notes it, and it is said when that has run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.definitions.flow.control import checks
from nxkernel.definitions.keys.static_values import ByIdentity
from nxkernel.graph import deferred_calls, tracing
from nxkernel.graph.expr import constant
from nxkernel.graph.tracing import MutableCell
from nxkernel.library_functions import HostFunction
from nxkernel.ops.machinery.dispatch import apply, operand
from nxkernel.ops.tensors.creation import tensor
from nxkernel.primitives import Spec

#: Under which key the outermost trace remembers the loops that say something.
_LOOPS = "loops that say something"


class _Noted(threading.local):
    """What the program that this thread runs has noted: by the key of its loop, calls and their values."""

    def __init__(self) -> None:
        self.of: dict[Any, list[tuple[Callable[[tuple], Any], Sequence[np.ndarray]]]] = {}


_noted = _Noted()


@dataclass(frozen=True)
class _Loop:
    """A loop that no other one encloses.

    Parameters
    ----------
    body : Trace
        Its body, held so that no other one has its identity.
    count : MutableCell
        How often something was said in it.
    saying : RecordedCall
        Checks of the loop raise their errors after it: what a failed one comes before is not noted.
    """

    body: Any
    count: MutableCell
    saying: deferred_calls.RecordedCall


@dataclass(frozen=True)
class _Saying:
    """Makes the calls that a loop has noted, in their order."""

    key: ByIdentity

    def __call__(self, _: Any) -> None:
        for call, values in _noted.of.pop(self.key, ()):
            call(tuple(map(tensor, values)))


def are_possible() -> bool:
    """Whether calls that are asked for here can be made: loops and branches enclose it, and nothing else."""
    run = tracing.current()
    return run is not None and not run.runs_once and not checks.are_apart()


def record(call: Callable[[tuple], Any], leaves: Sequence[Any]) -> None:
    """Have a call made after each run of the program, once for each time that a loop comes by here.

    Parameters
    ----------
    call : callable
        Takes a tuple of the values.
    leaves : sequence of traced values
    """
    run = tracing.current()
    loop = _outermost_loop(run)
    # What is said has no part in a gradient.
    nodes = [run.node(apply(p.stop_grad, checks.alone(operand(leaf)))) for leaf in leaves]
    key = ByIdentity(loop.count)

    def note(count: np.ndarray, failed: np.ndarray, *values: np.ndarray) -> list[int]:
        # What an earlier run has noted, which has raised an error, is nothing of this one.
        if not count:
            _noted.of[key] = []
        if failed:
            # Python's loop has ended before.
            return [int(count)]
        _noted.of[key].append((call, [np.array(value) for value in values]))
        return [int(count) + 1]

    function = HostFunction(
        "print", ("repeated call", ByIdentity(call)), note, (Spec(types.s64, (), ()),), True, quiet=False
    )
    before = [run.node(run.read(loop.count)), run.node(checks.has_failed())]
    run.write(loop.count, run.node(apply(p.njit_call, *before, *nodes, function=function)))


def _outermost_loop(run: Any) -> _Loop:
    body, trace = deferred_calls.outermost_loop(run), run.outermost
    loops = trace.memory.setdefault(_LOOPS, {})
    if id(body) not in loops:
        count = MutableCell("what a loop says")
        say = _Saying(ByIdentity(count))
        saying = deferred_calls.RecordedCall(say, (count,), in_branch=True, loop=body, leads=True)
        loops[id(body)] = _Loop(body, count, saying)
        body.previous.write(count, constant(0, types.s64))
    entries = deferred_calls.entries(run)
    if not any(each is loops[id(body)].saying for each in entries):
        # That of an attempt is dropped with it.
        entries.append(loops[id(body)].saying)
    return loops[id(body)]
