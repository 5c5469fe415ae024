"""Comparing containers: their leaves side by side, and the first path where their structures differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nxkernel.definitions.keys import containers
from nxkernel.errors import NxTypeError, message
from nxkernel.messages.grammar import a
from nxkernel.ops.machinery.dispatch import is_number


def rows(
    named: Mapping[str, Any], refuse: Callable[[str, Any], Exception]
) -> tuple[Any, list[tuple[tuple[str, Any], ...]]]:
    """The structure of containers that are built alike, and their leaves by their places, in the first one's order.

    Parameters
    ----------
    named : dict
        The containers, each by what errors call it.
    refuse : callable
        Makes the error for what is neither a container nor a leaf, of its path and value.

    Returns
    -------
    structure : hashable
    rows : list of tuple
        For each place the path and the leaf of every container.

    Raises
    ------
    NxTypeError
        For containers that are not built alike.
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


def unlike(path: str, there: str, told: str) -> NxTypeError:
    """The error for two containers, of what :func:`differs` told of them or of their parts."""
    return NxTypeError(message(f"{path} and {there} are not built alike.", told))


def differs(left: Any, right: Any, path: str, there: str) -> str:
    """How two containers differ, without what is in their parts; empty where they do not."""
    inside, others = parts(left), parts(right)
    if inside is None and others is None:
        return ""
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
    """The first place in which two containers differ."""
    told, inside = differs(left, right, path, there), parts(left)
    if told or inside is None:
        return told
    others = parts(right)
    found = (_difference(one, others[suffix], path + suffix, there + suffix) for suffix, one in inside.items())
    return next(filter(None, found), "")


def parts(value: Any) -> dict[str, Any] | None:
    """What a container has in it, by what is written behind its name; None for a leaf."""
    opened = containers.inside(value)
    return None if opened is None else dict(opened[2])


def _kind(value: Any) -> str:
    if parts(value) is None:
        return "a number" if is_number(value) else "a tensor"
    if value == ():
        return "()"
    return a(type(value).__name__)
