"""The global and attribute names that code reads, from its bytecode."""

from __future__ import annotations

import dis
import functools
import types
from dataclasses import dataclass

#: What instructions between others stand for nothing.
_FILLERS = frozenset({"CACHE", "EXTENDED_ARG", "NOP", "PRECALL", "PUSH_NULL"})
#: Methods of containers that put something in and look at nothing: a trace that keeps a log does not depend on it.
_FILLS = frozenset({"add", "append", "appendleft", "extend", "insert"})

#: What tells whether something has an attribute, or which ones it has. Other code fails where there is none.
_INTROSPECTION = frozenset(
    {"asdict", "astuple", "attrgetter", "dir", "format", "format_map", "getattr", "getattr_static", "getmembers",
     "hasattr", "inspect", "methodcaller", "signature", "vars", "__defaults__", "__dict__", "__dir__",
     "__getattribute__", "__kwdefaults__", "__getstate__", "copy", "deepcopy", "dumps"}
)  # fmt: skip
#: What tells whether two names stand for one object, beside ``is`` and ``id``, or for one memory.
_MEMORY = frozenset({"may_share_memory", "shares_memory"})
_IDENTITY = frozenset({"is_", "is_not", "deepcopy", "dumps", *_MEMORY})


@dataclass(frozen=True, slots=True)
class Path:
    """A dotted name that code reads.

    Parameters
    ----------
    root : str
        ``"global"``, ``"free"`` (a variable of an enclosing function), ``"self"`` (the first argument of a method) or
        ``"import"`` (a module that the code imports itself).
    names : tuple of str
        ``("config", "rate")`` for ``config.rate``. A module has its whole name, with a dot for each level that it is
        looked for above: ``(".config", "rate")`` for ``from .config import rate``.
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
        Each once, in the order in which the code names them; without what it only counts up itself.
    written : frozenset of str
        Global names that it assigns.
    introspects : bool
        Whether it may ask a function for attributes and defaults that are not there.
    names : frozenset of str
        All names of globals and attributes that stand in it.
    counted : frozenset of str
        The names and attributes that it counts up, and does nothing else with.
    catches : bool
        Whether it may go on after an error, such as that of an attribute or argument that is not there.
    identifies : bool
        Whether it may ask if two values are one object.
    compared : tuple of Path
        What it asks it of besides: whether that may be data is for what is found there to say.
    compares_memory : bool
        Whether it may ask if two arrays share memory.
    """

    paths: tuple[Path, ...]
    written: frozenset[str]
    introspects: bool = False
    names: frozenset[str] = frozenset()
    counted: frozenset[str] = frozenset()
    catches: bool = False
    identifies: bool = False
    compared: tuple[Path, ...] = ()
    compares_memory: bool = False


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
    read = {name for path in scan.paths for name in path.names[1:]}
    names = frozenset(scan.names)
    introspects = scan.matches or not _INTROSPECTION.isdisjoint(names)
    counted = frozenset(scan.counted - read)
    # To what looks attributes up, a name may be given as a text.
    said = names | scan.texts if introspects else names
    identifies = scan.identifies or not _IDENTITY.isdisjoint(said)
    identifies = identifies or any(path.root == "global" and path.names[0] == "id" for path in scan.paths)
    return Reads(
        tuple(scan.paths), frozenset(scan.written), introspects, names, counted, scan.catches, identifies,
        tuple(scan.compared), not _MEMORY.isdisjoint(said),
    )  # fmt: skip


class _Scan:
    """Walks instructions and those of inner code."""

    def __init__(self, free: frozenset[str], first: str) -> None:
        self.free, self.first = free, first
        self.paths: dict[Path, None] = {}
        #: The global names that the code assigns.
        self.written: set[str] = set()
        self.names: set[str] = set()
        self.counted: set[str] = set()
        self.texts: set[str] = set()
        self.compared: dict[Path, None] = {}
        self.catches = self.identifies = False
        #: Whether it takes objects apart in a `match`, whose patterns have no names that code loads.
        self.matches = False

    def run(self, code: types.CodeType, first: str) -> None:
        """Collect from code; `first` is how it calls the subject, if it can."""
        instructions = [step for step in dis.get_instructions(code) if step.opname not in _FILLERS]
        self.names.update(code.co_names)
        self.catches = self.catches or bool(code.co_exceptiontable)
        own = set(code.co_varnames) | set(code.co_cellvars)
        root, names = "", []
        if first and first in _rebound(instructions):
            # What it is called later is not known: all of it counts as read.
            self.paths[Path("self", (first,))] = None
            first = ""

        def close() -> None:
            nonlocal root
            if root:
                self.paths[Path(root, tuple(names))] = None
            root = ""

        for place, instruction in enumerate(instructions):
            operation, argument = instruction.opname, instruction.argval
            if operation == "IMPORT_NAME":
                close()
                level, parts = instructions[place - 2].argval, instructions[place - 1].argval
                for part in parts or [""]:
                    self.paths[Path("import", tuple(filter(None, ["." * level + argument, part])))] = None
            elif operation in ("LOAD_GLOBAL", "LOAD_NAME"):
                close()
                if argument == "super" and "__class__" in self.free and self.first:
                    # Without arguments it takes the class and the first argument, whose names are not in the code.
                    self.paths |= dict.fromkeys([Path("free", ("__class__",)), Path("self", (self.first,))])
                if _counts_up(instructions, place):
                    self.counted.add(argument)
                else:
                    root, names = "global", [argument]
            elif operation in ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"):
                close()
                if argument == first:
                    root, names = "self", [argument]
                elif argument in self.free and argument not in own:
                    if _counts_up(instructions, place):
                        self.counted.add(argument)
                    else:
                        root, names = "free", [argument]
            elif operation.startswith("LOAD_FAST"):
                close()
                for name in argument if isinstance(argument, tuple) else (argument,):
                    close()
                    if name == first:
                        root, names = "self", [name]
            elif operation in ("LOAD_ATTR", "LOAD_METHOD") and root:
                if _counts_up(instructions, place):
                    root = ""
                    self.counted.add(argument)
                names.append(argument)
            elif operation == "IS_OP":
                if not _is_class(instructions, place - 1):
                    if root:
                        self.compared[Path(root, tuple(names))] = None
                    else:
                        # Most code asks for None, which no array is.
                        self.identifies = self.identifies or instructions[place - 1].opname != "LOAD_CONST"
                close()
            elif operation == "STORE_ATTR" and root:
                root = ""
            elif operation == "STORE_GLOBAL":
                close()
                self.written.add(argument)
            elif operation == "MATCH_CLASS":
                close()
                self.matches = True
            elif operation != "COPY":
                # `self.n += 1` loads `self`, copies it, and reads the attribute that it assigns in the end.
                close()
        close()
        self.texts.update(constant for constant in code.co_consts if isinstance(constant, str))
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self.run(constant, first if first in constant.co_freevars else "")


def _is_class(instructions: list[dis.Instruction], place: int) -> bool:
    """Whether an instruction gives a class, ``x.__class__`` or ``type(x)``, which no data is."""
    if instructions[place].opname == "CALL" and instructions[place].arg == 1:
        place -= 1
        while place and instructions[place].opname.startswith(("LOAD_FAST", "LOAD_ATTR", "LOAD_DEREF", "PRECALL")):
            place -= 1
        return instructions[place].opname == "LOAD_GLOBAL" and instructions[place].argval == "type"
    return instructions[place].argval == "__class__"


def _counts_up(instructions: list[dis.Instruction], place: int) -> bool:
    """Whether what is loaded goes into a counter and nowhere else: ``n += 1``, with a constant step."""
    after = [step for step in instructions[place + 1 : place + 5] if step.opname != "SWAP"][:3]
    if len(after) < 3 or not after[0].opname.startswith(("LOAD_CONST", "LOAD_SMALL_INT")):
        return False
    store = instructions[place].opname.replace("LOAD_NAME", "LOAD_GLOBAL").replace("LOAD", "STORE")
    augmented = after[1].opname == "BINARY_OP" and after[1].argrepr.endswith("=")
    return augmented and after[2].opname == store and after[2].argval == instructions[place].argval


def _rebound(instructions: list[dis.Instruction]) -> set[str]:
    """The local names that code assigns or deletes."""
    stores = ("STORE_FAST", "STORE_DEREF", "DELETE_FAST", "DELETE_DEREF")
    found: set[str] = set()
    for instruction in instructions:
        if instruction.opname.startswith(stores):
            found.update(instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,))
    return found
