"""Recurrent layers over sequences: LSTM, GRU, plain RNN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import nxkernel as nx
from nxkernel.errors import NxValueError
from nxkernel.messages import number_checks
from nxkernel.nn import initializers, scopes
from nxkernel.nn.initializers import Initializer, chosen
from nxkernel.nn.layers import count, floating
from nxkernel.nn.modules import module

__all__ = ["gru", "lstm", "rnn"]

_RETURNS = ("all", "last", "carry")


@module
def lstm(
    units: int,
    *,
    returns: str = "all",
    reverse: bool = False,
    kernel_init: Initializer | str = "glorot_uniform",
    hidden_init: Initializer | str = "orthogonal",
    forget_bias: float = 1.0,
) -> Callable[..., Any]:
    """An LSTM layer (long short-term memory) over sequences of shape ``[..., time, features]``.

    Parameters
    ----------
    units : int
    returns : {"all", "last", "carry"}, optional
        What it gives: outputs at all times ``[..., time, units]``, that at the last one, or the pair of all outputs
        and the carry ``(h, c)``.
    reverse : bool, optional
        From the last time to the first.
    kernel_init, hidden_init : initializer or str, optional
        Of what inputs and outputs of the step before are multiplied by.
    forget_bias : float, optional
        The first value of the bias of the forget gate.

    Returns
    -------
    Module
        Of a sequence, and a carry ``(h, c)`` to begin with, zeros when not given. Parameters ``kernel`` ``[features,
        4 units]``, ``hidden`` ``[units, 4 units]`` and ``bias``, for the gates input, forget, cell, output.

    References
    ----------
    Hochreiter and Schmidhuber, Long short-term memory, 1997; the forget gate of Gers et al., 2000.

    Examples
    --------
    >>> from nxkernel import nn
    >>> net, x = nn.lstm(4, returns="last"), nx.iota((2, 5, 3), type="f32")
    >>> net(net.init(nx.random.key(0), x), x).shape
    (2, 4)
    """
    units = count(units, "lstm", "units")
    of_kernel, of_hidden = chosen(kernel_init, "kernel_init"), chosen(hidden_init, "hidden_init")
    _check_returns(returns)
    number_checks.flag("nn.lstm", "reverse", reverse)
    number_checks.number("nn.lstm", "forget_bias", forget_bias)

    def of_bias(key: Any, shape: Any, type: Any) -> Any:
        parts = [nx.broadcast(nx.as_type(value, type), (units,)) for value in (0.0, forget_bias, 0.0, 0.0)]
        return nx.concatenate(parts)

    def apply(x: Any, carry: Any = None) -> Any:
        x = _sequence(x)
        kernel = scopes.param("kernel", (x.shape[-1], 4 * units), of_kernel)
        hidden = scopes.param("hidden", (units, 4 * units), of_hidden)
        # What inputs give is one product for all times; only the rest has to wait for the step before.
        inputs = nx.dot(x, [-1], kernel, [0]) + scopes.param("bias", (4 * units,), of_bias)

        def step(state: tuple, row: Any) -> tuple:
            h, c = state
            i, f, g, o = _gates(row + nx.dot(h, [-1], hidden, [0]), 4)
            c = nx.sigmoid(f) * c + nx.sigmoid(i) * nx.tanh(g)
            h = nx.sigmoid(o) * nx.tanh(c)
            return (h, c), h

        start = carry if carry is not None else (_zeros(inputs, units), _zeros(inputs, units))
        return _over_time(step, start, inputs, reverse, returns)

    return apply


@module
def gru(
    units: int,
    *,
    returns: str = "all",
    reverse: bool = False,
    kernel_init: Initializer | str = "glorot_uniform",
    hidden_init: Initializer | str = "orthogonal",
) -> Callable[..., Any]:
    """A GRU layer (gated recurrent units) over sequences of shape ``[..., time, features]``.

    Parameters
    ----------
    units : int
    returns, reverse, kernel_init, hidden_init : optional
        As :func:`lstm` takes them; the carry is one tensor.

    Returns
    -------
    Module
        Of a sequence, and a carry. Parameters ``kernel`` ``[features, 3 units]``, ``hidden`` ``[units, 3 units]`` and
        ``bias``, for the gates reset, update, new, and ``hidden_bias`` ``[units]``, which the reset gate scales too.

    References
    ----------
    Cho et al., Learning phrase representations using RNN encoder-decoder, 2014; the reset gate after the product.

    Examples
    --------
    >>> from nxkernel import nn
    >>> net, x = nn.gru(4), nx.iota((2, 5, 3), type="f32")
    >>> net(net.init(nx.random.key(0), x), x).shape
    (2, 5, 4)
    """
    units = count(units, "gru", "units")
    of_kernel, of_hidden = chosen(kernel_init, "kernel_init"), chosen(hidden_init, "hidden_init")
    _check_returns(returns)
    number_checks.flag("nn.gru", "reverse", reverse)

    def apply(x: Any, carry: Any = None) -> Any:
        x = _sequence(x)
        kernel = scopes.param("kernel", (x.shape[-1], 3 * units), of_kernel)
        hidden = scopes.param("hidden", (units, 3 * units), of_hidden)
        inputs = nx.dot(x, [-1], kernel, [0]) + scopes.param("bias", (3 * units,), initializers.zeros())
        offset = scopes.param("hidden_bias", (units,), initializers.zeros())

        def step(h: Any, row: Any) -> tuple:
            (r, z, n), (of_r, of_z, of_n) = _gates(row, 3), _gates(nx.dot(h, [-1], hidden, [0]), 3)
            z = nx.sigmoid(z + of_z)
            n = nx.tanh(n + nx.sigmoid(r + of_r) * (of_n + offset))
            h = n + z * (h - n)
            return h, h

        start = carry if carry is not None else _zeros(inputs, units)
        return _over_time(step, start, inputs, reverse, returns)

    return apply


@module
def rnn(
    units: int,
    *,
    activation: Callable[[Any], Any] | None = None,
    returns: str = "all",
    reverse: bool = False,
    kernel_init: Initializer | str = "glorot_uniform",
    hidden_init: Initializer | str = "orthogonal",
) -> Callable[..., Any]:
    """A plain recurrent layer over ``[..., time, features]``: ``h = tanh(x · kernel + h · hidden + bias)``.

    Parameters
    ----------
    units : int
    activation : callable, optional
        In place of the hyperbolic tangent.
    returns, reverse, kernel_init, hidden_init : optional
        As :func:`lstm` takes them; the carry is one tensor.

    Returns
    -------
    Module

    Examples
    --------
    >>> from nxkernel import nn
    >>> params = {"kernel": nx.eye(1), "hidden": nx.eye(1), "bias": nx.tensor([0.0])}
    >>> nn.rnn(1, activation=nn.linear)(params, nx.tensor([[1.0], [2.0], [3.0]])).to_list()
    [[1.0], [3.0], [6.0]]
    """
    units = count(units, "rnn", "units")
    of_kernel, of_hidden = chosen(kernel_init, "kernel_init"), chosen(hidden_init, "hidden_init")
    _check_returns(returns)
    number_checks.flag("nn.rnn", "reverse", reverse)
    squashed = activation if activation is not None else nx.tanh

    def apply(x: Any, carry: Any = None) -> Any:
        x = _sequence(x)
        kernel = scopes.param("kernel", (x.shape[-1], units), of_kernel)
        hidden = scopes.param("hidden", (units, units), of_hidden)
        inputs = nx.dot(x, [-1], kernel, [0]) + scopes.param("bias", (units,), initializers.zeros())

        def step(h: Any, row: Any) -> tuple:
            h = squashed(row + nx.dot(h, [-1], hidden, [0]))
            return h, h

        start = carry if carry is not None else _zeros(inputs, units)
        return _over_time(step, start, inputs, reverse, returns)

    return apply


def _check_returns(returns: str) -> None:
    if returns not in _RETURNS:
        raise NxValueError(f"returns is 'all', 'last' or 'carry', got {returns!r}")


def _sequence(x: Any) -> Any:
    x = floating(x)
    if x.rank < 2:
        raise NxValueError(f"expected a sequence [..., time, features], got {x.spec}")
    return x


def _zeros(inputs: Any, units: int) -> Any:
    return nx.broadcast(nx.as_type(0, inputs.type), (*inputs.shape[:-2], units))


def _gates(row: Any, count: int) -> list[Any]:
    """The parts of the last axis, one for each gate."""
    size = row.shape[-1] // count
    return [nx.slice_along_axis(row, index * size, size, axis=-1) for index in range(count)]


def _over_time(step: Callable[..., tuple], start: Any, inputs: Any, reverse: bool, returns: str) -> Any:
    """Apply a step function along the time axis, the last but one."""
    rank = inputs.rank
    order = [rank - 2, *range(rank - 2), rank - 1]
    carry, outputs = nx.scan(step, start, nx.transpose(inputs, axes=order), reverse=reverse)
    if returns == "last":
        return carry[0] if isinstance(carry, tuple) else carry
    outputs = nx.transpose(outputs, axes=[*range(1, rank - 1), 0, rank - 1])
    return (outputs, carry) if returns == "carry" else outputs
