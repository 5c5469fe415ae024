"""Clearing caches on a page's request, and undoing it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from nxkernel.compilers import registry
from nxkernel.compilers.cache import disk_cache
from nxkernel.definitions.calls import content_identity
from nxkernel.messages.grammar import counted
from nxkernel_lab.records import cache_contents

#: So many times what was cleared can be put back.
UNDONE = 8


@dataclass(frozen=True, slots=True)
class ClearRequest:
    """Clear the ``"programs"`` of a function or of all (``""``), kernels in ``"memory"``, or files on ``"disk"``."""

    what: str
    function: str = ""


@dataclass(frozen=True, slots=True)
class UndoRequest:
    """Undo a clearing, by the number that its reply gave."""

    number: int


def read_request(content: object) -> ClearRequest | UndoRequest | None:
    """Parse a request from a page.

    Parameters
    ----------
    content : object
        What came out of a comm: anything that JSON can say.

    Returns
    -------
    ClearRequest or UndoRequest or None
        None for what is not understood.

    Examples
    --------
    >>> read_request({"kind": "forget", "what": "programs", "function": "softmax"})
    ClearRequest(what='programs', function='softmax')
    >>> read_request({"kind": "forget", "what": "everything"})
    """
    match content:
        case {"kind": "forget", "what": "programs", "function": str(function)}:
            return ClearRequest("programs", function)
        case {"kind": "forget", "what": "memory" | "disk" as what}:
            return ClearRequest(what)
        case {"kind": "undo", "number": int(number)} if type(number) is int:
            return UndoRequest(number)
    return None


class Clearing:
    """Clears caches, and keeps the cleared programs for undo."""

    def __init__(self) -> None:
        self._kept: dict[int, Callable[[], int]] = {}
        self._number = 0

    def perform(self, request: ClearRequest | UndoRequest) -> dict[str, Any]:
        """Carry out a request.

        Parameters
        ----------
        request : ClearRequest or UndoRequest

        Returns
        -------
        dict
            ``text``: what was done, in a sentence; ``undo``: the number by which it can be undone, 0 where it cannot.
        """
        cache_contents.look_again()
        match request:
            case ClearRequest("programs", function):
                number, undo = content_identity.forget(function)
                if not number:
                    return {"text": "There are no programs to forget.", "undo": 0}
                text = f"Forgot {counted(number, 'program')} of {function or 'all functions'}."
                return {"text": text, "undo": self._keep(undo)}
            case ClearRequest("memory"):
                forgotten = sum(compiler.forget_code() for compiler in registry.made())
                return {"text": f"Forgot {forgotten} kernels and programs in memory.", "undo": 0}
            case ClearRequest("disk"):
                return {"text": f"Removed {counted(disk_cache.clear(), 'file')} from disk.", "undo": 0}
            case UndoRequest(number) if number in self._kept:
                return {"text": f"Put back {counted(self._kept.pop(number)(), 'program')}.", "undo": 0}
        return {"text": "That cannot be undone any more.", "undo": 0}

    def _keep(self, undo: Callable[[], int]) -> int:
        self._number += 1
        self._kept[self._number] = undo
        while len(self._kept) > UNDONE:
            del self._kept[next(iter(self._kept))]
        return self._number


#: What the widget and the panel of this process clear with.
clearing = Clearing()
