"""Verification of plans under construction, after each planning pass.

Each check asks for what its pass guarantees in another way than the pass went about it: ranges by computing with their
ends, buffers by when values live. Of a finished plan :mod:`nxkernel.compilers.plan.verify` runs the steps in its mind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.backends import MEANING
from nxkernel.compilers.analysis import scalars
from nxkernel.compilers.plan.buffer_assignment import bytes_of
from nxkernel.compilers.plan.in_place_updates import below
from nxkernel.compilers.plan.locations import Location, MemoryKind
from nxkernel.compilers.plan.program_plan import ProgramPlan
from nxkernel.compilers.plan.verify import element_by_element
from nxkernel.compilers.schedule.kernel_groups import KernelGroup, space_of
from nxkernel.errors import VerificationError
from nxkernel.graph.expr import Expr
from nxkernel.graph.intervals import RULES, Interval
from nxkernel.graph.verify import Problem, named

if TYPE_CHECKING:
    from nxkernel.compilers.plan.planner import PlanDraft


def _raise_first(problems: Iterable[Problem], after: str) -> None:
    for subject, expected, actual in problems:
        raise VerificationError(after, subject, expected, actual)


# Integer ranges --------------------------------------------------------------------------------------------------


def verify_ranges(draft: PlanDraft, after: str) -> None:
    """Check the bounds of single integers: within their types, and consistent with the nodes' values at the ends.

    Parameters
    ----------
    draft : PlanDraft
    after : str
        The pass that made it, which the error names.

    Raises
    ------
    VerificationError
        At the first thing that is wrong, as all of these functions do.
    """
    _raise_first(_ranges(draft), after)


def _ranges(draft: PlanDraft) -> Iterator[Problem]:
    for node, (low, high) in draft.ranges.items():
        if not scalars.is_single(node) or not node.type.is_integer:
            yield named(node), "a range of single integers alone", f"{low} to {high}"
            continue
        least, most = types.limits(node.type)
        if not least <= low <= high <= most:
            yield named(node), f"a range in order, from {least} on and up to {most}", f"{low} to {high}"
        elif node.primitive is p.constant and not low <= node.params["value"] <= high:
            yield named(node), f"a range around {node.params['value']}", f"{low} to {high}"
        elif node.primitive in RULES and all(operand in draft.ranges for operand in node.operands):
            yield from _ends(node, draft.ranges[node], [draft.ranges[operand] for operand in node.operands])


def _ends(node: Expr, interval: Interval, operands: list[Interval]) -> Iterator[Problem]:
    """A node's value for the smallest and largest operands lies in its range."""
    for numbers in product(*({low, high} for low, high in operands)):
        arrays = [np.full(o.shape, n, o.type.dtype) for o, n in zip(node.operands, numbers, strict=True)]
        value = int(np.reshape(MEANING[node.primitive](node.spec, *arrays, **node.params), ()))
        if not interval[0] <= value <= interval[1]:
            given = " and ".join(map(str, numbers))
            yield named(node), f"a range with {value}, which it is of {given}", f"{interval[0]} to {interval[1]}"


# Bodies ----------------------------------------------------------------------------------------------------------


def verify_bodies(draft: PlanDraft, after: str) -> None:
    """Check that each loop or branch has plans of its own bodies, which write only where they may."""
    _raise_first(_bodies(draft), after)


def _bodies(draft: PlanDraft) -> Iterator[Problem]:
    for node in draft.controls:
        is_loop = node.primitive is p.while_
        names = ("condition", "body") if is_loop else ("then", "otherwise")
        plans = draft.parts.get(node, ())
        if len(plans) != len(names):
            yield named(node), f"plans of its {names[0]} and {names[1]}", f"{len(plans)} plans"
            continue
        held = node.operands if is_loop else node.operands[1:]
        for name, plan in zip(names, plans, strict=True):
            last = {"condition": 0, "body": node.params.get("state", 0)}.get(name, len(held))
            yield from _body(node, name, plan, {k for k in range(last) if not scalars.is_single(held[k])})


def _body(node: Expr, name: str, plan: ProgramPlan, arrays: set[int]) -> Iterator[Problem]:
    what, graph = f"the {name} of {named(node)}", node.params[name]
    if plan.graph is not graph:
        yield what, f"the plan of {graph.name}", f"that of {plan.graph.name if plan.graph else 'a whole program'}"
        return
    if len(plan.results) != len(graph.outputs):
        yield what, f"{len(graph.outputs)} results", f"{len(plan.results)}"
    for number, (result, output) in enumerate(zip(plan.results, graph.outputs, strict=False)):
        if result.spec[:2] != output.spec[:2]:
            yield f"result {number} of {what}", f"{output.spec}", f"{result.spec}"
    for number in sorted(plan.overwritten - arrays):
        yield what, f"that of its inputs it writes into {sorted(arrays) or 'none'}", f"input {number}"


# Updates in place ------------------------------------------------------------------------------------------------


def verify_updates(draft: PlanDraft, after: str) -> None:
    """Check the in-place candidates: equal types and shapes, memory that is writable, and taken once."""
    _raise_first(_updates(draft), after)


def _updates(draft: PlanDraft) -> Iterator[Problem]:
    position = {node: number for number, node in enumerate(draft.order)}
    outputs = {below(output) for output in draft.outputs}
    taken: dict[Expr, Expr] = {}
    for result, old in draft.possible.items():
        what = f"{named(result)} in place"
        if result not in position or old not in position or position[old] >= position[result]:
            yield what, "a value that is there before it", named(old)
            continue
        if result.type is not old.type or bytes_of(result) != bytes_of(old):
            yield what, f"the memory of a {result.type} of {bytes_of(result)} bytes", f"that of {named(old)}"
        if old.primitive is p.constant or (old.primitive is p.parameter and old not in draft.writable):
            yield what, "memory that may be written to", f"that of {named(old)}"
        if old in outputs:
            yield what, "memory of a value that is no output", f"that of {named(old)}"
        if old in taken:
            yield what, "memory that no other result takes over", f"that which {named(taken[old])} does"
        taken[old] = result


# Fusion ----------------------------------------------------------------------------------------------------------


def verify_fusion(draft: PlanDraft, after: str) -> None:
    """Check what fusion decided: each value that others read is in memory, each materialized value is in one group, of
    its space, and no groups wait for each other.
    """
    _raise_first(_fusion(draft), after)


def _fusion(draft: PlanDraft) -> Iterator[Problem]:
    fusion = draft.fusion
    for number, output in enumerate(draft.outputs):
        if not fusion.is_buffer(output):
            yield f"output {number}, {named(output)}", "it in memory", "that it is computed where it is read"
    for result in draft.shared:
        seen, node = {result}, draft.shared[result]
        while node in draft.shared and node not in seen:
            seen.add(node)
            node = draft.shared[node]
        if node in seen:
            yield f"{named(result)} in place", "memory that somebody has before", "its own"
            return
    owners: dict[Expr, KernelGroup] = {}
    for group in fusion.kernels:
        for value in group.materialized:
            if value in owners:
                yield named(value), "one group that computes it", "two"
            elif fusion.group_of.get(value) is not group:
                yield named(value), "the group that it is said to be in", "another one"
            owners[value] = group
            yield from _value_in_group(value, group)
    for value in fusion.group_of:
        if value not in owners:
            yield named(value), "it among the values of its group", "that it is not"
    waiting = _waiting(fusion.kernels)
    if waiting:
        last = next((named(node) for group in waiting for node in group.materialized), "pieces of a buffer")
        yield f"the group of {last}", "that it waits for none that waits for it", f"{len(waiting)} that do"
        return
    for group in fusion.kernels:
        yield from _group_reads(draft, group)


def _value_in_group(value: Expr, group: KernelGroup) -> Iterator[Problem]:
    """A value matches its group's space: all of it, or one element a row where the group reduces."""
    space, reduce, block = space_of(value)
    if reduce is not None:
        if (space, reduce, block) != (group.space, group.reduce, group.block):
            there = f"one over {list(space)} that reduces {list(reduce)}"
            yield named(value), f"a group over {list(group.space)} that reduces {list(group.reduce or ())}", there
        return
    rows = [group.space[axis] for axis in group.outer if group.space[axis] != 1]
    if value.shape != group.space and (group.reduce is None or [n for n in value.shape if n != 1] != rows):
        yield named(value), f"a value over {list(group.space)}, or over {rows} of it", f"{list(value.shape)}"


def _waiting(groups: Iterable[KernelGroup]) -> list[KernelGroup]:
    """The groups that can never run, since they wait for each other."""
    left, done = list(groups), set()
    while left:
        still = [group for group in left if not group.needs <= done]
        if len(still) == len(left):
            return still
        done.update(group for group in left if group.needs <= done)
        left = still
    return []


def _group_reads(draft: PlanDraft, group: KernelGroup) -> Iterator[Problem]:
    """Everything that a group reads is in memory, and its computation does not wait for the group itself."""
    fusion = draft.fusion
    reads = [
        (value, node)
        for value in group.materialized
        for node, _ in fusion.reach(value, fusion.start(value, group), set())
    ]
    reads += [(store.target, node) for store in group.stores for node, _ in fusion.reach_store(store, set())]
    for reader, node in reads:
        owner = fusion.buffer_of(node)
        if owner.primitive is not p.parameter and owner not in fusion.materialized:
            yield f"{named(node)}, read for {named(reader)}", "it in memory", "that no group or step computes it"
        writer = fusion.group_of.get(owner)
        if (
            writer is not None
            and writer is not group
            and writer.is_awaited_by([group])
            and group.is_awaited_by([writer])
        ):
            yield f"{named(node)}, read for {named(reader)}", "a group before", "one that waits for this"


# Order of steps --------------------------------------------------------------------------------------------------


def verify_order(draft: PlanDraft, after: str) -> None:
    """Check the order of steps: values are written before they are read, and not overwritten before that."""
    _raise_first(_order(draft), after)


def _order(draft: PlanDraft) -> Iterator[Problem]:
    writers: dict[Expr, list[int]] = {}
    readers: dict[Expr, list[int]] = {}
    for number, step in enumerate(draft.steps):
        for table, nodes in ((writers, step.writes), (readers, step.reads)):
            for node in dict.fromkeys(nodes):
                table.setdefault(node, []).append(number)
    if len(set(map(id, draft.steps))) != len(draft.steps):
        yield "the steps", "each once", "one of them twice"
    for node, numbers in readers.items():
        own = writers.get(node, [])
        if not own and node.primitive is not p.parameter:
            yield f"{named(node)}, read by step {numbers[0]}", "a step that writes it", "none"
        elif own and any(number < own[-1] and number not in own for number in numbers):
            yield f"{named(node)}, read by step {numbers[0]}", "it written before", f"that step {own[-1]} writes it"
    for result, old in draft.shared.items():
        first = min(writers.get(result, ()), default=len(draft.steps))
        base = draft.fusion.buffer_of(old)
        late = [number for number in readers.get(base, ()) if number > first and number not in writers[result]]
        if late:
            found = f"that step {late[0]} reads it when step {first} has written over it"
            yield f"{named(base)}, which {named(result)} is in the memory of", "no readers after that", found


# Buffers ---------------------------------------------------------------------------------------------------------


def verify_buffers(draft: PlanDraft, after: str) -> None:
    """Check the buffer assignment: no byte holds two values at a time, and all bytes exist."""
    _raise_first(_buffers(draft), after)


def _buffers(draft: PlanDraft) -> Iterator[Problem]:
    lives = _lives(draft)
    for node in lives:
        if node not in draft.place:
            yield named(node), "a location", "none"
            return
    for result, old in draft.shared.items():
        if result in draft.place and old in draft.place and draft.place[result] != draft.place[old]:
            yield f"{named(result)} in place", f"{draft.place[old]}, where {named(old)} is", f"{draft.place[result]}"
    yield from _overlaps(draft, lives)


#: The numbers of the first and of the last step that a value is in memory for.
_Life = tuple[int, int]


def _lives(draft: PlanDraft) -> dict[Expr, _Life]:
    """The steps from which and to which each value's memory is in use; outputs live to the end."""
    lives: dict[Expr, _Life] = {}
    for number, step in enumerate(draft.steps):
        for node in {draft.root(node) for node in (*step.reads, *step.writes)}:
            lives[node] = lives.get(node, (number, 0))[0], number
    for output in draft.outputs:
        root = draft.root(draft.fusion.buffer_of(output))
        if root in lives:
            lives[root] = lives[root][0], len(draft.steps)
    for node, (_, last) in lives.items():
        if node.primitive is p.parameter:
            lives[node] = -1, last
    return lives


def _overlaps(draft: PlanDraft, lives: dict[Expr, _Life]) -> Iterator[Problem]:
    memories: dict[Location, list[tuple[int, int, Expr]]] = {}
    for node in lives:
        where, size = draft.place[node], bytes_of(node)
        if where.memory is MemoryKind.WORKSPACE:
            if where.number < 0 or where.number + size > draft.workspace:
                yield named(node), f"bytes below {draft.workspace}", f"{size} from {where.number}"
            memories.setdefault(Location.workspace(0), []).append((where.number, where.number + size, node))
        else:
            memories.setdefault(where, []).append((0, size, node))
    for pieces in memories.values():
        open_: list[tuple[int, int, Expr]] = []
        for begin, end, node in sorted(pieces, key=lambda piece: piece[:2]):
            open_ = [piece for piece in open_ if piece[1] > begin]
            for _, _, other in open_:
                yield from _together(draft, lives, *sorted((node, other), key=lambda one: lives[one]))
            open_.append((begin, end, node))


def _together(draft: PlanDraft, lives: dict[Expr, _Life], first: Expr, second: Expr) -> Iterator[Problem]:
    """Two values in the same bytes have disjoint lifetimes, or one overwrites the other element by element."""
    begin, last = lives[second][0], lives[first][1]
    if last < begin or (last == begin and element_by_element(draft.steps[begin], first, second)):
        return
    found = f"{draft.place[second]} from step {begin} on, where {named(first)} is up to step {last}"
    yield named(second), "memory that nobody else has", found
