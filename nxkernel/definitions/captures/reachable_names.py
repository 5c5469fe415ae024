"""Which parts of a snapshot a function can reach, by the names in the code that it runs.

A captured object has methods that the function does not call, and attributes that it does not read. They are compared,
too, which costs little. But a method that reads a file, or an attribute that is a lock, cannot be compared: it makes
each call trace anew only if its name is in code that the function can reach.
"""

from __future__ import annotations

from typing import Any

#: Methods that Python calls when an object is made, copied, pickled or deleted.
_MAKING = frozenset(
    {"__init__", "__new__", "__post_init__", "__init_subclass__", "__set_name__", "__del__", "__getstate__",
     "__setstate__", "__reduce__", "__reduce_ex__", "__copy__", "__deepcopy__", "__enter__", "__exit__"}
)  # fmt: skip
#: The name of the edge from an object to its class.
OF_OBJECT = "__class__ of an object"
#: Names by which code can make an object of a class that it does not mention.
_MAKERS = frozenset({"type", "__class__", "replace", "_replace", "cls"})


class Reach:
    """A graph of values by identity: which value leads to which, and by what attribute name.

    Attributes
    ----------
    notes : list of (int, tuple, frozenset)
        The node that was walked when a note was made, the note, and the names of which code must have one; none of
        these if any code counts.
    """

    def __init__(self) -> None:
        self.notes: list[tuple[int, tuple, frozenset[str]]] = []
        #: The edges: by value, the values that it leads to, each with the name that code must have to get there.
        self._edges: dict[int, set[tuple[int, str]]] = {}
        self._names: dict[int, frozenset[str]] = {}
        self._open: set[int] = set()

    def lead(self, around: list[Any], value: Any, name: str = "") -> None:
        """Add an edge to a value from the one that is being walked: by an attribute name, or by none."""
        node = id(around[-1]) if around else 0
        self._edges.setdefault(node, set()).add((id(value), name))
        if isinstance(value, type) and name != OF_OBJECT:
            self._edges[node].add((_made(value), name))

    def has_method(self, class_: type, value: Any, name: str) -> None:
        """Add the edge from a class to one of its methods, which code or Python itself calls by name."""
        node = _made(class_) if name in _MAKING else id(class_)
        self._edges.setdefault(node, set()).add((id(value), name))
        self._edges.setdefault(id(class_), set()).update((_made(class_), maker) for maker in _MAKERS)

    def runs(self, function: Any, names: frozenset[str], introspects: bool) -> None:
        """Record the names in a function's code, and whether it may also reach names that are not in it."""
        self._names[id(function)] = names
        if introspects:
            self._open.add(id(function))

    def note(self, around: list[Any], what: tuple, read_by: frozenset[str] = frozenset()) -> None:
        """Attach a note, such as about a value that cannot be compared, to the value that is being walked."""
        self.notes.append((id(around[-1]) if around else 0, what, read_by))

    def reached(self) -> list[tuple]:
        """The notes on values that the function can reach."""
        names: set[str] = {"", OF_OBJECT}
        active: set[int] = set()
        #: By a name that no reached code has so far, the values that it would lead to.
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
        return [what for node, what, read_by in self.notes if node in active and (not read_by or read_by & names)]


def _is_special(name: str) -> bool:
    """Whether Python itself calls methods of this name."""
    return name.startswith("__") and name.endswith("__")


def _made(class_: type) -> int:
    """The node that stands for making objects of a class."""
    return ~id(class_)
