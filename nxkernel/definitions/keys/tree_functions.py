"""Functions of every tensor in a container, whatever the container is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nxkernel.container_classes.declarations import hint
from nxkernel.definitions.keys import container_comparison, containers
from nxkernel.errors import NxTypeError, message
from nxkernel.messages.grammar import a


def leaves(container: Any) -> list[Any]:
    """The tensors and numbers in a container, in the order in which definitions take them.

    Parameters
    ----------
    container : container
        A tuple, list, dict, named tuple, dataclass or object of a class that :func:`nxkernel.container` declares, in
        any depth; dicts go in the order of their items. None, texts and static fields are no leaves.

    Returns
    -------
    list

    Raises
    ------
    NxTypeError
        For what is neither a container nor a tensor or number.

    Examples
    --------
    >>> nx.leaves({"w": [1, 2], "b": 3})
    [1, 2, 3]

    The sum of squares of all parameters of a model, inside of a definition or outside:

    >>> params = {"dense": {"kernel": nx.tensor([[1.0, 2.0]]), "bias": nx.tensor([3.0])}}
    >>> sum(nx.sum(leaf * leaf) for leaf in nx.leaves(params)).to_number()
    14.0
    """
    pairs: list[tuple[str, Any]] = []
    containers.flatten(container, "container", pairs, _refuse)
    return [leaf for _, leaf in pairs]


def map_leaves(function: Callable[..., Any], container: Any, *others: Any) -> Any:
    """Call a function with each tensor of a container, and with those at the same path in others.

    Parameters
    ----------
    function : callable
        Takes one leaf of each container.
    container, *others : container
        Built alike.

    Returns
    -------
    container
        As the first one, of what the function gave.

    Raises
    ------
    NxTypeError
        For containers that are not built alike, and for what is no container.

    Examples
    --------
    >>> nx.map_leaves(lambda old, new: 0.9 * old + 0.1 * new, {"w": [1.0, 2.0]}, {"w": [11.0, 12.0]})
    {'w': [2.0, 3.0]}
    """
    named = {"container": container, **{f"others[{number}]": other for number, other in enumerate(others)}}
    structure, rows = container_comparison.rows(named, _refuse)
    return containers.rebuild(structure, iter([function(*[leaf for _, leaf in row]) for row in rows]))


def _refuse(path: str, value: Any) -> Exception:
    return NxTypeError(
        message(
            f"{path} is {'None' if value is None else a(type(value).__name__)}, which is neither a tensor nor a "
            "container of tensors.",
            *(hint(value) or ("Containers are tuples, lists, dicts, named tuples, dataclasses and declared classes.",)),
        )
    )
