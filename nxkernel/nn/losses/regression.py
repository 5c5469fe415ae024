"""Regression losses: mean squared, absolute, Huber, log-cosh, Poisson, cosine similarity."""

from __future__ import annotations

from typing import Any

import nxkernel as nx
from nxkernel.nn.activations import softplus
from nxkernel.nn.losses._checks import over_last, pair_of, reduced

__all__ = ["cosine_similarity", "huber", "log_cosh", "mean_absolute_error", "mean_squared_error", "poisson"]


def mean_squared_error(y_true: Any, y_pred: Any, *, reduction: str = "mean") -> Any:
    """Mean squared error: ``(y_true - y_pred) ** 2``, the mean over the last axis.

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
    >>> nn.losses.mean_squared_error(nx.tensor([[0.0, 2.0]]), nx.tensor([[1.0, 4.0]])).to_number()
    2.5
    """
    truth, prediction = pair_of("mean_squared_error", y_true, y_pred)
    difference = truth - prediction
    return reduced(over_last(difference * difference), reduction)


def mean_absolute_error(y_true: Any, y_pred: Any, *, reduction: str = "mean") -> Any:
    """Mean absolute error: ``abs(y_true - y_pred)``, the mean over the last axis.

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
    >>> nn.losses.mean_absolute_error(nx.tensor([[0.0, 2.0]]), nx.tensor([[1.0, 4.0]])).to_number()
    1.5
    """
    truth, prediction = pair_of("mean_absolute_error", y_true, y_pred)
    return reduced(over_last(nx.abs(truth - prediction)), reduction)


def huber(y_true: Any, y_pred: Any, *, delta: float = 1.0, reduction: str = "mean") -> Any:
    """Huber loss: half the squared difference up to `delta`, linear beyond.

    Parameters
    ----------
    y_true : tensor
    y_pred : tensor
        Of the same shape.
    delta : float, optional
        How far from 0 the straight line begins.
    reduction : {"mean", "sum", "none"}, optional
        What is made of the entries.

    Returns
    -------
    tensor
        A scalar; with ``reduction="none"`` one number for each entry.

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.losses.huber(nx.tensor([0.0, 0.0]), nx.tensor([0.5, 3.0]), reduction="none").to_list()
    [0.125, 2.5]
    """
    truth, prediction = pair_of("huber", y_true, y_pred)
    distance = nx.abs(truth - prediction)
    near = nx.min(distance, delta)
    return reduced(near * (distance - 0.5 * near), reduction)


def log_cosh(y_true: Any, y_pred: Any, *, reduction: str = "mean") -> Any:
    """``log(cosh(y_pred - y_true))``, the mean over the last axis, without overflow.

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
    >>> nn.losses.log_cosh(nx.tensor([0.0]), nx.tensor([0.0])).to_number()
    0.0
    """
    truth, prediction = pair_of("log_cosh", y_true, y_pred)
    difference = prediction - truth
    return reduced(over_last(difference + softplus(-2 * difference) - 0.6931471805599453), reduction)


def poisson(y_true: Any, y_pred: Any, *, eps: float = 1e-7, reduction: str = "mean") -> Any:
    """Poisson loss of counts and predicted rates: ``y_pred - y_true * log(y_pred)``, the mean over the last axis.

    Parameters
    ----------
    y_true : tensor
    y_pred : tensor
        Of the same shape.
    eps : float, optional
        What keeps it finite.
    reduction : {"mean", "sum", "none"}, optional
        What is made of the entries.

    Returns
    -------
    tensor
        A scalar; with ``reduction="none"`` one number for each entry.

    Examples
    --------
    >>> from nxkernel import nn
    >>> round(nn.losses.poisson(nx.tensor([2.0]), nx.tensor([1.0])).to_number(), 5)
    1.0
    """
    truth, prediction = pair_of("poisson", y_true, y_pred)
    return reduced(over_last(prediction - truth * nx.log(prediction + eps)), reduction)


def cosine_similarity(y_true: Any, y_pred: Any, *, axis: int = -1, eps: float = 1e-8, reduction: str = "mean") -> Any:
    """Cosine similarity, negated: -1 where the vectors point in the same direction, 1 where in opposite ones.

    Parameters
    ----------
    y_true : tensor
    y_pred : tensor
        Of the same shape.
    axis : int, optional
        Of the vectors.
    eps : float, optional
        What keeps it finite.
    reduction : {"mean", "sum", "none"}, optional
        What is made of the entries.

    Returns
    -------
    tensor
        A scalar; with ``reduction="none"`` one number for each entry.

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.losses.cosine_similarity(nx.tensor([3.0, 4.0]), nx.tensor([6.0, 8.0])).to_number()
    -1.0
    """
    truth, prediction = pair_of("cosine_similarity", y_true, y_pred)
    product = nx.sum(truth * prediction, axes=[axis])
    squares = nx.sum(truth * truth, axes=[axis]) * nx.sum(prediction * prediction, axes=[axis])
    return reduced(-product * nx.rsqrt(nx.max(squares, eps * eps)), reduction)
