"""Metrics of predictions: accuracy, precision, recall, F1, confusion matrix, mean errors, R². Not for gradients."""

from __future__ import annotations

from typing import Any

import nxkernel as nx
from nxkernel import types
from nxkernel.errors import NxValueError, message
from nxkernel.messages.call_errors import explain
from nxkernel.ops.machinery.dispatch import convert, operand

__all__ = [
    "accuracy", "confusion_matrix", "f1", "false_negatives", "false_positives", "mean_absolute_error",
    "mean_squared_error", "precision", "r2", "recall", "root_mean_squared_error", "specificity", "top_k_accuracy",
    "true_negatives", "true_positives",
]  # fmt: skip


def _classes(values: Any, name: str) -> Any:
    """Class labels: integers as given, or the argmax over the last axis of scores."""
    values = operand(values, name)
    return values if values.type.is_integer and values.rank == 1 else nx.argmax(values, axis=-1)


def _decided(name: str, y_true: Any, y_pred: Any, threshold: float) -> tuple[Any, Any]:
    """Binary labels and thresholded predictions as 0 and 1."""
    truth, prediction = operand(y_true, "y_true"), operand(y_pred, "y_pred")
    if truth.shape != prediction.shape:
        raise NxValueError(f"{name}: expected y_true and y_pred of one shape, got {truth.spec} and {prediction.spec}")
    return truth > threshold if not truth.type.is_integer else truth != 0, prediction > threshold


def accuracy(y_true: Any, y_pred: Any, *, threshold: float = 0.5) -> Any:
    """Accuracy: the fraction of predictions that are right.

    Parameters
    ----------
    y_true : tensor
        Numbers of classes, one axis less than `y_pred`, or one-hot classes; for two classes 0 and 1, of the shape of
        `y_pred`.
    y_pred : tensor
        Probabilities or logits of classes along the last axis; of one class where its size is 1, or where there is
        one axis only: then what is above the threshold counts as 1. Numbers of classes are compared as they are.
    threshold : float, optional
        For two classes.

    Returns
    -------
    tensor
        ``f32``.

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.metrics.accuracy(nx.tensor([0, 1]), nx.tensor([[0.9, 0.1], [0.8, 0.2]])).to_number()
    0.5
    """
    truth, prediction = operand(y_true, "y_true"), operand(y_pred, "y_pred")
    if truth.shape == prediction.shape[:-1] and prediction.rank:
        right = truth == nx.argmax(prediction, axis=-1)
    elif truth.shape != prediction.shape:
        raise NxValueError(
            message(
                "accuracy: expected numbers of classes and predictions with one more axis, or two tensors of one "
                f"shape, got {truth.spec} and {prediction.spec}."
            )
        )
    elif prediction.type.is_integer:
        right = truth == prediction
    elif prediction.rank > 1 and prediction.shape[-1] > 1:
        right = nx.argmax(truth, axis=-1) == nx.argmax(prediction, axis=-1)
    else:
        right = nx.equal(*_decided("accuracy", truth, prediction, threshold))
    return nx.mean(right)


def top_k_accuracy(y_true: Any, y_pred: Any, *, k: int = 5) -> Any:
    """Top-k accuracy: the fraction of entries whose class is among the `k` with the highest scores.

    Parameters
    ----------
    y_true : tensor
        Numbers of classes, one axis less than `y_pred`, or one-hot classes.
    y_pred : tensor
        Probabilities or logits along the last axis.
    k : int, optional

    Returns
    -------
    tensor

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.metrics.top_k_accuracy(nx.tensor([0, 1]), nx.tensor([[0.1, 0.2, 0.3], [0.1, 0.2, 0.3]]), k=2).to_number()
    0.5
    """
    truth, prediction = operand(y_true, "y_true"), operand(y_pred, "y_pred")
    if truth.shape == prediction.shape:
        truth = nx.argmax(truth, axis=-1)
    if truth.shape != prediction.shape[:-1]:
        raise NxValueError(f"top_k_accuracy: expected classes for {prediction.spec}, got {truth.spec}")
    of_truth = nx.take_along_axis(prediction, nx.new_axis(truth, -1), axis=-1)
    return nx.mean(nx.sum(prediction > of_truth, axes=[-1]) < k)


def _count(name: str, y_true: Any, y_pred: Any, threshold: float, wanted: bool, predicted: bool) -> Any:
    truth, prediction = _decided(name, y_true, y_pred, threshold)
    return nx.sum(nx.logical_and(truth == int(wanted), prediction == int(predicted)))


def true_positives(y_true: Any, y_pred: Any, *, threshold: float = 0.5) -> Any:
    """The number of true positives: entries of class 1 predicted as 1.

    Parameters
    ----------
    y_true : tensor
    y_pred : tensor
        Of the same shape.
    threshold : float, optional
        Above it predictions count as 1.

    Returns
    -------
    tensor
        A scalar.

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.metrics.true_positives(nx.tensor([1, 1, 0]), nx.tensor([0.9, 0.1, 0.8])).to_number()
    1
    """
    return _count("true_positives", y_true, y_pred, threshold, True, True)


def true_negatives(y_true: Any, y_pred: Any, *, threshold: float = 0.5) -> Any:
    """The number of true negatives: entries of class 0 predicted as 0.

    Parameters
    ----------
    y_true : tensor
    y_pred : tensor
        Of the same shape.
    threshold : float, optional
        Above it predictions count as 1.

    Returns
    -------
    tensor
        A scalar.

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.metrics.true_negatives(nx.tensor([1, 1, 0]), nx.tensor([0.9, 0.1, 0.8])).to_number()
    0
    """
    return _count("true_negatives", y_true, y_pred, threshold, False, False)


def false_positives(y_true: Any, y_pred: Any, *, threshold: float = 0.5) -> Any:
    """The number of false positives: entries of class 0 predicted as 1.

    Parameters
    ----------
    y_true : tensor
    y_pred : tensor
        Of the same shape.
    threshold : float, optional
        Above it predictions count as 1.

    Returns
    -------
    tensor
        A scalar.

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.metrics.false_positives(nx.tensor([1, 1, 0]), nx.tensor([0.9, 0.1, 0.8])).to_number()
    1
    """
    return _count("false_positives", y_true, y_pred, threshold, False, True)


def false_negatives(y_true: Any, y_pred: Any, *, threshold: float = 0.5) -> Any:
    """The number of false negatives: entries of class 1 predicted as 0.

    Parameters
    ----------
    y_true : tensor
    y_pred : tensor
        Of the same shape.
    threshold : float, optional
        Above it predictions count as 1.

    Returns
    -------
    tensor
        A scalar.

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.metrics.false_negatives(nx.tensor([1, 1, 0]), nx.tensor([0.9, 0.1, 0.8])).to_number()
    1
    """
    return _count("false_negatives", y_true, y_pred, threshold, True, False)


def _part(count: Any, total: Any) -> Any:
    """A quotient; 0 if the divisor is 0."""
    return nx.select(total > 0, count / nx.max(total, 1), 0.0)


def precision(y_true: Any, y_pred: Any, *, threshold: float = 0.5) -> Any:
    """Precision: the fraction of the predicted positives that are positive; 0 if there are none.

    Parameters
    ----------
    y_true : tensor
    y_pred : tensor
        Of the same shape.
    threshold : float, optional
        Above it predictions count as 1.

    Returns
    -------
    tensor
        A scalar.

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.metrics.precision(nx.tensor([1, 1, 0]), nx.tensor([0.9, 0.1, 0.8])).to_number()
    0.5
    """
    hits = true_positives(y_true, y_pred, threshold=threshold)
    return _part(hits, hits + false_positives(y_true, y_pred, threshold=threshold))


def recall(y_true: Any, y_pred: Any, *, threshold: float = 0.5) -> Any:
    """Recall (sensitivity): the fraction of the positives that are predicted as such; 0 if there are none.

    Parameters
    ----------
    y_true : tensor
    y_pred : tensor
        Of the same shape.
    threshold : float, optional
        Above it predictions count as 1.

    Returns
    -------
    tensor
        A scalar.

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.metrics.recall(nx.tensor([1, 1, 0]), nx.tensor([0.9, 0.1, 0.8])).to_number()
    0.5
    """
    hits = true_positives(y_true, y_pred, threshold=threshold)
    return _part(hits, hits + false_negatives(y_true, y_pred, threshold=threshold))


def specificity(y_true: Any, y_pred: Any, *, threshold: float = 0.5) -> Any:
    """Specificity: the fraction of the negatives that are predicted as such; 0 if there are none.

    Parameters
    ----------
    y_true : tensor
    y_pred : tensor
        Of the same shape.
    threshold : float, optional
        Above it predictions count as 1.

    Returns
    -------
    tensor
        A scalar.

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.metrics.specificity(nx.tensor([1, 0, 0]), nx.tensor([0.9, 0.1, 0.8])).to_number()
    0.5
    """
    hits = true_negatives(y_true, y_pred, threshold=threshold)
    return _part(hits, hits + false_positives(y_true, y_pred, threshold=threshold))


def f1(y_true: Any, y_pred: Any, *, threshold: float = 0.5) -> Any:
    """The F1 score: the harmonic mean of precision and recall.

    Parameters
    ----------
    y_true : tensor
    y_pred : tensor
        Of the same shape.
    threshold : float, optional
        Above it predictions count as 1.

    Returns
    -------
    tensor
        A scalar.

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.metrics.f1(nx.tensor([1, 1, 0]), nx.tensor([0.9, 0.1, 0.8])).to_number()
    0.5
    """
    right = 2 * true_positives(y_true, y_pred, threshold=threshold)
    wrong = false_positives(y_true, y_pred, threshold=threshold) + false_negatives(y_true, y_pred, threshold=threshold)
    return _part(right, right + wrong)


def confusion_matrix(y_true: Any, y_pred: Any, *, classes: int) -> Any:
    """The confusion matrix: counts of entries by true class (rows) and predicted class (columns).

    Parameters
    ----------
    y_true, y_pred : tensor
        Numbers of classes ``[batch]``, or one-hot classes, probabilities or logits ``[batch, classes]``.
    classes : int
        How many there are.

    Returns
    -------
    tensor
        ``s64[classes][classes]``: rows are the truth, columns the predictions.

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.metrics.confusion_matrix(nx.tensor([0, 1, 1]), nx.tensor([0, 1, 0]), classes=2).to_list()
    [[1, 0], [1, 1]]
    """
    truth, prediction = _classes(y_true, "y_true"), _classes(y_pred, "y_pred")
    if truth.shape != prediction.shape or truth.rank != 1:
        raise NxValueError(f"confusion_matrix: expected a class for each entry, got {truth.spec} and {prediction.spec}")
    number = nx.iota((classes,))
    rows = nx.as_type(nx.new_axis(truth, -1) == number, "s64")
    columns = nx.as_type(nx.new_axis(prediction, -1) == number, "s64")
    return nx.dot(rows, [0], columns, [0])


def _floats(name: str, y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    truth, prediction = operand(y_true, "y_true"), operand(y_pred, "y_pred")
    if truth.shape != prediction.shape:
        raise NxValueError(f"{name}: expected y_true and y_pred of one shape, got {truth.spec} and {prediction.spec}")
    type_ = types.to_floating(types.merge(truth.type, prediction.type))
    return convert(truth, type_), convert(prediction, type_)


def mean_absolute_error(y_true: Any, y_pred: Any) -> Any:
    """The mean absolute error.

    Parameters
    ----------
    y_true : tensor
    y_pred : tensor
        Of the same shape.

    Returns
    -------
    tensor
        A scalar.

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.metrics.mean_absolute_error(nx.tensor([1.0, 2.0]), nx.tensor([2.0, 4.0])).to_number()
    1.5
    """
    truth, prediction = _floats("mean_absolute_error", y_true, y_pred)
    return nx.mean(nx.abs(truth - prediction))


def mean_squared_error(y_true: Any, y_pred: Any) -> Any:
    """The mean squared error.

    Parameters
    ----------
    y_true : tensor
    y_pred : tensor
        Of the same shape.

    Returns
    -------
    tensor
        A scalar.

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.metrics.mean_squared_error(nx.tensor([1.0, 2.0]), nx.tensor([2.0, 4.0])).to_number()
    2.5
    """
    truth, prediction = _floats("mean_squared_error", y_true, y_pred)
    return nx.mean((truth - prediction) ** 2)


def root_mean_squared_error(y_true: Any, y_pred: Any) -> Any:
    """The root mean squared error.

    Parameters
    ----------
    y_true : tensor
    y_pred : tensor
        Of the same shape.

    Returns
    -------
    tensor
        A scalar.

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.metrics.root_mean_squared_error(nx.tensor([1.0, 2.0]), nx.tensor([3.0, 4.0])).to_number()
    2.0
    """
    return nx.sqrt(mean_squared_error(y_true, y_pred))


def r2(y_true: Any, y_pred: Any) -> Any:
    """The coefficient of determination R²: 1 for exact predictions, 0 for those no better than the mean.

    Parameters
    ----------
    y_true : tensor
    y_pred : tensor
        Of the same shape.

    Returns
    -------
    tensor
        A scalar.

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.metrics.r2(nx.tensor([1.0, 2.0, 3.0]), nx.tensor([1.0, 2.0, 3.0])).to_number()
    1.0
    """
    truth, prediction = _floats("r2", y_true, y_pred)
    return 1 - nx.sum((truth - prediction) ** 2) / nx.sum((truth - nx.mean(truth)) ** 2)


explain(globals(), __all__, "nn.metrics")
