"""Classification losses of probabilities: binary and categorical cross entropy, Kullback-Leibler divergence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import nxkernel as nx
from nxkernel import types
from nxkernel.errors import NxValueError, message
from nxkernel.nn.activations import log_sigmoid, log_softmax
from nxkernel.nn.losses._checks import clipped, over_last, pair_of, reduced
from nxkernel.ops.machinery.dispatch import convert, operand

__all__ = ["binary_cross_entropy", "categorical_cross_entropy", "kl_divergence", "sparse_categorical_cross_entropy"]


def binary_cross_entropy(
    y_true: Any, y_pred: Any, *, from_logits: bool = False, label_smoothing: float = 0.0, reduction: str = "mean"
) -> Any:
    """Binary cross entropy: ``-y log(p) - (1 - y) log(1 - p)``, the mean over the last axis.

    Parameters
    ----------
    y_true : tensor
        0 and 1, or probabilities.
    y_pred : tensor
        Probabilities, or what a sigmoid makes probabilities of.
    from_logits : bool, optional
        Whether predictions are not probabilities yet: this is exact where those would be 0 or 1.
    label_smoothing : float, optional
        How far the truth is moved towards one half.
    reduction : {"mean", "sum", "none"}, optional

    Returns
    -------
    tensor

    Examples
    --------
    >>> from nxkernel import nn
    >>> loss = nn.losses.binary_cross_entropy(nx.tensor([1, 0]), nx.tensor([0.0, 0.0]), from_logits=True)
    >>> loss.to_number()
    0.6931471824645996
    """
    truth, prediction = pair_of("binary_cross_entropy", y_true, y_pred)
    if label_smoothing:
        truth = truth * (1 - label_smoothing) + 0.5 * label_smoothing
    if from_logits:
        entries = -truth * log_sigmoid(prediction) - (1 - truth) * log_sigmoid(-prediction)
    else:
        prediction = clipped(prediction)
        entries = -truth * nx.log(prediction) - (1 - truth) * nx.log(1 - prediction)
    return reduced(over_last(entries), reduction)


def categorical_cross_entropy(
    y_true: Any,
    y_pred: Any,
    *,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    class_weights: Sequence[float] | None = None,
    axis: int = -1,
    reduction: str = "mean",
) -> Any:
    """Categorical cross entropy: ``-sum(y log(p))`` over classes, of one-hot or soft labels.

    Parameters
    ----------
    y_true : tensor
        One-hot, or probabilities of classes.
    y_pred : tensor
        Probabilities, or what a softmax makes probabilities of.
    from_logits : bool, optional
        Whether predictions are not probabilities yet.
    label_smoothing : float, optional
        How far the truth is moved towards equal probabilities.
    class_weights : sequence of float, optional
        How much an entry of each class counts.
    axis : int, optional
        Of classes.
    reduction : {"mean", "sum", "none"}, optional

    Returns
    -------
    tensor

    Examples
    --------
    >>> from nxkernel import nn
    >>> loss = nn.losses.categorical_cross_entropy(nx.tensor([[0, 1]]), nx.tensor([[0.5, 0.5]]))
    >>> loss.to_number()
    0.6931471824645996
    """
    truth, prediction = pair_of("categorical_cross_entropy", y_true, y_pred)
    if label_smoothing:
        truth = truth * (1 - label_smoothing) + label_smoothing / truth.shape[axis]
    logs = log_softmax(prediction, axis=axis) if from_logits else nx.log(clipped(prediction))
    if class_weights is not None:
        around = [-1 if axis_ == axis % truth.rank else 1 for axis_ in range(truth.rank)]
        weights = nx.tensor(class_weights) if isinstance(class_weights, list | tuple) else operand(class_weights)
        truth = truth * nx.reshape(weights, tuple([weights.size if size == -1 else 1 for size in around]))
    return reduced(-nx.sum(truth * logs, axes=[axis]), reduction)


def sparse_categorical_cross_entropy(
    y_true: Any, y_pred: Any, *, from_logits: bool = False, reduction: str = "mean"
) -> Any:
    """Sparse categorical cross entropy: ``-log(p)`` of the true class, of integer labels.

    Parameters
    ----------
    y_true : tensor
        The number of the class of each entry.
    y_pred : tensor
        Probabilities of classes along one more axis, the last one, or what a softmax makes probabilities of.
    from_logits : bool, optional
        Whether predictions are not probabilities yet.
    reduction : {"mean", "sum", "none"}, optional

    Returns
    -------
    tensor

    Examples
    --------
    >>> from nxkernel import nn
    >>> loss = nn.losses.sparse_categorical_cross_entropy(nx.tensor([1]), nx.tensor([[0.0, 0.0]]), from_logits=True)
    >>> loss.to_number()
    0.6931471824645996
    """
    truth, prediction = operand(y_true, "y_true"), operand(y_pred, "y_pred")
    if not truth.type.is_integer or truth.shape != prediction.shape[:-1] or not prediction.rank:
        raise NxValueError(
            message(
                "sparse_categorical_cross_entropy: expected numbers of classes and predictions with one more axis, got "
                f"{truth.spec} and {prediction.spec}.",
                "For one-hot classes there is categorical_cross_entropy.",
            )
        )
    prediction = convert(prediction, types.to_floating(prediction.type))
    logs = log_softmax(prediction) if from_logits else nx.log(clipped(prediction))
    picked = nx.take_along_axis(logs, nx.new_axis(truth, -1), axis=-1)
    return reduced(-nx.squeeze(picked, axes=[-1]), reduction)


def kl_divergence(y_true: Any, y_pred: Any, *, reduction: str = "mean") -> Any:
    """The Kullback-Leibler divergence of probabilities: ``sum(y_true * log(y_true / y_pred))`` over the last axis.

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
    >>> nn.losses.kl_divergence(nx.tensor([[0.5, 0.5]]), nx.tensor([[0.5, 0.5]])).to_number()
    0.0
    """
    truth, prediction = pair_of("kl_divergence", y_true, y_pred)
    truth, prediction = clipped(truth), clipped(prediction)
    return reduced(nx.sum(truth * (nx.log(truth) - nx.log(prediction)), axes=[-1]), reduction)
