"""Containers walked side by side, leaf by leaf; where two are not alike, the error names the first place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nxkernel.defn import containers
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.ops.dispatch import convert, filled_like, is_number, operand
from nxkernel.types import Type
from nxkernel.wording import a


def each(function: Callable[..., Any], named: Mapping[str, Any], parts: int = 1) -> Any:
    """Call a function with the leaves of containers that are built alike.

    Parameters
    ----------
    function : callable
        Takes one leaf of each container.
    named : dict
        The containers, each by what errors call it.
    parts : int, optional
        With more than one the function gives a tuple of so many, and so does this: of containers.

    Raises
    ------
    NxTypeError
        For containers that are not built alike, and for leaves that are no tensors.
    NxValueError
        For leaves of different shapes.
    """
    (first, value), *others = named.items()
    structure, leaves = flat(value, first)
    columns = [leaves]
    for name, other in others:
        found, values = flat(other, name)
        if found != structure:
            raise unlike(value, other, first, name)
        for (path, leaf), (there, twin) in zip(leaves, values, strict=True):
            if leaf.shape != twin.shape:
                raise NxValueError(
                    message(
                        f"{path} is {leaf.spec}, {there} is {twin.spec}: their shapes differ.",
                        "A state belongs to the parameters that it was made for by init.",
                    )
                )
        columns.append(values)
    made = [function(*[leaf for _, leaf in row]) for row in zip(*columns, strict=True)]
    if parts == 1:
        return containers.rebuild(structure, iter(made))
    return tuple(containers.rebuild(structure, iter([one[part] for one in made])) for part in range(parts))


def flat(value: Any, name: str) -> tuple[Any, list[tuple[str, Any]]]:
    """The structure of a container, and its leaves as tensors or traced values with their paths."""
    leaves: list[tuple[str, Any]] = []
    structure = containers.flatten(value, name, leaves, _refuse)
    return structure, [(path, operand(leaf)) for path, leaf in leaves]


def unlike(left: Any, right: Any, path: str, there: str) -> Exception:
    """The error for two containers of different structure."""
    return NxTypeError(message(f"{path} and {there} are not built alike.", _difference(left, right, path, there)))


def _refuse(path: str, value: Any) -> Exception:
    got = "None" if value is None else a(type(value).__name__)
    hint = "Leave it out of the container, or put () in its place." if value is None else ""
    return NxTypeError(
        message(f"optimizers work on tensors and containers of them: {path} is {got}.", *([hint] if hint else []))
    )


def _difference(left: Any, right: Any, path: str, there: str) -> str:
    """How a person would tell the first place in which two containers differ."""
    parts, others = _parts(left), _parts(right)
    differs = _differs(left, right, path, there)
    if differs:
        return differs
    for suffix, value in others.items():
        if flat(parts[suffix], "")[0] != flat(value, "")[0]:
            return _difference(parts[suffix], value, f"{path}{suffix}", f"{there}{suffix}")
    return f"{path} is {_kind(left)}, {there} is {_kind(right)}."


def _differs(left: Any, right: Any, path: str, there: str) -> str:
    """The same for the containers themselves, without what is in their parts; empty where these are alike."""
    parts, others = _parts(left), _parts(right)
    if parts is None or others is None or type(left) is not type(right):
        return f"{path} is {_kind(left)}, {there} is {_kind(right)}."
    for suffix in parts:
        if suffix not in others:
            return f"There is {path}{suffix}, and no {there}{suffix}."
    for suffix in others:
        if suffix not in parts:
            return f"There is {there}{suffix}, and no {path}{suffix}."
    return ""


def _parts(value: Any) -> dict[str, Any] | None:
    """What a container has in it, by what is written behind its name; None for a leaf."""
    if isinstance(value, dict):
        return {f"[{key!r}]": item for key, item in value.items()}
    if hasattr(value, "_fields"):
        return {f".{field}": getattr(value, field) for field in value._fields}
    if isinstance(value, tuple | list):
        return {f"[{place}]": item for place, item in enumerate(value)}
    if hasattr(value, "__dataclass_fields__"):
        return {f".{field}": getattr(value, field) for field in value.__dataclass_fields__}
    return None


def _kind(value: Any) -> str:
    if _parts(value) is None:
        return "a tensor"
    if value == ():
        return "()"
    return a(type(value).__name__)


def like(params: Any, value: float = 0.0) -> Any:
    """A container like the parameters with one number in all of its elements.

    Raises
    ------
    NxTypeError
        For parameters of whole numbers, which no optimizer changes.
    """
    structure, leaves = flat(params, "params")
    for path, leaf in leaves:
        check_float(path, leaf)
    return containers.rebuild(structure, iter([filled_like(value, leaf.type, leaf) for _, leaf in leaves]))


def spread(labels: Any, value: Any, kind: type, name: str, there: str, refuse: Callable[[str, Any], Exception]) -> list:
    """The label of each leaf of a container, of labels that are built alike, or where one stands for a whole part."""
    found: dict[str, Any] = {}
    leaves = flat(value, name)[1]

    def walk(label: Any, part: Any, path: str, place: str) -> None:
        if isinstance(label, kind):
            found.update((leaf, label) for leaf, _ in flat(part, path)[1])
            return
        entries, parts = _parts(label), _parts(part)
        if entries is None:
            raise refuse(place, label)
        differs = _differs(part, label, path, place)
        if differs:
            raise NxTypeError(message(f"{path} and {place} are not built alike.", differs))
        for suffix, one in parts.items():
            walk(entries[suffix], one, f"{path}{suffix}", f"{place}{suffix}")

    walk(labels, value, name, there)
    return [found[path] for path, _ in leaves]


def check_labels(labels: Any, kind: type, path: str, refuse: Callable[[str, Any], Exception]) -> None:
    """Refuse containers with anything else in them than labels; functions make labels later."""
    parts = _parts(labels)
    if callable(labels) or isinstance(labels, kind):
        return
    if parts is None:
        raise refuse(path, labels)
    for suffix, one in parts.items():
        check_labels(one, kind, f"{path}{suffix}", refuse)


def only(value: Any, chosen: list[bool], name: str) -> Any:
    """A container with ``()`` in place of the leaves that are not chosen."""
    structure, leaves = flat(value, name)
    kept = [leaf if take else () for (_, leaf), take in zip(leaves, chosen, strict=True)]
    return containers.rebuild(structure, iter(kept))


def zeros(value: Any) -> Any:
    """A container of the same types and shapes with 0 in all of its elements."""
    return each(lambda leaf: filled_like(0, leaf.type, leaf), {"the container": value})


def check_float(path: str, leaf: Any) -> None:
    """Refuse a parameter of whole numbers."""
    if leaf.type.is_integer:
        raise NxTypeError(
            message(
                f"{path} is {leaf.spec}; optimizers change floating-point numbers.",
                'Convert it with nx.as_type(t, "f32"), or keep it apart from the parameters.',
            )
        )


def scaled(leaf: Any, factor: Any) -> Any:
    """A leaf times a number or scalar, in the type of the leaf."""
    return leaf * (factor if is_number(factor) else convert(operand(factor), leaf.type))


def in_type(value: Any, type_: Type) -> Any:
    """A leaf in a type that it may have already."""
    return value if value.type is type_ else convert(value, type_)
