"""Losses of sequences without a known alignment: connectionist temporal classification (CTC)."""

from __future__ import annotations

from typing import Any

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError
from nxkernel.nn.activations import log_softmax
from nxkernel.nn.losses._checks import reduced
from nxkernel.ops.machinery.dispatch import operand

__all__ = ["ctc"]


def ctc(
    y_true: Any, y_pred: Any, *, lengths: Any = None, times: Any = None, blank: int = 0, reduction: str = "mean"
) -> Any:
    """Connectionist temporal classification (CTC): minus the log likelihood of labels of unknown alignment.

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
    truth, prediction = operand(y_true, "y_true"), operand(y_pred, "y_pred")
    if truth.rank != 2 or prediction.rank != 3 or truth.shape[0] != prediction.shape[0]:
        raise NxValueError(
            "ctc: expected y_true [batch, labels] and y_pred [batch, time, classes], "
            f"got {truth.spec} and {prediction.spec}"
        )
    if not truth.type.is_integer:
        raise NxTypeError(f"ctc: expected numbers of classes as y_true, got {truth.spec}")
    logs = log_softmax(prediction)
    (batch, size), steps = truth.shape, logs.shape[1]
    lengths = nx.broadcast(size, (batch,)) if lengths is None else operand(lengths)
    times = nx.broadcast(steps, (batch,)) if times is None else operand(times)
    # Blanks between, before and behind the labels: blank, a, blank, b, blank.
    index = nx.iota((2 * size + 1,))
    labels = nx.take(truth, nx.clip((index - 1) // 2, 0, size - 1), axis=1)
    labels = nx.select(nx.broadcast(index % 2 == 1, labels.shape), labels, blank)
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
    start = nx.select(nx.broadcast(index < 2, (batch, 2 * size + 1)), rows[0], never)
    if steps > 1:
        (start, _), _ = nx.scan(step, (start, nx.as_type(1, "s64")), rows[1:])
    ends = nx.new_axis(2 * lengths, -1)
    at_end = nx.logical_or(index == ends, index == ends - 1)
    return reduced(-nx.logsumexp(nx.select(at_end, start, never), axes=[1]), reduction)
