"""Euclidean norms of gradients, per tensor and over a container."""

from __future__ import annotations

from typing import Any

import nxkernel as nx
from nxkernel.optim import _leaves


def squared(leaf: Any) -> Any:
    """The squared absolute values of a tensor's elements."""
    return nx.real(leaf) ** 2 + nx.imag(leaf) ** 2 if leaf.type.is_complex else leaf * leaf


def norm(leaf: Any) -> Any:
    """The Euclidean norm of a tensor."""
    return nx.sqrt(nx.sum(squared(leaf)))


def global_norm(value: Any) -> Any:
    """The Euclidean norm of all leaves of a container together.

    Parameters
    ----------
    value : container of tensors

    Returns
    -------
    scalar

    Examples
    --------
    >>> from nxkernel import optim
    >>> float(optim.global_norm({"w": nx.tensor([3.0, 0.0]), "b": nx.tensor(4.0)}))
    5.0
    """
    total: Any = 0.0
    for _, leaf in _leaves.flat(value, "the container")[1]:
        total = total + nx.sum(squared(leaf))
    return nx.sqrt(total)
