"""Batches of data, shuffled in an order that depends only on the random key and the number of the epoch."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from nxkernel.definitions.keys import containers
from nxkernel.definitions.keys.leaves import is_leaf
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.messages import number_checks
from nxkernel.messages.grammar import counted
from nxkernel.shapes import describe
from nxkernel.tensor.tensor import StoredTensor


class Batches:
    """An iterable of batches ``(inputs, targets)``, one epoch for each iteration over it; made by :func:`batches`."""

    def __init__(self, x: Any, y: Any, size: int, key: Any, shuffle: bool, drop_last: bool) -> None:
        number_checks.count("batches", "size", size)
        number_checks.flag("batches", "shuffle", shuffle)
        number_checks.flag("batches", "drop_last", drop_last)
        self._structures, self._columns, self.count = _columns(x, y)
        self.size, self.shuffle, self.drop_last = size, shuffle, drop_last
        self._seed = _seed(key)
        self._turns = itertools.count()
        if drop_last and size > self.count:
            raise NxValueError(
                message(
                    f"batches of {size} cannot be made of {counted(self.count, 'example')}.",
                    "Give a smaller size, or drop_last=False.",
                )
            )

    def __len__(self) -> int:
        return self.count // self.size if self.drop_last else -(-self.count // self.size)

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return self.epoch(next(self._turns))

    def epoch(self, number: int) -> Iterator[tuple[Any, Any]]:
        """The batches of the epoch with this number, the same each time for the same key.

        Parameters
        ----------
        number : int
            From 0.

        Returns
        -------
        iterator of (x, y)
        """
        order = np.random.default_rng([*self._seed, number]).permutation(self.count) if self.shuffle else None
        for begin in range(0, len(self) * self.size, self.size):
            end = min(begin + self.size, self.count)
            taken = slice(begin, end) if order is None else order[begin:end]
            supply = iter([column[taken] for column in self._columns])
            yield tuple(containers.rebuild(structure, supply) for structure in self._structures)

    def __repr__(self) -> str:
        return f"<{counted(len(self), 'batch').replace('batchs', 'batches')} of {self.size}>"


def batches(x: Any, y: Any, size: int, *, key: Any = 0, shuffle: bool = True, drop_last: bool | None = None) -> Batches:
    """Split inputs and targets into batches, shuffled anew each epoch if a key is given.

    Parameters
    ----------
    x, y : array, tensor or container of them
        Examples are along the first axis.
    size : int
        How many examples are in a batch.
    key : int or tensor, optional
        What decides the order: a seed, or a key of :func:`nxkernel.random.key`.
    shuffle : bool, optional
        Whether each epoch has an order of its own.
    drop_last : bool, optional
        Whether to leave out the examples at the end that fill no batch, so that all batches are of one shape. When not
        given, that is done where epochs are shuffled: each epoch then leaves out others.

    Returns
    -------
    Batches
        Iterated over it gives pairs of NumPy arrays, built like `x` and `y`; ``len()`` is their number.

    Examples
    --------
    >>> from nxkernel import training
    >>> data = training.batches(nx.iota((5,)), nx.iota((5,)) * 10, 2, shuffle=False)
    >>> [y.tolist() for x, y in data]
    [[0, 10], [20, 30], [40]]
    """
    return Batches(x, y, size, key, shuffle, shuffle if drop_last is None else drop_last)


def _columns(x: Any, y: Any) -> tuple[list[Any], list[np.ndarray], int]:
    """The structures of inputs and targets, their arrays, and the number of examples."""
    leaves: list[tuple[str, Any]] = []
    structures = [containers.flatten(_listed(value), name, leaves, _refuse) for name, value in (("x", x), ("y", y))]
    columns = [(path, leaf.to_numpy() if isinstance(leaf, StoredTensor) else np.asarray(leaf)) for path, leaf in leaves]
    if not columns:
        raise NxValueError("batches: there is no array in x and y")
    first, count = columns[0][0], None
    for path, column in columns:
        if not column.ndim:
            raise NxValueError(f"batches: {path} is one number, and has no axis of examples")
        count = len(column) if count is None else count
        if len(column) != count:
            raise NxValueError(f"batches: {first} has {counted(count, 'example')}, {path} has {len(column)}")
    return structures, [column for _, column in columns], count


def _listed(value: Any) -> Any:
    """Lists of numbers converted to arrays."""
    if isinstance(value, list) and value and all(is_leaf(one) and np.ndim(one) == 0 for one in value):
        return np.asarray(value)
    return value


def _refuse(path: str, value: Any) -> Exception:
    return NxTypeError(f"batches are made of arrays, {path} is {describe(value)}")


def _seed(key: Any) -> list[int]:
    if isinstance(key, int) and not isinstance(key, bool):
        number_checks.count("batches", "key", key, 0)
        return [key]
    if isinstance(key, StoredTensor) and key.type.is_integer and key.rank == 1:
        return [int(word) for word in key.to_list()]
    raise NxTypeError(
        message(f"batches: key is a whole number or a key, got {describe(key)}.", "Such as nx.random.key(0).")
    )
