"""Looking up definitions by name in the user's namespace, and naming cells."""

from __future__ import annotations

import difflib
import re
import weakref
from collections import ChainMap
from collections.abc import Callable, Mapping
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from nxkernel.definitions.calls import content_identity
from nxkernel.definitions.keys import source_locations

#: The programs of cells that are kept.
_MOST = 64
_ANSWERS = ("compilations", "cache_info", "clear_cache")


def is_definition(value: object) -> bool:
    """Whether a value is a numerical definition, by the protocol of its class."""
    return all(hasattr(type(value), name) for name in _ANSWERS)


def definitions(namespace: Mapping[str, Any]) -> dict[str, Any]:
    """The definitions of a namespace by name, in alphabetical order, without IPython's ``_`` and ``_12``.

    Parameters
    ----------
    namespace : mapping
        The user's variables.

    Returns
    -------
    dict
        Name to definition.
    """
    by_name = {
        name: value
        for name, value in list(namespace.items())
        if not re.fullmatch(r"_+\d*|_i+", name) and is_definition(value)
    }
    return dict(sorted(by_name.items(), key=_order))


def _order(pair: tuple[str, Any]) -> tuple:
    cell = re.fullmatch(r"%%jit\[(\d+)\]", pair[0])
    return (1, int(cell[1])) if cell else (0, pair[0])


def find(namespace: Mapping[str, Any], name: str) -> Any:
    """The definition of a name, which may be dotted.

    Where no variable holds one, it is the function of that name that was compiled last, as by ``training.fit``.

    Parameters
    ----------
    namespace : mapping
        The user's variables.
    name : str
        Such as ``smooth`` or ``model.step``.

    Returns
    -------
    definition

    Raises
    ------
    UsageError
        Where there is none of that name, naming those that there are.
    """
    first, *rest = name.split(".")
    unnamed = content_identity.named(name)
    try:
        value = namespace[first]
        for attribute in rest:
            value = getattr(value, attribute)
    except (KeyError, AttributeError):
        if unnamed is not None:
            return unnamed
        raise UsageError(f"there is no definition named {name!r}.\n  {_there_are(namespace, name)}") from None
    if not is_definition(value):
        if unnamed is not None:
            return unnamed
        raise UsageError(
            f"{name!r} is a {type(value).__name__}, not a numerical definition.\n  {_there_are(namespace, name)}"
        )
    return value


def compiled(namespace: Mapping[str, Any]) -> dict[str, Any]:
    """Definitions of a namespace by name, then other objects with compiled programs, such as training steps.

    Parameters
    ----------
    namespace : mapping
        The user's variables.

    Returns
    -------
    dict
        Name to definition.
    """
    by_name = definitions(namespace)
    others = [each for each in content_identity.functions() if not any(map(each.is_of, by_name.values()))]
    return by_name | {each.__name__: each for each in others if each.__name__ not in by_name}


def _there_are(namespace: Mapping[str, Any], name: str) -> str:
    names = list(compiled(namespace))
    if not names:
        return "There are none yet: begin a cell with %%defn, or decorate a function with nx.defn."
    close = difflib.get_close_matches(name, names, n=1)
    return f"Definitions here: {', '.join(names)}." + (f" Did you mean {close[0]!r}?" if close else "")


class CompiledCells(dict[str, Any]):
    """The programs of a shell's ``%%jit`` cells, named ``%%jit[7]``; the latest is also ``%%jit``."""

    def remember(self, cell: str, definition: Any) -> None:
        """Record the program of a cell, replacing that of an earlier run.

        Parameters
        ----------
        cell : str
            What the cell is called, such as ``cell 7``.
        definition : definition
        """
        for name, before in list(self.items()):
            if (before.fingerprint, before.dialect) == (definition.fingerprint, definition.dialect):
                del self[name]
        self[f"%%jit[{cell.removeprefix('cell ')}]"] = definition
        while len(self) > _MOST:
            del self[next(iter(self))]

    def __missing__(self, name: str) -> Any:
        if name != "%%jit" or not self:
            raise KeyError(name)
        return self[next(reversed(self))]


_cells: weakref.WeakKeyDictionary[InteractiveShell, CompiledCells] = weakref.WeakKeyDictionary()


def compiled_cells(shell: InteractiveShell) -> CompiledCells:
    """The programs of a shell's ``%%jit`` cells."""
    return _cells.setdefault(shell, CompiledCells())


def namespace(shell: InteractiveShell) -> Mapping[str, Any]:
    """The names that users may refer to: variables, and programs of ``%%jit`` cells."""
    return ChainMap(shell.user_ns, compiled_cells(shell))


def name_cells(shell: InteractiveShell) -> Callable[[], None]:
    """Have the library call the code of a shell's cells ``cell 7``; returns a function that undoes it.

    Parameters
    ----------
    shell : InteractiveShell
        The shell whose cells are meant.

    Returns
    -------
    callable
    """

    def namer(file: str) -> str | None:
        label = shell.compile.format_code_name(file)
        number = re.fullmatch(r"In\[(\d+)\]", label[1]) if label else None
        return f"cell {number[1]}" if number else None

    return source_locations.add_namer(namer)
