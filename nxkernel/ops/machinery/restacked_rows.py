"""Eliding copies: consecutive rows of one tensor that are stacked again are a slice of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nxkernel import primitives as p
from nxkernel.graph.expr import Expr
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import apply


def joined(rows: Sequence[Operand]) -> list[Operand] | None:
    """The parts with runs of consecutive rows of one tensor replaced by slices of it; None if there is no such run.

    Parameters
    ----------
    rows : sequence of tensors or traced values
        Of one shape, without names.

    Returns
    -------
    list of tensors or traced values, or None
        Rows of one tensor that follow each other are one part of it.
    """
    parts: list[Operand] = []
    run: tuple[Any, int, int] | None = None
    for row in (*rows, None):
        source, index = (None, 0) if row is None else _place(row)
        if run is not None and source is run[0] and index == run[1] + run[2]:
            run = (run[0], run[1], run[2] + 1)
            continue
        if run is not None:
            parts.append(_part(*run))
        run = None if source is None else (source, index, 1)
        if row is not None and source is None:
            parts.append(apply(p.reshape, row, shape=(1, *row.shape), names=(None,) * (1 + len(row.shape))))
    return parts if len(parts) < len(rows) else None


def _part(source: Expr, first: int, count: int) -> Operand:
    if count == source.shape[0]:
        return source
    rest = source.shape[1:]
    lengths = (count, *rest)
    return apply(p.slice_, source, starts=(first, *[0] * len(rest)), lengths=lengths, strides=(1,) * len(lengths))


def _place(row: Any) -> tuple[Expr | None, int]:
    """The tensor that a value is a whole row of, and the index of the row."""
    shape = row.shape
    while isinstance(row, Expr) and row.primitive is p.reshape:
        row = row.operands[0]
    if not isinstance(row, Expr) or row.primitive is not p.slice_:
        return None, 0
    (source,), params = row.operands, row.params
    rest = source.shape[1:]
    whole = params["lengths"] == (1, *rest) and not any(params["starts"][1:]) and shape == rest
    return (source, params["starts"][0]) if whole and not any(source.names) else (None, 0)
