"""Vectors and matrices written as text, as Nx's sigils ``~VEC`` and ``~MAT`` have them."""

from __future__ import annotations

import math
import re
from typing import Any

from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph.expr import Expr
from nxkernel.ops.tensors.creation import tensor
from nxkernel.shapes import describe
from nxkernel.tensor.tensor import Tensor

__all__ = ["mat", "vec"]

_NAMED = {"NaN": math.nan, "Inf": math.inf, "-Inf": -math.inf}


def vec(text: str, *, type: Any = None) -> Tensor | Expr:
    """A vector from numbers in a text.

    Parameters
    ----------
    text : str
        Numbers with blanks between them; also ``NaN``, ``Inf`` and ``-Inf``.
    type : type, optional
        Whole numbers become s64, and f32 where there is a fraction among them, unless given.

    Returns
    -------
    Tensor

    Raises
    ------
    NxValueError
        When something is no number, or there is none.

    Examples
    --------
    >>> nx.vec("1 2 3", type="u8").to_list()
    [1, 2, 3]
    """
    rows = _rows(text, "vec")
    if len(rows) != 1:
        raise NxValueError(f"vec takes the numbers of one row, got {len(rows)} rows; nx.mat makes a matrix of them")
    return tensor(rows[0], type=type)


def mat(text: str, *, type: Any = None) -> Tensor | Expr:
    """A matrix from rows of numbers in a text.

    Parameters
    ----------
    text : str
        Each row on a line of its own, or with a semicolon between two of them; numbers with blanks between them; also
        ``NaN``, ``Inf`` and ``-Inf``.
    type : type, optional
        Whole numbers become s64, and f32 where there is a fraction among them, unless given.

    Returns
    -------
    Tensor

    Raises
    ------
    NxValueError
        When something is no number, there is none, or rows have different lengths.

    Examples
    --------
    >>> nx.mat("1 2; 3 4").to_list()
    [[1, 2], [3, 4]]
    """
    rows = _rows(text, "mat")
    for number, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise NxValueError(f"mat: row 0 has {len(rows[0])} numbers, row {number} has {len(row)}")
    return tensor(rows, type=type)


def _rows(text: Any, function: str) -> list[list[int | float | complex]]:
    if not isinstance(text, str):
        raise NxTypeError(message(f"{function} takes a text, got {describe(text)}.", "nx.tensor takes lists."))
    lines = [line.split() for line in re.split(r"[;\n]", text)]
    rows = [[_number(word, function) for word in line] for line in lines if line]
    if not rows:
        raise NxValueError(f"{function} needs at least one number, got {text!r}")
    return rows


def _number(word: str, function: str) -> int | float | complex:
    if word in _NAMED:
        return _NAMED[word]
    for kind in (int, float, complex):
        try:
            return kind(word)
        except ValueError:
            continue
    raise NxValueError(
        message(f"{function}: {word!r} is no number.", 'Blanks separate numbers: nx.vec("1 2.5 -3e2 NaN").')
    )
