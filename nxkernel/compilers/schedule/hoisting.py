"""Loop-invariant code motion: what is the same in all iterations of inner loops is computed once a row before them."""

from __future__ import annotations

from collections.abc import Sequence

from nxkernel.compilers.schedule.loop_nest import NestPass, Op, PassLevel
from nxkernel.types import Type

#: Instructions that depend on where an iteration is, or on what iterations before it left.
_PER_ITERATION = frozenset(["load", "gather", "index", "scratch", "carry", "njit"])
#: Instructions that are as cheap in an iteration as the slot that would replace them.
_FREE = frozenset(["const", "slot"])


def hoisted(
    passes: Sequence[NestPass], slots: Sequence[Type], limits: Sequence[int]
) -> tuple[list[NestPass], list[Type], tuple[int, ...]]:
    """The passes after loop-invariant instructions of full passes have moved to row passes, with the new slots and
    limits.

    Such are the clamped starts of slices. Where no row pass comes before a full one there is a new one.

    Parameters
    ----------
    passes : sequence of NestPass
        Of a nest whose lanes run along an inner axis.
    slots : sequence of Type
    limits : sequence of int
        The slots of the limits of the last inner axis, -1 for one that is its beginning.
    """
    result: list[NestPass] = []
    types = list(slots)
    for nest_pass in passes:
        same = _same(nest_pass) if nest_pass.level is PassLevel.FULL else {}
        costly = [number for number in same if nest_pass.code[number].name not in _FREE]
        wanted = [number for number in costly if _is_used(nest_pass, number, same)]
        if not wanted:
            result.append(nest_pass)
            continue
        row = result.pop() if result and result[-1].level is PassLevel.ROW else NestPass(PassLevel.ROW, ())
        slot_of = {number: len(types) + position for position, number in enumerate(wanted)}
        types += [nest_pass.code[number].type for number in wanted]
        result += [_with_keeps(row, nest_pass, slot_of), _without(nest_pass, slot_of)]
    return _in_use(result, types, limits)


def _in_use(
    passes: list[NestPass], types: list[Type], limits: Sequence[int]
) -> tuple[list[NestPass], list[Type], tuple[int, ...]]:
    """The passes without slots that nobody reads, and the remaining slots, renumbered."""
    read = {op.entry for nest_pass in passes for op in nest_pass.code if op.name == "slot"}.union(limits)
    read.update(reduce.slot for nest_pass in passes for reduce in nest_pass.reduces)
    used = [slot for slot in range(len(types)) if slot in read]
    new = {slot: position for position, slot in enumerate(used)}
    renumbered = [
        nest_pass._replace(
            code=tuple(op._replace(entry=new[op.entry]) if op.name == "slot" else op for op in nest_pass.code),
            keeps=tuple((new[slot], number) for slot, number in nest_pass.keeps if slot in new),
            reduces=tuple(reduce._replace(slot=new[reduce.slot]) for reduce in nest_pass.reduces),
        )
        for nest_pass in passes
    ]
    return renumbered, [types[slot] for slot in used], tuple(new.get(slot, -1) for slot in limits)


def _same(nest_pass: NestPass) -> dict[int, None]:
    """The instructions of a pass that give the same value in every iteration."""
    same: dict[int, None] = {}
    for number, op in enumerate(nest_pass.code):
        if op.name not in _PER_ITERATION and all(arg in same for arg in op.args):
            same[number] = None
    return same


def _is_used(nest_pass: NestPass, number: int, same: dict[int, None]) -> bool:
    """Whether an invariant instruction is used by anything that is not invariant."""
    users = (other for other, op in enumerate(nest_pass.code) if number in op.args)
    return number in _results(nest_pass) or any(user not in same for user in users)


def _results(nest_pass: NestPass) -> set[int]:
    """The instructions whose values leave a pass: stored, reduced or kept."""
    results = {number for _, number in (*nest_pass.stores, *nest_pass.scratches)}
    results.update(arg for reduce in nest_pass.reduces for arg in reduce.args)
    results.update(number for scatter in nest_pass.scatters for number in (scatter.value, scatter.offset))
    return results


def _needed(nest_pass: NestPass, roots: set[int]) -> list[int]:
    """The instructions that some depend on, and these themselves, in order."""
    needed = set(roots)
    for number in range(len(nest_pass.code) - 1, -1, -1):
        if number in needed:
            needed.update(nest_pass.code[number].args)
    return sorted(needed)


def _with_keeps(row: NestPass, nest_pass: NestPass, slot_of: dict[int, int]) -> NestPass:
    """The row pass extended by instructions of the next pass, whose values it keeps in slots."""
    code, keeps, moved = list(row.code), list(row.keeps), {}
    own = dict(row.keeps)
    for number in _needed(nest_pass, set(slot_of)):
        op = nest_pass.code[number]
        if op.name == "slot" and op.entry in own:
            # The row pass itself fills it, at its end.
            moved[number] = own[op.entry]
            continue
        moved[number] = len(code)
        code.append(op._replace(args=tuple(moved[arg] for arg in op.args)))
    keeps += [(slot, moved[number]) for number, slot in slot_of.items()]
    return row._replace(code=tuple(code), keeps=tuple(keeps))


def _without(nest_pass: NestPass, slot_of: dict[int, int]) -> NestPass:
    """The full pass with the moved values read from slots."""
    code = [
        Op("slot", op.type, (), slot_of[number]) if number in slot_of else op
        for number, op in enumerate(nest_pass.code)
    ]
    nest_pass = nest_pass._replace(code=tuple(code))
    kept = _needed(nest_pass, _results(nest_pass))
    moved = {number: position for position, number in enumerate(kept)}
    return nest_pass._replace(
        code=tuple(code[number]._replace(args=tuple(moved[arg] for arg in code[number].args)) for number in kept),
        stores=tuple((buffer, moved[number]) for buffer, number in nest_pass.stores),
        scratches=tuple((row, moved[number]) for row, number in nest_pass.scratches),
        reduces=tuple(r._replace(args=tuple(moved[arg] for arg in r.args)) for r in nest_pass.reduces),
        scatters=tuple(s._replace(value=moved[s.value], offset=moved[s.offset]) for s in nest_pass.scatters),
    )
