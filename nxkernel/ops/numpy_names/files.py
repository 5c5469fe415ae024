"""NumPy's methods that write a traced value into a file: they do it each time that the program has run."""

from __future__ import annotations

import operator
from typing import Any

from nxkernel.errors import TracedValueError, message
from nxkernel.graph import deferred_calls
from nxkernel.ops.machinery.dispatch import lasting


def tofile(tensor: Any, fid: Any, sep: str = "", format: str = "%s") -> None:
    """Write the elements of a traced value into a file each time that the program has run.

    Parameters
    ----------
    tensor : tensor
    fid : str, path or file
        The file, which is written anew; one that is open is written into where it is.
    sep : str, optional
        What stands between the elements as text; without it they are written as bytes.
    format : str, optional
        How each is written as text.

    Raises
    ------
    TracedValueError
        In a loop of the program.

    Examples
    --------
    >>> f = nx.jit(lambda t: (t * 2).tofile("numbers.bin"))
    """
    _defer(tensor, "tofile", fid, sep, format)


def dump(tensor: Any, file: Any) -> None:
    """Pickle a traced value into a file each time that the program has run.

    Parameters
    ----------
    tensor : tensor
    file : str, path or file

    Raises
    ------
    TracedValueError
        In a loop of the program.

    Examples
    --------
    >>> f = nx.jit(lambda t: (t * 2).dump("tensor.pickle"))
    """
    _defer(tensor, "dump", file)


class _Writing:
    """Calls a method of the one value of a program that has run."""

    def __init__(self, name: str, arguments: tuple) -> None:
        self._name, self._arguments = name, arguments

    def __call__(self, values: tuple) -> None:
        operator.methodcaller(self._name, *self._arguments)(*values)


def _defer(tensor: Any, name: str, *arguments: Any) -> None:
    if not deferred_calls.call(_Writing(name, arguments), [lasting(tensor, "tensor")]):
        raise TracedValueError(
            message(
                f".{name}() writes what the program has computed, which is not possible in a loop of it.",
                "Return the values from the definition, and write them there; those of a loop in an array: a[i] = v.",
            )
        )
