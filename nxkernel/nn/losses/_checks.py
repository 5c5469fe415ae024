"""Shared by losses: checks of labels and predictions, and the reduction to a mean or sum."""

from __future__ import annotations

from typing import Any

import nxkernel as nx
from nxkernel import types
from nxkernel.errors import NxValueError, message
from nxkernel.ops.machinery.dispatch import convert, operand

_REDUCTIONS = ("mean", "sum", "none")


def reduced(entries: Any, reduction: str) -> Any:
    """The losses of the examples, or their mean or sum."""
    if reduction not in _REDUCTIONS:
        raise NxValueError(f"reduction is 'mean', 'sum' or 'none', got {reduction!r}")
    if reduction == "none":
        return entries
    return nx.mean(entries) if reduction == "mean" else nx.sum(entries)


def pair_of(name: str, y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    """Labels and predictions as floats of one shape."""
    truth, prediction = operand(y_true, "y_true"), operand(y_pred, "y_pred")
    if truth.shape != prediction.shape:
        raise NxValueError(
            message(
                f"{name}: expected y_true and y_pred of one shape, got {truth.spec} and {prediction.spec}.",
                "nx.new_axis(y_true, -1) adds an axis of size 1, nx.squeeze removes one.",
            )
        )
    type_ = types.to_floating(
        types.merge(truth.type, prediction.type) if prediction.type.kind != "f" else prediction.type
    )
    return convert(truth, type_), convert(prediction, type_)


def over_last(entries: Any) -> Any:
    """The mean over the last axis; a scalar is unchanged."""
    return nx.mean(entries, axes=[-1]) if entries.rank else entries


def clipped(probabilities: Any) -> Any:
    """Probabilities clipped away from 0 and 1, where logarithms are infinite."""
    tiny = 1e-7 if probabilities.type.bits >= 32 else 1e-3
    return nx.clip(probabilities, tiny, 1 - tiny)
