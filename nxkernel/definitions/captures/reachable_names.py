"""Which parts of a snapshot a function can reach, by the names in the code that it runs.

An object that is handed on has methods that nobody calls, and attributes that nobody reads. They are compared like all
others, which costs little; but a method that reads a file, or an attribute that is a lock, has its function traced at
every call only if the name of it stands in code that may run.
"""

from __future__ import annotations

from typing import Any

#: Methods that run where an object is made, stored or thrown away.
_MAKING = frozenset(
    {"__init__", "__new__", "__post_init__", "__init_subclass__", "__set_name__", "__del__", "__getstate__",
     "__setstate__", "__reduce__", "__reduce_ex__", "__copy__", "__deepcopy__", "__enter__", "__exit__"}
)  # fmt: skip
#: The name by which an object leads to its class.
OF_OBJECT = "__class__ of an object"
#: What makes an object of a class that it does not name.
_MAKERS = frozenset({"type", "__class__", "replace", "_replace", "cls"})


class Reach:
    """A graph of values by their identity: which leads to which, and by what name.

    Attributes
    ----------
    notes : list of (int, tuple)
        What was noted, and the value that was looked at then.
    """

    def __init__(self) -> None:
        self.notes: list[tuple[int, tuple]] = []
        #: By value, those that it leads to, each with the name that code must have to get there.
        self._edges: dict[int, set[tuple[int, str]]] = {}
        self._names: dict[int, frozenset[str]] = {}
        self._open: set[int] = set()

    def lead(self, around: list[Any], value: Any, name: str = "") -> None:
        """Add an edge from a value's surroundings to it: by an attribute name, or without one."""
        node = id(around[-1]) if around else 0
        self._edges.setdefault(node, set()).add((id(value), name))
        if isinstance(value, type) and name != OF_OBJECT:
            self._edges[node].add((_made(value), name))

    def has_method(self, class_: type, value: Any, name: str) -> None:
        """A class has a method, which code calls by its name, or Python itself."""
        node = _made(class_) if name in _MAKING else id(class_)
        self._edges.setdefault(node, set()).add((id(value), name))
        self._edges.setdefault(id(class_), set()).update((_made(class_), maker) for maker in _MAKERS)

    def runs(self, function: Any, names: frozenset[str], introspects: bool) -> None:
        """The names in the code of a function, and whether it may get at names that are none of them."""
        self._names[id(function)] = names
        if introspects:
            self._open.add(id(function))

    def note(self, around: list[Any], what: tuple) -> None:
        """Note something about what is looked at."""
        self.notes.append((id(around[-1]) if around else 0, what))

    def reached(self) -> list[tuple]:
        """The notes on what the function can get at."""
        names: set[str] = {"", OF_OBJECT}
        active: set[int] = set()
        #: By a name that no code has so far, what it would lead to.
        barred: dict[str, list[int]] = {}
        waiting, open_ = [0], False
        while waiting:
            node = waiting.pop()
            if node in active:
                continue
            active.add(node)
            new = self._names.get(node, frozenset()) - names
            names |= new
            for name in barred.keys() & new:
                waiting += barred.pop(name)
            if node in self._open and not open_:
                open_ = True
                waiting += [value for values in barred.values() for value in values]
            for value, name in self._edges.get(node, ()):
                if open_ or name in names or (_is_special(name) and name not in _MAKERS):
                    waiting.append(value)
                else:
                    barred.setdefault(name, []).append(value)
        return [what for node, what in self.notes if node in active]


def _is_special(name: str) -> bool:
    """Whether Python itself calls methods of a name."""
    return name.startswith("__") and name.endswith("__")


def _made(class_: type) -> int:
    """The node for objects of a class being made."""
    return ~id(class_)
