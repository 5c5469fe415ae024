"""Containers of tensors: flattened into leaves and a structure, and rebuilt from them.

A container is a tuple, list, dict, named tuple, dataclass or object of a declared class whose leaves are tensors or
numbers; parts that are None or texts, and static fields, stay what they are. Its structure, without the leaves, is
hashable, so that it can be part of a key. The order of a dict is part of it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from nxkernel.container_classes.declarations import hint as class_hint
from nxkernel.container_classes.object_forms import members as object_members
from nxkernel.container_classes.object_forms import opened
from nxkernel.definitions.keys import static_values
from nxkernel.definitions.keys.argument_identity import IdentityTracker, RebuiltArguments
from nxkernel.definitions.keys.leaves import is_leaf
from nxkernel.definitions.keys.static_values import Static
from nxkernel.dict_metadata import form_of, items_of, values_of
from nxkernel.errors import NxTypeError, message
from nxkernel.graph.expr import TracedValue
from nxkernel.messages.grammar import a
from nxkernel.operand import Proxy

#: How a container is built, without its leaves: :data:`LEAF`, :data:`NOTHING`, or its kind, what belongs to that (such
#: as the class, the keys of a dict, a static value), and the structures of its parts. Kinds are ``"tuple"``,
#: ``"list"``, ``"dict"``, ``"object"``, ``"made"`` (by a function), ``"static"``, ``"held"`` (a static value of the
#: call, by its number), ``"again"`` (repeated).
Structure: TypeAlias = "str | tuple[str, Any, tuple[Structure, ...]]"
#: The structure of a single leaf.
LEAF = "leaf"
#: The structure of None.
NOTHING = "nothing"
#: What stays what it is among the parts of a container.
_TEXTS = (str, bytes)


def flatten(
    value: Any,
    path: str,
    leaves: list[tuple[str, Any]],
    refuse: Callable[[str, Any], Exception],
    identities: IdentityTracker | None = None,
    texts: bool = False,
    held: list[tuple[str, Any]] | None = None,
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
    identities : IdentityTracker, optional
        Finds parts that were met before: they get a placeholder, and no leaves of their own.
    texts : bool, optional
        Whether a text may be the value, and which the program makes among the parts; the leaves of such a one are the
        values that it is made of.
    held : list, optional
        Filled with static values that somebody can change, or that have to be looked into, each with its path: the
        structure has their numbers alone.

    Raises
    ------
    NxTypeError
        For a static field with a value that only the running program knows.
    """
    if type(value) is Static or (texts and isinstance(value, _TEXTS)):
        return _static(value if type(value) is Static else Static(value), path, held)
    before = None if identities is None else identities.repeated(value)
    if before is not None:
        return ("again", before, ())
    if is_leaf(value):
        leaves.append((path, value))
        structure: Structure = LEAF
    else:
        is_made = texts and hasattr(type(value), "__nx_values__")
        opened_ = ("made", *value.__nx_values__()) if is_made else inside(value)
        if opened_ is None:
            raise refuse(path, value)
        kind, detail, parts = opened_
        inner: list[Structure] = []
        for suffix, part in parts:
            if part is None:
                inner.append(NOTHING)
            elif isinstance(part, _TEXTS):
                inner.append(("static", Static(part), ()))
            else:
                inner.append(flatten(part, path + suffix, leaves, refuse, identities, texts, held))
        structure = (kind, detail, tuple(inner))
    if identities is not None:
        identities.add(value, path)
    return structure


def _static(static: Static, path: str, held: list[tuple[str, Any]] | None) -> Structure:
    if isinstance(static.value, TracedValue | Proxy):
        raise NxTypeError(
            message(
                f"{path} is a static field, and its value is one that only the running program knows.",
                "Declare it among the fields that hold tensors, or keep the value in another one.",
            )
        )
    if held is None or static.is_fixed:
        return ("static", static, ())
    held.append((path, static.value))
    return ("held", len(held) - 1, ())


def inside(value: Any) -> tuple[str, Any, list[tuple[str, Any]]] | None:
    """The kind of a container, the data that its structure keeps, and its parts; None for anything else.

    Each part has the suffix of its path, such as ``[0]``; what is static is a :class:`Static`.
    """
    kind = type(value)
    if kind is tuple or kind is list:
        return kind.__name__, None, [(f"[{index}]", item) for index, item in enumerate(value)]
    if kind is dict:
        return "dict", form_of(value), [(f"[{key!r}]", item) for key, item in value.items()]
    if hasattr(kind, "__nx_parts__"):
        return ("made", *value.__nx_parts__())
    found = opened(value)
    if found is not None:
        form, parts = found
        if form.static:
            flags = form.static_flags
            parts = [Static(part) if is_static else part for part, is_static in zip(parts, flags, strict=True)]
        return "object", form, [*zip(form.suffixes, parts, strict=True)]
    if isinstance(value, dict):
        form = form_of(value)
        return None if form is None else ("dict", form, [(f"[{key!r}]", item) for key, item in items_of(value)])
    return None


def is_opaque(value: Any) -> bool:
    """Whether a value is neither a leaf nor a container."""
    return not is_leaf(value) and inside(value) is None


def members(value: Any) -> Iterable[Any] | None:
    """The parts of a container that are not static; None for anything else."""
    kind = type(value)
    if kind is dict:
        return value.values()
    if kind is tuple or kind is list:
        return value
    found = object_members(value)
    if found is not None:
        return found
    if hasattr(kind, "__nx_parts__"):
        return [part for _, part in inside(value)[2]]
    return values_of(value) if issubclass(kind, dict) and form_of(value) is not None else None


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


def rebuild(
    structure: Structure,
    leaves: Iterator[Any],
    rebuilt: RebuiltArguments | None = None,
    held: Sequence[Any] = (),
) -> Any:
    """Build the container of a structure from new leaves.

    Parameters
    ----------
    structure : Structure
    leaves : iterator
    rebuilt : RebuiltArguments, optional
        Supplies repeated arguments.
    held : sequence, optional
        The static values that the structure has the numbers of.
    """
    if structure == LEAF:
        return next(leaves) if rebuilt is None else rebuilt.add(next(leaves))
    if structure == NOTHING:
        return None
    kind, detail, children = structure
    if kind == "static":
        return detail.value
    if kind == "held":
        return held[detail]
    if kind == "copied":
        return copy.deepcopy(detail.value)
    if kind == "again":
        return rebuilt.repeated(detail)
    values = [rebuild(child, leaves, rebuilt, held) for child in children]
    container = _filled(kind, detail, values)
    return container if rebuilt is None else rebuilt.add(container)


def _filled(kind: str, detail: Any, values: list[Any]) -> Any:
    """Make a container of a kind from its parts."""
    if kind == "tuple":
        return tuple(values)
    if kind == "list":
        return values
    return detail(*values) if kind == "made" else detail.filled(values)


def with_static(structure: Structure, place: Callable[[Any], Structure | None]) -> Structure:
    """A structure in which other parts stand for static values.

    Parameters
    ----------
    structure : Structure
    place : callable
        Of a static value; gives its structure, None where it stays.
    """
    if structure in (LEAF, NOTHING):
        return structure
    kind, detail, children = structure
    if kind == "static":
        return place(detail.value) or structure
    return (kind, detail, tuple([with_static(child, place) for child in children]))


def leaf_paths(structure: Structure, path: str) -> Iterator[str]:
    """How a person would write each leaf."""
    if structure == LEAF:
        yield path
    elif structure != NOTHING:
        kind, detail, children = structure
        for suffix, child in zip(_suffixes(kind, detail, len(children)), children, strict=True):
            yield from leaf_paths(child, path + suffix)


def static_parts(structure: Structure, path: str) -> Iterator[tuple[str, Any]]:
    """The values that a structure has in it, texts and None among them, each with its path."""
    if structure == LEAF:
        return
    if structure == NOTHING:
        yield path, None
        return
    kind, detail, children = structure
    if kind == "static":
        yield path, detail.value
    suffixes = _suffixes(kind, detail, len(children))
    for suffix, child in zip(suffixes, children, strict=True):
        yield from static_parts(child, path + suffix)


def _suffixes(kind: str, detail: Any, count: int) -> list[str]:
    if kind == "object":
        return detail.suffixes
    if kind == "made":
        return [""] * count
    return [f"[{key!r}]" for key in (detail.keys if kind == "dict" else range(count))]


def describe(structure: Structure) -> str:
    """A structure as text, with dots for leaves."""
    if structure == LEAF:
        return "·"
    if structure == NOTHING:
        return "None"
    kind, detail, children = structure
    if kind in ("static", "copied"):
        return static_values.describe(detail.value)
    if kind == "held":
        return "…"
    if kind == "again":
        return f"the same as {detail.name}"
    return written(kind, detail, [describe(child) for child in children])


def written(kind: str, detail: Any, inner: list[str]) -> str:
    """A container as text, from the texts of its parts.

    Parameters
    ----------
    kind : str
        ``"dict"``, ``"list"``, ``"tuple"``, ``"object"``, or anything else for what makes it.
    detail : Form, ObjectForm or callable
        The form of a dict or object, or what makes it.
    inner : list of str
    """
    if kind == "dict":
        text = "{" + ", ".join(f"{key!r}: {text}" for key, text in zip(detail.keys, inner, strict=True)) + "}"
        return text if detail.class_ is dict else f"{detail.class_.__name__}({text})"
    if kind == "list":
        return f"[{', '.join(inner)}]"
    if kind == "tuple":
        return f"({', '.join(inner)}{',' if len(inner) == 1 else ''})"
    if kind == "object":
        count = len(inner) - len(detail.names)
        items = inner[:count]
        if isinstance(detail.items, int):
            items = [written("list", None, items)]
        elif detail.items is not None:
            items = [written("dict", detail.items._replace(class_=dict), items)]
        named = zip(detail.names, inner[count:], strict=True)
        items += [f"{name}={text}" if name in detail.static else text for name, text in named]
        return f"{detail.class_.__name__}({', '.join(items)})"
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
        return NxTypeError(message(f"{function} returns no tensor: {path} is {got}.", *class_hint(value), hint))

    return refuse
