"""Comparing containers: their leaves side by side, and the first path where their structures differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nxkernel.definitions.keys import containers
from nxkernel.definitions.keys.leaves import is_leaf
from nxkernel.definitions.keys.static_values import describe
from nxkernel.errors import NxTypeError, message
from nxkernel.messages.grammar import a
from nxkernel.ops.machinery.dispatch import is_number


def rows(
    named: Mapping[str, Any], refuse: Callable[[str, Any], Exception]
) -> tuple[Any, list[tuple[tuple[str, Any], ...]]]:
    """Flatten containers of equal structure side by side: their structure, and one row for each leaf position.

    Parameters
    ----------
    named : dict
        The containers, by their names in messages.
    refuse : callable
        Makes the error for a value that is neither a container nor a leaf, from its path and the value.

    Returns
    -------
    structure : hashable
    rows : list of tuple
        For each leaf position, the path and leaf in each container.

    Raises
    ------
    NxTypeError
        For containers of different structure.
    """
    (first, value), *others = named.items()
    leaves: list[tuple[str, Any]] = []
    wanted = containers.flatten(value, first, leaves, refuse)
    columns = [leaves]
    for name, other in others:
        leaves = []
        arranged = containers.leaves_like(wanted, containers.flatten(other, name, leaves, refuse), leaves)
        if arranged is None:
            raise unlike(first, name, _difference(value, other, first, name))
        columns.append(arranged)
    return wanted, list(zip(*columns, strict=True))


def unlike(path: str, there: str, difference: str) -> NxTypeError:
    """The error for containers of different structure, with the text of :func:`differs`."""
    return NxTypeError(message(f"{path} and {there} are not built alike.", difference))


def differs(left: Any, right: Any, path: str, there: str) -> str:
    """How two containers differ at the top level, as a sentence; empty where they do not."""
    inside, others = parts(left), parts(right)
    if isinstance(left, containers.Static) and left == right:
        return ""
    if inside is None and others is None:
        one, other = _kind(left), _kind(right)
        if one == other and isinstance(left, containers.Static):
            return f"{path} is {one}, {there} is another one."
        is_data = is_leaf(left) and is_leaf(right)
        return "" if is_data or one == other else f"{path} is {one}, {there} is {other}."
    if inside is None or others is None or type(left) is not type(right):
        return f"{path} is {_kind(left)}, {there} is {_kind(right)}."
    for suffix in inside:
        if suffix not in others:
            return f"There is {path}{suffix}, and no {there}{suffix}."
    for suffix in others:
        if suffix not in inside:
            return f"There is {there}{suffix}, and no {path}{suffix}."
    return ""


def _difference(left: Any, right: Any, path: str, there: str) -> str:
    """How two containers differ, at the first part that does."""
    difference, inside = differs(left, right, path, there), parts(left)
    if difference or inside is None:
        return difference
    others = parts(right)
    differences = (_difference(one, others[suffix], path + suffix, there + suffix) for suffix, one in inside.items())
    return next(filter(None, differences), "")


def parts(value: Any) -> dict[str, Any] | None:
    """The parts of a container, by the text that is written behind its name; None for a leaf."""
    opened = containers.inside(value)
    return None if opened is None else dict(opened[2])


def _kind(value: Any) -> str:
    if isinstance(value, containers.Static):
        return f"the static value {describe(value.value)}"
    if value is None or isinstance(value, str | bytes):
        return describe(value)
    if parts(value) is None:
        return "a number" if is_number(value) else "a tensor"
    if value == ():
        return "()"
    return a(type(value).__name__)
