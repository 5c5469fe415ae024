"""Containers of tensors: taken apart into leaves, and put together again.

A container is a tuple, list, dict, named tuple or dataclass whose leaves are tensors or numbers. Its structure, without
the leaves, is hashable, so that it can be part of a key. The order of a dict is part of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

from nxkernel.definitions.keys.argument_identity import Once, Rebuilt
from nxkernel.definitions.keys.leaves import is_leaf
from nxkernel.dict_metadata import form_of, items_of
from nxkernel.errors import NxTypeError, message
from nxkernel.messages.grammar import a

#: The structure of a single leaf.
LEAF = "leaf"
#: The structure of None, which a definition may return that changes its arguments.
NOTHING = "nothing"


@dataclasses.dataclass(frozen=True, eq=False)
class Static:
    """A value in a result that is no tensor and is the same after each run of a program.

    Parameters
    ----------
    value : Any
    """

    value: Any


#: Results of several parts, of which some may be None.
SEVERAL = (tuple, list, dict)


#: Stands for an argument that was left out and whose default is None: a function asks such a one whether it was given.
LEFT_OUT = object()


def flatten(
    value: Any,
    path: str,
    leaves: list[tuple[str, Any]],
    refuse: Callable[[str, Any], Exception],
    nothing: bool = False,
    once: Once | None = None,
) -> Any:
    """Append (path, leaf) pairs of a container to `leaves`; returns its structure.

    Parameters
    ----------
    value : container
    path : str
        How a person would write the value: ``params`` gives leaves such as ``params['w'][0]``.
    leaves : list
        Filled in order.
    refuse : callable
        Makes the error for what is neither container nor leaf, from its path and value.
    nothing : bool, optional
        Whether None may be among the parts of a container.
    once : Once, optional
        Finds what was there before, which is no part of its own then.
    """
    if value is LEFT_OUT:
        return ("left out", None, ())
    if type(value) is Static:
        return ("static", value, ())
    if value is None and nothing:
        return NOTHING
    before = None if once is None else once.again(value)
    if before is not None:
        return ("again", before, ())
    if is_leaf(value):
        leaves.append((path, value))
        structure: Any = LEAF
    else:
        opened = inside(value)
        if opened is None:
            raise refuse(path, value)
        kind, detail, parts = opened
        inner = [flatten(part, path + suffix, leaves, refuse, nothing, once) for suffix, part in parts]
        structure = (kind, detail, tuple(inner))
    if once is not None:
        once.met(value, path)
    return structure


def inside(value: Any) -> tuple[str, Any, list[tuple[str, Any]]] | None:
    """What kind of container a value is, what its structure tells of it, and its parts; None for anything else.

    Parts come with what is written behind the container's name, such as ``[0]``.
    """
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return "named", type(value), [(f".{field}", getattr(value, field)) for field in value._fields]
    if isinstance(value, tuple | list):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return kind, None, [(f"[{place}]", item) for place, item in enumerate(value)]
    if isinstance(value, dict):
        form = form_of(value)
        return None if form is None else ("dict", form, [(f"[{key!r}]", item) for key, item in items_of(value)])
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = tuple(field.name for field in dataclasses.fields(value))
        return "dataclass", (type(value), names), [(f".{name}", getattr(value, name)) for name in names]
    return None


def leaves_like(wanted: Any, structure: Any, leaves: list[Any]) -> list[Any] | None:
    """The leaves of a container in the order of another one, of the same keys; None where they are not built alike."""
    if structure == wanted:
        return leaves
    if LEAF in (wanted, structure) or NOTHING in (wanted, structure):
        return None
    (kind, detail, children), (wanted_kind, wanted_detail, wanted_children) = structure, wanted
    if kind != wanted_kind or len(children) != len(wanted_children):
        return None
    supply = iter(leaves)
    parts = [(child, [next(supply) for _ in range(count(child))]) for child in children]
    if kind == "dict" and detail != wanted_detail:
        by_key = dict(zip(detail.keys, parts, strict=True))
        if detail.class_ is not wanted_detail.class_ or by_key.keys() != set(wanted_detail.keys):
            return None
        parts = [by_key[key] for key in wanted_detail.keys]
    elif detail != wanted_detail:
        return None
    found: list[Any] = []
    for want, (child, own) in zip(wanted_children, parts, strict=True):
        arranged = leaves_like(want, child, own)
        if arranged is None:
            return None
        found += arranged
    return found


def count(structure: Any) -> int:
    """How many leaves a structure has."""
    if structure == LEAF:
        return 1
    return 0 if structure == NOTHING else sum(map(count, structure[2]))


def is_full(structure: Any) -> bool:
    """Whether each container has a leaf in it."""
    return structure == LEAF or bool(count(structure) and all(map(is_full, structure[2])))


def rebuild(structure: Any, leaves: Iterator[Any], rebuilt: Rebuilt | None = None) -> Any:
    """The container of a structure over new leaves; `rebuilt` knows what is there already."""
    if structure == LEAF:
        return next(leaves) if rebuilt is None else rebuilt.met(next(leaves))
    if structure == NOTHING:
        return None
    kind, detail, children = structure
    if kind == "left out":
        return None
    if kind == "static":
        return detail.value
    if kind == "again":
        return rebuilt.again(detail)
    values = [rebuild(child, leaves, rebuilt) for child in children]
    made = _filled(kind, detail, values)
    return made if rebuilt is None else rebuilt.met(made)


def _filled(kind: str, detail: Any, values: list[Any]) -> Any:
    """A container of a kind with these parts."""
    if kind == "named":
        return detail(*values)
    if kind == "tuple":
        return tuple(values)
    if kind == "list":
        return values
    if kind == "dict":
        return detail.filled(values)
    class_, names = detail
    # Not by its constructor: that may check or convert what a traced value cannot answer, and not take every field.
    made = object.__new__(class_)
    for name, value in zip(names, values, strict=True):
        object.__setattr__(made, name, value)
    return made


def describe(structure: Any) -> str:
    """A structure as a person would write it, with dots for leaves."""
    if structure == LEAF:
        return "·"
    if structure == NOTHING:
        return "None"
    kind, detail, children = structure
    if kind == "left out":
        return "None"
    if kind == "static":
        return repr(detail.value)
    if kind == "again":
        return f"the same as {detail.name}"
    class_ = detail[0] if kind == "dataclass" else detail
    return written(kind, class_, [describe(child) for child in children])


def written(kind: str, detail: Any, inner: list[str]) -> str:
    """A container as a person would write it, of what is written for each of its parts.

    Parameters
    ----------
    kind : str
        ``"dict"``, ``"list"``, ``"tuple"``, or anything else for a class.
    detail : Form or type
        Of a dict, or the class.
    inner : list of str
    """
    if kind == "dict":
        text = "{" + ", ".join(f"{key!r}: {text}" for key, text in zip(detail.keys, inner, strict=True)) + "}"
        return text if detail.class_ is dict else f"{detail.class_.__name__}({text})"
    if kind == "list":
        return f"[{', '.join(inner)}]"
    if kind == "tuple":
        return f"({', '.join(inner)}{',' if len(inner) == 1 else ''})"
    return f"{detail.__name__}({', '.join(inner)})"


def no_tensor(function: str) -> Callable[[str, Any], Exception]:
    """The error for a result that has something else than tensors in it."""

    def refuse(path: str, value: Any) -> Exception:
        got = "None" if value is None else a(type(value).__name__)
        hint = (
            "A `return` may be missing."
            if value is None
            else "Return tensors, numbers, or tuples, lists and dicts of them."
        )
        return NxTypeError(message(f"{function} returns no tensor: {path} is {got}.", hint))

    return refuse
