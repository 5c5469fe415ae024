"""Activation functions, element-wise and along an axis."""

from __future__ import annotations

import math
from typing import Any

import nxkernel as nx
from nxkernel import types
from nxkernel.ops.machinery.dispatch import convert, operand

__all__ = [
    "celu", "elu", "gelu", "hard_sigmoid", "hard_silu", "hard_tanh", "leaky_relu", "linear", "log_sigmoid",
    "log_softmax", "log_sumexp", "mish", "relu", "relu6", "selu", "sigmoid", "silu", "softmax", "softplus", "softsign",
    "swish", "tanh",
]  # fmt: skip

#: Klambauer et al., Self-normalizing neural networks, 2017.
_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


def _float(x: Any) -> Any:
    x = operand(x)
    return convert(x, types.to_floating(x.type))


def linear(x: Any) -> Any:
    """The identity function.

    Parameters
    ----------
    x : tensor

    Returns
    -------
    tensor

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.linear(2.0)
    2.0
    """
    return x


def relu(x: Any) -> Any:
    """``max(x, 0)``, with the gradient 0 at 0.

    Parameters
    ----------
    x : tensor

    Returns
    -------
    tensor

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.relu(nx.tensor([-1.0, 2.0])).to_list()
    [0.0, 2.0]
    """
    x = operand(x)
    return nx.select(x > 0, x, 0)


def relu6(x: Any) -> Any:
    """``min(max(x, 0), 6)``.

    Parameters
    ----------
    x : tensor

    Returns
    -------
    tensor

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.relu6(nx.tensor([-1.0, 2.0, 8.0])).to_list()
    [0.0, 2.0, 6.0]
    """
    return nx.clip(x, 0, 6)


def leaky_relu(x: Any, *, alpha: float = 0.01) -> Any:
    """``x`` where it is positive, and ``alpha * x`` elsewhere.

    Parameters
    ----------
    x : tensor
    alpha : float, optional
        The slope below 0.

    Returns
    -------
    tensor

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.leaky_relu(nx.tensor([-1.0, 2.0]), alpha=0.5).to_list()
    [-0.5, 2.0]
    """
    x = _float(x)
    return nx.select(x > 0, x, x * alpha)


def elu(x: Any, *, alpha: float = 1.0) -> Any:
    """``x`` where it is positive, and ``alpha * (exp(x) - 1)`` elsewhere.

    Parameters
    ----------
    x : tensor
    alpha : float, optional
        What it tends to, with the other sign.

    Returns
    -------
    tensor

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.elu(nx.tensor([-1.0, 2.0])).to_list()
    [-0.6321205496788025, 2.0]
    """
    x = _float(x)
    # Where x is large the exponential is not used, and must not become infinite: its gradient would be NaN.
    return nx.select(x > 0, x, alpha * nx.expm1(_below(x)))


def celu(x: Any, *, alpha: float = 1.0) -> Any:
    """``max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0)``.

    Parameters
    ----------
    x : tensor
    alpha : float, optional
        What it tends to, with the other sign.

    Returns
    -------
    tensor

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.celu(nx.tensor([-1.0, 2.0])).to_list()
    [-0.6321205496788025, 2.0]
    """
    x = _float(x)
    return nx.select(x > 0, x, alpha * nx.expm1(_below(x) / alpha))


def selu(x: Any) -> Any:
    """ELU, scaled so that a deep network keeps mean 0 and variance 1.

    Parameters
    ----------
    x : tensor

    Returns
    -------
    tensor

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.selu(nx.tensor([0.0, 1.0])).to_list()
    [0.0, 1.0507010221481323]
    """
    return _SELU_SCALE * elu(x, alpha=_SELU_ALPHA)


def _below(x: Any) -> Any:
    return nx.select(x > 0, 0, x)


def gelu(x: Any, *, approximate: bool = False) -> Any:
    """GELU: ``x`` times the cumulative distribution function of the standard normal at ``x``.

    Parameters
    ----------
    x : tensor
    approximate : bool, optional
        By a hyperbolic tangent, as some published networks have it.

    Returns
    -------
    tensor

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.gelu(nx.tensor([-1.0, 0.0, 1.0])).to_list()
    [-0.15865525603294373, 0.0, 0.8413447141647339]
    """
    x = _float(x)
    if approximate:
        return 0.5 * x * (1 + nx.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))
    return 0.5 * x * (1 + nx.erf(x / math.sqrt(2)))


def silu(x: Any) -> Any:
    """``x * sigmoid(x)``, also called swish.

    Parameters
    ----------
    x : tensor

    Returns
    -------
    tensor

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.silu(nx.tensor([0.0, 1.0])).to_list()
    [0.0, 0.7310585975646973]
    """
    x = _float(x)
    return x * nx.sigmoid(x)


swish = silu


def softplus(x: Any) -> Any:
    """``log(1 + exp(x))``, without overflow.

    Parameters
    ----------
    x : tensor

    Returns
    -------
    tensor

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.softplus(nx.tensor([0.0, 1000.0])).to_list()
    [0.6931471824645996, 1000.0]
    """
    x = _float(x)
    positive = x > 0
    # The slopes of max and abs at 0 are chosen, and with them the one of this would be 0 there, which is a half.
    return nx.select(positive, x, 0) + nx.log1p(nx.exp(nx.select(positive, -x, x)))


def log_sigmoid(x: Any) -> Any:
    """``log(sigmoid(x))``, without underflow.

    Parameters
    ----------
    x : tensor

    Returns
    -------
    tensor

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.log_sigmoid(nx.tensor([0.0, -1000.0])).to_list()
    [-0.6931471824645996, -1000.0]
    """
    return -softplus(-_float(x))


def mish(x: Any) -> Any:
    """``x * tanh(softplus(x))``.

    Parameters
    ----------
    x : tensor

    Returns
    -------
    tensor

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.mish(nx.tensor([0.0, 1.0])).to_list()
    [0.0, 0.8650984168052673]
    """
    x = _float(x)
    return x * nx.tanh(softplus(x))


def hard_sigmoid(x: Any) -> Any:
    """``relu6(x + 3) / 6``: straight lines in place of the sigmoid.

    Parameters
    ----------
    x : tensor

    Returns
    -------
    tensor

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.hard_sigmoid(nx.tensor([-4.0, 0.0, 4.0])).to_list()
    [0.0, 0.5, 1.0]
    """
    return relu6(_float(x) + 3) / 6


def hard_silu(x: Any) -> Any:
    """``x * hard_sigmoid(x)``.

    Parameters
    ----------
    x : tensor

    Returns
    -------
    tensor

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.hard_silu(nx.tensor([0.0, 1.5, 4.0])).to_list()
    [0.0, 1.125, 4.0]
    """
    x = _float(x)
    return x * hard_sigmoid(x)


def hard_tanh(x: Any) -> Any:
    """``min(max(x, -1), 1)``.

    Parameters
    ----------
    x : tensor

    Returns
    -------
    tensor

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.hard_tanh(nx.tensor([-4.0, 0.5, 4.0])).to_list()
    [-1.0, 0.5, 1.0]
    """
    return nx.clip(x, -1, 1)


def softsign(x: Any) -> Any:
    """``x / (1 + abs(x))``.

    Parameters
    ----------
    x : tensor

    Returns
    -------
    tensor

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.softsign(nx.tensor([-1.0, 0.0, 3.0])).to_list()
    [-0.5, 0.0, 0.75]
    """
    x = _float(x)
    return x / (1 + nx.abs(x))


def sigmoid(x: Any) -> Any:
    """``1 / (1 + exp(-x))``.

    Parameters
    ----------
    x : tensor

    Returns
    -------
    tensor

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.sigmoid(nx.tensor([0.0])).to_list()
    [0.5]
    """
    return nx.sigmoid(x)


def tanh(x: Any) -> Any:
    """The hyperbolic tangent.

    Parameters
    ----------
    x : tensor

    Returns
    -------
    tensor

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.tanh(nx.tensor([0.0])).to_list()
    [0.0]
    """
    return nx.tanh(x)


def softmax(x: Any, *, axis: int | str = -1) -> Any:
    """The softmax: exponentials along an axis, divided by their sum.

    Parameters
    ----------
    x : tensor
    axis : int or str, optional
        Along which exponentials are summed.

    Returns
    -------
    tensor

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.softmax(nx.tensor([0.0, 0.0, 1000.0])).to_list()
    [0.0, 0.0, 1.0]
    """
    x = _float(x)
    raised = nx.exp(x - _largest(x, axis))
    return raised / nx.sum(raised, axes=[axis], keep_axes=True)


def log_softmax(x: Any, *, axis: int | str = -1) -> Any:
    """The logarithm of the softmax, without underflow.

    Parameters
    ----------
    x : tensor
    axis : int or str, optional
        Along which exponentials are summed.

    Returns
    -------
    tensor

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.log_softmax(nx.tensor([0.0, 1000.0])).to_list()
    [-1000.0, 0.0]
    """
    x = _float(x)
    shifted = x - _largest(x, axis)
    return shifted - nx.log(nx.sum(nx.exp(shifted), axes=[axis], keep_axes=True))


def log_sumexp(x: Any, *, axis: int | str = -1) -> Any:
    """The logarithm of the sum of exponentials along an axis, which is kept with size 1.

    Parameters
    ----------
    x : tensor
    axis : int or str, optional
        Along which exponentials are summed.

    Returns
    -------
    tensor

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.log_sumexp(nx.tensor([1000.0, 1000.0])).to_list()
    [1000.6931762695312]
    """
    return nx.logsumexp(x, axes=[axis], keep_axes=True)


def _largest(x: Any, axis: int | str) -> Any:
    """The maximum that exponentials are scaled by; the result does not depend on it, so it has no gradient."""
    return nx.stop_grad(nx.reduce_max(x, axes=[axis], keep_axes=True))
