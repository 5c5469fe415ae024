"""What loops and mapped functions say, turn by turn: the running program calls for it, in the order of a token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.definitions.flow.control import checks
from nxkernel.definitions.keys import containers
from nxkernel.definitions.keys.static_values import ByIdentity
from nxkernel.definitions.outputs import raised_again
from nxkernel.definitions.outputs.hook_delivery import Hook
from nxkernel.definitions.outputs.running_output import Region, Said, SaidBefore
from nxkernel.errors import TracedValueError, message
from nxkernel.graph import deferred_calls, tracing
from nxkernel.graph.deferred_calls import RecordedCall
from nxkernel.graph.expr import Expr, SourceLocation, constant
from nxkernel.graph.tracing import BodyTrace, MutableCell
from nxkernel.library_functions import HostFunction
from nxkernel.ops.machinery.dispatch import apply
from nxkernel.primitives import Spec

#: Under which key the outermost trace remembers the regions that say something.
_REGIONS = "regions that say something"
#: A node, and the spec that its value has for the function.
Output = tuple[Expr, Any]
#: The type of tokens.
_TOKEN = Spec(types.s64, (), ())


@dataclass(frozen=True)
class _TracedRegion:
    """A loop, or a function that is mapped, that no other one encloses.

    Parameters
    ----------
    body : BodyTrace
        Its body, held so that no other one has its identity.
    region : Region
    token : MutableCell
        What orders what is said in it: each call takes it and gives the next one.
    entry : RecordedCall
        Its place among what is called after the run. Checks of a loop raise their errors after it.
    """

    body: Any
    region: Region
    token: MutableCell
    entry: RecordedCall


def are_possible() -> bool:
    """Whether calls that are asked for here can be made: what encloses it hands on what is written in it."""
    run = tracing.current()
    if run is None or run.runs_once or isinstance(run.outermost, BodyTrace):
        return False
    while isinstance(run, BodyTrace):
        if run.is_closed:
            return False
        run = run.previous
    return True


def refusal(what: str, does: str) -> TracedValueError:
    """The error for what can be called after no run and by no program.

    Parameters
    ----------
    what : str
        Such as "values cannot be printed".
    does : str
        What a person does with the values instead, such as "print them".
    """
    run = tracing.current()
    if isinstance(run.outermost, BodyTrace):
        return TracedValueError(
            message(
                f"{what} in a loop or branch of nx that runs outside of a definition.",
                "Call it in a function with @nx.jit.",
            )
        )
    return TracedValueError(
        message(
            f"{what} in what is traced on its own, such as the function of nx.reduce or the gradient of "
            "nx.custom_grad.",
            f"Return the values from the definition, and {does} there.",
        )
    )


def record(hook: Hook, structure: containers.Structure, outputs: Sequence[Output]) -> None:
    """Have a hook called each time that a program comes by here, in a loop or for many entries.

    Parameters
    ----------
    hook : Hook
    structure : containers.Structure
        Of the value that it gets.
    outputs : sequence of (Expr, Spec or VectorizedSpec)
        The leaves.
    """
    run = tracing.current()
    found = _outermost(run)
    found.region.is_owned |= hook.name is not None and hook.function is not None
    said = Said(found.region, hook, structure, tuple([spec for _, spec in outputs]))
    # Python's loop has ended where a check has failed before.
    speaks = apply(p.logical_not, checks.has_failed())
    run.write(found.token, _noting(said, speaks, run.read(found.token), [node for node, _ in outputs]))


def hook_of(entry: Any, run: tracing.Trace, caller: SourceLocation | None = None) -> tuple | None:
    """What is called after a run of a program, or before a region: hook, structure and outputs; None for nothing.

    Parameters
    ----------
    entry : RecordedCall or (Hook, structure, outputs or cells)
    run : Trace
        In which the outputs are read.
    caller : SourceLocation, optional
        The line that had the function traced: a later call may be another one, and errors do not tell it.
    """
    if not isinstance(entry, RecordedCall):
        hook, structure, outputs = entry
        return Hook(hook.name, hook.function, hook.in_branch, ByIdentity(entry)), structure, [
            _now(output, run) for output in outputs
        ]  # fmt: skip
    nodes = deferred_calls.contents(run, entry)
    if entry.in_branch and nodes[0].primitive is p.constant and not nodes[0].params["value"]:
        # Of a part of a trace that was dropped.
        return None
    structure = ("tuple", None, (containers.LEAF,) * (len(nodes) - entry.in_branch))
    if entry.in_branch:
        structure = ("tuple", None, (containers.LEAF, structure))
    source = None if entry.source == caller else entry.source
    hook = Hook(None, raised_again.located(entry.function, source), entry.in_branch, ByIdentity(entry))
    return hook, structure, [(node, node.spec) for node in nodes]


def _now(output: Output | MutableCell, run: tracing.Trace) -> Output:
    """A hook's value as a node; from a branch, what its cell holds at the end."""
    if not isinstance(output, MutableCell):
        return output
    node = run.read(output)
    return node, node.spec


def _noting(said: Said | SaidBefore, speaks: Any, token: Any, nodes: Sequence[Expr]) -> Expr:
    """The token behind a call of the program."""
    function = HostFunction(
        "print", ("said", ByIdentity(said)), said.note, (_TOKEN,), True, elementwise=True, masked=True, quiet=False
    )
    after = apply(p.njit_call, speaks, token, *nodes, function=function)
    # What is said has no part in a gradient.
    return tracing.current().node(apply(p.stop_grad, after))


def _outermost(run: Any) -> _TracedRegion:
    body, trace = deferred_calls.outermost_loop(run), run.outermost
    regions, entries = trace.memory.setdefault(_REGIONS, {}), deferred_calls.entries_of_program(run)
    if id(body) not in regions:
        region, token = Region(), MutableCell(checks.SAID)
        entry = RecordedCall(region, (token,), in_branch=True, loop=body, leads=True)
        regions[id(body)] = _TracedRegion(body, region, token, entry)
        trace.write(token, constant(0, types.s64))
        with tracing.recording_in(body.previous):
            before = _said_before(body, region, entries)
        if before is not None:
            body.previous.write(token, before)
    if not any(each is regions[id(body)].entry for each in entries):
        # That of an attempt is dropped with it.
        entries.append(regions[id(body)].entry)
    return regions[id(body)]


def _said_before(body: BodyTrace, region: Region, entries: Sequence[Any]) -> Expr | None:
    """The token behind all that is said before a region; None where that is nothing."""
    run, hooks, nodes = tracing.current(), [], []
    places = [place for place, entry in enumerate(entries) if isinstance(getattr(entry, "function", None), Region)]
    # What is said before the region before was said with that.
    for entry in entries[places[-1] if places else 0 :]:
        found = None if getattr(entry, "loop", None) is body else hook_of(entry, run)
        if found is None:
            continue
        hook, structure, outputs = found
        nodes += [node for node, _ in outputs]
        hooks.append((hook, structure, tuple([spec for _, spec in outputs])))
    if not hooks:
        return None
    return _noting(SaidBefore(region, tuple(hooks)), constant(True, types.bool_), constant(0, types.s64), nodes)
