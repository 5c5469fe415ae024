"""The global and attribute names that code reads, from its bytecode."""

from __future__ import annotations

import dis
import functools
import types
from dataclasses import dataclass

#: Instructions that do nothing.
_FILLERS = frozenset({"CACHE", "EXTENDED_ARG", "NOP", "PRECALL", "PUSH_NULL"})
#: Methods that only add to a container: a function that keeps a log does not depend on it.
_FILLS = frozenset({"add", "append", "appendleft", "extend", "insert"})

#: Names that can find out which attributes an object has. Other code fails if one is missing.
_INTROSPECTION = frozenset(
    {"asdict", "astuple", "attrgetter", "dir", "format", "format_map", "getattr", "getattr_static", "getmembers",
     "hasattr", "inspect", "methodcaller", "signature", "vars", "__defaults__", "__dict__", "__dir__",
     "__getattribute__", "__kwdefaults__", "__getstate__", "copy", "deepcopy", "dumps"}
)  # fmt: skip
#: Names that can find out whether two values share memory, or are one object, beside ``is`` and ``id``.
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
        ``("config", "rate")`` for ``config.rate``. An imported module has its full name, with leading dots if it is
        relative: ``(".config", "rate")`` for ``from .config import rate``.
    """

    root: str
    names: tuple[str, ...]

    @property
    def fills(self) -> bool:
        """Whether it only adds to a container, as ``log.append`` does."""
        return len(self.names) > 1 and self.names[-1] in _FILLS


@dataclass(frozen=True, slots=True)
class Reads:
    """The global and attribute names that code reads and writes.

    Parameters
    ----------
    paths : tuple of Path
        The dotted names, in order, without attributes that are only counted up.
    written : frozenset of str
        Global names that it assigns.
    introspects : bool
        Whether it may look for attributes by name, such as with ``hasattr``.
    names : frozenset of str
        All names of globals and attributes in it.
    counted : frozenset of str
        The names and attributes that it only counts up.
    catches : bool
        Whether it has an ``except``, and may so go on if an attribute or argument is missing.
    identifies : bool
        Whether it may compare the identities of any values.
    compared : tuple of Path
        Names whose identity it compares; it depends on their values whether that matters.
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
    """What a code object and the functions inside it read and write.

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
    mentioned = names | scan.texts if introspects else names
    identifies = scan.identifies or not _IDENTITY.isdisjoint(mentioned)
    identifies = identifies or any(path.root == "global" and path.names[0] == "id" for path in scan.paths)
    return Reads(
        tuple(scan.paths), frozenset(scan.written), introspects, names, counted, scan.catches, identifies,
        tuple(scan.compared), not _MEMORY.isdisjoint(mentioned),
    )  # fmt: skip


class _Scan:
    """Collects names from the bytecode of a function and of the functions inside it."""

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
        """Add the names in a code object; `first` is the name of its first parameter, the subject of a method."""
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

        for position, instruction in enumerate(instructions):
            operation, argument = instruction.opname, instruction.argval
            if operation == "IMPORT_NAME":
                close()
                level, parts = instructions[position - 2].argval, instructions[position - 1].argval
                for part in parts or [""]:
                    self.paths[Path("import", tuple(filter(None, ["." * level + argument, part])))] = None
            elif operation in ("LOAD_GLOBAL", "LOAD_NAME"):
                close()
                if argument == "super" and "__class__" in self.free and self.first:
                    # Without arguments it takes the class and the first argument, whose names are not in the code.
                    self.paths |= dict.fromkeys([Path("free", ("__class__",)), Path("self", (self.first,))])
                if _counts_up(instructions, position):
                    self.counted.add(argument)
                else:
                    root, names = "global", [argument]
            elif operation in ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"):
                close()
                if argument == first:
                    root, names = "self", [argument]
                elif argument in self.free and argument not in own:
                    if _counts_up(instructions, position):
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
                if _counts_up(instructions, position):
                    root = ""
                    self.counted.add(argument)
                names.append(argument)
            elif operation == "IS_OP":
                if not _is_class(instructions, position - 1):
                    if root:
                        self.compared[Path(root, tuple(names))] = None
                    else:
                        # Most code asks for None, which no array is.
                        self.identifies = self.identifies or instructions[position - 1].opname != "LOAD_CONST"
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


def _is_class(instructions: list[dis.Instruction], position: int) -> bool:
    """Whether an instruction loads a class by ``x.__class__`` or ``type(x)``: a class is no data."""
    if instructions[position].opname == "CALL" and instructions[position].arg == 1:
        position -= 1
        while position and instructions[position].opname.startswith(
            ("LOAD_FAST", "LOAD_ATTR", "LOAD_DEREF", "PRECALL")
        ):
            position -= 1
        return instructions[position].opname == "LOAD_GLOBAL" and instructions[position].argval == "type"
    return instructions[position].argval == "__class__"


def _counts_up(instructions: list[dis.Instruction], position: int) -> bool:
    """Whether an attribute is only counted up here, as by ``self.n += 1`` with a constant step."""
    after = [step for step in instructions[position + 1 : position + 5] if step.opname != "SWAP"][:3]
    if len(after) < 3 or not after[0].opname.startswith(("LOAD_CONST", "LOAD_SMALL_INT")):
        return False
    store = instructions[position].opname.replace("LOAD_NAME", "LOAD_GLOBAL").replace("LOAD", "STORE")
    augmented = after[1].opname == "BINARY_OP" and after[1].argrepr.endswith("=")
    return augmented and after[2].opname == store and after[2].argval == instructions[position].argval


def _rebound(instructions: list[dis.Instruction]) -> set[str]:
    """The local names that code assigns or deletes."""
    stores = ("STORE_FAST", "STORE_DEREF", "DELETE_FAST", "DELETE_DEREF")
    names: set[str] = set()
    for instruction in instructions:
        if instruction.opname.startswith(stores):
            names.update(instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,))
    return names
