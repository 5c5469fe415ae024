"""What code reads from outside: the dotted names that it loads, as its bytecode has them."""

from __future__ import annotations

import dis
import functools
import types
from dataclasses import dataclass

#: Methods of containers that put something in and look at nothing: a trace that keeps a log does not depend on it.
_FILLS = frozenset({"add", "append", "appendleft", "extend", "insert"})


@dataclass(frozen=True, slots=True)
class Path:
    """A dotted name that code reads.

    Parameters
    ----------
    root : str
        ``"global"``, ``"free"`` (a variable of an enclosing function) or ``"self"`` (the first argument of a method).
    names : tuple of str
        ``("config", "rate")`` for ``config.rate``.
    """

    root: str
    names: tuple[str, ...]

    @property
    def fills(self) -> bool:
        """Whether it only puts something into a container, as ``log.append`` does."""
        return len(self.names) > 1 and self.names[-1] in _FILLS


@dataclass(frozen=True, slots=True)
class Reads:
    """What code reads and writes outside of itself.

    Parameters
    ----------
    paths : tuple of Path
        Each once, in the order in which the code names them; without what it writes itself, such as a counter.
    written : frozenset of str
        Global names that it assigns.
    """

    paths: tuple[Path, ...]
    written: frozenset[str]


@functools.lru_cache(maxsize=4096)
def of_code(code: types.CodeType) -> Reads:
    """The dotted names that code loads from outside, those of the functions written inside it included.

    Examples
    --------
    >>> [".".join(path.names) for path in of_code((lambda: config.rate * np.pi).__code__).paths]
    ['config.rate', 'np.pi']
    """
    first = code.co_varnames[0] if code.co_argcount else ""
    scan = _Scan(frozenset(code.co_freevars), first)
    scan.run(code, first)
    paths = [path for path in scan.paths if path not in scan.changed]
    written = frozenset(path.names[0] for path in scan.changed if path.root == "global" and len(path.names) == 1)
    return Reads(tuple(paths), written)


class _Scan:
    """Walks instructions and those of inner code."""

    def __init__(self, free: frozenset[str], first: str) -> None:
        self.free, self.first = free, first
        self.paths: dict[Path, None] = {}
        #: What the code assigns, by ``global n``, ``nonlocal n`` or ``self.n += 1``.
        self.changed: set[Path] = set()

    def run(self, code: types.CodeType, first: str) -> None:
        """Collect from code; `first` is how it calls the subject, if it can."""
        instructions = list(dis.get_instructions(code))
        own = set(code.co_varnames) | set(code.co_cellvars)
        attributes = {instruction.argval for instruction in instructions if instruction.opname == "STORE_ATTR"}
        root, names, copied = "", [], 0
        if first and first in _rebound(instructions):
            # What it is called later is not known: all of it counts as read.
            self.paths[Path("self", (first,))] = None
            first = ""

        def close() -> None:
            nonlocal root
            if root:
                path = Path(root, tuple(names))
                self.paths[path] = None
                if copied and len(names) == copied + 1 and names[-1] in attributes:
                    self.changed.add(path)
            root = ""

        for instruction in instructions:
            operation, argument = instruction.opname, instruction.argval
            if operation in ("LOAD_GLOBAL", "LOAD_NAME"):
                close()
                root, names, copied = "global", [argument], 0
            elif operation in ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"):
                close()
                if argument == first:
                    root, names, copied = "self", [argument], 0
                elif argument in self.free and argument not in own:
                    root, names, copied = "free", [argument], 0
            elif operation.startswith("LOAD_FAST"):
                close()
                for name in argument if isinstance(argument, tuple) else (argument,):
                    close()
                    if name == first:
                        root, names, copied = "self", [name], 0
            elif operation in ("LOAD_ATTR", "LOAD_METHOD") and root:
                names.append(argument)
            elif operation == "STORE_ATTR" and root:
                self.changed.add(Path(root, (*names, argument)))
                root = ""
            elif operation == "STORE_GLOBAL":
                close()
                self.changed.add(Path("global", (argument,)))
            elif operation == "STORE_DEREF" and argument in self.free and argument not in own:
                close()
                self.changed.add(Path("free", (argument,)))
            elif operation == "COPY" and root:
                # `self.n += 1` loads `self`, copies it, and reads the attribute that it assigns in the end.
                copied = len(names)
            elif operation not in ("CACHE", "EXTENDED_ARG", "NOP", "PRECALL", "PUSH_NULL"):
                close()
        close()
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self.run(constant, first if first in constant.co_freevars else "")


def _rebound(instructions: list[dis.Instruction]) -> set[str]:
    """The local names that code assigns or deletes."""
    stores = ("STORE_FAST", "STORE_DEREF", "DELETE_FAST", "DELETE_DEREF")
    found: set[str] = set()
    for instruction in instructions:
        if instruction.opname.startswith(stores):
            found.update(instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,))
    return found
