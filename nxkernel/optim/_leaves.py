"""Functions over the leaves of parameter containers of equal structure; errors name the first path that differs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nxkernel.definitions.keys import container_comparison, containers
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.messages.grammar import a
from nxkernel.ops.machinery.dispatch import convert, filled_like, is_number, operand
from nxkernel.types import Type


def each(function: Callable[..., Any], named: Mapping[str, Any], parts: int = 1) -> Any:
    """Call a function with the corresponding leaves of containers of equal structure.

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
    structure, rows = container_comparison.rows(named, _refuse)
    results = []
    for row in rows:
        (path, first), *others = [(path, operand(leaf)) for path, leaf in row]
        for there, other in others:
            if first.shape != other.shape:
                raise NxValueError(
                    message(
                        f"{path} is {first.spec}, {there} is {other.spec}: their shapes differ.",
                        "A state belongs to the parameters that it was made for by init.",
                    )
                )
        results.append(function(first, *[other for _, other in others]))
    if parts == 1:
        return containers.rebuild(structure, iter(results))
    return tuple(containers.rebuild(structure, iter([one[part] for one in results])) for part in range(parts))


def flat(value: Any, name: str) -> tuple[Any, list[tuple[str, Any]]]:
    """The structure of a container, and its leaves as tensors or traced values with their paths."""
    leaves: list[tuple[str, Any]] = []
    structure = containers.flatten(value, name, leaves, _refuse)
    return structure, [(path, operand(leaf)) for path, leaf in leaves]


def _refuse(path: str, value: Any) -> Exception:
    got = "None" if value is None else a(type(value).__name__)
    hint = "Leave it out of the container, or put () in its place." if value is None else ""
    return NxTypeError(
        message(f"optimizers work on tensors and containers of them: {path} is {got}.", *([hint] if hint else []))
    )


def like(params: Any, value: float = 0.0) -> Any:
    """A container of the structure of the parameters, filled with one number.

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
    """The label of each leaf of a container; a label may cover a whole subtree."""
    labels_: dict[str, Any] = {}
    leaves = flat(value, name)[1]

    def walk(label: Any, part: Any, path: str, path_: str) -> None:
        if isinstance(label, kind):
            labels_.update((leaf, label) for leaf, _ in flat(part, path)[1])
            return
        entries, parts = container_comparison.parts(label), container_comparison.parts(part)
        if entries is None:
            raise refuse(path_, label)
        difference = container_comparison.differs(part, label, path, path_)
        if difference:
            raise container_comparison.unlike(path, path_, difference)
        for suffix, one in parts.items():
            walk(entries[suffix], one, f"{path}{suffix}", f"{path_}{suffix}")

    walk(labels, value, name, there)
    return [labels_[path] for path, _ in leaves]


def check_labels(labels: Any, kind: type, path: str, refuse: Callable[[str, Any], Exception]) -> None:
    """Raise an error for containers with leaves that are no labels; functions that compute labels are allowed."""
    parts = container_comparison.parts(labels)
    if callable(labels) or isinstance(labels, kind):
        return
    if parts is None:
        raise refuse(path, labels)
    for suffix, one in parts.items():
        check_labels(one, kind, f"{path}{suffix}", refuse)


def arranged(value: Any, like: Any) -> Any:
    """A container with dict keys in the order of another, where their structures are equal."""
    wanted, _ = flat(like, "like")
    structure, leaves = flat(value, "value")
    arranged_ = containers.leaves_like(wanted, structure, [leaf for _, leaf in leaves])
    return value if arranged_ is None else containers.rebuild(wanted, iter(arranged_))


def only(value: Any, chosen: list[bool], name: str) -> Any:
    """A container with ``()`` in place of the leaves that a mask does not select."""
    structure, leaves = flat(value, name)
    kept = [leaf if take else () for (_, leaf), take in zip(leaves, chosen, strict=True)]
    return containers.rebuild(structure, iter(kept))


def zeros(value: Any) -> Any:
    """A container of the same types and shapes, filled with zeros."""
    return each(lambda leaf: filled_like(0, leaf.type, leaf), {"the container": value})


def check_float(path: str, leaf: Any) -> None:
    """Raise an error for an integer parameter."""
    if leaf.type.is_integer:
        raise NxTypeError(
            message(
                f"{path} is {leaf.spec}; optimizers change floating-point numbers.",
                'Convert it with nx.as_type(t, "f32"), or keep it apart from the parameters.',
            )
        )


def scaled(leaf: Any, factor: Any) -> Any:
    """A leaf multiplied by a number or scalar, in the leaf's type."""
    return leaf * (factor if is_number(factor) else convert(operand(factor), leaf.type))


def in_type(value: Any, type_: Type) -> Any:
    """A leaf converted to a type."""
    return value if value.type is type_ else convert(value, type_)
