"""What a nest keeps in scratch rows from one pass to the next is computed again where that is cheap.

A GPU has arithmetic to spare, while what blocks keep in shared memory decides how many of them run beside each other.
"""

from __future__ import annotations

from collections.abc import Sequence

from nxkernel.compilers.costs import cost
from nxkernel.compilers.loops import Op, Section
from nxkernel.compilers.numba_cuda.sections import needed

#: The most that a value may cost that is computed again.
CHEAP = 32


def without_cheap_rows(sections: Sequence[Section]) -> tuple[Section, ...]:
    """The sections of a nest, of which only costly values go through scratch rows.

    Parameters
    ----------
    sections : sequence of Section
    """
    made: list[Section] = []
    cheap: dict[int, list[Op]] = {}
    for section in sections:
        code, moved = _written_out(section.code, cheap)
        kept = []
        for row, number in section.scratches:
            found = needed(code, moved[number])
            if sum(cost(op.name) for op in found) <= CHEAP:
                cheap[row] = found
            else:
                kept.append((row, moved[number]))
        made.append(
            section._replace(
                code=tuple(code),
                stores=tuple((buffer, moved[number]) for buffer, number in section.stores),
                keeps=tuple((slot, moved[number]) for slot, number in section.keeps),
                reduces=tuple(one._replace(args=tuple(moved[arg] for arg in one.args)) for one in section.reduces),
                scratches=tuple(kept),
                scatters=tuple(
                    one._replace(value=moved[one.value], offset=moved[one.offset]) for one in section.scatters
                ),
            )
        )
    return tuple(made)


def _written_out(code: Sequence[Op], cheap: dict[int, list[Op]]) -> tuple[list[Op], list[int]]:
    """Instructions with those of cheap rows in place of what reads them, and where each of the old ones is."""
    made: list[Op] = []
    moved: list[int] = []
    for op in code:
        if op.name == "scratch" and op.extra in cheap:
            first = len(made)
            made += [one._replace(args=tuple(first + arg for arg in one.args)) for one in cheap[op.extra]]
        else:
            made.append(op._replace(args=tuple(moved[arg] for arg in op.args)))
        moved.append(len(made) - 1)
    return made, moved
