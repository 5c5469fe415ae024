"""Loop-invariant code motion: what is the same in all iterations of inner loops is computed once a row before them."""

from __future__ import annotations

from collections.abc import Sequence

from nxkernel.compilers.schedule.loop_nest import Op, Section, SectionLevel
from nxkernel.types import Type

#: Instructions that depend on where an iteration is, or on what iterations before it left.
_OF_A_TURN = frozenset(["load", "gather", "index", "scratch", "carry", "njit"])
#: Instructions that are as cheap in an iteration as the slot that would replace them.
_FREE = frozenset(["const", "slot"])


def hoisted(
    sections: Sequence[Section], slots: Sequence[Type], limits: Sequence[int]
) -> tuple[list[Section], list[Type], tuple[int, ...]]:
    """Sections whose full ones have nothing left that is the same in every iteration, with their slots and limits.

    Such are the clamped starts of slices. Where no row section comes before a full one there is a new one.

    Parameters
    ----------
    sections : sequence of Section
        Of a nest whose lanes run along an inner axis.
    slots : sequence of Type
    limits : sequence of int
        The slots of the limits of the last inner axis, -1 for one that is its beginning.
    """
    made: list[Section] = []
    types = list(slots)
    for section in sections:
        same = _same(section) if section.level is SectionLevel.FULL else {}
        costly = [number for number in same if section.code[number].name not in _FREE]
        wanted = [number for number in costly if _is_used(section, number, same)]
        if not wanted:
            made.append(section)
            continue
        row = made.pop() if made and made[-1].level is SectionLevel.ROW else Section(SectionLevel.ROW, ())
        slot_of = {number: len(types) + place for place, number in enumerate(wanted)}
        types += [section.code[number].type for number in wanted]
        made += [_with_keeps(row, section, slot_of), _without(section, slot_of)]
    return _in_use(made, types, limits)


def _in_use(
    sections: list[Section], types: list[Type], limits: Sequence[int]
) -> tuple[list[Section], list[Type], tuple[int, ...]]:
    """The same without slots that nobody reads."""
    read = {op.entry for section in sections for op in section.code if op.name == "slot"}.union(limits)
    read.update(reduce.slot for section in sections for reduce in section.reduces)
    used = [slot for slot in range(len(types)) if slot in read]
    new = {slot: place for place, slot in enumerate(used)}
    found = [
        section._replace(
            code=tuple(op._replace(entry=new[op.entry]) if op.name == "slot" else op for op in section.code),
            keeps=tuple((new[slot], number) for slot, number in section.keeps if slot in new),
            reduces=tuple(reduce._replace(slot=new[reduce.slot]) for reduce in section.reduces),
        )
        for section in sections
    ]
    return found, [types[slot] for slot in used], tuple(new.get(slot, -1) for slot in limits)


def _same(section: Section) -> dict[int, None]:
    """The instructions that give the same in every iteration."""
    same: dict[int, None] = {}
    for number, op in enumerate(section.code):
        if op.name not in _OF_A_TURN and all(arg in same for arg in op.args):
            same[number] = None
    return same


def _is_used(section: Section, number: int, same: dict[int, None]) -> bool:
    """Whether anything but instructions of that kind needs one of them."""
    users = (other for other, op in enumerate(section.code) if number in op.args)
    return number in _results(section) or any(user not in same for user in users)


def _results(section: Section) -> set[int]:
    """The instructions whose values leave a section."""
    found = {number for _, number in (*section.stores, *section.scratches)}
    found.update(arg for reduce in section.reduces for arg in reduce.args)
    found.update(number for scatter in section.scatters for number in (scatter.value, scatter.offset))
    return found


def _needed(section: Section, roots: set[int]) -> list[int]:
    """The instructions that some need, themselves among them, in order."""
    needed = set(roots)
    for number in range(len(section.code) - 1, -1, -1):
        if number in needed:
            needed.update(section.code[number].args)
    return sorted(needed)


def _with_keeps(row: Section, section: Section, slot_of: dict[int, int]) -> Section:
    """A row section that computes values of the section after it, and keeps them in slots."""
    code, keeps, moved = list(row.code), list(row.keeps), {}
    own = dict(row.keeps)
    for number in _needed(section, set(slot_of)):
        op = section.code[number]
        if op.name == "slot" and op.entry in own:
            # The row section itself fills it, at its end.
            moved[number] = own[op.entry]
            continue
        moved[number] = len(code)
        code.append(op._replace(args=tuple(moved[arg] for arg in op.args)))
    keeps += [(slot, moved[number]) for number, slot in slot_of.items()]
    return row._replace(code=tuple(code), keeps=tuple(keeps))


def _without(section: Section, slot_of: dict[int, int]) -> Section:
    """A full section that reads values from slots instead of computing them."""
    code = [
        Op("slot", op.type, (), slot_of[number]) if number in slot_of else op for number, op in enumerate(section.code)
    ]
    section = section._replace(code=tuple(code))
    kept = _needed(section, _results(section))
    moved = {number: place for place, number in enumerate(kept)}
    return section._replace(
        code=tuple(code[number]._replace(args=tuple(moved[arg] for arg in code[number].args)) for number in kept),
        stores=tuple((buffer, moved[number]) for buffer, number in section.stores),
        scratches=tuple((row, moved[number]) for row, number in section.scratches),
        reduces=tuple(r._replace(args=tuple(moved[arg] for arg in r.args)) for r in section.reduces),
        scatters=tuple(s._replace(value=moved[s.value], offset=moved[s.offset]) for s in section.scatters),
    )
