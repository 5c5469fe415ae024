"""Losses: how far predictions are from the truth, entry by entry, and reduced.

Each takes ``(y_true, y_pred)``, in this order, and ``reduction=``: the mean of all entries, their sum, or none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import nxkernel as nx
from nxkernel import types
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.nn.activations import log_sigmoid, log_softmax, softplus
from nxkernel.ops.dispatch import convert, operand

__all__ = [
    "binary_cross_entropy", "categorical_cross_entropy", "categorical_hinge", "cosine_similarity", "ctc", "hinge",
    "huber", "kl_divergence", "log_cosh", "margin_ranking", "mean_absolute_error", "mean_squared_error", "poisson",
    "soft_margin", "sparse_categorical_cross_entropy",
]  # fmt: skip

_REDUCTIONS = ("mean", "sum", "none")


def _reduced(entries: Any, reduction: str) -> Any:
    if reduction not in _REDUCTIONS:
        raise NxValueError(f"reduction is 'mean', 'sum' or 'none', got {reduction!r}")
    if reduction == "none":
        return entries
    return nx.mean(entries) if reduction == "mean" else nx.sum(entries)


def _pair(name: str, y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    """Truth and predictions as floats of one shape."""
    truth, found = operand(y_true, "y_true"), operand(y_pred, "y_pred")
    if truth.shape != found.shape:
        raise NxValueError(
            message(
                f"{name}: expected y_true and y_pred of one shape, got {truth.spec} and {found.spec}.",
                "nx.new_axis(y_true, -1) adds an axis of size 1, nx.squeeze removes one.",
            )
        )
    type_ = types.to_floating(types.merge(truth.type, found.type) if found.type.kind != "f" else found.type)
    return convert(truth, type_), convert(found, type_)


def _over_last(entries: Any) -> Any:
    """The mean over the last axis; a scalar stays."""
    return nx.mean(entries, axes=[-1]) if entries.rank else entries


def _clipped(probabilities: Any) -> Any:
    """Probabilities away from 0 and 1, whose logarithms are infinite."""
    tiny = 1e-7 if probabilities.type.bits >= 32 else 1e-3
    return nx.clip(probabilities, tiny, 1 - tiny)


def mean_squared_error(y_true: Any, y_pred: Any, *, reduction: str = "mean") -> Any:
    """``(y_true - y_pred) ** 2``, the mean over the last axis.

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.losses.mean_squared_error(nx.tensor([[0.0, 2.0]]), nx.tensor([[1.0, 4.0]])).to_number()
    2.5
    """
    truth, found = _pair("mean_squared_error", y_true, y_pred)
    difference = truth - found
    return _reduced(_over_last(difference * difference), reduction)


def mean_absolute_error(y_true: Any, y_pred: Any, *, reduction: str = "mean") -> Any:
    """``abs(y_true - y_pred)``, the mean over the last axis.

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.losses.mean_absolute_error(nx.tensor([[0.0, 2.0]]), nx.tensor([[1.0, 4.0]])).to_number()
    1.5
    """
    truth, found = _pair("mean_absolute_error", y_true, y_pred)
    return _reduced(_over_last(nx.abs(truth - found)), reduction)


def huber(y_true: Any, y_pred: Any, *, delta: float = 1.0, reduction: str = "mean") -> Any:
    """Half the squared difference up to `delta`, and beyond it a straight line.

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.losses.huber(nx.tensor([0.0, 0.0]), nx.tensor([0.5, 3.0]), reduction="none").to_list()
    [0.125, 2.5]
    """
    truth, found = _pair("huber", y_true, y_pred)
    distance = nx.abs(truth - found)
    near = nx.min(distance, delta)
    return _reduced(near * (distance - 0.5 * near), reduction)


def log_cosh(y_true: Any, y_pred: Any, *, reduction: str = "mean") -> Any:
    """``log(cosh(y_pred - y_true))``, the mean over the last axis, without overflow.

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.losses.log_cosh(nx.tensor([0.0]), nx.tensor([0.0])).to_number()
    0.0
    """
    truth, found = _pair("log_cosh", y_true, y_pred)
    difference = found - truth
    return _reduced(_over_last(difference + softplus(-2 * difference) - 0.6931471805599453), reduction)


def binary_cross_entropy(
    y_true: Any, y_pred: Any, *, from_logits: bool = False, label_smoothing: float = 0.0, reduction: str = "mean"
) -> Any:
    """``-y log(p) - (1 - y) log(1 - p)``, the mean over the last axis.

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
    truth, found = _pair("binary_cross_entropy", y_true, y_pred)
    if label_smoothing:
        truth = truth * (1 - label_smoothing) + 0.5 * label_smoothing
    if from_logits:
        entries = -truth * log_sigmoid(found) - (1 - truth) * log_sigmoid(-found)
    else:
        found = _clipped(found)
        entries = -truth * nx.log(found) - (1 - truth) * nx.log(1 - found)
    return _reduced(_over_last(entries), reduction)


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
    """``-sum(y log(p))`` over classes.

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
    truth, found = _pair("categorical_cross_entropy", y_true, y_pred)
    if label_smoothing:
        truth = truth * (1 - label_smoothing) + label_smoothing / truth.shape[axis]
    logs = log_softmax(found, axis=axis) if from_logits else nx.log(_clipped(found))
    if class_weights is not None:
        around = [-1 if place == axis % truth.rank else 1 for place in range(truth.rank)]
        weights = nx.tensor(class_weights) if isinstance(class_weights, list | tuple) else operand(class_weights)
        truth = truth * nx.reshape(weights, tuple([weights.size if size == -1 else 1 for size in around]))
    return _reduced(-nx.sum(truth * logs, axes=[axis]), reduction)


def sparse_categorical_cross_entropy(
    y_true: Any, y_pred: Any, *, from_logits: bool = False, reduction: str = "mean"
) -> Any:
    """``-log(p)`` of the class that it is.

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
    truth, found = operand(y_true, "y_true"), operand(y_pred, "y_pred")
    if not truth.type.is_integer or truth.shape != found.shape[:-1] or not found.rank:
        raise NxValueError(
            message(
                "sparse_categorical_cross_entropy: expected numbers of classes and predictions with one more axis, got "
                f"{truth.spec} and {found.spec}.",
                "For one-hot classes there is categorical_cross_entropy.",
            )
        )
    found = convert(found, types.to_floating(found.type))
    logs = log_softmax(found) if from_logits else nx.log(_clipped(found))
    picked = nx.take_along_axis(logs, nx.new_axis(truth, -1), axis=-1)
    return _reduced(-nx.squeeze(picked, axes=[-1]), reduction)


def hinge(y_true: Any, y_pred: Any, *, reduction: str = "mean") -> Any:
    """``max(1 - y_true * y_pred, 0)`` for a truth of -1 and 1, the mean over the last axis.

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.losses.hinge(nx.tensor([1.0, -1.0]), nx.tensor([0.5, -2.0])).to_number()
    0.25
    """
    truth, found = _pair("hinge", y_true, y_pred)
    return _reduced(_over_last(nx.max(1 - truth * found, 0)), reduction)


def categorical_hinge(y_true: Any, y_pred: Any, *, reduction: str = "mean") -> Any:
    """By how much the best wrong class is less than 1 below the right one, of a one-hot truth.

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.losses.categorical_hinge(nx.tensor([[1, 0]]), nx.tensor([[0.5, 0.25]])).to_number()
    0.75
    """
    truth, found = _pair("categorical_hinge", y_true, y_pred)
    right = nx.sum(truth * found, axes=[-1])
    wrong = nx.reduce_max((1 - truth) * found, axes=[-1])
    return _reduced(nx.max(wrong - right + 1, 0), reduction)


def soft_margin(y_true: Any, y_pred: Any, *, reduction: str = "mean") -> Any:
    """``log(1 + exp(-y_true * y_pred))`` for a truth of -1 and 1, the mean over the last axis.

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.losses.soft_margin(nx.tensor([1.0]), nx.tensor([0.0])).to_number()
    0.6931471824645996
    """
    truth, found = _pair("soft_margin", y_true, y_pred)
    return _reduced(_over_last(softplus(-truth * found)), reduction)


def margin_ranking(y_true: Any, first: Any, second: Any, *, margin: float = 0.0, reduction: str = "mean") -> Any:
    """``max(-y_true * (first - second) + margin, 0)``: 1 says that the first is to rank higher, -1 the second.

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.losses.margin_ranking(nx.tensor([1.0]), nx.tensor([0.5]), nx.tensor([2.0])).to_number()
    1.5
    """
    truth, first = _pair("margin_ranking", y_true, first)
    _, second = _pair("margin_ranking", truth, second)
    return _reduced(nx.max(-truth * (first - second) + margin, 0), reduction)


def kl_divergence(y_true: Any, y_pred: Any, *, reduction: str = "mean") -> Any:
    """``sum(y_true * log(y_true / y_pred))`` over the last axis, of probabilities.

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.losses.kl_divergence(nx.tensor([[0.5, 0.5]]), nx.tensor([[0.5, 0.5]])).to_number()
    0.0
    """
    truth, found = _pair("kl_divergence", y_true, y_pred)
    truth, found = _clipped(truth), _clipped(found)
    return _reduced(nx.sum(truth * (nx.log(truth) - nx.log(found)), axes=[-1]), reduction)


def poisson(y_true: Any, y_pred: Any, *, epsilon: float = 1e-7, reduction: str = "mean") -> Any:
    """``y_pred - y_true * log(y_pred)``, the mean over the last axis, of counts and predicted rates.

    Examples
    --------
    >>> from nxkernel import nn
    >>> round(nn.losses.poisson(nx.tensor([2.0]), nx.tensor([1.0])).to_number(), 5)
    1.0
    """
    truth, found = _pair("poisson", y_true, y_pred)
    return _reduced(_over_last(found - truth * nx.log(found + epsilon)), reduction)


def cosine_similarity(
    y_true: Any, y_pred: Any, *, axis: int = -1, epsilon: float = 1e-8, reduction: str = "mean"
) -> Any:
    """Minus the cosine of the angle between vectors: -1 where they point in the same direction.

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.losses.cosine_similarity(nx.tensor([3.0, 4.0]), nx.tensor([6.0, 8.0])).to_number()
    -1.0
    """
    truth, found = _pair("cosine_similarity", y_true, y_pred)
    product = nx.sum(truth * found, axes=[axis])
    squares = nx.sum(truth * truth, axes=[axis]) * nx.sum(found * found, axes=[axis])
    return _reduced(-product * nx.rsqrt(nx.max(squares, epsilon * epsilon)), reduction)


def ctc(
    y_true: Any, y_pred: Any, *, lengths: Any = None, times: Any = None, blank: int = 0, reduction: str = "mean"
) -> Any:
    """Connectionist temporal classification: minus the log likelihood of labels without known places in time.

    Parameters
    ----------
    y_true : tensor
        ``[batch, labels]``, numbers of classes; what is beyond the length of an entry does not count.
    y_pred : tensor
        ``[batch, time, classes]``, what a softmax makes probabilities of.
    lengths, times : tensor, optional
        ``[batch]``: how many labels and times each entry has; all, when not given.
    blank : int, optional
        The class that stands for no label.
    reduction : {"mean", "sum", "none"}, optional

    Returns
    -------
    tensor

    References
    ----------
    Graves et al., Connectionist temporal classification, 2006.

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.losses.ctc(nx.tensor([[1]]), nx.tensor([[[0.0, 0.0]]]), reduction="none").to_list()
    [0.6931471824645996]
    """
    truth, found = operand(y_true, "y_true"), operand(y_pred, "y_pred")
    if truth.rank != 2 or found.rank != 3 or truth.shape[0] != found.shape[0]:
        raise NxValueError(
            f"ctc: expected y_true [batch, labels] and y_pred [batch, time, classes], got {truth.spec} and {found.spec}"
        )
    if not truth.type.is_integer:
        raise NxTypeError(f"ctc: expected numbers of classes as y_true, got {truth.spec}")
    logs = log_softmax(found)
    (batch, size), steps = truth.shape, logs.shape[1]
    lengths = nx.broadcast(size, (batch,)) if lengths is None else operand(lengths)
    times = nx.broadcast(steps, (batch,)) if times is None else operand(times)
    # Blanks between, before and behind the labels: blank, a, blank, b, blank.
    place = nx.iota((2 * size + 1,))
    labels = nx.take(truth, nx.clip((place - 1) // 2, 0, size - 1), axis=1)
    labels = nx.select(nx.broadcast(place % 2 == 1, labels.shape), labels, blank)
    never = nx.as_type(-1e30, logs.type)
    before = nx.pad(labels, -1, [(0, 0, 0), (2, 0, 0)])[:, : 2 * size + 1]
    skips = nx.logical_and(nx.not_equal(labels, before), nx.not_equal(labels, blank))
    emitted = nx.take_along_axis(logs, nx.broadcast(nx.new_axis(labels, 1), (batch, steps, 2 * size + 1)), axis=2)

    def shifted(alpha: Any, count: int) -> Any:
        return nx.pad(alpha, never, [(0, 0, 0), (count, 0, 0)])[:, : 2 * size + 1]

    def step(state: tuple, row: Any) -> tuple:
        alpha, count = state
        both = nx.select(skips, shifted(alpha, 2), never)
        paths = nx.stack([alpha, shifted(alpha, 1), both])
        following = nx.logsumexp(paths, axes=[0]) + row
        alpha = nx.select(nx.broadcast(nx.new_axis(count < times, -1), alpha.shape), following, alpha)
        return (alpha, count + 1), None

    rows = nx.transpose(emitted, axes=[1, 0, 2])
    start = nx.select(nx.broadcast(place < 2, (batch, 2 * size + 1)), rows[0], never)
    if steps > 1:
        (start, _), _ = nx.scan(step, (start, nx.as_type(1, "s64")), rows[1:])
    ends = nx.new_axis(2 * lengths, -1)
    at_end = nx.logical_or(place == ends, place == ends - 1)
    return _reduced(-nx.logsumexp(nx.select(at_end, start, never), axes=[1]), reduction)
