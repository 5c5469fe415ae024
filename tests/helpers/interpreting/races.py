"""What the turns of a loop touch: elements that two turns share, one of them writing, are errors."""

from __future__ import annotations

import numpy as np

from nxkernel.graph.expr import SourceLocation

from .memory import Block

#: Nobody has touched a byte; several turns have read it.
_NOBODY, _SEVERAL = -1, -2


class OverlapError(AssertionError):
    """Two turns of a loop that may be spread over threads touch the same element, and one of them writes it."""


class Turns:
    """Watches the turns of one run of a loop.

    Memory that there was before the loop belongs to all threads: what one turn writes there, no other one may touch.
    Other memory is each thread's own: there a turn may not read what another one has left.

    Parameters
    ----------
    source : SourceLocation or None
        The loop's line.
    born : int
        The number of the first block that belongs to the loop alone.
    """

    def __init__(self, source: SourceLocation | None, born: int) -> None:
        self.source, self.born = source, born
        self.turn = _NOBODY
        self._seen: dict[Block, tuple[np.ndarray, np.ndarray]] = {}

    def _of(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        if block not in self._seen:
            nobody = np.full(len(block.bytes), _NOBODY, dtype=np.int64)
            self._seen[block] = nobody, nobody.copy()
        return self._seen[block]

    def read(self, block: Block, places: np.ndarray, size: int, what: object) -> None:
        """Elements are read."""
        if self.turn == _NOBODY or not np.size(places):
            return
        writers, readers = self._of(block)
        places = _bytes(places, size)
        writer = writers[places]
        other = (writer != _NOBODY) & (writer != self.turn)
        if other.any():
            self._overlap(block, places[other][0], size, writer[other][0], "writes", what, "reads")
        if block.serial < self.born:
            before = readers[places]
            readers[places] = np.where((before == _NOBODY) | (before == self.turn), self.turn, _SEVERAL)

    def write(self, block: Block, places: np.ndarray, size: int, what: object) -> None:
        """Elements are written."""
        if self.turn == _NOBODY or not np.size(places):
            return
        writers, readers = self._of(block)
        places = _bytes(places, size)
        if block.serial < self.born:
            for table, does in ((writers, "writes"), (readers, "reads")):
                before = table[places]
                other = (before != _NOBODY) & (before != self.turn)
                if other.any():
                    self._overlap(block, places[other][0], size, before[other][0], does, what, "writes")
        writers[places] = self.turn

    def _overlap(self, block: Block, place: int, size: int, turn: int, did: str, what: object, does: str) -> None:
        other = f"turn {turn}" if turn >= 0 else "several turns"
        verb = did if turn >= 0 else did.removesuffix("s")
        where = f"{self.source.file}, line {self.source.line}" if self.source else "a loop"
        raise OverlapError(
            f"{where}: {other} {verb} element {place // size} of {block.name}, which turn {self.turn} {does}: {what}"
        )


def _bytes(places: np.ndarray, size: int) -> np.ndarray:
    return (np.ravel(places)[:, None] + np.arange(size)).ravel()
