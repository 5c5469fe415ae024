"""Margin losses of scores: hinge, categorical hinge, soft margin, margin ranking."""

from __future__ import annotations

from typing import Any

import nxkernel as nx
from nxkernel.nn.activations import softplus
from nxkernel.nn.losses._checks import over_last, pair_of, reduced

__all__ = ["categorical_hinge", "hinge", "margin_ranking", "soft_margin"]


def hinge(y_true: Any, y_pred: Any, *, reduction: str = "mean") -> Any:
    """Hinge loss: ``max(1 - y_true * y_pred, 0)`` for labels -1 and 1, the mean over the last axis.

    Parameters
    ----------
    y_true : tensor
    y_pred : tensor
        Of the same shape.
    reduction : {"mean", "sum", "none"}, optional
        What is made of the entries.

    Returns
    -------
    tensor
        A scalar; with ``reduction="none"`` one number for each entry.

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.losses.hinge(nx.tensor([1.0, -1.0]), nx.tensor([0.5, -2.0])).to_number()
    0.25
    """
    truth, prediction = pair_of("hinge", y_true, y_pred)
    return reduced(over_last(nx.max(1 - truth * prediction, 0)), reduction)


def categorical_hinge(y_true: Any, y_pred: Any, *, reduction: str = "mean") -> Any:
    """Categorical hinge loss: ``max(1 + highest wrong score - right score, 0)``, of one-hot labels.

    Parameters
    ----------
    y_true : tensor
    y_pred : tensor
        Of the same shape.
    reduction : {"mean", "sum", "none"}, optional
        What is made of the entries.

    Returns
    -------
    tensor
        A scalar; with ``reduction="none"`` one number for each entry.

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.losses.categorical_hinge(nx.tensor([[1, 0]]), nx.tensor([[0.5, 0.25]])).to_number()
    0.75
    """
    truth, prediction = pair_of("categorical_hinge", y_true, y_pred)
    right = nx.sum(truth * prediction, axes=[-1])
    wrong = nx.reduce_max((1 - truth) * prediction, axes=[-1])
    return reduced(nx.max(wrong - right + 1, 0), reduction)


def soft_margin(y_true: Any, y_pred: Any, *, reduction: str = "mean") -> Any:
    """Soft margin loss: ``log(1 + exp(-y_true * y_pred))`` for labels -1 and 1, the mean over the last axis.

    Parameters
    ----------
    y_true : tensor
    y_pred : tensor
        Of the same shape.
    reduction : {"mean", "sum", "none"}, optional
        What is made of the entries.

    Returns
    -------
    tensor
        A scalar; with ``reduction="none"`` one number for each entry.

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.losses.soft_margin(nx.tensor([1.0]), nx.tensor([0.0])).to_number()
    0.6931471824645996
    """
    truth, prediction = pair_of("soft_margin", y_true, y_pred)
    return reduced(over_last(softplus(-truth * prediction)), reduction)


def margin_ranking(y_true: Any, first: Any, second: Any, *, margin: float = 0.0, reduction: str = "mean") -> Any:
    """Margin ranking loss: ``max(-y_true * (first - second) + margin, 0)``, label 1 or -1 for which ranks higher.

    Parameters
    ----------
    y_true : tensor
    first : tensor
    second : tensor
        Of the same shape.
    margin : float, optional
        By how much they are to differ.
    reduction : {"mean", "sum", "none"}, optional
        What is made of the entries.

    Returns
    -------
    tensor
        A scalar; with ``reduction="none"`` one number for each entry.

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.losses.margin_ranking(nx.tensor([1.0]), nx.tensor([0.5]), nx.tensor([2.0])).to_number()
    1.5
    """
    truth, first = pair_of("margin_ranking", y_true, first)
    _, second = pair_of("margin_ranking", truth, second)
    return reduced(nx.max(-truth * (first - second) + margin, 0), reduction)
