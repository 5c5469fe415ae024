"""Containers of tensors: flattened into leaves and a structure, and rebuilt from them.

A container is a tuple, list, dict, named tuple or dataclass whose leaves are tensors or numbers. Its structure, without
the leaves, is hashable, so that it can be part of a key. The order of a dict is part of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from nxkernel.definitions.keys.argument_identity import IdentityTracker, RebuiltArguments
from nxkernel.definitions.keys.leaves import is_leaf
from nxkernel.dict_metadata import form_of, items_of
from nxkernel.errors import NxTypeError, message
from nxkernel.messages.grammar import a

#: How a container is built, without its leaves: :data:`LEAF`, :data:`NOTHING`, or its kind, what belongs to that (such
#: as the class, the keys of a dict, a static value), and the structures of its parts. Kinds are ``"tuple"``,
#: ``"list"``, ``"dict"``, ``"named"``, ``"dataclass"``, ``"made"`` (by a function), ``"static"``, ``"again"``
#: (repeated).
Structure: TypeAlias = "str | tuple[str, Any, tuple[Structure, ...]]"
#: The structure of a single leaf.
LEAF = "leaf"
#: The structure of None, which a definition may return that changes its arguments.
NOTHING = "nothing"


@dataclasses.dataclass(frozen=True, eq=False)
class Static:
    """A value in a result that is no tensor, such as a text, and is the same after each run of the program.

    Parameters
    ----------
    value : Any
    """

    value: Any


#: Kinds of results in which parts may be None.
SEVERAL = (tuple, list, dict)


def flatten(
    value: Any,
    path: str,
    leaves: list[tuple[str, Any]],
    refuse: Callable[[str, Any], Exception],
    nothing: bool = False,
    identities: IdentityTracker | None = None,
    texts: bool = False,
) -> Structure:
    """Append the leaves of a container, each with its path, to `leaves`; returns the structure.

    Parameters
    ----------
    value : container
    path : str
        The path of the value for messages: ``params`` makes paths of leaves such as ``params['w'][0]``.
    leaves : list
        Filled in order.
    refuse : callable
        Makes the error for a value that is neither a container nor a leaf, from its path and the value.
    nothing : bool, optional
        Whether None may be among the parts of a container.
    identities : IdentityTracker, optional
        Finds parts that were met before: they get a placeholder, and no leaves of their own.
    texts : bool, optional
        Whether texts may be where leaves are; the leaves of one are the values that it is made of.
    """
    if type(value) is Static:
        return ("static", value, ())
    if value is None and nothing:
        return NOTHING
    if texts and isinstance(value, str | bytes):
        return ("static", Static(value), ())
    before = None if identities is None else identities.repeated(value)
    if before is not None:
        return ("again", before, ())
    if is_leaf(value):
        leaves.append((path, value))
        structure: Structure = LEAF
    else:
        is_made = texts and hasattr(type(value), "__nx_values__")
        opened = ("made", *value.__nx_values__()) if is_made else inside(value)
        if opened is None:
            raise refuse(path, value)
        kind, detail, parts = opened
        inner = [flatten(part, path + suffix, leaves, refuse, nothing, identities, texts) for suffix, part in parts]
        structure = (kind, detail, tuple(inner))
    if identities is not None:
        identities.add(value, path)
    return structure


def inside(value: Any) -> tuple[str, Any, list[tuple[str, Any]]] | None:
    """The kind of a container, the data that its structure keeps, and its parts; None for anything else.

    Each part has the suffix of its path, such as ``[0]``.
    """
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return "named", type(value), [(f".{field}", getattr(value, field)) for field in value._fields]
    if isinstance(value, tuple | list):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return kind, None, [(f"[{index}]", item) for index, item in enumerate(value)]
    if isinstance(value, dict):
        form = form_of(value)
        return None if form is None else ("dict", form, [(f"[{key!r}]", item) for key, item in items_of(value)])
    if hasattr(type(value), "__nx_parts__"):
        return ("made", *value.__nx_parts__())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = tuple(field.name for field in dataclasses.fields(value))
        return "dataclass", (value.__class__, names), [(f".{name}", getattr(value, name)) for name in names]
    return None


def is_opaque(value: Any) -> bool:
    """Whether a value is neither a leaf nor a container."""
    return not is_leaf(value) and inside(value) is None


def leaves_like(wanted: Structure, structure: Structure, leaves: list[Any]) -> list[Any] | None:
    """Reorder leaves by another structure with the same keys; None where the two structures do not match."""
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
    ordered: list[Any] = []
    for want, (child, own) in zip(wanted_children, parts, strict=True):
        arranged = leaves_like(want, child, own)
        if arranged is None:
            return None
        ordered += arranged
    return ordered


def count(structure: Structure) -> int:
    """The number of leaves in a structure."""
    if structure == LEAF:
        return 1
    return 0 if structure == NOTHING else sum(map(count, structure[2]))


def is_full(structure: Structure) -> bool:
    """Whether each container in a structure has at least one leaf."""
    return structure == LEAF or bool(count(structure) and all(map(is_full, structure[2])))


def rebuild(structure: Structure, leaves: Iterator[Any], rebuilt: RebuiltArguments | None = None) -> Any:
    """Build the container of a structure from new leaves; `rebuilt` supplies repeated arguments."""
    if structure == LEAF:
        return next(leaves) if rebuilt is None else rebuilt.add(next(leaves))
    if structure == NOTHING:
        return None
    kind, detail, children = structure
    if kind == "static":
        return detail.value
    if kind == "again":
        return rebuilt.repeated(detail)
    values = [rebuild(child, leaves, rebuilt) for child in children]
    container = _filled(kind, detail, values)
    return container if rebuilt is None else rebuilt.add(container)


def _filled(kind: str, detail: Any, values: list[Any]) -> Any:
    """Make a container of a kind from its parts."""
    if kind == "named":
        return detail(*values)
    if kind == "tuple":
        return tuple(values)
    if kind == "list":
        return values
    if kind == "dict":
        return detail.filled(values)
    if kind == "made":
        return detail(*values)
    class_, names = detail
    # Not by its constructor: that may check or convert what a traced value cannot answer, and not take every field.
    instance = object.__new__(class_)
    for name, value in zip(names, values, strict=True):
        object.__setattr__(instance, name, value)
    return instance


def describe(structure: Structure) -> str:
    """A structure as text, with dots for leaves."""
    if structure == LEAF:
        return "·"
    if structure == NOTHING:
        return "None"
    kind, detail, children = structure
    if kind == "static":
        return repr(detail.value)
    if kind == "again":
        return f"the same as {detail.name}"
    class_ = detail[0] if kind == "dataclass" else detail
    return written(kind, class_, [describe(child) for child in children])


def written(kind: str, detail: Any, inner: list[str]) -> str:
    """A container as text, from the texts of its parts.

    Parameters
    ----------
    kind : str
        ``"dict"``, ``"list"``, ``"tuple"``, or anything else for a class.
    detail : Form or type
        The form of a dict, or the class.
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
    """Make the function that makes the error for a result that is no tensor."""

    def refuse(path: str, value: Any) -> Exception:
        got = "None" if value is None else getattr(value, "shown_as", None) or a(type(value).__name__)
        hint = (
            "A `return` may be missing."
            if value is None
            else "Return tensors, numbers, or tuples, lists and dicts of them."
        )
        return NxTypeError(message(f"{function} returns no tensor: {path} is {got}.", hint))

    return refuse
